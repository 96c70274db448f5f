"""Words of a text, sets of words, and results kept for lines that repeat."""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def remembered(function: _Function) -> _Function:
    """Keep the results for short texts: the lines of answers repeat, and each is looked at from several sides."""
    cached = lru_cache(maxsize=8192)(function)

    @wraps(function)
    def look_up(text: str, *args: Any, **kwargs: Any) -> Any:
        return cached(text, *args, **kwargs) if len(text) <= 300 else function(text, *args, **kwargs)

    return cast(_Function, look_up)


_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


@remembered
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, a possessive 's removed."""
    return tuple(word.removesuffix("'s") for word in _WORDS.findall(text.lower()))
