"""Which department an answer recommends (protocol 1.2 and section 3, IOR-Bench).

`extract_department` is the default protocol, `extract_official` the released rule to the letter. The default finds the
departments by longest match without overlaps (`department_names`, other forms of a name in `department_forms`), takes
the answer's own turn and in it the conclusion section if there is one (`department_sections`), and keeps what is
recommended there (`department_statements`). Exactly one → it; none → no answer; several → the first of those that are
recommended most strongly (首选 before 建议 before 也可以), and the answer is ambiguous. A department under a condition
counts where nothing else is recommended. Of an answer that goes on without end only the beginning and the end are read
(`MOST_READ`).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.department_names import MarkedText, fold, mark_mentions, name_key
from clinical_evals.ior_bench.department_narrowing import without_wider
from clinical_evals.ior_bench.department_sections import (
    Opening,
    before_reasons,
    conclusion_sections,
    earlier_conclusions,
    own_turn,
)
from clinical_evals.ior_bench.department_statements import Statement, Strength, read_statements
from clinical_evals.matching.answer_html import without_html
from clinical_evals.matching.answer_text import plain_unicode, without_reasoning
from clinical_evals.matching.protocols import check_protocol

MOST_READ = 20_000
"""Characters that are read of the beginning of an answer, and of its end, where it has more than both."""


class Extraction(NamedTuple):
    """What was read from one answer."""

    department: str | None
    """The one department the answer recommends, spelled as in the candidates; None: no answer."""
    mentions: tuple[str, ...]
    """The distinct candidates that the judged part states as recommended, in the order stated."""

    @property
    def ambiguous(self) -> bool:
        """Whether more than one department is recommended."""
        return len(self.mentions) > 1


def extract_department(answer: str, candidates: Sequence[str]) -> Extraction:
    """The department that an answer recommends, by the default rule (protocol 1.2).

    Never raises on any text and takes time linear in its length, and little beyond twice `MOST_READ` characters: of
    what is longer, without its reasoning, only so many from the beginning and from the end are read. The order of the
    candidates does not matter.

    Args:
        answer: what the model wrote, as it came.
        candidates: the departments to choose from, as `check_candidates` accepts them.
    """
    marked = own_turn(_marked(answer, candidates))
    for opening, part in conclusion_sections(marked):
        statements = read_statements(part)
        if opening is Opening.LABEL or _settles(opening, part, statements):
            found = _extraction(part, statements, candidates)
            return _with_rivals(found, marked, candidates) if opening is Opening.LABEL else found
    head = before_reasons(marked)
    statements = read_statements(head)
    if head is not marked and all(statement.strength < Strength.ALTERNATIVE for statement in statements):
        head, statements = marked, read_statements(marked)
    return _extraction(head, statements, candidates)


def extract_official(answer: str, candidates: Sequence[str]) -> str:
    """The released rule (protocol 3).

    Returns:
        The first candidate in list order that is a substring of the whole answer, else "".
    """
    return next((name for name in candidates if name in answer), "")


def is_right(predicted: str | None, gold: str, protocol: str) -> bool:
    """Whether a prediction counts as right.

    Args:
        predicted: what the extraction of the same protocol gave; None and "" are no answer.
        gold: the label.
        protocol: "standard": the two are equal. "official": the label is a substring of the prediction (protocol 3),
            so the gold 外科 is right for the prediction 小儿外科. An empty label is inside any text and never right.

    Raises:
        UnknownNameError: another protocol.
    """
    check_protocol(protocol)
    if not predicted or not gold:
        return False
    return predicted == gold if protocol == "standard" else gold in predicted


def check_candidates(candidates: Sequence[str], where: str) -> None:
    """Refuse a list of departments that answers cannot be read against.

    Args:
        candidates: the departments.
        where: file, row or argument the list came from, for the message.

    Raises:
        InputError: no list of texts, an empty list, an empty name, or one name twice (after folding).
    """
    if isinstance(candidates, str):
        raise InputError(f"{where}: the departments are one text, {candidates[:40]!r}. Expected a list of names.")
    if not candidates:
        raise InputError(f"{where}: the list of departments is empty. Expected at least one name.")
    seen: dict[str, str] = {}
    for place, name in enumerate(candidates, 1):
        key = name_key(name) if isinstance(name, str) else ""
        if not key:
            raise InputError(f"{where}: department {place} is {name!r}. Expected a name with at least one letter.")
        if key in seen:
            raise InputError(
                f"{where}: department {place} is {name!r}, which is {seen[key]!r} again once width, case, white space,"
                " punctuation and traditional characters are folded. Keep one of them."
            )
        seen[key] = name


_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_STRUCK = re.compile("~~[^~\n]{1,60}~~")
# A form that was filled in: what has an empty box is not chosen.
_TICKED = re.compile(r"\[[xX√✓✔]\]|[☑☒✅]|^[ \t*-]{0,4}[（(][√✓✔][)）]", re.MULTILINE)
_UNTICKED = re.compile(r"(?:\[ ?\]|[☐□])[^\n\[☑☒✅☐□]{0,80}|^[ \t*-]{0,4}[（(][ ]{1,3}[)）][^\n]{0,80}", re.MULTILINE)
_EMPHASIS = str.maketrans(dict.fromkeys("「」『』", '"') | dict.fromkeys("*`_《》〈〉", ""))
_ABSTAINS = re.compile(
    r"(?:无法|不能|难以|没法|不足以|不好)(?:做出|作出|给出|进行|准确|明确|具体)?"
    r"(?:判断|确定|判定|推荐|给出|回答|做出|得出|建议|选择)|信息不足|(?:没有|无)(?:任何)?(?:合适|匹配|对应|符合)的?科室"
    r"|\b(?:cannot|can't|unable to) (?:determine|decide|recommend|say|tell)"
)


def _marked(answer: str, candidates: Sequence[str]) -> MarkedText:
    """The answer without reasoning, HTML and emphasis, folded, its mentions marked."""
    text = plain_unicode(answer)
    if "\\u" in text:  # JSON that escaped its characters
        text = plain_unicode(_ESCAPED.sub(lambda code: chr(int(code[1], 16)), text))
    text = _STRUCK.sub(" ", without_html(_beginning_and_end(without_reasoning(text))))
    if _TICKED.search(text):
        text = _TICKED.sub(" ", _UNTICKED.sub(" ", text))
    text = fold(text)
    marked = mark_mentions(text, candidates)
    return without_wider(MarkedText(marked.text.translate(_EMPHASIS), marked.candidates), candidates)


_STATEMENT_END = re.compile(r"[。！？；!?;\n]")


def _beginning_and_end(text: str) -> str:
    """At most `MOST_READ` characters of each; the end begins with a sentence, not amid what refuses a department."""
    if len(text) <= 2 * MOST_READ:
        return text
    start = len(text) - MOST_READ
    before = _STATEMENT_END.search(text, start, start + MOST_READ // 10)
    return f"{text[:MOST_READ]}\n\n{text[before.end() if before else start :]}"


def _settles(opening: Opening, part: MarkedText, statements: list[Statement]) -> bool:
    """Whether a summary or an inference says which department it is, or that none can be named."""
    strongest = max((statement.strength for statement in statements), default=Strength.REFUSED)
    if opening is Opening.INFERENCE:
        return strongest >= Strength.ALTERNATIVE
    return strongest >= Strength.NAMED or _ABSTAINS.search(part.text) is not None


_UNDER_CONDITION = (Strength.EXCEPTED, Strength.IN_CONDITION, Strength.CONDITIONAL)


def _with_rivals(found: Extraction, marked: MarkedText, candidates: Sequence[str]) -> Extraction:
    """The same label stated again with another department (结论：X 结论：Y): the last one, but ambiguous."""
    if found.department is None:
        return found
    stated: list[str] = []
    for rival in earlier_conclusions(marked):
        stated += _extraction(rival, read_statements(rival), candidates).mentions
    return Extraction(found.department, tuple(dict.fromkeys([*stated, *found.mentions])))


def _extraction(part: MarkedText, statements: list[Statement], candidates: Sequence[str]) -> Extraction:
    # A department that is refused after it was recommended is taken back.
    last = {candidate: strength for candidate, strength in statements if strength not in _UNDER_CONDITION}
    kept = [statement for statement in statements if last.get(statement.candidate, Strength.ASIDE) > Strength.REFUSED]
    kept = [statement for statement in kept if statement.strength >= Strength.ASIDE]
    strongest = max((strength for _, strength in kept), default=Strength.REFUSED)
    if strongest < Strength.ALTERNATIVE and _ABSTAINS.search(part.text):
        return Extraction(None, ())
    # An alternative needs something it is beside: what was only named counts with it.
    least = Strength.NAMED if strongest is Strength.ALTERNATIVE else min(strongest, Strength.ALTERNATIVE)
    stated = [statement for statement in kept if statement.strength >= least]
    mentions = tuple(dict.fromkeys(candidates[candidate] for candidate, _ in stated))
    best = least if strongest is Strength.ALTERNATIVE else strongest
    chosen = next((candidates[candidate] for candidate, strength in stated if strength >= best), None)
    return Extraction(chosen, mentions)
