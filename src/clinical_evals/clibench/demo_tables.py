"""The tables of the open MIMIC-IV demo, read as stays of patients, to write synthetic notes from them.

Only what a note mentions is read. Everything is text, as in the files, and sorted, so that the order of the rows does
not matter. Times are "2180-05-06 22:25:00", which sorts as it should.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from clinical_evals.clibench.demo_stay import Coded, Drug, Lab, Stay
from clinical_evals.clibench.mimic_files import read_columns
from clinical_evals.errors import InputError
from clinical_evals.ontology.table_file import Row, read_text_columns

MOST_PATIENTS = 100
"""Patients of the open demo. A larger download is MIMIC-IV itself, which has real notes and another licence."""
SUFFIXES = (".csv", ".csv.gz")

COLUMNS = {
    "patients": ("subject_id", "gender", "anchor_age", "anchor_year"),
    "admissions": (
        "subject_id", "hadm_id", "admittime", "dischtime", "admission_type", "discharge_location",
        "hospital_expire_flag",
    ),
    "d_icd_diagnoses": ("icd_code", "icd_version", "long_title"),
    "diagnoses_icd": ("hadm_id", "seq_num", "icd_code", "icd_version"),
    "procedures_icd": ("hadm_id", "seq_num", "chartdate", "icd_code", "icd_version"),
    "d_labitems": ("itemid", "label", "fluid"),
    "labevents": ("hadm_id", "charttime", "itemid", "value", "valueuom", "flag"),
    "prescriptions": (
        "hadm_id", "starttime", "stoptime", "drug_type", "drug", "dose_val_rx", "dose_unit_rx", "route",
        "doses_per_24_hrs",
    ),
    "services": ("hadm_id", "transfertime", "curr_service"),
    "transfers": ("hadm_id", "intime", "careunit"),
}  # fmt: skip
"""What is read, by table; without one of them a folder is no MIMIC demo (transfers are only asked for)."""

_HINT = (
    "--mimic-demo takes the folder of the MIMIC-IV Clinical Database Demo 2.2, which holds hosp/ "
    "(https://physionet.org/content/mimic-iv-demo/), or hosp itself."
)


def find_hosp(folder: Path) -> Path:
    """The folder `hosp` of the demo, which `folder` holds or is.

    Raises:
        InputError: it is no MIMIC demo; the missing tables and columns are named.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} {'is a file' if folder.exists() else 'does not exist'}. {_HINT}")
    hosp = folder / "hosp" if (folder / "hosp").is_dir() else folder
    missing = [name for name in COLUMNS if not any((hosp / f"{name}{suffix}").is_file() for suffix in SUFFIXES)]
    if missing:
        raise InputError(f"{hosp} is no MIMIC demo: it has no {', '.join(missing)} (.csv or .csv.gz). {_HINT}")
    for name, columns in COLUMNS.items():
        path = _table(hosp, name)
        found = read_columns(path)
        if lacking := [column for column in columns if column not in found]:
            raise InputError(f"{path}: no column {', '.join(lacking)}; it has {', '.join(found)[:300]}. {_HINT}")
    return hosp


def read_stays(hosp: Path) -> list[list[Stay]]:
    """The stays of each patient, the earliest first; patients by their number.

    Args:
        hosp: what `find_hosp` gave.

    Raises:
        InputError: a table cannot be read, a row cannot be used, or there are more patients than the demo has.
    """
    patients = {row[0]: row[1:] for _, row in _rows(hosp, "patients")}
    if len(patients) > MOST_PATIENTS:
        raise InputError(
            f"{hosp} has {len(patients):,} patients, expected at most {MOST_PATIENTS}, as the open demo has: "
            "synthetic notes are written for it only. MIMIC-IV itself comes with notes (MIMIC-IV-Note, PhysioNet)."
        )
    parts = _Parts(hosp)
    stays: dict[int, list[Stay]] = defaultdict(list)
    for where, row in _rows(hosp, "admissions"):
        if row[0] not in patients:
            raise InputError(f"{where}: subject_id {row[0]!r} is not in patients. {_HINT}")
        stay = _stay(where, row, patients[row[0]], parts)
        stays[stay.subject_id].append(stay)
    if not stays:
        raise InputError(f"{_table(hosp, 'admissions')} has no rows, expected the admissions of the demo. {_HINT}")
    return [sorted(stays[subject], key=lambda stay: (stay.admitted, stay.hadm_id)) for subject in sorted(stays)]


def _stay(where: str, row: Sequence[str], patient: Sequence[str], parts: "_Parts") -> Stay:
    subject, hadm, admitted, discharged, kind, destination, died = row
    gender, anchor_age, anchor_year = patient
    start, end = _time(where, "admittime", admitted), _time(where, "dischtime", discharged)
    age = _number(where, "anchor_age", anchor_age) + start.year - _number(where, "anchor_year", anchor_year)
    return Stay(
        _number(where, "subject_id", subject),
        _number(where, "hadm_id", hadm),
        gender,
        age,
        start,
        end,
        kind,
        destination,
        died == "1",
        parts.services.get(hadm, ""),
        tuple(parts.diagnoses[hadm]),
        tuple(parts.procedures[hadm]),
        tuple(parts.labs[hadm]),
        tuple(parts.drugs[hadm]),
    )


class _Parts:
    """What belongs to admissions, by hadm_id, in order."""

    def __init__(self, hosp: Path) -> None:
        titles = {(code.strip(), version): title for _, (code, version, title) in _rows(hosp, "d_icd_diagnoses")}
        items = {row[0]: row[1:] for _, row in _rows(hosp, "d_labitems")}
        self.diagnoses: dict[str, list[Coded]] = defaultdict(list)
        for hadm, _, _, code, version in sorted(_by_sequence(hosp, "diagnoses_icd")):
            self.diagnoses[hadm].append(Coded(code, version, titles.get((code, version), "")))
        self.procedures: dict[str, list[Coded]] = defaultdict(list)
        for hadm, _, _, code, version in sorted(_by_sequence(hosp, "procedures_icd")):
            self.procedures[hadm].append(Coded(code, version, ""))
        self.labs = _labs(hosp, items)
        self.drugs: dict[str, list[Drug]] = defaultdict(list)
        for hadm, start, stop, kind, *rest in sorted({row for _, row in _rows(hosp, "prescriptions")}):
            if kind == "MAIN" and hadm:
                self.drugs[hadm].append(Drug(start, stop, *map(str.strip, rest)))
        self.services: dict[str, str] = {}
        for hadm, _, service in sorted(row for _, row in _rows(hosp, "services")):
            self.services.setdefault(hadm, service)


def _by_sequence(hosp: Path, name: str) -> Iterator[tuple[str, int, tuple[str, ...], str, str]]:
    for where, (hadm, sequence, *between, code, version) in _rows(hosp, name):
        yield hadm, _number(where, "seq_num", sequence), tuple(between), code.strip(), version.strip()


def _labs(hosp: Path, items: Mapping[str, Sequence[str]]) -> dict[str, list[Lab]]:
    labs: dict[str, list[Lab]] = defaultdict(list)
    for hadm, charttime, itemid, value, unit, flag in sorted({row for _, row in _rows(hosp, "labevents")}):
        label, fluid = items.get(itemid, ("", ""))
        if hadm and len(label) > 1 and value.strip() not in ("", "___"):
            labs[hadm].append(Lab(charttime, label, fluid, value.strip(), unit.strip(), flag == "abnormal"))
    return labs


def _rows(hosp: Path, name: str) -> Iterator[Row]:
    return read_text_columns(_table(hosp, name), COLUMNS[name], _HINT)


def _table(hosp: Path, name: str) -> Path:
    return next(path for suffix in SUFFIXES if (path := hosp / f"{name}{suffix}").is_file())


def _time(where: str, column: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{where}: {column} is {text!r}, expected a time such as 2180-05-06 22:25:00.") from error


def _number(where: str, column: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{where}: {column} is {text!r}, expected a whole number.") from error
