"""The columns of `clibench`, the same in its four configs: meaning, unit and whether a value may be missing.

This is the one schema: the builder casts to it, the card is written from it and the tests hold both to it.
Source: protocol.md 2.1 and 2.2; names and units are those of MIMIC-IV where MIMIC has the column.
"""

from typing import Any, NamedTuple

from datasets import Features, List, Value


class Column(NamedTuple):
    """One column: its name, type, meaning, unit (empty: none) and whether it may be null."""

    name: str
    type: Any
    meaning: str
    unit: str = ""
    nullable: bool = False


_TEXT, _NUMBER, _ID = Value("string"), Value("float64"), Value("int64")

LAB_COLUMNS = (
    Column("itemid", _TEXT, "MIMIC's item number, as text"),
    Column("label", _TEXT, "MIMIC's name of the item"),
    Column("fluid", _TEXT, "what was examined, e.g. Blood or Urine"),
    Column("category", _TEXT, "Chemistry, Hematology or Blood Gas"),
    Column("loinc", _TEXT, "LOINC number; null where no map covers the item", nullable=True),
    Column("value", _TEXT, "the result as reported, e.g. 1.8, <0.01 or POS", nullable=True),
    Column("valuenum", _NUMBER, "the result as a number; null for <0.01, >182 or POS", "see `unit`", nullable=True),
    Column("unit", _TEXT, "unit of the result and its limits", nullable=True),
    Column("ref_low", _NUMBER, "lower limit of normal (of the patient's sex, where it matters)", "see `unit`", True),
    Column("ref_high", _NUMBER, "upper limit of normal", "see `unit`", nullable=True),
    Column("flag", _TEXT, "`abnormal`, or null", nullable=True),
    Column("charttime", _TEXT, "when the specimen was taken (a shifted date)", "ISO 8601, local time"),
)

COLUMNS = (
    Column("hadm_id", _ID, "the admission"),
    Column("subject_id", _ID, "the patient; no patient is in two splits"),
    Column("gender", _TEXT, "F or M"),
    Column("race", _TEXT, "as MIMIC spells it, e.g. WHITE - RUSSIAN", nullable=True),
    Column("age", _ID, "age at admission", "years"),
    Column("insurance", _TEXT, "Medicare, Medicaid, Private or Other", nullable=True),
    Column("language", _TEXT, "preferred language", nullable=True),
    Column("marital_status", _TEXT, "SINGLE, MARRIED, WIDOWED or DIVORCED", nullable=True),
    Column("admission_type", _TEXT, "e.g. EW EMER., URGENT, OBSERVATION ADMIT"),
    Column("admission_location", _TEXT, "where the patient came from, e.g. EMERGENCY ROOM", nullable=True),
    Column("length_of_stay", _NUMBER, "admission to discharge", "days"),
    Column("services", List(_TEXT), "the services that cared for the patient, e.g. CMED"),
    Column("care_units", List(_TEXT), "the units the patient lay in"),
    Column("record", _TEXT, "the note, without anything that is known only after admission"),
    Column("lab_results", List({name: type_ for name, type_, *_ in LAB_COLUMNS}), "results, ordered by time"),
    Column("radiology_reports", List(_TEXT), "the reports, ordered as written"),
    Column("history_diagnoses", List(_TEXT), "sorted ICD-10-CM codes of the patient's previous admission, if any"),
    Column("codes", List(_TEXT), "the gold: distinct codes of the config's system, sorted"),
    Column("titles", List(_TEXT), "the official title of each of `codes`, in the same order"),
)

REQUIRED = tuple(column.name for column in COLUMNS if not column.nullable)
"""The columns that may not be null in any row."""


def clibench_features() -> Features:
    """The features of every `clibench` config.

    >>> clibench_features()["codes"]
    List(Value('string'))
    """
    return Features({column.name: column.type for column in COLUMNS})


def columns_table() -> str:
    """The columns as a Markdown table, as the card shows them."""
    lines = ["| column | type | meaning | unit | null |", "|---|---|---|---|---|"]
    lines += [_row(column, column.name) for column in COLUMNS]
    place = 2 + [column.name for column in COLUMNS].index("lab_results") + 1
    lines[place:place] = [_row(column, f"lab_results[].{column.name}") for column in LAB_COLUMNS]
    return "\n".join(lines)


def _row(column: Column, name: str) -> str:
    null = "yes" if column.nullable else ""
    return f"| `{name}` | {_type_name(column.type)} | {column.meaning} | {column.unit} | {null} |"


def _type_name(type_: Any) -> str:
    if isinstance(type_, List):
        return "list of struct" if isinstance(type_.feature, dict) else f"list of {type_.feature.dtype}"
    return str(type_.dtype)
