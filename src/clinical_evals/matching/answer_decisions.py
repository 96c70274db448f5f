"""Which lines of an answer state decisions: the tree of its lines read with the words of headings and remarks."""

import re
from itertools import pairwise

from clinical_evals.matching.answer_explanations import plain
from clinical_evals.matching.answer_groups import (
    introduces,
    is_group_line,
    is_running_text,
    is_short_phrase,
    names_condition,
)
from clinical_evals.matching.answer_headings import (
    is_code_label,
    is_heading,
    is_label,
    is_title_label,
    leads_elsewhere,
    mentions_disease,
    section_kind,
)
from clinical_evals.matching.answer_items import Decision
from clinical_evals.matching.answer_lines import Line, read_lines
from clinical_evals.matching.answer_measurements import is_measurement
from clinical_evals.matching.answer_order_groups import heads_orders, labels_orders, names_order_first
from clinical_evals.matching.answer_order_words import is_group_name, is_order_field, is_order_heading
from clinical_evals.matching.answer_orders import states_no_order
from clinical_evals.matching.answer_phrases import is_remark, is_sentence
from clinical_evals.matching.answer_sentences import SENTENCE_END, named_in_sentence
from clinical_evals.matching.answer_split import split_pair
from clinical_evals.matching.answer_statements import is_sign_off, stated
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_tables import decisions_in_rows
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_tree import tree_of
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem

_FINAL = re.compile(
    r"(?:the |my )?(?:final|definitive) (?:answer|diagnos[ie]s|list|output|response|codes?|icd|assessment"
    r"|decision|prediction|set)\b|answer ?:"
    r"|(?:therefore|thus|so|hence|in conclusion|in summary|based on (?:this|the above|my|these|that)"
    r"|putting)\b.*\b(?:diagnos[ie]s|codes?|conditions|list|answer)\b.*:\Z",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|great|yes|hello|hi)(?: thing)?[!,.:]+ +(?=\S)", re.IGNORECASE
)


def decisions_in_lines(text: str, system: CodeSystem) -> list[Decision]:
    """The decisions of an answer in lines, in its order."""
    lines = _from_final_answer(_without_signature(read_lines(text, system)))
    _mark_capital_headings(lines, system)
    root = tree_of(lines, system)
    structured = any(line.kind for line in lines)
    reader = _LineReader(system, structured)
    found = reader.of_children(root)
    return found if structured or len(found) > reader.statements else []  # nothing but sentences: running text


def _without_signature(lines: list[Line]) -> list[Line]:
    """Without the end of a letter and the bare lines that follow it."""
    kept: list[Line] = []
    signed = False
    for line in lines:
        signed = not line.kind and not line.level and (signed or (bool(kept) and is_sign_off(line.words)))
        kept += [] if signed else [line]
    return kept


def _from_final_answer(lines: list[Line]) -> list[Line]:
    """What follows the last announcement of a final answer, if something does and something stands before it."""
    for i in range(len(lines) - 1, 0, -1):
        line = lines[i]
        if (line.kind and not line.is_bold and ":" not in line.words) or not _FINAL.match(line.words[:300]):
            continue
        heading = line.level or line.is_bold or ":" in line.words or len(words_of(line.words)) <= 4
        tail = line.words.partition(":")[2]
        if heading and (i + 1 < len(lines) or re.search(r"[^\W_]{2}", tail)):  # "Answer: A, C" only refers
            return lines[i:]
    return lines


def _mark_capital_headings(lines: list[Line], system: CodeSystem) -> None:
    """ "ISSUES ADDRESSED" above "Pneumonia" is a heading, though its words alone do not tell."""
    for line, below in pairwise(lines):
        text = line.words
        if vocabulary(system).orders:  # orders are capitals often: COVID-19 PCR
            group = len(text) > 6 and text.isupper() and is_group_name(text, system) and not below.words.isupper()
            line.level = 2 if group and not (line.kind or below.level) else line.level
            continue
        bare = not (line.kind or line.level or below.level or below.rows) and 1 < len(words_of(text)) <= 8
        alike = below.words.isupper() and len(words_of(below.words)) > 1  # below "CHF" it is a heading all the same
        if bare and text.isupper() and not alike and not names_condition(text, system):
            line.level = 2 if names_condition(below.words, system) else 0


_DASH = re.compile(r" [-–—] ")
_PATIENT_HAS = re.compile(
    r"(?:the |this )?(?:patient|pt|he|she|they) (?:also |likely |probably )?(?:has|have|had)\b", re.IGNORECASE
)


class _LineReader:
    """Which lines of a tree state decisions.

    Args:
        system: the code system of the answer.
        structured: the answer has bullets, numbers or tables, so that bare lines are not decisions.
    """

    def __init__(self, system: CodeSystem, structured: bool) -> None:
        self.system = system
        self.structured = structured
        self.statements = 0
        """How many decisions so far came from sentences ("The primary diagnosis is …")."""

    def of_children(self, parent: Line, bare: bool | None = None) -> list[Decision]:
        """The decisions of a section. Lines that name a code or title of the decision before them are put to it."""
        bare = not self.structured if bare is None else bare
        bare = bare or (bool(parent.text) and not any(child.kind or child.level for child in parent.children))
        found: list[Decision] = []
        for child in parent.children:
            if found and self._completes(found, child):
                continue
            found += self.of_line(child, bare)
        return found if self.structured else _alternating(found, self.system)

    def _completes(self, found: list[Decision], line: Line) -> bool:
        """A record in lines: "Diagnosis: Pneumonia", "ICD-10: J18.9"; or the code first and
        "Description: …" after it."""
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
            return decisions_in_rows(line.rows, self.system, line.ruled)
        words = _GREETING.sub("", line.words, count=1)
        head, colon, tail = words.partition(":")
        head, tail = head.strip(), tail.strip()
        title = is_title(words.rstrip(":"), self.system)
        kind = "" if title and not (colon and line.children) else section_kind(head if colon else words, self.system)
        if kind == "strong" and words_of(head)[:1] == ("step",) and is_heading(tail):
            return [] if section_kind(tail, self.system) else self.of_children(line)
        if kind:
            return [d for d in self.of_children(line, True) if self._coded(d)] if kind == "weak" and not tail else []
        if is_group_name(words, self.system) and (line.kind or bare) and not (line.children or line.level or colon):
            return [Decision(line.text)]
        group = not line.kind and is_group_name(words, self.system) and self._stands_over(line, words)
        numbered = vocabulary(self.system).orders and is_only_codes(words, self.system)  # "LOINC 718-7"
        if (
            (is_heading(words) or is_order_heading(words, self.system) or group)
            and not numbered
            and (not title or colon or any(is_short_phrase(child.words, self.system) for child in line.children))
        ):
            return self.of_children(line)
        if colon and tail and is_order_field(head, self.system):
            return []
        labelled = is_label(head) and not is_title(head, self.system)
        if colon and tail and not is_code_label(head) and (labelled or labels_orders(head, tail, self.system)):
            return self._of_labelled(line, tail, bare)
        if not colon and (dash := _DASH.search(words[:120])):
            purpose, orders = words[: dash.start()], words[dash.end() :]
            if is_group_name(purpose, self.system) and names_order_first(orders, self.system):
                return self._of_labelled(line, orders, bare)
        if colon and is_code_label(head) and is_only_codes(tail, self.system):
            title_below = self._title_below(line)
            return [Decision(title_below, tail) if title_below else Decision(tail, several=True)]
        if not line.kind and not line.order and (named := self._in_statements(words)):
            self.statements += len(named)
            elsewhere = colon and not tail and leads_elsewhere(words, self.system)
            return named + [d for d in self.of_children(line) if not elsewhere or self._coded(d)]
        if not line.kind and not line.order and (is_remark(words) or (colon and not tail and is_sentence(words))):
            if colon and not tail and leads_elsewhere(words, self.system):
                return [d for d in self.of_children(line, True) if self._coded(d)]
            stated = tail and not is_sentence(tail) and not line.level
            inline = [Decision(part) for part in split_pair(tail, self.system)] if stated else []
            return inline + self.of_children(line)
        return self._of_statement(line, words, bare)

    def _in_statements(self, words: str) -> list[Decision]:
        """What the sentences of a line state as diagnoses."""
        if len(words) > 2000:
            return []
        sentences = [sentence for sentence in SENTENCE_END.split(words) if stated(sentence)]
        return [Decision(name) for sentence in sentences for name in named_in_sentence(sentence, self.system)]

    def _of_labelled(self, line: Line, tail: str, bare: bool) -> list[Decision]:
        """After "Primary diagnosis: Pneumonia" what hangs on it is evidence, but bare lines below it are a list."""
        own = Decision(tail, self._code_below(line), True)
        if line.kind or line.level:
            return [own]
        below = Line(line.text, children=[child for child in line.children if not child.kind])
        coded = [d for child in line.children if child.kind for d in self.of_line(child, True) if self._coded(d)]
        return [own, *self.of_children(below, bare), *coded]

    def _stands_over(self, line: Line, words: str) -> bool:
        """Whether the name of a group of orders has orders under it: "Coags:", or a heading."""
        below = [child.words for child in line.children]
        return words.endswith(":") or (bool(line.level) and heads_orders(words, below, self.system) is True)

    def _of_statement(self, line: Line, words: str, bare: bool) -> list[Decision]:
        if line.children and (
            is_group_line(line, words.rstrip(": "), self.system) or introduces(line, words, self.system)
        ):
            return self.of_children(line)
        if line.kind and _PATIENT_HAS.match(words) and not find_codes(words, self.system).codes:
            named = named_in_sentence(words, self.system)
            return [Decision(name) for name in named] if all(map(mentions_disease, named)) else []
        code = self._code_below(line)
        if is_only_codes(words, self.system) and (title_below := self._title_below(line)):
            return [Decision(title_below, words)]
        coded = code or find_codes(words, self.system).leading
        holds = line.kind or line.level or line.is_bold or bare or coded or any(child.kind for child in line.children)
        if not holds or states_no_order(words, self.system) or (not line.kind and not coded and is_remark(words)):
            return []
        if not line.kind and not coded and is_running_text(words, self.system):
            return []
        below = [] if line.kind or line.level else self._below_bare(line)
        return [Decision(line.text, code), *below]

    def _below_bare(self, line: Line) -> list[Decision]:
        """Bare lines that hang on a bare line are its neighbours."""
        return [
            d
            for child in line.children
            if not child.kind and child.indent == line.indent
            for d in self.of_line(child, not self.structured)
        ]

    def _code_below(self, line: Line) -> str:
        """The code that a line nested under an item states for it."""
        for child in line.children[:20]:
            head, colon, tail = child.words.partition(":")
            labelled = colon and is_code_label(head) and tail.strip()
            if labelled or (is_only_codes(child.words, self.system) and not is_measurement(child.words)):
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
    if any(find_codes(plain(d.text), system).codes for d, code in zip(decisions, codes, strict=True) if not code):
        return decisions
    pairs = [(decisions[i], decisions[i + 1]) for i in range(0, len(codes), 2)]
    return [Decision(b.text, plain(a.text)) if codes[0] else Decision(a.text, plain(b.text)) for a, b in pairs]
