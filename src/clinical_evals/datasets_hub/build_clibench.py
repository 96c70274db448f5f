"""`clinical-evals build clibench`: MIMIC-IV becomes what `load_dataset("clibench", …)` reads (protocol.md 2.2, 2.3).

    OUT/TASK/test.parquet, train.parquet   the rows, with MIMIC's mark in their metadata
    OUT/build.json                         what was read, kept and dropped at every step, statistics, checksums
    OUT/README.md, OUT/croissant.json      a gated card; the schema and the files' SHA-256, for machines
    OUT/id-lists/TASK-SPLIT.json           which admissions, for others who have MIMIC; no ids

All is made in a folder beside OUT, which takes its name at the end. An interrupted build goes on from its last step.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from clinical_evals.clibench import mimic
from clinical_evals.clibench.draws import draw_task, mimic_key
from clinical_evals.clibench.engines import open_engine
from clinical_evals.clibench.extraction import COLUMNS, Extracted, extract
from clinical_evals.clibench.gold import SYSTEM_OF
from clinical_evals.clibench.id_lists import list_ids, write_id_list
from clinical_evals.clibench.mimic_files import MimicFiles, find_files
from clinical_evals.clibench.note_stage import read_cut, store_notes
from clinical_evals.clibench.notes import NOTES_VERSION
from clinical_evals.clibench.rows import Rows
from clinical_evals.clibench.sampling import MINIMUM, QUOTAS
from clinical_evals.clibench.stages import StageReader, Stages
from clinical_evals.clibench.systems import Systems, find_systems, releases
from clinical_evals.datasets_hub.build_files import sha256_of, write_task
from clinical_evals.errors import InputError, RunError
from clinical_evals.hub.cards.built_card import write_clibench_card
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.version import __version__

BUILD_VERSION = "1"
"""Raised with every change that changes rows or splits."""
ABOUT = "build.json"
_SHOWN = 50


class Request(NamedTuple):
    """What was asked; the command line's help says what each is."""

    mimic: Path
    notes: Path
    out: Path
    engine: str = "duckdb"
    first_batch: mimic.FirstBatch = "released"
    seed: int = 0
    quota: int | None = None
    """Admissions a label; None: the paper's of each task."""
    minimum: int = MINIMUM
    """Admissions a service and a care unit."""
    memory: str = "3GB"
    threads: int | None = None


def build_clibench(request: Request, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Build all tasks for which tables and code systems are there.

    Args:
        request: what was asked.
        say: is told what is being done, line by line.

    Returns:
        What stands in build.json.

    Raises:
        ClinicalEvalsError: a table or a code system cannot be used, or the disk is full. OUT is then as it was; what
            was finished is kept beside it for the next time, unless the tables themselves were the fault.
    """
    for flag, number in (("--quota", request.quota), ("--minimum", request.minimum)):
        if number is not None and number < 1:
            raise InputError(f"{flag} {number}: expected a whole number of at least 1, or leave it out.")
    files = find_files(request.mimic, request.notes)
    say(f"MIMIC-IV {files.version} (by {files.version_by})")
    systems, losses = find_systems()
    for name, loss in files.lost.items():
        say(f"no table {name}: {loss} is left out")
    for loss in losses:
        say(loss)
    identity = _identify(request, files, systems, losses)
    if (there := _check_out(request.out, identity)) is not None:
        say(f"{request.out} is built already, from the same tables with the same settings")
        return there
    building = request.out.parent / f".{request.out.name}.building"
    work = building / "work"
    _make_folder(work)
    with _alone(building, request.out):
        engine = open_engine(request.engine, work, request.memory, request.threads)
        local = engine if engine.name == "duckdb" else open_engine("duckdb", work, request.memory, request.threads)
        try:
            stages = Stages(work, identity, engine, local, say)
            found = _extract(files, stages, systems, request.first_batch, say)
            if stages.resumed:
                say(f"{len(stages.resumed)} steps were there from an earlier run")
            about = _write(request, files, systems, losses, identity, stages, found, building / "data", say)
        except OSError as error:
            raise RunError(f"{building} cannot be written to ({error}): is the disk full?") from error
        except BaseException:
            say(f"what was finished is kept in {building}: rows of patients; the same command goes on from there")
            raise
        finally:
            engine.close()
            local.close()
        _put_in_place(building / "data", request.out)
        shutil.rmtree(building)
    return about


# What is there


def _identify(request: Request, files: MimicFiles, systems: Systems, losses: list[str]) -> dict[str, Any]:
    """What decides the content of a build; files are told by size and time, not read for it."""
    return {
        "build": BUILD_VERSION,
        "notes": NOTES_VERSION,
        "mimic": {
            name: [source.path.name, source.path.stat().st_size, source.path.stat().st_mtime_ns]
            for name, source in sorted(files.tables.items())
        },
        "first_batch": request.first_batch,
        "draw": [request.seed, request.quota, request.minimum],
        "releases": releases(systems),
        "without": sorted(loss.partition(":")[0] for loss in losses),
    }


def _check_out(out: Path, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a finished build of the same says; None where there is nothing.

    Raises:
        InputError: something else is there.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        about: dict[str, Any] = json.loads((out / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"--out {out} is there and is no build of ours ({error}). Name another folder.") from error
    if about.get("identity") != json.loads(json.dumps(identity)):
        raise InputError(
            f"--out {out} holds a build of other tables, settings, releases or versions. Name another folder, or "
            "remove it."
        )
    return about


def _make_folder(work: Path) -> None:
    """For its owner only: what is worked out on the way are rows of patients."""
    try:
        work.parent.parent.mkdir(parents=True, exist_ok=True)
        work.parent.mkdir(mode=0o700, exist_ok=True)
        work.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{work} cannot be made: {error.strerror or error}. Name another --out.") from error


@contextmanager
def _alone(building: Path, out: Path) -> Iterator[None]:
    """One build into a folder at a time; the lock of a killed one is free."""
    lock = FileLock(building / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise InputError(f"another build into {out} is running. Wait for it, or name another --out.") from error
    except OSError as error:
        raise InputError(f"{building} cannot be written to ({error}). Name another --out.") from error
    try:
        yield
    finally:
        lock.release()


# The stages


def _extract(
    files: MimicFiles, stages: Stages, systems: Systems, rule: mimic.FirstBatch, say: Callable[[str], None]
) -> Extracted:
    for name in ("discharge", "radiology"):
        if files.has(name):
            _check_note_types(stages, files, name)
    notes = mimic.read_notes(stages.engine.read(files.tables["discharge"], COLUMNS["discharge"]))
    store_notes(stages, notes, say)
    found = extract(files, stages, systems, rule, say)
    if not found.tasks:
        raise InputError("no task has an admission with gold and a discharge note. Are tables and notes of one MIMIC?")
    if files.has("radiology") and "diagnosis" in found.tasks:
        stages.read(
            "radiology",
            lambda: mimic.read_notes(
                stages.engine.read(files.tables["radiology"], COLUMNS["radiology"]),
                stages.for_engine("diagnosis_gold"),
            ).order_by("hadm_id", "note_seq", "note_id", "text"),
            "reading radiology reports",
        )
    return found


_TYPES = {"discharge": {"DS", "AD"}, "radiology": {"RR", "AR"}}


def _check_note_types(stages: Stages, files: MimicFiles, name: str) -> None:
    """Whether a table of notes has the notes of its name; how many of which type there are."""
    raw = stages.engine.read(files.tables[name], COLUMNS[name])
    counted = stages.read(
        f"{name}_types",
        lambda: raw.group_by("note_type").aggregate(rows=raw.count()).order_by("note_type"),
        f"looking at the types of notes in {name}",
    )
    found = {str(row["note_type"]): int(row["rows"]) for row in counted.to_pyarrow().to_pylist()}
    if other := found.keys() - _TYPES[name]:
        raise InputError(
            f"{files.tables[name].path}: it has notes of type {', '.join(sorted(other))}, expected "
            f"{' and '.join(sorted(_TYPES[name]))}. Is it another table of MIMIC-IV-Note?"
        )
    if not found:
        raise InputError(f"{files.tables[name].path} has no notes. Give the whole table, or take it away.")


def _items(stages: Stages, reader: StageReader, systems: Systems) -> list[dict[str, str | None]]:
    """What is known of each lab item: MIMIC's own names, else those of the map."""
    known: dict[str, dict[str, str | None]] = {}
    if systems.lab_items is not None:
        for item in systems.lab_items.items.values():
            known[item.itemid] = {"label": item.label, "fluid": item.fluid, "category": item.category, "loinc": None}
            if item.loinc and systems.loinc is not None:
                known[item.itemid]["loinc"] = systems.loinc.normalize(item.loinc)
    if "d_labitems" in reader.stage:
        for itemid, label, fluid, category in reader.rows("SELECT itemid, label, fluid, category FROM {d_labitems}"):
            entry = known.setdefault(itemid, {"loinc": None})
            entry |= {"label": label, "fluid": fluid, "category": category}
    return [{"itemid": itemid, **entry} for itemid, entry in sorted(known.items())]


# The files


def _write(
    request: Request,
    files: MimicFiles,
    systems: Systems,
    losses: list[str],
    identity: Mapping[str, Any],
    stages: Stages,
    found: Extracted,
    data: Path,
    say: Callable[[str], None],
) -> dict[str, Any]:
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    there = {path.name.removesuffix(".parquet"): path for path in stages.work.glob("*.parquet")}
    reader = StageReader(there, request.memory, stages.engine.threads)
    try:
        rows = Rows(reader, _items(stages, reader, systems))
        key = mimic_key(reader)
        tasks: dict[str, Any] = {}
        for task in found.tasks:
            system = getattr(systems, SYSTEM_OF[task])
            say(f"{task}: drawing and writing")
            quota = request.quota or QUOTAS[task]
            split = draw_task(task, reader, system, quota, request.minimum, request.seed)
            tasks[task] = write_task(task, split, rows, system, data)
            for name, ids in split.ids().items():
                settings: dict[str, str | int] = {
                    "seed": request.seed,
                    "first_batch": request.first_batch,
                    "quota": quota,
                    "minimum": request.minimum,
                }
                (data / "id-lists").mkdir(exist_ok=True)
                write_id_list(
                    data / "id-lists" / f"{task}-{name}.json",
                    list_ids(ids, key, task, name, files.version, settings),
                )
    finally:
        reader.close()
    about = {
        "clinical_evals": __version__,
        "mark": MIMIC_MARKER,
        "mimic_version": files.version,
        "mimic_version_by": files.version_by,
        "engine": stages.engine.name,
        "settings": {
            "first_batch": request.first_batch,
            "seed": request.seed,
            "quota": request.quota or "of the paper",
            "minimum": request.minimum,
        },
        "releases": releases(systems),
        "system_notes": {system.name: system.note for system in systems[:4] if system is not None and system.note},
        "losses": [f"no table {name}: {loss}" for name, loss in files.lost.items()] + losses,
        "funnel": [step._asdict() for step in found.funnel],
        "notes": found.notes,
        "discharge_notes": _cut(stages),
        "sources_without_a_code": {
            task: _first(mapped.dropped) for task, mapped in found.mapped.items() if mapped.dropped
        },
        "sources_with_older_codes": {
            task: _first(mapped.replaced) for task, mapped in found.mapped.items() if mapped.replaced
        },
        "tasks": tasks,
        "identity": identity,
    }
    about["files"] = {
        path.relative_to(data).as_posix(): sha256_of(path) for path in sorted(data.rglob("*")) if path.is_file()
    }
    write_clibench_card(data, about)
    (data / ABOUT).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return about


def _first(reasons: Mapping[str, str]) -> dict[str, Any]:
    """How many, and the first of them: drugs by the thousand would fill the file."""
    return {"distinct": len(reasons), "first": dict(list(reasons.items())[:_SHOWN])}


def _cut(stages: Stages) -> dict[str, Any]:
    cut = read_cut(stages)
    return cut._asdict() | {
        "dropped": {name: {"places": places, "characters": size} for name, (places, size) in cut.dropped.items()}
    }


def _put_in_place(data: Path, out: Path) -> None:
    try:
        if out.is_dir():
            out.rmdir()  # empty: looked at before
        data.rename(out)
    except OSError as error:
        raise InputError(f"{out} cannot be put in its place ({error}); the build is whole in {data}.") from error
