"""Answers that name procedures, labs and drugs: tables written before the code, and properties (protocol 2.5, 1 to 3).

The tables are read with releases of a handful of codes, and with the real ones where they are: what an answer says is
the same in both. This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief
Institute, Inc. and the LOINC Committee and is available at no cost under the license at http://loinc.org/license.
LOINC® is a registered United States trademark of Regenstrief Institute, Inc.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_systems import DRUGS, LABS, PROCEDURES, SYSTEMS

from clinical_evals.matching.answer import Item, parse_answer
from clinical_evals.matching.codes_in_text import find_codes
from clinical_evals.ontology import CodeSystem
from clinical_evals.ontology.atc import ATC
from clinical_evals.ontology.icd10pcs import ICD10PCS
from clinical_evals.ontology.loinc import LOINC

TABLES = {
    topic: json.loads(Path(__file__).with_name(f"answers_{topic}.json").read_text(encoding="utf-8"))
    for topic in SYSTEMS
}
CASES = [pytest.param(topic, case, id=f"{topic}: {case['name']}") for topic in SYSTEMS for case in TABLES[topic]]


@pytest.fixture(scope="module")
def releases(release_files: Path) -> dict[str, CodeSystem]:
    """The real systems by topic."""
    return {
        "procedures": ICD10PCS(release_files / "icd10pcs_order_2022.txt"),
        "labs": LOINC(release_files / "ComponentHierarchyBySystem.csv", release_files / "Loinc.csv"),
        "drugs": ATC(release_files / "who_atc_ddd_2026-04-25.csv"),
    }


def expected(case: dict[str, list[tuple[str, list[str]]]]) -> list[Item]:
    return [Item(text, tuple(codes)) for text, codes in case["items"]]


@pytest.mark.parametrize(("topic", "case"), CASES)
def test_answer(topic: str, case: dict[str, str]) -> None:
    assert parse_answer(case["answer"], SYSTEMS[topic]) == expected(case), case.get("why", "")


@pytest.mark.parametrize(("topic", "case"), CASES)
def test_answer_with_a_real_release(topic: str, case: dict[str, str], releases: dict[str, CodeSystem]) -> None:
    assert parse_answer(case["answer"], releases[topic]) == expected(case), case.get("why", "")


@pytest.mark.parametrize(("topic", "case"), CASES)
def test_windows_line_ends_and_surrounding_space_change_nothing(topic: str, case: dict[str, str]) -> None:
    answer, system = case["answer"], SYSTEMS[topic]
    assert parse_answer(answer.replace("\n", "\r\n"), system) == parse_answer(answer, system)
    assert parse_answer("\n\n" + answer + "\n \n", system) == parse_answer(answer, system)


def test_the_tables_are_long_and_hold_answers_without_orders() -> None:
    for table in TABLES.values():
        names = [case["name"] for case in table]
        assert len(names) == len(set(names)) >= 60
        assert sum(not case["items"] for case in table) >= 3


# Codes and titles come back from any layout

LISTS: dict[str, Callable[[list[str]], str]] = {
    "lines": "\n".join,
    "bullets": lambda entries: "\n".join(f"* {entry}" for entry in entries),
    "numbers": lambda entries: "\n".join(f"{i}. {entry}" for i, entry in enumerate(entries, 1)),
    "bold numbers": lambda entries: "\n".join(f"**{i}. {entry}**" for i, entry in enumerate(entries, 1)),
    "heading and remarks": lambda entries: (
        "Sure! Here are the orders:\n\n" + "\n".join(f"- {entry}" for entry in entries) + "\n\nI hope this helps!"
    ),
    "nested reason": lambda entries: "\n".join(f"1. {entry}\n   - Indication: sepsis" for entry in entries),
    "semicolons": "; ".join,
    "table": lambda entries: "\n".join(
        ["| Name | Reason |", "|---|---|", *(f"| {entry} | fever |" for entry in entries)]
    ),
    "json": lambda entries: json.dumps({"orders": entries}),
}
CODED = [(system, code) for system in SYSTEMS.values() for code in system.codes()]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(list(SYSTEMS.values())), st.data(), st.sampled_from([*sorted(LISTS), "commas"]))
def test_every_list_of_codes_comes_back(system: CodeSystem, data: st.DataObject, layout: str) -> None:
    codes = data.draw(st.lists(st.sampled_from(list(system.codes())), min_size=1, max_size=5, unique=True))
    answer = ", ".join(codes) if layout == "commas" else LISTS[layout](codes)
    assert [code for item in parse_answer(answer, system) for code in item.codes] == codes


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(CODED), st.sampled_from(["{} ({})", "{1} - {0}", "{0}: {1}", "{1}: {0}", "{1} {0}"]))
def test_a_title_with_its_code_is_one_item(coded: tuple[CodeSystem, str], form: str) -> None:
    system, code = coded
    items = parse_answer(f"1. {form.format(system.title(code), code)}\n2. {code}", system)
    assert [item.codes for item in items] == [(code,), (code,)]


@pytest.mark.parametrize("topic", SYSTEMS)
def test_official_titles_come_back_whole(topic: str, releases: dict[str, CodeSystem]) -> None:
    """Commas, brackets and slashes in a title are its own: every layout, titles drawn from the whole release."""
    system = releases[topic]
    titled = (code for code in system.codes() if system.title(code) != code)
    codes = [code for code in titled if not find_codes(system.title(code), system).codes]  # "…, see C02"
    codes = [code for code in codes if topic != "drugs" or len(code) == 7]  # "DIURETICS" may be a heading
    drawn = codes[:: max(1, len(codes) // 200)]
    for layout, written in LISTS.items():
        for code, other in zip(drawn, reversed(drawn), strict=True):
            titles = [system.title(code), system.title(other)]
            found = [item.text for item in parse_answer(written(titles), system)]
            assert [_bare(text) for text in found] == [_bare(title) for title in titles], layout


def _bare(title: str) -> str:
    return " ".join(title.split()).strip(" .,;:")


# Names of drugs

DOSES = ["1 g", "500 mg", "0.5 mg/kg", "25 mcg", "5,000 units", "1-2 tabs", "10 mL", "2.5 mg/hr", "20 mEq", "2 puffs"]
ROUTES = ["IV", "PO", "SC", "by mouth", "IM", "inhaled", ""]
TIMES = ["daily", "BID", "q6h", "every 8 hours", "twice daily", "q4-6h", "qHS", "x1", "three times a day", "q24h", ""]
REASONS = [
    "",
    "PRN pain",
    "as needed for nausea",
    "for 5 days",
    "for pneumonia",
    "(for HTN)",
    "- for rate control",
    "with meals",
]
NAMES = ["ceftriaxone", "Furosemide", "potassium chloride", "HEPARIN", "docusate sodium", "Norepinephrine", "Senna"]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(DOSES),
    st.sampled_from(ROUTES),
    st.sampled_from(TIMES),
    st.sampled_from(REASONS),
)
def test_only_the_name_of_a_drug_is_matched(name: str, dose: str, route: str, times: str, reason: str) -> None:
    written = " ".join(filter(None, (name, dose, route, times, reason)))
    assert parse_answer(f"1. {written}\n2. Metoprolol 25 mg", DRUGS) == [Item(name, ()), Item("Metoprolol", ())]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Metoprolol Tartrate", "Metoprolol"),  # metoprolol is a title
        ("Potassium Phosphate", "Potassium Phosphate"),  # potassium is none, and would be another drug
        ("Docusate Sodium (Liquid)", "Docusate Sodium"),
        ("0.9% Sodium Chloride (Mini Bag Plus)", "Sodium Chloride"),
        ("Heparin Flush (10 units/ml)", "Heparin"),
        ("Albuterol 0.083% Neb Soln", "Albuterol"),
        ("Furosemide (Lasix)", "Furosemide"),
        ("Oxycodone-Acetaminophen (5mg-325mg)", "Oxycodone-Acetaminophen"),
        ("Insulin (Regular) for Hyperkalemia", "Insulin (Regular)"),
        ("D5W", "D5W"),
    ],
)
def test_drugs_as_hospitals_write_them(written: str, name: str) -> None:
    assert parse_answer(f"- {written}\n- Ceftriaxone", DRUGS) == [Item(name, ()), Item("Ceftriaxone", ())]


def test_nearly_every_drug_of_the_demo_is_one_item(mimic_demo: Path) -> None:
    with (mimic_demo / "hosp" / "prescriptions.csv").open(encoding="utf-8", newline="") as file:
        drugs = sorted({row["drug"] for row in csv.DictReader(file)})
    found = {drug: parse_answer(f"- {drug}\n- Ceftriaxone", DRUGS) for drug in drugs}
    # Bags and solutions without a drug ("Soln", "Orthopedic Solution") may be none; nothing is taken for two drugs.
    assert {drug for drug, items in found.items() if len(items) > 2} == set()
    assert sum(len(items) == 2 for items in found.values()) >= 0.99 * len(drugs)


# Any text

MARKS = ["\n", " ", "\t", "- ", "1. ", "**", "#", "---", "<br>", "{", "}", "[", "]", '"', ":", ",", ";", "(", ")", "|"]
WORDS = [
    "0FT44ZZ",
    "0ft44zx ",
    "33533",
    "51.23",
    "2345-7",
    "2345-8",
    "1-2",
    "A10BA02",
    "J01 DD04",
    "D5W",
    "B12",
    "ceftriaxone",
    " 1 g IV q24h",
    " 500 mg",
    " PRN pain",
    "Antibiotics: ",
    "Hold ",
    " - held",
    "Stop x; start ",
    "potassium chloride",
    " (20 mEq)",
    "BMP (Na, K)",
    "Na, K, Cl",
    "Sodium 138",
    "CBC",
    "PT/INR",
    "s/p ",
    "CPT 33533",
    "CABG x3",
    " and ",
    "The patient underwent ",
    "I would prescribe ",
    "Medications",
    "Labs:",
    '{"drug": "',
]
CHARACTERS = ["\u200b", "\u0301", "，", "①", "é", "\ud800", "\x00", "0" * 40, "µ", "≥", "½"]


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(list(SYSTEMS.values())),
    st.one_of(st.text(max_size=400), st.lists(st.sampled_from(MARKS + WORDS + CHARACTERS), max_size=60).map("".join)),
)
def test_any_text_gives_well_formed_items_and_the_same_ones_twice(system: CodeSystem, answer: str) -> None:
    items = parse_answer(answer, system)
    assert items == parse_answer(answer, system)
    for text, codes in items:
        assert text == " ".join(text.split())
        assert text or codes
        for code in codes:
            of_another = system is PROCEDURES and code.replace(".", "").isdigit()  # CPT or ICD-9, a wrong prediction
            assert system.normalize(code) == code or system.code_shape.fullmatch(code) or of_another
    # Items are pieces of the answer, never more of it than it has (compatibility forms such as ½ grow threefold).
    assert sum(len(text) for text, _ in items) <= 3 * len(answer)


RUNS = [
    "1 g ",
    "1,",
    "1-",
    "1.",
    "IV, ",
    "q6h, ",
    "PRN a ",
    "hold for ",
    "stop a;",
    "to ",
    ", take",
    "(20 mEq) ",
    "BMP (Na, ",
    "Na and ",
    "Na/",
    "Na: 138 (H), ",
    "2345-7, ",
    "(2345-8) ",
    "1-2 ",
    "0ft44zz, ",
    "(33533)",
    "CPT 33533 ",
    "s/p ",
    "start the ",
    "Antibiotics: a, ",
    "Antibiotics:\n- a\n",
    "DVT prophylaxis: heparin\n",
    "metoprolol tartrate ",
    "J01 DD04 ",
    "10^3/uL ",
    "The patient underwent a and ",
    "a (b) ",
    "- hold ",
    "Stop a, start ",
    "for for ",
    "tab (tab",
    "Antibiotics such as a, ",
    "a - b - ",
    "a + b ",
    "a, started on b and ",
    "take a, take ",
    "no ",
]


@pytest.mark.parametrize("run", RUNS, ids=ascii)
def test_long_runs_of_anything_are_read(run: str) -> None:
    """A step that took quadratic time over 50,000 characters would not come back within the suite's patience."""
    answer = run * (50_000 // len(run))
    assert all(isinstance(parse_answer(answer, system), list) for system in SYSTEMS.values())


@pytest.mark.parametrize("unit", ["tab", "for ", "iv ", "(a", "prn ", "er", "e.r", " and a"])
def test_a_short_bracket_of_repeated_words_is_read(unit: str) -> None:
    """Nested repetitions take exponential time on short texts, where bounds on the length do not help."""
    inner = unit * (78 // len(unit))
    assert parse_answer(f"- Xylofane ({inner}!)\n- Heparin", DRUGS)[-1] == Item("Heparin", ())
    assert parse_answer(f"- Xylase ({inner}!)\n- 2345-7", LABS)[-1] == Item("", ("2345-7",))
