"""The scores of single rows, from the same counts as those of a run."""

from collections.abc import Sequence

from clinical_evals.scoring.hierarchy import AVERAGE, Counts, measure, named, row_f1

ROW_MEASURES = ("precision", "recall", "f1")


def row_keys(levels: Sequence[str]) -> list[str]:
    """The keys of a row's scores."""
    return [f"{measure}_{level}" for measure in ROW_MEASURES for level in (*levels, AVERAGE)]


def row_scores(counts: Counts) -> list[dict[str, float]]:
    """Precision, recall and F1 of every row by itself.

    Returns:
        For each row `precision_`, `recall_` and `f1_` + each level and `average` (the mean over the levels, of the F1s
        too); floats in 0-1, 0 where undefined. The mean of the rows' F1 is the run's macro F1.
    """
    columns = named(measure(counts.values, row_f1(counts)), counts)
    return [{key: float(columns[key][row]) for key in row_keys(counts.levels)} for row in range(counts.rows)]
