"""One run of the recipe: rows, split, encoder, baselines, scores, files.

OUT/run.json            what was asked, of which rows, split and weights; a resumed run must be the same
OUT/seed-0/             predictions.json, and model/: the fine-tuned encoder
OUT/size-050-seed-0/    predictions.json of a subset
OUT/results.json        scores, intervals, comparisons, the ids of the split, versions
OUT/confusion.csv, .png, scaling.csv, .png
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.scoring.department import Outcome
from clinical_evals.tasks.options import check_writable
from clinical_evals.training.departments.baselines import name_by_ngrams, name_most_frequent
from clinical_evals.training.departments.cases import Cases, load_cases
from clinical_evals.training.departments.cutting import Cut, fit_dialogue
from clinical_evals.training.departments.encoder import find_encoder, load_tokenizer, most_tokens
from clinical_evals.training.departments.fitting import Labelled, Task, fit_encoder
from clinical_evals.training.departments.model_card import write_model_card
from clinical_evals.training.departments.parts import Overlap, Parts, check_parts, find_overlap, part_rows
from clinical_evals.training.departments.run_folder import describe_run, open_run, write_json
from clinical_evals.training.departments.scored import score_names
from clinical_evals.training.departments.settings import Settings

MAJORITY, NGRAMS = "majority", "TF-IDF + LR"


class Named(NamedTuple):
    """What one classifier made of the test part."""

    name: str
    size: int
    """Rows that it learnt from."""
    seed: int | None
    """None where nothing is drawn."""
    outcomes: list[Outcome]
    epochs: list[dict[str, float]]
    """See `fitting.Fitted`; none for the baselines."""


class Finished(NamedTuple):
    """A whole run."""

    settings: Settings
    about: dict[str, Any]
    """What `run.json` has."""
    cases: Cases
    parts: Parts
    overlap: Overlap
    cut: dict[str, int]
    """Dialogues of each part that were longer than the encoder reads."""
    classifiers: list[Named]
    """On all training rows: the baselines, then the encoder once a seed."""
    scaling: list[Named]
    """On subsets: the n-grams and the encoder once a seed, by size."""


def run_recipe(settings: Settings, resume: bool, say: Callable[[str], None]) -> Finished:
    """Train and score everything that the settings ask for.

    Args:
        settings: of the recipe.
        resume: whether the output folder's run goes on.
        say: takes lines for the user to read.

    Raises:
        ClinicalEvalsError: something is missing or cannot be used; nothing was computed yet.
    """
    encoder = find_encoder(settings.model)
    tokenizer = load_tokenizer(encoder)
    cases = load_cases(settings.data)
    parts = part_rows([case.id for case in cases.rows], settings.split_seed)
    check_parts(cases.rows, parts, settings.train_sizes)
    overlap = find_overlap(cases.rows, parts)
    folder = Path(settings.output_dir).expanduser()
    check_writable(folder)
    about = describe_run(settings, cases, encoder)
    open_run(folder, about, resume)
    most = most_tokens(encoder, tokenizer, settings.max_length)
    read = [fit_dialogue(case.turns, tokenizer, most) for case in cases.rows]
    cut = {name: sum(not read[row].whole for row in rows) for name, rows in parts._asdict().items()}
    say(_said(cases, parts, cut, most))
    task = Task(
        encoder,
        tokenizer,
        cases.candidates,
        settings,
        _labelled(cases, read, parts.validation),
        _labelled(cases, read, parts.test),
        say,
    )
    whole = _Run(task, cases, parts, read, folder, say)
    classifiers = [*whole.baselines(), *(whole.encoder(len(parts.fit), seed) for seed in settings.seeds)]
    scaling = [
        each
        for size in sorted(settings.train_sizes)
        for each in (whole.ngrams(size), *(whole.encoder(size, seed) for seed in settings.seeds))
    ]
    return Finished(settings, about, cases, parts, overlap, cut, classifiers, scaling)


class _Run(NamedTuple):
    task: Task
    cases: Cases
    parts: Parts
    read: list[Cut]
    folder: Path
    say: Callable[[str], None]

    def baselines(self) -> list[Named]:
        departments = [self.cases.rows[row].department for row in self.parts.fit]
        majority = name_most_frequent(departments, len(self.parts.test))
        return [self._named(MAJORITY, len(departments), None, majority), self.ngrams(len(departments))]

    def ngrams(self, size: int) -> Named:
        known = [self.cases.rows[row] for row in self.parts.fit[:size]]
        asked = [self.cases.rows[row].text for row in self.parts.test]
        named = name_by_ngrams([case.text for case in known], [case.department for case in known], asked)
        return self._named(NGRAMS, size, None, named)

    def encoder(self, size: int, seed: int) -> Named:
        whole = size == len(self.parts.fit)
        folder = self.folder / (f"seed-{seed}" if whole else f"size-{size:03d}-seed-{seed}")
        folder.mkdir(exist_ok=True)
        finished = folder / "predictions.json"
        ids = [self.cases.rows[row].id for row in self.parts.test]
        if not finished.is_file():
            self.say(f"training on {size:,} rows, seed {seed}")
            rows = _labelled(self.cases, self.read, self.parts.fit[:size])
            fitted = fit_encoder(self.task, rows, seed, folder, keep_model=whole)
            if whole:
                settings = {**self.task.settings.as_json(), "epochs": self.task.settings.epochs_of(size)}
                outcomes = self._outcomes(fitted.predicted)
                about = (size, seed, len(self.cases.candidates), self.cases.mark, outcomes)
                write_model_card(folder / "model", settings, *about)
            write_json(finished, {"ids": ids, **fitted._asdict()})
        else:
            self.say(f"{size:,} rows, seed {seed}: trained before")
        found = json.loads(finished.read_text(encoding="utf-8"))
        if found["ids"] != ids:
            raise InputError(f"{finished} is of other rows than this run's. Remove {folder}.")
        return self._named(Path(self.task.settings.model).name, size, seed, found["predicted"], found["epochs"])

    def _named(
        self, name: str, size: int, seed: int | None, predicted: Sequence[str], epochs: Sequence[Any] = ()
    ) -> Named:
        return Named(name, size, seed, self._outcomes(predicted), list(epochs))

    def _outcomes(self, predicted: Sequence[str]) -> list[Outcome]:
        gold = [self.cases.rows[row].department for row in self.parts.test]
        return score_names(predicted, gold, self.cases.candidates).outcomes


def _labelled(cases: Cases, read: Sequence[Cut], rows: Sequence[int]) -> Labelled:
    number = {name: place for place, name in enumerate(cases.candidates)}
    return Labelled([read[row].ids for row in rows], [number[cases.rows[row].department] for row in rows])


def _said(cases: Cases, parts: Parts, cut: dict[str, int], most: int) -> str:
    return (
        f"{len(cases.rows):,} dialogues, {len(cases.candidates)} departments: {len(parts.fit):,} to train on, "
        f"{len(parts.validation):,} to stop by, {len(parts.test):,} held out and scored\n"
        f"longer than {most} tokens, so cut in their middle: {sum(cut.values()):,} ({cut['test']:,} of them scored)"
    )
