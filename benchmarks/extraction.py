"""MIMIC extraction: ours on 10 million lab rows, against the plain pandas way on a million of the same, extrapolated.

Both read the same tables of a generated MIMIC, notes included but not cut, up to the first batch of every admission.
Each runs in a process of its own, whose peak memory is measured. Afterwards the whole build is timed once, with the
notes cut and all rows written.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import report

MILLION, RATIO, MEMORY = 1_000_000, 20, 4.0
FULL_LAB_ROWS = 158_374_764
"""Of MIMIC-IV 3.1."""


def main() -> None:
    """Print ratio and memory."""
    small_rows, large_rows = MILLION, 10 * MILLION
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = _generated(folder / "small", small_rows), _generated(folder / "large", large_rows)
        baseline = _in_a_process("baseline", small, folder)
        ours = [_in_a_process("ours", each, folder) for each in (small, large)]
        build = _in_a_process("build", large, folder)
    theirs = baseline["seconds"] * large_rows / small_rows
    ratio = theirs / ours[1]["seconds"]
    report(
        "extraction up to the gold, 10 million lab rows",
        f"{ours[1]['seconds']:.1f} s, {ratio:.1f}x plain pandas ({baseline['seconds']:.1f} s for 1 million, "
        "extrapolated)",
        f"{RATIO}x",
        ratio >= RATIO,
        same=f"{ours[0]['admissions'] == baseline['admissions']} (admissions with a first batch of labs and of drugs, "
        f"1 million rows: {ours[0]['admissions']})",
        one_million=f"{ours[0]['seconds']:.1f} s",
    )
    peaks = f"{ours[0]['peak']:.2f} GB for 1 million, {ours[1]['peak']:.2f} GB for 10 million"
    report(
        "extraction, peak memory",
        f"{peaks} (pandas: {baseline['peak']:.2f} GB for 1 million)",
        f"{MEMORY} GB",
        max(ours[1]["peak"], build["peak"]) < MEMORY,
        whole_build=f"{build['seconds']:.0f} s and {build['peak']:.2f} GB for 10 million, {build['notes']:,} notes "
        "cut and all rows of four tasks written",
        full_size=f"about {build['seconds'] * FULL_LAB_ROWS / large_rows / 60:.0f} minutes for MIMIC-IV's "
        f"{FULL_LAB_ROWS:,} lab rows, were it linear",
    )


def _generated(folder: Path, lab_rows: int) -> Path:
    from clinical_evals.clibench.generated import write_generated

    write_generated(folder, lab_rows, 0, "csv.gz")
    return folder


def _in_a_process(what: str, mimic: Path, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.extraction", what, str(mimic), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# In a process of its own


def run_baseline(mimic: Path, _: Path) -> dict[str, Any]:
    """The plain pandas way."""
    from benchmarks.pandas_extraction import extract

    start = time.perf_counter()
    found = extract(mimic, mimic)
    seconds = time.perf_counter() - start
    labs, drugs = (sum(bool(getattr(each, name)) for each in found.values()) for name in ("lab_items", "drugs"))
    return {"seconds": seconds, "admissions": [labs, drugs]}


def run_ours(mimic: Path, folder: Path) -> dict[str, Any]:
    """Our stages up to the gold; the notes are read but not cut."""
    import ibis

    from clinical_evals.clibench import mimic as tables
    from clinical_evals.clibench.engines import open_engine
    from clinical_evals.clibench.extraction import COLUMNS, extract
    from clinical_evals.clibench.mimic_files import find_files
    from clinical_evals.clibench.stages import Stages
    from clinical_evals.clibench.systems import find_systems

    _ = ibis.duckdb  # imported before the clock runs, as pandas is for the baseline
    systems, _ = find_systems()  # the release files of the code systems: the baseline maps nothing
    start = time.perf_counter()
    work = folder / f"work-{mimic.name}"
    work.mkdir()
    engine = open_engine("duckdb", work)
    files = find_files(mimic, mimic)
    stages = Stages(work, {}, engine, engine, lambda line: None)
    notes = tables.read_notes(engine.read(files.tables["discharge"], COLUMNS["discharge"]))
    stages.read("notes", lambda: notes, "reading the notes")
    found = extract(files, stages, systems, "released", lambda line: None)
    seconds = time.perf_counter() - start
    steps = {(step.task, step.step): step.admissions for step in found.funnel}
    engine.close()
    counted = [steps.get((task, "in the first batch"), 0) for task in ("lab_order", "prescription")]
    return {"seconds": seconds, "admissions": counted}


def run_build(mimic: Path, folder: Path) -> dict[str, Any]:
    """The whole command."""
    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench

    start = time.perf_counter()
    about = build_clibench(Request(mimic, mimic, folder / "out"), lambda line: None)
    return {"seconds": time.perf_counter() - start, "notes": about["discharge_notes"]["notes"]}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        run = {"baseline": run_baseline, "ours": run_ours, "build": run_build}[sys.argv[1]]
        result = run(Path(sys.argv[2]), Path(sys.argv[3]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if os.uname().sysname == "Linux" else 2**30)
        print(json.dumps(result | {"peak": peak}))
