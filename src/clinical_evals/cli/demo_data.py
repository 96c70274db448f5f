"""`clinical-evals demo-data`: its arguments and command."""

import argparse
from pathlib import Path

_DESCRIPTION = """\
Make a folder to try CliBench with: the tables of the open MIMIC-IV demo (100 patients, 275 admissions; no account is
needed: https://physionet.org/content/mimic-iv-demo/2.2/), and synthetic discharge and radiology notes written from
them, since the demo has none. Then: clinical-evals build clibench --mimic DIR --notes DIR --out FOLDER
"""


def add_demo_data(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `demo-data`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--mimic-demo",
        type=Path,
        required=True,
        metavar="DIR",
        help="the demo's folder, which holds hosp/, or hosp itself",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--seed", type=int, default=0, help="chooses words and styles of the notes (default: %(default)s)"
    )
    parser.set_defaults(command=write_demo_data)


def write_demo_data(args: argparse.Namespace) -> None:
    """Write the folder and print what is in it."""
    from clinical_evals.clibench.demo_data import write_demo_data

    print(write_demo_data(args.mimic_demo, args.out, args.seed).describe())
