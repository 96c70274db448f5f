"""The rows of a scored log as counts, whatever the task asks for: comparisons, studies and breakdowns start from them.

A referral is a row with one gold and one predicted label, so its accuracy is a precision; a dialogue is its last turn.
"""

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.scoring.department import ACCURACY, outcome_counts
from clinical_evals.scoring.hierarchy import AVERAGE
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.paired import Run
from clinical_evals.tasks.scored.answered_rows import AS_PROTOCOLS_SAY, Matching, protocols_of
from clinical_evals.tasks.scored.code_results import CodeResult
from clinical_evals.tasks.scored.department_results import DepartmentResult
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.results import Intervals, Result
from clinical_evals.tasks.scored.scoring_runs import score_log


class CountedRows(NamedTuple):
    """The rows that the protocol counts (`official` leaves out rows that predict no code)."""

    rows: tuple[int, ...]
    """The place of each in the split."""
    run: Run
    """Their counts and patients, in the same order; of referrals each case is a patient of its own."""
    by_case: bool
    """Whether it is of referrals."""

    def on(self, rows: AbstractSet[int]) -> "CountedRows":
        """Those of them that are among these rows of the split."""
        places = [place for place, row in enumerate(self.rows) if row in rows]
        run = Run(self.run.counts.take(places), [self.run.groups[place] for place in places])
        return self._replace(rows=tuple(self.rows[place] for place in places), run=run)

    def keys(self) -> dict[str, str]:
        """What a reader wants to see first: by name the key of `scoring.hierarchy.scores` that has it."""
        if self.by_case:
            return {"accuracy": ACCURACY}
        names = (*self.of_level(AVERAGE), *self.of_level(self.run.counts.levels[-1]))
        return dict(zip(names, names, strict=True))

    def of_level(self, level: str) -> tuple[str, str, str]:
        """The keys of precision, recall and F1 at a level."""
        return f"precision_{level}", f"recall_{level}", f"f1_{level}"

    def measures(self, of_numbers: bool) -> tuple[str, ...]:
        """Which of them a breakdown shows: by numbers those of CliBench's Figure 3, by words that of Figure 2."""
        if self.by_case:
            return ("accuracy",)
        return self.of_level(self.run.counts.levels[-1]) if of_numbers else (f"f1_{AVERAGE}",)

    def intervals(self) -> Intervals:
        """As `clinical-evals score` gives them: over patients, or over cases."""
        return bootstrap(self.run.counts, None if self.by_case else self.run.groups)


def count_rows(result: Result) -> CountedRows:
    """The rows of a result."""
    match result:
        case CodeResult():
            lines = result.scored.of_scored_rows(result.lines)
            run = Run(result.scored.counts, [line["subject_id"] for line in lines])
            return CountedRows(tuple(line["row"] for line in lines), run, by_case=False)
        case DepartmentResult() | DialogueResult():
            rows = tuple(line["row"] for line in result.lines)
            return CountedRows(rows, Run(outcome_counts(result.scored.outcomes), rows), by_case=True)
    raise TypeError(type(result))


def read_result(log: Path, protocol: str = "standard", matching: Matching = AS_PROTOCOLS_SAY) -> Result:
    """Score a log by one protocol, and write nothing.

    Raises:
        ClinicalEvalsError: log or dictionary cannot be used; said before anything is scored.
    """
    return score_log(log, protocols_of(protocol, matching), matching).results[0]


def candidates_of(result: Result) -> str | None:
    """What titles texts were matched to; None where a task asks for no codes."""
    return str(result.scored.info["candidates"]) if isinstance(result, CodeResult) else None


def data_hashes(result: Result) -> dict[int, str]:
    """By row of the split the hash of the data that was asked; without dialogues that broke off before any answer.

    Raises:
        InputError: a line of the log has none.
    """
    if isinstance(result, DialogueResult):
        lines = [line for each in result.scored.dialogues for line in each.played.lines[:1]]
    else:
        lines = result.lines
    for line in lines:
        if not isinstance(line.get("data_sha256"), str):
            raise InputError(f"{result.log}, row {line['row']}: no data_sha256: no row of this version's logs.")
    return {line["row"]: line["data_sha256"] for line in lines}
