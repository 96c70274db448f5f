"""Our scores as lighteval metrics: one corpus-level metric a benchmark, which returns a flat dict.

lighteval averages over the tasks of a benchmark and shows a key that one of them lacks as 0.0: so every task of a
benchmark returns the same keys. It adds no standard error to a metric that returns a dict, which is as well: its own
is about 32 times too small. Levels and intervals are in our own table and files.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from clinical_evals.tasks.answered_rows import AnsweredRow, score_rows

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


class AnswerAndGold(SampleLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Takes from document and response what scoring needs; the raw answer, since the parser knows reasoning tags "
    "itself."""

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, Any]:
        """The row of one document, as it is also stored in lighteval's details."""
        return {"row": int(doc.id), "answer": model_response.text[0], "gold": doc.get_golds()}


class HierarchicalScores(CorpusLevelComputation):  # type: ignore[misc]  # lighteval is not typed
    """Precision, recall and F1 of the codes of all rows (protocol.md 2.5 and 2.6; 3 for the official protocol)."""

    def __init__(self, system: str, protocol: str = "standard", dictionary: Path | None = None) -> None:
        self.system, self.protocol, self.dictionary = system, protocol, dictionary

    def compute_corpus(self, items: Sequence[dict[str, Any]]) -> dict[str, float]:
        """The `CLIBENCH_KEYS` over all rows."""
        rows = sorted(AnsweredRow(item["row"], item["answer"], tuple(item["gold"])) for item in items)
        scores = score_rows(tuple(rows), self.system, self.protocol, self.dictionary).scores()
        return {key: scores[key] for key in CLIBENCH_KEYS}


def hierarchical_scores(system: str, protocol: str = "standard", dictionary: Path | None = None) -> CorpusLevelMetric:
    """The metric of a CliBench task whose gold codes are of this code system.

    Args:
        system: the code system.
        protocol: "standard" or "official".
        dictionary: with "official", MIMIC's dictionary of diagnoses.
    """
    return CorpusLevelMetric(
        metric_name="hierarchical_scores",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=AnswerAndGold(),
        corpus_level_fn=HierarchicalScores(system, protocol, dictionary),
    )
