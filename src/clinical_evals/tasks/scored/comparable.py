"""Whether runs may be compared: asked the same, on the same data."""

from collections.abc import Sequence
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.tasks.scored.counted_rows import data_hashes
from clinical_evals.tasks.scored.dialogue_results import DialogueResult
from clinical_evals.tasks.scored.results import Result


def check_logs(logs: Sequence[Path]) -> None:
    """There are several, and each is another.

    Raises:
        InputError: it is not so.
    """
    if len(logs) < 2:
        raise InputError(f"a comparison is of at least two logs, found {len(logs)}.")
    if len({log.resolve() for log in logs}) < len(logs):
        raise InputError(f"a log is given twice: {', '.join(map(str, logs))}.")


def common_rows(results: Sequence[Result]) -> set[int]:
    """The rows that all runs answered.

    Raises:
        InputError: there are none, or two runs are of other tasks, prompt versions, numbers of turns or data.
    """
    for other in results[1:]:
        _check_asked(results[0], other)
        _check_data(results[0], other)
    common = set.intersection(*({line["row"] for line in result.lines} for result in results))
    if not common:
        raise InputError(
            f"no row is in all of {', '.join(str(result.log) for result in results)}: run them on the same rows."
        )
    return common


def _check_asked(first: Result, other: Result) -> None:
    # The ways of asking of ior_bench:static are tasks of their own, on the same rows.
    if (first.task.dataset, first.task.subset) != (other.task.dataset, other.task.subset):
        raise InputError(
            f"{other.log} is of {other.task.name}, {first.log} of {first.task.name}: runs of one task are compared."
        )
    version, other_version = (result.run().get("prompt") for result in (first, other))
    if version != other_version:
        raise InputError(
            f"{other.log} was asked with prompt version {other_version}, {first.log} with {version}: such scores are "
            "not compared. Run the older one again."
        )
    turns, other_turns = (len(result.turns) if isinstance(result, DialogueResult) else 0 for result in (first, other))
    if turns != other_turns:
        raise InputError(
            f"{other.log} has dialogues of {other_turns} turns, {first.log} of {turns}: their last turns are not "
            "compared. Run them with the same --turns."
        )


def _check_data(first: Result, other: Result) -> None:
    data, other_data = data_hashes(first), data_hashes(other)
    differ = [row for row in sorted(data.keys() & other_data.keys()) if data[row] != other_data[row]]
    if differ:
        shown = "; ".join(f"row {row}: {data[row][:12]} and {other_data[row][:12]}" for row in differ[:5])
        more = f"; and rows {', '.join(map(str, differ[5:]))}" if differ[5:] else ""
        raise InputError(
            f"{len(differ)} rows have other data in {other.log} than in {first.log} (data_sha256 of {shown}{more}). "
            "Compare runs on the same dataset."
        )
