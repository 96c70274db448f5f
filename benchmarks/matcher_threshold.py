"""How the matchers' thresholds were chosen: synonyms with known codes against phrases that are no diagnosis.

    python benchmarks/matcher_threshold.py [--matcher papers|hybrid|…] [--sample 1500] [--seed 0]

Positives: inclusion terms of the ICD-10-CM release (official synonyms, each below the code that it belongs to) that
equal no title, drawn with a seed; the matcher has not seen them. Negatives: non_diagnosis_phrases.json beside this
file, written by hand before any threshold was looked at. Printed for each threshold of similarity: positives and
negatives that would be matched; Youden's J, their difference; and how often a matched or an unmatched positive has its
right category first. A matcher that says how sure it is gets the same table of confidences, at its own threshold of
similarity. The index is built if it is not cached.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.evaluation.matchers import matcher_of
from clinical_evals.matching.hybrid.matcher import DEFAULT_CONFIDENCE
from clinical_evals.matching.matcher import DEFAULT_THRESHOLD, Match
from clinical_evals.matching.pairs import Pair, pairs_of, split
from clinical_evals.ontology import CodeSystem, get_system

PHRASES = Path(__file__).with_name("non_diagnosis_phrases.json")
THRESHOLDS = np.round(np.arange(0.30, 0.851, 0.05), 2)
CONFIDENCES = np.round(np.arange(0.0, 0.901, 0.1), 2)


class Said(NamedTuple):
    """What a matcher said of some texts; parallel arrays, -1 where it found nothing."""

    codes: list[str]
    similarity: NDArray[np.float64]
    confidence: NDArray[np.float64]


def read_negatives() -> dict[str, str]:
    """Every phrase with its group."""
    groups = json.loads(PHRASES.read_text(encoding="utf-8"))
    return {phrase: group for group, phrases in groups.items() for phrase in phrases}


def said_of(found: Sequence[Match | None]) -> Said:
    """Codes, similarities and confidences of matches."""
    confidences = [-1.0 if match is None or match.confidence is None else match.confidence for match in found]
    return Said(
        [match.code if match else "" for match in found],
        np.array([match.similarity if match else -1 for match in found]),
        np.array(confidences),
    )


def print_table(
    name: str, steps: NDArray[np.float64], default: float, like: NDArray[np.float64], unlike: NDArray[np.float64],
    right: NDArray[np.bool_],
) -> None:  # fmt: skip
    """One line a step: what would be matched from it on."""
    print(f"{name:<10}  positives  negatives  Youden's J  right category among matched  among unmatched")
    for step in steps:
        kept, wrong = like >= step, (unlike >= step).mean()
        among = [right[part].mean() if part.any() else float("nan") for part in (kept, ~kept)]
        rates = f"{kept.mean():10.1%} {wrong:10.1%} {kept.mean() - wrong:11.3f} {among[0]:29.1%} {among[1]:16.1%}"
        print(f"{step:10.2f} {rates}{'  <- default' if np.isclose(step, default) else ''}")


def right_categories(said: Said, pairs: Sequence[Pair], system: CodeSystem) -> NDArray[np.bool_]:
    """Whether each text has one of its categories."""
    return np.array(
        [
            bool(code) and system.path(code)[2] in {system.path(one)[2] for one in pair.codes}
            for code, pair in zip(said.codes, pairs, strict=True)
        ]
    )


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matcher", default="papers", help="as of `clinical-evals matcher evaluate` (default papers)")
    parser.add_argument("--sample", type=int, default=1500, help="inclusion terms to draw (default 1500)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    args = parser.parse_args()
    system = get_system("icd10cm")
    positives, known = split(pairs_of(system), args.sample, args.seed)
    negatives = read_negatives()
    matcher = matcher_of(args.matcher, system, known, positives)()
    like, unlike = said_of(matcher.match([pair.text for pair in positives])), said_of(matcher.match(list(negatives)))
    right = right_categories(like, positives, system)
    print(
        f"{args.matcher}: {len(positives)} inclusion terms (seed {args.seed}), {len(negatives)} phrases that are no "
        f"diagnosis; {system.release}\nright category first: {right.mean():.1%}\n"
    )
    print_table("similarity", THRESHOLDS, DEFAULT_THRESHOLD, like.similarity, unlike.similarity, right)
    if (like.confidence >= 0).any():
        near, also_near = like.similarity >= DEFAULT_THRESHOLD, unlike.similarity >= DEFAULT_THRESHOLD
        print(f"\nwith a similarity of {DEFAULT_THRESHOLD} at least:")
        sure, other = np.where(near, like.confidence, -1), np.where(also_near, unlike.confidence, -1)
        print_table("confidence", CONFIDENCES, DEFAULT_CONFIDENCE, sure, other, right)
    print("\nThe negatives that are most like an entry:")
    phrases = list(negatives)
    for row in np.argsort(-unlike.similarity, kind="stable")[:15]:
        code = unlike.codes[row]
        title = f"{code} {system.title(code)}" if code else "nothing"
        print(f"  {unlike.similarity[row]:.3f}  {phrases[row]!r} ({negatives[phrases[row]]}) -> {title}")


if __name__ == "__main__":
    main()
