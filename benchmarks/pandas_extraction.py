"""The plain pandas way to read MIMIC-IV, as a baseline for the extraction.

It does what code written for one paper usually does, the released code of CliBench among it: `pandas.read_csv` with a
Python function as converter of each column that is no plain text, then every row of every table put into dicts of
lists by admission, and the questions (which admissions have gold, what is the first batch) asked in Python loops. All
rows stay in memory. The released code parses the demo (107,727 lab rows) in 5.4 s on the machine of BENCHMARKS.md;
this takes 3.3 s of processor time for the same tables, and 29 s and 1.8 GB for a generated million of lab rows.

    python -m benchmarks.pandas_extraction mimic-iv-clinical-database-demo-2.2
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from benchmarks.measure import seconds

Row = dict[str, Any]
Lists = dict[int, list[Row]]
FIRST_DAY, AFTER_FIRST = timedelta(hours=24), timedelta(hours=2)


class Admission(NamedTuple):
    """What is kept of an admission that has a discharge note."""

    profile: Row
    notes: list[Row]
    reports: list[Row]
    labs: list[Row]
    previous: list[str]
    """Codes of the admission before."""
    diagnoses: list[str]
    procedures: list[str]
    lab_items: list[str]
    drugs: list[str]
    services: list[str]
    care_units: list[str]


def extract(mimic: Path, notes: Path | None = None) -> dict[int, Admission]:
    """All admissions (with `notes`: all that have a discharge note), by hadm_id.

    Args:
        mimic: the folder that holds hosp/, or hosp itself; .csv or .csv.gz.
        notes: the folder that holds note/, or note itself; without it there are no notes.
    """
    hosp = mimic / "hosp" if (mimic / "hosp").is_dir() else mimic
    patients = {row["subject_id"]: row for row in _records(hosp, "patients", {"subject_id": int, "anchor_year": int})}
    admissions = _records(
        hosp, "admissions", {"subject_id": int, "hadm_id": int, "admittime": _time, "dischtime": _time}
    )
    diagnoses = _by_admission(hosp, "diagnoses_icd", {"seq_num": int, "icd_code": _code})
    procedures = _by_admission(hosp, "procedures_icd", {"seq_num": int, "icd_code": _code, "chartdate": _time})
    labs = _by_admission(hosp, "labevents", {"charttime": _time, "storetime": _time, "itemid": _code, "value": _code})
    drugs = _by_admission(hosp, "prescriptions", {"starttime": _time, "stoptime": _time, "ndc": _code, "gsn": _code})
    services = _by_admission(hosp, "services", {"transfertime": _time})
    transfers = _by_admission(hosp, "transfers", {"intime": _time, "outtime": _time})
    discharge = _note_lists(notes, "discharge")
    radiology = _note_lists(notes, "radiology")
    previous = _previous_codes(admissions, diagnoses)
    extracted = {}
    for row in admissions:
        hadm = row["hadm_id"]
        if notes is not None and hadm not in discharge:
            continue
        admitted = row["admittime"]
        extracted[hadm] = Admission(
            profile=row | patients[row["subject_id"]],
            notes=discharge.get(hadm, []),
            reports=radiology.get(hadm, []),
            labs=sorted(labs.get(hadm, []), key=lambda lab: lab["charttime"]),
            previous=previous.get(hadm, []),
            diagnoses=sorted({item["icd_code"] for item in diagnoses.get(hadm, [])}),
            procedures=_first_batch(procedures.get(hadm, []), "chartdate", "icd_code", admitted),
            lab_items=_first_batch(labs.get(hadm, []), "charttime", "itemid", admitted),
            drugs=_first_batch(drugs.get(hadm, []), "starttime", "ndc", admitted),
            services=sorted({item["curr_service"] for item in services.get(hadm, [])}),
            care_units=sorted({str(item["careunit"]) for item in transfers.get(hadm, [])}),
        )
    return extracted


def _first_batch(rows: list[Row], time: str, code: str, admitted: datetime) -> list[str]:
    """Codes decided within 24 h of admission, or within 2 h of the first decision (the released rule)."""
    timed = [row for row in rows if not pd.isna(row[time])]
    if not timed:
        return []
    first = min(row[time] for row in timed)
    last = max(admitted + FIRST_DAY, first + AFTER_FIRST)
    return sorted({row[code] for row in timed if row[time] <= last})


def _previous_codes(admissions: list[Row], diagnoses: Lists) -> dict[int, list[str]]:
    by_patient: dict[int, list[Row]] = defaultdict(list)
    for row in admissions:
        by_patient[row["subject_id"]].append(row)
    codes = {}
    for rows in by_patient.values():
        rows.sort(key=lambda row: row["admittime"])
        for before, row in pairwise(rows):
            codes[row["hadm_id"]] = [item["icd_code"] for item in diagnoses.get(before["hadm_id"], [])]
    return codes


def _note_lists(notes: Path | None, name: str) -> Lists:
    if notes is None:
        return {}
    folder = notes / "note" if (notes / "note").is_dir() else notes
    return _by_admission(folder, name, {"charttime": _time, "storetime": _time, "note_seq": int})


def _by_admission(folder: Path, name: str, converters: Mapping[str, Callable[[str], Any]]) -> Lists:
    lists: Lists = defaultdict(list)
    for row in _records(folder, name, {"subject_id": int, "hadm_id": _number, **converters}):
        if not pd.isna(row["hadm_id"]):
            lists[int(row["hadm_id"])].append(row)
    return lists


def _records(folder: Path, name: str, converters: Mapping[str, Callable[[str], Any]]) -> list[Row]:
    path = next(path for suffix in (".csv", ".csv.gz") if (path := folder / f"{name}{suffix}").is_file())
    frame = pd.read_csv(path, converters=dict(converters), quoting=csv.QUOTE_MINIMAL, low_memory=False)
    rows: list[Row] = frame.astype(object).to_dict("records")
    return rows


def _time(text: str) -> datetime | None:
    if not text:
        return None
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S" if " " in text else "%Y-%m-%d")


def _code(text: str) -> str:
    return text.strip() or "0"


def _number(text: str) -> int | None:
    return int(text) if text else None


def main(folder: Path) -> None:
    """Print the seconds for a folder."""
    found: dict[int, Admission] = {}
    notes = folder if (folder / "note").is_dir() else None
    time = seconds(lambda: found.update(extract(folder, notes)))
    print(f"plain pandas: {len(found):,} admissions of {folder} in {time:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
