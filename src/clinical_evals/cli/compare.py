"""`clinical-evals compare …` and `breakdown`: their arguments and commands."""

import argparse
import json
from pathlib import Path

_COMPARE = """\
Compare the runs of one task on the same rows, such as two models: each score with its interval, and how every other
run differs from the first, with paired interval, p-value of a sign-flip test, adjusted over the table, and the
smallest difference that such a comparison would detect. Writes nothing.
"""
_BREAKDOWN = """\
The scores of a log by groups of its rows, with counts and intervals. The rows are looked up in the dataset as it is
loaded now (CLIBENCH_DIR, IOR_BENCH_DIR). Writes nothing.
"""


def add_compare(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the arguments of `compare` but those of the protocol; returns the parser."""
    parser.description, parser.formatter_class = _COMPARE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "logs", type=Path, nargs="+", metavar="LOG", help="predictions.jsonl or transcripts.jsonl of two or more runs"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(command=compare)
    return parser


def add_breakdown(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the arguments of `breakdown` but those of the protocol; returns the parser."""
    parser.description, parser.formatter_class = _BREAKDOWN, argparse.RawDescriptionHelpFormatter
    parser.add_argument("log", type=Path, metavar="LOG", help="the predictions.jsonl or transcripts.jsonl of a run")
    parser.add_argument(
        "--by",
        metavar="COLUMN,…",
        help="columns of the dataset; of clibench also chapters (of the gold codes) and gold_codes (their number). "
        "Numbers may have bins: age:40/65 (default: gender,race,insurance,length_of_stay,chapters,gold_codes; of "
        "ior_bench sex,age)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(command=break_down)
    return parser


def compare(args: argparse.Namespace) -> None:
    """Print a comparison."""
    from clinical_evals.tasks.scored.comparison import compare_logs
    from clinical_evals.tasks.scored.comparison_tables import format_comparison

    found = compare_logs(args.logs, args.protocol, args.dictionary, args.matcher)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if args.json else format_comparison(found))


def break_down(args: argparse.Namespace) -> None:
    """Print a breakdown."""
    from clinical_evals.tasks.scored.breakdown_columns import parse_by
    from clinical_evals.tasks.scored.breakdown_tables import format_breakdowns
    from clinical_evals.tasks.scored.breakdowns import break_down

    by = parse_by(args.by) if args.by is not None else ()
    found = break_down(args.log, by, args.protocol, args.dictionary, args.matcher)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if args.json else format_breakdowns(found))
