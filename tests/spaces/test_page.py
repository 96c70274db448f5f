"""Text of the user's is text on the page, and errors are messages."""

from clinical_evals.spaces.codes_page import show_codes
from clinical_evals.spaces.departments_page import show_referral
from clinical_evals.spaces.page import LAUNCH, answering, box, note, table

SCRIPT = "<script>alert(1)</script>"


def test_cells_messages_and_notes_are_escaped() -> None:
    for shown in (table((SCRIPT,), [(SCRIPT,)]), box(SCRIPT, "message"), box(SCRIPT, "right"), note(SCRIPT)):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown


def test_what_is_typed_is_escaped() -> None:
    for show, inputs in (
        (show_codes, (f"1. I10 {SCRIPT}", "I10", "icd10cm", "standard")),
        (show_codes, ("I10", SCRIPT, "icd10cm", "standard")),
        (show_referral, ("挂外科", f"外科\n{SCRIPT}", "外科", "standard")),
    ):
        shown = "".join(answering(show)(*inputs))
        assert "<script" not in shown
        assert shown.startswith('<div class="result">')


def test_an_error_is_a_message() -> None:
    shown, below = answering(show_codes)("I10", "X99.999", "icd10cm", "standard")
    assert below == ""
    assert 'role="alert"' in shown
    assert "X99.999" in shown
    assert "Traceback" not in shown


def test_nothing_typed_is_no_crash() -> None:
    assert "no gold codes" in answering(show_codes)(None, None, "icd10cm", "standard")[0]


def test_a_launch_keeps_no_history() -> None:
    assert (LAUNCH["run_history"], LAUNCH["enable_monitoring"]) == (False, False)
