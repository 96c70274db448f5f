"""Which rows are trained on, which stop the training, and which are scored (protocol.md 1.4).

The split is that of few-shot prompts (`ior_bench.static.split_rows`): rows in the order of a seeded hash of their ids,
a fifth held out. So the same rows are scored as with `--shots K`, and the first K training rows are its K examples.
The draw is not stratified: a rare department may lack rows in any part, which is counted.
"""

from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.static import SEED, split_rows
from clinical_evals.training.departments.cases import Case

VALIDATION_SHARE = 0.1
"""Of the rows that are not held out: 49 of 489."""


class Parts(NamedTuple):
    """Rows by number."""

    fit: list[int]
    """Trained on, in a seeded order: the first k are the subset of k, so larger subsets hold the smaller ones."""
    validation: list[int]
    """The last tenth of what is not held out; says when to stop, and is never trained on."""
    test: list[int]
    """Held out and scored; sorted."""


def part_rows(ids: Sequence[str], seed: int = SEED) -> Parts:
    """The three parts; of 611 rows 440, 49 and 122.

    Args:
        ids: of all rows; their order does not matter to which ids are in which part.
        seed: another seed is another split.

    Raises:
        InputError: so few rows that a part would be empty.

    >>> [len(part) for part in part_rows([str(row) for row in range(611)])]
    [440, 49, 122]
    """
    train, test = split_rows(ids, seed)
    size = round(len(train) * VALIDATION_SHARE)
    if not test or not size or len(train) - size < 2:
        raise InputError(
            f"{len(ids)} rows give {len(train) - size} to train on, {size} to validate and {len(test)} to score: each "
            "part needs some. Give at least 7 rows."
        )
    return Parts(train[:-size], train[-size:], test)


def check_parts(cases: Sequence[Case], parts: Parts, sizes: Sequence[int]) -> None:
    """Refuse what cannot be trained.

    Args:
        cases: all rows.
        parts: of them.
        sizes: of the subsets that are to be trained on.

    Raises:
        InputError: all training rows are of one department, or a subset is larger than the training part.
    """
    departments = {cases[row].department for row in parts.fit}
    if len(departments) < 2:
        raise InputError(
            f"all {len(parts.fit)} training rows are {departments.pop()!r}: a classifier needs at least two "
            "departments. Give more rows, or another --split-seed."
        )
    for size in sizes:
        if size > len(parts.fit):
            raise InputError(
                f"train_sizes has {size}, but there are {len(parts.fit)} training rows ({len(cases)} rows without "
                f"{len(parts.test)} held out and {len(parts.validation)} of validation). Give at most that many."
            )


class Overlap(NamedTuple):
    """What the test part has in common with the training part, or lacks in it."""

    unseen: dict[str, int]
    """Test rows of each department that no training row has: they cannot be learnt."""
    repeated: list[int]
    """Test rows whose dialogue stands in the training part too, word for word; by their place in the test part."""


def find_overlap(cases: Sequence[Case], parts: Parts) -> Overlap:
    """Find both over the whole training part."""
    departments = {cases[row].department for row in parts.fit}
    texts = {cases[row].text for row in parts.fit}
    unseen: dict[str, int] = {}
    for row in parts.test:
        if cases[row].department not in departments:
            unseen[cases[row].department] = unseen.get(cases[row].department, 0) + 1
    repeated = [place for place, row in enumerate(parts.test) if cases[row].text in texts]
    return Overlap(dict(sorted(unseen.items())), repeated)
