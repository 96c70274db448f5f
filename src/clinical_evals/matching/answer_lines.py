"""Stage 3 of reading an answer: lines with their indent, bullet or number, and the tree that these make.

Nothing here knows medicine: what a line is a child of follows from its layout. `answer.py` decides what counts.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from clinical_evals.matching.answer_explanations import plain
from clinical_evals.matching.answer_headings import is_label
from clinical_evals.matching.answer_phrases import is_evidence
from clinical_evals.matching.answer_tables import cells_of, csv_rows, is_rule
from clinical_evals.ontology import CodeSystem

_MAX_INDENT = 40


@dataclass
class Line:
    """One line of an answer that holds something, and the lines that hang on it."""

    text: str
    """Without indent and marker; Markdown emphasis still in it."""
    indent: int = 0
    kind: str = ""
    """"" (no marker), "bullet -" (with its sign), "number", "letter", "roman", "table"."""
    order: int = 0
    """The number it carries, 0 if none."""
    level: int = 0
    """Of a Markdown heading, 1 to 6; 0 for other lines."""
    after_blank: bool = False
    goes_on: bool = False
    """Its list has a further entry below: the next number, or the same bullet at the same indent."""
    rows: list[list[str]] = field(default_factory=list)
    """A whole table stands here."""
    ruled: bool = False
    """Its first row is underlined, as a header is."""
    children: list["Line"] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The text without emphasis."""
        return plain(self.text)

    @property
    def is_bold(self) -> bool:
        """All of it is bold (a heading, in an answer that has no others)."""
        bare = self.text.strip().rstrip(":").strip()
        return len(bare) > 4 and bare[:2] in ("**", "__") and bare[-2:] == bare[:2] and bare[2:-2].count(bare[:2]) == 0


_SIGNS = "-*+#・•●○◦▪▫■□◆◇▶►▸▹→➔➤➢➜❖✓✔✅☑☐✗✘❌★☆※‣⁃∙·–—»¤§"
_BULLET = re.compile(
    rf"(?P<sign>[{re.escape(_SIGNS)}\u2190-\u21ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]+"
    r"|o(?= )|\uf0b7|\uf0a7)"
    r"[ \t]*(?:\[[ xX✓]?\][ \t]+)?|\[[ xX✓]?\][ \t]+"
)
_NUMBER = re.compile(
    r"(?:#|No\.? ?|Nr\.? ?|№ ?)?[(\[]?(?P<order>\d{1,3})(?P<deeper>(?:\.\d{1,2}){0,3})"
    r"(?:[)\]]+[.:]?|\.\)?(?!\d)|:(?!\d)|[、。](?!\d)| ?[-–—] |/ )[ \t]*|#(?P<hash>\d{1,3}) +"
    r"|(?P<levels>\d{1,2}(?:\.\d{1,2}){1,3}) +(?=[A-Z*])"
)
_NUMBERED_LABEL = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z ()-]{1,40}?)(?: (?:#|no\.? ?)?|#)(?P<order>\d{1,3}) ?"
    r"(?:[:.)](?!\d)|[-–—] )[ \t]*(?=\S)",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?P<open>\()?(?P<letter>[A-Za-z]|[ivxIVX]{2,5})(?P<close>[.)\]:])[ \t]+(?=\S)|\((?P<inner>[A-Za-z]"
    r"|[ivxIVX]{2,5})\)[ \t]*(?=\S)"
)
_BARE_NUMBER = re.compile(r"(?P<order>\d{1,3})[ \t]+(?=[A-Za-z*(\"])")
_HASHES = re.compile(r"(#{1,6})[ \t]+(?=\S)|(#{2,6})(?=[A-Za-z*])")
_ESCAPED_MARKER = re.compile(r"\A(\d{0,3})\\(?=[-*+.)#>])")
_QUOTE = re.compile(r"(?:>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[\w+-]*[ \t]*\Z")
_TABBED_MARKER = re.compile(rf"^([ \t]*(?:\(?\d{{1,3}}[.):]\)?|[{re.escape(_SIGNS)}]|o))\t+")
_ROMAN = {"i": 1, "v": 5, "x": 10}


def read_lines(text: str, system: CodeSystem) -> list[Line]:
    """The lines that hold something, markers read; a table is one line."""
    raw = [_TABBED_MARKER.sub(r"\1 ", line) for line in text.split("\n") if not _FENCE.match(line)]
    tables = _tables_in(raw, system)
    lines: list[Line] = []
    blank = True
    for number, each in enumerate(raw):
        body = each.strip()
        if number in tables:
            if rows := tables[number]:
                lines.append(Line("table", 0, "table", after_blank=blank, rows=rows, ruled=_is_ruled(raw, number)))
            blank = False
            continue
        if not any(map(str.isalnum, body)):
            if (
                len(body) > 2
                and set(body) <= {"=", "-"}
                and lines
                and not blank
                and not lines[-1].kind
                and not lines[-1].level
            ):
                lines[-1].level = 2  # underlined: a heading
            blank = True
            continue
        line = _read_line(each, body)
        if lines and not blank and _is_wrapped(lines[-1], len(raw[number - 1].rstrip()), line):
            lines[-1].text += " " + line.text
            continue
        line.after_blank = blank
        blank = False
        lines.append(line)
    _keep_sequences(lines)
    _join_empty_markers(lines)
    shift = min((line.indent for line in lines), default=0)
    for line in lines:
        line.indent -= shift
    return [line for line in lines if line.text or line.children]


_WRAPPED_AT = 72  # columns; narrower than the usual 80, so that a long word may have moved to the next line
_DANGLING = re.compile(r"\b(?:with|without|due to|and|or|of|by|to|from|in|on|the|an?|secondary|status)\Z|[,/]\Z")
_CONTINUATION = re.compile(r"(?P<word>[a-z][a-z'/-]+)(?![\w.):=])")


def _is_wrapped(above: Line, columns: int, line: Line) -> bool:
    """A line that only goes on with the entry above, which was cut at a column."""
    if line.kind or line.level or above.level or above.rows or above.words.endswith((":", ".", "!", "?", ";")):
        return False
    if len(above.text) > 2000 or not (first := _CONTINUATION.match(line.text)) or is_evidence(line.text):
        return False
    open_bracket = above.text.count("(") > above.text.count(")")
    full = columns + 1 + len(first["word"]) > _WRAPPED_AT
    dangles = open_bracket or _DANGLING.search(above.words) is not None
    return full or dangles if above.kind else full and dangles


def _is_ruled(raw: list[str], first: int) -> bool:
    """Whether a rule follows the first row of a table (a grid starts with a rule of its own)."""
    first += is_rule(raw[first].strip())
    return first + 1 < len(raw) and is_rule(raw[first + 1].strip())


def _tables_in(raw: list[str], system: CodeSystem) -> dict[int, list[list[str]]]:
    """By line number: the rows of the table that starts there; no rows for its other lines."""
    found: dict[int, list[list[str]]] = {}
    i = 0
    while i < len(raw):
        end = i
        rows: list[list[str]] = []
        while (end < len(raw) and (cells := cells_of(raw[end])) is not None) or (
            rows and end < len(raw) and is_rule(raw[end].strip())
        ):
            rows += [cells] if cells is not None and not is_rule(raw[end].strip()) else []
            end += 1
        if len(rows) > 1 or (rows and (end - i > 1 or raw[i].strip().startswith("|"))):
            found |= {i: rows} | {j: [] for j in range(i + 1, end)}
        elif end == i:
            while end < len(raw) and "," in raw[end]:
                end += 1
            if end > i + 1 and (rows_ := csv_rows([line.strip() for line in raw[i:end]], system)):
                found |= {i: rows_} | {j: [] for j in range(i + 1, end)}
        i = max(end, i + 1)
    return found


def _read_line(raw: str, body: str) -> Line:
    indent = min(_MAX_INDENT, len(raw[:200].expandtabs(4)) - len(raw[:200].expandtabs(4).lstrip()))
    body = _ESCAPED_MARKER.sub(r"\1", body)
    if quote := _QUOTE.match(body):
        body = body[quote.end() :]
    line = Line(body, indent)
    if hashes := _HASHES.match(body):
        line.level = len(hashes[1] or hashes[2])
        line.text = body[hashes.end() :].rstrip("# ").strip()
    for _ in range(3):
        if not _take_marker(line):
            break
    return line


def _take_marker(line: Line) -> bool:
    """Move one bullet or number from the text into the line; the first bullet or number decides the kind."""
    text = line.text
    bold = text[:2] if text[:2] in ("**", "__") else ""
    inner = text[len(bold) :]
    if (number := _NUMBER.match(inner)) and (not line.order or not bold):
        digits = number["order"] or number["hash"] or number["levels"].split(".")[0]
        deeper = (number["deeper"] or number["levels"] or "").count(".")
        line.order = int(digits) if not deeper else int((number["deeper"] or number["levels"]).rsplit(".", 1)[1])
        line.indent = min(_MAX_INDENT, line.indent + 2 * deeper)
        line.kind = line.kind or ("number" if not deeper else "number deeper")
        line.text = _unbolded(bold, inner[number.end() :])
        return True
    if not bold and (bullet := _BULLET.match(text)) and _is_bullet(bullet, text):
        line.kind = line.kind or "bullet " + (bullet["sign"] or "[]")[:1]
        line.text = text[bullet.end() :].strip()
        return True
    if (
        (label := _NUMBERED_LABEL.match(inner))
        and not line.order
        and is_label(label["label"])
        and not label["label"].lower().startswith("icd")
    ):
        line.order, line.kind = int(label["order"]), line.kind or "number"
        line.text = _unbolded(bold, inner[label.end() :])
        return True
    return False


def _unbolded(bold: str, rest: str) -> str:
    rest = rest.strip()
    return rest[2:].strip() if bold and rest.startswith(bold) else bold + rest if bold else rest


def _is_bullet(bullet: re.Match[str], text: str) -> bool:
    sign, rest = bullet["sign"] or "", text[bullet.end() :]
    spaced = text[: bullet.end()][-1:] in (" ", "\t")
    if not rest or not sign:
        return not sign or len(sign) < 4
    if sign[0] == "*" and not spaced:
        return "*" not in rest and len(sign) == 1
    if sign[0] in "+#" and not spaced:
        return sign == "#" and rest[0].isalpha()
    return spaced or not rest[0].isdigit() or sign[0] not in "-–—"


def _keep_sequences(lines: list[Line]) -> None:
    """Letters, roman and bare numbers are markers only where a neighbour continues them ("E. coli" is none)."""
    for pattern, kinds in ((_LETTER, ("letter", "roman")), (_BARE_NUMBER, ("number",))):
        found = [(line, m) for line in lines if not line.kind and (m := pattern.match(line.text.removeprefix("**")))]
        firsts: set[tuple[str, int, str]] = set()  # lists that started there: "a." alone below "2. Renal" is one too
        for kind in kinds:
            orders = [_order_of(m, kind) for _, m in found]
            for i, (line, match) in enumerate(found):
                order = orders[i]
                if line.kind or order is None:
                    continue
                sure = match.re is _LETTER and ")" in match[0] and len(match[0].strip("( )\t")) < 2
                sure = sure and (kind == "roman" or not _has_neighbour(found, i, "roman"))
                first = (kind, line.indent, _style_of(match))
                sure = sure or (order == 1 and line.indent > 0 and first in firsts)
                if sure or _has_neighbour(found, i, kind):
                    firsts |= {first} if order == 1 else set()
                    bold = "**" if line.text.startswith("**") else ""
                    line.kind, line.order = kind, order
                    line.text = _unbolded(bold, line.text.removeprefix("**")[match.end() :])
                elif (
                    kind == "roman"
                    and match[0].strip() == "I."
                    and match.string[match.end() : match.end() + 1].isupper()
                ):
                    line.kind, line.order, line.text = kind, 1, match.string[match.end() :]


def _has_neighbour(found: list[tuple[Line, re.Match[str]]], i: int, kind: str) -> bool:
    """Whether the mark before or after carries the number before or after, written in the same way."""
    order, style = _order_of(found[i][1], kind), _style_of(found[i][1])
    near = [(found[j][1], j - i) for j in (i - 1, i + 1) if 0 <= j < len(found)]
    return order is not None and any(_order_of(m, kind) == order + step and _style_of(m) == style for m, step in near)


def _order_of(match: re.Match[str], kind: str) -> int | None:
    if kind == "number":
        return int(match["order"])
    written = (match["letter"] or match["inner"]).lower()
    if kind == "letter":
        return ord(written) - 96 if len(written) == 1 else None
    if not set(written) <= _ROMAN.keys():
        return None
    values = [_ROMAN[character] for character in written]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))


def _style_of(match: re.Match[str]) -> str:
    if match.re is not _LETTER:
        return ""
    written = match["letter"] or match["inner"]
    return ("upper" if written.isupper() else "lower") + (match["close"] or "()") + (match["open"] or "")


def _join_empty_markers(lines: list[Line]) -> None:
    """A number alone on its line belongs to the text below it."""
    for line, following in pairwise(lines):
        if line.kind and not line.text and not following.kind and not following.level and following.text:
            line.text, following.text = following.text, ""
