"""`clinical-evals push …`: its arguments and command."""

import argparse
import math
from typing import Any

_DESCRIPTION = """\
Make a folder one commit of a repository on the Hub: private unless --public says otherwise, card and data together,
read back after it. Before any connection the guard looks at every file: nothing made from MIMIC or patients goes to a
public place, and to a private one only with --dua-consent. After a failure, repeating the command goes on from there.
"""
_KINDS = {
    "dataset": (
        "rows and their card",
        "a folder that `build` wrote, with its README.md; or the name of an embedded sample: ior-bench, clibench",
    ),
    "metric": (
        "a metric, as a Space",
        "the folder of a metric, or its name: hier_icd_f1, department_accuracy. The "
        "repository must have the same name",
    ),
    "model": (
        "an adapter or a model",
        "a folder of save_pretrained, with its README.md; the state of training in it "
        "(checkpoints, optimizer) stays here",
    ),
    "results": ("scores of runs", "a folder of runs (its summaries are sent, as a dataset) or one file"),
}


def add_push(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `push`."""
    parser.description = _DESCRIPTION
    kinds: Any = parser.add_subparsers(metavar="KIND", required=True, dest="kind")
    for kind, (what, path) in _KINDS.items():
        _add_kind(kinds.add_parser(kind, help=what, description=_DESCRIPTION), kind, path)


def _add_kind(parser: argparse.ArgumentParser, kind: str, path: str) -> None:
    parser.add_argument("path", metavar="PATH", help=path)
    parser.add_argument("repo", metavar="REPO", help="ORG/NAME; it is made if it is not there")
    parser.add_argument("--public", action="store_true", help="for anyone to read (default: private)")
    if kind != "metric":  # Spaces have no gate
        parser.add_argument("--gated", choices=("auto", "manual"), help="readers must ask; granted so")
    parser.add_argument("--revision", default="main", metavar="BRANCH", help="made if need be (default: %(default)s)")
    parser.add_argument("--token", metavar="TOKEN", help="default: HF_TOKEN, or what `hf auth login` keeps")
    parser.add_argument(
        "--dua-consent",
        metavar='"NAME, DATE"',
        help="needed for what is made from MIMIC or patients: your word that the data use agreement covers it; it is "
        "written into the commit and a ledger here",
    )
    if kind == "model":
        parser.add_argument(
            "--trained-on",
            metavar='"WORDS"',
            help="where no file says it: what the model learnt from, in your words; written into the commit",
        )
    if kind == "results":
        parser.add_argument(
            "--with-rows",
            action="store_true",
            help="send prediction logs and scored rows too, if the guard lets them",
        )
    else:
        parser.add_argument(
            "--keep",
            action="store_true",
            help="leave files in the repository that are none of these (default: removed in the same commit)",
        )
    parser.add_argument("--dry-run", action="store_true", help="list files and bytes, and open no connection")
    parser.add_argument(
        "--retry-for",
        type=_seconds,
        default=300.0,
        metavar="SECONDS",
        help="how long a Hub that is busy or away is asked again (default: %(default)g)",
    )
    parser.set_defaults(command=run_push)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds >= 0 or not math.isfinite(seconds):
        raise argparse.ArgumentTypeError(f"{text}: expected a number of seconds, 0 for one try")
    return seconds


def run_push(args: argparse.Namespace) -> None:
    """Push, and print what was done."""
    from clinical_evals.hub.push.push import Request, push

    request = Request(
        kind=args.kind,
        path=args.path,
        repo=args.repo,
        public=args.public,
        gated=getattr(args, "gated", None),
        revision=args.revision,
        token=args.token,
        consent=args.dua_consent,
        trained_on=getattr(args, "trained_on", None),
        with_rows=getattr(args, "with_rows", False),
        keep=getattr(args, "keep", False),
        dry_run=args.dry_run,
        retry_for=args.retry_for,
    )
    print(push(request, lambda line: print(line, flush=True)))
