"""`clinical-evals verify DIR`: a build of CliBench counted again, from its files alone."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clinical_evals.clibench.gold import SYSTEM_OF
from clinical_evals.clibench.id_lists import read_id_list
from clinical_evals.clibench.notes import find_leaks
from clinical_evals.datasets_hub.build_clibench import ABOUT
from clinical_evals.datasets_hub.build_files import CROISSANT, sha256_of
from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.split_files import check_columns, find_split_files, read_tables, source_of
from clinical_evals.errors import InputError
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.ontology import CodeSystem, get_system

_SHOWN = 5


def verify_clibench(folder: Path, say: Callable[[str], None] = print) -> list[str]:
    """Look at every file of a build.

    Args:
        folder: what `clinical-evals build clibench` wrote.
        say: is told what was counted, line by line.

    Returns:
        What is wrong, in sentences; empty where all is as build.json says.

    Raises:
        InputError: there is no build.json, or a file cannot be read at all.
        ResourceMissingError: a code system of the build is not on this machine.
    """
    about = read_about(folder)
    problems = [] if about.get("mark") == MIMIC_MARKER else [f"{ABOUT} has lost its mark ({MIMIC_MARKER})"]
    problems += _changed_files(folder, about)
    for task, entry in about["tasks"].items():
        system = get_system(SYSTEM_OF[task])
        written = about["releases"].get(system.name)
        if written != system.release:
            problems.append(f"{task}: built with {system.name} {written}, looked at with {system.release}")
        files = find_split_files(folder, task, "clibench")
        missing = set(entry["splits"]) ^ set(files)
        if missing:
            problems.append(f"{task}: {', '.join(sorted(missing))} is in {ABOUT} or among the files, not in both")
        patients: dict[str, set[int]] = {}
        for split, path in files.items():
            found = _Counted(path, task, split, system)
            patients[split] = found.patients
            problems += found.problems
            problems += _differences(found, entry["splits"].get(split, {}), f"{task}/{split}")
            problems += _check_list(folder, found)
            say(f"{task} {split}: {found.rows:,} rows of {len(found.patients):,} patients, {found.codes:,} gold codes")
        both = set.intersection(*patients.values()) if len(patients) > 1 else set()
        if both:
            problems.append(f"{task}: {len(both):,} patients are in both splits, e.g. {min(both)}")
    return problems


def _changed_files(folder: Path, about: Mapping[str, Any]) -> list[str]:
    """Files whose content is not what was written, is gone, or came later."""
    written: Mapping[str, str] = about.get("files", {})
    there = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    problems = [f"{name} is missing" for name in written if name not in there]
    for name, path in there.items():
        if name in written and sha256_of(path) != written[name]:
            problems.append(f"{name} was changed after it was written")
        elif name not in written and path.suffix in (".parquet", ".json") and name not in (ABOUT, CROISSANT):
            problems.append(f"{name} is no file of this build")
    return problems


def read_about(folder: Path) -> dict[str, Any]:
    """What build.json says.

    Raises:
        InputError: it is not there, or is none.
    """
    path = folder / ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{folder} is no build of CliBench: {path} cannot be read ({error.strerror or error}). Give the --out of "
            "`clinical-evals build clibench`."
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): build again.") from error
    if not isinstance(about, dict) or not isinstance(about.get("tasks"), dict):
        raise InputError(f"{path} is no build.json of CliBench: it names no tasks.")
    return about


class _Counted:
    """One split, row by row."""

    def __init__(self, path: Path, task: str, split: str, system: CodeSystem) -> None:
        self.path, self.task, self.split, self.system = path, task, split, system
        self.rows = self.codes = self.with_headings = self.with_titles = 0
        self.ids: list[int] = []
        self.patients: set[int] = set()
        self.problems: list[str] = []
        check_columns(path, schema_of("clibench", task))
        if source_of(path) != MIMIC_MARKER:
            self.problems.append(
                f"{path.name} of {task} has lost its mark ({MIMIC_MARKER}), by which the guard knows it"
            )
        for row in self._read():
            self._take(row)
        if self.ids != sorted(set(self.ids)):
            self.problems.append(f"{task}/{split}: hadm_id is not ascending, or one is there twice")

    def _read(self) -> Iterator[Mapping[str, Any]]:
        for table in read_tables(self.path, schema_of("clibench", self.task)):
            yield from table.select(["hadm_id", "subject_id", "record", "codes", "titles"]).to_pylist()

    def _take(self, row: Mapping[str, Any]) -> None:
        codes, titles = row["codes"], row["titles"]
        self.rows += 1
        self.codes += len(codes)
        self.ids.append(row["hadm_id"])
        self.patients.add(row["subject_id"])
        leaks = find_leaks(row["record"], titles)
        self.with_headings += bool(leaks.forbidden_headings)
        self.with_titles += bool(leaks.titles)
        where = f"{self.task}/{self.split}, hadm_id {row['hadm_id']}"
        if not codes or codes != sorted(set(codes)):
            self._add(f"{where}: its codes are none, not sorted, or one is there twice")
        elif any(self.system.normalize(code) != code for code in codes):
            self._add(f"{where}: a code is not of {self.system.name} {self.system.release}")
        elif titles != [self.system.title(code) for code in codes]:
            self._add(f"{where}: its titles are not those of its codes")

    def _add(self, problem: str) -> None:
        if len(self.problems) < _SHOWN:
            self.problems.append(problem)


def _differences(found: _Counted, written: Mapping[str, Any], where: str) -> list[str]:
    counted = {
        "rows": found.rows,
        "patients": len(found.patients),
        "rows_with_a_forbidden_heading": found.with_headings,
        "rows_with_a_gold_title": found.with_titles,
    }
    said = {
        "rows": written.get("rows"),
        "patients": written.get("statistics", {}).get("patients"),
        **{name: written.get("leakage", {}).get(name) for name in list(counted)[2:]},
    }
    return [
        f"{where}: {name.replace('_', ' ')}: counted {counted[name]:,}, {ABOUT} says {said[name]}"
        for name in counted
        if counted[name] != said[name]
    ]


def _check_list(folder: Path, found: _Counted) -> list[str]:
    path = folder / "id-lists" / f"{found.task}-{found.split}.json"
    if not path.is_file():
        return []  # said with the files
    number = len(read_id_list(path).hashes)
    if number != found.rows:
        return [f"{path.relative_to(folder)} has {number:,} admissions, the split {found.rows:,}"]
    return []
