"""The tables that are printed, on scores that are known."""

from clinical_evals.tasks.scored.code_tables import format_diagnostics, format_table

LEVELS = ("chapter", "full")
SHARES = {"share_code": 0.5, "share_title": 0.25, "share_embedding": 0.125, "share_unmatched": 0.125}


def test_table() -> None:
    keys = [
        f"{measure}_{level}" for measure in ("precision", "recall", "f1", "macro_f1") for level in (*LEVELS, "average")
    ]
    scores = {key: 0.4602 if key == "f1_average" else 0.5 for key in keys}
    text = format_table(scores, dict.fromkeys(keys, (0.0, 1.0)), LEVELS)
    head, rule, *levels, last_rule, average = text.splitlines()
    assert head.split() == ["level", "precision", "recall", "F1", "macro", "F1"]
    assert set(rule) == set(last_rule) == {"-"}
    assert [line.split()[0] for line in levels] == list(LEVELS)
    assert average.split("]")[2].strip() == "46.02 [0.00, 100.00"


def test_diagnostics_line() -> None:
    assert format_diagnostics({"items": 8.0, **SHARES, "invalid_codes": 2.0, "empty_answers": 1.0}) == (
        "8 items: 50.0 % from codes, 25.0 % exact titles, 12.5 % embeddings, 12.5 % unmatched; "
        "2 invalid codes, 1 empty answers"
    )


def test_diagnostics_of_the_official_protocol_say_what_is_left_out() -> None:
    found = {"items": 8.0, **SHARES, "invalid_codes": 2.0, "empty_answers": 1.0, "rows": 9.0}
    assert format_diagnostics(found | {"rows_left_out": 3.0}).endswith(
        "2 invalid codes, rows_left_out 3 of 9: they predict nothing (empty answers: 1)"
    )
