"""A lighteval model whose prompts are cut to it, whose answers are logged as they come, and which asks nothing "
"twice."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

from clinical_evals.clibench.prompts import SYSTEM, user_text
from clinical_evals.clibench.segments import Segments
from clinical_evals.clibench.truncation import FittedPrompt, Room, fit_prompt
from clinical_evals.errors import RunError
from clinical_evals.ontology import get_system
from clinical_evals.tasks.chat import ChatPrompt
from clinical_evals.tasks.generation import Generator, Output
from clinical_evals.tasks.names import find_task
from clinical_evals.tasks.prediction_log import Line, PredictionLog, hash_text, row_key
from clinical_evals.tasks.progress import Progress


class Run(NamedTuple):
    """One task on one model: where its log is, and what decides its answers."""

    path: Path
    identity: dict[str, Any]
    """See `PredictionLog`."""


class Prepared(NamedTuple):
    """A document with its final prompt."""

    doc: Doc
    key: str
    prompt: FittedPrompt


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
        chat: renders and counts prompts for it.
        room: its context, and what of it is kept for the answer.
        runs: by full task name.
        about: more for the header of each log, such as versions of libraries.
        samples: answers to each prompt; above 1 the model must sample them (a temperature above 0).

    Attributes:
        sources: by full task name the mark of where its rows come from, for the header; set before it is asked.
        lines: by full task name the log lines of its documents, sorted by row.
        resumed: by full task name how many documents were already answered.
    """

    def __init__(
        self,
        generator: Generator,
        chat: ChatPrompt,
        room: Room,
        runs: Mapping[str, Run],
        about: Mapping[str, Any],
        samples: int = 1,
    ) -> None:
        self.generator, self.chat, self.room, self.runs, self.about = generator, chat, room, runs, about
        self.samples = samples
        self.config = generator.model.config
        self.sources: dict[str, str] = {}
        self.lines: dict[str, list[Line]] = {}
        self.resumed: dict[str, int] = {}
        self._cache = NoCache()

    @property
    def tokenizer(self) -> Any:
        """The real model's."""
        return self.generator.model.tokenizer

    @property
    def add_special_tokens(self) -> bool:
        """Whether tokenising a final prompt adds special tokens."""
        return self.chat.add_special_tokens

    @property
    def max_length(self) -> int:
        """The context in tokens."""
        return self.room.context

    def cleanup(self) -> None:
        """Free the real model's memory."""
        self.generator.model.cleanup()

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """The answers to all documents: from the log where they are there, else generated and logged batch by "
        "batch."""
        _check_gold(docs)
        responses: dict[int, ModelResponse] = {}
        for task, group in groupby(sorted(docs, key=lambda doc: doc.task_name), key=lambda doc: doc.task_name):
            for prepared, line in self._answer(task, list(group)):
                responses[id(prepared.doc)] = self._response(prepared, line)
        return [responses[id(doc)] for doc in docs]

    def loglikelihood(self, docs: list[Doc]) -> list[ModelResponse]:
        """No task of ours needs it."""
        raise NotImplementedError("the tasks of clinical-evals are answered by generation only")

    loglikelihood_rolling = loglikelihood

    def _answer(self, task: str, docs: list[Doc]) -> list[tuple[Prepared, Line]]:
        run = self.runs[task]
        prepared = [self._prepare(run, doc) for doc in docs]
        about = {"source": self.sources[task], **self.about}
        log = PredictionLog(run.path, run.identity, about, write=self.generator.is_main)
        self.generator.wait_for_everyone()  # all processes must have read the same log before one writes
        try:
            self.resumed[task] = sum(one.key in log.rows for one in prepared)
            self._generate_missing(log, prepared)
            answered = [(one, log.rows[one.key] | {"row": int(one.doc.id)}) for one in prepared]
        finally:
            log.close()
        self.lines[task] = sorted((line for _, line in answered), key=lambda line: int(line["row"]))
        return answered

    def _prepare(self, run: Run, doc: Doc) -> Prepared:
        specific: dict[str, Any] = doc.specific or {}
        prompt = fit_prompt(
            Segments(**specific.pop("segments")),
            lambda segments: self.chat.render(SYSTEM, user_text(specific["config"], segments)),
            self.chat,
            self.room,
            f"row {doc.id} of {doc.task_name}",
        )
        prompt_sha256 = hash_text(prompt.text)
        # lighteval stores the document in its details: it shows the prompt as sent, and how much of it was kept.
        doc.query, doc.generation_size, doc.num_samples = prompt.text, self.room.reserved, self.samples
        specific |= {"prompt_sha256": prompt_sha256, "kept_prompt": prompt.kept_prompt, "kept_long": prompt.kept_long}
        return Prepared(doc, row_key(run.identity, specific["data_sha256"], prompt_sha256), prompt)

    def _generate_missing(self, log: PredictionLog, prepared: Sequence[Prepared]) -> None:
        # Batches are made of all rows and only then thinned out: a resumed run computes the batches of a whole one.
        distinct = {one.key: one for one in prepared}.values()
        ordered = sorted(distinct, key=lambda one: (-len(one.prompt.text), int(one.doc.id)))
        size = self.generator.rows_at_once
        batches = [
            [one for one in ordered[i : i + size] if one.key not in log.rows] for i in range(0, len(ordered), size)
        ]
        batches = [batch for batch in batches if batch]
        with Progress(sum(map(len, batches)), self.room.reserved, show=self.generator.is_main) as progress:
            for batch in batches:
                started = monotonic()
                outputs = self.generator.generate([one.doc for one in batch], progress)
                seconds = (monotonic() - started) / len(batch)
                lines = [self._line(one, output, seconds) for one, output in zip(batch, outputs, strict=True)]
                if self.generator.is_main:
                    log.append(lines)
                else:
                    log.rows |= {line["key"]: line for line in lines}
                progress.finish_rows(len(batch))

    def _line(self, one: Prepared, outputs: Sequence[Output], seconds: float) -> Line:
        specific: dict[str, Any] = one.doc.specific or {}
        if len(outputs) != self.samples:
            raise RunError(
                f"row {one.doc.id} of {one.doc.task_name}: the model returned {len(outputs)} answers, expected "
                f"{self.samples}."
            )
        return {
            "key": one.key,
            "row": int(one.doc.id),
            "subject_id": specific["subject_id"],
            "data_sha256": specific["data_sha256"],
            "prompt_sha256": specific["prompt_sha256"],
            "prompt": one.prompt.text,
            "answers": [output.text for output in outputs],
            "finish": [output.finish for output in outputs],
            "gold": one.doc.get_golds(),
            "input_tokens": one.prompt.tokens,
            "whole_tokens": one.prompt.whole_tokens,
            "kept_prompt": one.prompt.kept_prompt,
            "kept_long": one.prompt.kept_long,
            "output_tokens": [len(output.tokens) for output in outputs],
            "output_ids": [output.tokens for output in outputs],
            "seconds": round(seconds, 3),
        }

    def _response(self, one: Prepared, line: Line) -> ModelResponse:
        # Built from the log line in every case, so that lighteval's files do not tell a resumed run from another.
        return ModelResponse(
            input=one.prompt.text,
            input_tokens=self.chat.encode(one.prompt.text),
            text=list(line["answers"]),
            output_tokens=[list(tokens) for tokens in line["output_ids"]],
        )


def _check_gold(docs: Sequence[Doc]) -> None:
    """A gold code that the release does not have would end the run only when all answers are there."""
    for doc in docs:
        system = get_system(find_task(doc.task_name).system)
        system.require(doc.get_golds(), f"row {doc.id} of {doc.task_name.split('|')[0]}, column codes")
