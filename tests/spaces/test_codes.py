"""One answer against its gold codes: the numbers are those of the metric, the lines say what happened."""

from pathlib import Path

import pytest

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.errors import InputError, ResourceMissingError, UnknownNameError
from clinical_evals.spaces.codes import LONGEST_ANSWER, MOST_GOLD, score_answer
from clinical_evals.spaces.codes_page import EXAMPLES, SYSTEMS, make_page

ANSWER = "1. Type 2 diabetes mellitus without complications\n2. N18.4\n3. E11.99"
GOLD = "E11.9, N18.30"


def test_items_levels_and_gold() -> None:
    scored = score_answer(ANSWER, GOLD, "icd10cm", "standard")
    items = {item.code: (item.how, item.right_at) for item in scored.items}
    everywhere = ("chapter", "block", "category", "subcategory", "full")
    assert items == {
        "E11.9": ("title", everywhere),
        "N18.4": ("code", ("chapter", "block", "category")),
        "E11.99": ("invalid code", ()),
    }
    assert [(gold.code, gold.found_at) for gold in scored.gold] == [
        ("E11.9", everywhere),
        ("N18.30", ("chapter", "block", "category")),
    ]
    full = next(level for level in scored.levels if level.name == "full")
    assert (full.precision, full.recall, full.both, full.predicted, full.gold) == (1 / 3, 1 / 2, 1, 3, 2)
    assert scored.levels[-1].name == "average"


@pytest.mark.parametrize("protocol", ["standard", "official"])
def test_the_numbers_are_those_of_the_metric(protocol: str) -> None:
    evaluate = pytest.importorskip("evaluate")
    answer = "Type 2 diabetes mellitus without complications\nN18.4"
    expected = evaluate.load("hier_icd_f1").compute(
        predictions=[answer], references=[["E11.9", "N18.30"]], protocol=protocol
    )
    for level in score_answer(answer, GOLD, "icd10cm", protocol).levels:
        assert level.f1 == expected[f"f1_{level.name}"]
        assert level.precision == expected[f"precision_{level.name}"]


@pytest.mark.parametrize(
    "gold", ["E119 n18.30", "E11.9;N18.30", "E11.9\nN18.30\n", "N18.30，E11.9", "E11.9, E119, N18.30"]
)
def test_gold_codes_in_any_usual_writing(gold: str) -> None:
    assert [each.code for each in score_answer("I10", gold, "icd10cm", "standard").gold] == ["E11.9", "N18.30"]


def test_an_empty_answer_is_scored_and_said() -> None:
    scored = score_answer("", GOLD, "icd10cm", "standard")
    assert "empty prediction" in scored.note
    assert [level.f1 for level in scored.levels] == [0.0] * 6
    left_out = score_answer("", GOLD, "icd10cm", "official")
    assert left_out.levels == []
    assert "leaves out an answer that predicts nothing" in left_out.note


@pytest.mark.parametrize(
    ("answer", "gold", "message"),
    [
        ("I10", "", "no gold codes"),
        ("I10", "E11.9, Q12.345", "The gold code 'Q12.345' is not in icd10cm April 2026"),
        ("x" * (LONGEST_ANSWER + 1), "I10", r"20,001 characters; at most 20,000"),
        ("I10", "I10 " * (MOST_GOLD + 1), "501 gold codes; at most 500"),
    ],
)
def test_what_cannot_be_scored(answer: str, gold: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_answer(answer, gold, "icd10cm", "standard")


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown code system 'icd9'"):
        score_answer("I10", "I10", "icd9", "standard")
    with pytest.raises(UnknownNameError, match=r"unknown protocol 'offical'\. Did you mean 'official'"):
        score_answer("I10", "I10", "icd10cm", "offical")


def test_a_system_without_files(written_releases: Path) -> None:
    from clinical_evals.spaces import codes

    codes._scorer.cache_clear()
    for path in written_releases.rglob("*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(ResourceMissingError, match="clinical-evals resources"):
        score_answer("A10BA02", "A10BA02", "atc", "standard")
    codes._scorer.cache_clear()


def test_every_example_names_real_codes() -> None:
    from clinical_evals.ontology import get_system

    for _, gold, system, _ in EXAMPLES:
        if system == "icd10cm":
            get_system(system).require(gold.split(", "), "gold codes")
    assert {system for _, _, system, _ in EXAMPLES} <= {name for _, name in SYSTEMS}


def test_the_page_keeps_nothing() -> None:
    pytest.importorskip("gradio", reason="gradio is not installed")
    page = make_page()
    assert page.analytics_enabled is False
    assert not [block for block in page.blocks.values() if "flag" in str(getattr(block, "value", "")).lower()]
