"""What is printed of a comparison: each score of each run, and how it differs from the first run's."""

from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.intervals import Z95
from clinical_evals.scoring.paired import FEWEST_PATIENTS, Z80
from clinical_evals.tasks.scored.code_tables import say_matcher
from clinical_evals.tasks.scored.comparison import Compared, ComparedRun, Comparison

_HEAD = ["score", "run", "value", "difference from run 1", "p", "p adjusted", "detectable"]


def format_comparison(comparison: Comparison) -> str:
    """Head, table and remarks."""
    by = "case" if comparison.by_case else "patient"
    first = comparison.runs[0]
    # Several ways of asking are tasks of their own.
    task = first.task.name if len({run.task for run in comparison.runs}) == 1 else f"{first.task.benchmark}:static"
    of = "" if comparison.by_case else f" of {comparison.patients} patients"
    rows = [row for name in first.scores for row in _rows(name, comparison)]
    return "\n".join(
        [
            f"{task}, {comparison.rows} rows{of}, {comparison.protocol} protocol (in %, 95 % interval by {by}; "
            "differences are paired)",
            ruled([_HEAD], rows, last_apart=False),
            *_remarks(comparison, by),
            *(f"run {number} ({run.about}): {run.log}" for number, run in enumerate(comparison.runs, 1)),
        ]
    )


def _rows(name: str, comparison: Comparison) -> list[list[str]]:
    said = format_key(name)
    return [
        [said if number == 1 else "", str(number), *_cells(run, name)] for number, run in enumerate(comparison.runs, 1)
    ]


def _cells(run: ComparedRun, name: str) -> list[str]:
    value = format_share(run.scores[name], run.intervals[name])
    if run.differences is None:
        return [value, "-", "-", "-", "-"]
    return [value, *_against(run.differences[name])]


def _against(compared: Compared) -> list[str]:
    value, low, high = (f"{100 * each:+.2f}" for each in compared[:3])
    detectable = "-" if compared.detectable is None else f"{100 * compared.detectable:.2f}"
    return [f"{value} [{low}, {high}]", _format_p(compared.p), _format_p(compared.p_adjusted), detectable]


def _remarks(comparison: Comparison, by: str) -> list[str]:
    tests = sum(len(run.differences or {}) for run in comparison.runs)
    how = "all ways counted" if comparison.exact else "ways drawn where they are too many to count"
    factor = f"{Z95 + Z80:.1f}"
    remarks = [
        f"p: sign-flip test by {by}, two-sided ({how}); adjusted: Benjamini-Hochberg over the {tests} of this table",
        f"detectable: the true difference that 80 % of such comparisons would find at 5 %, {factor} x the standard "
        "error of the difference (an approximation)",
    ]
    if comparison.candidates is not None:
        said = say_matcher(comparison.runs[0].task.system, comparison.protocol, comparison.candidates)
        remarks += [said] if said else []
    if comparison.patients < FEWEST_PATIENTS:
        remarks.append(f"of fewer than {FEWEST_PATIENTS} {by}s no test reaches 5 %, whatever the runs answered")
    for number, run in enumerate(comparison.runs, 1):
        if run.rows_elsewhere:
            rows = ", ".join(map(str, run.rows_elsewhere[:10])) + (", …" if run.rows_elsewhere[10:] else "")
            remarks.append(f"left out: {len(run.rows_elsewhere)} rows of run {number} that another has not ({rows})")
        if run.rows_left_out:
            remarks.append(f"run {number}: {run.rows_left_out} of the rows predict nothing, official leaves them out")
    return remarks


def format_key(name: str) -> str:
    """A key of scores as tables say it.

    >>> format_key("f1_average"), format_key("precision_full")
    ('F1 average', 'precision full')
    """
    return name.replace("f1_", "F1_").replace("_", " ")


def format_share(value: float, interval: tuple[float, float]) -> str:
    """In percent, with its interval."""
    low, high = interval
    return f"{100 * value:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def _format_p(p: float) -> str:
    return f"{p:.4f}"
