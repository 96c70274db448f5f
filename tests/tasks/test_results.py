"""The tables that are printed, on answers whose codes are known."""

from clinical_evals.matching.matcher import Match
from clinical_evals.matching.resolved import ResolvedAnswer, ResolvedItem
from clinical_evals.tasks.results import format_answer, format_diagnostics, format_table

LEVELS = ("chapter", "full")


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
    shares = {"share_code": 0.5, "share_title": 0.25, "share_embedding": 0.125, "share_unmatched": 0.125}
    assert format_diagnostics({"items": 8.0, **shares, "invalid_codes": 2.0, "empty_answers": 1.0}) == (
        "8 items: 50.0 % from codes, 25.0 % exact titles, 12.5 % embeddings, 12.5 % unmatched; "
        "2 invalid codes, 1 empty answers"
    )


def test_one_answer_line_by_line() -> None:
    answer = ResolvedAnswer(
        (
            ResolvedItem("", (Match("I10", "code", 1.0),), ("I10.99",)),
            ResolvedItem("high sugar", (Match("R73.9", "embedding", 0.8123),), ()),
            ResolvedItem("see above", (), ()),
            ResolvedItem("see above", (), ()),
        )
    )
    line = {"row": 3, "gold": ["E11.9", "I10"]}
    assert format_answer(line, answer).splitlines() == [
        "row 3: 2 gold codes, 3 predicted, 1 of them exactly right",
        "  (codes alone)",
        "    -> I10 Essential (primary) hypertension (in the gold) [code]; I10.99 [no code of the release: wrong]",
        "  high sugar",
        "    -> R73.9 Hyperglycemia, unspecified [embedding, similarity 0.81]",
        "  see above   (2 times)",
        "    -> unmatched: no prediction",
    ]


def test_an_empty_answer_is_said_to_count() -> None:
    assert "an empty answer: it counts" in format_answer({"row": 0, "gold": ["I10"]}, ResolvedAnswer(()))
