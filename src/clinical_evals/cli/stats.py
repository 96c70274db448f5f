"""`clinical-evals stats …`: its arguments and commands."""

import argparse
import json
from pathlib import Path
from typing import Any


def add_stats(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stats`."""
    commands: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    ontology = commands.add_parser(
        "ontology",
        help="candidates at each level beside CliBench's Table 7",
        description="Count the candidates of each task at each level, for the releases in use, beside CliBench's "
        "Table 7; say where they differ and why.",
    )
    ontology.add_argument(
        "--dictionary",
        type=Path,
        metavar="PATH",
        help="MIMIC's d_icd_diagnoses (.csv, .csv.gz, .parquet): what the paper counts for diagnoses",
    )
    ontology.add_argument("--json", action="store_true", help="as JSON")
    ontology.set_defaults(command=print_ontology)


def print_ontology(args: argparse.Namespace) -> None:
    """Print the candidates of all tasks."""
    from clinical_evals.report.candidate_counts import count_candidates
    from clinical_evals.report.candidate_table import candidates_as_json, format_candidates

    rows = count_candidates(args.dictionary)
    if args.json:
        print(json.dumps(candidates_as_json(rows), indent=2, ensure_ascii=False))
    else:
        print(format_candidates(rows))
