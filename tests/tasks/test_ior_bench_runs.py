"""Whole runs of IOR-Bench's static task: real lighteval, models whose answers are known."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model, write_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.assets import dataset_folder
from clinical_evals.errors import InputError
from clinical_evals.ior_bench.static import probed_turns, seen_turns
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.department_results import DepartmentResult
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.tables import format_results

SAMPLE = json.loads((dataset_folder("ior-bench") / "data/static/test.json").read_text(encoding="utf-8"))["rows"]
ANSWER = "骨科"
STRATEGIES = ("zero_shot", "few_shot", "majority_vote", "cot")


@pytest.fixture(autouse=True)
def _the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


@pytest.fixture(scope="module")
def model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers ANSWER to everything, also when it is sampled."""
    return write_chain_model(tmp_path_factory.mktemp("model") / "chain", tokenizer, ANSWER)


@pytest.fixture(scope="module")
def undecided(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Greedy: 骨科. Sampled: 骨科, 眼科 or 儿科, each as likely."""
    names = {name: tokenizer(name, add_special_tokens=False)["input_ids"] for name in ("骨科", "眼科", "儿科")}
    (start,) = tokenizer("\n", add_special_tokens=False)["input_ids"]
    followers: dict[int, dict[int, float]] = {start: {}}
    for name, tokens in names.items():
        followers[start][tokens[0]] = 1.001 if name == ANSWER else 1.0
        for token, after in zip(tokens, [*tokens[1:], tokenizer.eos_token_id], strict=True):
            followers.setdefault(token, {})[after] = 1.0
    return write_model(tmp_path_factory.mktemp("undecided") / "model", tokenizer, followers)


def options(model: Path, out: Path, tasks: str, **changes: Any) -> Options:
    usual = Options(f"model_name={model},dtype=float32", tasks, out, batch_size=8, answer_tokens=8)
    return usual._replace(**changes)


def run(model: Path, out: Path, tasks: str, **changes: Any) -> list[DepartmentResult]:
    results: list[Result] = evaluate(options(model, out, tasks, **changes))
    assert all(isinstance(result, DepartmentResult) for result in results)
    return results  # type: ignore[return-value]


def lighteval_scores(out: Path) -> dict[str, Any]:
    (file,) = out.rglob("results_*.json")
    results: dict[str, Any] = json.loads(file.read_text())["results"]
    return results


def test_the_four_strategies_and_the_robustness_over_them(model: Path, tmp_path: Path) -> None:
    results = run(model, tmp_path, "ior_bench|static", max_samples=24)
    assert [result.task.config for result in results] == [f"static_{name}" for name in STRATEGIES]
    for result in results:
        golds = [SAMPLE[line["row"]]["department"] for line in result.lines]
        assert [line["gold"] for line in result.lines] == [[gold] for gold in golds]
        scores = result.scored.scores()
        # The model names 骨科 in every answer: accuracy is the share of rows whose gold it is.
        assert scores["accuracy"] == golds.count(ANSWER) / 24
        assert (scores["no_answer_rate"], scores["ambiguous_rate"], scores["rows"]) == (0, 0, 24)
        ours = lighteval_scores(tmp_path)[f"{result.task.name}|0"]
        assert ours == {key: scores[key] for key in ours}
        assert set(ours) == {"accuracy", "no_answer_rate", "ambiguous_rate", "macro_f1"}
    samples = [max(len(line["answers"]) for line in result.lines) for result in results]
    assert samples == [1, 1, 5, 1]
    settings = read_log(results[2].log)[0]["run"]["settings"]
    assert settings["generation"]["temperature"] == 0.7
    assert not read_log(results[0].log)[0]["run"]["settings"]["generation"]["temperature"]
    text = format_results(results)
    share = 100 * results[0].scored.scores()["accuracy"]
    row = rf"{share:.2f} +{share:.2f} +{share:.2f} +{share:.2f} +{share:.2f} ± 0.00 +24 of 24 rows"
    assert re.search(row, text), text
    (file,) = tmp_path.glob("ior_bench_static_robustness-*.json")
    found = json.loads(file.read_text())
    assert (found["agree"], found["rows"], found["sd"]) == (24, 24, 0)
    assert list(found["accuracy"]) == list(STRATEGIES)
    assert [(tmp_path / log).is_file() for log in found["logs"].values()] == [True] * 4


def test_a_second_run_asks_nothing_and_scores_the_same(model: Path, tmp_path: Path) -> None:
    (once,) = run(model, tmp_path, "ior_bench|static_zero_shot", max_samples=5)
    before = {path.name: path.read_bytes() for path in once.log.parent.glob("[!.]*")}
    (again,) = run(model, tmp_path, "ior_bench:static_zero_shot|0", max_samples=5)
    assert (once.resumed, again.resumed) == (0, 5)
    assert {path.name: path.read_bytes() for path in again.log.parent.glob("[!.]*")} == before


def test_votes_are_sampled_counted_and_seeded(undecided: Path, tmp_path: Path) -> None:
    (result,) = run(undecided, tmp_path / "a", "ior_bench|static_majority_vote", max_samples=12, temperature=1.0)
    assert any(len(set(line["answers"])) == 3 for line in result.lines)  # sampling is really on
    for line, outcome in zip(result.lines, result.scored.outcomes, strict=True):
        assert len(line["answers"]) == 5
        counts = Counter(line["answers"])  # keeps the order of first appearance, so ties go to the earliest vote
        assert outcome.predicted == max(counts, key=counts.__getitem__)
    assert "5 answers to each prompt, sampled; all vote" in format_results([result])
    (elsewhere,) = run(undecided, tmp_path / "b", "ior_bench|static_majority_vote", max_samples=12, temperature=1.0)
    assert [line["answers"] for line in elsewhere.lines] == [line["answers"] for line in result.lines]
    changed = options(undecided, tmp_path / "c", "ior_bench|static_majority_vote", max_samples=12, temperature=1.0)
    (other,) = evaluate(changed._replace(seed=1))
    assert [line["answers"] for line in other.lines] != [line["answers"] for line in result.lines]
    (nine,) = run(undecided, tmp_path / "d", "ior_bench|static_majority_vote", max_samples=2, samples=9)
    assert [len(line["answers"]) for line in nine.lines] == [9, 9]


def test_the_other_strategies_stay_greedy_beside_a_vote(undecided: Path, tmp_path: Path) -> None:
    tasks = "ior_bench|static_majority_vote,ior_bench|static_zero_shot"
    votes, zero = run(undecided, tmp_path, tasks, max_samples=6)
    assert {answer for line in zero.lines for answer in line["answers"]} == {ANSWER}
    assert len({answer for line in votes.lines for answer in line["answers"]}) == 3


def test_probing_adds_the_earlier_turns_and_changes_no_score(model: Path, tmp_path: Path) -> None:
    (plain,) = run(model, tmp_path, "ior_bench|static_zero_shot", max_samples=6)
    (probed,) = run(model, tmp_path, "ior_bench|static_zero_shot", max_samples=6, probe_turns=True)
    assert probed.log == plain.log
    assert probed.resumed == 6  # the whole dialogues had been asked
    assert probed.scored.scores() == plain.scored.scores()
    assert plain.turns == []
    lengths = {row["row"]: len(probed_turns(seen_turns(SAMPLE[row["row"]]["dialogue"]))) for row in plain.lines}
    assert [turn.rows for turn in probed.turns] == [
        sum(length > turn for length in lengths.values()) for turn in range(max(lengths.values()))
    ]
    _, lines = read_log(probed.log)
    assert len(lines) == sum(lengths.values())
    # One answer for all: on all rows the accuracy is the same at every turn.
    assert {turn.accuracy_so_far for turn in probed.turns} == {plain.scored.scores()["accuracy"]}
    assert "after each turn of the patient:" in format_results([probed])
    for line in lines:  # each prompt ends with what had been said up to its turn
        turns = probed_turns(seen_turns(SAMPLE[line["row"]]["dialogue"]))
        assert line["turns"] == len(turns)
        assert turns[line["turn"]][-1]["content"].strip() in line["prompt"]
        if line["turn"] + 1 < line["turns"]:
            assert turns[line["turn"] + 1][-1]["content"].strip() not in line["prompt"]
    summary = json.loads(probed.log.with_name("summary.json").read_text())
    assert len(summary["turns"]) == len(probed.turns)
    (again,), _ = rescore(probed.log)
    assert again.scored.scores() == probed.scored.scores()
    assert isinstance(again, DepartmentResult)
    assert again.turns == probed.turns
    row = next(row for row, length in lengths.items() if length > 1)
    assert "[turns]\n  turn 0: 骨科: " in explain(probed.log, row)


def test_few_shot_with_rows_as_examples_scores_the_held_out_part_only(tokenizer: Any, tmp_path: Path) -> None:
    model = write_chain_model(tmp_path / "model", tokenizer, ANSWER, context=8000)
    (result,) = run(model, tmp_path, "ior_bench|static_few_shot", shots=10)
    run_of_log = read_log(result.log)[0]["run"]
    assert run_of_log["shots"] == {"number": 10, "source": "rows", "rows": 58, "held_out": 14}
    assert len(result.lines) == 14
    for line in result.lines:
        assert line["prompt"].count("科室：") == 10
        first = SAMPLE[line["row"]]["dialogue"][0]["content"].strip()
        assert line["prompt"].count(first) == 1  # only as the case that is asked, never as an example
    assert "58 rows (seeded) that are never scored; scored on the 14 held out" in format_results([result])


def test_robustness_is_over_the_rows_that_all_four_were_asked(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No written example has one of these departments: the few-shot examples are rows, and two of ten are held out.
    departments = ("风水科", "骨科")
    monkeypatch.setenv("IOR_BENCH_DIR", str(hospital(tmp_path, 10, "膝盖疼", departments)))
    results = run(model, tmp_path / "out", "ior_bench|static")
    assert [len(result.lines) for result in results] == [10, 2, 10, 10]
    held_out = {line["row"] for line in results[1].lines}
    right = sum(departments[row % 2] == ANSWER for row in held_out) / 2
    (file,) = (tmp_path / "out").glob("ior_bench_static_robustness-*.json")
    found = json.loads(file.read_text())
    assert set(found["accuracy"].values()) == {right}
    assert (found["rows"], found["most_rows"], found["agree"], found["sd"]) == (2, 10, 2, 0)
    assert "all on the 2 rows that the few-shot examples leave, of 10" in format_results(results)


def test_both_protocols_and_a_log_scored_again(model: Path, tmp_path: Path) -> None:
    standard, official = run(model, tmp_path, "ior_bench|static_cot", max_samples=8, protocol="both")
    assert standard.scored.scores()["accuracy"] == official.scored.scores()["accuracy"]
    assert "ambiguous_rate" not in official.scored.scores()
    text = format_results([standard, official])
    assert re.search(r"^standard .*\n+official .* -  ", text, re.MULTILINE), text
    results, said = rescore(standard.log, "both")
    assert [result.scored.scores() for result in results] == [r.scored.scores() for r in (standard, official)]
    assert "beside it scored.jsonl and summary.json" in said
    row = standard.lines[0]["row"]
    shown = explain(standard.log, row)
    assert f"[named]\n  {ANSWER}" in shown
    assert f"gold {SAMPLE[row]['department']}" in shown


def test_a_silent_model_is_wrong_not_left_out(tokenizer: Any, tmp_path: Path) -> None:
    english = write_chain_model(tmp_path / "english", tokenizer, "See a doctor")
    (result,) = run(english, tmp_path / "out", "ior_bench|static_zero_shot", max_samples=4)
    scores = result.scored.scores()
    assert (scores["accuracy"], scores["no_answer_rate"], scores["rows"]) == (0, 1, 4)
    assert "no answer (1)" in format_results([result])


def hospital(folder: Path, rows: int, question: str, departments: tuple[str, ...] = ("骨科", "眼科")) -> Path:
    from clinical_evals.datasets_hub.build_ior_bench import Request, build_ior_bench

    table = folder / "questions.csv"
    lines = [f"{number},{question},{departments[number % len(departments)]}" for number in range(rows)]
    table.write_text("\n".join(["编号,问题,科室", *lines]), encoding="utf-8")
    columns = {"id": "编号", "question": "问题", "department": "科室"}
    build_ior_bench(Request(table, "static", columns, folder / "built"))
    return folder / "built"


def test_identical_prompts_are_all_scored(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Six rows ask the same: a harness that knows a row by its prompt scores one of them.
    monkeypatch.setenv("IOR_BENCH_DIR", str(hospital(tmp_path, 6, "膝盖疼")))
    (result,) = run(model, tmp_path / "out", "ior_bench|static_zero_shot")
    assert len({line["prompt"] for line in result.lines}) == 1
    assert result.scored.scores()["rows"] == 6
    assert result.scored.scores()["accuracy"] == 0.5
    # A hospital's own rows are patient data in the log, not MIMIC's.
    assert read_log(result.log)[0]["source"] == "clinical-evals:patient-data"


def test_a_dialogue_that_is_too_long_is_cut_at_its_end(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOR_BENCH_DIR", str(hospital(tmp_path, 3, "疼" * 3000, ("骨科", "眼科", "皮肤科"))))
    (result,) = run(model, tmp_path / "out", "ior_bench|static_zero_shot")
    assert all(0 < line["kept_long"] < 1 for line in result.lines)
    assert all("【要求】" in line["prompt"] for line in result.lines)
    assert "3 prompts were cut" in format_results([result])
    with pytest.raises(InputError, match=r"examples and question are never cut.*Fewer --shots"):
        run(model, tmp_path / "out", "ior_bench|static_few_shot", context=600)


@pytest.mark.parametrize(
    ("tasks", "change", "message"),
    [
        ("clibench|diagnosis", {"shots": 5}, r'--shots is for other tasks, such as "ior_bench\|static_few_shot"'),
        ("clibench|diagnosis", {"probe_turns": True}, "--probe-turns is for other tasks"),
        ("ior_bench|static_cot", {"temperature": 0.7}, "--temperature is for other tasks.*in MODEL_ARGS"),
        ("ior_bench|static", {"temperature": 0.0}, "--temperature 0.0: expected a number above 0"),
        ("ior_bench|static", {"temperature": -1.0}, "--temperature -1.0: expected a number above 0"),
        ("ior_bench|static", {"shots": 0}, "--shots 0: expected"),
        ("ior_bench|static_few_shot", {"shots": 59}, "--shots 59: of 72 rows 14 are held out and scored.*leaves 58"),
        ("ior_bench|static_majority_vote", {"samples": 1}, "--samples 1: one answer is no majority vote"),
        ("ior_bench|static", {"samples": 3}, "--samples 3: without a temperature"),
        ("ior_bench|static", {"protocol": "official", "dictionary": Path("d.csv")}, "--dictionary d.csv gives titles"),
        ("ior_bench|static_few_shot|5", {}, "give --shots 5 with 'ior_bench:static_few_shot'"),
    ],
)
def test_what_cannot_be_is_said_before_the_model_is_loaded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: str, change: Any, message: str
) -> None:
    def load(*_: object) -> None:
        raise AssertionError("the model is loaded")

    monkeypatch.setattr("clinical_evals.tasks.launcher._load_model", load)
    with pytest.raises(InputError, match=message):
        evaluate(options(model, tmp_path, tasks, **change))
