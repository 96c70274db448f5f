"""What stands around a list never costs an entry: preambles, headings and closing remarks (protocol 2.5, point 1)."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clinical_evals.matching.answer import Item, parse_answer
from clinical_evals.ontology import get_system

FRAMES = json.loads(Path(__file__).with_name("answer_frames.json").read_text(encoding="utf-8"))
SYSTEM = get_system("icd10cm")
ROMAN = ["i", "ii", "iii", "iv", "v", "vi"]
MARKS: dict[str, Callable[[int], str]] = {
    "hyphen": lambda i: "- ",
    "asterisk": lambda i: "* ",
    "dot": lambda i: "• ",
    "dash": lambda i: "– ",
    "number": lambda i: f"{i + 1}. ",
    "number and bracket": lambda i: f"{i + 1}) ",
    "number in brackets": lambda i: f"({i + 1}) ",
    "letter and bracket": lambda i: f"{'abcdef'[i]}) ",
    "capital letter": lambda i: f"{'ABCDEF'[i]}. ",
    "roman and bracket": lambda i: f"{ROMAN[i]}) ",
    "roman and stop": lambda i: f"{ROMAN[i]}. ",
    "roman in brackets": lambda i: f"({ROMAN[i]}) ",
    "capital roman": lambda i: f"{ROMAN[i].upper()}. ",
    "capital roman and bracket": lambda i: f"{ROMAN[i].upper()}) ",
}
HEADINGS: dict[str, Callable[[str], str]] = {
    "underlined twice": lambda text: f"{text}\n{'=' * len(text)}",
    "underlined": lambda text: f"{text}\n{'-' * len(text)}",
    "one hash": lambda text: f"# {text}",
    "hashes and colon": lambda text: f"### {text}:",
    "bold": lambda text: f"**{text}**",
    "bold and colon": lambda text: f"**{text}:**",
    "bold with underscores": lambda text: f"__{text}__",
    "colon": lambda text: f"{text}:",
    "capitals": str.upper,
    "capitals and colon": lambda text: f"{text.upper()}:",
}
BREAKS = st.sampled_from(["\n", "\n\n"])
# An entry: as the answer writes it, and the text and codes it states.
ENTRIES = st.lists(st.sampled_from(FRAMES["entries"]), min_size=2, max_size=6, unique_by=lambda entry: str(entry[0]))


def items_of(entries: list[tuple[str, str, list[str]]]) -> list[Item]:
    return [Item(text, tuple(codes)) for _, text, codes in entries]


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(FRAMES["preambles"]),
    BREAKS,
    st.sampled_from(sorted(MARKS)),
    ENTRIES,
    st.sampled_from(FRAMES["closings"]),
)
def test_marked_entries_are_the_items_whatever_stands_around_them(
    preamble: str, line_break: str, mark: str, entries: list[tuple[str, str, list[str]]], closing: str
) -> None:
    listed = "\n".join(MARKS[mark](i) + written for i, (written, _, _) in enumerate(entries))
    answer = (preamble + line_break if preamble else "") + listed + ("\n\n" + closing if closing else "")
    assert parse_answer(answer, SYSTEM) == items_of(entries)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(FRAMES["headings"]),
    st.sampled_from(sorted(HEADINGS)),
    BREAKS,
    ENTRIES,
    st.sampled_from(["", "- "]),
)
def test_a_heading_is_no_item_and_holds_the_lines_below_it(
    heading: str, form: str, line_break: str, entries: list[tuple[str, str, list[str]]], mark: str
) -> None:
    """Entries without marker name diseases here: nothing else tells an unusual heading from an entry with remarks."""
    entries = entries if mark else [entry for entry in entries if not entry[0].endswith(" use")]
    assume(len(entries) > 1)
    assume(bool(mark) or not _alternates(entries))
    lines = "\n".join(mark + written for written, _, _ in entries)
    assert parse_answer(HEADINGS[form](heading) + line_break + lines, SYSTEM) == items_of(entries)


def _alternates(entries: list[tuple[str, str, list[str]]]) -> bool:
    """Bare lines of a name and a code in turn are pairs: the code is that of the name above it, or below."""
    only_codes = [not text for _, text, _ in entries]
    return len(entries) % 2 == 0 and all(first != second for first, second in pairwise(only_codes))
