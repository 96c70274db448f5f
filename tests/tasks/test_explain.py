"""One row of a log, from the prompt to its scores."""

from pathlib import Path

import pytest
from written_log import make_line, write_dictionary, write_log

from clinical_evals.errors import InputError
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.resolved import ResolvedAnswer, ResolvedItem
from clinical_evals.ontology import get_system
from clinical_evals.tasks.scored.explain import explain, format_answer, format_gold, printable

SYSTEM = get_system("icd10cm")
LINES = [
    make_line(
        3, ["1. E11.65\n2. Gout\n3. I10.99", "second"], ["E11.9", "I10"],
        prompt="x" * 400 + "the question?\n", input_tokens=900, whole_tokens=2000, kept_prompt=0.45, kept_long=0.25,
        finish=["length", "stop"], output_tokens=[20, 7],
    ),
    make_line(5, [""], ["I10"]),
    make_line(8, ["1. I10.99 Essential (primary) hypertension\n2. Gout"], ["I10"]),
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "predictions.jsonl", LINES)


def test_everything_of_a_row(log: Path) -> None:
    text = explain(log, 3)
    head, prompt, first, second, items, gold, scores = text.split("\n\n")
    assert head == "# clibench:diagnosis, row 3, standard protocol"
    title, tail = prompt.splitlines()
    assert title == (
        "[prompt: 900 tokens, 414 characters; cut from 2,000 tokens: kept 45.0 % of it, 25.0 % of the long segments; "
        "its end:]"
    )
    assert tail == "…" + "x" * (300 - 14) + "the question?"
    assert first.splitlines() == [
        "[answer 1 of 2, scored: 20 tokens, up to its token limit: it was cut]",
        "1. E11.65", "2. Gout", "3. I10.99",
    ]  # fmt: skip
    assert second.splitlines() == ["[answer 2 of 2, not scored: 7 tokens, up to its own end]", "second"]
    assert items.splitlines()[0] == "[items]"
    assert items.splitlines()[1] == "row 3: 2 gold codes, 3 predicted, 0 of them exactly right"
    assert "    -> E11.65 Type 2 diabetes mellitus with hyperglycemia [code]" in items
    assert "  Gout\n    -> M10 Gout [title]" in items
    assert "    -> I10.99 [no code of the release: wrong]" in items
    assert gold.splitlines() == [
        "[gold]",
        "  E11.9 Type 2 diabetes mellitus without complications",
        "    found at: chapter, block, category",  # E11.65
        "  I10 Essential (primary) hypertension",
        "    found at: no level",  # an invalid code has no ancestors
    ]
    table = {line.split()[0]: line.split()[1:] for line in scores.splitlines()[1:]}
    # E11.65, M10 and the invalid I10.99 against E11.9 and I10: one chapter of three is right.
    assert table["chapter"] == ["33.33", "50.00", "40.00"]
    assert table["category"] == ["33.33", "50.00", "40.00"]
    assert table["full"] == ["0.00", "0.00", "0.00"]
    assert table["average"][0] == "20.00"  # (3 × 1/3 + 2 × 0) / 5


def test_an_empty_answer_by_each_protocol(log: Path) -> None:
    standard, official = explain(log, 5), explain(log, 5, "official")
    assert "(an empty answer: it counts as an empty prediction)" in standard
    assert "full              0.00    0.00    0.00" in standard
    assert "(an empty answer: the row is left out)" in official
    assert "none: the official protocol leaves out a row that predicts nothing" in official
    assert "our own titles stand in for MIMIC's dictionary" in official
    assert "[prompt: 1,000 tokens, 40 characters; whole, nothing was cut; its end:]" in standard
    assert "(no text)" in standard


def test_the_dictionary_decides_here_too(log: Path, tmp_path: Path) -> None:
    dictionary = write_dictionary(tmp_path / "d.csv", {"M109": "Gout", "I10": "Essential (primary) hypertension"})
    text = explain(log, 8, "official", dictionary)
    assert "-> M10.9 Gout, unspecified [title]" in text
    # The invalid code is no prediction here: the text beside it is matched.
    assert "-> I10 Essential (primary) hypertension (in the gold) [title]" in text
    assert "stand in for" not in text
    with pytest.raises(InputError, match="no use with --protocol standard"):
        explain(log, 3, "standard", dictionary)


def test_a_row_that_is_not_there(log: Path) -> None:
    with pytest.raises(InputError, match=r"--row 4: .*predictions\.jsonl has the rows 3, 5, 8\."):
        explain(log, 4)


def test_gold_is_found_at_each_level() -> None:
    text = format_gold(["I25.110", "B20", "A41.9"], ["I25.119", "B20", "Z99.99"], SYSTEM)
    assert [line.strip() for line in text.splitlines()[1::2]] == [
        "found at: chapter, block, category, subcategory",  # I25.1
        "found at: chapter, block, category, subcategory, full",
        "found at: chapter",  # A41.9 and B20 are both of chapter 1
    ]


def test_a_terminal_gets_no_commands() -> None:
    assert printable("a\x1b[2Jb\tc\nd\u202e é") == "a\\x1b[2Jb\tc\nd\\u202e é"


def test_one_answer_line_by_line() -> None:
    answer = ResolvedAnswer(
        (
            ResolvedItem("", (Match("I10", "code", 1.0),), ("I10.99",)),
            ResolvedItem("high sugar", (Match("R73.9", "embedding", 0.8123),), ()),
            ResolvedItem("see above", (), ()),
            ResolvedItem("see above", (), ()),
            ResolvedItem("on\nand on", (Match("R55", "code", 1.0),) * 3, ()),
        )
    )
    line = {"row": 3, "gold": ["E11.9", "I10"]}
    assert format_answer(line, answer, SYSTEM).splitlines() == [
        "row 3: 2 gold codes, 4 predicted, 1 of them exactly right",
        "  (codes alone)",
        "    -> I10 Essential (primary) hypertension (in the gold) [code]; I10.99 [no code of the release: wrong]",
        "  high sugar",
        "    -> R73.9 Hyperglycemia, unspecified [embedding, similarity 0.81]",
        "  see above   (2 times)",
        "    -> unmatched: no prediction",
        "  on and on",
        "    -> R55 Syncope and collapse [code] (3 times)",
    ]


def test_items_that_predict_nothing_are_said_to_count_or_not() -> None:
    answer = ResolvedAnswer((ResolvedItem("see above", (), ()),))
    line = {"row": 0, "gold": ["I10"]}
    assert "(nothing is predicted: it counts" in format_answer(line, answer, SYSTEM)
    assert "(nothing is predicted: the row is left out)" in format_answer(line, answer, SYSTEM, "official")
