"""A model of 2,048 tokens on records of more than 20,000: prompts are cut to it, answers have their full length."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.clibench.prompts import RESERVED_OUTPUT, SYSTEM, TASK_PROMPTS
from clinical_evals.clibench.segments import render_segments
from clinical_evals.errors import InputError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.results import Result

CONTEXT = 2048
ROWS = 3


@pytest.fixture(scope="module")
def endless_model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It reads 2,048 tokens and answers "I10, E46" again and again, for ever."""
    folder = write_chain_model(tmp_path_factory.mktemp("endless") / "model", tokenizer, "I10, E46", ends=False)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": CONTEXT}))
    return folder


def write_data(folder: Path, repository: Path, changes: dict[str, Any]) -> list[dict[str, Any]]:
    """The first admissions of the embedded sample, each with the changes; "record" is repeated so many times."""
    shutil.copytree(repository / "datasets" / "clibench" / "data", folder)
    file = folder / "diagnosis" / "test.json"
    content = json.loads(file.read_text())
    rows: list[dict[str, Any]] = content["rows"][:ROWS]
    for row in rows:
        row.update({name: value for name, value in changes.items() if name != "record"})
        row["record"] = "\n\n".join([row["record"]] * changes.get("record", 1))
    file.write_text(json.dumps(content | {"rows": rows}))
    return rows


class Long:
    """The run on long records, and what the model's own generate was given and gave."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.sent: list[list[int]] = []
        self.widths: list[tuple[int, int]] = []
        self.result: Result


@pytest.fixture(scope="module")
def long(endless_model: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Long:
    from transformers import LlamaForCausalLM

    folder, long = tmp_path_factory.mktemp("long"), Long()
    long.rows = write_data(folder / "data", repository, {"record": 60, "history_diagnoses": ["I10", "E11.9"]})
    generate = LlamaForCausalLM.generate

    def watched(self: Any, input_ids: Any = None, attention_mask: Any = None, **options: Any) -> Any:
        out = generate(self, input_ids=input_ids, attention_mask=attention_mask, **options)
        sequences = out if hasattr(out, "shape") else out.sequences
        long.widths.append((input_ids.shape[1], sequences.shape[1] - input_ids.shape[1]))
        long.sent += [
            [int(token) for token, seen in zip(*row, strict=True) if seen]
            for row in zip(input_ids.tolist(), attention_mask.tolist(), strict=True)
        ]
        return out

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLIBENCH_DIR", str(folder / "data"))
        patch.setattr(LlamaForCausalLM, "generate", watched)
        (long.result,) = evaluate(
            Options(f"model_name={endless_model},dtype=float32", "clibench|diagnosis", folder / "out", batch_size=2)
        )
    return long


def test_every_answer_has_the_tokens_reserved_for_it(long: Long) -> None:
    assert RESERVED_OUTPUT == 650
    assert [line["output_tokens"] for line in long.result.lines] == [[650]] * ROWS
    assert [line["finish"] for line in long.result.lines] == [["length"]] * ROWS
    for line in long.result.lines:
        assert line["answers"][0].startswith("I10, E46I10, E46I10")
    assert [generated for _, generated in long.widths] == [650, 650]  # two rows, then one
    assert max(sent for sent, _ in long.widths) <= CONTEXT - 650


def test_kept_shares_are_in_log_and_summary(long: Long) -> None:
    for line in long.result.lines:
        assert line["whole_tokens"] > 20_000
        assert CONTEXT - 650 - 25 < line["input_tokens"] <= CONTEXT - 650
        assert line["kept_prompt"] == line["input_tokens"] / line["whole_tokens"] < 0.07
        assert 0 < line["kept_long"] < line["kept_prompt"]
    summary = json.loads(long.result.log.with_name("summary.json").read_text())
    assert (summary["prompts_cut"], summary["answers_cut_off"]) == (ROWS, ROWS)
    for name in ("kept_prompt", "kept_long"):
        kept = sorted(line[name] for line in long.result.lines)
        assert summary[name]["min"] == kept[0]
        assert summary[name]["median"] == kept[1]
        assert summary[name]["mean"] == pytest.approx(sum(kept) / ROWS)


def test_what_is_never_cut_is_whole_in_the_tokens_as_sent(long: Long, tokenizer: Any) -> None:
    prompt = TASK_PROMPTS["diagnosis"]
    sent = {tokenizer.decode(tokens) for tokens in long.sent}
    assert sent == {line["prompt"] for line in long.result.lines}
    for line in long.result.lines:
        segments = render_segments(long.rows[line["row"]], get_system("icd10cm"))
        assert "E11.9 Type 2 diabetes mellitus without complications" in segments.history
        for text in (SYSTEM, prompt.instruction, segments.profile, segments.history, prompt.question):
            assert line["prompt"].count(text) == 1
        assert line["prompt"].index(prompt.question) > line["prompt"].index("## Laboratory results")
        assert segments.record[:100] in line["prompt"]  # cut at its end, not at its beginning


def test_a_history_that_does_not_fit_is_an_error_that_names_the_row(
    endless_model: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [code for code in get_system("icd10cm").codes() if "-" not in code][:200]
    write_data(tmp_path / "data", repository, {"history_diagnoses": codes})
    monkeypatch.setenv("CLIBENCH_DIR", str(tmp_path / "data"))
    message = (
        r"row \d+ of clibench:diagnosis.*history diagnoses and question are never cut and take (\d+) tokens, "
        r"but a context of 2048 tokens less 650 reserved for the answer leaves 1398"
    )
    with pytest.raises(InputError, match=message):
        evaluate(Options(f"model_name={endless_model}", "clibench|diagnosis", tmp_path / "out"))
    assert not [*tmp_path.rglob("predictions.jsonl")]  # before any answer
