"""A dialogue in one cell → turns: the authors' list of dicts, a list of role and content, or lines with speakers.

The authors' 对话内容 is the text of a Python or JSON list of dicts with the keys 病人 and 医生 (protocol.md 1.1). It
is read as JSON, else as a Python literal; quotes are never replaced, so apostrophes and full-width quotes in what was
said stay as they are. The order of the keys of a dict is the order of speech, also where a key stands twice.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from clinical_evals.ior_bench.speakers import lines_of, read_mark, role_of, unknown_speakers

MAX_DIALOGUE = 200_000
"""Characters of one dialogue: Python's own parser is only fed text of bounded size."""

_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_EXPECTED = (
    "expected a list of dicts with the keys 病人 and 医生, or role (patient, user, doctor, assistant, …) and content"
)


class Turn(NamedTuple):
    """One turn: `role` is "patient" or "doctor", `content` what was said, never empty."""

    role: str
    content: str


class Dialogue(NamedTuple):
    """The turns in the order of speech, and how many turns without text were left out."""

    turns: list[Turn]
    empty: int = 0


class _Pairs(tuple[tuple[Any, Any], ...]):
    """Keys and values of a dict in their order, a key that stands twice included."""


def parse_dialogue(text: str) -> Dialogue:
    """The dialogue of a cell; turns without text (and empty dicts) are left out and counted.

    Raises:
        ValueError: longer than `MAX_DIALOGUE`, none of the three forms, an unknown speaker, or a turn that is no text.

    >>> parse_dialogue("[{'病人': \\"It's here\\", '医生': '挂眼科'}, {}]").turns
    [Turn(role='patient', content="It's here"), Turn(role='doctor', content='挂眼科')]
    """
    if len(text) > MAX_DIALOGUE:
        raise ValueError(f"a dialogue of {len(text):,} characters, the limit is {MAX_DIALOGUE:,}: shorten it")
    text = text.strip().lstrip("\ufeff").lstrip()
    if not text:
        return Dialogue([])
    if text[0] in "[{(\"'" and read_mark(lines_of(text)[0]) is None:
        spoken = [said for place, pairs in enumerate(_listed_turns(text), start=1) for said in _speech(pairs, place)]
    else:
        spoken = _marked_lines(text)
    turns = [Turn(role, content) for role, content in spoken if content]
    return Dialogue(turns, len(spoken) - len(turns))


def check_turns(turns: Sequence[Turn], doctor_required: bool) -> None:
    """Refuse a dialogue of which nothing is left to ask about once it is cut before its last doctor turn.

    Args:
        turns: the dialogue.
        doctor_required: whether the answer must be there, as the last doctor turn; without one, the whole is asked.

    Raises:
        ValueError: says what is missing.
    """
    if not turns:
        raise ValueError("the dialogue is empty; expected turns of a patient and a doctor")
    doctors = [place for place, turn in enumerate(turns) if turn.role == "doctor"]
    if doctor_required and not doctors:
        raise ValueError("the dialogue has no doctor turn; expected one that names the department, at the end")
    asked = turns[: doctors[-1]] if doctors else turns
    if not any(turn.role == "patient" for turn in asked):
        raise ValueError("no patient turn stands before the last doctor turn; expected what the patient complains of")


def _listed_turns(text: str) -> list[_Pairs]:
    try:
        content = json.loads(text, object_pairs_hook=_Pairs, strict=False)
    except (ValueError, RecursionError) as error:
        content = _python_turns(text, error)
    items = content if isinstance(content, list) else [content]
    for place, item in enumerate(items, start=1):
        if not isinstance(item, _Pairs):
            raise ValueError(f"entry {place} is {_kind(item)}; {_EXPECTED}")
    return items


def _python_turns(text: str, json_error: Exception) -> list[Any]:
    """The entries of a Python list, dicts as pairs; the text is parsed, never run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in what was said is not worth a word
            tree = ast.parse(text, mode="eval").body
        return [_literal(node) for node in (tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree])]
    except SyntaxError as error:
        reason = f"{error.msg} at character {error.offset} of line {error.lineno}"
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
    at_json = (
        f"{json_error.msg} at character {json_error.pos + 1}" if isinstance(json_error, json.JSONDecodeError) else ""
    )
    raise ValueError(f"neither JSON ({at_json or 'nested too deeply'}) nor a Python list ({reason}); {_EXPECTED}")


def _literal(node: ast.expr) -> Any:
    if not isinstance(node, ast.Dict):
        return ast.literal_eval(node)
    if None in node.keys:
        raise ValueError("a dict with ** in it")
    keys = [ast.literal_eval(key) for key in node.keys if key is not None]
    return _Pairs(zip(keys, (ast.literal_eval(value) for value in node.values), strict=True))


def _speech(pairs: _Pairs, place: int) -> Iterable[tuple[str, str]]:
    """Role and text of what one dict says; an empty dict is one turn without text."""
    said = {str(key): value for key, value in pairs}
    if "role" in said and "content" in said:
        pairs = _Pairs([(said["role"], said["content"])])
    for speaker, content in pairs or _Pairs([("病人", None)]):
        role = role_of(speaker)
        if role is None:
            raise ValueError(f"entry {place} has the speaker {str(speaker)[:40]!r}; {_EXPECTED}")
        yield role, _content(content, place)


def _content(content: object, place: int) -> str:
    if content is None:
        return ""
    if isinstance(content, int | float) and not isinstance(content, bool) and content == content:
        return str(content)
    if not isinstance(content, str):
        raise ValueError(f"what is said in entry {place} is {_kind(content)}; expected text")
    if _NO_TEXT.search(content):
        raise ValueError(
            f"the text of entry {place} holds a NUL or half a character (a lone surrogate): write it again"
        )
    return content.strip()


def _kind(value: object) -> str:
    return "a dict" if isinstance(value, _Pairs) else f"{type(value).__name__} {str(value)[:40]!r}"


def _marked_lines(text: str) -> list[tuple[str, str]]:
    """Turns that begin with a mark such as 患者： or 医生：; a line without mark goes on with the turn before it."""
    spoken: list[tuple[str, list[str]]] = []
    lines = lines_of(text)
    for place, line in enumerate(lines, start=1):
        mark = read_mark(line)
        if mark:
            spoken.append((mark.role, [mark.said]))
        elif spoken:
            spoken[-1][1].append(line.strip())
        elif line.strip():
            raise ValueError(
                f"line {place} of the dialogue has no speaker mark such as 患者： or 医生： before it; {_EXPECTED}"
            )
    if unknown := unknown_speakers(lines):
        raise ValueError(
            f"several lines begin with {unknown[0]!r} and a colon, which is no speaker that is known, so its words "
            "would be taken for the turn before: write 患者： or 医生： instead, or take the colon away"
        )
    return [(role, "\n".join(lines).strip()) for role, lines in spoken]
