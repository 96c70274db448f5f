"""A matcher of clinical phrases to codes: fine-tune a sentence-embedding model on the names that a release gives.

    python training/train_code_matcher.py --config training/recipes/code-matcher/icd10cm.yaml
    clinical-evals matcher evaluate --matcher papers --matcher hybrid --matcher ./models/code-matcher-icd10cm \
        --matcher hybrid:./models/code-matcher-icd10cm

The second command shows how good it is, on texts that neither the training nor any index has seen.
"""

import argparse
import sys
from collections.abc import Sequence

from clinical_evals.errors import ClinicalEvalsError
from clinical_evals.training.settings_file import read_settings, recipe_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the recipe; the exit code is 0, or that of the error that is printed."""
    args = vars(make_parser().parse_args(argv))
    try:
        from clinical_evals.training.code_matcher.run import train
        from clinical_evals.training.code_matcher.settings import Settings

        train(read_settings(Settings, args.pop("config", None), args), lambda line: print(line, flush=True))
    except ClinicalEvalsError as error:
        print(f"train_code_matcher: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def make_parser() -> argparse.ArgumentParser:
    """The flags of the recipe."""
    parser = recipe_parser(__doc__)
    add = parser.add_argument
    add("--model", metavar="NAME", help="folder or Hub id of the model to start from (default: all-MiniLM-L6-v2)")
    add("--system", metavar="NAME", help="icd10cm (default) or icd10pcs")
    add("--output-dir", metavar="FOLDER", help="of the model; it does not exist yet (default: models/code-matcher)")
    add("--held-out", type=int, metavar="N", help="texts for `matcher evaluate --items N` (default: 2000)")
    add("--seed", type=int, metavar="N", help="default: 0")
    add("--for-ranker", type=int, metavar="N", help="texts kept for the hybrid matcher's ranker (default: 1500)")
    add("--epochs", type=float, metavar="X", help="default: 1.5")
    add("--batch-size", type=int, metavar="N", help="default: 64")
    add("--learning-rate", type=float, metavar="X", help="default: 5e-5")
    add("--max-length", type=int, metavar="N", help="tokens of a text that are read in training (default: 32)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
