"""A small folder in the layout of the open MIMIC-IV demo: two invented patients with three admissions."""

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

Rows = Sequence[Sequence[object]]
TITLES = {
    ("J189", 10): "Pneumonia, unspecified organism",
    ("I10", 10): "Essential (primary) hypertension",
    ("R0902", 10): "Hypoxemia",
    ("Z87891", 10): "Personal history of nicotine dependence",
    ("00845", 9): "Intestinal infection due to Clostridium difficile",
    ("4280", 9): "Congestive heart failure, unspecified",
}
TABLES: dict[str, tuple[str, Rows]] = {
    "patients.csv.gz": (
        "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
        [(90000001, "F", 70, 2150, "2014 - 2016", ""), (90000002, "M", 50, 2160, "2017 - 2019", "")],
    ),
    "admissions.csv.gz": (
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,"
        "insurance,language,marital_status,race,hospital_expire_flag",
        [
            (90000001, 95000001, "2150-01-01 10:00:00", "2150-01-05 12:00:00", "", "EW EMER.", "EMERGENCY ROOM",
             "HOME", "Medicare", "ENGLISH", "WIDOWED", "WHITE", 0),
            (90000001, 95000002, "2151-03-01 08:30:00", "2151-03-04 09:00:00", "", "URGENT", "EMERGENCY ROOM",
             "REHAB", "Medicare", "ENGLISH", "WIDOWED", "WHITE", 0),
            (90000002, 95000003, "2160-07-09 23:10:00", "2160-07-11 04:00:00", "2160-07-11 04:00:00", "EW EMER.",
             "EMERGENCY ROOM", "DIED", "Other", "?", "", "UNKNOWN", 1),
        ],
    ),
    "d_icd_diagnoses.csv.gz": (
        "icd_code,icd_version,long_title", [(code, version, title) for (code, version), title in TITLES.items()],
    ),
    "diagnoses_icd.csv.gz": (
        "subject_id,hadm_id,seq_num,icd_code,icd_version",
        [
            (90000001, 95000001, 2, "4280", 9), (90000001, 95000001, 1, "00845", 9),
            (90000001, 95000002, 1, "J189", 10), (90000001, 95000002, 2, "I10", 10),
            (90000001, 95000002, 3, "R0902", 10), (90000002, 95000003, 1, "R0902", 10),
            (90000002, 95000003, 2, "Z87891", 10),
        ],
    ),
    "procedures_icd.csv": (
        "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version",
        [(90000001, 95000002, 1, "2151-03-02", "0BH17EZ", 10), (90000001, 95000001, 1, "2150-01-02", "4523", 9)],
    ),
    "d_labitems.csv.gz": (
        "itemid,label,fluid,category",
        [(50971, "Potassium", "Blood", "Chemistry"), (50893, "Calcium, Total", "Blood", "Chemistry")],
    ),
    "labevents.csv.gz": (
        "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,"
        "ref_range_lower,ref_range_upper,flag,priority,comments",
        [
            (1, 90000001, 95000002, 1, 50971, "2151-03-01 09:00:00", "", "5.9", 5.9, "mEq/L", 3.3, 5.1, "abnormal",
             "", ""),
            (2, 90000001, 95000002, 1, 50893, "2151-03-01 09:00:00", "", "8.8", 8.8, "mg/dL", 8.4, 10.3, "", "", ""),
            (3, 90000001, 95000002, 2, 50971, "2151-03-03 22:05:00", "", "4.4", 4.4, "mEq/L", 3.3, 5.1, "", "", ""),
            (4, 90000001, "", 3, 50971, "2150-12-03 22:05:00", "", "___", "", "mEq/L", 3.3, 5.1, "", "", ""),
        ],
    ),
    "prescriptions.csv": (
        "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,gsn,ndc,prod_strength,dose_val_rx,"
        "dose_unit_rx,doses_per_24_hrs,route",
        [
            (90000001, 95000001, 1, "2150-01-01 12:00:00", "2150-01-05 12:00:00", "MAIN", "Lisinopril", "000391",
             "00904404073", "5 mg Tablet", 5, "mg", 1, "PO/NG"),
            (90000001, 95000002, 2, "2151-03-02 12:00:00", "2151-03-04 12:00:00", "MAIN", "Azithromycin", "026721",
             "00904404074", "250 mg Tablet", 250, "mg", 1, "PO"),
            (90000001, 95000002, 3, "2151-03-01 12:00:00", "2151-03-04 12:00:00", "BASE", "5% Dextrose", "", "0",
             "250 mL Bag", 250, "mL", "", "IV"),
        ],
    ),
    "services.csv": (
        "subject_id,hadm_id,transfertime,prev_service,curr_service",
        [
            (90000001, 95000001, "2150-01-01 10:00:00", "", "MED"),
            (90000001, 95000002, "2151-03-01 08:30:00", "", "CMED"),
        ],
    ),
    "transfers.csv": (
        "subject_id,hadm_id,transfer_id,eventtype,careunit,intime,outtime",
        [(90000001, 95000001, 1, "admit", "Medicine", "2150-01-01 10:00:00", "2150-01-05 12:00:00")],
    ),
}  # fmt: skip


def write_demo(folder: Path, backwards: bool = False) -> Path:
    """The folder, with hosp/ and a licence in it. `backwards`: the rows of all tables in the other order."""
    (folder / "hosp").mkdir(parents=True)
    (folder / "LICENSE.txt").write_text("the licence of the written demo\n", encoding="utf-8")
    for name, (header, rows) in TABLES.items():
        write_table(folder / "hosp" / name, header, rows[::-1] if backwards else rows)
    return folder


def write_table(path: Path, header: str, rows: Rows) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header.split(","), *rows])
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
