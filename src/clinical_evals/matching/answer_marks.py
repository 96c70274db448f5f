"""Lines whose marks say what they are: boxes that are checked or not, lists in one line, numbers of older releases.

Works on text before its lines are read, so that the rest need not know. Source: protocol 2.5, point 1.
"""

import re

from clinical_evals.matching.answer_groups import is_short_phrase, names_condition
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.codes_in_text import find_codes
from clinical_evals.ontology import CodeSystem

_MARKER = r"(?P<indent>[ \t]*)(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
_CHECKED = re.compile(_MARKER + r"(?:\[[xX✓✔]\]|[☑☒✅✔✓])(?=\s*[^\W_]|\s*\*\*)")
_UNCHECKED = re.compile(_MARKER + r"(?:\[[ ]?\]|☐)(?!\()(?=\s*[^\W_]|\s*\*\*)")
_CROSSED = re.compile(_MARKER + r"[❌✗✘](?=\s*[^\W_]|\s*\*\*)")


def without_unchecked(text: str) -> str:
    """A checklist without the entries that are crossed, or left unchecked beside checked ones, and what hangs on them.

    A list of empty boxes only is a list like any other.
    """
    if not any(sign in text for sign in "[☐❌✗✘"):
        return text
    lines = text.split("\n")
    checked = any(_CHECKED.match(line) and not line.rstrip().endswith(":") for line in lines)
    kept: list[str] = []
    dropped: int | None = None  # the indent of the entry that was dropped
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if dropped is not None and indent > dropped and line.strip() and not _CHECKED.match(line):
            continue
        out = _CROSSED.match(line) or (checked and _UNCHECKED.match(line))
        dropped = len(out["indent"]) if out and not line.rstrip().endswith(":") else None
        kept += [line] if dropped is None else []
    return "\n".join(kept)


_DASHED = re.compile(r"[ \t]*- (?=\S)")


def dashes_as_lines(text: str, system: CodeSystem) -> str:
    """ "- Pneumonia - Sepsis - AKI" as three lines, where each part can be a decision by itself."""
    return "\n".join(_dash_line(line, system) for line in text.split("\n")) if " - " in text else text


def _dash_line(line: str, system: CodeSystem) -> str:
    start = _DASHED.match(line)
    if not start or line.count(" - ") < 2 or len(line) > 1000:
        return line
    parts = [part.strip() for part in line[start.end() :].split(" - ")]
    if not all(part[:1].isupper() for part in parts) or any(find_codes(part, system).codes for part in parts):
        return line  # "Sepsis - pneumonia - hypotension" is one with its cause and sign
    alike = all(is_short_phrase(part, system) and names_condition(part, system) for part in parts)
    return (
        "\n".join(start[0] + part for part in parts) if alike and not is_title(line[start.end() :], system) else line
    )


_ENTRY = re.compile(r"<li>([^<>]{1,400}(?:<br ?/?>[^<>]{1,400}){1,20})</li>", re.IGNORECASE)
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)


def breaks_as_entries(text: str, system: CodeSystem) -> str:
    """An HTML entry of several decisions as one entry each; the evidence below a decision stays with it."""

    def cut(entry: re.Match[str]) -> str:
        parts = [part.strip() for part in _BREAK.split(entry[1])]
        alike = all(is_short_phrase(part, system) and names_condition(part, system) for part in parts)
        return "".join(f"<li>{part}</li>" for part in parts) if alike else entry[0]

    return _ENTRY.sub(cut, text) if "<li>" in text.lower() else text


_ICD9 = re.compile(
    r"^([ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?)ICD[- ]?9(?:-CM)?(?: code)?(?: ?[:#])? ?"
    r"(?:\d{2,3}\.\d{1,2}|\d{3,5})(?![\w.]) ?(?:[-–:,] ?)?(?=[A-Za-z]{2})",
    re.IGNORECASE | re.MULTILINE,
)


def without_icd9(text: str) -> str:
    """Without the ICD-9 label and number in front of a title ("ICD-9: 401.9 Hypertension")."""
    return _ICD9.sub(r"\1", text)
