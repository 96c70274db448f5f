"""From a model's answer to its items: the decisions it states, with the codes that stand in them.

Stages: plain text (`answer_text`: Unicode forms, reasoning, HTML) → structure (`answer_json`, or `answer_lines` with
`answer_tables`: lines in a tree) → decisions (here: which lines state one) → items (`answer_items`, `answer_split`) → codes
(`codes_in_text`). The words that tell a heading from a remark from evidence are in `answer_phrases`.

An answer in running text counts by what it says the diagnosis is ("The patient has pneumonia and AKI."): see `_in_prose`.
Every stage takes linear time, and at most `MAX_CHARACTERS` are read (`unread_characters` counts the rest). Source: protocol 2.5, points 1, 2 and 4.
"""

import re

from clinical_evals.matching.answer_items import Decision, Item, items_of, named_in_sentence, plain
from clinical_evals.matching.answer_json import decisions_in_json
from clinical_evals.matching.answer_lines import Line, opens_section, read_lines, tree_of
from clinical_evals.matching.answer_phrases import (
    is_code_label,
    is_evidence,
    is_group,
    is_heading,
    is_label,
    is_organ_group,
    is_remark,
    is_sentence,
    is_title,
    is_title_label,
    names_disease,
    says_nothing,
    section_kind,
    words_of,
)
from clinical_evals.matching.answer_split import split_line
from clinical_evals.matching.answer_tables import decisions_in_rows
from clinical_evals.matching.answer_text import one_item_a_line, plain_unicode, without_html, without_reasoning
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem

__all__ = ["MAX_CHARACTERS", "Item", "parse_answer", "unread_characters"]

MAX_CHARACTERS = 1_000_000
"""What is read of an answer: some 250,000 tokens, far more than a model writes; it bounds the time for a runaway answer."""


def unread_characters(answer: str) -> int:
    """How many characters at the end of an answer `parse_answer` leaves unread; 0 but for answers over `MAX_CHARACTERS`."""
    return len(answer) - _end_of_reading(answer)


def _end_of_reading(answer: str) -> int:
    if len(answer) <= MAX_CHARACTERS:
        return len(answer)
    line = answer.rfind("\n", MAX_CHARACTERS // 2, MAX_CHARACTERS)  # no half line is read where there are lines
    return line + 1 if line >= 0 else MAX_CHARACTERS


def parse_answer(answer: str, system: CodeSystem) -> list[Item]:
    """The decisions that an answer states, in its order; repeated ones stay.

    Args:
        answer: what a model wrote, of any form; its first `MAX_CHARACTERS` are read.
        system: the code system whose codes the answer may state.

    Returns:
        An item for each decision: its text without bullets, numbers, labels, Markdown, explanations and codes, and its
        codes. No items for an answer that states nothing (silence, refusals, reasoning alone).

    >>> from clinical_evals.ontology import get_system
    >>> parse_answer("1. **Type 2 diabetes** (E11.9)\\n   - HbA1c 9.1\\n2. Pneumonia", get_system("icd10cm"))
    [Item(text='Type 2 diabetes', codes=('E11.9',)), Item(text='Pneumonia', codes=())]
    """
    text = without_html(without_reasoning(plain_unicode(answer[: _end_of_reading(answer)])))
    decisions = decisions_in_json(text, system)
    if decisions is None:
        decisions = _in_lines(one_item_a_line(text), system)
    items = [item for decision in decisions for part in _parts(decision, decisions, system) for item in items_of(part, system)]
    return items or _in_prose(text, system)


def _parts(decision: Decision, decisions: list[Decision], system: CodeSystem) -> list[Decision]:
    """A decision that is a line of several, cut up."""
    if decision.code_field or not (decision.several or len(decisions) == 1):
        return [decision]
    text = plain(decision.text)
    parts = (is_evidence(text) and named_in_sentence(text, system)) or split_line(text, system)
    return [Decision(part) for part in parts] if len(parts) > 1 else [decision]


# Lines

_FINAL = re.compile(
    r"(?:the |my )?(?:final|definitive) (?:answer|diagnos[ie]s|list|output|response|codes?|icd|assessment|decision|prediction|set)\b|answer ?:"
    r"|(?:therefore|thus|so|hence|in conclusion|in summary|based on (?:this|the above|my|these|that)|putting)\b.*\b(?:diagnos[ie]s|codes?|conditions|list|answer)\b.*:\Z",
    re.IGNORECASE,
)
_GREETING = re.compile(r"(?:sure|certainly|of course|okay|ok|absolutely|great|yes|hello|hi)(?: thing)?[!,.:]+ +(?=\S)", re.IGNORECASE)


def _in_lines(text: str, system: CodeSystem) -> list[Decision]:
    lines = _from_final_answer(read_lines(text, system))
    root = tree_of(lines, system)
    return _LineReader(system, any(line.kind for line in lines)).of_children(root)


def _from_final_answer(lines: list[Line]) -> list[Line]:
    """What follows the last announcement of a final answer, if something does and something stands before it."""
    for i in range(len(lines) - 1, 0, -1):
        line = lines[i]
        if (line.kind and not line.is_bold and ":" not in line.words) or not _FINAL.match(line.words[:300]):
            continue
        heading = line.level or line.is_bold or ":" in line.words or len(words_of(line.words)) <= 4
        if heading and (i + 1 < len(lines) or line.words.partition(":")[2].strip()):
            return lines[i:]
    return lines


class _LineReader:
    """Which lines of a tree state decisions.

    Args:
        system: the code system of the answer.
        structured: the answer has bullets, numbers or tables, so that bare lines are not decisions.
    """

    def __init__(self, system: CodeSystem, structured: bool) -> None:
        self.system = system
        self.structured = structured

    def of_children(self, parent: Line, bare: bool | None = None) -> list[Decision]:
        """The decisions of a section. Lines that name a code or title of the decision before them are put to it."""
        bare = not self.structured if bare is None else bare
        bare = bare or (bool(parent.text) and not any(child.kind or child.level for child in parent.children))
        found: list[Decision] = []
        for child in parent.children:
            if found and self._completes(found, child):
                continue
            found += self.of_line(child, bare)
        return _alternating(found, self.system) if not any(child.kind for child in parent.children) else found

    def _completes(self, found: list[Decision], line: Line) -> bool:
        """A record in lines: "Diagnosis: Pneumonia", "ICD-10: J18.9"; or the code first and "Description: …" after it."""
        head, colon, tail = line.words.partition(":")
        if not colon or not tail.strip() or line.level:
            return False
        last = found[-1]
        coded = last.code_field or find_codes(plain(last.text), self.system).codes
        if is_code_label(head) and not coded and last.text:
            found[-1] = last._replace(code_field=tail.strip(), several=False)
            return True
        bare_code = coded and (not last.text or is_only_codes(plain(last.text), self.system))
        if is_title_label(head) and bare_code and not is_only_codes(tail, self.system):
            found[-1] = Decision(tail.strip(), last.code_field or plain(last.text))
            return True
        return bool(is_title_label(head) and words_of(head)[-1] in ("description", "desc") and coded)

    def of_line(self, line: Line, bare: bool) -> list[Decision]:
        """The decisions that a line and what hangs on it state."""
        if line.rows:
            return decisions_in_rows(line.rows, self.system)
        words = _GREETING.sub("", line.words, count=1)
        head, colon, tail = words.partition(":")
        head, tail = head.strip(), tail.strip()
        title = is_title(words.rstrip(":"), self.system)
        kind = "" if title and not (colon and line.children) else section_kind(head if colon else words, self.system)
        if kind:
            return [d for d in self.of_children(line, True) if self._coded(d)] if kind == "weak" and not tail else []
        if is_heading(words) and (line.children or colon or not title):
            return self.of_children(line)
        if colon and tail and is_label(head) and not is_code_label(head) and not title:
            return self._of_labelled(line, tail, bare)
        if colon and is_code_label(head) and is_only_codes(tail, self.system):
            title_below = self._title_below(line)
            return [Decision(title_below, tail) if title_below else Decision(tail, several=True)]
        if not line.kind and not line.order and (is_remark(words) or (colon and not tail and is_sentence(words))):
            inline = [Decision(tail, several=True)] if tail and not is_sentence(tail) and not line.level else []
            return inline + self.of_children(line)
        return self._of_statement(line, words, bare)

    def _of_labelled(self, line: Line, tail: str, bare: bool) -> list[Decision]:
        """"Primary diagnosis: Pneumonia": what hangs on it is evidence, but bare lines below it are a list."""
        own = Decision(tail, self._code_below(line), True)
        if line.kind or line.level:
            return [own]
        below = Line(line.text, children=[child for child in line.children if not child.kind])
        coded = [d for child in line.children if child.kind for d in self.of_line(child, True) if self._coded(d)]
        return [own, *self.of_children(below, bare), *coded]

    def _of_statement(self, line: Line, words: str, bare: bool) -> list[Decision]:
        if line.children and self._is_group(line, words.rstrip(": ")):
            return self.of_children(line)
        code = self._code_below(line)
        if is_only_codes(words, self.system) and (title_below := self._title_below(line)):
            return [Decision(title_below, words)]
        coded = code or find_codes(words, self.system).leading
        holds = line.kind or line.level or line.is_bold or bare or coded or any(child.kind for child in line.children)
        if not holds or says_nothing(words) or (not line.kind and not coded and is_remark(words)):
            return []
        if not line.kind and not coded and self._is_running(words):
            return []
        below = [] if line.kind or line.level else self._below_bare(line)
        return [Decision(line.text, code), *below]

    def _is_running(self, words: str) -> bool:
        """A sentence that states no code and is no line of official titles."""
        if not is_sentence(words) or is_title(words, self.system) or find_codes(words, self.system).codes:
            return False
        return len(split_line(words, self.system)) < 2

    def _below_bare(self, line: Line) -> list[Decision]:
        """Bare lines that hang on a bare line are its neighbours."""
        return [d for child in line.children if not child.kind and child.indent == line.indent for d in self.of_line(child, not self.structured)]

    def _is_group(self, line: Line, words: str) -> bool:
        """Whether a line names a group of the decisions below it, and is none itself."""
        marked = [child for child in line.children if child.kind or child.level or child.rows]
        if not marked:
            return False
        codes = find_codes(words, self.system).codes
        if codes and not all("-" in code for code in codes):
            return False
        kids = [child.words for child in marked]
        coded = [kid for kid in kids if self._states_code(kid)]
        only_codes = [kid for kid in coded if is_only_codes(kid, self.system)]
        if len(coded) > len(only_codes) or len(only_codes) > 1:
            return True
        if codes or only_codes:
            return False
        if is_group(words):
            return True
        if not (line.words.endswith(":") or (line.level and not line.order) or not line.kind) or not all(map(self._is_plain, kids)):
            return False
        if is_sentence(words) or all(set(words_of(words)) & set(words_of(kid)) for kid in kids):
            return True
        if is_title(words, self.system):
            return False
        return is_organ_group(words) or not (names_disease(words) or len(words_of(words)) > 3)

    def _states_code(self, words: str) -> bool:
        head = words.partition(":")[0]
        if is_code_label(head) and ":" in words or section_kind(head, self.system) or is_evidence(words):
            return False
        found = find_codes(words, self.system)
        return bool(found.codes) and (found.leading or not is_sentence(words))

    def _is_plain(self, words: str) -> bool:
        """A short phrase that can be a decision: no evidence, sentence, label or measurement."""
        head, colon, _ = words.partition(":")
        if colon and section_kind(head, self.system):
            return False
        return len(words_of(words)) <= 10 and not (is_evidence(words) or is_sentence(words) or is_remark(words) or re.search(r"\d ?(?:mg|%|/\d)", words))

    def _code_below(self, line: Line) -> str:
        """The code that a line nested under an item states for it."""
        for child in line.children[:20]:
            head, colon, tail = child.words.partition(":")
            if (colon and is_code_label(head) and tail.strip()) or is_only_codes(child.words, self.system):
                return tail.strip() if colon and is_code_label(head) else child.words
        return ""

    def _title_below(self, line: Line) -> str:
        """The title that a line nested under a code states for it."""
        for child in line.children[:20]:
            head, _, tail = child.words.partition(":")
            if is_title_label(head) and tail.strip():
                return tail.strip()
        return ""

    def _coded(self, decision: Decision) -> bool:
        return bool(decision.code_field or find_codes(plain(decision.text), self.system).codes)


def _alternating(decisions: list[Decision], system: CodeSystem) -> list[Decision]:
    """Bare lines that are title and code in turn are one decision for each pair."""
    if len(decisions) < 4 or len(decisions) % 2 or any(d.code_field for d in decisions):
        return decisions
    codes = [is_only_codes(plain(d.text), system) for d in decisions]
    if not all(codes[i] == codes[0] and codes[i + 1] != codes[0] for i in range(0, len(codes), 2)):
        return decisions
    pairs = [(decisions[i], decisions[i + 1]) for i in range(0, len(codes), 2)]
    return [Decision(b.text, plain(a.text)) if codes[0] else Decision(a.text, plain(b.text)) for a, b in pairs]


# Running text

_SENTENCE_END = re.compile(r"(?<=[a-z)\]\d][.!?]) +(?=[A-Z\"'(])|\n+|。")


def _in_prose(text: str, system: CodeSystem) -> list[Item]:
    """What sentences call the diagnosis; else what they say the patient has; and the codes they state.

    "The patient has pneumonia and AKI." gives pneumonia and AKI. Sentences that name no condition in one of these ways
    (preambles, refusals, a course of events) give nothing.
    """
    sentences = [plain(sentence) for sentence in _SENTENCE_END.split(text)]
    sentences = [s for s in sentences if s and not says_nothing(s) and not _REFUSAL.search(s[:400])]
    for weak in (False, True):
        items: list[Item] = []
        for sentence in sentences:
            found = find_codes(sentence, system)
            valid = tuple(code for code in found.codes if system.normalize(code))
            if valid:
                items.append(Item(found.rest, valid))
            else:
                items += [Item(name, ()) for name in named_in_sentence(sentence, system, weak=weak)]
        if items:
            return items
    return []


_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:cannot|can't|can not|unable|sorry|not able|won't|do not|don't|am not)|as an ai|language model|not a (?:doctor|physician|substitute)"
    r"|consult (?:a|your|with)|cannot (?:provide|be|determine)|no (?:diagnos[ei]s|evidence)|unable to|without (?:more|further|additional))\b",
    re.IGNORECASE,
)
