"""`clinical-evals build ior-bench`: a hospital's table, or the authors' files, become what `load_dataset` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from clinical_evals.datasets_hub.features import schema_of
from clinical_evals.datasets_hub.source import describe
from clinical_evals.datasets_hub.write import write_parquet, write_report
from clinical_evals.errors import InputError
from clinical_evals.hub.cards.built_card import check_card_place, write_ior_bench_card
from clinical_evals.ior_bench.authors_files import authors_file, has_authors_files, read_authors
from clinical_evals.ior_bench.data import CONFIGS, Read
from clinical_evals.ior_bench.hospital import read_hospital_dynamic, read_hospital_static
from clinical_evals.ior_bench.reading_report import report_of
from clinical_evals.markers import PATIENT_MARKER

REPORT = "build-report.txt"


class Request(NamedTuple):
    """What was asked; the command line's help says what each is."""

    table: Path
    config: str
    """One of `ior_bench.data.CONFIGS`."""
    columns: Mapping[str, str]
    out: Path
    departments: Path | None = None
    skip_invalid: bool = False


def build_ior_bench(request: Request) -> str:
    """Read a hospital's table, write OUT/CONFIG/test.parquet, OUT/CONFIG/build-report.txt and the card of OUT.

    Returns:
        What was read and where it is, for the user to read.

    Raises:
        ClinicalEvalsError: the table cannot be used (then nothing is written), or the folder not written to.
    """
    _check_out(request.out, request.config)
    read_hospital = read_hospital_static if request.config == "static" else read_hospital_dynamic
    read = read_hospital(request.table, request.columns, request.departments, request.skip_invalid)
    return _write(read, request.table, request.config, request.out)


def build_from_authors(folder: Path, out: Path, skip_invalid: bool = False) -> str:
    """The same from the authors' final_static.csv and dynamic_final.csv, as many of them as there are.

    Raises:
        ClinicalEvalsError: neither is there, or one cannot be used (then nothing is written).
    """
    configs = [config for config in CONFIGS if has_authors_files(folder, config)]
    if not configs:
        raise InputError(
            f"{folder} holds neither {authors_file('static')} nor {authors_file('dynamic_h1')}. Give the folder of "
            "the authors' files."
        )
    for config in configs:
        _check_out(out, config)
    read = {config: read_authors(folder, config, skip_invalid) for config in configs}
    return "\n\n".join(_write(each, folder / authors_file(config), config, out) for config, each in read.items())


def _write(read: Read, table: Path, config: str, out: Path) -> str:
    folder = out / config
    write_parquet(read.rows, schema_of("ior-bench", config), folder / "test.parquet", PATIENT_MARKER)
    about = describe("ior-bench", {PATIENT_MARKER})  # with the mark: reasons quote cells
    whole = [f"{table}, as {config}", *report_of(read, most_shown=None), "", about]
    write_report("\n".join(whole) + "\n", folder / REPORT)
    write_ior_bench_card(out)
    return "\n".join(
        [
            f"{table}: {report_of(read)[0]}",
            *report_of(read)[1:],
            f"written to {folder / 'test.parquet'}; the same report, in full: {folder / REPORT}",
            f"the card of all that is in {out}: README.md; its schema for machines: croissant.json",
            f'load_dataset("ior-bench", "{config}", data_dir="{out}"), or IOR_BENCH_DIR={out} for the tasks',
        ]
    )


def _check_out(out: Path, config: str) -> None:
    check_card_place(out)
    other = out / config / "test.json"
    if other.exists():
        raise InputError(f"{other} is there already; test.parquet beside it could not be told from it. Remove it.")
    if has_authors_files(out, config):
        raise InputError(f"{out} holds the authors' {authors_file(config)}: give another --out FOLDER.")
