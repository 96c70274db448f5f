"""Building the title index, against a plain float32 `SentenceTransformer.encode`; reopening it from the cache.

Both embed the same seeded sample of titles. The whole index of 98,000 titles is a little faster per title: its
batches, each of titles with equally many tokens, are full more often.
"""

import random
import sys
import tempfile

import numpy as np
from benchmarks.measure import in_turn, report, seconds

from clinical_evals.matching.encoder import default_encoder, fastest_precision
from clinical_evals.matching.index import open_index, open_titles
from clinical_evals.matching.matcher import most_similar
from clinical_evals.matching.titles import Titles, titles_of
from clinical_evals.ontology import get_system

SAMPLE = 10_000


def main() -> None:
    """Print the ratios."""
    from sentence_transformers import SentenceTransformer

    system = get_system("icd10cm")
    encoder = default_encoder()
    whole = titles_of(system)
    rows = sorted(random.Random(0).sample(range(len(whole.titles)), SAMPLE))
    sample = Titles(whole.source, [whole.codes[i] for i in rows], [whole.titles[i] for i in rows])
    plain = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    plain.encode(sample.titles[:64])
    encoder.encode(sample.titles[:64])

    def ours() -> None:
        with tempfile.TemporaryDirectory() as folder:
            open_titles(sample, encoder, folder)

    pair = in_turn(ours, lambda: plain.encode(sample.titles, normalize_embeddings=True), rounds=1)
    report(
        "building the title index",
        f"{SAMPLE / pair.ours:,.0f} titles/s, {pair.ratio:.2f}x plain float32 SentenceTransformer.encode "
        f"({SAMPLE / pair.baseline:,.0f} titles/s)",
        "1.6x where the processor computes bfloat16, else none",
        pair.ratio >= 1.6 or fastest_precision() == "float32",
        precision=fastest_precision(),
        whole_index=f"{len(whole.titles):,} titles, about {len(whole.titles) * pair.ours / SAMPLE / 60:.1f} minutes",
        binds="the matrix products of MiniLM's six layers",
    )
    index = open_index(system, encoder)
    time = seconds(lambda: open_index(system, encoder))
    report(
        "reopening the whole index", f"{time:.2f} s", "1 s", time < 1, storage="float16, memory-mapped, checksum read"
    )
    terms = sorted({term for code in system.codes() for term in system.synonyms(code)})
    phrases = random.Random(1).sample(terms, 1_000)
    vectors = (
        plain.encode(index.titles, normalize_embeddings=True, batch_size=64) if "--agreement" in sys.argv else None
    )
    if vectors is None:
        print("    agreement of first titles with a plain float32 index: run with --agreement (about 6 minutes more)")
        return
    queries = plain.encode(phrases, normalize_embeddings=True)
    expected = np.argmax(queries @ vectors.T, axis=1)
    found = most_similar(phrases, index, encoder, threshold=-1.0)  # as answers are matched: bfloat16, then close calls
    equal = [
        match is not None and match.code == index.codes[best] for match, best in zip(found, expected, strict=True)
    ]
    same = float(np.mean(equal))
    report(
        "first titles equal to a plain float32 index",
        f"{100 * same:.2f} % of {len(phrases):,}",
        "99.5 %",
        same >= 0.995,
    )


if __name__ == "__main__":
    main()
