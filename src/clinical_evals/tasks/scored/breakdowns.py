"""`clinical-evals breakdown`: the scores of a log by groups of its rows (CliBench, section 6, Figures 2 and 3).

What rows are grouped by stands in the dataset, which the log does not repeat: each row is looked up there by the hash
of its data.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.scoring.breakdown import GroupScore, score_group, score_groups
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import hash_row
from clinical_evals.tasks.scored.answered_rows import Matching
from clinical_evals.tasks.scored.breakdown_columns import CASE_COLUMNS, CODE_COLUMNS, By, Grouped, Row, group_rows
from clinical_evals.tasks.scored.counted_rows import CountedRows, candidates_of, count_rows, data_hashes, read_result
from clinical_evals.tasks.scored.results import Result


class Breakdown(NamedTuple):
    """The groups of one column."""

    column: str
    grouped: Grouped
    measures: tuple[str, ...]
    """The scores to be shown: of numbers those of Figure 3, of texts that of Figure 2."""
    groups: list[GroupScore]


class Breakdowns(NamedTuple):
    """A log, broken down."""

    log: Path
    task: Task
    protocol: str
    candidates: str | None
    """What titles texts were matched to; None of referrals."""
    by_case: bool
    """Whether it is of referrals: each case is then a patient of its own."""
    left_out: int
    """Rows that are in no group, since the protocol does not count them."""
    whole: GroupScore
    """All others."""
    by: list[Breakdown]

    def as_json(self) -> dict[str, Any]:
        """Everything, with the path as it was given."""
        return {
            "log": str(self.log),
            "task": self.task.name,
            "protocol": self.protocol,
            "protocol_version": PROTOCOL_VERSION,
            "candidates": self.candidates,
            "rows_left_out": self.left_out,
            "all": _as_json(self.whole),
            "by": {each.column: [_as_json(group) for group in each.groups] for each in self.by},
        }


def _as_json(group: GroupScore) -> dict[str, Any]:
    return group._asdict() | {"few": group.few}


def break_down(
    log: Path,
    by: Sequence[By] = (),
    protocol: str = "standard",
    dictionary: Path | None = None,
    matcher: str = PROTOCOL,
) -> Breakdowns:
    """Score the groups of a log's rows.

    Args:
        log: the predictions.jsonl or transcripts.jsonl of a run.
        by: columns; without any those of the papers' figures.
        protocol: "standard" or "official".
        dictionary: for "official": MIMIC's d_icd_diagnoses.
        matcher: for "standard": what turns texts into codes, a name of `matching.matchers`.

    Raises:
        ClinicalEvalsError: log or dictionary cannot be used; the dataset has not the rows that were asked; a column is
            not there or cannot be grouped.
    """
    result = read_result(log, protocol, Matching(dictionary, matcher))
    of_data = _find_rows(result)
    counted = count_rows(result).on(of_data.keys())
    if not counted.rows:
        raise InputError(f"{log}: no row counts under the {protocol} protocol, so there is nothing to break down.")
    rows = [of_data[row] for row in counted.rows]
    columns = by or [By(column) for column in (CODE_COLUMNS if result.task.system else CASE_COLUMNS)]
    grouped = {each.column: group_rows(each, rows, result.task) for each in columns}  # all, before any is scored
    whole = score_group(counted.run, None, range(len(rows)), not counted.by_case)
    return Breakdowns(
        log,
        result.task,
        protocol,
        candidates_of(result),
        counted.by_case,
        len(result.lines) - len(rows),
        _shown(whole, counted),
        [_break_down(column, each, counted) for column, each in grouped.items()],
    )


def _break_down(column: str, grouped: Grouped, counted: CountedRows) -> Breakdown:
    groups = score_groups(counted.run, grouped.groups, not counted.by_case)
    return Breakdown(column, grouped, counted.measures(grouped.numbers), [_shown(group, counted) for group in groups])


def _shown(group: GroupScore, counted: CountedRows) -> GroupScore:
    """Only the scores that readers want to see first."""
    keys = counted.keys().items()
    scores = {name: group.scores[key] for name, key in keys}
    return group._replace(scores=scores, intervals={name: group.intervals[key] for name, key in keys})


def _find_rows(result: Result) -> dict[int, Row]:
    """By row of the log the row of the dataset that has the same data.

    Raises:
        InputError: the dataset does not have them all.
    """
    from datasets import load_dataset

    task, hashes = result.task, data_hashes(result)
    split = result.run().get("split", "test")
    of_data = {hash_row(row): row for row in load_dataset(task.dataset, task.subset, split=split)}
    if unknown := [row for row, data in hashes.items() if data not in of_data]:
        named = ", ".join(map(str, unknown[:10])) + (", …" if unknown[10:] else "")
        variable = "CLIBENCH_DIR" if task.dataset == "clibench" else "IOR_BENCH_DIR"
        raise InputError(
            f"{len(unknown)} of {len(hashes)} rows of {result.log} ({named}) are not in the dataset {task.dataset}, "
            f"{task.subset} as it is now: their data has another hash. Let {variable} name the folder of that run's "
            "data."
        )
    return {row: of_data[data] for row, data in hashes.items()}
