"""Transcript logs in which a line stands twice or is gone, and those of a run that has not come far."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from written_dialogues import HOSPITAL, make_dialogue, write_transcripts

from clinical_evals.errors import InputError
from clinical_evals.tasks.dialogue.dialogue_log import Place, missing_line, open_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.explain_dialogue import MOST_SHOWN
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.tables import format_results

TURNS = 2
STEPS = 3 * TURNS - 1
WHOLE = [make_dialogue(row, "骨科", ["腿疼", "三天"], ["建议挂骨科。", "骨科"], ["多久了？"]) for row in range(3)]


def write(path: Path, played: Sequence[Played], batch: int = 1) -> Path:
    """A log, with so many answers in a batch."""
    if batch == 1:
        return write_transcripts(path, played, TURNS)
    log = open_transcripts(path, {"task": "ior_bench:dynamic_h2", "turns": TURNS}, {})
    lines = [line for each in played for line in each.lines]
    for start in range(0, len(lines), batch):
        log.append(lines[start : start + batch])
    log.close()
    return path


def without(log: Path, row: int, turn: int, step: str) -> Path:
    """The log without one answer."""
    kept = []
    for raw in log.read_bytes().splitlines(keepends=True):
        line = json.loads(raw)
        if (line.get("row"), line.get("turn"), line.get("step")) != (row, turn, step):
            kept.append(raw)
    log.write_bytes(b"".join(kept))
    return log


# In batches of five a last line that stands twice makes its whole batch look torn: that of the last dialogue.
@pytest.mark.parametrize("batch", [1, STEPS])
def test_an_answer_that_stands_twice_is_refused(tmp_path: Path, batch: int) -> None:
    log = write(tmp_path / "transcripts.jsonl", WHOLE, batch)
    raw = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*raw, raw[-1]]))
    message = r"transcripts\.jsonl, line 17: the answer of line 16 \(row 2, turn 1, refer\) once more"
    for attempt in (lambda: rescore(log, "both"), lambda: explain(log, 0)):
        with pytest.raises(InputError, match=message):
            attempt()
    log.write_bytes(b"".join([*raw[:4], raw[3], *raw[4:]]))
    with pytest.raises(InputError, match=r"line 5: the answer of line 4 \(row 0, turn 0, question\) once more"):
        rescore(log)


@pytest.mark.parametrize(("turn", "step"), [(0, "refer"), (0, "question"), (1, "patient"), (1, "refer")])
def test_a_dialogue_of_which_an_answer_is_gone_is_named(tmp_path: Path, turn: int, step: str) -> None:
    log = without(write(tmp_path / "transcripts.jsonl", WHOLE), 1, turn, step)
    results, said = rescore(log, "both")
    assert "1 dialogues that have not ended are left out (rows 1)" in said
    for name in ("summary.json", "summary.official.json"):
        summary = json.loads((tmp_path / name).read_text())
        assert (summary["rows"], summary["rows_unfinished"], summary["rows_broken_off"]) == (2, [1], [])
    assert "1 dialogues have not ended in the log (in no score): rows 1" in format_results(results)


def test_a_failed_call_whose_later_answer_is_gone_is_no_answer(tmp_path: Path) -> None:
    case = {"id": "emr-1", "department": "骨科", "candidates": list(HOSPITAL)}
    failed = missing_line("key-1-0-refer", Place(1, 0, "refer"), case, "d", "HTTP 500")
    lines = [failed if (line["turn"], line["step"]) == (0, "refer") else line for line in WHOLE[1].lines]
    log = write(tmp_path / "transcripts.jsonl", [WHOLE[0], WHOLE[1]._replace(lines=lines), WHOLE[2]])
    (result,), _ = rescore(log)
    assert [line["row"] for line in result.lines] == [0, 2]
    assert json.loads((tmp_path / "summary.json").read_text())["rows_unfinished"] == [1]


def test_a_whole_log_names_none(tmp_path: Path) -> None:
    results, said = rescore(write(tmp_path / "transcripts.jsonl", WHOLE))
    assert json.loads((tmp_path / "summary.json").read_text())["rows_unfinished"] == []
    assert "not ended" not in said + format_results(results)


def test_why_there_is_no_score_yet(tmp_path: Path) -> None:
    begun = [WHOLE[0]._replace(lines=WHOLE[0].lines[:2]), WHOLE[1]._replace(lines=WHOLE[1].lines[:1])]
    log = write(tmp_path / "transcripts.jsonl", begun)
    message = r"no dialogue to score: it has 3 answers of 2 dialogues that have not ended\. Run the same .* again"
    with pytest.raises(InputError, match=message):
        rescore(log)
    empty = write(tmp_path / "empty" / "transcripts.jsonl", [])
    with pytest.raises(InputError, match="no dialogue to score: it has no answers yet"):
        rescore(empty)
    with pytest.raises(InputError, match=r"has no answers yet\. Run the same"):
        explain(empty, 0)


def test_a_dialogue_is_explained_as_far_as_it_went(tmp_path: Path) -> None:
    begun = [WHOLE[0]._replace(lines=WHOLE[0].lines[:2]), *WHOLE[1:]]
    shown = explain(write(tmp_path / "transcripts.jsonl", begun), 0)
    *_, patient, referral, end = shown.splitlines()
    assert (patient, referral) == ("patient: 腿疼", "    [turn 0: 骨科, right; referrer: 建议挂骨科。]")
    assert end.startswith("(this dialogue has not ended, and is in no score. Run the same")
    whole = explain(tmp_path / "transcripts.jsonl", 1)
    assert "has not ended" not in whole
    with pytest.raises(InputError, match=r"has the dialogues 0, 1, 2\."):
        explain(tmp_path / "transcripts.jsonl", 3)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("骨科\x1b[31m\n 吧", "骨科\\x1b[31m 吧"),  # a terminal gets no commands, and one line
        ("", "(no text)"),
        ("始" + "疼" * 1000 + "终", f"始{'疼' * (MOST_SHOWN // 2 - 1)} … {'疼' * (MOST_SHOWN // 2 - 1)}终"),
    ],
)
def test_the_words_of_the_referrer_are_shown_in_one_short_line(tmp_path: Path, answer: str, shown: str) -> None:
    played = [make_dialogue(0, "骨科", ["腿疼", "三天"], ["骨科", answer], ["多久了？"])]
    last = explain(write(tmp_path / "transcripts.jsonl", played), 0).splitlines()[-1]
    assert last.endswith(f"; referrer: {shown}]")
