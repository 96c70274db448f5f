"""Stage 3, continued: the tree that the lines of an answer make. Headings hold what follows, items what is nested."""

from clinical_evals.matching.answer_headings import is_code_label, is_heading, is_label, section_kind
from clinical_evals.matching.answer_lines import Line
from clinical_evals.matching.answer_order_groups import labels_orders
from clinical_evals.matching.answer_order_words import is_order_heading
from clinical_evals.matching.answer_phrases import is_remark, is_sentence
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import words_of
from clinical_evals.ontology import CodeSystem

_MAX_DEPTH = 60


def tree_of(lines: list[Line], system: CodeSystem) -> Line:
    """The root over all lines. Headings hold what follows them, items hold what is nested under them."""
    root = Line("", -1)
    _mark_lists(lines)
    titled = _titles_stand_above_bullets(lines, system)
    stack: list[Line] = [root]
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else None
        if line.level:
            while len(stack) > 1 and not 0 < stack[-1].level < line.level:
                stack.pop()
        elif line.kind:
            _pop_for_marked(stack, line)
        elif titled and following and following.kind and line.indent == 0:
            _pop_to_section(stack)
        else:
            _pop_for_unmarked(stack, line, system)
        del stack[_MAX_DEPTH:]
        stack[-1].children.append(line)
        if not _is_closed(line, system):
            stack.append(line)
    return root


def _mark_lists(lines: list[Line]) -> None:
    """Set `goes_on` in the lines that carry a marker."""
    seen: set[tuple[int, str, int]] = set()
    for line in reversed(lines):
        bullet = line.kind.startswith("bullet")
        line.goes_on = (line.indent, line.kind, 0 if bullet else line.order + 1) in seen
        seen.add((line.indent, line.kind, 0 if bullet else line.order))


def _is_closed(line: Line, system: CodeSystem) -> bool:
    """A line of its own such as "Rationale: fever and cough": nothing hangs on it."""
    head, colon, tail = line.words[:2000].partition(":")
    if words_of(head)[:1] == ("step",):
        return False
    return (
        not line.kind
        and not line.level
        and bool(colon and tail.strip())
        and (section_kind(head, system) != "" or is_code_label(head))
    )


def _titles_stand_above_bullets(lines: list[Line], system: CodeSystem) -> bool:
    """An answer that starts with a bare line and bullets under it: its bare lines are what the bullets belong to."""
    if len(lines) < 3 or lines[0].kind or lines[0].level or not lines[1].kind.startswith("bullet"):
        return False
    words = lines[0].words
    return not (opens_section(lines[0], system) or is_remark(words) or is_sentence(words))


def _pop_to_section(stack: list[Line]) -> None:
    while len(stack) > 1 and not stack[-1].level:
        stack.pop()


def _pop_for_marked(stack: list[Line], line: Line) -> None:
    while len(stack) > 1 and stack[-1].kind and stack[-1].indent > line.indent:
        stack.pop()
    while len(stack) > 1 and not stack[-1].kind and _hangs_on_marked(stack):
        stack.pop()
    while len(stack) > 1 and stack[-1].kind and stack[-1].indent > line.indent:
        stack.pop()
    same = [i for i, each in enumerate(stack) if each.kind == line.kind and each.indent == line.indent]
    if same:
        del stack[same[-1] :]
    elif (
        stack[-1].kind
        and stack[-1].indent == line.indent
        and not _may_hold(stack[-1], line, stack[-2].children[-3:-1])
    ):
        stack.pop()


def _hangs_on_marked(stack: list[Line]) -> bool:
    return any(each.kind for each in stack[:-1])


def _may_hold(above: Line, line: Line, siblings: list[Line]) -> bool:
    """Whether a marked line of another kind at the same indent hangs on the line above it."""
    if above.goes_on or above.words.endswith(":") or is_heading(above.words):
        return True
    if any(
        child.kind == line.kind and child.indent == line.indent for each in siblings for child in each.children[:1]
    ):
        return True
    return above.kind.startswith(("number", "letter", "roman")) and not line.after_blank


def _pop_for_unmarked(stack: list[Line], line: Line, system: CodeSystem) -> None:
    holder = next((each for each in reversed(stack) if each.kind), None)
    opens = opens_section(line, system)
    if holder and not opens:
        numbered = holder.kind.startswith("number") and holder.goes_on
        if line.indent > holder.indent or not line.after_blank or numbered:
            while stack[-1] is not holder:
                stack.pop()
            return
    if holder and opens and (line.indent > holder.indent or _tells_of(holder, line, system)):
        while stack[-1] is not holder:
            stack.pop()
        return
    while len(stack) > 1 and not stack[-1].level and not (_holds_unmarked(stack[-1], system) and not opens):
        stack.pop()


def _tells_of(holder: Line, line: Line, system: CodeSystem) -> bool:
    """An "Evidence: …" that follows an entry directly, or stands between it and the next number."""
    if not section_kind(line.words[:2000].partition(":")[0], system):
        return False
    return (_is_closed(line, system) and not line.after_blank) or (holder.goes_on and holder.kind == "number")


def _holds_unmarked(line: Line, system: CodeSystem) -> bool:
    return not line.kind and opens_section(line, system)


def opens_section(line: Line, system: CodeSystem) -> bool:
    """A line without marker that reads as a heading: ends with a colon, is bold, or consists of heading words."""
    words = line.words
    if line.kind or line.level or len(words) > 300:
        return bool(line.level)
    head, colon, tail = words.partition(":")
    if colon and (
        not tail.strip() or is_label(head) or section_kind(head, system) or labels_orders(head, tail, system)
    ):
        return True
    if line.is_bold:
        return True
    return ((is_heading(words) or is_order_heading(words, system)) and not is_title(words, system)) or (
        section_kind(words, system) != "" and len(words_of(words)) <= 5
    )
