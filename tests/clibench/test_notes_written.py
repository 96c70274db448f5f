"""Written notes: nothing that is known only later survives, and at least 95 % of what is known at admission does."""

import re

import pytest
from written_notes import FOLDER, Note, read_note, read_notes

from clinical_evals.clibench.notes import admission_record

FILES = sorted(path.name for path in FOLDER.glob("*.txt"))
NOTES = [note for file in FILES for note in read_notes(file)]
LEAST_KEPT = 0.95


def visible(note: Note, known: bool) -> list[int]:
    """Places of the letters and digits of one kind: white space, colons and ruled lines say nothing."""
    places = (place for span in note.spans if span.known is known for place in range(span.begin, span.end))
    return [place for place in places if note.text[place].isalnum()]


def kept_share(note: Note) -> tuple[int, int]:
    """(characters known at admission that were kept, all of them), letters and digits only."""
    ranges = admission_record(note.text).kept
    kept = {place for begin, end in ranges for place in range(begin, end)}
    known = visible(note, known=True)
    return sum(place in kept for place in known), len(known)


def test_there_are_enough_notes_and_each_hides_its_markers():
    assert len(NOTES) >= 80
    assert len({note.name for note in NOTES}) == len(NOTES)
    for note in NOTES:
        assert note.varies
        assert note.markers(known=True), note.name
        assert note.markers(known=False), note.name


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_nothing_known_only_later_survives(note):
    record = admission_record(note.text).record
    survivors = [marker for marker in note.markers(known=False) if marker in record]
    assert not survivors, f"{note.varies}: {survivors} in\n{record}"


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_what_is_known_at_admission_survives(note):
    record = admission_record(note.text).record
    lost = [marker for marker in note.markers(known=True) if marker not in record]
    kept, all_of_them = kept_share(note)
    assert kept / all_of_them >= LEAST_KEPT, f"{note.varies}: kept {kept / all_of_them:.3f}, lost {lost}"
    assert len(lost) <= (1 - LEAST_KEPT) * len(note.markers(known=True)), f"{note.varies}: lost {lost} in\n{record}"


def test_over_all_notes_at_least_95_percent_survives():
    shares = [kept_share(note) for note in NOTES]
    share = sum(kept for kept, _ in shares) / sum(known for _, known in shares)
    assert share >= LEAST_KEPT, f"kept {share:.4f} of the characters known at admission"


def test_no_character_known_only_later_survives():
    for note in NOTES:
        kept = {place for begin, end in admission_record(note.text).kept for place in range(begin, end)}
        survived = "".join(note.text[place] for place in visible(note, known=False) if place in kept)
        assert not survived, f"{note.name}: {survived!r}"


@pytest.mark.parametrize(
    ("change", "replacement"),
    [
        (r"\n", "\r\n"),  # Windows
        (r"\n", " \n"),  # blanks at line ends, as in MIMIC
        (r"\n", "\n\n"),  # a blank line behind every line
        (r"(?m)^", "  "),  # everything indented
        (r"\n\s*\n", "\n"),  # no blank line at all
    ],
)
def test_line_ends_and_blank_lines_do_not_matter(change, replacement):
    """The same parts of every note survive when only its white space changes."""
    for note in NOTES:
        if re.search(r"(?m)^(Chief|Discharge|.* Hospital) *$", note.text) and replacement == "\n\n":
            continue  # a heading over two lines is none with a blank line in it
        changed = re.sub(change, replacement, note.text)
        record = admission_record(changed).record
        assert not [marker for marker in note.markers(known=False) if marker in record], note.name
        lost = [marker for marker in note.markers(known=True) if marker not in record]
        assert len(lost) <= 0.1 * len(note.markers(known=True)), f"{note.name}: {lost}"


@pytest.mark.parametrize("case", [str.upper, str.lower, str.title])
def test_case_does_not_matter_for_what_is_dropped(case):
    for note in NOTES:
        if note.name == "course-mentions-titles":
            continue  # only their case tells "Family history: was taken again" within a sentence from a title
        record = admission_record(case(note.text)).record
        survivors = [marker for marker in note.markers(known=False) if case(marker) in record]
        assert not survivors, f"{note.name}: {survivors} in\n{record}"


def test_a_label_of_a_written_note_is_read():
    note = read_note("n", "v", "a @{+}b @{-}c @")
    assert note.text == "a cut01xb kept02xc cut03x"
    assert [span.known for span in note.spans] == [False, True, False]
