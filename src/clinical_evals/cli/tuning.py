"""`clinical-evals build sft|preferences`, `check-recipe` and `tuned …`: their arguments and commands."""

import argparse
from pathlib import Path
from typing import Any

_SFT = """\
Write the train split of a CliBench task as conversational prompt/completion rows for `trl sft --config RECIPE`. The
prompt is the one that `clinical-evals eval` asks; it is cut as there, so that no completion is lost. The test split
is never read.
"""
_PREFERENCES = """\
Write pairs of a better and a worse answer for `trl dpo --config RECIPE`, from a log of several sampled answers to the
train split: clinical-evals eval accelerate "model_name=…,generation_parameters={temperature:0.8}" --tasks
"clibench|diagnosis" --split train --samples 8. Best and worst by the row's F1; rows whose answers tie are left out.
"""
_CHECK = """\
Read a recipe as TRL does, refuse keys that TRL would ignore, and count the tokens of every row at the recipe's
max_length: a row that would lose its completion is an error that names it. Then the mark of the rows' source is
written into the recipe's output_dir, so that the weights that training saves there carry it.
"""
_MERGE = """\
Merge a LoRA adapter into its base model and write a model that `clinical-evals eval` runs. The adapter must be of this
base: by its own word, and by the shapes of all its matrices. The mark of the training rows goes with the weights.
"""
_CARD = """\
Write a model's README.md (base, data, hyper-parameters, results, limits) and its .eval_results/clibench.yaml, from the
recipe and the logs of the base model and the tuned one. Of an adapter the log is that of the model that it was merged
into. A README.md that is there, such as the draft of TRL, is replaced.
"""


def add_build_sft(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `build sft`."""
    parser.description = _SFT
    parser.add_argument(
        "--task", required=True, metavar="TASK", help="diagnosis, procedure, lab_order or prescription"
    )
    parser.add_argument(
        "--tokenizer", required=True, metavar="FOLDER|HUB_ID", help="of the model that is to be trained"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where train.parquet and its card go")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="what `build clibench` wrote (default: CLIBENCH_DIR, else the embedded synthetic sample)",
    )
    parser.add_argument(
        "--target",
        default="titles-with-codes",
        metavar="FORM",
        help="of the answers: titles-with-codes, titles, codes, or official, as the authors released them: undotted "
        "codes, MIMIC's names of labs, names of drugs (default: %(default)s)",
    )
    parser.add_argument(
        "--max-length",
        type=int,
        metavar="TOKENS",
        help="of prompt and completion together; the max_length of the recipe (default: 8192, or what tokenizer "
        "and config.json beside it say that the model reads, if that is less; more than that is an error)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N rows with gold")
    parser.set_defaults(command=build_sft)


def add_build_preferences(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `build preferences`."""
    parser.description = _PREFERENCES
    parser.add_argument("log", type=Path, metavar="LOG", help="the predictions.jsonl of a run")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where train.parquet and its card go")
    parser.set_defaults(command=build_preferences)


def add_check_recipe(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check-recipe`."""
    parser.description = _CHECK
    parser.add_argument("recipe", type=Path, metavar="FILE", help="the YAML of `trl sft --config` or `trl dpo`")
    parser.add_argument(
        "--trainer",
        choices=("sft", "dpo"),
        help="what reads it (default: dpo where the file's name has dpo, else sft)",
    )
    parser.set_defaults(command=check_recipe)


def add_tuned(parser: argparse.ArgumentParser) -> None:
    """Add the commands of `tuned`."""
    commands: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    merge = commands.add_parser("merge", help="an adapter and its base become one model", description=_MERGE)
    merge.add_argument("adapter", type=Path, metavar="ADAPTER", help="the output_dir of the recipe")
    merge.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    merge.add_argument(
        "--base", metavar="FOLDER|HUB_ID", help="the base model (default: the one that the adapter names)"
    )
    merge.add_argument(
        "--copy-of-base",
        action="store_true",
        help="your word that --base is a copy, at another place, of the model that the adapter names",
    )
    merge.add_argument(
        "--rows",
        type=Path,
        metavar="DIR",
        help="the rows that it was trained on (default: as check-recipe noted in ADAPTER; without either they count "
        "as MIMIC's)",
    )
    merge.set_defaults(command=merge_adapter)
    card = commands.add_parser("card", help="README.md and results of a tuned model", description=_CARD)
    card.add_argument(
        "model", type=Path, metavar="MODEL", help="folder of a merged, or fully tuned, model, or of an adapter"
    )
    card.add_argument("--recipe", type=Path, required=True, metavar="FILE", help="what it was trained with")
    card.add_argument("--base-log", type=Path, required=True, metavar="LOG", help="predictions.jsonl of its base")
    card.add_argument("--log", type=Path, required=True, metavar="LOG", help="predictions.jsonl of the model")
    card.add_argument(
        "--merged",
        type=Path,
        metavar="DIR",
        help="of an adapter: the model that `tuned merge` made of it; LOG is of it",
    )
    card.set_defaults(command=write_card)


def build_sft(args: argparse.Namespace) -> None:
    """Write the rows and print what they are."""
    from clinical_evals.training.tuning.build_sft import Request, build_sft

    build_sft(Request(args.task, args.tokenizer, args.out, args.data, args.target, args.max_length, args.limit), print)


def build_preferences(args: argparse.Namespace) -> None:
    """Write the pairs and print what they are."""
    from clinical_evals.training.tuning.build_preferences import build_preferences

    build_preferences(args.log, args.out, print)


def check_recipe(args: argparse.Namespace) -> None:
    """Print what was found."""
    from clinical_evals.training.tuning.recipe_check import check_recipe

    print(check_recipe(args.recipe, args.trainer))


def merge_adapter(args: argparse.Namespace) -> None:
    """Merge and print where the model is."""
    from clinical_evals.training.tuning.merge import Request, merge_adapter

    print(merge_adapter(Request(args.adapter, args.out, args.base, args.copy_of_base, args.rows)))


def write_card(args: argparse.Namespace) -> None:
    """Write the card and print where it is."""
    from clinical_evals.training.tuning.model_card import write_card

    print(write_card(args.model, args.recipe, args.base_log, args.log, args.merged))
