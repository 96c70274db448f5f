"""The arguments of all commands, and their help."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from clinical_evals.cli import commands
from clinical_evals.cli.build import add_build
from clinical_evals.cli.compare import add_breakdown, add_compare
from clinical_evals.cli.demo_data import add_demo_data
from clinical_evals.cli.matcher import add_matcher
from clinical_evals.cli.push import add_push
from clinical_evals.cli.resources import add_resources
from clinical_evals.cli.stats import add_stats, add_verify
from clinical_evals.cli.tuning import add_check_recipe, add_tuned

_ONE = ("standard", "official")
"""The protocols of commands that take one at a time."""


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="clinical-evals", description="Clinical LLM benchmarks on the Hugging Face stack."
    )
    parser.add_argument("--version", action=_Version, help="versions of package, protocol, prompts and code systems")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_eval(
        subparsers.add_parser(
            "eval", help="run a model on tasks, through lighteval", description=commands.evaluate.__doc__
        )
    )
    _add_score(subparsers.add_parser("score", help="score a prediction log again, without a model"))
    _add_explain(subparsers.add_parser("explain", help="one row of a prediction log, from the prompt to its scores"))
    _add_protocol(add_compare(subparsers.add_parser("compare", help="runs of one task beside each other")), _ONE)
    _add_protocol(add_breakdown(subparsers.add_parser("breakdown", help="scores by groups of a log's rows")), _ONE)
    _add(subparsers.add_parser("tasks", help="list the tasks"), commands.list_tasks)
    add_demo_data(subparsers.add_parser("demo-data", help="a folder to try CliBench with: the open demo, and notes"))
    add_build(subparsers.add_parser("build", help="make a dataset of your own data"))
    add_resources(subparsers.add_parser("resources", help="the release files of the code systems: find, add, verify"))
    add_stats(
        subparsers.add_parser("stats", help="what the code systems or a build hold, beside what the papers print")
    )
    add_matcher(subparsers.add_parser("matcher", help="how well texts are matched to codes"))
    add_verify(subparsers.add_parser("verify", help="count a build of CliBench again"))
    add_check_recipe(subparsers.add_parser("check-recipe", help="what TRL would make of a recipe, before it trains"))
    add_tuned(subparsers.add_parser("tuned", help="after training: merge an adapter, write the model's card"))
    add_push(subparsers.add_parser("push", help="a dataset, metric, model or results to the Hub, past the guard"))
    _add_demo(subparsers.add_parser("demo", help="a small real model on a few admissions, from start to scores"))
    _add_demo_train(
        subparsers.add_parser("demo-train", help="two small real models are fine-tuned on the embedded samples")
    )
    _add_demo_dialogue(
        subparsers.add_parser(
            "demo-dialogue", help="dialogues as they unfold: written ones, then a small real model's"
        )
    )
    prompts = subparsers.add_parser("prompts", help="what a model is shown").add_subparsers(
        metavar="COMMAND", required=True
    )
    _add_show(prompts.add_parser("show", help="the prompt of one row, before it is cut to a model"))
    _add(
        subparsers.add_parser(
            "install", help="make the names work without `import clinical_evals`", description=commands.install.__doc__
        ),
        commands.install,
    )
    _add(
        subparsers.add_parser("uninstall", help="undo `install`", description=commands.uninstall.__doc__),
        commands.uninstall,
    )
    return parser


def _add(parser: argparse.ArgumentParser, command: Callable[[argparse.Namespace], None]) -> None:
    parser.set_defaults(command=command)


def _add_eval(parser: argparse.ArgumentParser) -> None:
    backends = parser.add_subparsers(metavar="BACKEND", required=True, dest="backend")
    _add_run(
        backends.add_parser("accelerate", help="transformers models, on one or several GPUs or on the CPU"),
        example="dtype=bfloat16",
        batch_size="rows generated together (default: 8, or the one in MODEL_ARGS)",
    )
    _add_run(
        backends.add_parser("vllm", help="vLLM's engine, on one or several GPUs", description=commands.VLLM),
        example="tensor_parallel_size=2,data_parallel_size=4,gpu_memory_utilization=0.9,max_model_length=16384",
        batch_size="rows generated, and then logged, together on each data-parallel copy: vLLM makes its own batches "
        "of them (default: 64, or the one in MODEL_ARGS)",
    )
    _add_endpoint(
        backends.add_parser(
            "endpoint",
            help="a model behind an OpenAI-compatible address",
            description=commands.ENDPOINT,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )


def _add_endpoint(run: argparse.ArgumentParser) -> None:
    _add_run(
        run,
        example="base_url=http://localhost:8000/v1,context=8192",
        batch_size="rows that are logged together (default: as many as --concurrency); with more, a slow answer holds "
        "up fewer others, but a killed run loses more",
        model="NAME",
        context="(default: context in MODEL_ARGS; one of them is needed). Prompts are cut by an estimate",
        limits="",
    )


def _add_limits(run: argparse.ArgumentParser, of: str) -> None:
    """What an endpoint may be asked at a time and in all.

    Args:
        run: the parser.
        of: whose they are, where the model under test is none.
    """
    run.add_argument("--concurrency", type=int, metavar="N", help=f"{of}requests under way at a time (default: 8)")
    run.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help=f"{of}the most that this run may take, prompts and answers together; then it ends, and the same command "
        "goes on with a new budget",
    )
    run.add_argument(
        "--max-cost",
        type=float,
        metavar="COST",
        help=f"{of}the most that this run may cost, in the currency of input_price and output_price in MODEL_ARGS",
    )


def _add_run(
    run: argparse.ArgumentParser,
    example: str,
    batch_size: str,
    model: str = "FOLDER_OR_HUB_ID",
    context: str = "(default: what the model reads)",
    limits: str = "of --patient-backend endpoint: ",
) -> None:
    """What all backends share."""
    _add_limits(run, limits)
    run.add_argument(
        "model_args",
        metavar="MODEL_ARGS",
        help=f'"model_name={model}[,{example},generation_parameters={{temperature:0.7}},…]", '
        "or a YAML file with model_parameters",
    )
    run.add_argument(
        "--tasks", required=True, help='e.g. "clibench|diagnosis"; several with commas; see `clinical-evals tasks`'
    )
    run.add_argument(
        "--split",
        choices=("test", "train"),
        default="test",
        help="of clibench tasks: train only to sample answers for `build preferences`, or to see what training did "
        "(default: %(default)s)",
    )
    run.add_argument("--max-samples", type=int, metavar="N", help="only N rows (drawn with a fixed seed)")
    run.add_argument("--output-dir", type=Path, default=Path("runs"), metavar="DIR", help="default: %(default)s")
    run.add_argument("--batch-size", type=int, metavar="N", help=batch_size)
    run.add_argument(
        "--context",
        metavar="TOKENS[,…]",
        help=f"prompt and answer together {context}. Several with commas: the tasks of clibench are asked within "
        "each, and compared (Table 8)",
    )
    run.add_argument(
        "--without",
        metavar="SEGMENT[,…]",
        help="of clibench tasks: ask again without profile, history, record, radiology or labs, and compare "
        "(Table 5). A comma makes another run, + leaves out several in one: record,labs+radiology",
    )
    run.add_argument(
        "--answer-tokens",
        type=int,
        metavar="TOKENS",
        help="reserved for the answer, its longest length (default: 650; in a dialogue 128, of a referral 64)",
    )
    run.add_argument(
        "--seed", type=int, default=0, help="for sampled answers, temperature above 0 (default: %(default)s)"
    )
    run.add_argument(
        "--samples",
        type=int,
        metavar="N",
        help="answers to each prompt, all logged, the first scored; above 1 a temperature is needed (default: 1). "
        "Of a majority vote: how many vote (default: 5)",
    )
    run.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="at which the answers of a majority vote are sampled (default: the one in MODEL_ARGS, else 0.7)",
    )
    run.add_argument(
        "--shots",
        type=int,
        metavar="K",
        help="examples in ior_bench|static_few_shot (default: 3, written ones); more are taken from a seeded part of "
        "the rows, and only the part held out is scored",
    )
    run.add_argument(
        "--probe-turns",
        action="store_true",
        help="of ior_bench|static tasks: also ask after each earlier turn of the patient",
    )
    run.add_argument(
        "--patient-model",
        metavar="MODEL_ARGS",
        help="of ior_bench|dynamic tasks: the model that plays the patients (default: the model under test)",
    )
    run.add_argument(
        "--patient-backend",
        choices=("accelerate", "vllm", "endpoint"),
        help="the backend of --patient-model (default: the one of the model under test)",
    )
    run.add_argument(
        "--turns", type=int, metavar="T", help="of ior_bench|dynamic tasks: turns of the patient (default: 6)"
    )
    run.add_argument(
        "--dua-consent",
        metavar='"NAME, DATE"',
        help="needed where patients' rows would be sent to another machine (an endpoint, a Ray cluster at "
        "RAY_ADDRESS): your word that the data use agreement covers it; it is logged",
    )
    _add_protocol(run, ("standard", "official", "both"))
    _add(run, commands.evaluate)


def _add_protocol(parser: argparse.ArgumentParser, protocols: Sequence[str]) -> None:
    parser.add_argument(
        "--protocol",
        choices=protocols,
        default="standard",
        help="how answers become scores: standard is ours, official the released scorer to the letter, to compare "
        f"with the published tables{'; both prints them side by side' if 'both' in protocols else ''} "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--dictionary",
        type=Path,
        metavar="PATH",
        help="for official: MIMIC's d_icd_diagnoses (.csv, .csv.gz, .parquet), to whose titles answers are matched; "
        "without it our own titles stand in",
    )
    parser.add_argument(
        "--matcher",
        default="papers",
        metavar="NAME|FOLDER",
        help="for standard: what turns texts into codes. papers (MiniLM over the titles), synonyms, hybrid, the "
        "folder of a sentence-transformers model, or hybrid:FOLDER; numbers of different matchers are not to be "
        "compared (default: %(default)s)",
    )


def _add_score(parser: argparse.ArgumentParser) -> None:
    _add_log(parser)
    _add_protocol(parser, ("standard", "official", "both"))
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write the summaries there, as one JSON object by protocol; without it scored rows and summary go beside "
        "the log, unless there is a summary of other rows, titles or versions",
    )
    _add(parser, commands.score)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    _add_log(parser)
    parser.add_argument("--row", type=int, required=True, metavar="N", help="row of the split, as in scored.jsonl")
    _add_protocol(parser, _ONE)
    _add(parser, commands.explain)


def _add_log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", type=Path, metavar="LOG", help="the predictions.jsonl or transcripts.jsonl of a run")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows", type=int, default=8, metavar="N", help="admissions of the embedded sample (default: %(default)s)"
    )
    parser.add_argument(
        "--output-dir", type=Path, default=Path("runs/demo"), metavar="DIR", help="default: %(default)s"
    )
    _add(parser, commands.run_demo)


def _add_demo_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output-dir", type=Path, default=Path("runs/demo-train"), metavar="DIR", help="default: %(default)s"
    )
    _add(parser, commands.run_training_demo)


def _add_demo_dialogue(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output-dir", type=Path, default=Path("runs/demo-dialogue"), metavar="DIR", help="default: %(default)s"
    )
    _add(parser, commands.run_dialogue_demo)


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help='e.g. "clibench|diagnosis"')
    parser.add_argument("--row", type=int, default=0, metavar="N", help="row of the test split (default: %(default)s)")
    _add(parser, commands.show_prompt)


class _Version(argparse.Action):
    """Prints all versions; the code system is read only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from clinical_evals.clibench.prompts import PROMPT_VERSION
        from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION
        from clinical_evals.ior_bench.prompts import PROMPT_VERSION as IOR_PROMPT_VERSION
        from clinical_evals.ontology import SYSTEMS
        from clinical_evals.tasks.names import PROTOCOL_VERSION
        from clinical_evals.version import __version__

        print(f"clinical-evals {__version__}")
        print(f"protocol {PROTOCOL_VERSION} (standard and official)")
        print(f"prompts clibench {PROMPT_VERSION}")
        print(f"prompts ior-bench {IOR_PROMPT_VERSION} (static), {DIALOGUE_PROMPT_VERSION} (dynamic)")
        for name in SYSTEMS:
            print(f"{name} {_release(name)}")
        parser.exit()


def _release(system: str) -> str:
    from clinical_evals.errors import ResourceMissingError
    from clinical_evals.ontology import get_system

    try:
        return get_system(system).release
    except ResourceMissingError:
        return "not on this machine (clinical-evals resources list)"
