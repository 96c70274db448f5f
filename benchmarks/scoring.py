"""Scoring answers, against the released scorer's way: one encode and one search of the whole list for every item.

The baseline is timed on a seeded sample of the same items and extrapolated to all of them: at a tenth of a second
an item it would run for half an hour.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.measure import report, seconds

from clinical_evals.matching.encoder import default_encoder
from clinical_evals.matching.index import open_index
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.ontology import get_system

ANSWERS, ITEMS, BASELINE_ITEMS = 1_000, 15, 120


def phrases(number: int, seed: int) -> list[str]:
    """Distinct phrases as models write them: official synonyms of ICD-10-CM, some with a qualifier."""
    system = get_system("icd10cm")
    terms = sorted({term for code in system.codes() for term in system.synonyms(code) if "," not in term})
    made = terms + [f"{how} {term}" for how in ("acute", "suspected", "recurrent") for term in terms]
    return random.Random(seed).sample(made, number)


def released_way() -> Callable[[str], str]:
    """A function from an item to a code: encode it alone, compare it with every title, look the best title up."""
    from sentence_transformers import SentenceTransformer, util

    encoder = default_encoder()
    index = open_index(get_system("icd10cm"), encoder)
    model = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    titles = model.encode([""], convert_to_tensor=True).new_tensor(index.vectors.astype("float32"))

    def nearest(item: str) -> str:
        similarity: list[float] = util.cos_sim(model.encode(item, convert_to_tensor=True), titles)[0].tolist()
        return index.titles[similarity.index(max(similarity))]

    return nearest


def main() -> None:
    """Print the ratios, for all-distinct items and for a third distinct."""
    system = get_system("icd10cm")
    scorer = CodeScorer(matcher=Matcher(system, threshold=-1.0))  # the released way has no threshold
    scorer.score(["fever of unknown cause in a bench\nanother phrase"], [["I10"]])  # model and index loaded
    nearest = released_way()
    nearest("warm-up")
    for share, budget in ((1.0, 30), (1 / 3, 100)):
        distinct = phrases(round(ANSWERS * ITEMS * share), seed=round(10 * share))
        items = (distinct * 3)[: ANSWERS * ITEMS]
        random.Random(2).shuffle(items)
        ours, codes = time_ours(scorer, items)
        sample = random.Random(3).sample(distinct, BASELINE_ITEMS)
        theirs: list[str] = []
        each = seconds(partial(theirs.extend, map(nearest, sample))) / len(sample)
        same = sum(
            system.title(codes[item]) == title for item, title in zip(sample, theirs, strict=True) if item in codes
        )
        read = sum(item in codes for item in sample)
        ratio = each * len(items) / ours
        report(
            f"scoring {ANSWERS:,} answers of {ITEMS} items, {'all' if share == 1 else 'a third'} distinct",
            f"{len(items) / ours:,.0f} items/s, {ratio:.0f}x the released way "
            f"({1 / each:.1f} items/s, measured on {len(sample)} items)",
            f"{budget}x",
            ratio >= budget,
            agreement=f"{same} of {read} first titles equal to the baseline's, on the stored vectors "
            f"({len(sample) - read} phrases were read as several items)",
            binds="encoding the distinct phrases with MiniLM",
        )


def time_ours(warm: CodeScorer, items: Sequence[str]) -> tuple[float, dict[str, str]]:
    """Seconds to score the items as answers, and what each became; model and index are the warm scorer's."""
    answers = [
        "\n".join(f"{i}. {item}" for i, item in enumerate(items[start : start + ITEMS], 1))
        for start in range(0, len(items), ITEMS)
    ]
    matcher = Matcher(warm.system, threshold=-1.0)
    assert isinstance(warm.matcher, Matcher)
    matcher.index, matcher.encoder = warm.matcher.index, warm.matcher.encoder
    scorer, scored = CodeScorer(matcher=matcher), []
    time = seconds(lambda: scored.append(scorer.score(answers, [["I10"]] * len(answers))))
    resolved = [item for answer in scored[0].answers for item in answer.items if item.matches]
    return time, {item.text: item.matches[0].code for item in resolved}


if __name__ == "__main__":
    main()
