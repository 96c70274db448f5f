"""Answers to items: layouts written out as JSON, and properties of generated answers (protocol 2.5, 1, 2 and 4)."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_systems import WrittenSystem

from clinical_evals.matching.answer import MAX_CHARACTERS, Item, parse_answer, unread_characters
from clinical_evals.ontology import get_system

LAYOUTS = json.loads(Path(__file__).with_name("answer_layouts.json").read_text(encoding="utf-8"))
SYSTEM = get_system("icd10cm")
LEAVES = [code for code in SYSTEM.codes() if "-" not in code]


def parse(answer: str) -> list[Item]:
    return parse_answer(answer, SYSTEM)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout["name"])
def test_layout(layout: dict[str, object]) -> None:
    expected = [Item(text, tuple(codes)) for text, codes in layout["items"]]
    assert parse(layout["answer"]) == expected, layout.get("why", "")


def test_the_layouts_are_many_and_told_apart() -> None:
    names = [layout["name"] for layout in LAYOUTS]
    assert len(names) == len(set(names))
    assert len(names) >= 170
    assert sum(not layout["items"] for layout in LAYOUTS) >= 15  # answers that state nothing are layouts too


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout["name"])
def test_windows_line_ends_and_surrounding_space_change_nothing(layout: dict[str, str]) -> None:
    answer = layout["answer"]
    assert parse(answer.replace("\n", "\r\n")) == parse(answer)
    assert parse("\n\n" + answer + "\n \n") == parse(answer)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout["name"])
def test_items_written_as_a_list_are_read_as_the_same_items(layout: dict[str, str]) -> None:
    """What an item says is said by its text and codes alone. (Two vertebrae names in brackets are text: not here.)"""
    items = [item for item in parse(layout["answer"]) if item.codes != ("T12",)]
    written = [f"- {item.text} ({', '.join(item.codes)})" if item.codes else f"- {item.text}" for item in items]
    written = [line.replace("-  (", "- (") for line in written]
    # One more entry, as a list of one would be a single line, which is cut at its commas.
    assert parse("\n".join(["Diagnoses:", *written, "- Gout"])) == [*items, Item("Gout", ())]


# Codes and titles come back from any layout

LISTS: dict[str, Callable[[list[str]], str]] = {
    "lines": "\n".join,
    "blank lines": "\n\n".join,
    "bullets": lambda entries: "\n".join(f"* {entry}" for entry in entries),
    "numbers": lambda entries: "\n".join(f"{i}. {entry}" for i, entry in enumerate(entries, 1)),
    "bold numbers": lambda entries: "\n".join(f"**{i}. {entry}**" for i, entry in enumerate(entries, 1)),
    "labels": lambda entries: "\n".join(f"Diagnosis {i}: {entry}" for i, entry in enumerate(entries, 1)),
    "heading and remarks": lambda entries: (
        "Sure! Here are the diagnoses:\n\n" + "\n".join(f"- {entry}" for entry in entries) + "\n\nI hope this helps!"
    ),
    "nested evidence": lambda entries: "\n".join(f"1. {entry}\n   - seen in readings of 168/95" for entry in entries),
    "dash and evidence": lambda entries: "\n".join(f"- {entry} – based on HbA1c 9.1" for entry in entries),
    "semicolons": "; ".join,
    "br": "<br>".join,
    "html": lambda entries: "<ul>" + "".join(f"<li>{entry}</li>" for entry in entries) + "</ul>",
    "table": lambda entries: "\n".join(
        ["| Diagnosis | Why |", "|---|---|", *(f"| {entry} | BP 168/95 |" for entry in entries)]
    ),
    "json": lambda entries: json.dumps({"diagnoses": entries}),
    "json objects": lambda entries: json.dumps(
        [{"diagnosis": entry, "reason": "fever"} for entry in entries], indent=1
    ),
    "after thinking": lambda entries: "<think>1. Gout?</think>" + "\n".join(f"- {entry}" for entry in entries),
}
ONLY_CODES: dict[str, Callable[[list[str]], str]] = {
    "spaces": " ".join,
    "commas": ", ".join,
    "slashes": "/".join,
    "sentence": lambda codes: "The ICD-10-CM codes are: " + ", ".join(codes) + ".",
    "brackets": lambda codes: "[" + ", ".join(codes) + "]",
}
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.lower,
    lambda code: code.replace(".", ""),
    lambda code: code.replace(".", " . "),
    lambda code: code + ".",
    lambda code: f"({code})",
    lambda code: f"ICD-10: {code}",
    lambda code: f"**ICD-10-CM code:** {code}",
    lambda code: f"`{code}`",
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(LEAVES), min_size=1, max_size=6, unique=True),
    st.sampled_from(sorted(LISTS | ONLY_CODES)),
)
def test_every_list_of_codes_comes_back(codes: list[str], layout: str) -> None:
    assert [code for item in parse((LISTS | ONLY_CODES)[layout](codes)) for code in item.codes] == codes


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(SPELLINGS)), min_size=1, max_size=5))
def test_every_spelling_of_a_code_comes_back(written: list[tuple[str, Callable[[str], str]]]) -> None:
    answer = "\n".join(f"- {spell(code)}" for code, spell in written)
    assert parse(answer) == [Item("", (code,)) for code, _ in written]


def _has_a_plain_title(code: str) -> bool:
    """No code ("Tuberculosis (A15-A19)") and no tab, which a few titles of the release have inside them."""
    return not re.search(r"\b[A-Z]\d[0-9A-Z]\b|\t", SYSTEM.title(code))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(LEAVES).filter(_has_a_plain_title), min_size=1, max_size=4, unique=True),
    st.sampled_from(sorted(LISTS)),
)
def test_official_titles_come_back_whole(codes: list[str], layout: str) -> None:
    """Commas, brackets, "not having …" and slashes in a title are its own."""
    titles = [SYSTEM.title(code) for code in codes]
    found = [item.text for item in parse(LISTS[layout](titles))]
    assert [_bare(text) for text in found] == [_bare(title) for title in titles]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(LEAVES).filter(_has_a_plain_title),
    st.sampled_from(["{} ({})", "{1} - {0}", "{0}: {1}", "{1}: {0}"]),
)
def test_a_title_with_its_code_is_one_item(code: str, form: str) -> None:
    title = SYSTEM.title(code)
    assert [item.codes for item in parse(f"1. {form.format(title, code)}\n2. I10")] == [(code,), ("I10",)]


def _bare(title: str) -> str:
    return " ".join(title.split()).strip(" .,;:")


# Any text

MARKS = [
    "\n",
    "\r\n",
    " ",
    "\t",
    "- ",
    "1. ",
    "a) ",
    "**",
    "__",
    "#",
    "---",
    "<br>",
    "<li>",
    "</think>",
    "<think>",
    "<td>",
    "&#",
    "&lt;",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    ",",
    ";",
    "\\",
    "```json",
    "(",
    ")",
]
WORDS = [
    "E11.9",
    "E11.99",
    "I10",
    "T12",
    "Diagnosis",
    "Evidence:",
    "pneumonia",
    "The patient has ",
    " and ",
    "Final answer:",
]
CHARACTERS = ["|", "\u200b", "\u0301", "，", "①", "Ⅳ", "é", "\ud800", "\x00", "0" * 40]
PIECES = st.sampled_from(MARKS + WORDS + CHARACTERS)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_gives_well_formed_items_and_the_same_ones_twice(answer: str) -> None:
    items = parse(answer)
    assert items == parse(answer)
    for text, codes in items:
        assert text == " ".join(text.split())
        assert text or codes
        assert all(SYSTEM.normalize(code) == code or SYSTEM.code_shape.fullmatch(code) for code in codes)


RUNS = [
    " ",
    "(",
    "<",
    "*",
    "7",
    "|",
    "\n",
    " \n|",
    "- \n",
    "1.\n",
    "[",
    '{"a":[',
    '["',
    "['a",
    "&#9",
    "<li>",
    "<think>",
    "</think>",
    "<tr><td>x",
    "<!--",
    "\u0301\u0316",
    "\u200b",
    "😀",
    "肺炎、",
    "a, ",
    "a;",
    "E11.9 ",
    "- E11.9\n",
    "(E11.99) ",
    "a|b\n",
    'a,"b\n',
    "  - a\n    - b\n",
    "The patient has gout. ",
    "a:\n",
    "ICD-10: ",
    "The diagnoses are: ",
    "The diagnosis of this admission is pneumonia.\n",
    "(i) CHF (ii) AKI ",
    "with a\nword ",
    "E11-E12-",
    "\\",
    "=\n",
]


@pytest.mark.parametrize("run", RUNS, ids=ascii)
def test_long_runs_of_anything_are_read(run: str) -> None:
    """A step that took quadratic time over 100,000 characters would not come back within the suite's patience."""
    answer = run * (100_000 // len(run))
    assert isinstance(parse(answer), list)


def test_deep_nesting_is_no_recursion() -> None:
    assert parse("[" * 50_000 + '"I10"' + "]" * 50_000) == [Item("", ("I10",))]
    assert parse("\n".join(" " * i + "- I10" for i in range(2000)))[0] == Item("", ("I10",))
    glyphs = [chr(0x1F300 + i) for i in range(700)]
    assert len(parse("\n".join(f"{glyph} I10" for glyph in glyphs + glyphs))) > 0


def test_what_is_not_read_of_a_runaway_answer_is_counted() -> None:
    line = "- I10\n"
    answer = line * (MAX_CHARACTERS // len(line) + 10)
    unread = unread_characters(answer)
    assert 0 < unread <= 11 * len(line)
    assert unread % len(line) == 0, "only whole lines are read"
    assert unread_characters("- I10") == 0
    assert unread_characters("x" * (MAX_CHARACTERS + 7)) == 7


# Other code systems


PCS = WrittenSystem(
    "icd10pcs",
    "[0-9A-HJ-NP-Z]{7}",
    {
        "0FT44ZZ": "Resection of Gallbladder, Percutaneous Endoscopic Approach",
        "BW03ZZZ": "Plain Radiography of Chest",
        "GZFZZZZ": "Hypnosis",
    },
)
LOINC = WrittenSystem(
    "loinc", r"\d{1,7}-\d", {"2345-7": "Glucose [Mass/volume] in Serum or Plasma", "718-7": "Hemoglobin"}
)
ATC = WrittenSystem(
    "atc", r"[A-Z]\d\d(?:[A-Z]{1,2}(?:\d\d)?)?", {"A10BA02": "metformin", "A10": "drugs used in diabetes"}
)


@pytest.mark.parametrize(
    ("system", "answer", "expected"),
    [
        (PCS, "0FT44ZZ, bw03zzz, 0FT44ZX", [("", ("0FT44ZZ",)), ("", ("BW03ZZZ",)), ("", ("0FT44ZX",))]),
        (
            PCS,
            "- Cholecystectomy (0FT44ZZ)\n- Absence\n- GZFZZZZ",
            [("Cholecystectomy", ("0FT44ZZ",)), ("Absence", ()), ("", ("GZFZZZZ",))],
        ),  # "Absence" has the shape, no digit
        (
            PCS,
            "0FT44ZZ: Resection of Gallbladder, Percutaneous Endoscopic Approach",
            [("Resection of Gallbladder, Percutaneous Endoscopic Approach", ("0FT44ZZ",))],
        ),
        (PCS, "Diagnoses:\n- Cholecystitis\nProcedures:\n- Cholecystectomy", [("Cholecystectomy", ())]),
        (
            LOINC,
            "- Glucose (2345-7)\n- Hemoglobin 718-7\n- 9999-9",
            [("Glucose", ("2345-7",)), ("Hemoglobin", ("718-7",)), ("", ("9999-9",))],
        ),
        (LOINC, "Labs:\n- CBC\n- Lactate\n- Na 128\n- 2026-01-12", [("CBC", ()), ("Lactate", ()), ("Na", ())]),
        (
            ATC,
            "Medications:\n1. Metformin (A10BA02) - for diabetes\n2. a10",
            [("Metformin", ("A10BA02",)), ("", ("A10",))],
        ),
        (ATC, "vitamin B12, thiamine", [("vitamin B12", ()), ("thiamine", ())]),
        (ATC, '{"medications": [{"drug": "Metformin", "dose": "500 mg"}]}', [("Metformin", ())]),
    ],
)
def test_other_systems(system: WrittenSystem, answer: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert parse_answer(answer, system) == [Item(*item) for item in expected]
