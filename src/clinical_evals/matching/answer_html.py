"""Stage 1, continued: HTML and XML of an answer as the Markdown that says the same. Linear time, never raises."""

import html
import re

from clinical_evals.matching.answer_text import plain_unicode
from clinical_evals.matching.answer_words import word_set

_HUGE_ENTITY = re.compile(r"&#[xX]?[0-9a-fA-F]{8,}+;?")  # html.unescape fails on numbers of thousands of digits
_COMMENT = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,40}+)((?:\s[^<>]{0,400})?)/?>")
_INLINE = word_set("i em u span font code sub sup small a mark label abbr tt kbd center big cite q ins")
_STRUCK = word_set("s del strike")
_BOLD = word_set("b strong")
_EVIDENCE_TAG = re.compile(r"evidence|rational|reason|explan|justif|confiden|comment|note|probab|support|treat")
_CODE_TAG = re.compile(r"code|icd")
_TITLE_TAG = re.compile(r"name|title|descr|term|diagnosis|condition|disease")
_TABLE_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_TABLE_LINE = re.compile(r"^[ ]{0,8}\|.*$", re.MULTILINE)


def without_html(text: str) -> str:
    """Tags as the Markdown that says the same: list items, table rows, headings, bold; entities as characters."""
    if "&" in text:
        text = html.unescape(_HUGE_ENTITY.sub(" ", text)).replace("\r", "\n")
        text = plain_unicode(text)
    if "<" not in text:
        return text
    text = _TABLE_LINE.sub(lambda line: _TABLE_BREAK.sub(" ", line[0]), _without_comments(text))
    records = re.search(r"<(?:name|title|description|diagnosis)>", text, re.IGNORECASE) is not None
    out: list[str] = []
    depth, row, last = 0, False, 0
    for tag in _TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if tag[3].strip() and "=" not in tag[3] and name not in _INLINE | _BOLD | {"br", "p", "div", "hr"}:
            continue  # "<patient name>" is a placeholder, not a tag
        piece = text[last : tag.start()]
        out.append(" ".join(piece.split()) if row else piece)
        last = tag.end()
        depth = min(20, max(0, depth + (-1 if closing else 1))) if name in ("ul", "ol", "dl") else depth
        out.append(_markdown(name, closing, depth, row, records) + _attributes(tag[3]))
        row = (not closing) if name == "tr" else row and name not in ("table", "tbody", "thead")
    return "".join([*out, text[last:]])


def _markdown(name: str, closing: bool, depth: int, row: bool, records: bool) -> str:
    if name in ("td", "th"):
        return " | " if closing else ""
    if name == "tr":
        return "\n" if closing else "\n| "
    if name in _BOLD:
        return "**"
    if name in _STRUCK:
        return "~~"
    if row or (name in _INLINE and not (records and name == "code")):
        return " " if row else ""
    if name in ("li", "dt"):
        return "\n" if closing else "\n" + "  " * max(0, depth - 1) + "- "
    if name == "dd":
        return "\n" if closing else "\n" + "  " * max(1, depth) + "- "
    if re.fullmatch(r"h[1-6]", name):
        return "\n" if closing else "\n" + "#" * int(name[1]) + " "
    if name in ("p", "table"):
        return "\n\n"
    return "\n" if closing or not records else _record_label(name)


_ATTRIBUTE = re.compile(r"\b(code|icd\w{0,8}|name|title|diagnosis)\s?=\s?[\"']([^\"'<>]{1,200})[\"']", re.IGNORECASE)


def _attributes(written: str) -> str:
    """The code and the title that a tag carries itself: <item code="I10">."""
    values = {key.lower(): value for key, value in _ATTRIBUTE.findall(written)}
    return "".join(f"{value} - " for _, value in sorted(values.items()))


def _record_label(name: str) -> str:
    """<diagnosis><name>…</name><code>…</code></diagnosis> as the lines of a record."""
    for pattern, label in ((_EVIDENCE_TAG, "Evidence: "), (_CODE_TAG, "Code: "), (_TITLE_TAG, "")):
        if pattern.search(name):
            return "\n" + label
    return "\n"


def _without_comments(text: str) -> str:
    kept, last = [], 0
    while start := _COMMENT.search(text, last):
        kept.append(text[last : start.start()])
        end = re.compile(f"</{start[1]}>" if start[1] else "-->", re.IGNORECASE).search(text, start.end())
        if not end:  # not closed: what follows is read as text
            return "".join(kept) + text[start.end() :]
        last = end.end()
    return "".join([*kept, text[last:]])
