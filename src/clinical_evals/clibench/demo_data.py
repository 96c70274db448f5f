"""Try-it data: the open MIMIC-IV demo with synthetic notes, in the folders that a download of MIMIC-IV has.

    clinical-evals demo-data --mimic-demo mimic-iv-clinical-database-demo-2.2 --out DIR

The demo has no notes, and CliBench needs them. DIR/hosp holds the demo's tables as they are, DIR/note discharge and
radiology notes in the layout of MIMIC-IV-Note, written from those tables by `demo_notes` and `demo_radiology`; each
says of itself that it is synthetic. `clinical-evals build clibench --mimic DIR --notes DIR` reads them. What is
measured on them says nothing about a model: it shows that everything works.
"""

import csv
import gzip
import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.clibench.demo_folder import (
    RECORD,
    WrittenMeanwhileError,
    checksums,
    folder_aside,
    read_record,
    write_record,
)
from clinical_evals.clibench.demo_notes import LABEL, Note, discharge_note
from clinical_evals.clibench.demo_radiology import radiology_reports
from clinical_evals.clibench.demo_stay import Stay
from clinical_evals.clibench.demo_tables import SUFFIXES, find_hosp, read_stays
from clinical_evals.errors import InputError

NOTE_COLUMNS = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
"""Columns of MIMIC-IV-Note's discharge and radiology."""
NOTE_VERSION = 1
"""Raised whenever the same tables and seed give other notes."""
_BESIDE = ("LICENSE.txt", "LICENSE", "SHA256SUMS.txt", "PROVENANCE.txt", "demo_subject_id.csv")

_NOTICE = f"""\
Try-it data of clinical-evals: the open MIMIC-IV demo with synthetic notes

hosp/
    Tables of the MIMIC-IV Clinical Database Demo, copied byte by byte: de-identified records of 100 real patients.
    Johnson, Bulgarelli, Pollard, Horng, Celi, Mark: MIMIC-IV Clinical Database Demo (version 2.2), PhysioNet,
    doi 10.13026/dp1f-ex47. Licence: Open Data Commons Open Database License 1.0 (ODbL): LICENSE.txt, where the demo
    came with it, and https://opendatacommons.org/licenses/odbl/1-0/

note/
    SYNTHETIC. Written by clinical-evals from the tables in hosp/. Nobody wrote these notes about a patient, and no
    sentence of them is from a real note; stories, vital signs, findings and images in them are invented. They are
    derived from the tables, and so under the ODbL too. Each ends with a line that says what it is:
    {LABEL}

{RECORD}
    What the folder was made of, and the checksum of each file.

The layout is that of MIMIC-IV (hosp) and MIMIC-IV-Note (note): a program that reads one reads the other. A score on
these data says that a program works, and nothing about how good a model is.
"""


class DemoData(NamedTuple):
    """What was written, or was there already."""

    out: Path
    tables: int
    """Files copied into hosp/."""
    patients: int
    admissions: int
    discharge_notes: int
    radiology_notes: int
    """Reports and addenda."""
    was_there: bool
    """Whether an earlier run had written the same."""

    def describe(self) -> str:
        """The counts in a line, and what to do with the folder in another."""
        done = "is there already" if self.was_there else "written"
        return (
            f"{self.out} {done}: {self.tables} tables of the demo, {self.patients:,} patients, {self.admissions:,} "
            f"admissions, {self.discharge_notes:,} synthetic discharge notes, {self.radiology_notes:,} synthetic "
            f"radiology notes.\nNext: clinical-evals build clibench --mimic {self.out} --notes {self.out} --out FOLDER"
        )


def write_demo_data(mimic_demo: Path, out: Path, seed: int = 0) -> DemoData:
    """Copy the demo's tables and write synthetic notes for all its admissions.

    The folder appears whole or not at all. The same tables (in any row order) and seed give the same notes.

    Args:
        mimic_demo: the folder that holds the demo's hosp/, or hosp itself.
        out: the folder to write; it may be there if it is empty, or was written by this function, also
            by another process at the same time.
        seed: chooses styles, words and times of the notes.

    Raises:
        InputError: `mimic_demo` is no MIMIC demo, a table of it cannot be read, or `out` holds something else.
        RunError: `out` cannot be written, e.g. because the disk is full; nothing is left behind.
    """
    hosp = find_hosp(mimic_demo)
    if out.resolve().is_relative_to(hosp.resolve()):
        raise InputError(f"{out} lies inside {hosp}, which is only read. Give another --out FOLDER.")
    made_of = {"seed": seed, "notes": NOTE_VERSION, "tables": checksums(_tables(hosp), hosp)}
    if counts := read_record(out, made_of):
        return DemoData(out, **counts, was_there=True)
    patients = read_stays(hosp)
    try:
        with folder_aside(out) as aside:
            counts = _write(aside, hosp, patients, seed)
            write_record(aside, made_of, counts)
    except WrittenMeanwhileError:
        if counts := read_record(out, made_of):  # by another run, of the same
            return DemoData(out, **counts, was_there=True)
        raise
    return DemoData(out, **counts, was_there=False)


def _write(aside: Path, hosp: Path, patients: Sequence[Sequence[Stay]], seed: int) -> dict[str, int]:
    tables = _tables(hosp)
    for folder in ("hosp", "note"):
        (aside / folder).mkdir()
    for table in tables:
        shutil.copyfile(table, aside / "hosp" / table.name)
    for place in (hosp.parent, hosp) if hosp.name == "hosp" else (hosp,):
        for name in _BESIDE:
            if (place / name).is_file():
                shutil.copyfile(place / name, aside / name)
    discharge, radiology = _discharge_rows(patients, seed), _radiology_rows(patients, seed)
    _write_notes(aside / "note" / "discharge.csv.gz", discharge)
    _write_notes(aside / "note" / "radiology.csv.gz", radiology)
    (aside / "NOTICE.txt").write_text(_NOTICE, encoding="utf-8")
    return {
        "tables": len(tables),
        "patients": len(patients),
        "admissions": sum(map(len, patients)),
        "discharge_notes": len(discharge),
        "radiology_notes": len(radiology),
    }


def _tables(hosp: Path) -> list[Path]:
    return sorted(path for path in hosp.iterdir() if path.is_file() and path.name.endswith(SUFFIXES))


def _discharge_rows(patients: Sequence[Sequence[Stay]], seed: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for stays in patients:
        notes = [(discharge_note(stay, stays[:number], seed), "DS", stay) for number, stay in enumerate(stays)]
        rows += _numbered_rows(notes)
    return rows


def _radiology_rows(patients: Sequence[Sequence[Stay]], seed: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for stays in patients:
        reports = [(report, stay) for stay in stays for report in radiology_reports(stay, seed)]
        reports.sort(key=lambda pair: (pair[0].note.charttime, pair[1].hadm_id, pair[0]))
        rows += _numbered_rows(
            [
                (report.note, report.kind, stay if report.in_stay else stay._replace(hadm_id=0))
                for report, stay in reports
            ]
        )
    return rows


def _numbered_rows(notes: Sequence[tuple[Note, str, Stay]]) -> Iterator[tuple[str, ...]]:
    """Rows of one patient, numbered in order; from 2, since the numbers of MIMIC's notes start anywhere."""
    for number, (note, kind, stay) in enumerate(notes, 2):
        hadm = str(stay.hadm_id or "")
        identifier = f"{stay.subject_id}-{kind}-{number}"
        times = str(note.charttime), str(note.storetime)
        yield identifier, str(stay.subject_id), hadm, kind, str(number), *times, note.text


def _write_notes(path: Path, rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NOTE_COLUMNS)
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))  # no time: the same rows, the same bytes
