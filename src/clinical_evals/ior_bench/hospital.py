"""A hospital's own table (CSV, XLSX, JSONL) as rows of the dataset: its columns are named feature by feature."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.age_and_sex import parse_age, parse_sex
from clinical_evals.ior_bench.data import RECORD_FIELDS, Draft, Read, dialogue_row, gather_rows, record_row
from clinical_evals.ior_bench.dialogue_text import Turn, check_turns, parse_dialogue
from clinical_evals.ior_bench.labels import Labels, read_departments
from clinical_evals.ior_bench.records import Record, RowError, Table, find_column, listed, read_cell
from clinical_evals.ior_bench.tables import read_table

STATIC_COLUMNS = ("id", "age", "sex", "dialogue", "question", "answer", "department")
DYNAMIC_COLUMNS = ("id", "age", "sex", *RECORD_FIELDS, "department")
_KNOWN = tuple(dict.fromkeys((*STATIC_COLUMNS, *DYNAMIC_COLUMNS)))
_EXAMPLE = "For example: department=科室,question=title+ask,age=年龄."


def parse_columns(text: str) -> dict[str, str]:
    """The value of `--columns`, FEATURE=COLUMN separated by commas, as feature → column.

    `question=title+ask` joins two columns; so may every text feature.

    Raises:
        UnknownNameError: a feature that neither kind of table has.
        InputError: a part without =, without a name on either side, or a feature named twice.

    >>> parse_columns("department=科室, question=title+ask")
    {'department': '科室', 'question': 'title+ask'}
    """
    columns: dict[str, str] = {}
    for part in text.replace("，", ",").split(","):
        feature, sign, column = (piece.strip() for piece in part.partition("="))
        if not (feature and sign and column):
            raise InputError(f"--columns: {part.strip()!r} is not FEATURE=COLUMN. {_EXAMPLE}")
        if feature not in _KNOWN:
            raise UnknownNameError("feature in --columns", feature, _KNOWN, _EXAMPLE)
        if feature in columns:
            raise InputError(f"--columns names {feature} twice: {columns[feature]!r} and {column!r}. Keep one.")
        columns[feature] = column
    return columns


def read_hospital_static(
    path: Path, columns: Mapping[str, str], departments: Path | None = None, skip_invalid: bool = False
) -> Read:
    """Rows of the static task from a hospital's table of dialogues or questions.

    A `dialogue` is a list as the authors write it, a list of role and content, or lines such as 患者：…; a `question`
    becomes one turn of the patient. An `answer` is added as the last doctor turn, which the task cuts away. A dialogue
    without any doctor turn is refused: who marks the doctor otherwise would show the answer; a question needs none.

    Args:
        path: the table (.csv, .tsv, .txt, .xlsx, .jsonl).
        columns: feature → column, see `STATIC_COLUMNS`: `department`, and either `dialogue` or `question`.
        departments: the hospital's list (see `read_departments`); else the departments that occur are the candidates.
        skip_invalid: leave out, count and list records that cannot be used, instead of stopping at the first.

    Raises:
        InputError: a column is missing, or a record cannot be used (file, line, reason, way out).
        ResourceMissingError: the table is a workbook and openpyxl is not installed.
    """
    _check_features(columns, STATIC_COLUMNS, "static")
    if ("dialogue" in columns) == ("question" in columns):
        named = "both are" if "dialogue" in columns else "neither is"
        raise InputError(f"a static table has a dialogue or a question column; {named} named. {_EXAMPLE}")
    table = read_table(path)
    found = {feature: _find_columns(table, feature, column) for feature, column in columns.items()}

    def draft(record: Record) -> Draft:
        turns, empty = _turns(record, found)
        row_id, age, sex, label = _common(record, found, "static")
        return Draft(dialogue_row(row_id, age, sex, turns, label), empty)

    return gather_rows(table, draft, _labels(departments), skip_invalid)


def read_hospital_dynamic(
    path: Path, columns: Mapping[str, str], departments: Path | None = None, skip_invalid: bool = False
) -> Read:
    """Rows of the dynamic task from a hospital's table of records; a field without column is "" in every row.

    Args:
        path: the table (.csv, .tsv, .txt, .xlsx, .jsonl).
        columns: feature → column, see `DYNAMIC_COLUMNS`: `department`, and one field of the record or more.
        departments: the hospital's list (see `read_departments`); else the departments that occur are the candidates.
        skip_invalid: leave out, count and list records that cannot be used, instead of stopping at the first.

    Raises:
        InputError: a column is missing, or a record cannot be used (file, line, reason, way out).
        ResourceMissingError: the table is a workbook and openpyxl is not installed.
    """
    _check_features(columns, DYNAMIC_COLUMNS, "dynamic")
    if not any(field in columns for field in RECORD_FIELDS):
        raise InputError(f"a dynamic table has at least one of {', '.join(RECORD_FIELDS)}; --columns names none.")
    table = read_table(path)
    found = {feature: _find_columns(table, feature, column) for feature, column in columns.items()}

    def draft(record: Record) -> Draft:
        row_id, age, sex, label = _common(record, found, "dynamic")
        fields = [_joined(record, found.get(field, ())) for field in RECORD_FIELDS]
        return Draft(record_row(row_id, age, sex, fields, label))

    return gather_rows(table, draft, _labels(departments), skip_invalid)


def _labels(departments: Path | None) -> Labels:
    return read_departments(departments) if departments else Labels()


def _check_features(columns: Mapping[str, str], known: Sequence[str], kind: str) -> None:
    for feature in columns:
        if feature not in known:
            raise UnknownNameError(f"feature of a {kind} table", feature, known, _EXAMPLE)
    if "department" not in columns:
        raise InputError(f"--columns names no department column; a {kind} table needs one. {_EXAMPLE}")


def _find_columns(table: Table, feature: str, column: str) -> list[str]:
    """The columns that a feature is made of; a column whose own name holds a + is taken as it is."""
    names = [column] if column in table.columns else [name.strip() for name in column.split("+")]
    if len(names) > 1 and feature in ("id", "age", "sex", "dialogue", "department"):
        raise InputError(f"{feature} is read from one column, not from {listed(names)}. Name one of them.")
    return [find_column(table, [name], f"for {feature}") for name in names]


def _joined(record: Record, columns: Sequence[str]) -> str:
    """The texts of columns under each other, each once."""
    texts = [read_cell(record, column, _text) for column in columns]
    return "\n".join(dict.fromkeys(text for text in texts if text))


def _text(text: str) -> str:
    return text.strip()


def _common(record: Record, found: Mapping[str, list[str]], kind: str) -> tuple[str, float | None, str | None, str]:
    """Id, age, sex and label; without id column the id is the number of the record."""
    row_id = _joined(record, found["id"]) if "id" in found else f"{kind}-{record.number:04d}"
    age = read_cell(record, found["age"][0], parse_age) if "age" in found else None
    sex = read_cell(record, found["sex"][0], parse_sex) if "sex" in found else None
    return row_id, age, sex, read_cell(record, found["department"][0], str)


def _turns(record: Record, found: Mapping[str, list[str]]) -> tuple[list[Turn], int]:
    """The dialogue of a record with its answer as the last turn, and the number of empty turns left out."""
    answer = _joined(record, found.get("answer", ()))
    closing = [Turn("doctor", answer)] if answer else []
    if "question" in found:
        question = _joined(record, found["question"])
        if not question:
            raise RowError(f"column {' + '.join(map(repr, found['question']))}: the question is empty; expected text")
        return [Turn("patient", question), *closing], 0
    column = found["dialogue"][0]
    spoken, empty = read_cell(record, column, parse_dialogue)
    turns = [*spoken, *closing]
    try:
        check_turns(turns, doctor_required=True)
    except ValueError as error:
        raise RowError(f"column {column!r}: {error}") from error
    return turns, empty
