"""Our scores as lighteval metrics: one corpus-level metric a benchmark, which returns a flat dict.

lighteval averages over the tasks of a benchmark and shows a key that one of them lacks as 0.0: so every task of a
benchmark returns the same keys. It adds no standard error to a metric that returns a dict, which is as well: its own
is about 32 times too small. Levels and intervals are in our own table and files.
"""

from collections.abc import Sequence
from typing import Any

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from clinical_evals.tasks.dialogue.answered_dialogues import ReferredRow, refer_rows
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, AnsweredRow, Matching, score_rows

CLIBENCH_KEYS = (
    "f1_average",
    "f1_full",
    "precision_average",
    "recall_average",
    "macro_f1_average",
    "share_unmatched",
    "invalid_codes",
    "empty_answers",
)
"""What each task of CliBench reports to lighteval."""


IOR_KEYS = ("accuracy", "no_answer_rate", "ambiguous_rate", "macro_f1")
"""What each task of IOR-Bench reports to lighteval; `official` knows no ambiguity and leaves that rate out."""


class AnswerAndGold(SampleLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Takes from document and response what scoring needs; the raw answer, since the parser knows reasoning tags "
    "itself."""

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, Any]:
        """The row of one document, as it is also stored in lighteval's details."""
        return {"row": int(doc.id), "answer": model_response.text[0], "gold": doc.get_golds()}


class HierarchicalScores(CorpusLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Precision, recall and F1 of the codes of all rows (protocol.md 2.5 and 2.6; 3 for the official protocol)."""

    def __init__(self, system: str, protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY) -> None:
        self.system, self.protocol, self.matching = system, protocol, matching

    def compute_corpus(self, items: Sequence[dict[str, Any]]) -> dict[str, float]:
        """The `CLIBENCH_KEYS` over all rows."""
        rows = sorted(AnsweredRow(item["row"], item["answer"], tuple(item["gold"])) for item in items)
        scored = score_rows(tuple(rows), self.system, self.protocol, self.matching)
        scores = scored.scores()
        # The released scorer has no full code for labs and drugs: its finest level stands there.
        scores.setdefault("f1_full", scores[f"f1_{scored.counts.levels[-1]}"])
        return {key: scores[key] for key in CLIBENCH_KEYS}


def hierarchical_scores(
    system: str, protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY
) -> CorpusLevelMetric:
    """The metric of a CliBench task whose gold codes are of this code system.

    Args:
        system: the code system.
        protocol: "standard" or "official".
        matching: what the protocol matches with.
    """
    return CorpusLevelMetric(
        metric_name="hierarchical_scores",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=AnswerAndGold(),
        corpus_level_fn=HierarchicalScores(system, protocol, matching),
    )


class AnswersAndDepartments(SampleLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Takes from document and response what scoring a referral needs: every answer that votes.

    Args:
        votes: whether all answers vote; else the first is scored.
    """

    def __init__(self, votes: bool) -> None:
        self.votes = votes

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, Any]:
        """The row of one document, as it is also stored in lighteval's details."""
        answers = list(model_response.text) if self.votes else model_response.text[:1]
        (gold,) = doc.get_golds()
        return {"row": int(doc.id), "answers": answers, "gold": gold, "candidates": (doc.specific or {})["candidates"]}


class ReferralScores(CorpusLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Accuracy and what goes with it, over all rows (protocol.md 1.2; 3 for the official protocol)."""

    def __init__(self, protocol: str = "standard") -> None:
        self.protocol = protocol

    def compute_corpus(self, items: Sequence[dict[str, Any]]) -> dict[str, float]:
        """The `IOR_KEYS` over all rows."""
        rows = sorted(
            ReferredRow(item["row"], tuple(item["answers"]), item["gold"], tuple(item["candidates"])) for item in items
        )
        scores = refer_rows(tuple(rows), self.protocol).scores()
        return {key: scores[key] for key in IOR_KEYS if key in scores}


def referral_scores(votes: bool, protocol: str = "standard") -> CorpusLevelMetric:
    """The metric of a task that asks for one department.

    Args:
        votes: whether the department is voted by all answers to a prompt.
        protocol: "standard" or "official".
    """
    return CorpusLevelMetric(
        metric_name="referral_scores",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=AnswersAndDepartments(votes),
        corpus_level_fn=ReferralScores(protocol),
    )
