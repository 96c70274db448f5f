"""`clinical-evals compare` and `breakdown`: written logs, as the commands print them, and logs that do not fit.

No answer needs the embedding model: they are codes, or names of departments.
"""

import json
import re
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from written_dialogues import make_dialogue, write_transcripts
from written_log import RUN, make_line, write_log

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.cli import main
from clinical_evals.cli.compare import add_breakdown
from clinical_evals.scoring.hierarchy import scores
from clinical_evals.scoring.paired import Run, paired_differences
from clinical_evals.scoring.sign_flip import sign_flip
from clinical_evals.tasks.prediction_log import hash_row
from clinical_evals.tasks.scored.breakdown_columns import CASE_COLUMNS, CODE_COLUMNS
from clinical_evals.tasks.scored.rescore import rescore

GOLD = [["I10", "E11.9"], ["K21.9"], ["I10"], ["E46", "I10"]]
WORSE = ["I10", "I10", "I10", ""]
BETTER = ["I10, E11.9", "K21.9", "I10", "E46"]
DEPARTMENTS = ["内科", "外科", "小儿外科"]

Command = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """A command's output; it must succeed."""

    def run(*args: object) -> str:
        assert main([str(arg) for arg in args]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Command:
    """What a command says that cannot do what it is asked to."""

    def refused(*args: object) -> str:
        assert main([str(arg) for arg in args]) == 2
        return capsys.readouterr().err

    return refused


def write(path: Path, answers: Sequence[str], run: dict[str, Any] = RUN, **changes: Any) -> Path:
    """A log of `GOLD`'s rows; the answers that are not given are not there."""
    lines = [
        make_line(row, [answer], GOLD[row], data_sha256=f"data-{row}", **changes) for row, answer in enumerate(answers)
    ]
    return write_log(path / "predictions.jsonl", lines, run)


def write_referrals(path: Path, answers: Sequence[str], strategy: str = "zero_shot", **run: Any) -> Path:
    """A log of a static task: the right department is always 外科."""
    lines = [
        make_line(row, [answer], ["外科"], data_sha256=f"data-{row}")
        | {"case_id": f"case-{row}", "candidates": DEPARTMENTS, "turn": 0, "turns": 1}
        for row, answer in enumerate(answers)
    ]
    return write_log(path / "predictions.jsonl", lines, RUN | {"task": f"ior_bench:static_{strategy}"} | run)


def cells(text: str, start: str) -> list[str]:
    """The cells of the first line that starts so."""
    line = next(line for line in text.splitlines() if line.startswith(start))
    return re.split(r" {2,}", line.strip())


def cells_of(text: str, score: str) -> list[list[str]]:
    """The cells of a score's two lines."""
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(score))
    return [re.split(r" {2,}", line.strip()) for line in lines[place : place + 2]]


# compare


def test_two_runs(run: Command, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", WORSE), write(tmp_path / "b", BETTER)
    text = run("compare", first, second)
    assert text.startswith("clibench:diagnosis, 4 rows of 4 patients, standard protocol")
    # Worse: I10, I10, I10 and nothing, of which two are right, of six gold codes. Better: five of five, of six.
    one, two = cells_of(text, "F1 full")
    assert one[2].startswith("44.44 [")  # 2 x 2 / (3 + 6)
    assert two[1].startswith("90.91 [")  # 2 x 5 / (5 + 6)
    assert two[2].startswith("+46.46 [")
    assert f"run 1 (whole prompt): {first}" in text
    assert f"run 2 (whole prompt): {second}" in text
    # Three patients differ, in all of them the second run is better: of 8 ways the two extremes differ as much.
    assert two[3] == "0.2500"
    assert "Benjamini-Hochberg over the 6 of this table" in text


def test_json_has_what_the_statistics_give(run: Command, tmp_path: Path) -> None:
    logs = [write(tmp_path / "a", WORSE), write(tmp_path / "b", BETTER), write(tmp_path / "c", WORSE[::-1])]
    found = json.loads(run("compare", *logs, "--json"))
    assert (found["rows"], found["patients"], found["protocol"], found["exact"]) == (4, 4, "standard", True)
    results = [rescore(log, output=tmp_path / "out.json")[0][0] for log in logs]
    runs = [Run(result.scored.counts, [100, 101, 102, 103]) for result in results]
    for part, result, each in zip(found["runs"], results, runs, strict=True):
        assert part["scores"] == {key: scores(each.counts)[key] for key in part["scores"]}
        assert {key: tuple(bounds) for key, bounds in part["intervals"].items()} == {
            key: result.intervals[key] for key in part["intervals"]
        }  # those of `clinical-evals score`
    assert found["runs"][0]["differences"] is None
    for part, each in zip(found["runs"][1:], runs[1:], strict=True):
        differences, test = paired_differences(runs[0], each), sign_flip(runs[0], each)
        for key, compared in part["differences"].items():
            assert (compared["value"], compared["low"], compared["high"]) == differences[key]
            assert compared["p"] == test.p_values[key]
            assert compared["p"] <= compared["p_adjusted"] <= 1
    p_values = sorted(each["p"] for part in found["runs"][1:] for each in part["differences"].values())
    smallest = min(each["p_adjusted"] for part in found["runs"][1:] for each in part["differences"].values())
    # 12 tests: the least of 12 p / rank.
    assert smallest == pytest.approx(min(min(12 * p / rank, 1) for rank, p in enumerate(p_values, 1)))


def test_rows_of_one_run_only_are_left_out_and_said(run: Command, tmp_path: Path) -> None:
    logs = [write(tmp_path / "a", WORSE), write(tmp_path / "b", BETTER[:3])]
    text = run("compare", *logs)
    assert text.startswith("clibench:diagnosis, 3 rows of 3 patients")
    assert "left out: 1 rows of run 1 that another has not (3)" in text
    assert "of run 2 that" not in text
    assert cells_of(text, "F1 full")[1][1].startswith("100.00 [")  # its fourth row had one code of two


def test_official_leaves_out_rows_that_predict_nothing(run: Command, tmp_path: Path) -> None:
    """An empty answer predicts nothing; it is wrong under standard, and left out under official."""
    logs = [
        write(tmp_path / name, ["1. K21.9\n2. Gout", "1. K21.9\n2. Gout", "", answer])
        for name, answer in (("a", "1. K21.9\n2. Gout"), ("b", ""))
    ]
    text = run("compare", *logs, "--protocol", "official")
    assert "4 rows of" in text
    assert "run 1: 1 of the rows predict nothing, official leaves them out" in text
    assert "run 2: 2 of the rows predict nothing, official leaves them out" in text


def test_every_row_of_a_run_may_be_left_out(run: Command, tmp_path: Path) -> None:
    logs = [write(tmp_path / "a", ["1. K21.9\n2. Gout"] * 4), write(tmp_path / "b", [""] * 4)]
    text = run("compare", *logs, "--protocol", "official")
    assert "run 2: 4 of the rows predict nothing, official leaves them out" in text
    assert cells_of(text, "F1 full")[1][1] == "0.00 [0.00, 100.00]"


def test_referrals_by_case(run: Command, tmp_path: Path) -> None:
    """Five of eight right, then all of them: three cases change, all to the right; 2 of 8 ways differ as much."""
    first = write_referrals(tmp_path / "a", ["外科"] * 5 + ["内科"] * 3)
    second = write_referrals(tmp_path / "b", ["外科"] * 8, "cot")
    text = run("compare", first, second)
    assert text.startswith("ior_bench:static, 8 rows, standard protocol (in %, 95 % interval by case;")
    one, two = cells_of(text, "accuracy")
    assert one[2].startswith("62.50 [")
    assert two[1] == "100.00 [67.56, 100.00]"  # Wilson's, of eight
    assert two[2].startswith("+37.50 [")
    assert two[3] == two[4] == "0.2500"
    assert f"run 2 (cot): {second}" in text
    found = json.loads(run("compare", first, second, "--json"))
    assert found["runs"][0]["intervals"]["accuracy"] == list(
        rescore(first, output=tmp_path / "out.json")[0][0].intervals["accuracy"]
    )


def test_dialogues_by_their_last_turn(run: Command, tmp_path: Path) -> None:
    def log(name: str, last: str) -> Path:
        said = ["膝盖疼。"] * 2, ["内科", last], ["多久了？"]
        return write_transcripts(
            tmp_path / f"{name}.jsonl", [make_dialogue(row, "骨科", *said) for row in range(3)], 2
        )

    first, second = log("a", "内科"), log("b", "骨科")
    text = run("compare", first, second)
    assert text.startswith("ior_bench:dynamic_h2, 3 rows, standard protocol")
    one, two = cells_of(text, "accuracy")
    assert (one[2][:6], two[1][:6], two[2][:7]) == ("0.00 [", "100.00", "+100.00")
    assert f"run 1 (the last of 2 turns): {first}" in text


def test_runs_that_cannot_be_compared(refused: Command, tmp_path: Path) -> None:
    one = write(tmp_path / "a", WORSE)
    assert "at least two logs, found 1" in refused("compare", one)
    assert "a log is given twice" in refused("compare", one, one)
    other = write(tmp_path / "b", WORSE, RUN | {"prompt": "2"})
    assert "was asked with prompt version 2" in refused("compare", one, other)
    referrals = write_referrals(tmp_path / "c", ["外科"])
    said = refused("compare", one, referrals)
    assert "is of ior_bench:static_zero_shot" in said
    assert "of clibench:diagnosis: runs of one task are compared" in said
    assert "no prediction log at" in refused("compare", one, tmp_path / "none.jsonl")
    later = write_log(tmp_path / "d" / "predictions.jsonl", [make_line(9, ["I10"], ["I10"])])
    assert "no row is in all of" in refused("compare", one, later)


def test_rows_with_other_data_are_named(refused: Command, tmp_path: Path) -> None:
    lines = [
        make_line(row, ["I10"], GOLD[row], data_sha256=f"{'data' if row % 2 else 'other'}-{row}") for row in range(4)
    ]
    other = write_log(tmp_path / "b" / "predictions.jsonl", lines)
    said = refused("compare", write(tmp_path / "a", WORSE), other)
    assert "2 rows have other data" in said
    assert "row 0: data-0 and other-0; row 2: data-2 and other-2" in said


def test_dialogues_of_other_lengths(refused: Command, tmp_path: Path) -> None:
    logs = [
        write_transcripts(
            tmp_path / f"{turns}.jsonl",
            [make_dialogue(0, "骨科", ["疼。"] * turns, ["内科"] * turns, ["多久了？"] * (turns - 1))],
            turns,
        )
        for turns in (2, 3)
    ]
    assert "has dialogues of 3 turns" in refused("compare", *logs)


# breakdown


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """The embedded sample."""
    from datasets import load_dataset

    return list(load_dataset("clibench", "diagnosis", split="test"))


@pytest.fixture
def log(rows: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that finds the first gold code of every row of a woman, and I10 in all others; in another order."""
    monkeypatch.delenv("CLIBENCH_DIR", raising=False)
    lines = [
        make_line(
            place,
            [row["codes"][0] if row["gender"] == "F" else "I10"],
            row["codes"],
            subject_id=row["subject_id"],
            data_sha256=hash_row(row),
        )
        for place, row in reversed(list(enumerate(rows)))
    ]
    return write_log(tmp_path / "run" / "predictions.jsonl", lines)


def test_by_the_columns_of_the_papers_figures(run: Command, rows: list[dict[str, Any]], log: Path) -> None:
    text = run("breakdown", log)
    assert text.startswith("clibench:diagnosis, 40 rows of 40 patients, standard protocol")
    heads = [line.split("  ")[0] for line in text.splitlines() if "  rows  patients" in re.sub(r" {2,}", "  ", line)]
    assert heads == ["gender", "race", "insurance", "length of stay", "chapters", "gold codes"]
    # Figure 2 by average F1, Figure 3 by precision, recall and F1 of full codes.
    assert cells(text, "gender")[-1] == "F1 average"
    assert cells(text, "length of stay")[-3:] == ["precision full", "recall full", "F1 full"]
    women = [row for row in rows if row["gender"] == "F"]
    found = cells(text, "F ")
    mean = sum(len(row["codes"]) for row in women) / len(women)
    assert found[:5] == ["F", str(len(women)), str(len(women)), f"{mean:.1f}", "1.0"]
    unknown = {row["race"] for row in rows if row["race"] and row["race"].startswith(("OTHER", "UNKNOWN", "PORTUG"))}
    assert set(cells(text, "OTHER/UNKNOWN: ")[0].removeprefix("OTHER/UNKNOWN: ").split(", ")) >= unknown
    assert text.count("\nnot given ") == sum(
        any(row[column] is None for row in rows) for column in ("race", "insurance")
    )
    assert "in parentheses: of fewer than 10 rows" in text


def test_json_has_counts_scores_and_the_mark(run: Command, rows: list[dict[str, Any]], log: Path) -> None:
    found = json.loads(run("breakdown", log, "--by", "gender,insurance,services,gold_codes:5/10", "--json"))
    assert list(found["by"]) == ["gender", "insurance", "services", "gold_codes"]
    gender = {group["name"]: group for group in found["by"]["gender"]}
    women = [row for row in rows if row["gender"] == "F"]
    assert gender["F"]["scores"]["precision_full"] == 1.0  # by construction
    assert gender["F"]["scores"]["recall_full"] == pytest.approx(
        len(women) / sum(len(row["codes"]) for row in women)  # one code of each row
    )
    for key, (low, high) in gender["M"]["intervals"].items():
        assert low <= gender["M"]["scores"][key] <= high
    for group in found["by"]["insurance"]:
        assert group["rows"] == sum(row["insurance"] == group["name"] for row in rows)
        assert group["few"] == (group["rows"] < 10)
    services = {group["name"]: group["rows"] for group in found["by"]["services"]}
    assert services["MED"] == sum("MED" in row["services"] for row in rows)
    assert sum(services.values()) > len(rows)  # two services: in both groups
    bins = {group["name"]: group["rows"] for group in found["by"]["gold_codes"]}
    assert bins == {
        name: number
        for name, number in {
            "under 5": sum(len(row["codes"]) < 5 for row in rows),
            "5 to under 10": sum(5 <= len(row["codes"]) < 10 for row in rows),
            "10 and more": sum(len(row["codes"]) >= 10 for row in rows),
        }.items()
        if number
    }
    assert found["all"]["rows"] == len(rows)


def test_any_other_column(run: Command, rows: list[dict[str, Any]], log: Path) -> None:
    text = run("breakdown", log, "--by", "admission_type,age,care_units,language")
    assert cells(text, "EW EMER.")[1] == str(sum(row["admission_type"] == "EW EMER." for row in rows))
    assert cells(text, "age")[-1] == "F1 full"  # a number, in bins
    assert re.search(r"^under \d+ ", text, re.MULTILINE)


def test_rows_are_found_by_their_data_wherever_they_stand(
    run: Command, rows: list[dict[str, Any]], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    before = run("breakdown", log)
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: rows[::-1])
    assert run("breakdown", log) == before


def test_a_dataset_that_has_other_rows(
    refused: Command, rows: list[dict[str, Any]], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [row | {"age": 50} for row in rows[:3]] + rows[3:])
    said = refused("breakdown", log)
    assert re.search(r"\d of 40 rows of .*predictions.jsonl \([0-2, ]+\) are not in the dataset clibench", said)
    assert "Let CLIBENCH_DIR name the folder" in said


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("colour", "unknown column 'colour'"),
        ("gendr", "Did you mean 'gender'"),
        ("gender,gender", "gender is there twice"),
        ("gender,", "a column has no name"),
        ("age:40/30", "must rise"),
        ("age:nan", "must rise"),
        ("age:old", "expected the numbers at which bins begin"),
        ("gender:1/2", "it has no numbers that bins could begin at"),
        ("record", "its texts are longer than 100 characters"),
        ("lab_results", "expected texts, lists of texts or numbers, found list"),
        ("codes", "different values are too many groups; at most 100"),
    ],
)
def test_columns_that_are_no_groups(refused: Command, log: Path, by: str, said: str) -> None:
    assert said in refused("breakdown", log, "--by", by)


def test_referrals_by_sex_and_age(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets import load_dataset

    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)
    rows = list(load_dataset("ior-bench", "static", split="test"))
    lines = [
        make_line(place, [row["department"] if row["sex"] == "male" else ""], [row["department"]])
        | {"data_sha256": hash_row(row), "case_id": row["id"], "candidates": row["candidates"], "turn": 0, "turns": 1}
        for place, row in enumerate(rows)
    ]
    path = write_log(tmp_path / "predictions.jsonl", lines, RUN | {"task": "ior_bench:static_cot"})
    text = run("breakdown", path)
    assert text.startswith(f"ior_bench:static_cot, {len(rows)} rows, standard protocol (in %, 95 % interval by case)")
    men = sum(row["sex"] == "male" for row in rows)
    assert cells(text, "male ")[:2] == ["male", str(men)]
    assert cells(text, "male ")[2].startswith("100.00 [")
    assert cells(text, "female ")[2].startswith("0.00 [0.00, ")
    assert cells(text, "age ")[1:] == ["rows", "accuracy"]


def test_dialogues_by_their_last_turn_and_sex(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets import load_dataset

    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)
    rows = list(load_dataset("ior-bench", "dynamic_h2", split="test"))[:12]
    played = []
    for place, row in enumerate(rows):
        one = make_dialogue(place, row["department"], ["疼。"] * 2, ["", row["department"]], ["多久了？"])
        same = {"data_sha256": hash_row(row), "candidates": row["candidates"]}
        played.append(one._replace(lines=[line | same for line in one.lines]))
    text = run("breakdown", write_transcripts(tmp_path / "transcripts.jsonl", played, 2), "--by", "sex")
    assert text.startswith("ior_bench:dynamic_h2, 12 rows, standard protocol")
    assert cells(text, "all")[1:3] == ["12", "100.00 [75.75, 100.00]"]  # Wilson's, of twelve


def test_the_help_names_the_columns_that_are_taken_without_by() -> None:
    parser = add_breakdown(ArgumentParser())
    (said,) = (action.help for action in parser._actions if action.dest == "by")
    assert said is not None
    assert f"(default: {','.join(CODE_COLUMNS)}; of ior_bench {','.join(CASE_COLUMNS)})" in said


def test_official_rows_in_no_group_are_counted(run: Command, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    lines = [
        make_line(place, [f"1. {row['titles'][0]}\n2. Gout" if place else ""], row["codes"], data_sha256=hash_row(row))
        for place, row in enumerate(rows[:3])
    ]
    path = write_log(tmp_path / "predictions.jsonl", lines)
    text = run("breakdown", path, "--by", "gender", "--protocol", "official")
    assert text.startswith("clibench:diagnosis, 2 rows of 2 patients, official protocol")
    assert "1 rows are in no group: the official protocol leaves them out" in text


def test_a_log_of_which_no_row_counts(refused: Command, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    line = make_line(0, [""], rows[0]["codes"], data_sha256=hash_row(rows[0]))
    path = write_log(tmp_path / "predictions.jsonl", [line])
    assert "no row counts under the official protocol" in refused("breakdown", path, "--protocol", "official")
