"""A model that need not read a dialogue's beginning again answers as one that does, and reads the same bits again."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from chain_model import write_chain_model
from scripted_generators import make_case
from varied_model import write_varied_model

from clinical_evals.ior_bench.dialogue import LONGEST_TURN
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun, Side, play
from clinical_evals.tasks.lighteval_session import lighteval_session
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.tasks.models.generation import Remembers
from clinical_evals.tasks.models.model_args import build_config, parse_model_args
from clinical_evals.tasks.models.read_before import ReadBefore

WORDS = ("pain", "fever", "cough", "rash", "itch", "knee", "eye", "ear", "skin", "back", "since", "days", "night")
CASES = [
    make_case(number, "A", ["A", "B"], [" ".join(Random(number).choices(WORDS, k=30 + 50 * number))] * 2)
    for number in range(3)
]


@pytest.fixture(autouse=True)
def session() -> Iterator[None]:
    with lighteval_session():
        yield


def load(model: Path, rows_at_once: int = 2, more: str = "") -> Any:
    request = parse_model_args(f"model_name={model},dtype=float32{more}", rows_at_once)
    return BACKENDS["accelerate"].load(build_config(request), 0)


def texts(generator: Any, folder: Path, tokens: int = 7, turns: int = 2, cases: Any = CASES) -> list[list[str]]:
    side = Side({}, generator.max_length)
    answer_tokens: Any = dict.fromkeys(("patient", "refer", "question"), tokens)
    run = DialogueRun(folder / "transcripts.jsonl", "ior_bench:dynamic_h1", side, side, turns, answer_tokens)
    log = open_transcripts(run.path, run.identity, {})
    done = play(cases, generator, generator, run, log)
    log.close()
    assert all(line["finish"] in ("stop", "length") for one in done.played for line in one.lines)
    return [[line["text"] for line in one.lines] for one in done.played]


def columns_computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Filled with the rows and columns of all that was computed before generating."""
    computed: list[tuple[int, int]] = []
    read = ReadBefore._read_prompts

    def watched(self: ReadBefore, input_ids: Any, mask: Any) -> Any:
        forward = self.model.forward
        self.model.forward = lambda **inputs: (computed.append(tuple(inputs["input_ids"].shape)), forward(**inputs))[1]
        try:
            return read(self, input_ids, mask)
        finally:
            del self.model.forward

    monkeypatch.setattr(ReadBefore, "_read_prompts", watched)
    return computed


def test_answers_are_those_of_a_model_that_reads_everything(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_varied_model(tmp_path / "model", tokenizer, seed=10)
    computed = columns_computed(monkeypatch)
    generator = load(model)
    assert isinstance(generator, Remembers)
    found = texts(generator, tmp_path / "remembers")
    assert len({text for of_case in found for text in of_case}) >= 6  # the dialogues differ
    # Two dialogues: what both prompts of a side begin with is read once, then the rest, later only what is new.
    assert [rows for rows, _ in computed[:7]] == [1, 2, 1, 2, 2, 2, 2]
    columns = [columns for _, columns in computed]
    assert columns[2] > 400 > 120 > max(columns[3:7])  # the doctor's instructions, and what was said since
    # One dialogue: the first two prompts are read whole.
    assert [rows for rows, _ in computed[7:]] == [1] * 5
    assert min(columns[7:9]) > 400 > 120 > max(columns[9:])
    monkeypatch.setattr(generator, "begin_dialogues", lambda: None)
    assert texts(generator, tmp_path / "forgets") == found
    assert texts(load(model, rows_at_once=1), tmp_path / "alone") == found


def test_the_same_batches_read_again_are_the_same_bits(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    generator = load(write_varied_model(tmp_path / "model", tokenizer, seed=10), rows_at_once=4)
    asked: list[Any] = []
    generate, kept = generator.generate, []

    def watched(docs: Any, progress: Any) -> Any:
        answers = generate(docs, progress)
        asked.append(docs)
        kept.append(dict(generator._before._read))
        return answers

    monkeypatch.setattr(generator, "generate", watched)
    texts(generator, tmp_path / "log")
    assert len(asked) == 5
    generator.begin_dialogues()
    for docs, then in zip(asked, kept, strict=True):
        generator.read(docs)
        now = generator._before._read
        assert now.keys() == then.keys()
        for name, read in now.items():
            assert read.tokens == then[name].tokens
            for layer, layer_then in zip(read.layers, then[name].layers, strict=True):
                assert all(torch.equal(one, other) for one, other in zip(layer, layer_then, strict=True))
    generator.end_dialogues()
    assert "generate" not in vars(generator.model.model)


def test_a_model_that_forgets_by_itself_reads_everything(tokenizer: Any, tmp_path: Path) -> None:
    from transformers import MistralConfig, MistralForCausalLM

    small = {
        "vocab_size": len(tokenizer), "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 1, "num_key_value_heads": 1, "max_position_embeddings": 2600,
        "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id,
    }  # fmt: skip
    MistralForCausalLM(MistralConfig(**small, sliding_window=32)).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    generator = load(tmp_path / "model")
    generator.begin_dialogues()
    assert "generate" not in vars(generator.model.model)
    assert len(texts(generator, tmp_path / "log", tokens=2)) == len(CASES)


def test_endless_answers_are_cut_and_the_dialogue_ends(tokenizer: Any, tmp_path: Path) -> None:
    model = write_chain_model(tmp_path / "model", tokenizer, "I10, E46", ends=False)
    for more in ("", ",override_chat_template=False"):
        found = texts(load(model, more=more), tmp_path / f"log{len(more)}", tokens=50, cases=CASES[:2])
        if not more:
            assert all(text.startswith("I10, E46I10, E46") for of_case in found for text in of_case)
        assert [len(of_case) for of_case in found] == [5, 5]
        assert max(len(text) for of_case in found for text in of_case) < LONGEST_TURN
