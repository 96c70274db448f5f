"""The command line: `clinical-evals …`. Arguments only; what a command needs is imported inside it."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

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
            "\nclinical-evals: interrupted. Finished rows are in the prediction log; the same command goes on from "
            "there.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return 0


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="clinical-evals", description="Clinical LLM benchmarks on the Hugging Face stack."
    )
    parser.add_argument("--version", action=_Version, help="versions of package, protocol, prompts and code systems")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_eval(
        commands.add_parser("eval", help="run a model on tasks, through lighteval", description=evaluate.__doc__)
    )
    _add(commands.add_parser("tasks", help="list the tasks"), list_tasks)
    _add_demo(commands.add_parser("demo", help="a small real model on a few admissions, from start to scores"))
    prompts = commands.add_parser("prompts", help="what a model is shown").add_subparsers(
        metavar="COMMAND", required=True
    )
    _add_show(prompts.add_parser("show", help="the prompt of one row, before it is cut to a model"))
    return parser


def evaluate(args: argparse.Namespace) -> None:
    """Run a model on tasks. Every answer is logged as it comes; the same command again goes on where it stopped."""
    from clinical_evals.tasks.launcher import Options, evaluate
    from clinical_evals.tasks.results import format_result

    options = Options(
        model_args=args.model_args,
        tasks=args.tasks,
        output_dir=args.output_dir,
        max_samples=args.max_samples,
        batch_size=args.batch_size,
        context=args.context,
        answer_tokens=args.answer_tokens,
        seed=args.seed,
    )
    for result in evaluate(options):
        print(f"\n{format_result(result)}")


def list_tasks(_: argparse.Namespace) -> None:
    """Print each task with its description."""
    from clinical_evals.tasks.names import TASKS

    width = max(len(task.name) for task in TASKS)
    for task in TASKS:
        print(f"{task.name:<{width}}  {task.description}")


def show_prompt(args: argparse.Namespace) -> None:
    """Print the prompt of one row of the test split."""
    from clinical_evals.tasks.show import format_prompt

    print(format_prompt(args.task, args.row))


def run_demo(args: argparse.Namespace) -> None:
    """Run the demo."""
    from clinical_evals.demo import run_demo

    run_demo(args.output_dir, args.rows)


def _add(parser: argparse.ArgumentParser, command: Callable[[argparse.Namespace], None]) -> None:
    parser.set_defaults(command=command)


def _add_eval(parser: argparse.ArgumentParser) -> None:
    backends = parser.add_subparsers(metavar="BACKEND", required=True)
    run = backends.add_parser("accelerate", help="transformers models, on one or several GPUs or on the CPU")
    run.add_argument(
        "model_args",
        metavar="MODEL_ARGS",
        help='"model_name=FOLDER_OR_HUB_ID[,dtype=…,generation_parameters={temperature:0.7},…]", '
        "or a YAML file with model_parameters",
    )
    run.add_argument(
        "--tasks", required=True, help='e.g. "clibench|diagnosis"; several with commas; see `clinical-evals tasks`'
    )
    run.add_argument("--max-samples", type=int, metavar="N", help="only N rows (drawn with a fixed seed)")
    run.add_argument("--output-dir", type=Path, default=Path("runs"), metavar="DIR", help="default: %(default)s")
    run.add_argument(
        "--batch-size", type=int, metavar="N", help="rows generated together (default: 8, or the one in MODEL_ARGS)"
    )
    run.add_argument(
        "--context", type=int, metavar="TOKENS", help="prompt and answer together (default: what the model reads)"
    )
    run.add_argument(
        "--answer-tokens",
        type=int,
        metavar="TOKENS",
        help="reserved for the answer, its longest length (default: 650)",
    )
    run.add_argument(
        "--seed", type=int, default=0, help="for sampled answers, temperature above 0 (default: %(default)s)"
    )
    _add(run, evaluate)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows", type=int, default=8, metavar="N", help="admissions of the embedded sample (default: %(default)s)"
    )
    parser.add_argument(
        "--output-dir", type=Path, default=Path("runs/demo"), metavar="DIR", help="default: %(default)s"
    )
    _add(parser, run_demo)


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help='e.g. "clibench|diagnosis"')
    parser.add_argument("--row", type=int, default=0, metavar="N", help="row of the test split (default: %(default)s)")
    _add(parser, show_prompt)


class _Version(argparse.Action):
    """Prints all versions; the code system is read only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from clinical_evals.clibench.prompts import PROMPT_VERSION
        from clinical_evals.ontology import SYSTEMS, get_system
        from clinical_evals.tasks.names import PROTOCOL_VERSION
        from clinical_evals.version import __version__

        print(f"clinical-evals {__version__}")
        print(f"protocol standard {PROTOCOL_VERSION}")
        print(f"prompts clibench {PROMPT_VERSION}")
        for name in SYSTEMS:
            print(f"{name} {get_system(name).release}")
        parser.exit()
