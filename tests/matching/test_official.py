"""The released rules of CliBench's scorer: each rule by itself, and its patterns against the released ones."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clinical_evals.matching.official import official_codes, official_items, official_text, read_official, title_key
from clinical_evals.ontology import get_system

SYSTEM = get_system("icd10cm")

ITEMS = {
    # no blank line
    "line feeds": ("a\nb", ["a", "b"]),
    "empty lines go, spaces stay": ("a \n\t\n b\n", ["a ", "\t", " b"]),
    "line feed before <br>": ("a<br>b\nc", ["a<br>b", "c"]),
    "<br>": ("a<br><br> b", ["a", " b"]),
    "only line feeds": ("\n", []),
    "nothing": ("", []),
    "spaces": ("   ", []),
    # no line feed and no <br>: numbers
    "numbers": ("1. a 2. b", ["a ", "b"]),
    "what stands before the first number goes": ("Diagnoses: 1. a 2. b", ["a ", "b"]),
    "a number without space is none": ("1.a 2.b", []),
    "but it ends an item": ("1. a 2.b 3. c", ["a ", "c"]),
    "a bracket is no number": ("1) a 2) b", []),
    "a code ends an item": ("1. a E11.9 2. b", ["a E", "b"]),
    "an item has a character at least": ("1. 22. a", ["2", "a"]),
    "any digits and any white space": ("１.\u3000a ٢. b", ["a ", "b"]),
    "a number at the end has no item": ("1. a 2. ", ["a "]),
    # one to five blank lines
    "begins with a digit": (" 1. a\n\nb", [" 1. a"]),
    "begins with a bullet": ("• a\n\nb", ["• a"]),
    "begins with a dash": ("- a\n\nb", ["- a"]),
    "begins with a star": ("**a**\n\nb", ["**a**"]),
    "begins with a small o": ("other\n\nb", ["other"]),
    "begins with a circled digit": ("① a\n\nb", ["① a"]),
    "a capital O is none": ("Other\n\nb", ["b"]),
    "a long dash is none": ("– a\n\nb", ["b"]),
    "second part only": ("a\n\nb\nc\n\nd", ["b", "c"]),
    "blank line in front of a list": ("\n\n1. a", []),
    "blank line in front of text": ("\n\na", ["a"]),
    "three line feeds are one break and one line feed": ("a\n\n\nb", ["b"]),
    "four are two breaks": ("a\n\n\n\nb", []),
    "white space alone": (" \n\n ", []),
    "carriage returns": ("1. a\r\n\r\n2. b", ["1. a\r", "\r", "2. b"]),
    "<br> does not matter there": ("a\n\nb<br>c", ["b<br>c"]),
    "five breaks": ("1\n\n2\n\n3\n\n4\n\n5\n\n6", ["1"]),
    # more than five
    "six breaks": ("1\n\n2\n\n3\n\n4\n\n5\n\n6\n7\n\n8", ["1", "2", "3", "4", "5", "6\n7", "8"]),
    "six breaks and white space": (" " + "\n\n" * 6, [" "]),
}


@pytest.mark.parametrize("name", ITEMS)
def test_items(name: str) -> None:
    answer, expected = ITEMS[name]
    assert official_items(answer) == expected


TEXTS = {
    "number": ("1. Sepsis", "Sepsis"),
    "number without space": ("12.Sepsis", "Sepsis"),
    "number with a line feed after it": ("1.\nSepsis\nfever", "Sepsis"),
    "only up to the end of the line": ("1. Sepsis\nfever", "Sepsis"),
    "no number in front: all lines": ("Sepsis\n1. fever", "Sepsis\n1. fever"),
    "bracket": ("1) Sepsis", ""),
    "number and nothing": ("1. ", ""),
    "the first 'digits, dot' anywhere": ("2 weeks of fever, stage 3. Sepsis", "Sepsis"),
    "a decimal number": ("3.5 cm mass", "5 cm mass"),
    "two levels of numbers": ("1.2. Sepsis", "2. Sepsis"),
    "circled digit": ("① Sepsis", ""),
    "superscript": ("² 1. Sepsis", "Sepsis"),
    "a space before the number": (" 1. Sepsis", "1. Sepsis"),
    "bullet": ("- Sepsis", "- Sepsis"),
    "round brackets": ("1. Sepsis (A41.9)", "Sepsis"),
    "square brackets": ("1. Sepsis [A41.9]", "Sepsis"),
    "bare": ("A41.9 Sepsis", "Sepsis"),
    "brackets with more in them": ("1. Sepsis (code A41.9)", "Sepsis (code )"),
    "every occurrence": ("A41.9 Sepsis A41.9", "Sepsis"),
    "also inside a longer code": ("E11.9 or E11.99", "or 9"),
    "the longer code first": ("E11.99 or E11.9", "or"),
    "invalid codes too": ("1. Sepsis (Q99.99)", "Sepsis"),
    "what only looks like a code": ("- Vitamin B12.Deficiency", "- Vitamin"),
    "undotted codes stay": ("1. Hypertension (I10)", "Hypertension (I10)"),
    "label in brackets": ("1. Sepsis (ICD-10-CM Code: A41.9)", "Sepsis"),
    "small label in brackets": ("1. Sepsis (ICD-10-CM code: A41.9)", "Sepsis"),
    "short label in brackets": ("1. Sepsis (ICD-10-CM: A41.9)", "Sepsis"),
    "label": ("1. Sepsis ICD-10-CM Code: A41.9", "Sepsis"),
    "label without the space leaves the brackets": ("1. Sepsis (ICD-10-CM:A41.9)", "Sepsis ()"),
    "another label": ("1. Sepsis (ICD-10: A41.9)", "Sepsis (ICD-10: )"),
    "<sep>": ("1. Sepsis <sep> fever<sep>", "Sepsis  fever"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    item, expected = TEXTS[name]
    assert official_text(item) == expected


def test_codes_are_a_capital_digits_a_dot_and_more() -> None:
    assert official_codes("E11.9, E119 e11.9 (A41.89) [A41.89] I10 M1A.00X0 U07.1.") == [
        "E11.9",
        "A41.89",
        "A41.89",
        "U07.1",
    ]
    assert official_codes("seeI10.9and ABC12.3x B12.Deficiency") == ["I10.9and", "C12.3x", "B12.Deficiency"]


def test_a_code_is_valid_only_as_the_release_writes_it() -> None:
    # E1.19 would be E11.9 without its dot, S72.001a in capitals; the released check knows neither.
    answer = read_official("1. E11.9\n2. E1.19\n3. S72.001a\n4. S72.001A", SYSTEM)
    assert [item.codes for item in answer.items] == [("E11.9",), (), (), ("S72.001A",)]
    assert answer.invalid == {"E1.19", "S72.001a"}


def test_one_valid_code_makes_the_others_of_its_item_silent() -> None:
    answer = read_official("1. E11.99 E11.9 E11.98 E11.9\n2. E11.97", SYSTEM)
    assert [item.codes for item in answer.items] == [("E11.9", "E11.9"), ()]
    assert answer.invalid == {"E11.99", "E11.98", "E11.97"}


FIVE = "1. a\n2. b\n3. c\n4. d\n5. e (X99.99)"
INVALID = {
    "in the items": (FIVE, {"X99.99"}),
    "elsewhere, five texts and a code in them": (f"{FIVE}\n\nnot Q99.99", {"X99.99"}),
    "elsewhere, five texts and no code in them": (f"{FIVE.replace('(X99.99)', '')}\n\nnot Q99.99", {"Q99.99"}),
    "elsewhere, four texts": (f"{FIVE[5:]}\n\nnot Q99.99", {"X99.99", "Q99.99"}),
    "elsewhere, five items of four texts": (f"{FIVE.replace('b', 'a')}\n\nnot Q99.99", {"X99.99", "Q99.99"}),
    "no items": ("X99.99", {"X99.99"}),
    "each once": ("X99.99\nX99.99\nE11.9", {"X99.99"}),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_codes_are_sought_in_the_whole_answer_if_the_items_have_few(name: str) -> None:
    answer, expected = INVALID[name]
    assert read_official(answer, SYSTEM).invalid == expected


def test_titles_are_equal_without_case_and_space_character() -> None:
    assert title_key("Sepsis, Unspecified  organism") == "sepsis,unspecifiedorganism"
    assert title_key("a\tb\u00a0c") == "a\tb\u00a0c"  # other white space stays


_pieces = st.sampled_from(["1", "22", "٣", "①", ".", " ", "\t", "\r", "a", "E11.9", "I10", "(", ")", "2. ", "-"])
_line = st.lists(_pieces, max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(_line)
@example("1. 22. 3. ")
@example("1. 1.1. 2.")
def test_numbered_items_are_those_of_the_released_pattern(line: str) -> None:
    assert official_items(line) == re.findall(r"\d+\.\s(.+?)(?=\d+\.|\Z)", line, flags=re.DOTALL)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(_pieces, st.just("\n")), max_size=14).map("".join))
@example("1.\n\n2. a")
def test_text_after_a_number_is_that_of_the_released_pattern(item: str) -> None:
    text = item
    if item and item[0].isdigit():
        match = re.search(r"\d+\.\s*(.+)", item)
        text = match.group(1) if match else ""
    for code in re.findall(r"[A-Z]\d+\.[A-Za-z0-9]+", item):
        text = text.replace(f"({code})", "").replace(f"[{code}]", "").replace(code, "")
    assert official_text(item) == text.strip()


def test_long_runs_of_digits_are_read_in_one_pass() -> None:
    # Each start inside the run would be tried by the released patterns: ten thousand million steps.
    digits = "1" * 100_000
    assert official_items(digits) == official_items(f"{digits} a") == []
    assert official_items(f"1. a{digits}") == [f"a{digits}"]
    assert official_text(digits) == ""
