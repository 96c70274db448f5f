"""How the matcher's threshold was chosen: synonyms with known codes against phrases that are no diagnosis.

    python benchmarks/matcher_threshold.py [--sample 1500] [--seed 0]

Positives: inclusion terms of the ICD-10-CM release (official synonyms, each below the code that it belongs to) that
equal no title, drawn with a seed. Negatives: non_diagnosis_phrases.json beside this file, written by hand before the
threshold was looked at. Printed for each threshold: positives and negatives that would be matched; Youden's J, their
difference; and how often a matched or an unmatched positive has its right category first. The index is built if it is
not cached.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.matcher import DEFAULT_THRESHOLD, Matcher
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem, get_system

PHRASES = Path(__file__).with_name("non_diagnosis_phrases.json")
THRESHOLDS = np.round(np.arange(0.30, 0.851, 0.05), 2)


def read_negatives() -> dict[str, str]:
    """Every phrase with its group."""
    groups = json.loads(PHRASES.read_text(encoding="utf-8"))
    return {phrase: group for group, phrases in groups.items() for phrase in phrases}


def draw_positives(system: CodeSystem, sample: int, seed: int) -> list[tuple[str, str]]:
    """Inclusion terms and their codes, none of them equal to a title."""
    titles = {fold(system.title(code)) for code in system.codes()}
    pairs = [(term, code) for code in system.codes() for term in system.synonyms(code)]
    pairs = sorted(
        {(term, code) for term, code in pairs if fold(term) not in titles and system.code_shape.fullmatch(code)}
    )
    return random.Random(seed).sample(pairs, min(sample, len(pairs)))


def similarities(matcher: Matcher, texts: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
    """The nearest code of each text and its similarity; the matcher's threshold must be -1."""
    found = matcher.match(texts)
    return [match.code if match else "" for match in found], np.array(
        [match.similarity if match else -1 for match in found]
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=1500, help="inclusion terms to draw (default 1500)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    args = parser.parse_args()
    system = get_system("icd10cm")
    matcher = Matcher(system, threshold=-1.0)
    positives, negatives = draw_positives(system, args.sample, args.seed), read_negatives()
    codes, alike = similarities(matcher, [term for term, _ in positives])
    other_codes, unlike = similarities(matcher, list(negatives))
    gold = [code for _, code in positives]
    right = {
        level: np.array([one[:length] == other[:length] for one, other in zip(codes, gold, strict=True)])
        for level, length in (("category", 3), ("full", 8))
    }
    print(
        f"{len(positives)} inclusion terms (seed {args.seed}), {len(negatives)} phrases that are no diagnosis; "
        f"{system.release}"
    )
    print(f"right first: category {right['category'].mean():.1%}, full code {right['full'].mean():.1%}\n")
    print("threshold  positives  negatives  Youden's J  right category among matched  among unmatched")
    for threshold in THRESHOLDS:
        kept, wrong = alike >= threshold, (unlike >= threshold).mean()
        among = [right["category"][part].mean() if part.any() else float("nan") for part in (kept, ~kept)]
        rates = f"{kept.mean():10.1%} {wrong:10.1%} {kept.mean() - wrong:11.3f} {among[0]:29.1%} {among[1]:16.1%}"
        print(f"{threshold:9.2f} {rates}{'  <- default' if np.isclose(threshold, DEFAULT_THRESHOLD) else ''}")
    fine = np.round(np.arange(0.30, 0.851, 0.01), 2)
    best = max(fine, key=lambda threshold: (alike >= threshold).mean() - (unlike >= threshold).mean())
    print(f"\nYouden's J is highest at {best:.2f}. The negatives that are most like a title:")
    phrases = list(negatives)
    for row in np.argsort(-unlike)[:15]:
        title = f"{other_codes[row]} {system.title(other_codes[row])}"
        print(f"  {unlike[row]:.3f}  {phrases[row]!r} ({negatives[phrases[row]]}) -> {title}")


if __name__ == "__main__":
    main()
