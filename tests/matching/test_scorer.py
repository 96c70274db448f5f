"""From predictions to scores under the standard protocol: the issue's examples, bad rows, diagnostics."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.scorer import CodeScorer

SCORER = CodeScorer("icd10cm")
LEVELS = ("chapter", "block", "category", "subcategory", "full", "average")


def test_text_of_a_title_and_a_code_is_right_at_every_level() -> None:
    answer = "1. Type 2 diabetes mellitus without complications\n2. I10"
    result = SCORER.score([answer], [["E11.9", "I10"]]).scores()
    assert [result[f"f1_{level}"] for level in LEVELS] == [1.0] * 6
    # One of the two items is a code, the other an official title: no model was asked.
    assert (result["share_code"], result["share_title"], result["share_embedding"]) == (0.5, 0.5, 0.0)


def test_lists_of_codes_in_any_spelling() -> None:
    result = SCORER.score([["i10", "E119"]], [["I10", "E11.9"]]).scores()
    assert [result[f"macro_f1_{level}"] for level in LEVELS] == [1.0] * 6


def test_invalid_entry_of_a_list_is_a_wrong_prediction() -> None:
    scored = SCORER.score([["I10", "E11.99", ""]], [["I10"]])
    # Three predictions, one right: precision 1/3 and recall 1 at every level.
    assert scored.scores()["precision_chapter"] == pytest.approx(1 / 3)
    assert scored.scores()["recall_full"] == 1.0
    assert scored.diagnostics["invalid_codes"] == 2
    assert scored.answers[0].codes == ("(empty)", "E11.99", "I10")


def test_silent_model_is_scored_and_counted() -> None:
    scored = SCORER.score(["I10", ""], [["I10"], ["I10"]])
    # Row 2 predicts nothing: 1 right of 2 gold, so recall 1/2, precision 1/1, F1 2/3.
    assert scored.scores()["recall_full"] == 0.5
    assert scored.scores()["f1_full"] == pytest.approx(2 / 3)
    assert scored.diagnostics["empty_answers"] == 1
    assert scored.scored_rows == (0, 1)


def test_repeated_codes_count_once() -> None:
    assert (
        SCORER.score(["I10\ni10\nI10.\nEssential (primary) hypertension"], [["I10"]]).scores()["precision_full"] == 1.0
    )


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([None], [["I10"]], r"predictions\[0\] is None, expected a list of codes or text"),
        (["I10", None], [["I10"]] * 2, r"predictions\[1\] is None"),
        ([["I10"], "I10"], [["I10"]] * 2, r"predictions\[1\] is text, but predictions\[0\] is a list of codes"),
        (["I10", ["I10"]], [["I10"]] * 2, r"predictions\[1\] is a list of codes, but predictions\[0\] is text"),
        ([5], [["I10"]], r"predictions\[0\] is int 5"),
        ([["I10", 4]], [["I10"]], r"predictions\[0\]\[1\] is int 4"),
        ([{"I10": 1}], [["I10"]], r"predictions\[0\] is dict"),
        ([b"I10"], [["I10"]], r"predictions\[0\] is bytes"),
        (["I10"], ["I10"], r"references\[0\] is str 'I10', expected a list of codes"),
        (["I10"], [None], r"references\[0\] is None"),
        (["I10"], [["E11.99"]], r"references\[0\]: 'E11.99' is not a code of icd10cm April 2026"),
        (["I10", "I10"], [["I10"]], "2 predictions but 1 references"),
        ([], [], "no rows to score"),
    ],
)
def test_unusable_rows_are_named(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SCORER.score(predictions, references)


def test_unknown_system_and_protocol() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'icd10cm'"):
        CodeScorer("icd10-cm")
    with pytest.raises(UnknownNameError, match="Did you mean 'official'"):
        CodeScorer(protocol="oficial")


class _CountingMatcher:
    """Answers with one code and remembers what it was asked: what a user's own matcher looks like."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def match(self, texts: list[str]) -> list[Match | None]:
        self.calls.append(list(texts))
        return [None if "nonsense" in text else Match("I10", "embedding", 0.8) for text in texts]


def test_all_texts_of_a_run_are_matched_once_in_one_batch() -> None:
    matcher = _CountingMatcher()
    scored = CodeScorer(matcher=matcher).score(  # type: ignore[arg-type]  # a matcher by its one method
        ["- raised pressure\n- nonsense words", "- raised pressure\n- E11.9"], [["I10"], ["E11.9"]]
    )
    assert matcher.calls == [["raised pressure", "nonsense words"]]
    # Four items: two embeddings, one unmatched, one code.
    assert scored.diagnostics["share_embedding"] == 0.5
    assert scored.diagnostics["share_unmatched"] == 0.25
    assert [answer.codes for answer in scored.answers] == [("I10",), ("E11.9", "I10")]


CODES = [code for code in SCORER.system.codes() if "-" not in code][::97]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(CODES), min_size=1, max_size=6), min_size=1, max_size=5), st.randoms())
def test_row_order_changes_no_score(rows: list[list[str]], random: Any) -> None:
    predictions = ["\n".join(random.sample(row, len(row))) for row in rows]
    assert SCORER.score(predictions, rows).scores()["f1_average"] == 1.0
    shifted = rows[1:] + rows[:1]
    order = list(range(len(rows)))
    random.shuffle(order)
    first = SCORER.score(predictions, shifted).scores()
    again = SCORER.score([predictions[i] for i in order], [shifted[i] for i in order]).scores()
    assert again == pytest.approx(first)


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.sampled_from(CODES), min_size=1, max_size=8), st.sets(st.sampled_from(CODES), min_size=1, max_size=8)
)
def test_an_invalid_code_lowers_precision_and_touches_nothing_else(gold: set[str], predicted: set[str]) -> None:
    before = SCORER.score([sorted(predicted)], [sorted(gold)]).scores()
    after = SCORER.score([[*sorted(predicted), "E11.99"]], [sorted(gold)]).scores()
    for level in LEVELS:
        assert after[f"recall_{level}"] == before[f"recall_{level}"]
        assert after[f"precision_{level}"] < before[f"precision_{level}"] or before[f"precision_{level}"] == 0


def test_titles_given_as_a_list_of_codes_are_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"1 of 1 predicted entries look like text, e\.g\. 'Essential"):
        scored = SCORER.score([["Essential (primary) hypertension"]], [["I10"]])
    assert scored.scores()["f1_full"] == 0.0  # an entry of a list is a prediction as it stands (protocol 2.5)


def test_a_whole_table_is_refused() -> None:
    with pytest.raises(InputError, match="predictions is a whole table"):
        SCORER.score({"answer": ["I10"]}, [["I10"]])  # type: ignore[arg-type]  # what a user may pass
