"""MIMIC-IV's identifiers, found by their values: under any column name, as numbers or as text.

MIMIC-IV draws its identifiers at random from three ranges: subject_id 10,000,000-19,999,999, hadm_id
20,000,000-29,999,999, stay_id 30,000,000-39,999,999. A column holds them when many *distinct* values lie there and few
just below or above; file sizes, counters, dates and hashes do not look so.
"""

import re

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

FIRST, LAST = 10_000_000, 39_999_999
"""The three ranges touch each other: together they are one."""
BELOW, ABOVE = 4_000_000, 99_999_999
"""The neighbourhood. A smooth quantity (bytes, counts, random integers) has more values here than in the ranges."""
ENOUGH = 5
"""Distinct values in range that make a column of any name suspicious."""
NEIGHBOUR_FACTOR = 4
"""In range there must be this many times the distinct values of the neighbourhood."""
SKETCH = 4_096
"""Distinct values remembered a column; beyond it an even sample of the distinct values is kept."""
LONGEST_PREFIX = 12
"""Letters that may stand before an id in one word, as in p10000032."""

MIMIC_NAME = re.compile(r"(?:subject|hadm|stay)ids?$")
PATIENT_NAME = re.compile(r"patient|subject|hadm|admission|visit|encounter|^stay|^mrn|^pid$")
SIZE_NAMES = frozenset(
    {"numbytes", "downloadsize", "datasetsize", "sizeinbytes", "totalsize", "numexamples", "numparameters"}
)
"""What Hugging Face's own cards and indexes call sizes and counts."""

_DIGITS = np.zeros(256, dtype=bool)
_DIGITS[ord("0") : ord("9") + 1] = True
_LETTERS = np.zeros(256, dtype=bool)
_LETTERS[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)]] = True
_DOT, _ZERO = np.uint8(ord(".")), np.uint8(ord("0"))


def in_range(values: Integers) -> NDArray[np.bool_]:
    """Which values lie in one of MIMIC-IV's ranges."""
    return (values >= FIRST) & (values <= LAST)


def _is_date(values: Integers) -> NDArray[np.bool_]:
    """Which values read as YYYYMMDD of 1900-2299: about one in a hundred hadm_ids does, every written date does."""
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    return (year >= 1900) & (year < 2300) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)


def find_numbers(block: bytes) -> tuple[Integers, Integers]:
    """The whole numbers of seven or eight digits in a text, as words of their own, and where each begins.

    A word may have up to twelve letters before the digits. Not taken: parts of longer words (hashes), decimals, and
    numbers that touch either end of the block: they may go on in the next one (pad a whole text with line ends).

    >>> values, places = find_numbers(b" p10000032, 22595853.0; 0.22595853 a1b22595853 ")
    >>> values.tolist()
    [10000032, 22595853]
    """
    text = np.frombuffer(block, dtype=np.uint8)
    digits = (text - _ZERO) < 10
    edges = np.flatnonzero(digits[1:] != digits[:-1]) + 1
    if text.size and digits[0]:
        edges = edges[1:]  # the end of a number that touches the block's start
    starts, ends = edges[: edges.size // 2 * 2 : 2], edges[1::2]
    length = ends - starts
    keep = (length >= 7) & (length <= 8)
    starts, ends, length = starts[keep], ends[keep], length[keep]
    keep = _ends_a_word(text, ends) & _begins_a_word(text, starts)
    starts, ends, length = starts[keep], ends[keep], length[keep]
    values = np.zeros(starts.size, dtype=np.int64)
    for place in range(8):  # the digits from the right; a number of seven has no eighth
        digit = text[ends - 1 - place].astype(np.int64) - int(_ZERO)
        values += np.where(place < length, digit * 10**place, 0)
    return values, starts.astype(np.int64)


def _ends_a_word(text: NDArray[np.uint8], ends: Integers) -> NDArray[np.bool_]:
    at = [text[np.minimum(ends + step, text.size - 1)] for step in range(3)]
    decimal = (at[0] == _DOT) & _DIGITS[at[1]] & (ends + 1 < text.size)
    whole = (at[1] == _ZERO) & ~_DIGITS[at[2]]  # 22595853.0: an integer column with gaps, as pandas writes it
    good: NDArray[np.bool_] = ~_LETTERS[at[0]] & (~decimal | whole)
    return good


def _begins_a_word(text: NDArray[np.uint8], starts: Integers) -> NDArray[np.bool_]:
    before = text[starts - 1]
    good: NDArray[np.bool_] = ~((before == _DOT) & _DIGITS[text[np.maximum(starts - 2, 0)]] & (starts >= 2))
    for number in np.flatnonzero(_LETTERS[before]):
        start = int(starts[number])
        head = text[max(0, start - LONGEST_PREFIX - 1) : start][::-1]
        stops = np.flatnonzero(~_LETTERS[head])
        good[number] = not _DIGITS[head[stops[0]]] if stops.size else head.size <= LONGEST_PREFIX
    return good


class IdColumn:
    """The distinct values of one column in MIMIC-IV's ranges and in their neighbourhood, in bounded memory.

    Args:
        name: the column's name or the key in a JSON object; empty for free text.
    """

    def __init__(self, name: str) -> None:
        plain = re.sub(r"[^a-z0-9]", "", name.lower())
        self.has_mimic_name = MIMIC_NAME.search(plain) is not None
        self.has_patient_name = PATIENT_NAME.search(plain) is not None
        self.is_size = plain in SIZE_NAMES
        self.sample: Integers = np.empty(0, dtype=np.int64)
        """The remembered distinct values, sorted."""
        self._share = 1 << 32  # values whose hash is below it are kept: an even sample of the distinct ones

    def add(self, values: Integers) -> None:
        """Take more values of the column (any integers)."""
        values = values[(values >= BELOW) & (values <= ABOVE)]
        values = values[~_is_date(values)]
        fresh = np.unique(values[_hash(values) < self._share])
        self.sample = np.union1d(self.sample, fresh)
        while self.sample.size > SKETCH:
            self._share //= 2
            self.sample = self.sample[_hash(self.sample) < self._share]

    def add_column(self, other: "IdColumn") -> None:
        """Take the values of a column of the same name elsewhere."""
        self._share = min(self._share, other._share)
        self.sample = self.sample[_hash(self.sample) < self._share]
        self.add(other.sample)

    @property
    def inside(self) -> Integers:
        """The remembered distinct values in MIMIC-IV's ranges, sorted."""
        return self.sample[in_range(self.sample)]

    @property
    def distinct(self) -> int:
        """About how many distinct values in MIMIC-IV's ranges the column has (exact up to 4,096)."""
        return int(self.inside.size * (1 << 32) / self._share)

    @property
    def stands_out(self) -> bool:
        """Whether there are many more distinct values in the ranges than in their neighbourhood."""
        return self.inside.size >= NEIGHBOUR_FACTOR * (self.sample.size - self.inside.size)

    @property
    def looks_drawn(self) -> bool:
        """Whether the values are strewn as MIMIC's are: no counter, and not all of about one size.

        MIMIC's values lie anywhere in a range; only the subject_ids of the demo and of other sorted beginnings lie
        close together, at the very start of theirs.
        """
        inside = self.inside
        span = int(inside[-1] - inside[0]) + 1
        if self.distinct > span // 2:
            return False
        return span > 1_000_000 or int(inside[0]) < FIRST + 100_000


def _hash(values: Integers) -> Integers:
    """Thirty-two well-mixed bits of each value (Knuth's multiplicative hash)."""
    return (values * 2_654_435_761) & 0xFFFF_FFFF
