"""The authors' two CSV files, final_static.csv and dynamic_final.csv, as rows of the dataset (protocol.md 1.1)."""

from pathlib import Path

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.ior_bench.age_and_sex import parse_age, parse_sex
from clinical_evals.ior_bench.csv_table import read_csv
from clinical_evals.ior_bench.data import CONFIGS, Draft, Read, dialogue_row, gather_rows, record_row
from clinical_evals.ior_bench.dialogue_text import Dialogue, check_turns, parse_dialogue
from clinical_evals.ior_bench.labels import Labels
from clinical_evals.ior_bench.records import Record, Table, find_column, listed, read_cell
from clinical_evals.ior_bench.text_file import read_text

STATIC_FILE = "final_static.csv"
DYNAMIC_FILE = "dynamic_final.csv"
LABEL_COLUMNS = {
    "static": ("lable", "label"),  # spelled lable in the release
    "dynamic_h1": ("hospital-1",),
    "dynamic_h2": ("hospital-2",),
}
FIELD_COLUMNS = ("主诉", "现病史", "既往史", "个人史", "家族史")
"""Columns of the record, in the order of `data.RECORD_FIELDS`."""


def authors_file(config: str) -> str:
    """The name of the file that holds a config.

    Raises:
        UnknownNameError: the config is none of `CONFIGS`.
    """
    if config not in CONFIGS:
        raise UnknownNameError("IOR-Bench config", config, CONFIGS)
    return STATIC_FILE if config == "static" else DYNAMIC_FILE


def has_authors_files(folder: Path, config: str) -> bool:
    """Whether a folder holds the authors' file of a config.

    Raises:
        UnknownNameError: see `authors_file`.
    """
    return (folder / authors_file(config)).is_file()


def read_authors(folder: Path, config: str, skip_invalid: bool = False) -> Read:
    """The rows of one config from the authors' files.

    Ids count the records of the file ("static-0001"); the two dynamic configs give the same record the same id. The
    candidates are the departments that occur in valid rows, in order of first appearance.

    Args:
        folder: holds final_static.csv, dynamic_final.csv or both.
        config: one of `CONFIGS`.
        skip_invalid: leave out, count and list records that cannot be used, instead of stopping at the first.

    Raises:
        InputError: the file or a column is missing, or a record cannot be used (file, line, reason, way out).
        UnknownNameError: see `authors_file`.
    """
    path = folder / authors_file(config)
    if not path.is_file():
        there = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        raise InputError(
            f"no {path.name} in {folder}, which {f'holds {listed(there)}' if folder.is_dir() else 'is not a folder'}. "
            f"Config {config!r} of IOR-Bench is read from the authors' {path.name}: give the folder that holds it as "
            "data_dir= or in IOR_BENCH_DIR."
        )
    table = read_csv(path, read_text(path))
    reader = _StaticRecords(table) if config == "static" else _DynamicRecords(table, config)
    return gather_rows(table, reader.draft, Labels(), skip_invalid)


def parse_answered_dialogue(text: str) -> Dialogue:
    """A dialogue whose last doctor turn names the department.

    Raises:
        ValueError: see `parse_dialogue` and `check_turns`.
    """
    dialogue = parse_dialogue(text)
    check_turns(dialogue.turns, doctor_required=True)
    return dialogue


class _StaticRecords:
    """Columns 年龄, 性别, 对话内容, lable of final_static.csv."""

    def __init__(self, table: Table) -> None:
        self._age, self._sex, self._dialogue = (find_column(table, [name]) for name in ("年龄", "性别", "对话内容"))
        self._label = find_column(table, LABEL_COLUMNS["static"])

    def draft(self, record: Record) -> Draft:
        dialogue = read_cell(record, self._dialogue, parse_answered_dialogue)
        age, sex = read_cell(record, self._age, parse_age), read_cell(record, self._sex, parse_sex)
        label = read_cell(record, self._label, str)
        return Draft(dialogue_row(f"static-{record.number:04d}", age, sex, dialogue.turns, label), dialogue.empty)


class _DynamicRecords:
    """Columns 年龄, 性别, those of `FIELD_COLUMNS`, and the label of one hospital of dynamic_final.csv."""

    def __init__(self, table: Table, config: str) -> None:
        self._age, self._sex = (find_column(table, [name]) for name in ("年龄", "性别"))
        self._fields = [find_column(table, [name]) for name in FIELD_COLUMNS]
        self._label = find_column(table, LABEL_COLUMNS[config])

    def draft(self, record: Record) -> Draft:
        age, sex = read_cell(record, self._age, parse_age), read_cell(record, self._sex, parse_sex)
        fields = [read_cell(record, field, str) for field in self._fields]
        label = read_cell(record, self._label, str)
        return Draft(record_row(f"dynamic-{record.number:04d}", age, sex, fields, label))
