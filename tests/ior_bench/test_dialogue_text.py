"""The dialogue of one cell: any list of turns written in any of the forms and read back, and what is refused."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.ior_bench.dialogue_text import MAX_DIALOGUE, Turn, check_turns, parse_dialogue

SPEAKERS = {"patient": "病人", "doctor": "医生"}
# What was said: everything that has broken a reader that replaces quotes, and any other text besides.
MARKS = [
    "'",
    '"',
    "''",
    "',",
    "\\",
    "\\n",
    "\\'",
    "\\u4f60",
    "＇＂",
    "a\nb",
    "a\tb",
    "\u2028",
    "😀",
    "#",
    "%s{}",
    "None",
]
SENTENCES = ['I\'m "fine"', "他说：‘疼’", "“疼”", "{'病人': 'x'}", '[{"医生": "y"}]', "'}, {'医生': '"]
NASTY = st.sampled_from([*MARKS, *SENTENCES])
SAID = NASTY | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
TURNS = st.lists(st.tuples(st.sampled_from(["patient", "doctor"]), SAID), min_size=1, max_size=8)


def _spoken(turns: list[tuple[str, str]]) -> list[Turn]:
    return [Turn(role, content.strip()) for role, content in turns if content.strip()]


def _dicts(turns: list[tuple[str, str]], pair_up: bool) -> list[dict[str, str]]:
    """One dict a turn, or two neighbours of different roles in one dict, in the order of speech."""
    dicts: list[dict[str, str]] = []
    for role, content in turns:
        if pair_up and dicts and SPEAKERS[role] not in dicts[-1]:
            dicts[-1][SPEAKERS[role]] = content
        else:
            dicts.append({SPEAKERS[role]: content})
    return dicts


@given(turns=TURNS, pair_up=st.booleans(), write=st.sampled_from([repr, json.dumps, ascii]))
def test_any_turns_written_by_python_or_json_are_read_back(turns, pair_up, write) -> None:
    dialogue = parse_dialogue(write(_dicts(turns, pair_up)))
    assert dialogue.turns == _spoken(turns)
    assert dialogue.empty == len(turns) - len(dialogue.turns)


@given(turns=TURNS, ensure_ascii=st.booleans())
def test_lists_of_role_and_content_are_read_back(turns, ensure_ascii) -> None:
    content = [{"role": role, "content": said} for role, said in turns]
    assert parse_dialogue(json.dumps(content, ensure_ascii=ensure_ascii)).turns == _spoken(turns)


@given(
    st.lists(
        st.tuples(st.sampled_from(["患者", "医生"]), st.text("疼了 吗'\"，。:", min_size=1, max_size=20)), min_size=1
    )
)
def test_lines_with_speaker_marks_are_read_back(turns) -> None:
    roles = {"患者": "patient", "医生": "doctor"}
    text = "\n".join(f"{speaker}：{said}" for speaker, said in turns)
    assert parse_dialogue(text).turns == _spoken([(roles[speaker], said) for speaker, said in turns])


@pytest.mark.parametrize(
    ("text", "turns", "empty"),
    [
        # The order of the keys is the order of speech.
        ("[{'医生': '您好', '病人': '头疼'}]", [("doctor", "您好"), ("patient", "头疼")], 0),
        ("[{'病人': '头疼', '医生': '您好'}]", [("patient", "头疼"), ("doctor", "您好")], 0),
        # A key that stands twice is two turns: a plain dict would keep the last one only.
        ("[{'病人': '头疼', '病人': '三天了'}]", [("patient", "头疼"), ("patient", "三天了")], 0),
        ('[{"病人": "头疼", "病人": "三天了"}]', [("patient", "头疼"), ("patient", "三天了")], 0),
        # Empty dicts and turns without text are left out and counted.
        ("[{}, {'病人': ''}, {'医生': None}, {'病人': ' \\n '}, {'病人': '疼'}]", [("patient", "疼")], 4),
        ('[{}, {"病人": null, "医生": "挂骨科"}]', [("doctor", "挂骨科")], 2),
        ("[]", [], 0),
        ("", [], 0),
        ("  ", [], 0),
        # One dict, or dicts without brackets around them.
        ("{'病人': '疼'}", [("patient", "疼")], 0),
        ("{'病人': '疼'}, {'医生': '挂骨科'}", [("patient", "疼"), ("doctor", "挂骨科")], 0),
        # Spaces and width of the keys, single quotes beside double ones, a number that is not quoted.
        ("\ufeff [{' 病人 ': '体温'}, {\"医生\": 38.5}]\n", [("patient", "体温"), ("doctor", "38.5")], 0),
        # A raw line break inside JSON text, which strict JSON forbids.
        ('[{"病人": "头疼\n三天"}]', [("patient", "头疼\n三天")], 0),
        # JSON escapes are JSON's: a pair of escapes is one character.
        ('[{"病人": "\\ud83d\\ude00疼"}]', [("patient", "😀疼")], 0),
        # Speaker marks in brackets, in English, with lines that go on, and a colon in what is said.
        ("【患者】：疼\n  三天了\n[Doctor]: 挂：骨科", [("patient", "疼\n三天了"), ("doctor", "挂：骨科")], 0),
        ("医生：\n患者:疼", [("patient", "疼")], 1),
        ("[患者]：疼", [("patient", "疼")], 0),
    ],
)
def test_forms(text: str, turns: list[tuple[str, str]], empty: int) -> None:
    assert parse_dialogue(text) == ([Turn(*turn) for turn in turns], empty)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[{'病人': '疼}]", "neither JSON .* nor a Python list .* at character .* expected a list of dicts"),
        ("[{‘病人’：‘疼’}]", "neither JSON .* nor a Python list"),
        ("[{'病人': nan}]", "neither JSON .* nor a Python list"),
        ("[{'路人': '疼'}]", "entry 1 has the speaker '路人'; expected a list of dicts with the keys 病人 and 医生"),
        ("[{'病人': '疼'}, {'role': 'system', 'content': 'x'}]", "entry 2 has the speaker 'system'"),
        ("[{'病人': '疼'}, '医生']", "entry 2 is str '医生'; expected a list of dicts"),
        ("[{'病人': ['疼']}]", "what is said in entry 1 is list"),
        ("[{'病人': {'a': 'b'}}]", "what is said in entry 1 is "),
        ('[{"病人": {"a": "b"}}]', "what is said in entry 1 is a dict; expected text"),
        ("[{'病人': True}]", "what is said in entry 1 is bool 'True'"),
        ("[{'病人': b'x'}]", "what is said in entry 1 is bytes"),
        ("[{('病人',): '疼'}]", "entry 1 has the speaker"),
        ("[{['病人']: '疼'}]", "entry 1 has the speaker"),
        ("[{**{}}]", "neither JSON .* nor a Python list"),
        ("[__import__('os').system('true')]", "neither JSON .* nor a Python list .malformed node"),
        ("[{'病人': '\\ud83d'}]", "half a character"),
        ('[{"病人": "\\ud83d"}]', "half a character"),
        ("[{'病人': '\\x00'}]", "holds a NUL"),
        ("疼\n医生：挂骨科", "line 1 of the dialogue has no speaker mark such as 患者： or 医生："),
        ('"疼"', "entry 1 is str '疼'"),
        ("'" + "a" * MAX_DIALOGUE + "'", "a dialogue of 200,002 characters, the limit is 200,000"),
    ],
)
def test_what_is_no_dialogue_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_dialogue(text)


@pytest.mark.parametrize(
    "unit",
    ["[", "{1:", "-", "not ", "1+", "(", "a.", "1 if 1 else ", "'a' ", "1,", "[{'病人':", '{"病人":', "\\", " "],
)
def test_text_made_to_exhaust_the_parser_is_refused(unit: str) -> None:
    """Nesting, recursion and memory errors of Python's and JSON's parsers all become a reason."""
    text = "[" + (unit * MAX_DIALOGUE)[: MAX_DIALOGUE - 1]
    with pytest.raises(ValueError, match=r"neither JSON|entry 1 is"):
        parse_dialogue(text)


def test_runs_of_spaces_do_not_make_the_speaker_marks_slow() -> None:
    """Quadratic matching would take minutes over these 200,000 characters."""
    with pytest.raises(ValueError, match="no speaker mark"):
        parse_dialogue("患者" + " " * (MAX_DIALOGUE - 3) + "x")


@given(st.text(max_size=200))
def test_any_text_is_a_dialogue_or_a_reason(text: str) -> None:
    """Never another exception than the one with a reason."""
    with contextlib.suppress(ValueError):
        dialogue = parse_dialogue(text)
        assert all(turn.role in SPEAKERS and turn.content.strip() for turn in dialogue.turns)


PATIENT, DOCTOR = Turn("patient", "疼"), Turn("doctor", "挂骨科")


@pytest.mark.parametrize("turns", [[PATIENT, DOCTOR], [DOCTOR, PATIENT, DOCTOR], [PATIENT, DOCTOR, PATIENT]])
def test_a_dialogue_with_something_to_ask_about_passes(turns: list[Turn]) -> None:
    check_turns(turns, doctor_required=True)


def test_without_a_doctor_the_whole_is_asked() -> None:
    check_turns([PATIENT], doctor_required=False)


@pytest.mark.parametrize(
    ("turns", "doctor_required", "reason"),
    [
        ([], True, "the dialogue is empty"),
        ([], False, "the dialogue is empty"),
        ([PATIENT], True, "no doctor turn; expected one that names the department"),
        ([DOCTOR], False, "no patient turn stands before the last doctor turn"),
        ([DOCTOR, DOCTOR], True, "no patient turn stands before the last doctor turn"),
        ([DOCTOR, PATIENT], True, "no patient turn stands before the last doctor turn"),
    ],
)
def test_a_dialogue_with_nothing_to_ask_about_is_refused(turns, doctor_required, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        check_turns(turns, doctor_required)
