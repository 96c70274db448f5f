"""A MIMIC-IV of five patients, small enough to work every figure out by hand. All of it is invented.

101  patient 1, first stay     ICD-10: I10, E11.9
102  patient 1, second stay    ICD-10: N17.9, I10                     (history: E11.9, I10)
201  patient 2, first stay     ICD-9 and ICD-10
202  patient 2, second stay    ICD-10: I10                            (no history: the stay before has ICD-9)
301  patient 3                 ICD-10, one code of no release
401  patient 4                 ICD-10: I10, but no discharge note
901  a patient who is not in `patients`
"""

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

ADMISSIONS = (
    "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,insurance,language,"
    "marital_status,race\n"
    "1,101,2150-01-01 10:00:00,2150-01-03 10:00:00,,URGENT,EMERGENCY ROOM,Medicare,English,MARRIED,WHITE\n"
    "1,102,2152-06-01 12:00:00,2152-06-02 00:00:00,,URGENT,,Medicare,English,,WHITE\n"
    "2,201,2160-01-01 00:00:00,2160-01-02 00:00:00,,ELECTIVE,,Other,,SINGLE,ASIAN\n"
    "2,202,2160-03-01 08:00:00,2160-03-05 08:00:00,,ELECTIVE,,Other,,SINGLE,ASIAN\n"
    "3,301,2170-01-01 00:00:00,2170-01-02 00:00:00,,URGENT,,,,,\n"
    "4,401,2180-01-01 00:00:00,2180-01-02 00:00:00,,URGENT,,,,,\n"
    "9,901,2190-01-01 00:00:00,2190-01-02 00:00:00,,URGENT,,,,,\n"
)
PATIENTS = (
    "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n"
    "1,F,50,2149,2011 - 2013,\n2,M,60,2160,2011 - 2013,\n3,F,70,2170,2014 - 2016,\n4,M,80,2180,2014 - 2016,\n"
)
DIAGNOSES = (
    "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    "1,101,1,I10,10\n1,101,2,E119,10\n1,102,1,N179,10\n1,102,2,I10,10\n2,201,1,4019,9\n2,201,2,I10,10\n"
    "2,202,1,I10,10\n3,301,1,I10,10\n3,301,2,Z9999Z,10\n4,401,1,I10,10\n"
)
# Stay 101 begins on 2150-01-01 at 10:00. The day of a procedure counts from its midnight.
PROCEDURES = (
    "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n"
    "1,101,1,2150-01-01,0FT00ZZ,10\n"  # the first day
    "1,101,2,2150-01-02,0016070,10\n"  # midnight of the second day: within 24 hours, but not the first time
    "1,101,3,2150-01-03,0020X0Z,10\n"  # later
    "1,102,1,2152-06-01,5491,9\n"  # ICD-9
    "2,202,1,,0016071,10\n"  # without a date
    "2,202,2,2160-02-28,0016070,10\n"  # before admission
    "2,202,3,2160-03-01,ZZZZZZZ,10\n"  # of no release
)
LABS = (
    "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,ref_range_lower,"
    "ref_range_upper,flag,priority,comments\n"
    "1,1,101,1,50931,2150-01-01 09:00:00,,140,140,mg/dL,70,105,abnormal,,\n"  # an hour before admission
    "2,1,101,1,51222,2150-01-01 10:30:00,,12.1,12.1,g/dL,12,16,,,\n"
    "3,1,101,1,51301,2150-01-03 09:00:00,,9,9,K/uL,4,10,,,\n"  # the third day
    "4,1,101,1,59999,2150-01-01 11:00:00,,NEG,,,,,,,\n"  # an item that no map has
    "5,1,,1,50931,2150-01-01 10:00:00,,99,99,mg/dL,70,105,,,\n"  # of no admission
    "6,2,202,1,50931,2160-03-04 08:00:00,,90,90,mg/dL,70,105,,,\n"  # the first decision, on the third day
    "7,2,202,1,51222,2160-03-04 09:30:00,,11,11,g/dL,12,16,abnormal,,\n"  # within two hours of it
    "8,2,202,1,51301,2160-03-04 10:30:00,,9,9,K/uL,4,10,,,\n"  # more than two hours after it
)
ITEMS = (
    "itemid,label,fluid,category\n50931,Glucose,Blood,Chemistry\n51222,Hemoglobin,Blood,Hematology\n"
    "51301,White Blood Cells,Blood,Hematology\n"
)
DRUGS = (
    "subject_id,hadm_id,starttime,drug,gsn,ndc\n"
    "1,101,2150-01-01 12:00:00,Metformin,004763,00087606005\n"  # A10BA02
    "1,101,2150-01-01 13:00:00,Substance A,,00000000001\n"  # an NDC that no map has
    "1,101,2150-01-01 13:00:00,Flush,,0\n"  # no NDC
    "2,202,2160-03-01 09:00:00,Metformin XR,004764,00087607005\n"  # A10BA02, and A10BD07 of no release
)
SERVICES = "subject_id,hadm_id,transfertime,prev_service,curr_service\n1,101,,,MED\n1,101,,MED,SURG\n2,202,,,MED\n"
TRANSFERS = (
    "subject_id,hadm_id,transfer_id,eventtype,careunit,intime,outtime\n1,101,1,admit,Medicine,,\n"
    "1,101,2,transfer,Medicine,,\n1,101,3,discharge,,,\n"
)
NOTE = """\
Name:  ___                     Unit No:   ___

Admission Date:  ___              Discharge Date:   ___

Chief Complaint:
{complaint}

History of Present Illness:
{history}

Brief Hospital Course:
She did well.

Discharge Diagnosis:
Known only later
"""
LAB_MAP = (
    "itemid (omop_source_code),label,fluid,category,omop_concept_code\n"
    "50931,Glucose,Blood,Chemistry,2345-7\n51222,Hemoglobin,Blood,Hematology,718-7\n"
    "51301,White Blood Cells,Blood,Hematology,6690-2\n"
)
HOSP = {
    "admissions": ADMISSIONS,
    "patients": PATIENTS,
    "diagnoses_icd": DIAGNOSES,
    "procedures_icd": PROCEDURES,
    "labevents": LABS,
    "d_labitems": ITEMS,
    "prescriptions": DRUGS,
    "services": SERVICES,
    "transfers": TRANSFERS,
}


def note_tables() -> dict[str, str]:
    """Discharge notes of all stays but 401 (102 has two), and radiology reports, one of no admission."""
    discharge = [
        (hadm_id, sequence, NOTE.format(complaint=f"Pain {hadm_id}", history=f"Came with pain, note {sequence}."))
        for hadm_id, sequence in ((101, 1), (102, 2), (102, 1), (201, 1), (202, 1), (301, 1), (901, 1))
    ]
    radiology = [("101", 2, "CT: second"), ("101", 1, "X-ray: first"), ("", 3, "of no admission")]
    return {"discharge": _notes("DS", discharge), "radiology": _notes("RR", radiology)}


def _notes(kind: str, rows: Sequence[tuple[object, int, str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text"])
    for hadm_id, sequence, content in rows:
        writer.writerow([f"{hadm_id}-{kind}-{sequence}", "1", hadm_id, kind, sequence, "", "", content])
    return text.getvalue()


def write_mimic(folder: Path, changes: Mapping[str, str | None] | None = None, zipped: Sequence[str] = ()) -> Path:
    """The folder with hosp/ and note/.

    Args:
        folder: where; it is made.
        changes: by table another content, or None to leave it out.
        zipped: tables that are written as .csv.gz.
    """
    for module, tables in (("hosp", HOSP), ("note", note_tables())):
        (folder / module).mkdir(parents=True, exist_ok=True)
        for name, text in {
            **tables,
            **{key: value for key, value in (changes or {}).items() if key in tables},
        }.items():
            if text is None:
                continue
            if name in zipped:
                (folder / module / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
            else:
                (folder / module / f"{name}.csv").write_text(text, encoding="utf-8", newline="")
    return folder
