"""Results of the dynamic task on transcripts written by hand: every number is worked out in a comment."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from written_dialogues import HOSPITAL, make_dialogue, write_transcripts

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.dialogue import LONGEST_TURN, own_words
from clinical_evals.scoring.department import accuracy_interval
from clinical_evals.scoring.turns import FirstRight, paired_gain
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import Played, read_played
from clinical_evals.tasks.names import Task
from clinical_evals.tasks.scored.dialogue_results import DialogueResult, score_dialogues
from clinical_evals.tasks.scored.dialogue_tables import format_both_dialogues, format_dialogues
from clinical_evals.tasks.scored.results import file_names, is_same_scoring, summarise, write_files
from clinical_evals.tasks.scored.tables import format_result

TASK = Task("ior_bench", "dynamic_h2", "clinical_evals.tasks.dialogue", "", dataset="ior-bench", subset="dynamic_h2")

# Right by the standard rule (x: no answer, ~: ambiguous)   official (the first of HOSPITAL that occurs)
# row 0  骨科   +  +  +                                      +  +  +
# row 1  外科   -  +  +                                      -  +  +
# row 2  儿科   x  +~ -                                      x  -  -     内科 stands before 儿科 in HOSPITAL
# row 3  内科   -  -  x                                      -  -  x
PLAYED = [
    make_dialogue(
        0,
        "骨科",
        ["我腿疼。三天了。", "我想挂骨科。", "没有。"],
        ["骨科", "骨科", "骨科"],
        ["摔过吗？", "肿吗？红吗？"],
    ),
    make_dialogue(
        1, "外科", ["肚子疼。", "右边。", "去过内科。"], ["内科", "外科", "外科"], ["哪边？", "还有吗？多久了？吐吗？"]
    ),
    make_dialogue(
        2, "儿科", ["孩子咳嗽。", "该挂什么科？", "……"], ["不知道", "儿科、内科", "内科"], ["多大了？", "好的。"]
    ),
    make_dialogue(
        3, "内科", ["头晕。", "建议您休息。", "没有了。"], ["外科", "骨科", "不好说"], ["多久了？", "血压高吗？"]
    ),
]
PLAYED[0].lines[0]["finish"] = "length"
PATIENT_TURNS = 4 * 3


def score(tmp_path: Path, played: list[Played] = PLAYED, protocol: str = "standard") -> DialogueResult:
    return score_dialogues(TASK, tmp_path / "transcripts.jsonl", 0, played, protocol)


def changed(played: list[Played], change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Played]:
    return [each._replace(lines=[line | change(line) for line in each.lines]) for each in played]


def broken_off(each: Played, lines: int) -> Played:
    return each._replace(lines=each.lines[:lines])


def test_turns_by_hand(tmp_path: Path) -> None:
    result = score(tmp_path)
    assert [turn.accuracy for turn in result.turns] == [1 / 4, 3 / 4, 2 / 4]
    assert [turn.no_answer_rate for turn in result.turns] == [1 / 4, 0, 1 / 4]
    assert [turn.ambiguous_rate for turn in result.turns] == [0, 1 / 4, 0]
    assert [turn.gain.value for turn in result.turns if turn.gain] == [2 / 4, -1 / 4]
    assert result.best_turn.turn == 1
    # Rows 0, 1 and 2 are right after 1, 2 and 2 turns; row 2 is no longer at the end.
    assert result.first_right == FirstRight(mean=(1 + 2 + 2) / 3, ever=3, never=1)
    before, after = result.scored.by_turn()[1:]
    assert result.turns[2].gain == paired_gain(before, after)


def test_the_scores_of_the_run_are_those_of_the_last_turn(tmp_path: Path) -> None:
    result = score(tmp_path)
    # F1 at turn 2: 骨科 2 / (1 + 1), 外科 2 / (1 + 1), 儿科 0 / (1 + 0), 内科 0 / (1 + 1).
    assert result.scored.scores() == {
        "accuracy": 2 / 4,
        "no_answer_rate": 1 / 4,
        "ambiguous_rate": 0,
        "macro_f1": (1 + 1 + 0 + 0) / 4,
        "rows": 4,
    }
    assert result.intervals == {"accuracy": accuracy_interval(result.scored.outcomes)}
    details = result.details()
    assert details["confusion"] == [["儿科", "内科", 1], ["内科", None, 1]]
    assert details["by_department"]["内科"] == {
        "right": 0, "rows": 1, "no_answer": 1, "predicted": 1, "accuracy": 0, "f1": 0,
    }  # fmt: skip


def test_what_was_said_by_hand(tmp_path: Path) -> None:
    details = score(tmp_path).details()
    # 12 turns: one silent (……), one of two sentences, ten of one.
    lengths = [3, 3, 5, 2, 3, 2, 4, 4, 5, 2, 5, 3]
    assert details["patient"] == {
        "turns": PATIENT_TURNS,
        "silent": 1,
        "sentences": len(lengths),
        "sentence_length": pytest.approx(sum(lengths) / len(lengths)),
        "leaks": 2,  # 我想挂骨科 (row 0), 去过内科 (row 1)
        "gold_leaks": 1,  # the former
        "breaks": 2,
        "asks": 1,  # 该挂什么科？
        "doctor_speech": 1,  # 建议您休息
        "leak_rate": 2 / PATIENT_TURNS,
        "break_rate": 2 / PATIENT_TURNS,
    }
    # By turn and row: 1 + 2, 1 + 3, 1 + 0, 1 + 1.
    assert details["questions"] == {"turns": 8, "questions": 10, "too_many": 1, "none": 1}
    assert details["tokens"] == {
        "patient": {"answers": 12, "input_tokens": 12 * 100, "output_tokens": 12 * 10, "cut_off": 1},
        "questioner": {"answers": 8, "input_tokens": 8 * 200, "output_tokens": 8 * 20, "cut_off": 0},
        "referrer": {"answers": 12, "input_tokens": 12 * 200, "output_tokens": 12 * 5, "cut_off": 0},
    }


def test_the_official_rule_takes_the_first_candidate_that_occurs(tmp_path: Path) -> None:
    result = score(tmp_path, protocol="official")
    assert [turn.accuracy for turn in result.turns] == [1 / 4, 2 / 4, 2 / 4]
    assert [turn.ambiguous_rate for turn in result.turns] == [None] * 3  # nothing that it knows
    assert "ambiguous_rate" not in result.scored.scores()
    assert result.best_turn.turn == 1
    assert result.details()["patient"] == score(tmp_path).details()["patient"]


# Dialogues that broke off


def test_a_failed_call_is_left_out_and_is_wrong_under_official(tmp_path: Path) -> None:
    # Row 0 loses its last referral and what stands before it in that turn; row 1 never began.
    played = [broken_off(PLAYED[0], 6), broken_off(PLAYED[1], 0), *PLAYED[2:]]
    standard = score(tmp_path, played)
    assert [each.played.row for each in standard.scored.dialogues] == [2, 3]
    assert [turn.accuracy for turn in standard.turns] == [0, 1 / 2, 0]
    assert standard.details()["rows_broken_off"] == standard.broken_off == [0, 1]
    official = score(tmp_path, played, "official")
    # Row 0 is right at turns 0 and 1; what is missing counts as wrong and as no answer.
    assert [turn.accuracy for turn in official.turns] == [1 / 4, 1 / 4, 0]
    assert [turn.no_answer_rate for turn in official.turns] == [2 / 4, 1 / 4, 3 / 4]
    assert official.broken_off == [0, 1]
    assert official.details()["patient"]["turns"] == 2 + 0 + 3 + 3
    lines = official.scored_lines()
    assert (lines[0]["turns"][2]["patient"], lines[0]["turns"][2]["referral"]) == (None, None)
    assert lines[1]["predicted"] is None
    assert "2 dialogues broke off (left out): rows 0, 1" in format_dialogues(standard)
    assert "2 dialogues broke off (what they lack is wrong): rows 0, 1" in format_dialogues(official)
    for result in (standard, official):
        json.dumps(summarise(result))


def test_a_referral_that_failed_amid_a_dialogue_is_missing_too(tmp_path: Path) -> None:
    lines = [line for line in PLAYED[0].lines if (line["turn"], line["step"]) != (1, "refer")]
    played = [PLAYED[0]._replace(lines=lines), *PLAYED[1:]]
    assert score(tmp_path, played).broken_off == [0]
    assert [turn.accuracy for turn in score(tmp_path, played, "official").turns] == [1 / 4, 1 / 4, 2 / 4]


@pytest.mark.parametrize("played", [[], [broken_off(each, 0) for each in PLAYED]])
def test_no_dialogue_has_no_score(tmp_path: Path, played: list[Played]) -> None:
    for protocol in ("standard", "official"):
        with pytest.raises(InputError, match=r"transcripts\.jsonl: no dialogue to score"):
            score(tmp_path, played, protocol)


def test_unknown_protocols_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="offical"):
        score(tmp_path, protocol="offical")


def test_one_dialogue_of_one_turn(tmp_path: Path) -> None:
    result = score(tmp_path, [make_dialogue(7, "骨科", ["腿疼"], ["骨科"], [])])
    assert [(turn.accuracy, turn.low, turn.high, turn.gain) for turn in result.turns] == [(1, 0, 1, None)]
    assert result.details()["questions"] == {"turns": 0, "questions": 0, "too_many": 0, "none": 0}
    assert not any("questions" in part for part in format_dialogues(result))


# Files


def test_one_object_a_dialogue(tmp_path: Path) -> None:
    result = score(tmp_path)
    row = result.scored_lines()[2]
    turns = row.pop("turns")
    assert row == {
        "row": 2,
        "case_id": "emr-2",
        "gold": "儿科",
        "predicted": "内科",
        "right": False,
        "ambiguous": False,
        "first_right": 2,
    }
    assert turns[1] == {
        "turn": 1,
        "patient": "该挂什么科？",
        "departments_named": [],
        "asks": True,
        "speaks_as_doctor": False,
        "referral": "儿科、内科",
        "named": ["儿科", "内科"],
        "predicted": "儿科",
        "right": True,
        "ambiguous": True,
        "question": "好的。",
        "questions": 0,
    }
    assert (turns[2]["question"], turns[2]["questions"]) == (None, None)  # nobody asks after the last answer


def files(folder: Path, played: list[Played], protocol: str) -> list[bytes]:
    folder.mkdir()
    write_files(score(folder, played, protocol))
    return [(folder / name).read_bytes() for name in file_names(protocol)]


@pytest.mark.parametrize("protocol", ["standard", "official"])
def test_files_do_not_depend_on_time_place_or_order(tmp_path: Path, protocol: str) -> None:
    slower = changed(PLAYED, lambda line: {"seconds": line["seconds"] * 7 + 1})
    shuffled = random.Random(3).sample(slower, len(slower))
    once = files(tmp_path / "a", PLAYED, protocol)
    assert files(tmp_path / "elsewhere", shuffled, protocol) == once
    summary = json.loads(once[1])
    text = b"".join(once).decode()
    assert "seconds" not in text
    assert str(tmp_path) not in text
    assert (summary["task"], summary["protocol"], summary["rows"]) == ("ior_bench:dynamic_h2", protocol, 4)
    assert (summary["candidates"], summary["turns_played"], summary["best_turn"]) == (len(HOSPITAL), 3, 1)
    assert summary["turns"][0]["gain"] is None
    assert set(summary["turns"][1]["gain"]) == {"value", "low", "high"}
    assert summary["input_tokens"] == 12 * 100 + 8 * 200 + 12 * 200
    assert summary["output_tokens"] == 12 * 10 + 8 * 20 + 12 * 5
    assert summary["answers_cut_off"] == 1
    assert [json.loads(line)["row"] for line in once[0].decode().splitlines()[1:]] == [0, 1, 2, 3]


def test_the_same_from_a_log(tmp_path: Path) -> None:
    log = write_transcripts(tmp_path / "transcripts.jsonl", PLAYED, turns=3)
    _, played, unfinished = read_played(log)
    assert unfinished == []
    result = score_dialogues(TASK, log, 0, played)
    assert result.scored_lines() == score(tmp_path).scored_lines()
    assert summarise(result) == summarise(score(tmp_path))
    assert is_same_scoring(result, json.loads(json.dumps(summarise(result))))
    assert not is_same_scoring(result, summarise(score(tmp_path, protocol="official")))


def test_dropped_turns_and_what_an_endpoint_counted_reach_the_summary(tmp_path: Path) -> None:
    served = {"prompt_tokens": 90, "answer_tokens": 9, "estimated": False, "cost": 0.5, "model": "m"}
    one = [PLAYED[0]._replace(lines=[*PLAYED[0].lines[:-1], PLAYED[0].lines[-1] | {"kept": 0.6, "served": served}])]
    summary = summarise(score(tmp_path, [*one, *PLAYED[1:]]))
    assert (summary["prompts_cut"], summary["kept_prompt"]["min"]) == (1, 0.6)
    assert (summary["served"]["prompt_tokens"], summary["served"]["cost"]) == (90, 0.5)
    assert "served" not in summarise(score(tmp_path))


def served_by(who: str, played: list[Played], **changes: Any) -> list[Played]:
    """The answers of one side come from an endpoint, whose counts the log has as those of the answers."""

    def change(line: dict[str, Any]) -> dict[str, Any]:
        counts = {"prompt_tokens": line["input_tokens"], "answer_tokens": line["output_tokens"]}
        about = {"estimated": False, "cost": None, "model": "m", "fingerprint": ""}
        return {"served": counts | about | changes} if line["who"] == who else {}

    return changed(played, change)


@pytest.mark.parametrize(
    ("whose", "label", "read_there"),
    [
        # Of the patient 12 x 100 tokens are read, of the doctor (8 + 12) x 200.
        (("patient",), "of the patient as the endpoint reports, of the doctor counted here", 1200),
        (("doctor",), "of the doctor as the endpoint reports, of the patient counted here", 4000),
        (("patient", "doctor"), "as the endpoint reports", 5200),
    ],
)
def test_tokens_are_of_all_answers_whoever_counts_them(
    tmp_path: Path, whose: tuple[str, ...], label: str, read_there: int
) -> None:
    played = PLAYED
    for who in whose:
        played = served_by(who, played)
    result = score(tmp_path, played)
    # Read 1,200 + 4,000, written 12 x 10 + 8 x 20 + 12 x 5.
    assert f"tokens: 5,200 read, 340 written ({label})" in format_result(result)
    summary = summarise(result)
    assert (summary["input_tokens"], summary["output_tokens"]) == (5200, 340)
    assert summary["served"]["prompt_tokens"] == read_there
    assert summary["served"]["answers_of"] == {who: {"patient": 12, "doctor": 20}[who] for who in whose}
    sums = [use["input_tokens"] for use in summary["tokens"].values()]
    assert sum(sums) == summary["input_tokens"]


def test_estimates_of_one_side_are_said_to_be_of_it(tmp_path: Path) -> None:
    text = format_result(score(tmp_path, served_by("patient", PLAYED, estimated=True)))
    said = "(of the patient as the endpoint reports, estimated for 12 answers, of the doctor counted here)"
    assert said in text


def test_another_model_than_the_one_asked_for_is_named(tmp_path: Path) -> None:
    played = served_by("patient", served_by("doctor", PLAYED), model="other")
    log = tmp_path / "transcripts.jsonl"
    run = {"task": TASK.name, "turns": 3, "doctor": {"model": {"name": "m"}}, "patient": {"model": {"name": "m"}}}
    open_transcripts(log, run, {}).close()
    text = format_result(score(tmp_path, played))
    assert "the endpoint of the patient names the model other (asked for: m)" in text
    assert "of the doctor names" not in text


def test_turns_that_were_cut_are_counted(tmp_path: Path) -> None:
    long = "疼" * (LONGEST_TURN + 1)
    said = {"patient": long, "question": "多久了？" * LONGEST_TURN, "refer": long}  # a referral is never cut
    one = changed(PLAYED[:1], lambda line: {"text": said[line["step"]], "said": own_words(said[line["step"]])})
    result = score(tmp_path, [*one, *PLAYED[1:]])
    assert summarise(result)["turns_cut"] == {"doctor": 2, "patient": 3}  # all of row 0
    assert f"longer than {LONGEST_TURN} characters, and cut to them: 3 turns of the patient, 2 of the doctor" in (
        format_result(result)
    )
    assert result.scored.patient().sentence_length > 100  # 3 x 600 characters are in it
    exact = changed(PLAYED, lambda line: {"text": "疼" * LONGEST_TURN})
    assert summarise(score(tmp_path, exact))["turns_cut"] == {"doctor": 0, "patient": 0}
    assert "longer than" not in format_result(score(tmp_path))


# What is printed


def test_the_table_has_the_turns_as_rows(tmp_path: Path) -> None:
    result = score(tmp_path)
    head, table, *remarks = format_dialogues(result)
    assert head == "standard protocol (in %, 95 % intervals by case)"
    heads, rule, *rows = table.splitlines()
    assert heads.split() == ["turn", "accuracy", "gain", "no", "answer", "ambiguous"]
    assert set(rule) == {"-"}
    assert [row.split("[")[0].split() for row in rows] == [["0", "25.00"], ["1", "75.00"], ["2", "50.00"]]
    assert rows[0].split("]")[1].split() == ["-", "25.00", "0.00"]
    assert (rows[1].split("]")[1].split()[0], rows[2].split("]")[1].split()[0]) == ("+50.00", "-25.00")
    assert [row.split("]")[-1].split() for row in rows[1:]] == [["0.00", "25.00"], ["25.00", "0.00"]]
    text = "\n".join(remarks)
    assert "5 departments to choose from; macro F1 at the last turn 50.00" in text
    assert (
        "best turn: 1 (75.00); first correct referral after 1.67 turns (turn 0 is the first), never in 1 dialogues"
        in text
    )
    assert "doctor: 10 questions in 8 turns (1.25 a turn); 1 turns with more than 2, 1 with none" in text
    assert (
        "patient: 3.4 characters a sentence; 12 turns, 1 of them silent\n"
        "  leaks: 16.67 (names a department in 2, the right one in 1)\n"
        "  breaks: 16.67 (asks in 1, speaks as a doctor in 1)" in text
    )
    assert "most frequent errors at the last turn: 儿科 → 内科 (1), 内科 → no answer (1)" in text
    # 12 x 0.5, 8 x 0.25 and 12 x 0.125 seconds.
    use = {line.split()[0]: line.split()[1:] for line in remarks[-1].splitlines()[2:]}
    assert use == {
        "patient": ["12", "1,200", "120", "1", "6.0"],
        "questioner": ["8", "1,600", "160", "0", "2.0"],
        "referrer": ["12", "2,400", "60", "0", "1.5"],
    }


def test_both_protocols_in_one_table(tmp_path: Path) -> None:
    head, table, *_ = format_both_dialogues(score(tmp_path), score(tmp_path, protocol="official"))
    assert head.startswith("both protocols")
    assert "official accuracy" in table.splitlines()[0]
    row = table.splitlines()[3].replace("[", " [")
    assert row.split("[")[0].split() == ["1", "75.00"]
    # … ambiguous 25.00, then the official accuracy 50.00 and its share without an answer.
    assert row.split("]")[2].split("[")[0].split() == ["0.00", "25.00", "50.00"]
    assert row.split("]")[3].split() == ["0.00"]


def test_dialogues_that_are_never_right_say_so(tmp_path: Path) -> None:
    text = "\n".join(format_dialogues(score(tmp_path, PLAYED[3:])))
    assert "best turn: 0 (0.00); first correct referral never, in none of 1 dialogues" in text
