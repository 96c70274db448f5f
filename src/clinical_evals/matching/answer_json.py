"""Answers that are JSON: lists, objects, lines of objects; in a fence or not, cut off, or slightly broken.

A lenient reader instead of `json`, so that what a model wrote before it was cut off still counts. Linear time, no
recursion deeper than `_DEPTH`.
"""

import json
import re
from typing import TypeAlias

from clinical_evals.matching.answer_headings import is_heading, is_label, section_kind
from clinical_evals.matching.answer_items import Decision
from clinical_evals.matching.answer_order_groups import labels_orders
from clinical_evals.matching.answer_order_holds import is_hold
from clinical_evals.matching.answer_order_words import is_group_name, is_order_field, is_order_label
from clinical_evals.matching.answer_phrases import is_denial, is_evidence
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_text import without_surrogates
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.codes_in_text import is_only_codes
from clinical_evals.ontology import CodeSystem


class Pairs(list[tuple[str, "Value"]]):
    """A JSON object, with its repeated keys."""


Value: TypeAlias = "str | list[Value] | Pairs"

_DEPTH = 40
_START = re.compile(
    r"\[\s{0,40}(?=[\"'{]|\[\s{0,40}[\"'{])|\{\s{0,40}(?=[\"']|[A-Za-z_]\w{0,40}\s{0,4}:\s{0,4}[\"'\[{])"
    r"|\[\s{0,40}\]|\{\s{0,40}\}"
)
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z)|'(?:[^'\\]|\\.|'(?!\s{0,20}(?:[,:\]}]|\Z)))*+(?:'|\Z|\\\Z))"""
    r"""|(?P<mark>[\[\]{}:,])|(?P<comment>//[^\n]*)|(?P<bare>[^\s\[\]{}:,"']+|['"])""",
    re.DOTALL,
)


def read_json(text: str) -> tuple[list[Value], int]:
    """All JSON values in a text, and how many of its characters they take."""
    values: list[Value] = []
    position, taken = 0, 0
    while start := _START.search(text, position):
        value, position = _read_value(text, start.start())
        taken += position - start.start()
        values.append(value)
    return values, taken


def _read_value(text: str, start: int) -> tuple[Value, int]:
    """The value that starts at a bracket, and where it ends; what is still open is closed at the text's end."""
    top: list[Value] = []
    stack: list[list[Value] | Pairs] = [top]
    key: list[str | None] = [None]
    last: list[str | None] = [None]  # the text read since the last separator, a key if a colon follows
    ignored, position = 0, start

    def put(value: Value) -> None:
        container = stack[-1]
        if isinstance(container, Pairs):
            container.append((key[-1] or "", value))
        else:
            container.append(value)
        key[-1] = None

    def flush() -> None:
        if last[-1] is not None:
            put(last[-1])
            last[-1] = None

    while token := _TOKEN.search(text, position):
        position = token.end()
        mark = token["mark"]
        if token["string"] is not None or token["bare"] is not None:
            written = _unquoted(token["string"]) if token["string"] is not None else token["bare"]
            if (
                last[-1] is not None
                and token["string"] is not None
                and isinstance(stack[-1], Pairs)
                and key[-1] is not None
            ):
                flush()  # a missing comma
            last[-1] = written if last[-1] is None else f"{last[-1]} {written}"
        elif mark == ":":
            if isinstance(stack[-1], Pairs) and key[-1] is None:
                key[-1], last[-1] = last[-1] or "", None
            elif last[-1] is not None:
                last[-1] += ":"
        elif mark == ",":
            flush()
            key[-1] = None
        elif mark in ("[", "{"):
            if len(stack) > _DEPTH:
                ignored += 1
                continue
            flush()
            inner: list[Value] | Pairs = Pairs() if mark == "{" else []
            put(inner)
            stack.append(inner)
            key.append(None)
            last.append(None)
        elif mark in ("]", "}"):
            if ignored:
                ignored -= 1
                continue
            flush()
            stack.pop()
            key.pop()
            last.pop()
            if len(stack) == 1:
                return top[0], position
    while len(stack) > 1:
        flush()
        stack.pop()
        key.pop()
        last.pop()
    return top[0], len(text)


def _unquoted(written: str) -> str:
    quote = written[0]
    inner = written[1:-1] if len(written) > 1 and written[-1] == quote else written[1:]
    if "\\" not in inner:
        return inner
    try:
        inner = inner.replace("\\'", "'").replace('"', '\\"' if quote == "'" else '"')
        return without_surrogates(str(json.loads(f'"{inner}"', strict=False)))
    except ValueError:
        return inner.replace("\\n", "\n").replace("\\", "")


# What the values say

_IGNORED = re.compile(
    r"rational|reason|evidence|explan|justif|confiden|probab|likelihood|score|comment|notes?\b|support"
    r"|treat|plan|status|severity|source|date|onset"
    r"|rank|priority|type|category|chapter|block|certain|summary|disclaim|recommend|think|thought|analysis"
    r"|symptom|finding|vital|system|version"
    r"|patient|profile|age|sex|gender|valid|ruled|excluded|history_of|billable|index|id\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"title|descr|desc\b|name|text|display|label|term", re.IGNORECASE)


def _role(key: str, system: CodeSystem) -> str:
    """ignore, code, name (of a decision), decision (one or a list of them), group (of decisions) or ""
    (anything else)."""
    words = words_of(re.sub(r"([a-z])([A-Z])", r"\1 \2", key.replace("_", " ")))
    text = " ".join(words)
    if (
        any(re.match(_IGNORED, word) for word in words) and "diagnosis" not in words and "diagnoses" not in words
    ) or section_kind(text, system):
        return "ignore"
    if is_order_field(text, system) and not any(word.startswith(("code", "loinc", "atc", "icd")) for word in words):
        return "ignore"
    if _NAME.search(text):
        return "name"
    if any(word.startswith("icd") or word in ("code", "codes", "loinc", "atc") for word in words):
        return "code"
    if any(word in ("reasoning", "rationale", "evidence", "confidence") for word in words):
        return "ignore"
    if is_order_label(text, system) or is_group_name(text, system):
        return "decision"
    if is_heading(text) or is_label(text) or text in ("finding", "item", "decision", "value", "dx"):
        return "decision"
    return "decision" if not text or text.isdigit() else ""


def decisions_in_json(text: str, system: CodeSystem) -> list[Decision] | None:
    """The decisions of an answer that is JSON or holds it; None if there is no JSON that states any."""
    values, taken = read_json(text)
    found = [decision for value in values for decision in _of_value(value, system, 0)]
    found = [d for d in found if d.text.strip() or d.code_field.strip()]
    if found:
        return found
    return [] if values and taken * 2 > len(text.strip()) else None


def _of_value(value: Value, system: CodeSystem, depth: int, code: bool = False) -> list[Decision]:
    if isinstance(value, str):
        return (
            []
            if value in ("null", "None", "true", "false")
            else [Decision("", value) if code else Decision(value, "", True)]
        )
    if isinstance(value, Pairs):
        return _of_object(value, system, depth + 1)
    if depth > 1 and _is_row(value, system):  # ["E11.9", "Type 2 diabetes"]
        return [Decision(str(value[1]), str(value[0]))]
    return [decision for each in value for decision in _of_value(each, system, depth + 1, code)]


def _is_row(value: list[Value], system: CodeSystem) -> bool:
    if len(value) != 2 or not all(isinstance(each, str) for each in value):
        return False
    return is_only_codes(str(value[0]), system) and not is_only_codes(str(value[1]), system)


def _of_object(pairs: Pairs, system: CodeSystem, depth: int) -> list[Decision]:
    roles = [(_role(key, system), key, value) for key, value in pairs]
    roles = [("" if _names_itself(*each, system) else each[0], *each[1:]) for each in roles]
    roles = [each for each in roles if not (each[0] in ("decision", "name") and _is_flag(each[2], system))]
    codes = [text for role, _, value in roles if role == "code" for text in _texts(value)]
    names = [text for role, _, value in roles if role == "name" for text in _texts(value)[:1]]
    stated = [text for role, _, value in roles if role == "decision" for text in _texts(value)]
    deeper = [(role, value) for role, _, value in roles if role in ("decision", "code", "name") and not _texts(value)]
    if any(_denies(key, value, system) for key, value in pairs) and not deeper and max(len(stated), len(codes)) < 2:
        return []
    found: list[Decision] = []
    if codes:
        found += _paired(codes, stated or names)
    elif stated:
        found += [Decision(text, "", True) for text in stated]
    elif names:
        found.append(Decision(names[0]))
    for role, value in deeper:
        found += _of_value(value, system, depth, role == "code")
    stands = bool(found)  # then other texts only tell about what was found
    for role, key, value in roles:
        if role == "" and not (stands and isinstance(value, str) and not is_only_codes(f"{key} {value}", system)):
            found += _of_pair(key, value, system, depth)
    return found


def _names_itself(role: str, key: str, value: Value, system: CodeSystem) -> bool:
    """A key that is an order with its reason: {"CBC": "infection"}."""
    name = " ".join(key.replace("_", " ").split())
    if role != "decision" or not isinstance(value, str) or not is_group_name(name, system):
        return False
    return not labels_orders(name, value, system)


_FLAGS = ("true", "false", "null", "none", "yes", "no")
_NUMBER = re.compile(r"[-+]?\d{1,12}(?:\.\d{1,12})? ?%?")
_ICD9 = re.compile(r"\d{3}\.\d{1,2}")
_PRESENT = re.compile(r"(?:is )?(?:present|presence|exists|detected)")
_ABSENT = re.compile(r"(?:is |was )?(?:ruled out|excluded|absent|denied|negated|refuted)")
_ACTION = re.compile(r"(?:order |current |medication )?(?:status|action|decision|plan|disposition|recommendation)")
_STATUS = re.compile(r"(?:(?:clinical|verification|diagnos\w+) )?(?:status|certainty|presence|assertion|likelihood)")


def _is_flag(value: Value, system: CodeSystem) -> bool:
    """A yes or no, a number or nothing at all: it tells about a decision and names none."""
    if not isinstance(value, str):
        return False
    number = _NUMBER.fullmatch(value) and not _ICD9.fullmatch(value) and not is_only_codes(value, system)
    return value.lower() in _FLAGS or bool(number)


def _denies(key: str, value: Value, system: CodeSystem) -> bool:
    """A field that says that the object's decision is absent: "present": false, "status": "ruled out"."""
    if not isinstance(value, str):
        return False
    name = " ".join(words_of(re.sub(r"([a-z])([A-Z])", r"\1 \2", key.replace("_", " "))))
    if _ACTION.fullmatch(name) and vocabulary(system).orders:
        return is_hold(value)
    if _ABSENT.fullmatch(name):
        return value.lower() in ("true", "yes")
    return (_PRESENT.fullmatch(name) or _STATUS.fullmatch(name)) is not None and _says_no(value, system)


def _says_no(value: str, system: CodeSystem) -> bool:
    if vocabulary(system).orders:  # of an order: "negative" is its result
        return value.lower() in ("no", "false")
    return value != "None" and is_denial(value)  # None is Python's null: nothing is said


def _texts(value: Value) -> list[str]:
    """The texts of a field that holds one text or a list of texts."""
    values = [value] if isinstance(value, str) else value if not isinstance(value, Pairs) else []
    texts = [each for each in values if isinstance(each, str)]
    return texts if len(texts) == len(values) else []


def _paired(codes: list[str], titles: list[str]) -> list[Decision]:
    if len(codes) == len(titles):
        return [Decision(title, code) for code, title in zip(codes, titles, strict=True)]
    if len(titles) == 1:
        return [Decision(titles[0], ", ".join(codes))]
    return [Decision("", code) for code in codes] if not titles else [Decision("", c) for c in codes]


def _of_pair(key: str, value: Value, system: CodeSystem, depth: int) -> list[Decision]:
    """A key that is no field's name: a code or a title with what belongs to it, or a group of decisions."""
    if isinstance(value, str) and _says_no(value, system):
        return []
    if isinstance(value, Pairs) and any(_denies(inner, each, system) for inner, each in value):
        return []
    if is_only_codes(key, system):
        titles = _texts(value) or [each.text for each in _of_value(value, system, depth) if each.text]
        titles = [] if _is_flag(value, system) else titles
        return [Decision(titles[0] if titles else "", key)]
    if isinstance(value, str):
        return [Decision(key, value if is_only_codes(value, system) else "")]
    inner = _of_value(value, system, depth)
    if isinstance(value, Pairs):
        own = [d for d in inner if d.code_field and not d.text]
        named = [d for d in inner if d.text]
        return named or ([Decision(key, own[0].code_field)] if own else [Decision(key)])
    texts = _texts(value)
    if texts and all(is_only_codes(text, system) for text in texts):
        return [Decision("", text) for text in texts] if len(texts) > 1 else [Decision(key, texts[0])]
    if texts and (is_title(key, system) or any(is_evidence(text) for text in texts)):
        return [Decision(key)]
    return inner
