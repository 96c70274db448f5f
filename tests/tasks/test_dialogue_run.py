"""Dialogues between a scripted doctor and a scripted patient: who sees what, and what is logged and asked again."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_generators import NOTHING_MORE, ScriptedGenerator, both, doctor_who_knows, make_case, patient, question

from clinical_evals.errors import InputError, RunError
from clinical_evals.ior_bench.dialogue import LONGEST_TURN
from clinical_evals.ior_bench.dialogue_prompts import (
    ARRIVAL,
    GREETING,
    QUESTION_TASK,
    REFER_TASK,
    SILENCE,
    doctor_system,
    patient_system,
)
from clinical_evals.tasks.dialogue import dialogue_group, dialogue_run
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts, read_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import read_played
from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun, PlayedRun, Side, play
from clinical_evals.tasks.models.generation import Missing

CANDIDATES = ("骨科", "眼科", "皮肤科", "内科")
FACTS = {"眼睛红": "眼科", "起皮疹": "皮肤科", "扭了脚": "骨科"}
CASES = [
    make_case(0, "眼科", CANDIDATES, ["眼睛红", "有点累"]),
    make_case(1, "皮肤科", CANDIDATES, ["有点累", "起皮疹", "怕冷"]),
    make_case(2, "骨科", CANDIDATES, ["有点累", "怕冷", "扭了脚"]),
    make_case(3, "骨科", CANDIDATES, ["有点累", "怕冷", "口干"]),
    make_case(4, "内科", CANDIDATES, ["口干", "起皮疹"]),
]
DOCTOR = doctor_who_knows(FACTS, last="内科")
SIDE = Side({"weights": {"sha256": "a"}, "dtype": "float32"}, 100_000)


def make_run(folder: Path, **changes: Any) -> DialogueRun:
    given = {"doctor": SIDE, "patient": SIDE, "turns": 3, **changes}
    return DialogueRun(folder / "transcripts.jsonl", "ior_bench:dynamic_h1", **given)


def play_all(run: DialogueRun, doctor: Any, of_patient: Any, cases: list[dict[str, Any]] = CASES) -> PlayedRun:
    log = open_transcripts(run.path, run.identity, {"source": "clinical-evals:synthetic"})
    try:
        return play(cases, doctor, of_patient, run, log)
    finally:
        log.close()


def new_pair(rows_at_once: int = 2) -> tuple[ScriptedGenerator, ScriptedGenerator]:
    return ScriptedGenerator(DOCTOR, rows_at_once), ScriptedGenerator(patient, rows_at_once)


def without_seconds(path: Path) -> bytes:
    return re.sub(rb'"seconds":[0-9.e-]+', b'"seconds":0', path.read_bytes())


def test_what_each_role_is_shown_at_every_turn(tmp_path: Path) -> None:
    doctor, of_patient = new_pair()
    play_all(make_run(tmp_path), doctor, of_patient, CASES[1:2])

    def says(role: str, text: str) -> dict[str, str]:
        return {"role": role, "content": text}

    facts = ["有点累", "起皮疹", "怕冷"]
    system = says("system", patient_system(CASES[1]))
    # The patient: its own words are the assistant's, the doctor's the user's; no referral and no task anywhere.
    first = [system, says("user", GREETING)]
    second = [*first, says("assistant", facts[0]), says("user", question(0))]
    third = [*second, says("assistant", facts[1]), says("user", question(1))]
    assert [messages for _, messages in of_patient.asked] == [first, second, third]

    system = says("system", doctor_system(CANDIDATES))
    start = [system, says("user", ARRIVAL), says("assistant", GREETING)]
    turns = [*start, says("user", facts[0]), says("assistant", question(0)), says("user", facts[1]),
             says("assistant", question(1)), says("user", facts[2])]  # fmt: skip
    expected = []
    for turn, end in enumerate((4, 6, 8)):  # up to the patient's first, second and third answer
        for task in (REFER_TASK, QUESTION_TASK)[: 1 if turn == 2 else 2]:
            expected.append([*turns[: end - 1], says("user", f"{facts[turn]}\n\n{task}")])
    assert [messages for _, messages in doctor.asked] == expected


def test_six_turns_are_six_answers_six_referrals_and_five_questions(tmp_path: Path) -> None:
    doctor, of_patient = new_pair()
    (only,) = play_all(make_run(tmp_path, turns=6), doctor, of_patient, CASES[:1]).played
    order = [(line["turn"], line["step"]) for line in only.lines]
    assert (
        order
        == [place for turn in range(6) for place in ((turn, "patient"), (turn, "refer"), (turn, "question"))][:-1]
    )
    assert (len(of_patient.asked), len(doctor.asked)) == (6, 11)
    said = [line["said"] for line in only.lines if line["step"] == "patient"]
    assert said == ["眼睛红", "有点累", *[NOTHING_MORE] * 4]
    assert not any("建议挂" in message["content"] for _, messages in of_patient.asked for message in messages)


def test_predictions_turn_by_turn(tmp_path: Path) -> None:
    played = play_all(make_run(tmp_path), *new_pair()).played
    predictions = [[line["prediction"] for line in one.lines if line["step"] == "refer"] for one in played]
    assert predictions == [
        ["眼科", "眼科", "眼科"],  # told at once: right from turn 0
        ["内科", "皮肤科", "皮肤科"],  # told second: right from turn 1
        ["内科", "内科", "骨科"],
        ["内科", "内科", "内科"],  # never told: never right
        ["内科", "皮肤科", "皮肤科"],  # right by chance, then misled
    ]
    right = [sum(each[turn] == one.case["department"] for each, one in zip(predictions, played, strict=True))
             for turn in range(3)]  # fmt: skip
    assert right == [2, 2, 3]  # cases 0 and 4; 0 and 1; 0, 1 and 2


def test_lines_say_everything_and_raters_have_said_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (only,) = play_all(run, *new_pair(), CASES[:1]).played
    header, lines = read_transcripts(run.path)
    assert (header["kind"], header["format"]) == ("clinical-evals transcripts", 1)
    assert (header["run"], header["source"]) == (run.identity, "clinical-evals:synthetic")
    assert [line["batch"] for line in lines] == [[0, 1]] * 8
    assert [line | {"batch": None} for line in only.lines] == [line | {"batch": None} for line in lines]
    messages = [("system", patient_system(CASES[0])), ("user", GREETING)]
    prompt = json.dumps([{"role": role, "content": text} for role, text in messages], ensure_ascii=False)
    assert lines[0] | {"key": "", "data_sha256": "", "prompt_sha256": "", "seconds": 0} == {
        "key": "", "row": 0, "case_id": "case-0", "data_sha256": "", "turn": 0, "step": "patient", "who": "patient",
        "text": "眼睛红", "said": "眼睛红", "prediction": None, "finish": "stop", "input_tokens": len(prompt),
        "output_tokens": 3, "kept": 1.0, "prompt_sha256": "", "seconds": 0, "gold": "眼科",
        "candidates": list(CANDIDATES), "rater": {"confidence": None, "coherence": None}, "batch": [0, 1],
    }  # fmt: skip
    refer = lines[1]
    assert (refer["who"], refer["text"], refer["said"], refer["prediction"]) == (
        "doctor",
        "建议挂眼科。",
        None,
        "眼科",
    )


def test_the_bar_counts_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play_all(make_run(tmp_path), *new_pair(), CASES[:2])
    shown = capsys.readouterr().err
    assert "0/16 [00:00<?, ?answer/s" in shown  # of two dialogues: 2 x (3 x 3 - 1)
    assert "row" not in shown


def test_one_model_in_both_roles_gives_the_same_dialogues(tmp_path: Path) -> None:
    two = play_all(make_run(tmp_path / "two"), *new_pair())
    one_model = ScriptedGenerator(both(DOCTOR), 2)
    one = play_all(make_run(tmp_path / "one"), one_model, one_model)
    assert [[line | {"seconds": 0} for line in each.lines] for each in one.played] == [
        [line | {"seconds": 0} for line in each.lines] for each in two.played
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.permutations(range(7)),
    doctor_batch=st.integers(1, 8),
    patient_batch=st.integers(1, 8),
    one_model=st.booleans(),
)
def test_a_dialogue_never_mixes_with_its_neighbours(
    order: list[int], doctor_batch: int, patient_batch: int, one_model: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cases = [make_case(number, "内科", CANDIDATES, [f"token{number}"]) for number in order]

    def with_token(messages: list[dict[str, str]]) -> str:
        # Every token that is anywhere in the prompt: a neighbour's would show itself.
        return " ".join(sorted(set(re.findall(r"token\d", json.dumps(messages))))) + f" {len(messages)}"

    doctor = ScriptedGenerator(with_token, doctor_batch)
    of_patient = doctor if one_model else ScriptedGenerator(with_token, patient_batch)
    done = play_all(make_run(tmp_path_factory.mktemp("mix")), doctor, of_patient, cases)
    assert [one.row for one in done.played] == list(range(7))
    # The patient sees 2, 4, 6 messages, the doctor 4, 6, 8.
    lengths = [2, 4, 4, 4, 6, 6, 6, 8]
    for one, number in zip(done.played, order, strict=True):
        assert one.case["id"] == f"case-{number}"
        assert [line["text"] for line in one.lines] == [f"token{number} {length}" for length in lengths]
        assert {line["case_id"] for line in one.lines} == {f"case-{number}"}


def test_a_log_that_ends_anywhere_is_gone_on_with_to_the_same_bytes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "whole")
    whole_played = play_all(run, *new_pair()).played
    whole, expected = run.path.read_bytes(), without_seconds(run.path)
    batches = [json.loads(line)["batch"] for line in whole.splitlines()[1:]]
    assert len(batches) == 5 * 8
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    cuts = sorted({size for end in ends for size in (end - 1, end)})
    run = make_run(tmp_path / "cut")
    run.path.parent.mkdir()
    for size in cuts:
        run.path.write_bytes(whole[:size])
        lines = sum(end <= size for end in ends[1:])
        while lines and batches[lines - 1][0] + 1 < batches[lines - 1][1]:
            lines -= 1  # the last batch is not whole: it is cut off
        doctor, of_patient = new_pair()
        played = play_all(run, doctor, of_patient).played
        assert without_seconds(run.path) == expected
        assert len(doctor.asked) + len(of_patient.asked) == 40 - lines  # nothing twice
        assert [one.lines[-1]["text"] for one in played] == [one.lines[-1]["text"] for one in whole_played]


def test_batches_are_those_of_the_whole_run_after_a_resume(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    doctor, of_patient = new_pair()
    play_all(run, doctor, of_patient)
    whole = [[row for row, _ in batch] for batch in doctor.batches]
    assert whole == [[0, 1]] * 5 + [[2, 3]] * 5 + [[4]] * 5  # per pair of dialogues three referrals, two questions
    raw = run.path.read_bytes().splitlines(keepends=True)
    run.path.write_bytes(b"".join(raw[: 1 + 16 + 4]))  # the first pair, and the second's first two batches
    doctor, of_patient = new_pair()
    play_all(run, doctor, of_patient)
    assert [[row for row, _ in batch] for batch in doctor.batches] == [[2, 3]] * 4 + [[4]] * 5


@pytest.mark.parametrize(
    "changes",
    [
        {"doctor": SIDE._replace(about={**SIDE.about, "weights": {"sha256": "b"}})},
        {"patient": SIDE._replace(about={**SIDE.about, "weights": {"sha256": "b"}})},
        {"patient": SIDE._replace(about={**SIDE.about, "dtype": "bfloat16"})},
        {"doctor": SIDE._replace(context=50_000)},
        {"turns": 4},
        {"answer_tokens": {"patient": 64, "refer": 64, "question": 128}},
    ],
    ids=["doctor", "patient", "setting", "context", "turns", "answer tokens"],
)
def test_another_run_is_another_log(tmp_path: Path, changes: dict[str, Any]) -> None:
    play_all(make_run(tmp_path), *new_pair())
    with pytest.raises(RunError, match="is the log of another run"):
        play_all(make_run(tmp_path, **changes), *new_pair())


def test_another_prompt_version_is_another_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_all(make_run(tmp_path), *new_pair())
    monkeypatch.setattr(dialogue_run, "DIALOGUE_PROMPT_VERSION", "next")
    with pytest.raises(RunError, match="is the log of another run"):
        play_all(make_run(tmp_path), *new_pair())


def test_a_changed_case_is_asked_again_and_the_others_are_not(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    play_all(run, *new_pair())
    changed = [*CASES[:2], CASES[2] | {"family_history": "父亲有高血压"}, *CASES[3:]]
    doctor, of_patient = new_pair()
    play_all(run, doctor, of_patient, changed)
    assert [row for row, _ in of_patient.asked] == [2] * 3
    assert [row for row, _ in doctor.asked] == [2] * 5
    _, played, unfinished = read_played(run.path)
    assert ([one.row for one in played], unfinished) == ([0, 1, 2, 3, 4], [])


def test_rows_that_moved_are_not_asked_again(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    play_all(run, *new_pair())
    doctor, of_patient = new_pair()
    played = play_all(run, doctor, of_patient, CASES[::-1]).played
    assert not doctor.batches
    assert not of_patient.batches
    assert [(one.row, one.case["id"], {line["row"] for line in one.lines}) for one in played] == [
        (row, f"case-{4 - row}", {row}) for row in range(5)
    ]


def test_more_cases_go_on_where_fewer_ended(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    play_all(run, *new_pair(), CASES[:2])
    doctor, of_patient = new_pair()
    assert len(play_all(run, doctor, of_patient).played) == 5
    assert {row for row, _ in doctor.asked} == {2, 3, 4}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", SILENCE),
        (" \n\t", SILENCE),
        ("好", "好"),
        ("<think>想" + "啊" * 1000, SILENCE),
        ("疼" * 350_000, "疼" * LONGEST_TURN),  # a megabyte of UTF-8
        ("疼。" * 175_000, "疼。" * (LONGEST_TURN // 2)),
    ],
    ids=["empty", "white space", "one word", "endless reasoning", "a megabyte", "a megabyte of sentences"],
)
def test_unusual_turns_end_cleanly(tmp_path: Path, answer: str, said: str) -> None:
    of_patient = ScriptedGenerator(lambda _: answer, 2)
    doctor = ScriptedGenerator(lambda _: answer, 2)
    run = make_run(tmp_path, turns=2)
    (only,) = play_all(run, doctor, of_patient, CASES[:1]).played
    assert len(only.lines) == 5
    assert {line["said"] for line in only.lines if line["step"] != "refer"} == {said}
    assert {line["prediction"] for line in only.lines} == {None}
    assert read_transcripts(run.path)[1][0]["text"] == answer  # the log has the answer as it came
    longest = max(len(message["content"]) for _, messages in doctor.asked for message in messages[1:])
    assert longest <= LONGEST_TURN + len(QUESTION_TASK) + 2


def test_the_oldest_questions_and_answers_give_way(tmp_path: Path) -> None:
    facts = [f"{name}" * 100 for name in "甲乙丙丁戊"]
    case = make_case(0, "内科", CANDIDATES, facts)
    doctor = ScriptedGenerator(DOCTOR)
    whole = ScriptedGenerator(patient)
    play_all(make_run(tmp_path / "whole", turns=5), doctor, whole, [case])
    lengths = [len(json.dumps(messages, ensure_ascii=False)) for _, messages in doctor.asked]
    # Room for the prompt of turn 2 with its question task, and for no later one.
    doctor = ScriptedGenerator(DOCTOR)
    context = lengths[5] + 128
    run = make_run(tmp_path / "cut", turns=5, doctor=SIDE._replace(context=context))
    (only,) = play_all(run, doctor, ScriptedGenerator(patient), [case]).played
    kept = [line["kept"] for line in only.lines if line["step"] == "question"]
    # Spoken before the questions: 2, 4, 6, 8 turns; the last time two of the eight are not shown.
    assert kept == [1.0, 1.0, 1.0, 0.75]
    (shown,) = [messages for _, messages in doctor.asked if len(messages) == 8 and facts[3] in messages[-1]["content"]
                and messages[-1]["content"].endswith(QUESTION_TASK)]  # fmt: skip
    contents = [message["content"] for message in shown]
    assert contents[1:4] == [ARRIVAL, GREETING, facts[0]]
    assert contents[4:] == [question(1), facts[2], question(2), f"{facts[3]}\n\n{QUESTION_TASK}"]
    roles = [message["role"] for message in shown]
    assert all(one != other for one, other in pairwise(roles[1:]))
    assert all(line["input_tokens"] + 64 <= context for line in only.lines if line["who"] == "doctor")


def test_what_never_gives_way_must_fit(tmp_path: Path) -> None:
    run = make_run(tmp_path, patient=SIDE._replace(context=300))
    with pytest.raises(
        InputError, match=r"row 0 of ior_bench:dynamic_h1 \(case 'case-0'\): .* --context \(at least \d+\)"
    ):
        play_all(run, *new_pair())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"department": "外科"}, "the department '外科' is none of its candidates"),
        ({"candidates": []}, "the list of departments is empty"),
    ],
)
def test_a_case_that_cannot_be_scored_is_named_before_anything_is_asked(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    doctor, of_patient = new_pair()
    with pytest.raises(InputError, match=rf"row 1 of ior_bench:dynamic_h1 \(case 'case-1'\): {message}"):
        play_all(make_run(tmp_path), doctor, of_patient, [CASES[0], CASES[1] | changes])
    assert not of_patient.batches


def test_a_missing_answer_ends_its_dialogue_alone_and_is_asked_again(tmp_path: Path) -> None:
    def unwell(messages: list[dict[str, str]]) -> str | Missing:
        return Missing("500 from the server") if "起皮疹" in messages[-1]["content"] else DOCTOR(messages)

    run = make_run(tmp_path)
    done = play_all(run, ScriptedGenerator(unwell, 2), new_pair()[1])
    assert done.missing == {1: "doctor: 500 from the server", 4: "doctor: 500 from the server"}
    # Broken off at the referral of turn 1: answered were patient, referral, question and the patient again.
    assert [(one.row, len(one.lines)) for one in done.played] == [(0, 8), (1, 4), (2, 8), (3, 8), (4, 4)]
    _, played, unfinished = read_played(run.path)
    assert [(one.row, len(one.lines), one.missing) for one in played] == [
        (one.row, len(one.lines), one.missing) for one in done.played
    ]
    assert (unfinished, str(played[4].missing)) == ([], "row 4, turn 1: doctor: 500 from the server")
    doctor, of_patient = new_pair()
    assert not play_all(run, doctor, of_patient).missing
    # Each lacked the referral and the question of turn 1, and then turn 2.
    assert [row for row, _ in doctor.asked] == [1] * 3 + [4] * 3
    assert [row for row, _ in of_patient.asked] == [1, 4]
    _, played, unfinished = read_played(run.path)
    assert ([one.missing for one in played], unfinished) == ([None] * 5, [])


def test_an_endpoint_that_is_down_is_not_asked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue_group, "GIVE_UP", 3)
    of_patient = ScriptedGenerator(
        lambda messages: Missing("no connection") if "口干" in str(messages) else patient(messages), 1
    )
    doctor = ScriptedGenerator(DOCTOR, 1)
    dry = [make_case(number, "内科", CANDIDATES, ["口干"]) for number in range(5, 9)]
    run = make_run(tmp_path)
    message = r"3 prompts in succession were not answered, the last because of: patient: no connection\. All answers"
    with pytest.raises(RunError, match=message):
        # Row 0 is answered, rows 1 and 2 are not, row 3 is, and the next three are not: the last is not asked.
        play_all(run, doctor, of_patient, [CASES[0], *dry[:2], CASES[1], *dry])
    assert [row for row, messages in of_patient.asked if "口干" in str(messages)] == [1, 2, 4, 5, 6]
    _, played, unfinished = read_played(run.path)
    assert [(one.row, one.missing is None) for one in played] == [
        (0, True), (1, False), (2, False), (3, True), (4, False), (5, False), (6, False),
    ]  # fmt: skip
    assert unfinished == []


def test_rows_keep_their_place_in_the_split(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    log = open_transcripts(run.path, run.identity, {})
    few = play([CASES[1], CASES[4]], *new_pair(), run, log, [1, 4])
    log.close()
    assert [(one.row, {line["row"] for line in one.lines}) for one in few.played] == [(1, {1}), (4, {4})]
    play_all(run, *new_pair())  # all of them, into the same log: none takes the place of another
    assert [(one.row, one.case["id"]) for one in read_played(run.path)[1]] == [
        (row, f"case-{row}") for row in range(5)
    ]


def test_a_spent_budget_ends_the_run_when_the_batch_is_logged(tmp_path: Path) -> None:
    def poor(messages: list[dict[str, str]]) -> str | Missing:
        ends = Missing("the budget is spent", RunError("--max-cost 1: spent"))
        return ends if "有点累" in messages[-1]["content"] else DOCTOR(messages)

    run = make_run(tmp_path)
    with pytest.raises(RunError, match="--max-cost"):
        play_all(run, ScriptedGenerator(poor, 2), new_pair()[1])
    assert [(line["row"], line["step"]) for line in read_transcripts(run.path)[1]] == [
        (0, "patient"), (1, "patient"), (0, "refer"),
    ]  # fmt: skip


def test_a_log_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no transcript log at"):
        read_played(tmp_path / "transcripts.jsonl")
    run = make_run(tmp_path)
    play_all(run, *new_pair())
    run.path.write_bytes(run.path.read_bytes().replace(b'"turn":2', b'"turn":3'))
    with pytest.raises(InputError, match=r"line \d+: step 'patient' of turn 3: expected .* a turn below 3"):
        read_played(run.path)
