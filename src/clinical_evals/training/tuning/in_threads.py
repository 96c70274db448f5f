"""Rows tokenised beside each other: fast tokenizers leave Python's lock while they work."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

AT_ONCE = 64
"""Rows that are read ahead: so many are held in memory."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results in the order of the items; what the first of them that fails raises is raised.

    The first item is alone: it ends the padding that a tokenizer may come with, so that no thread changes what another
    one uses.
    """
    rest = iter(items)
    for first in rest:
        yield function(first)
        break
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        while batch := list(islice(rest, AT_ONCE)):
            yield from pool.map(function, batch)
