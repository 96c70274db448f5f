"""`clinical-evals build …`: its arguments and commands."""

import argparse
from pathlib import Path
from typing import Any

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
