"""Reads a WHO ATC/DDD table: every code of the release with its name; what is wrong with a file is said.

The columns are atc_code and atc_name, in any order and among others (DDD, unit, route, note). A substance with several
DDDs has several rows. Levels 1 to 5 have 1, 3, 4, 5 and 7 characters (https://atcddd.fhi.no/atc/structure_and_principles/).
"""

import re
from pathlib import Path

from clinical_evals.errors import InputError
from clinical_evals.ontology.table_file import read_text_columns, require_last_line_break

COLUMNS = ("atc_code", "atc_name")
MAIN_GROUPS = "ABCDGHJLMNPRSV"
"""The letters of level 1; WHO has had these 14 since the beginning."""
LENGTHS = (1, 3, 4, 5, 7)
"""Characters of a code at levels 1 to 5."""
SHAPE = re.compile(r"[A-Z](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?")
"""The whole of a code of any level, in a main group that exists or not."""
_NO_NAME = ("", "NA")  # NA is how R, which collected tables come from, writes a missing value
_GIVE = "Give a whole WHO ATC/DDD table: clinical-evals resources add atc FILE"


def read_atc(path: Path) -> dict[str, str]:
    """The names of all codes, in the order of the file.

    Raises:
        InputError: the file cannot be read, is another table or a web page, is cut off (no last line break, a code
            whose group is missing, a main group that is missing or has no substance), or has a code of another shape,
            a code without name or one with two names; names file, line and what was found.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    names: dict[str, str] = {}
    places: dict[str, str] = {}
    for where, (code, name) in read_text_columns(path, COLUMNS, _GIVE):
        code, name = code.strip().upper(), name.strip()
        _check_row(where, code, name)
        if names.setdefault(code, name) != name:
            raise InputError(
                f"{where}: {code} is {name!r} here and {names[code]!r} in {places[code]}; a code has one name, also "
                f"where it has several DDDs. {_GIVE}"
            )
        places.setdefault(code, where)
    require_last_line_break(path, _GIVE)
    _check_groups(path, places)
    return names


def _check_row(where: str, code: str, name: str) -> None:
    if not SHAPE.fullmatch(code) or code[0] not in MAIN_GROUPS:
        raise InputError(
            f"{where}: atc_code is {code!r}, expected 1, 3, 4, 5 or 7 characters such as A, A10, A10B, A10BA, A10BA02 "
            f"in one of the groups {MAIN_GROUPS}. {_GIVE}"
        )
    if name in _NO_NAME:
        raise InputError(f"{where}: atc_name of {code} is {name!r}, expected its name. {_GIVE}")


def _check_groups(path: Path, places: dict[str, str]) -> None:
    if not places:
        raise InputError(f"{path}: no rows below its header. {_GIVE}")
    orphans = [code for code in places if _group_of(code) not in places]
    if orphans:
        raise InputError(
            f"{places[orphans[0]]}: the group that {orphans[0]} belongs to is nowhere in the file (so for "
            f"{len(orphans)} codes): rows are missing, or levels 1 to 4 were left out. {_GIVE}"
        )
    with_substance = {code[0] for code in places if len(code) == LENGTHS[-1]}
    if missing := [letter for letter in MAIN_GROUPS if letter not in with_substance]:
        raise InputError(
            f"{path}: no substance (7 characters) in the main groups {', '.join(missing)}, expected some in each of "
            f"the {len(MAIN_GROUPS)}: the file is cut off, or only a part. {_GIVE}"
        )


def _group_of(code: str) -> str:
    """The code one level up; of a main group itself."""
    return code[: LENGTHS[max(0, LENGTHS.index(len(code)) - 1)]]
