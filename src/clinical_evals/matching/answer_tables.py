"""Tables in an answer: Markdown, pipes, tabs, CSV. One decision a row; columns other than code and title
are ignored."""

import csv
import re

from clinical_evals.matching.answer_headings import is_code_label, is_heading, is_label, section_kind
from clinical_evals.matching.answer_items import Decision
from clinical_evals.matching.answer_measurements import is_measurement
from clinical_evals.matching.answer_order_holds import is_hold
from clinical_evals.matching.answer_order_words import is_order_field, is_order_label
from clinical_evals.matching.answer_orders import is_known_order, states_no_order
from clinical_evals.matching.answer_phrases import is_evidence, is_sentence
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import word_set, words_of
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem

Row = list[str]

_RULE = re.compile(r"[\s|:+=\-–—]*[-=–—]{2}[\s|:+=\-–—]*")
_PIPE = re.compile(r"(?<!\\)\|")
_INDEX = re.compile(r"(?:no|nr|rank|index|sl|s|item|problem|row|order|priority)\W*(?:no)?\W*|#|\W*", re.IGNORECASE)
_MARKER = re.compile(r"\A(?:[-*•·]|\d{1,3}[.)])\s+(?=\S)")
_MAX_COLUMNS = 30
_OTHER_COLUMNS = word_set("type category source status chapter evidence supporting confidence")


def is_rule(line: str) -> bool:
    """A line that only draws: the separator of a Markdown table, or of a grid."""
    return _RULE.fullmatch(line) is not None


def cells_of(line: str) -> Row | None:
    """The cells of a line that is a row of pipes or tabs (or a box), else None."""
    line = line.replace("│", "|").replace("┃", "|").replace("║", "|")
    if "|" in line:
        cells = [cell.strip() for cell in _PIPE.split(line.strip())]
        cells = cells[1:] if not cells[0] else cells
        cells = cells[:-1] if cells and not cells[-1] else cells
        return cells if len(cells) > 1 or line.strip().startswith("|") else None
    if "\t" in line.strip():
        return [cell.strip() for cell in re.split(r"\t+", line.strip())]
    return None


_COMMA_FOR_DOT = re.compile(r"[^,]{0,40}\b[A-Za-z]\d\w,\d[^,]*")  # "J18,9 Pneumonia"


def csv_rows(lines: list[str], system: CodeSystem) -> list[Row] | None:
    """Lines that are CSV: a header of column names, or a code first and a title after it in every line."""
    if len(lines) < 2 or not all("," in line for line in lines) or is_title(lines[0], system):
        return None
    if all(map(_COMMA_FOR_DOT.fullmatch, lines)):
        return None
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]
    except csv.Error:
        return None
    if len(rows) != len(lines):
        return None
    if _is_header(rows[0], system):
        return rows
    coded = all(
        is_only_codes(row[0], system)
        and re.search(r"[A-Za-z]{3}", row[1])
        and not any(is_only_codes(cell, system) for cell in row[1:])
        for row in rows
    )
    if not coded:
        return None
    return [[row[0], ", ".join(row[1:])] for row in rows]


def decisions_in_rows(rows: list[Row], system: CodeSystem, ruled: bool = False) -> list[Decision]:
    """One decision for each row that states one; a header row says what the columns are.

    Args:
        rows: the cells of each row.
        system: the code system of the answer.
        ruled: a line is drawn under the first row, as under a header.
    """
    rows = [[_plain(cell) for cell in row[:_MAX_COLUMNS]] for row in rows]
    named = rows and (_is_header(rows[0], system) or (ruled and not _states_decision(rows[0], system)))
    header = rows[0] if named else None
    if header and not vocabulary(system).results and _is_lab_table(header):
        return []
    found = []
    for row in rows[1:] if header else rows:
        if not header and _is_header(row, system):
            continue
        decision = _by_header(header, row, system) if header else _by_content(row, system)
        if decision and (decision.text or decision.code_field):
            found.append(decision)
    return found


def _plain(cell: str) -> str:
    cell = _MARKER.sub("", cell, count=1)
    return " ".join(cell.replace("\\|", "|").replace("**", "").replace("__", "").replace("`", "").split())


def _is_header(row: Row, system: CodeSystem) -> bool:
    named = [cell for cell in row if cell]
    if len(named) < 2 or any(is_only_codes(cell, system) for cell in named):
        return False
    known = [_column(cell, system) != "" for cell in named]
    return all(known) or (len(named) > 2 and sum(known) >= len(named) - 1 and known[0])


def _states_decision(row: Row, system: CodeSystem) -> bool:
    return any(is_only_codes(cell, system) or is_title(cell, system) for cell in row)


def _is_lab_table(header: Row) -> bool:
    """Values with their units are the record's laboratory results, repeated."""
    words = {word for name in header for word in words_of(name)}
    return "value" in words and not {"unit", "units", "range", "flag", "reference"}.isdisjoint(words)


def _column(name: str, system: CodeSystem) -> str:
    """What a column holds: code, title, ignore, or "" if its name does not tell."""
    if is_code_label(name):
        return "code"
    if _INDEX.fullmatch(name):
        return "ignore"
    if is_order_field(name, system):
        return "ignore"
    if is_order_label(name, system):
        return "title"
    words = words_of(name)
    if section_kind(name, system) or (len(words) < 4 and words[0:1] and words[0] in _OTHER_COLUMNS):
        return "ignore"
    if any(word.startswith("icd") or word == "code" for word in words) and not any(
        w.startswith(("descr", "title", "name")) for w in words
    ):
        return "code" if is_label(name) else ""
    return "title" if is_label(name) or is_heading(name) else ""


_ACTION = re.compile(r"(?:order |current )?(?:status|action|decision|plan|disposition|recommendation)", re.IGNORECASE)


def _by_header(header: Row, row: Row, system: CodeSystem) -> Decision | None:
    if vocabulary(system).orders and any(
        _ACTION.fullmatch(name) and is_hold(cell) for name, cell in zip(header, row, strict=False)
    ):
        return None
    kinds = [_column(name, system) if name else "" for name in header]
    kinds += [""] * (len(row) - len(kinds))
    codes = [
        cell for kind, cell in zip(kinds, row, strict=False) if kind == "code" and not states_no_order(cell, system)
    ]
    titles = [
        cell for kind, cell in zip(kinds, row, strict=False) if kind == "title" and not states_no_order(cell, system)
    ]
    codes += [cell for cell in titles if is_only_codes(cell, system)]
    if codes or titles:
        worded = [cell for cell in titles if cell not in codes and re.search(r"[^\W\d_]{2}", cell)]
        title = next((cell for cell in worded if not is_label(cell) or is_title(cell, system)), "")
        return Decision(title, ", ".join(codes))
    return None if any(kind in ("code", "title") for kind in kinds) else _by_content(row, system)


def _by_content(row: Row, system: CodeSystem) -> Decision | None:
    cells = [cell for cell in row if cell and not states_no_order(cell, system) and not cell.rstrip(".)").isdigit()]
    codes = [cell for cell in cells if is_only_codes(cell, system)]
    worded = [cell for cell in cells if cell not in codes and re.search(r"[^\W\d_]{2}", cell)]
    titles = [
        cell
        for cell in worded
        if not (is_label(cell) or is_evidence(cell) or is_sentence(cell) or is_measurement(cell))
    ]
    titles = [
        cell
        for cell in worded
        if is_title(cell, system) or is_known_order(cell, system) or find_codes(cell, system).codes
    ] or titles
    if not codes and not titles:
        return Decision(worded[0]) if worded and len(row) > 1 and not is_label(worded[0]) else None
    return Decision(titles[0] if titles else "", ", ".join(codes))
