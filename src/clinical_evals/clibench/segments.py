"""From a dataset row to the patient segments of a prompt (CliBench, section 3.2; protocol.md 2.2).

A row has the features of the `clibench` dataset. Segments keep the order profile, history diagnoses, record at
admission, radiology reports, lab results; labs are sorted by `charttime`, reports stand as the dataset gives them (by
`note_seq`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clinical_evals.ontology import CodeSystem
from clinical_evals.truncation import Long

Row = Mapping[str, Any]
"""One admission, as `load_dataset("clibench", "diagnosis")` yields it."""

SEX = {"F": "female", "M": "male"}
PROFILE = (("gender", "Sex"), ("age", "Age"), ("race", "Race"), ("insurance", "Insurance"), ("language", "Language"))


class Segments(NamedTuple):
    """The patient segments as text, in the order of the prompt; an empty text means that there is nothing."""

    profile: str
    history: str
    record: str
    radiology: str
    labs: str


LONG = Long(("record", "radiology", "labs"), "system role, instruction, profile, history diagnoses and question")
"""What is cut when the prompt does not fit."""


def render_segments(row: Row, system: CodeSystem) -> Segments:
    """The five segments of an admission.

    Args:
        row: one row of the `clibench` dataset.
        system: the code system of `history_diagnoses` (ICD-10-CM).
    """
    return Segments(
        profile=render_profile(row),
        history=render_history(row["history_diagnoses"] or [], system),
        record=(row["record"] or "").strip(),
        radiology="\n\n".join(report.strip() for report in row["radiology_reports"] or [] if report.strip()),
        labs=render_labs(row["lab_results"] or []),
    )


def render_profile(row: Row) -> str:
    """Sex, age at admission, race, insurance, language and marital status, one a line; what is unknown is left out.

    >>> print(render_profile({"gender": "F", "age": 71, "race": "WHITE", "insurance": None, "language": "English",
    ...                       "marital_status": "WIDOWED"}))
    Sex: female
    Age: 71 years
    Race: WHITE
    Language: English
    Marital status: WIDOWED
    """
    shown = {**row, "gender": SEX.get(row["gender"], row["gender"])}
    shown["age"] = None if row["age"] is None else f"{row['age']} years"
    lines = [
        f"{label}: {shown[column]}"
        for column, label in (*PROFILE, ("marital_status", "Marital status"))
        if shown[column]
    ]
    return "\n".join(lines)


def render_history(codes: Sequence[str], system: CodeSystem) -> str:
    """The diagnoses of the previous admission, "code title" a line; a code that the release lacks stands alone."""
    lines = []
    for text, code in zip(codes, system.normalize_all(codes), strict=True):
        lines.append(f"{code} {system.title(code)}" if code else text)
    return "\n".join(lines)


def render_labs(labs: Iterable[Mapping[str, Any]]) -> str:
    """One result a line, earliest first: "label (fluid): value unit [low–high] flag".

    >>> render_labs([{"label": "Sodium", "fluid": "Blood", "value": "131", "valuenum": 131.0, "unit": "mEq/L",
    ...               "ref_low": 133.0, "ref_high": 145.0, "flag": "abnormal", "charttime": "2150-01-01T06:00:00"}])
    'Sodium (Blood): 131 mEq/L [133–145] abnormal'
    """
    return "\n".join(_lab_line(lab) for lab in sorted(labs, key=lambda lab: str(lab["charttime"])))


def _lab_line(lab: Mapping[str, Any]) -> str:
    value = lab["value"] if lab["value"] not in (None, "") else _number(lab["valuenum"])
    name = f"{lab['label']} ({lab['fluid']})" if lab["fluid"] else str(lab["label"])
    parts = [f"{name}:", value or "not reported", lab["unit"], _bounds(lab["ref_low"], lab["ref_high"]), lab["flag"]]
    return " ".join(str(part) for part in parts if part)


def _bounds(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f"[≤{_number(high)}]" if low is None else f"[≥{_number(low)}]"
    return f"[{_number(low)}–{_number(high)}]"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
