"""What lighteval would do to answers without a word, and does not here."""

from pathlib import Path
from typing import Any

import pytest
from chain_model import write_letter_model

from clinical_evals.errors import RunError
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log


def answers(model: Path, out: Path, seed: int, generation: str = "temperature:1.0") -> list[str]:
    args = f"model_name={model},generation_parameters={{{generation}}}"
    (result,) = evaluate(
        Options(args, "clibench|diagnosis", out, max_samples=4, batch_size=2, answer_tokens=12, seed=seed)
    )
    return [line["answers"][0] for line in result.lines]


def test_a_temperature_samples_and_the_seed_decides(tokenizer: Any, tmp_path: Path) -> None:
    model = write_letter_model(tmp_path / "model", tokenizer)
    once = answers(model, tmp_path / "a", seed=1)
    assert len(set(once)) > 1
    assert answers(model, tmp_path / "b", seed=1) == once
    assert answers(model, tmp_path / "c", seed=2) != once
    assert answers(model, tmp_path / "d", seed=1, generation="temperature:0") == ["I10"] * 4


def test_max_new_tokens_is_the_length_of_the_answer_and_cuts_no_prompt(chain_model: Path, tmp_path: Path) -> None:
    args = f"model_name={chain_model},generation_parameters={{max_new_tokens:3}}"
    (result,) = evaluate(Options(args, "clibench|diagnosis", tmp_path, max_samples=1))
    (line,) = result.lines
    assert line["answers"] == ["I10"]  # three tokens: I, 1, 0
    assert line["finish"] == ["length"]
    assert line["input_tokens"] == line["whole_tokens"] > 1000


def test_stop_tokens_end_an_answer(chain_model: Path, tmp_path: Path) -> None:
    args = f'model_name={chain_model},generation_parameters={{stop_tokens:[","]}}'
    (result,) = evaluate(Options(args, "clibench|diagnosis", tmp_path, max_samples=1, answer_tokens=20))
    assert result.lines[0]["answers"] == ["I10,"]


def test_a_prompt_with_more_tokens_than_the_longest_text_loses_nothing(chain_model: Path, tmp_path: Path) -> None:
    # lighteval would cut the prompts of a batch to the tokens of its longest text plus those of the answer: here 1.
    args = f"model_name={chain_model}"
    (result,) = evaluate(Options(args, "clibench|diagnosis", tmp_path, max_samples=7, batch_size=2, answer_tokens=1))
    tokens = [line["input_tokens"] for line in read_log(result.log)[1]]  # batch by batch, the longest text first
    assert any(first + 1 < second for first, second in zip(tokens[::2], tokens[1::2], strict=False)), "no such batch"
    assert [line["answers"] for line in result.lines] == [["I"]] * 7  # and each prompt was compared with what was sent


def test_a_prompt_that_was_not_sent_as_it_is_stops_the_run(
    chain_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lighteval.models.transformers.transformers_model import TransformersModel

    generate = TransformersModel.greedy_until

    def shuffled(self: Any, docs: Any) -> Any:
        return generate(self, docs)[::-1]

    monkeypatch.setattr(TransformersModel, "greedy_until", shuffled)
    with pytest.raises(
        RunError, match=r"row \d+ of clibench:diagnosis.0: lighteval did not send the prompt of \d+ tokens"
    ):
        evaluate(Options(f"model_name={chain_model}", "clibench|diagnosis", tmp_path, max_samples=2, answer_tokens=8))
