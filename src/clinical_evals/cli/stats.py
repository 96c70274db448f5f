"""`clinical-evals stats …` and `verify`: their arguments and commands."""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError

CONTEXTS = (4096, 8192, 32768)
"""Those of CliBench's Table 8."""
_TOO_SHORT = re.compile(
    r"(?P<said>[^\n]*a context of (?P<context>[0-9]+) tokens[^\n.]*)"
    r"\. Give a longer --context \(at least (?P<least>[0-9]+)\)"
)
"""The error of `truncation` that advises options of `run`."""
_DESCRIPTION = """\
stats ontology: the candidates of each task at each level, for the releases in use, beside CliBench's Table 7, and why
they differ. stats DIR: what a build of CliBench holds beside Table 2, and how much of its diagnosis prompts a context
keeps beside Table 8.
"""


def add_stats(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stats`."""
    parser.description, parser.formatter_class = _DESCRIPTION, argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", metavar="ontology|DIR", help="`ontology`, or the --out of `build clibench`")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--dictionary",
        type=Path,
        metavar="PATH",
        help="of ontology: MIMIC's d_icd_diagnoses (.csv, .csv.gz, .parquet): what the paper counts for diagnoses",
    )
    parser.add_argument(
        "--tokenizer", metavar="MODEL", help="of DIR: whose tokens are counted (default: an estimate, rather too many)"
    )
    parser.add_argument(
        "--context",
        metavar="N,…",
        help=f"of DIR: tokens for prompt and answer (default: {','.join(map(str, CONTEXTS))})",
    )
    parser.set_defaults(command=print_statistics)


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.description = "Count a build of CliBench again, from its files alone; exit code 2 where anything is wrong."
    parser.add_argument("folder", type=Path, metavar="DIR", help="the --out of `build clibench`")
    parser.set_defaults(command=verify)


def print_statistics(args: argparse.Namespace) -> None:
    """Print what was asked for."""
    if args.what == "ontology" and not Path("ontology").is_dir():
        print_ontology(args)
    else:
        print_build(args)


def print_ontology(args: argparse.Namespace) -> None:
    """Print the candidates of all tasks.

    Raises:
        InputError: an option of `stats DIR` is given; the dictionary cannot be used.
    """
    for option, value in (("--tokenizer", args.tokenizer), ("--context", args.context)):
        if value is not None:
            raise InputError(f"{option} is of `stats DIR`. Leave it out.")
    from clinical_evals.ontology.resources import telling_where
    from clinical_evals.ontology.resources.manifest import RESOURCES
    from clinical_evals.report.candidate_counts import count_candidates
    from clinical_evals.report.candidate_table import candidates_as_json, format_candidates

    with telling_where(*(resource.name for resource in RESOURCES)):
        rows = count_candidates(args.dictionary)
    if args.json:
        print(json.dumps(candidates_as_json(rows), indent=2, ensure_ascii=False))
    else:
        print(format_candidates(rows))


def print_build(args: argparse.Namespace) -> None:
    """Print Tables 2 and 8 of a build."""
    from clinical_evals.clibench.statistics import SplitStatistics
    from clinical_evals.clibench.statistics_tables import (
        format_kept,
        format_statistics,
        read_published_kept,
        read_published_statistics,
        statistics_rows,
    )
    from clinical_evals.datasets_hub.verify_clibench import read_about
    from clinical_evals.report.published_tables import PUBLISHED
    from clinical_evals.tasks.variants import parse_contexts

    if args.dictionary is not None:
        raise InputError("--dictionary is of `stats ontology`. Leave it out.")
    folder = Path(args.what)
    about = read_about(folder)
    counted = {
        (task, split): SplitStatistics(**of_split["statistics"])
        for task, entry in about["tasks"].items()
        for split, of_split in entry["splits"].items()
    }
    rows = statistics_rows(counted, read_published_statistics(PUBLISHED / "clibench_table2_statistics.csv"))
    kept = (
        _kept(folder, parse_contexts(args.context) or CONTEXTS, args.tokenizer)
        if "diagnosis" in about["tasks"]
        else []
    )
    published = read_published_kept(PUBLISHED / "clibench_table8_context.csv")
    if args.json:
        tables = {"statistics": [row._asdict() for row in rows], "kept": [row._asdict() for row in kept]}
        print(json.dumps(tables, indent=2, ensure_ascii=False))
        return
    print(f"Source codes of the splits, beside CliBench's Table 2 (MIMIC-IV 2.2)\n\n{format_statistics(rows)}\n")
    whose = args.tokenizer or "tokens are estimated; --tokenizer MODEL counts them"
    print(f"What a context keeps of the diagnosis prompts, beside Table 8 ({whose})\n\n{format_kept(kept, published)}")


def _kept(folder: Path, contexts: Sequence[int], tokenizer: str | None) -> list[Any]:
    from clinical_evals.clibench.kept import kept_by_context
    from clinical_evals.datasets_hub.features import schema_of
    from clinical_evals.datasets_hub.split_files import find_split_files, read_tables
    from clinical_evals.ontology import get_system
    from clinical_evals.tasks.models.endpoint_chat import EndpointChat

    chat: Any = EndpointChat()
    if tokenizer:
        from clinical_evals.tasks.models.chat import tokenizer_chat

        chat = tokenizer_chat(tokenizer)
    path = find_split_files(folder, "diagnosis", "clibench")["test"]
    rows = (row for table in read_tables(path, schema_of("clibench", "diagnosis")) for row in table.to_pylist())
    try:
        return kept_by_context(rows, contexts, chat, chat.render, get_system("icd10cm"), tokenizer or "estimate")
    except InputError as error:
        raise _of_context(error) from error


def _of_context(error: InputError) -> InputError:
    """The same error; one of a context that is too short names the option of this command, and no other ones."""
    short = _TOO_SHORT.match(str(error))
    if short is None:
        return error
    return InputError(
        f"--context {short['context']}: {short['said']}. Give a longer one: at least {short['least']} for this row."
    )


def verify(args: argparse.Namespace) -> None:
    """Print what was counted, and what is wrong.

    Raises:
        InputError: anything is.
    """
    from clinical_evals.datasets_hub.verify_clibench import verify_clibench

    if problems := verify_clibench(args.folder):
        raise InputError(f"{args.folder} is not as it was built:\n  " + "\n  ".join(problems))
    print("all as build.json says")
