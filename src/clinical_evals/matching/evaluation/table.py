"""What matchers gave, as a table and as JSON."""

from collections.abc import Sequence
from typing import Any

from clinical_evals.matching.evaluation.measured import Measured
from clinical_evals.ruled_table import ruled


def format_measured(measured: Sequence[Measured]) -> str:
    """One row a matcher: accuracy by level in percent with its interval, time and memory.

    "same code" is the share of the texts, in percent, that are taken for the same code as by the first matcher.
    """
    levels = list(measured[0].accuracy)
    head = ["matcher", *levels, "same code", "ms a text", "GB more"]
    rows = [
        [
            each.name,
            *(
                f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
                for share in each.accuracy.values()
            ),
            f"{100 * each.same_codes(measured[0]):.1f}",
            f"{1000 * each.seconds:.2f}",
            f"{each.memory:.2f}",
        ]
        for each in measured
    ]
    return ruled([head], rows, last_apart=False)


def as_json(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """The same for programs: shares 0-1 as [value, low, high], seconds a text, GB."""
    return [
        {
            **{name: value for name, value in each._asdict().items() if name != "found"},
            "same_codes_as_first": each.same_codes(measured[0]),
            "accuracy": {level: list(share) for level, share in each.accuracy.items()},
        }
        for each in measured
    ]
