"""The hybrid matcher against the papers' one, a text; and what 8 bits gain where an index is built.

Both matchers get the same 2,000 inclusion terms, indexes and ranker loaded. The index of the hybrid matcher is built
first if it is not cached (15,000 further names, about half a minute; the titles as of `benchmarks.index`).
"""

import importlib.util
import random
import tempfile
from pathlib import Path

from benchmarks.measure import in_turn, report

from clinical_evals.matching.encoder import default_encoder, fastest_precision
from clinical_evals.matching.encoder_int8 import Int8Encoder
from clinical_evals.matching.index import open_titles
from clinical_evals.matching.matchers import make_matcher
from clinical_evals.matching.pairs import pairs_of
from clinical_evals.matching.titles import Titles, titles_of
from clinical_evals.ontology import get_system

TERMS = 2_000
TITLES = 3_000


def main() -> None:
    """Print the ratios."""
    system = get_system("icd10cm")
    terms = [f"{pair.text} (seen)" for pair in random.Random(0).sample(pairs_of(system), TERMS)]  # equal to no name
    hybrid, papers = make_matcher("hybrid", system), make_matcher("papers", system)
    for matcher in (hybrid, papers):
        matcher.match(["a first text"])
    pair = in_turn(lambda: hybrid.match(terms), lambda: papers.match(terms), rounds=2)
    times = 1 / pair.ratio
    report(
        "a text with the hybrid matcher",
        f"{1000 * pair.ours / TERMS:.2f} ms, {times:.2f}x the papers' matcher ({1000 * pair.baseline / TERMS:.2f} ms)",
        "3x",
        times <= 3,
        binds="embedding, then the product with all entries, as in the papers' matcher; then pieces of words",
    )
    for name in ("icd10cm", "icd10pcs"):
        _eight_bits(name)


def _eight_bits(name: str) -> None:
    if not all(importlib.util.find_spec(package) for package in ("onnx", "onnxruntime", "onnxscript")):
        print(f"    the index of {name} in 8 bits: not measured, the extra `onnx` is not installed")
        return
    system = get_system(name)
    whole = titles_of(system)
    rows = sorted(random.Random(0).sample(range(len(whole.titles)), min(TITLES, len(whole.titles))))
    sample = Titles(whole.source, [whole.codes[row] for row in rows], [whole.titles[row] for row in rows])
    plain = default_encoder()
    small = Int8Encoder(plain.folder)
    for encoder in (plain, small):
        encoder.encode(sample.titles[:64])

    def build(encoder: object) -> None:
        with tempfile.TemporaryDirectory() as folder:
            open_titles(sample, encoder, Path(folder))  # type: ignore[arg-type]  # both are encoders

    pair = in_turn(lambda: build(small), lambda: build(plain), rounds=1)
    minutes = len(whole.titles) / len(rows) / 60
    report(
        f"building the title index of {name} in 8 bits",
        f"{len(rows) / pair.ours:,.0f} titles/s, {pair.ratio:.2f}x {fastest_precision()} "
        f"({len(rows) / pair.baseline:,.0f} titles/s)",
        "none",
        True,
        whole_index=f"{len(whole.titles):,} titles, about {minutes * pair.ours:.1f} minutes in 8 bits, "
        f"{minutes * pair.baseline:.1f} in {fastest_precision()}",
    )


if __name__ == "__main__":
    main()
