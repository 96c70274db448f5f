"""Age and sex of a patient, in the forms that records use (protocol.md 1.1), as years and as "female" or "male"."""

import re
import unicodedata

MAX_YEARS = 130
"""More years than this are a slip of the pen, not an age."""

DAYS_OF_YEAR = 365.25
UNKNOWN = frozenset({"", "-", "--", "—", "/", "?", "无", "不详", "未知", "na", "n/a", "nan", "none", "null"})
"""What stands in a cell of which the record knows nothing (after NFKC, in lower case)."""

_LONGEST_TEXT = 40
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SEXES = {"female": ("女", "女性", "f", "female"), "male": ("男", "男性", "m", "male")}

# Unit, its length in years, its spellings (longest first: 周岁 before 周); parts of an age must come in this order.
_UNITS = (
    ("year", 1.0, "周岁|岁|yearsold|years|year|yrs|yr|y/o|yo|y"),
    ("month", 1 / 12, "个月龄|个月|月龄|月|months|month|mos|mo|m"),
    ("week", 7 / DAYS_OF_YEAR, "周|星期|weeks|week|wks|wk|w"),
    ("day", 1 / DAYS_OF_YEAR, "天|日龄|日|days|day|d"),
    ("hour", 1 / (24 * DAYS_OF_YEAR), "小时|hours|hour|hrs|hr|h"),
)
_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,17})?|半|[零〇一二两三四五六七八九十百]{1,5}"
_PART = re.compile(
    rf"[零又]?(?P<number>{_NUMBER})(?:{'|'.join(f'(?P<{unit}>{names})' for unit, _, names in _UNITS)})(?P<half>半)?"
)
_PLAIN_YEARS = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,17})?")


def parse_age(text: str) -> float | None:
    """An age in years, or `None` where the record gives none.

    A number without unit counts years; a month is 1/12 year, a week 7 and a year 365.25 days. 满月 is one month.

    Raises:
        ValueError: the text is not an age, or more than `MAX_YEARS` years.

    >>> [parse_age(text) for text in ("34岁", "６M", "34.0", "1岁6个月", "十二岁半", "")]
    [34.0, 0.5, 34.0, 1.5, 12.5, None]
    """
    folded = _fold(text).replace("个半月", "个月半")
    if folded in UNKNOWN:
        return None
    if folded == "满月":
        return 1 / 12
    years = float(folded) if _PLAIN_YEARS.fullmatch(folded) else _sum_of_parts(folded)
    if years is None:
        raise ValueError(
            f"{text[:_LONGEST_TEXT]!r} is not an age; expected years as a number, a form such as 34岁, 8月, 3月12天, "
            "1岁6个月, 3周, 25天, 34Y, 6M or 10D, or an empty cell where it is not known"
        )
    if years > MAX_YEARS:
        raise ValueError(f"{text!r} is more than {MAX_YEARS} years; expected the age of a living person")
    return years


def parse_sex(text: str) -> str | None:
    """ "female" or "male", or `None` where the record gives none.

    Raises:
        ValueError: the text is neither.

    >>> [parse_sex(text) for text in ("女", "Male", "Ｆ", "未知")]
    ['female', 'male', 'female', None]
    """
    folded = _fold(text)
    if folded in UNKNOWN:
        return None
    for sex, spellings in _SEXES.items():
        if folded in spellings:
            return sex
    raise ValueError(
        f"{text[:_LONGEST_TEXT]!r} is not a sex; expected 女, 男, F, M, female, male, or an empty cell where it is "
        "not known"
    )


def _fold(text: str) -> str:
    """The text as it is compared; a longer one than any age or sex is no longer read, but stays unlike all of them."""
    if len(text.strip()) > _LONGEST_TEXT:
        return "too long"
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _sum_of_parts(text: str) -> float | None:
    """Years of number-and-unit parts in descending order of unit; `None` where the text is not made of them."""
    years, position, last_unit = 0.0, 0, -1
    while position < len(text):
        part = _PART.match(text, position)
        number = _number(part["number"]) if part else None
        if part is None or number is None:
            return None
        unit = next(index for index, (name, _, _) in enumerate(_UNITS) if part[name])
        if unit <= last_unit:
            return None
        years += (number + (0.5 if part["half"] else 0.0)) * _UNITS[unit][1]
        position, last_unit = part.end(), unit
    return years


def _number(text: str) -> float | None:
    """A number in Arabic or Chinese digits up to 199; `None` where the Chinese one is not well formed."""
    if text[0].isascii():
        return float(text)
    if text == "半":
        return 0.5
    form = re.fullmatch(r"(?:(一?百)零?)?(?:([一二两三四五六七八九]?)(十))?([零〇一二两三四五六七八九]?)", text)
    if form is None:
        return None
    hundred, tens, ten, ones = form.groups()
    return (100 if hundred else 0) + (10 * _DIGITS[tens or "一"] if ten else 0) + _DIGITS[ones or "零"]
