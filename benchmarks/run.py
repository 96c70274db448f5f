"""A run of long rows with a tiny model: time over plain `generate`, and peak memory by the number of rows.

A data set of long admissions (records of some 20,000 tokens, cut to a context of 2,048) is answered by Llamas of
random weights, each side in a process of its own. Ours is the whole of `clinical-evals eval`: reading the rows,
cutting the prompts, generation, the log, lighteval's files, scoring and intervals. The plain loop is given the prompts
that ours logged: it tokenises them, calls `generate` in the same batches, and decodes. Neither side's time holds
imports or the loading of the model. The models write white space, so that there is nothing to match: scoring has a
benchmark of its own.

What a run does outside generation does not depend on the model. It is measured on 1,000 rows, as is the memory, with a
model that costs little; generation is measured on some of these rows, ours and the plain loop in turn, with one that
takes as long as the smallest in use.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import report

RECORD_TOKENS, CONTEXT, BATCH = 20_000, 2_048, 8
ROWS, FEW_ROWS = 1_000, 250
TIMED_ROWS, ROUNDS = 64, 2
OVERHEAD, GROWTH = 0.10, 0.10


class Size(NamedTuple):
    """Of a model, and of its answers."""

    hidden: int
    layers: int
    answer_tokens: int


TINY, CHEAP = Size(256, 4, 128), Size(64, 1, 8)
"""The demo's model writes 117 to 226 tokens an answer; the protocol keeps 650 free."""


def main() -> None:
    """Print times and memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny, cheap = write_model(folder / "tiny", TINY), write_model(folder / "cheap", CHEAP)
        rows = {number: write_rows(folder / f"{number}-rows", number) for number in (ROWS, FEW_ROWS, TIMED_ROWS)}
        few, many = (_in_a_process("ours", cheap, CHEAP, rows[number], folder) for number in (FEW_ROWS, ROWS))
        ours, plain = [], []
        for turn in range(ROUNDS):
            ours.append(_in_a_process("ours", tiny, TINY, rows[TIMED_ROWS], folder / f"round-{turn}"))
            plain.append(_in_a_process("plain", tiny, TINY, Path(ours[-1]["log"]), folder))
    outside = (many["seconds"] - many["generating"]) / ROWS
    inside, alone = (median(each[key] for each in side) / TIMED_ROWS for side, key in
                     ((ours, "generating"), (plain, "seconds")))  # fmt: skip
    overhead = (outside + inside) / alone - 1
    report(
        f"{ROWS:,} rows of {RECORD_TOKENS:,} tokens, Llama of {TINY.layers} layers, answers of {TINY.answer_tokens}",
        f"{outside + inside:.2f} s a row, {100 * overhead:.0f} % over plain generate ({alone:.2f} s)",
        f"{100 * OVERHEAD:.0f} %",
        overhead < OVERHEAD,
        same_answers=f"{all(each['same'] for each in plain)} (the same tokens, {TIMED_ROWS} rows)",
        outside_generation=f"{1000 * outside:.0f} ms a row (measured on {ROWS:,} rows)",
        in_generation=f"{inside:.2f} s a row (median of {ROUNDS} times {TIMED_ROWS} rows, as is the plain loop)",
        binds="tokenising each record twice to cut it: in the whole prompt, and alone for the ends of its tokens",
    )
    growth = many["peak"] / few["peak"] - 1
    report(
        "peak memory of such a run",
        f"{many['peak']:,.0f} MB for {ROWS:,} rows, {few['peak']:,.0f} MB for {FEW_ROWS}: {100 * growth:.0f} % more",
        f"{100 * GROWTH:.0f} %",
        growth < GROWTH,
        growth=f"{1000 * (many['peak'] - few['peak']) / (ROWS - FEW_ROWS):.0f} kB a row",
        binds="lighteval makes all documents at once, and keeps prompts and their tokens until it writes its details",
    )


def _in_a_process(what: str, model: Path, size: Size, given: Path, out: Path) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.run", what, str(model), str(size.answer_tokens),
               str(given), str(out)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# What both sides are given


def write_model(folder: Path, size: Size, seed: int = 0) -> Path:
    """A Llama of random weights with the tokenizer of the demo's model, which writes white space only."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    from clinical_evals.tasks.models.demo_model import find_demo_model

    logging.disable_progress_bar()
    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(find_demo_model())
    heads = size.hidden // 64
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=size.hidden, intermediate_size=4 * size.hidden,
        num_hidden_layers=size.layers, num_attention_heads=heads, num_key_value_heads=heads,
        max_position_embeddings=CONTEXT, tie_word_embeddings=False, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    blank = tokenizer([" ", "\n", "\t", "  ", "\n\n"], add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        # One dimension is the same for every token and layer: by it white space is likelier than anything else.
        model.model.embed_tokens.weight[:, 0] = 1
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight[0] = 0
            layer.mlp.down_proj.weight[0] = 0
        model.lm_head.weight[:, 0] = 0
        model.lm_head.weight[[tokens[0] for tokens in blank], 0] = 10
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_rows(folder: Path, rows: int) -> Path:
    """A data set in the layout of `clinical-evals build clibench`: the embedded sample's rows with long records."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from datasets import disable_progress_bars, load_dataset
    from transformers import AutoTokenizer

    import clinical_evals  # noqa: F401 - makes the bare name known
    from clinical_evals.datasets_hub.source import SOURCE_KEY
    from clinical_evals.markers import SYNTHETIC_MARKER
    from clinical_evals.tasks.models.demo_model import find_demo_model

    disable_progress_bars()
    table = load_dataset("clibench", "diagnosis", split="test").data.table
    sample = table.to_pylist()
    tokenizer = AutoTokenizer.from_pretrained(find_demo_model())
    tokens = {row["hadm_id"]: len(tokenizer(row["record"])["input_ids"]) for row in sample}
    written = []
    for place in range(rows):
        draw = random.Random(place)
        parts, length = [f"Stay {place}."], 0
        while length < RECORD_TOKENS:
            other = draw.choice(sample)
            parts.append(other["record"])
            length += tokens[other["hadm_id"]]
        record = "\n\n".join(parts)
        written.append(draw.choice(sample) | {"hadm_id": place, "subject_id": place, "record": record})
    (folder / "diagnosis").mkdir(parents=True)
    schema = table.schema.with_metadata({SOURCE_KEY: SYNTHETIC_MARKER.encode()})
    pq.write_table(pa.Table.from_pylist(written, schema=schema), folder / "diagnosis" / "test.parquet")
    return folder


# In a process of its own


def run_ours(model: Path, answer_tokens: int, rows: Path, out: Path) -> dict[str, Any]:
    """The whole of `eval`, but for loading the model."""
    from clinical_evals.tasks import launcher, logged_model  # all libraries are imported before the clock runs
    from clinical_evals.tasks.options import Options

    _ = logged_model
    os.environ["CLIBENCH_DIR"] = str(rows)
    load, loading = launcher._load_model, []

    def timed_load(*given: Any) -> Any:
        start = time.perf_counter()
        loaded = load(*given)
        loading.append(time.perf_counter() - start)
        return loaded

    launcher._load_model = timed_load  # type: ignore[assignment]  # takes whatever it takes
    arguments = f"model_name={model},dtype=float32"
    options = Options(arguments, "clibench|diagnosis", out / rows.name, batch_size=BATCH, answer_tokens=answer_tokens)
    start = time.perf_counter()
    (result,) = launcher.evaluate(options)
    seconds = time.perf_counter() - start - sum(loading)
    assert all(line["kept_prompt"] < 1 for line in result.lines), "every prompt should have been cut"
    generating = sum(line["seconds"] for line in result.lines)
    return {"seconds": seconds, "generating": generating, "log": str(result.log)}


def run_plain(model: Path, answer_tokens: int, log: Path, _: Path) -> dict[str, Any]:
    """A loop over the prompts of a log, in its batches."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from clinical_evals.tasks.prediction_log import read_log

    tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    lines = read_log(log)[1]
    prompts = [line["prompt"] for line in lines]
    written: list[list[int]] = []
    start = time.perf_counter()
    for first in range(0, len(prompts), BATCH):
        texts = prompts[first : first + BATCH]
        batch = tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt")
        with torch.inference_mode():
            output = loaded.generate(**batch, max_new_tokens=answer_tokens, do_sample=False)
        answers = output[:, batch["input_ids"].shape[1] :]
        tokenizer.batch_decode(answers, skip_special_tokens=True)
        written += answers.tolist()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "same": written == [line["output_ids"][0] for line in lines]}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        what, model, tokens, *paths = sys.argv[1:]
        result = {"ours": run_ours, "plain": run_plain}[what](Path(model), int(tokens), *map(Path, paths))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**10 if os.uname().sysname == "Linux" else 2**20)
        print(json.dumps(result | {"peak": peak}))
