"""What is printed of a breakdown: one table a column, its groups from top to bottom."""

from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.breakdown import FEWEST, GroupScore
from clinical_evals.scoring.row_groups import OTHER_RACE
from clinical_evals.tasks.scored.breakdowns import Breakdown, Breakdowns
from clinical_evals.tasks.scored.code_tables import say_matcher
from clinical_evals.tasks.scored.comparison_tables import format_key, format_share

MISSING = "not given"


def format_breakdowns(breakdowns: Breakdowns) -> str:
    """Head, tables and remarks."""
    whole, by = breakdowns.whole, "case" if breakdowns.by_case else "patient"
    of = "" if breakdowns.by_case else f" of {whole.patients} patients"
    head = (
        f"{breakdowns.task.name}, {whole.rows} rows{of}, {breakdowns.protocol} protocol (in %, 95 % interval by {by})"
    )
    parts = [head, *(_format_table(each, whole, breakdowns.by_case) for each in breakdowns.by)]
    remarks = []
    if whole.few or any(group.few for each in breakdowns.by for group in each.groups):
        remarks.append(f"in parentheses: of fewer than {FEWEST} rows, too few to say anything of the group")
    if len({each.measures for each in breakdowns.by}) > 1:
        remarks.append("groups by words have the scores of the paper's Figure 2, groups by numbers those of Figure 3")
    if any(sum(group.rows for group in each.groups) > whole.rows for each in breakdowns.by):
        remarks.append("where a row has several values it is in each of their groups")
    if breakdowns.left_out:
        remarks.append(
            f"{breakdowns.left_out} rows are in no group: the {breakdowns.protocol} protocol leaves them out, or they "
            "have no answer"
        )
    if breakdowns.candidates is not None:
        said = say_matcher(breakdowns.task.system, breakdowns.protocol, breakdowns.candidates)
        remarks += [said] if said else []
    remarks.append(f"prediction log: {breakdowns.log}")
    return "\n\n".join([*parts, "\n".join(remarks)])


def _format_table(breakdown: Breakdown, whole: GroupScore, by_case: bool) -> str:
    counts = ["rows"] if by_case else ["rows", "patients", "gold a row", "predicted a row"]
    head = [breakdown.column.replace("_", " "), *counts, *map(format_key, breakdown.measures)]
    rows = [_row(group.name or MISSING, group, breakdown.measures, by_case) for group in breakdown.groups]
    table = ruled([head], [*rows, _row("all", whole, breakdown.measures, by_case)])
    merged = ", ".join(breakdown.grouped.merged)
    return f"{table}\n{OTHER_RACE}: {merged}" if merged else table


def _row(name: str, group: GroupScore, measures: tuple[str, ...], by_case: bool) -> list[str]:
    counts = [] if by_case else [str(group.patients), f"{group.gold:.1f}", f"{group.predicted:.1f}"]
    scores = [format_share(group.scores[key], group.intervals[key]) for key in measures]
    return [name, str(group.rows), *counts, *(f"({score})" if group.few else score for score in scores)]
