"""What matchers gave, as a table and as JSON."""

from collections.abc import Sequence
from typing import Any

from clinical_evals.matching.evaluation.measured import Measured
from clinical_evals.ruled_table import ruled


def format_measured(measured: Sequence[Measured]) -> str:
    """One row a matcher: accuracy by level in percent with its interval, unmatched texts, time and memory."""
    levels = list(measured[0].accuracy)
    head = ["matcher", *levels, "unmatched", "ms a text", "GB"]
    rows = [
        [
            each.name,
            *(
                f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
                for share in each.accuracy.values()
            ),
            str(each.unmatched),
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
            **each._asdict(),
            "accuracy": {level: list(share) for level, share in each.accuracy.items()},
        }
        for each in measured
    ]
