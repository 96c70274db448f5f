"""The columns of our datasets: meaning, unit and whether a value may be missing.

This is the one schema: the builders cast to it, the cards are written from it and the tests hold both to it. All four
configs of `clibench` have the same columns (protocol.md 2.1 and 2.2; names and units are those of MIMIC-IV where MIMIC
has the column), and so have both dynamic configs of `ior-bench` (protocol.md 1.1).
"""

from datasets import List, Value

from clinical_evals.datasets_hub.columns import Column, Schema, list_of
from clinical_evals.errors import UnknownNameError

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
    Column("lab_results", list_of(LAB_COLUMNS), "results, ordered by time"),
    Column("radiology_reports", List(_TEXT), "the reports, ordered as written"),
    Column("history_diagnoses", List(_TEXT), "sorted ICD-10-CM codes of the patient's previous admission, if any"),
    Column("codes", List(_TEXT), "the gold: distinct codes of the config's system, sorted"),
    Column("titles", List(_TEXT), "the official title of each of `codes`, in the same order"),
)

CLIBENCH = Schema(COLUMNS, (("lab_results", LAB_COLUMNS),))

TURN_COLUMNS = (
    Column("role", _TEXT, "who speaks: `patient` (or who speaks for them) or `doctor`"),
    Column("content", _TEXT, "what is said"),
)
_WHO = (
    Column("id", _TEXT, "the case; unique in its file"),
    Column("age", _NUMBER, "age at the visit; days and months as fractions", "years", nullable=True),
    Column("sex", _TEXT, "`female`, `male`, or null where unknown", nullable=True),
)
_DEPARTMENTS = (
    Column("department", _TEXT, "the gold: one of `candidates`"),
    Column("candidates", List(_TEXT), "the departments to choose from, the same in all rows of a hospital"),
)
IOR_STATIC = Schema(
    (
        *_WHO,
        Column("dialogue", list_of(TURN_COLUMNS), "the finished dialogue; the last doctor turn names the department"),
        *_DEPARTMENTS,
    ),
    (("dialogue", TURN_COLUMNS),),
)
IOR_DYNAMIC = Schema(
    (
        *_WHO,
        Column("chief_complaint", _TEXT, "主诉"),
        Column("history_of_present_illness", _TEXT, "现病史"),
        Column("past_medical_history", _TEXT, "既往史; empty where the record has none"),
        Column("personal_history", _TEXT, "个人史; empty where the record has none"),
        Column("family_history", _TEXT, "家族史; empty where the record has none"),
        *_DEPARTMENTS,
    )
)

SCHEMAS = {
    "clibench": dict.fromkeys(("diagnosis", "procedure", "lab_order", "prescription"), CLIBENCH),
    "ior-bench": {"static": IOR_STATIC, "dynamic_h1": IOR_DYNAMIC, "dynamic_h2": IOR_DYNAMIC},
}
"""By dataset and config."""


def schema_of(dataset: str, config: str) -> Schema:
    """The schema of a config.

    Raises:
        UnknownNameError: there is no such config.
    """
    if config not in SCHEMAS[dataset]:
        raise UnknownNameError(f"{dataset} config", config, SCHEMAS[dataset])
    return SCHEMAS[dataset][config]
