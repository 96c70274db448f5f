"""A log scored again, without a model: both protocols, what is written, and what is no log."""

import json
import re
from pathlib import Path

import pytest
from written_log import RUN, make_line, write_dictionary, write_log

from clinical_evals.errors import InputError, RunError, UnknownNameError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.tables import format_results

# No text of these needs the embedding model: codes, and titles that the release has.
LINES = [
    make_line(0, ["1. K21.9\n2. Gout"], ["I10", "K21.9"]),
    make_line(1, [""], ["E11.9"]),
    make_line(2, ["I10", "E11.9"], ["I10"]),  # two answers; without a line break the official rules find no item
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run" / "predictions.jsonl", LINES)


def test_both_protocols_by_hand(log: Path) -> None:
    (standard, official), _ = rescore(log, "both")
    ours, theirs = standard.scored.scores(), official.scored.scores()
    # Predicted K21.9 and M10; nothing; I10. Gold: 2 + 1 + 1.
    assert (ours["precision_full"], ours["recall_full"]) == (2 / 3, 2 / 4)
    assert (ours["rows"], ours["empty_answers"]) == (3, 1)
    # Official: the rows 1 and 2 are left out, so K21.9 and M10 against I10 and K21.9.
    assert (theirs["precision_full"], theirs["recall_full"]) == (1 / 2, 1 / 2)
    assert (theirs["rows"], theirs["rows_left_out"], theirs["own_titles"]) == (3, 2, 1)
    assert (standard.protocol, official.protocol) == ("standard", "official")


def test_the_printed_table_is_that_of_eval(log: Path) -> None:
    results, files = rescore(log, "both")
    text = format_results(results, files)
    assert text.startswith("clibench:diagnosis, 3 rows, both protocols")
    assert re.search(r"^full +66\.67 \[\d+\.\d\d, \d+\.\d\d\] +50\.00 \[.*\] +57\.14 \[.*\] +50\.00 +50\.00 +50\.00$",
                     text, re.MULTILINE), text  # fmt: skip
    assert re.search("^official: .*rows_left_out 2 of 3: they predict nothing", text, re.MULTILINE)
    assert text.count("our own titles stand in for MIMIC's dictionary") == 1
    assert "2 answers to each prompt are in the log; the first is scored" in text
    assert "tokens: 3,000 read, 40 written" in text


def test_files_beside_the_log(log: Path) -> None:
    before = log.read_bytes()
    rescore(log)
    assert sorted(path.name for path in log.parent.glob("s*")) == ["scored.jsonl", "summary.json"]
    standard = log.with_name("summary.json").read_bytes()
    _, said = rescore(log, "official")
    assert said == "beside it scored.official.jsonl and summary.official.json"
    assert log.with_name("summary.json").read_bytes() == standard
    official = json.loads(log.with_name("summary.official.json").read_text())
    assert official["protocol"] == "official"
    assert "MIMIC's dictionary was not given" in official["candidates"]
    header, *rows = map(json.loads, log.with_name("scored.official.jsonl").read_text().splitlines())
    assert header["protocol"] == "official"
    assert [row["predicted"] for row in rows] == [["K21.9", "M10"], [], []]
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"protocol_version": "0"}, {"release": "April 1999"}, {"rows": 2}, {"candidates": "others"}]
)
def test_a_summary_of_something_else_stays(log: Path, change: dict[str, object]) -> None:
    rescore(log)
    summary = log.with_name("summary.json")
    other = json.dumps(json.loads(summary.read_text()) | change)
    summary.write_text(other)
    log.with_name("scored.jsonl").write_text("kept")
    (result,), said = rescore(log)
    assert summary.read_text() == other
    assert log.with_name("scored.jsonl").read_text() == "kept"
    assert "stays as it is; --output FILE" in said
    assert result.scored.scores()["rows"] == 3


def test_what_the_run_was_made_with_is_said_where_it_differs(tmp_path: Path) -> None:
    release = get_system("icd10cm").release
    same = write_log(tmp_path / "same" / "predictions.jsonl", LINES, versions={"protocol": "1", "icd10cm": release})
    assert rescore(same)[1] == "beside it scored.jsonl and summary.json"
    versions = {"protocol": "0", "icd10cm": "April 2019"}
    other = write_log(tmp_path / "other" / "predictions.jsonl", LINES, versions=versions)
    assert rescore(other)[1].split("; ") == [
        "the run was made with protocol 0, this is scored with 1",
        f"the run was made with icd10cm April 2019, this is scored with {release}",
        "beside it scored.jsonl and summary.json",
    ]


def test_output_goes_elsewhere_and_only_there(log: Path, tmp_path: Path) -> None:
    results, said = rescore(log, "both", output=tmp_path / "both.json")
    content = json.loads((tmp_path / "both.json").read_text())
    assert {name: summary["scores"] for name, summary in content.items()} == {
        result.protocol: result.scored.scores() for result in results
    }
    assert said == f"summary: {tmp_path / 'both.json'}"
    assert [path.name for path in log.parent.glob("s*")] == []


@pytest.mark.parametrize("name", ["predictions.jsonl", "summary.json", "scored.official.jsonl"])
def test_output_is_no_file_of_the_run(log: Path, name: str) -> None:
    with pytest.raises(InputError, match="is a file of the run itself"):
        rescore(log, output=log.parent / ".." / "run" / name)
    assert [path.name for path in log.parent.glob("s*")] == []


def test_output_that_cannot_be(log: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder: expected the name of a file"):
        rescore(log, output=tmp_path)
    with pytest.raises(InputError, match="lies in a folder that does not exist"):
        rescore(log, output=tmp_path / "no" / "file.json")


def test_the_dictionarys_titles_decide(log: Path, tmp_path: Path) -> None:
    # In this hospital's dictionary gout is M10.9; a category has no row.
    dictionary = write_dictionary(tmp_path / "d_icd_diagnoses.csv", {"M109": "Gout", "K219": "Reflux", "I10": "High"})
    (standard, official), _ = rescore(log, "both", dictionary)
    assert standard.scored.answers[0].codes == ("K21.9", "M10")
    assert official.scored.answers[0].codes == ("K21.9", "M10.9")
    assert official.scored.diagnostics["own_titles"] == 0
    assert "stand in for MIMIC's" not in format_results([official])
    with pytest.raises(InputError, match=r"--dictionary .* has no use with --protocol standard"):
        rescore(log, "standard", dictionary)
    with pytest.raises(InputError, match="does not exist"):
        rescore(log, "official", tmp_path / "d_icd_procedures.csv")


def test_of_a_row_asked_twice_the_newest_answer_counts(tmp_path: Path) -> None:
    again = make_line(0, ["E11.9"], ["E11.9"], key="edited data")
    log = write_log(tmp_path / "predictions.jsonl", [*LINES, again])
    (result,), said = rescore(log)
    assert [line["row"] for line in result.lines] == [0, 1, 2]
    assert result.lines[0]["answers"] == ["E11.9"]
    assert said.startswith("1 older answers to rows that were asked again are left out; ")


# What is no log


def test_a_torn_log_is_said(log: Path) -> None:
    whole = log.read_bytes()
    log.write_bytes(whole[:-7])
    with pytest.raises(
        InputError, match=r"predictions\.jsonl is torn: the last \d+ bytes .*`clinical-evals eval` again"
    ):
        rescore(log)
    assert log.read_bytes() == whole[:-7]
    assert [path.name for path in log.parent.glob("s*")] == []


def test_damage_in_the_middle_is_said(log: Path) -> None:
    log.write_bytes(log.read_bytes().replace(b'{"key":"key-1"', b'{"key":"key-1', 1))
    with pytest.raises(RunError, match=r"line 3: no JSON object"):
        rescore(log)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "does not start with a whole header line"),
        ("row,answer\n1,I10\n", "is not a prediction log"),
        ("no line break", "does not start with a whole header line"),
        ('{"task": "clibench:diagnosis", "rows": 3}\n', "its first line is not the header"),
        ('{"kind": "clinical-evals predictions", "format": 99}\n', "its first line is not the header .* of format 1"),
        ('{"kind": "clinical-evals predictions", "format": 1}\n', "its header names no task"),
        ('{"kind": "clinical-evals predictions", "format": 1}\n{"row": 1}\n', "line 2: no row of a prediction log"),
    ],
)
def test_foreign_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises((InputError, RunError), match=message):
        rescore(tmp_path / "file")
    with pytest.raises(InputError, match="no prediction log at"):
        rescore(tmp_path)


def test_rows_that_are_not_of_this_version(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown task 'clibench:surgery'"):
        rescore(write_log(tmp_path / "a.jsonl", LINES, RUN | {"task": "clibench:surgery"}))
    with pytest.raises(InputError, match=r"b\.jsonl, line 3: answers is str"):
        rescore(write_log(tmp_path / "b.jsonl", [LINES[0], LINES[1] | {"answers": "I10"}]))
    without = {key: value for key, value in LINES[0].items() if key != "gold"}
    with pytest.raises(InputError, match=r"c\.jsonl, line 2: gold is missing"):
        rescore(write_log(tmp_path / "c.jsonl", [without]))
    with pytest.raises(InputError, match=r"d\.jsonl, line 2: expected texts .* at least one answer"):
        rescore(write_log(tmp_path / "d.jsonl", [LINES[0] | {"answers": []}]))
    with pytest.raises(InputError, match="has no rows"):
        rescore(write_log(tmp_path / "e.jsonl", []))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output_tokens": ["a"]}, "expected whole numbers of 0 or more"),
        ({"row": -1}, "expected whole numbers of 0 or more"),
        ({"row": True}, "expected whole numbers of 0 or more"),
        ({"input_tokens": -5}, "expected whole numbers of 0 or more"),
        ({"finish": []}, "expected one of answers, finish and output_tokens for each answer"),
        ({"kept_prompt": float("nan")}, "expected shares between 0 and 1"),
        ({"kept_long": 1.5}, "expected shares between 0 and 1"),
        ({"gold": ["ZZZ99"]}, "ZZZ99"),
    ],
)
def test_an_edited_row_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    # A reviewer's edits: each was a traceback, or scored without a word.
    log = write_log(tmp_path / "log.jsonl", [LINES[0], LINES[1] | change])
    with pytest.raises(InputError, match=rf"log\.jsonl, line 3.*{message}"):
        rescore(log)
    with pytest.raises(InputError, match=rf"log\.jsonl, line 3.*{message}"):
        explain(log, 0)
