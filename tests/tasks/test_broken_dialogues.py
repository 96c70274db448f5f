"""Dialogues that a failed call broke off, from the run to its scores by both protocols, and from its log again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_generators import ScriptedGenerator, doctor_who_knows, make_case, patient

from clinical_evals.errors import InputError
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun, Side, play
from clinical_evals.tasks.models.generation import Missing
from clinical_evals.tasks.names import find_task
from clinical_evals.tasks.scored.dialogue_results import DialogueResult, score_dialogues
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.results import MissingRow, write_files
from clinical_evals.tasks.scored.tables import format_results

NAMES = ("骨科", "眼科", "皮肤科", "内科")
DOCTOR = doctor_who_knows({"眼睛红": "眼科", "起皮疹": "皮肤科", "扭了脚": "骨科"}, last="内科")
CASES = [
    make_case(0, "眼科", NAMES, ["眼睛红", "有点累"]),  # right at every turn
    make_case(1, "皮肤科", NAMES, ["有点累", "起皮疹", "怕冷"]),  # wrong at turn 0; then the doctor is out of reach
    make_case(2, "骨科", NAMES, ["有点累", "怕冷", "扭了脚"]),  # right at turn 2 alone
    make_case(3, "骨科", NAMES, ["口干"]),  # the patient is out of reach from the start
    make_case(4, "内科", NAMES, ["有点累", "起皮疹"]),  # right at turn 0; then the doctor is out of reach
]
WHY = "HTTP 500: out of order (attempts: 8)"
TURNS = 3
RESULTS = ("scored.jsonl", "summary.json", "scored.official.jsonl", "summary.official.json")

Say = Callable[[list[dict[str, str]]], str | Missing]


def out_of_reach(word: str, otherwise: Say) -> Say:
    """No answer wherever the word was said or is known."""
    return lambda messages: Missing(WHY) if word in json.dumps(messages, ensure_ascii=False) else otherwise(messages)


BROKEN = (out_of_reach("起皮疹", DOCTOR), out_of_reach("口干", patient))


def run_both(folder: Path, doctor: Say = DOCTOR, of_patient: Say = patient) -> list[DialogueResult]:
    """Play all cases in batches of two, score them by both protocols and write the files."""
    side = Side({}, 100_000)
    run = DialogueRun(folder / "transcripts.jsonl", "ior_bench:dynamic_h1", side, side, TURNS)
    log = open_transcripts(run.path, run.identity, {"source": "clinical-evals:synthetic"})
    done = play(CASES, ScriptedGenerator(doctor, 2), ScriptedGenerator(of_patient, 2), run, log)
    log.close()
    task = find_task(run.task)
    results = [score_dialogues(task, run.path, 0, done.played, protocol) for protocol in ("standard", "official")]
    for result in results:
        write_files(result)
    return results


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


def test_what_failed_is_wrong_under_official_and_left_out_of_standard(tmp_path: Path) -> None:
    standard, official = run_both(tmp_path, *BROKEN)
    missing = (
        MissingRow(1, f"doctor: {WHY}", 1),
        MissingRow(3, f"patient: {WHY}", 0),
        MissingRow(4, f"doctor: {WHY}", 1),
    )
    assert standard.unanswered == official.unanswered == missing
    assert standard.broken_off == official.broken_off == [1, 3, 4]
    # Rows 0 and 2 alone: + - , + - , + +
    assert [turn.accuracy for turn in standard.turns] == [1 / 2, 1 / 2, 2 / 2]
    assert standard.scored.scores()["rows"] == 2
    # Of all five rows: 0 and 4 are right at turn 0, 0 at turn 1, 0 and 2 at turn 2.
    assert [turn.accuracy for turn in official.turns] == [2 / 5, 1 / 5, 2 / 5]
    # Row 3 never has a referral; rows 1 and 4 have none from turn 1 on.
    assert [turn.no_answer_rate for turn in official.turns] == [1 / 5, 3 / 5, 3 / 5]
    assert official.scored.scores()["rows"] == 5
    # Row 0 is right after one turn, row 4 after one, row 2 after three; 1 and 3 never.
    assert official.first_right == ((1 + 1 + 3) / 3, 3, 2)
    for result in (standard, official):
        summary = json.loads(files(tmp_path)["summary.json" if result is standard else "summary.official.json"])
        assert [each["row"] for each in summary["missing"]] == summary["rows_broken_off"] == [1, 3, 4]
        assert summary["rows"] == len(result.lines)


def test_scoring_the_log_gives_the_same(tmp_path: Path) -> None:
    once = run_both(tmp_path / "run", *BROKEN)
    before = files(tmp_path / "run")
    again, said = rescore(once[0].log, "both")
    assert files(tmp_path / "run") == before
    assert "left out" not in said
    for result, other in zip(once, again, strict=True):
        assert (other.scored.scores(), other.intervals, other.unanswered) == (
            result.scored.scores(), result.intervals, result.unanswered,
        )  # fmt: skip
    # The log knows it alone: also where the run's own files are gone.
    for name in RESULTS:
        (tmp_path / "run" / name).unlink()
    rescore(once[0].log, "both")
    assert files(tmp_path / "run") == before


def test_a_repeated_run_asks_for_the_rest_and_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    run_both(tmp_path / "run", *BROKEN)
    run_both(tmp_path / "run", *BROKEN)  # it fails again in the same places
    for result in run_both(tmp_path / "run"):
        assert (result.unanswered, result.broken_off) == ((), [])
    run_both(tmp_path / "undisturbed")
    assert files(tmp_path / "run") == files(tmp_path / "undisturbed")
    rescore(tmp_path / "run" / "transcripts.jsonl", "both")
    assert files(tmp_path / "run") == files(tmp_path / "undisturbed")


def test_a_killed_dialogue_did_not_fail(tmp_path: Path) -> None:
    log = run_both(tmp_path, *BROKEN)[0].log
    raw = log.read_bytes().splitlines(keepends=True)
    rows = [json.loads(line).get("row") for line in raw]
    # Of the second pair of dialogues row 3 failed at once; the run was killed after the first referral of row 2.
    log.write_bytes(b"".join(raw[: rows.index(2) + 3]))
    (standard, official), said = rescore(log, "both", output=tmp_path / "summaries.json")
    assert "1 dialogues that have not ended are left out (rows 2)" in said
    summaries = json.loads((tmp_path / "summaries.json").read_text())
    assert [each["rows_unfinished"] for each in summaries.values()] == [[2], [2]]
    for result in (standard, official):
        assert "1 dialogues have not ended in the log (in no score): rows 2" in format_results([result])
    assert [line["row"] for line in standard.lines] == [0]
    assert [line["row"] for line in official.lines] == [0, 1, 3]


def test_no_whole_dialogue_is_no_score(tmp_path: Path) -> None:
    # Each has its turn 0: were that the last, all would be scored.
    message = r"transcripts\.jsonl: no dialogue to score: each of 5 broke off\. Run the same"
    with pytest.raises(InputError, match=message):
        run_both(tmp_path, DOCTOR, lambda messages: Missing(WHY) if len(messages) > 2 else patient(messages))
    for protocol in ("standard", "official"):
        with pytest.raises(InputError, match=message):
            rescore(tmp_path / "transcripts.jsonl", protocol)


def test_where_it_broke_off_is_shown(tmp_path: Path) -> None:
    log = run_both(tmp_path, *BROKEN)[0].log
    assert explain(log, 1).endswith(f"patient: 起皮疹\n(broke off: row 1, turn 1: doctor: {WHY})")
    assert explain(log, 3).endswith(f"\n(broke off: row 3, turn 0: patient: {WHY})")


# What a log may not hold


@pytest.fixture(scope="module")
def log_lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Header and lines of a log that has answers of every kind, also an endpoint's."""
    log = run_both(tmp_path_factory.mktemp("lines"), *BROKEN)[0].log
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    lines[1]["served"] = {
        "prompt_tokens": 1, "answer_tokens": 1, "estimated": False, "model": "m", "fingerprint": "", "cost": None,
    }  # fmt: skip
    return lines


def damaged(folder: Path, lines: list[dict[str, Any]], number: int, change: dict[str, Any]) -> Path:
    """A log of which one line is changed; a field that becomes `...` is left out."""
    changed = {name: value for name, value in (lines[number] | change).items() if value is not ...}
    log = folder / "transcripts.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in [*lines[:number], changed, *lines[number + 1 :]]))
    return log


def test_every_field_of_a_line_is_checked(tmp_path: Path, log_lines: list[dict[str, Any]]) -> None:
    rescore(damaged(tmp_path, log_lines, 1, {}))
    answer = 1
    missing = next(number for number, line in enumerate(log_lines) if "missing" in line)
    kept_by_the_log = {"batch", "key"}  # `PredictionLog` checks these two itself
    for number in (answer, missing):
        for name in log_lines[number].keys() - kept_by_the_log:
            # In Python true is a number, but no row or number of tokens.
            for wrong in (True, [["x"]] if name != "candidates" else "x"):
                log = damaged(tmp_path, log_lines, number, {name: wrong})
                with pytest.raises(
                    InputError, match=rf"line {number + 1}: {name} is (bool|list|str): no line of this"
                ):
                    rescore(log)
            if name not in ("served", "missing"):
                with pytest.raises(InputError, match=rf"line {number + 1}: {name} is missing: no line of this"):
                    rescore(damaged(tmp_path, log_lines, number, {name: ...}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row": -1}, "row is -1"),
        ({"kept": 1.5}, "kept is 1.5"),
        ({"kept": float("nan")}, "kept is nan"),
        ({"seconds": -1.0}, "numbers of 0 or more in input_tokens, output_tokens and seconds"),
        ({"input_tokens": -1}, "numbers of 0 or more"),
        ({"candidates": []}, "expected texts in candidates"),
        ({"candidates": ["骨科", 3]}, "expected texts in candidates"),
        ({"gold": "五官科"}, "the one in gold among them"),
        ({"said": None}, "expected in said what was said"),
        ({"step": "refer"}, "expected in said what was said"),
        ({"step": "greet"}, "step 'greet' of turn 0"),
        ({"served": {"prompt_tokens": 1}}, "served: answer_tokens is missing"),
    ],
)
def test_values_that_cannot_be_are_named(
    tmp_path: Path, log_lines: list[dict[str, Any]], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"line 2.*{message}"):
        rescore(damaged(tmp_path, log_lines, 1, change))
