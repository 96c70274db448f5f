"""The command line: `clinical-evals …`. Nothing heavy is imported before a command runs."""

import argparse
import sys
from collections.abc import Callable, Sequence

from clinical_evals.cli.arguments import make_parser
from clinical_evals.errors import ClinicalEvalsError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        The exit code: 0, the `exit_code` of the error that was raised, or `INTERRUPTED`.
    """
    args = make_parser().parse_args(argv)
    command: Callable[[argparse.Namespace], None] = args.command
    try:
        command(args)
    except ClinicalEvalsError as error:
        print(f"clinical-evals: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(
            "\nclinical-evals: interrupted. What a run keeps (answers, rows, indexes) is kept: the same command "
            "goes on from there.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return 0
