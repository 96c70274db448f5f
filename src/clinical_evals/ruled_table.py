"""A table as text, with rules below its head and above its last row."""

from collections.abc import Sequence
from unicodedata import east_asian_width


def ruled(
    heads: Sequence[Sequence[str]],
    rows: Sequence[Sequence[str]],
    last_apart: bool = True,
    texts: int | None = None,
) -> str:
    """Columns of equal width.

    Args:
        heads: the rows of the head.
        rows: below them, at least one.
        last_apart: whether the last row stands below a rule of its own, as a mean does.
        texts: how many columns are text; those after them are numbers, which stand at the right of their column.
            None: all stand at the left.
    """
    widths = [max(map(_width, column)) for column in zip(*heads, *rows, strict=True)]
    left = len(widths) if texts is None else texts
    text = [
        "  ".join(
            _padded(cell, width, place < left) for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (*heads, *rows)
    ]
    rule = "-" * max(map(_width, text))
    lines = [*text[: len(heads)], rule, *text[len(heads) :]]
    if last_apart:
        lines.insert(-1, rule)
    return "\n".join(lines)


def _padded(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - _width(cell))
    return cell + blanks if left else blanks + cell


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese characters take two."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
