"""A lighteval model whose prompts are cut to it, whose answers are logged as they come, and which asks nothing "
"twice."""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc
from tqdm import tqdm

from clinical_evals.errors import RunError
from clinical_evals.tasks.benchmark import Asked, benchmark_of
from clinical_evals.tasks.models.generation import Generator, Missing, Output
from clinical_evals.tasks.names import find_task
from clinical_evals.tasks.prediction_log import Line, PredictionLog, hash_text, row_key
from clinical_evals.tasks.progress import Progress
from clinical_evals.tasks.scored.results import MissingRow, name_missing
from clinical_evals.truncation import FittedPrompt, Room

MOST_MISSING = 0.02
"""Share of prompts without an answer above which a run has no result (they need not be like the others)."""
GIVE_UP = 20
"""So many prompts in succession without an answer end a run: the endpoint is down."""


class Run(NamedTuple):
    """One task on one model: where its log is, what decides its answers, and how they are asked for."""

    path: Path
    identity: dict[str, Any]
    """See `PredictionLog`."""
    room: Room
    """The model's context, and what of it is kept for the answer."""
    samples: int = 1
    """Answers to each prompt; above 1 they must be sampled (a temperature above 0)."""
    temperature: float | None = None
    """At which answers are sampled; None: as the model's configuration says."""


class Prepared(NamedTuple):
    """A document with one of its final prompts."""

    doc: Doc
    """Its query is this prompt."""
    key: str
    prompt: FittedPrompt
    logged: Mapping[str, Any]


def packed(prompt_function: Callable[..., Doc | None]) -> Callable[..., Doc | None]:
    """A prompt function whose documents hold their whole texts compressed, until `LoggedModel` cuts them.

    lighteval makes all documents before it asks for the first answer: as they are, the texts of a thousand long
    admissions take 600 MB.
    """

    def pack(*given: Any) -> Doc | None:
        doc = prompt_function(*given)
        if doc is not None and doc.specific and "segments" in doc.specific:
            texts = json.dumps(doc.specific["segments"]).encode()
            doc.specific["segments"] = zlib.compress(texts, level=1)
            doc.query = ""  # made of the same texts; replaced by the cut prompt
        return doc

    return pack


def unpack(doc: Doc) -> None:
    """Gives a document its texts back."""
    if doc.specific and isinstance(doc.specific.get("segments"), bytes):
        doc.specific["segments"] = json.loads(zlib.decompress(doc.specific["segments"]))


class NoCache:
    """Stands in for lighteval's sample cache, which would return old answers; the pipeline expects something to be "
    "there."""

    def __init__(self, *_: object) -> None: ...

    def _init_registry(self, registry: object) -> None:
        """The registry decides nothing here."""


class LoggedModel(LightevalModel):  # type: ignore[misc]  # lighteval is not typed
    """Wraps the model under test.

    Args:
        generator: the real model.
        runs: by full task name.
        about: more for the header of each log, such as versions of libraries.
        keep: whether the real model stays in memory when lighteval has done with it, to be asked again.

    Attributes:
        sources: by full task name the mark of where its rows come from, for the header; set before it is asked.
        lines: by full task name the log lines of its documents, sorted by row; where a document has several prompts,
            the one that is scored stands last.
        resumed: by full task name how many documents were already answered.
        missing: by full task name the prompts that an endpoint did not answer.
    """

    def __init__(
        self,
        generator: Generator,
        runs: Mapping[str, Run],
        about: Mapping[str, Any],
        keep: bool = False,
    ) -> None:
        self.generator, self.runs, self.about, self._keep = generator, runs, about, keep
        self.chat, self.config = generator.chat, generator.config
        self.sources: dict[str, str] = {}
        self.lines: dict[str, list[Line]] = {}
        self.resumed: dict[str, int] = {}
        self.missing: dict[str, list[MissingRow]] = {}
        self._cache = NoCache()

    @property
    def tokenizer(self) -> Any:
        """The real model's."""
        return self.chat.tokenizer

    @property
    def add_special_tokens(self) -> bool:
        """Whether tokenising a final prompt adds special tokens."""
        return self.chat.add_special_tokens

    @property
    def max_length(self) -> int:
        """The context in tokens."""
        return max(run.room.context for run in self.runs.values())

    def cleanup(self) -> None:
        """Free the real model's memory."""
        if not self._keep:
            self.generator.cleanup()

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """The answers to all documents: from the log where they are there, else generated and logged batch by batch.

        Documents that an endpoint did not answer are taken out of `docs`: lighteval pairs this very list with the
        answers, and would score what is not there.

        Raises:
            RunError: more than MOST_MISSING of the prompts of a task were not answered.
        """
        for doc in docs:
            benchmark_of(find_task(doc.task_name)).check_gold(doc)
        responses: dict[int, ModelResponse] = {}
        for task, group in groupby(sorted(docs, key=lambda doc: doc.task_name), key=lambda doc: doc.task_name):
            for doc, prepared, line in self._answer(task, list(group)):
                responses[id(doc)] = self._response(prepared, line)
        docs[:] = [doc for doc in docs if id(doc) in responses]
        return [responses[id(doc)] for doc in docs]

    def loglikelihood(self, docs: list[Doc]) -> list[ModelResponse]:
        """No task of ours needs it."""
        raise NotImplementedError("the tasks of clinical-evals are answered by generation only")

    loglikelihood_rolling = loglikelihood

    def _answer(self, task: str, docs: list[Doc]) -> list[tuple[Doc, Prepared, Line]]:
        """Each document that was answered with its last prompt and that one's log line."""
        run = self.runs[task]
        prepared = self._prepare_all(run, docs)
        about = {"source": self.sources[task], **self.about}
        log = PredictionLog(run.path, run.identity, about, write=self.generator.is_main)
        self.generator.wait_for_everyone()  # all processes must have read the same log before one writes
        try:
            self.resumed[task] = sum(of_doc[-1].key in log.rows for of_doc in prepared)
            every = [one for of_doc in prepared for one in of_doc]
            reasons = self._generate_missing(run, log, every)
            self.missing[task] = [_missing_row(one, reasons[one.key]) for one in every if one.key in reasons]
            self._check_missing(task, len(every), run.path)
            kept = [of_doc for of_doc in prepared if of_doc[-1].key in log.rows]
            answered = [[_line_of(one, log.rows[one.key]) for one in of_doc if one.key in log.rows] for of_doc in kept]
        finally:
            log.close()
        in_order = sorted(answered, key=lambda lines: int(lines[-1]["row"]))
        self.lines[task] = [line for lines in in_order for line in lines]
        return [(of_doc[-1].doc, of_doc[-1], lines[-1]) for of_doc, lines in zip(kept, answered, strict=True)]

    def _check_missing(self, task: str, prompts: int, log: Path) -> None:
        missing = self.missing[task]
        if len(missing) > MOST_MISSING * prompts:
            raise RunError(
                f"{task}: {len(missing)} of {prompts} prompts were not answered, more than {MOST_MISSING:.0%}, so "
                f"there is no score. {name_missing(missing)}. All answers are in {log}: the same command again asks "
                "only for what is missing."
            )

    def _prepare_all(self, run: Run, docs: list[Doc]) -> list[list[Prepared]]:
        """Tokenising and cutting long texts takes a tenth of a second each; tokenizers run beside each other."""
        # The first alone: it ends the padding of the last batch, so that no thread changes what another one uses.
        first = [self._prepare(run, doc) for doc in docs[:1]]
        pool = ThreadPoolExecutor(min(4, os.cpu_count() or 1))
        try:
            rest = pool.map(lambda doc: self._prepare(run, doc), docs[1:])
            quiet = not self.generator.is_main
            shown = tqdm(rest, "cutting prompts", len(docs) - 1, leave=False, unit="row", delay=2, disable=quiet)
            return [*first, *shown]
        finally:
            pool.shutdown(cancel_futures=True)

    def _prepare(self, run: Run, doc: Doc) -> list[Prepared]:
        """The document with each of its prompts; lighteval's own is the last."""
        unpack(doc)
        asked = benchmark_of(find_task(doc.task_name)).ask(
            doc, self.chat, run.room, f"row {doc.id} of {doc.task_name}"
        )
        doc.generation_size, doc.num_samples = run.room.reserved, run.samples
        before = [self._prepare_one(run, replace(doc, query=one.prompt.text), one) for one in asked[:-1]]
        # lighteval stores the document in its details: it shows the prompt as sent, and how much of it was kept.
        prompt = asked[-1].prompt
        doc.query = prompt.text
        doc.specific = (doc.specific or {}) | {
            "prompt_sha256": hash_text(prompt.text),
            "kept_prompt": prompt.kept_prompt,
            "kept_long": prompt.kept_long,
        }
        return [*before, self._prepare_one(run, doc, asked[-1])]

    def _prepare_one(self, run: Run, doc: Doc, asked: Asked) -> Prepared:
        key = row_key(run.identity, (doc.specific or {})["data_sha256"], hash_text(asked.prompt.text))
        return Prepared(doc, key, asked.prompt, asked.logged)

    def _generate_missing(self, run: Run, log: PredictionLog, prepared: Sequence[Prepared]) -> dict[str, str]:
        """Ask for what is not in the log, and log it; by key, why there is none."""
        # Batches are made of all rows and only then thinned out: a resumed run computes the batches of a whole one.
        distinct = {one.key: one for one in prepared}.values()
        ordered = sorted(distinct, key=lambda one: (-len(one.prompt.text), int(one.doc.id)))
        size = self.generator.rows_at_once
        batches = [
            [one for one in ordered[i : i + size] if one.key not in log.rows] for i in range(0, len(ordered), size)
        ]
        batches = [batch for batch in batches if batch]
        reasons: dict[str, str] = {}
        in_succession = 0
        with Progress(sum(map(len, batches)), run.room.reserved, show=self.generator.is_main) as progress:
            for batch in batches:
                started = monotonic()
                outputs = self.generator.generate([one.doc for one in batch], progress, run.temperature)
                seconds = (monotonic() - started) / len(batch)
                pairs = list(zip(batch, outputs, strict=True))
                lines = [_log_line(one, out, seconds) for one, out in pairs if not isinstance(out, Missing)]
                if self.generator.is_main:
                    log.append(lines)
                else:
                    log.rows |= {line["key"]: line for line in lines}
                progress.finish_rows(len(lines))
                missing = {one.key: out for one, out in pairs if isinstance(out, Missing)}
                reasons |= {key: out.why for key, out in missing.items()}
                in_succession = 0 if lines else in_succession + len(missing)
                _check_going_on(run.path, missing.values(), in_succession)
        return reasons

    def _response(self, one: Prepared, line: Line) -> ModelResponse:
        # Built from the log line in every case, so that lighteval's files do not tell a resumed run from another.
        return ModelResponse(
            input=one.prompt.text,
            input_tokens=[],  # the log has how many; lighteval would keep the lists of all rows till the end
            text=list(line["answers"]),
            output_tokens=[list(tokens) for tokens in line["output_ids"]],
        )


def _line_of(one: Prepared, logged: Line) -> Line:
    """The logged line with the row's number now: rows may have moved since it was written."""
    return logged | {"row": int(one.doc.id)}


def _missing_row(one: Prepared, why: str) -> MissingRow:
    return MissingRow(int(one.doc.id), why, one.logged.get("turn"))


def _check_going_on(log: Path, missing: Iterable[Missing], in_succession: int) -> None:
    """Whether a run has a point after a batch of which these are missing; raises what ends it."""
    why = ""
    for each in missing:
        if each.ends_run is not None:
            raise each.ends_run
        why = each.why
    if in_succession >= GIVE_UP:
        raise RunError(
            f"{in_succession} prompts in succession were not answered, the last because of: {why}. All answers are in "
            f"{log}: the same command again goes on there."
        )


def _log_line(one: Prepared, outputs: Sequence[Output], seconds: float) -> Line:
    specific: dict[str, Any] = one.doc.specific or {}
    if len(outputs) != one.doc.num_samples:
        raise RunError(
            f"row {one.doc.id} of {one.doc.task_name}: the model returned {len(outputs)} answers, expected "
            f"{one.doc.num_samples}."
        )
    names = benchmark_of(find_task(one.doc.task_name)).LOGGED
    served = any(output.served for output in outputs)
    return {
        "key": one.key,
        "row": int(one.doc.id),
        **{name: specific[name] for name in names},
        **one.logged,
        "data_sha256": specific["data_sha256"],
        "prompt_sha256": hash_text(one.prompt.text),
        "prompt": one.prompt.text,
        "answers": [output.text for output in outputs],
        "finish": [output.finish for output in outputs],
        "gold": one.doc.get_golds(),
        "input_tokens": one.prompt.tokens,
        "whole_tokens": one.prompt.whole_tokens,
        "kept_prompt": one.prompt.kept_prompt,
        "kept_long": one.prompt.kept_long,
        "output_tokens": [output.length for output in outputs],
        "output_ids": [output.tokens for output in outputs],
        **({"served": [output.served._asdict() for output in outputs if output.served]} if served else {}),
        "seconds": round(seconds, 3),
    }
