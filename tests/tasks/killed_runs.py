"""A program for test_kills.py: runs that are killed again and again until they end.

    python killed_runs.py MODEL FOLDER KILLS SEED...

For each seed, all seeds at once: first one uninterrupted run, in FOLDER/SEED/whole. Then runs in FOLDER/SEED/0,
FOLDER/SEED/1 … until there were KILLS kills, each run started again after every kill. Prints a JSON line for each
process: its seed and folder, the fault, whether it was killed, the rows that the log held before, and the rows that
the model was asked.
"""

import os
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))

import transformers
from faults import Events, Fault, kill_and_exit, run_in_child, say
from log_faults import place_log_events

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.logged_model import LoggedModel
from clinical_evals.tasks.models.transformers_generator import TokenTicker, TransformersGenerator
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.answered_rows import find_scorer


def options(model: Path, folder: Path) -> Options:
    """Five rows in batches of two, cut to a short context."""
    return Options(
        model_args=f"model_name={model},dtype=float32", tasks="clibench|diagnosis", output_dir=folder, max_samples=5,
        batch_size=2, answer_tokens=12, context=700,
    )  # fmt: skip


def place_events(events: Events, folder: Path) -> None:
    """Everything that a run does, from the folder it makes to the last file it puts in its place, can be its end."""
    prepare, put = LoggedModel._prepare, TokenTicker.put
    write_text = Path.write_text

    def prepared(self: LoggedModel, *args: Any) -> Any:
        events.reach("prompt read")
        return prepare(self, *args)

    def token(self: TokenTicker, value: Any) -> None:
        events.reach("token")
        put(self, value)

    def torn_file(self: Path, data: str, *args: Any, **options: Any) -> int:
        events.reach("file torn", lambda share: write_text(self, data[: int(len(data) * share)], *args, **options))
        return write_text(self, data, *args, **options)

    LoggedModel._prepare = prepared  # type: ignore[method-assign]
    TokenTicker.put = token  # type: ignore[method-assign]
    place_log_events(events)
    Path.write_text = torn_file  # type: ignore[method-assign,assignment]
    events.watch_files(folder)


def count_asked(file: Path) -> None:
    """Each row that the model answers is written to a file, before it is."""
    generate = TransformersGenerator.generate

    def counted(self: TransformersGenerator, docs: Any, *more: Any) -> Any:
        with file.open("a") as stream:
            stream.write("".join(f"{doc.id}\n" for doc in docs))
        return generate(self, docs, *more)

    TransformersGenerator.generate = counted  # type: ignore[method-assign]


def logged_rows(folder: Path) -> list[int]:
    """The rows that are whole in a log; none where there is no log or its header is torn."""
    for log in folder.rglob("predictions.jsonl"):
        if b"\n" in log.read_bytes():
            return [line["row"] for line in read_log(log)[1]]
    return []


def run(model: Path, folder: Path, fault: Fault | None) -> tuple[bool, Counter[str]]:
    """One process; its JSON line is printed."""
    asked = folder.with_suffix(".asked")
    asked.write_text("")
    before = logged_rows(folder)

    def work(events: Events) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        count_asked(asked)
        place_events(events, folder)
        evaluate(options(model, folder))

    killed, counts = run_in_child(work, fault)
    say(
        {
            "seed": int(folder.parent.name), "folder": folder.name, "fault": fault, "killed": killed, "before": before,
            "asked": [int(row) for row in asked.read_text().split()], "events": counts,
        }
    )  # fmt: skip
    return killed, counts


def main() -> None:
    model, folder, kills = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    # What is loaded now need not be loaded in every child; nothing is computed here.
    for name in ("lighteval.pipeline", "lighteval.logging.evaluation_tracker", "pandas", "peft"):
        import_module(name)
    transformers.AutoTokenizer.from_pretrained(model)
    transformers.AutoModelForCausalLM.from_pretrained(model)
    find_scorer("icd10cm").score(["U99"], [["I10"]])
    children = [os.fork() or run_seed(model, folder / seed, kills, int(seed)) for seed in sys.argv[4:]]
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


def run_seed(model: Path, folder: Path, kills: int, seed: int) -> NoReturn:
    """All runs of one seed, in a process of their own."""
    kill_and_exit(folder, kills, seed, lambda name, fault: run(model, folder / name, fault))


if __name__ == "__main__":
    main()
