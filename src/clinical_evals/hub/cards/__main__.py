"""`python -m clinical_evals.hub.cards`: write the cards, requirements and eval.yaml of the repository anew."""

import argparse
from pathlib import Path

from clinical_evals.assets import dataset_folder, metric_script
from clinical_evals.hub.cards.dataset_facts import DATASETS
from clinical_evals.hub.cards.eval_yaml import eval_yaml
from clinical_evals.hub.cards.metric_card import metric_card, requirements
from clinical_evals.hub.cards.metric_facts import SPACES
from clinical_evals.hub.cards.prose import write_text
from clinical_evals.hub.cards.sample_card import sample_card

KINDS = ("datasets", "metrics")


def files_of(kind: str) -> dict[Path, str]:
    """What the files of a kind should hold.

    Args:
        kind: one of `KINDS`.
    """
    found: dict[Path, str] = {}
    if kind == "datasets":
        for name, facts in DATASETS.items():
            folder = dataset_folder(name)
            found |= {folder / "README.md": sample_card(folder), folder / "eval.yaml": eval_yaml(facts)}
    else:
        for name, space in SPACES.items():
            folder = metric_script(name).parent
            found |= {folder / "README.md": metric_card(space), folder / "requirements.txt": requirements(space)}
    return found


def main() -> None:
    """Write them and say so."""
    parser = argparse.ArgumentParser(prog="python -m clinical_evals.hub.cards", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{' or '.join(KINDS)} (default: both)")
    kinds = parser.parse_args().kinds or KINDS
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown kind {', '.join(sorted(unknown))}: expected {' or '.join(KINDS)}")
    for path, text in (pair for kind in kinds for pair in files_of(kind).items()):
        write_text(path, text, public=True)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
