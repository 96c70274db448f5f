"""Fine-tuning an encoder on short questions: batches of like length, against padding everything to 512 tokens.

Both are the recipe's Trainer, with the same encoder, rows and batch size; only the padding and the order of the rows
differ, as in the released script. Counted are the steps alone: no loading, validation or checkpoints.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import report
from transformers import DataCollatorWithPadding, TrainerCallback

from clinical_evals.datasets_hub.build_ior_bench import Request, build_ior_bench
from clinical_evals.training.departments.cases import Cases, load_cases
from clinical_evals.training.departments.cutting import fit_dialogue
from clinical_evals.training.departments.encoder import SMALL_ENCODER, find_encoder, load_tokenizer
from clinical_evals.training.departments.fitting import Labelled, Task, make_trainer
from clinical_evals.training.departments.parts import part_rows
from clinical_evals.training.departments.settings import Settings

LENGTH = 512
OUR_ROWS, THEIR_ROWS = 256, 48
QUESTIONS = "triage_questions_gb18030.csv"


class Clock(TrainerCallback):  # type: ignore[misc]  # transformers is not followed
    """Seconds from the start of the first step to the end of the last."""

    def __init__(self) -> None:
        self.start = self.end = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The first one counts."""
        self.start = self.start or time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The last one counts."""
        self.end = time.perf_counter()


def main() -> None:
    """Print the ratio."""
    encoder = find_encoder(SMALL_ENCODER)
    tokenizer = load_tokenizer(encoder)
    with tempfile.TemporaryDirectory() as folder:
        cases, source = questions(Path(folder))
        settings = Settings(model=SMALL_ENCODER, epochs=1, max_length=LENGTH)
        fit = part_rows([case.id for case in cases.rows]).fit
        read = [fit_dialogue(cases.rows[row].turns, tokenizer, LENGTH).ids for row in fit[:OUR_ROWS]]
        labels = [cases.candidates.index(cases.rows[row].department) for row in fit[:OUR_ROWS]]
        few = Labelled(read[:2], labels[:2])
        task = Task(encoder, tokenizer, cases.candidates, settings, few, few, lambda line: None)
        ours = steps(task, Labelled(read, labels), Path(folder) / "ours", padded=False)
        theirs = steps(task, Labelled(read[:THEIR_ROWS], labels[:THEIR_ROWS]), Path(folder) / "theirs", padded=True)
    mean = sum(map(len, read)) / len(read)
    report(
        f"fine-tuning on short questions ({source})",
        f"{ours:.1f} samples/s, {ours / theirs:.1f}x padding to {LENGTH} tokens ({theirs:.2f} samples/s, measured on "
        f"{THEIR_ROWS} rows)",
        "3x",
        ours >= 3 * theirs,
        encoder="multilingual-e5-small, Chinese vocabulary (33 million weights), float32, batches of 16",
        tokens=f"{mean:.0f} a row in the mean; {LENGTH} when padded",
        binds="the matrix products of the encoder's twelve layers",
    )


def steps(task: Task, rows: Labelled, folder: Path, padded: bool) -> float:
    """Samples a second of one epoch."""
    trainer = make_trainer(task, rows, 0, folder)
    if padded:
        trainer.data_collator = DataCollatorWithPadding(task.tokenizer, padding="max_length", max_length=LENGTH)
        trainer.args.train_sampling_strategy = "random"
    clock = Clock()
    trainer.add_callback(clock)
    trainer.train()
    return len(rows.ids) / (clock.end - clock.start)


def questions(folder: Path) -> tuple[Cases, str]:
    """Real questions of patients where they are on this machine, else the first turns of the embedded dialogues."""
    table = Path(os.environ.get("CLINICAL_EVALS_CHINESE", "absent")) / QUESTIONS
    if table.is_file():
        columns = {"department": "department", "question": "title+ask"}
        build_ior_bench(Request(table, "static", columns, folder / "questions"))
        return load_cases(str(folder / "questions")), "real ones"
    cases = load_cases(None)
    asked = [
        case._replace(turns=[turn for turn in case.turns if turn["role"] == "patient"][:1]) for case in cases.rows
    ]
    copies = [case._replace(id=f"{case.id}-{copy}") for copy in range(6) for case in asked]
    return cases._replace(rows=copies), "of the embedded sample"


if __name__ == "__main__":
    main()
