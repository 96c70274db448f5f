"""A program for test_dialogue_kills.py: dialogues that are killed again and again until they end.

    python killed_dialogues.py DOCTOR PATIENT FOLDER KILLS SEED...

For each seed, all seeds at once, as in killed_runs.py: one uninterrupted run in FOLDER/SEED/whole, then runs in
FOLDER/SEED/0, FOLDER/SEED/1 … until there were KILLS kills. Seeds that are even play with the doctor in both roles.
Prints a JSON line for each process: its seed and folder, the fault, whether it was killed, the steps that the log held
before, and the steps that a model was asked.
"""

import os
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults import Events, Fault, kill_and_exit, run_in_child, say
from log_faults import place_log_events
from scripted_generators import WORDS, make_case
from varied_model import with_few_logits

from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts, read_transcripts
from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun, Side, play
from clinical_evals.tasks.lighteval_session import lighteval_session
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.tasks.models.generation import Generator
from clinical_evals.tasks.models.model_args import build_config, parse_model_args
from clinical_evals.tasks.models.read_before import ReadBefore
from clinical_evals.tasks.models.transformers_generator import TokenTicker, TransformersGenerator

CASES = [
    make_case(number, "A", ["A", "B"], [" ".join(Random(number).choices(WORDS, k=100))] * 2) for number in range(3)
]
TURNS, BATCH = 2, 2


def dialogue_run(folder: Path) -> DialogueRun:
    """Three dialogues of two turns in batches of two."""
    side = Side({}, 2600)
    tokens = {"patient": 4, "refer": 3, "question": 4}
    return DialogueRun(folder / "transcripts.jsonl", "ior_bench:dynamic_h1", side, side, TURNS, tokens)  # type: ignore[arg-type]


def place_events(events: Events, folder: Path) -> None:
    """Everything that a run does can be its end."""
    put, read = TokenTicker.put, ReadBefore._read_prompts

    def token(self: TokenTicker, value: Any) -> None:
        events.reach("token")
        put(self, value)

    def prompts(self: ReadBefore, *args: Any) -> Any:
        events.reach("prompts read")
        return read(self, *args)

    TokenTicker.put = token  # type: ignore[method-assign]
    ReadBefore._read_prompts = prompts  # type: ignore[method-assign]
    place_log_events(events)
    events.watch_files(folder)


def count_asked(file: Path) -> None:
    """Each step that a model answers is written to a file, before it is."""
    generate = TransformersGenerator.generate

    def counted(self: TransformersGenerator, docs: Any, *more: Any) -> Any:
        with file.open("a") as stream:
            for doc in docs:
                turn = doc.query.count("<|im_start|>assistant") - 1 - (doc.specific["who"] == "doctor")
                step = (
                    "patient" if doc.specific["who"] == "patient" else {3: "refer", 4: "question"}[doc.generation_size]
                )
                stream.write(f"{doc.id} {turn} {step}\n")
        return generate(self, docs, *more)

    TransformersGenerator.generate = counted  # type: ignore[method-assign]


def logged(folder: Path) -> list[str]:
    """The steps that are whole in a log."""
    log = dialogue_run(folder).path
    if not log.exists() or b"\n" not in log.read_bytes():
        return []
    return [f"{line['row']} {line['turn']} {line['step']}" for line in read_transcripts(log)[1]]


def run_once(doctor: Generator, patient: Generator, folder: Path, fault: Fault | None) -> tuple[bool, Counter[str]]:
    """One process; its JSON line is printed."""
    asked = folder.with_suffix(".asked")
    asked.write_text("")
    before = logged(folder)

    def work(events: Events) -> None:
        count_asked(asked)
        place_events(events, folder)
        run = dialogue_run(folder)
        log = open_transcripts(run.path, run.identity, {"source": "clinical-evals:synthetic"})
        play(CASES, doctor, patient, run, log)
        log.close()

    killed, counts = run_in_child(work, fault)
    say(
        {
            "seed": int(folder.parent.name), "folder": folder.name, "fault": fault, "killed": killed, "before": before,
            "asked": asked.read_text().splitlines(), "events": counts,
        }
    )  # fmt: skip
    return killed, counts


def main() -> None:
    doctor, patient, folder, kills = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    with lighteval_session():
        # Loaded once for all children: nothing is computed here, and with one thread there is none to lose in a fork.
        models = [BACKENDS["accelerate"].load(build_config(_request(model)), 0) for model in (doctor, patient)]
        for model in models:
            with_few_logits(model.model.model)
        children = [os.fork() or run_seed(models, folder / seed, kills, int(seed)) for seed in sys.argv[5:]]
        sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


def _request(model: Path) -> Any:
    return parse_model_args(f"model_name={model},dtype=float32", BATCH)


def run_seed(models: list[Generator], folder: Path, kills: int, seed: int) -> NoReturn:
    """All runs of one seed, in a process of their own."""
    pair = (models[0], models[seed % 2])
    kill_and_exit(folder, kills, seed, lambda name, fault: run_once(*pair, folder / name, fault))


if __name__ == "__main__":
    main()
