"""`clinical-evals build …`: its arguments and commands."""

import argparse
from pathlib import Path
from typing import Any

from clinical_evals.cli.tuning import add_build_preferences, add_build_sft

_DESCRIPTION = """\
Make a hospital's own table the data of IOR-Bench. FILE is CSV (UTF-8 or GB18030), XLSX or JSONL. --columns says which
of its columns is what, e.g. "department=科室,question=title+ask,age=年龄".

static: department, and dialogue or question; optional answer (the closing turn, which the model never sees), age, sex,
id. dynamic: department, and one or more of chief_complaint, history_of_present_illness, past_medical_history,
personal_history, family_history; optional age, sex, id.

--authors FOLDER does the same with the authors' final_static.csv and dynamic_final.csv, whose columns are known.
"""


def add_build(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `build`."""
    datasets: Any = parser.add_subparsers(metavar="DATASET", required=True)
    _add_clibench(
        datasets.add_parser(
            "clibench",
            help="MIMIC-IV",
            description=_CLIBENCH,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    add_build_sft(datasets.add_parser("sft", help="CliBench's train split as rows for supervised fine-tuning"))
    add_build_preferences(datasets.add_parser("preferences", help="better and worse answers of a log, for DPO"))
    ior = datasets.add_parser(
        "ior-bench",
        help="a hospital's own table of dialogues, questions or records",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kind = ior.add_mutually_exclusive_group(required=True)
    kind.add_argument("--static", type=Path, metavar="FILE", help="a table of dialogues or questions")
    kind.add_argument("--dynamic", type=Path, metavar="FILE", help="a table of medical records")
    kind.add_argument("--authors", type=Path, metavar="FOLDER", help="the folder of the authors' CSV files")
    ior.add_argument("--columns", metavar="FEATURE=COLUMN,…", help="what each column is; + joins two")
    ior.add_argument(
        "--departments",
        type=Path,
        metavar="FILE",
        help="the hospital's departments, one a line (default: those that occur in the table)",
    )
    ior.add_argument(
        "--config",
        choices=("dynamic_h1", "dynamic_h2"),
        help="which config a --dynamic table becomes (default: dynamic_h1)",
    )
    ior.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where CONFIG/test.parquet goes")
    ior.add_argument(
        "--skip-invalid",
        action="store_true",
        help="leave out records that cannot be used; they are counted and listed",
    )
    ior.set_defaults(command=build_ior_bench, parser=ior)


_CLIBENCH = """\
Build CliBench from MIMIC-IV (2.2 or 3.1) and MIMIC-IV-Note, as PhysioNet gives them: .csv.gz, .csv or Parquet. Tasks
whose code system is not on this machine are left out and named: `clinical-evals resources list`. What every step drops
is in OUT/build.json and OUT/README.md. An interrupted build goes on from its last step when the command is repeated.
"""


def _add_clibench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mimic", type=Path, required=True, metavar="DIR", help="the folder that holds hosp/")
    parser.add_argument("--notes", type=Path, required=True, metavar="DIR", help="the folder that holds note/")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where TASK/SPLIT.parquet goes")
    parser.add_argument(
        "--engine", choices=("duckdb", "spark"), default="duckdb", help="what reads the tables (default: %(default)s)"
    )
    parser.add_argument(
        "--first-batch",
        choices=("released", "first_timestamp"),
        default="released",
        help="released: what is decided within 24 hours of admission, or within 2 of the first decision; "
        "first_timestamp: what is decided at the first time within 24 hours (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw (default: %(default)s)")
    parser.add_argument("--quota", type=int, metavar="N", help="admissions a label (default: the paper's, 40-55)")
    parser.add_argument(
        "--minimum",
        type=int,
        default=20,
        metavar="N",
        help="admissions a service and care unit (default: %(default)s)",
    )
    parser.add_argument(
        "--memory", default="3GB", metavar="SIZE", help="DuckDB's; more goes to the disk (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="default: one a core, with duckdb one more")
    parser.set_defaults(command=build_clibench)


def build_clibench(args: argparse.Namespace) -> None:
    """Build the data and print what every step left."""
    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench
    from clinical_evals.datasets_hub.build_report import format_build

    request = Request(
        mimic=args.mimic,
        notes=args.notes,
        out=args.out,
        engine=args.engine,
        first_batch=args.first_batch,
        seed=args.seed,
        quota=args.quota,
        minimum=args.minimum,
        memory=args.memory,
        threads=args.threads,
    )
    about = build_clibench(request, lambda line: print(line, flush=True))
    print(f"\n{format_build(about, args.out)}")


def build_ior_bench(args: argparse.Namespace) -> None:
    """Build the data and print what was read."""
    from clinical_evals.datasets_hub.build_ior_bench import Request, build_from_authors, build_ior_bench
    from clinical_evals.ior_bench.hospital import parse_columns

    if args.config and not args.dynamic:
        args.parser.error("--config goes with --dynamic; a --static table becomes the config static")
    if args.authors:
        if args.columns or args.departments:
            args.parser.error("--authors needs no --columns or --departments: they are known")
        print(build_from_authors(args.authors, args.out, args.skip_invalid))
        return
    if not args.columns:
        args.parser.error('--columns is missing: say what each column is, e.g. "department=科室,question=title+ask"')
    print(
        build_ior_bench(
            Request(
                table=args.static or args.dynamic,
                config="static" if args.static else args.config or "dynamic_h1",
                columns=parse_columns(args.columns),
                out=args.out,
                departments=args.departments,
                skip_invalid=args.skip_invalid,
            )
        )
    )
