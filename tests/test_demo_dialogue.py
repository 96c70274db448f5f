"""The written doctor and patient of `make demo-dialogue`: what is played of them, and what is shown while it is."""

import json
from pathlib import Path
from typing import Any

import pytest

import clinical_evals
from clinical_evals.assets import dataset_folder
from clinical_evals.demo_dialogue import ANSWER_TOKENS, CASES, TASK, play_written, watch
from clinical_evals.errors import InputError
from clinical_evals.tasks.dialogue.dialogue_log import read_transcripts
from clinical_evals.tasks.dialogue.written_dialogues import WrittenDialogues
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.dialogue_results import DialogueResult

SAMPLE: list[dict[str, Any]] = json.loads(
    (dataset_folder("ior-bench") / "data/dynamic_h2/test.json").read_text(encoding="utf-8")
)["rows"]


@pytest.fixture(autouse=True)
def _the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


def play(folder: Path, **changes: Any) -> DialogueResult:
    (result,), turns = play_written(Options("", TASK, folder, CASES, answer_tokens=ANSWER_TOKENS)._replace(**changes))
    assert isinstance(result, DialogueResult)
    assert turns == 4
    return result


def test_the_written_dialogues_score_as_counted_by_hand(tmp_path: Path) -> None:
    """Referrals by turn: 肛肠科 case wrong, right, right, right; 内科 the same; 肾内科 wrong, wrong, right, right;
    妇科 right, right, wrong, right. So 1, 3, 3 and 4 of 4; the first right one after 2, 2, 3 and 1 turns: mean 2."""
    result = play(tmp_path)
    assert [turn.accuracy for turn in result.turns] == [0.25, 0.75, 0.75, 1.0]
    assert [turn.gain.value for turn in result.turns if turn.gain] == [0.5, 0.0, 0.25]
    assert (result.best_turn.turn, result.first_right.mean, result.first_right.never) == (3, 2.0, 0)
    patient = result.scored.patient()
    assert (patient.turns, patient.leaks, patient.asks, patient.doctor_speech) == (16, 0, 0, 0)
    assert result.scored.questions().none == 0


def test_what_the_written_patient_says_is_cut_nowhere(tmp_path: Path) -> None:
    """The log has the written words of all four, each in its own dialogue, in turn."""
    written = json.loads(
        (Path(clinical_evals.__file__).parent / "tasks/dialogue/written_dialogues.json").read_text(encoding="utf-8")
    )
    _, lines = read_transcripts(play(tmp_path).log)
    for dialogue in written["dialogues"]:
        of_case = [line for line in lines if line["case_id"] == dialogue["case_id"]]
        for step, key in (("patient", "said"), ("question", "said"), ("refer", "prediction")):
            said = [line[key] for line in sorted(of_case, key=lambda line: line["turn"]) if line["step"] == step]
            assert said == dialogue[step]


def test_the_first_dialogue_is_shown_as_it_unfolds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(tmp_path, watch=watch())
    shown = capsys.readouterr().out.splitlines()
    # the case, the greeting, four answers and four referrals, three questions
    assert len(shown) == 2 + 4 + 4 + 3
    assert shown[0] == "case emr-007, the right department is 肛肠科"
    assert shown[2:5] == [
        "  patient:  大便的时候滴血，断断续续有半年了。",
        "      [turn 0: refers to 消化内科, wrong]",
        "  doctor:   血是什么颜色的？是和大便混在一起，还是滴在外面？",
    ]
    assert shown[-1] == "      [turn 3: refers to 肛肠科, right]"


def test_a_second_demonstration_shows_the_same_from_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = play(tmp_path, watch=watch())
    log, shown = once.log.read_bytes(), capsys.readouterr().out
    again = play(tmp_path, watch=watch())
    assert (again.resumed, again.log.read_bytes(), capsys.readouterr().out) == (CASES, log, shown)


def test_a_case_without_written_words_is_named() -> None:
    others = [row for row in SAMPLE if row["id"] == "emr-003"]
    with pytest.raises(InputError, match=r"no dialogue is written for emr-003, only for emr-007, emr-014"):
        WrittenDialogues(others)
