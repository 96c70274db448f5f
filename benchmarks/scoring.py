"""Scoring answers, against the released scorer's way: one encode and one search of the whole list for every item.

The baseline is timed on a seeded sample of the same items and extrapolated to all of them: at about a tenth of a second an
item it would run for half an hour.
"""

import random
from collections.abc import Callable

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
        similarity = util.cos_sim(model.encode(item, convert_to_tensor=True), titles)[0].tolist()
        return index.titles[similarity.index(max(similarity))]

    return nearest


def main() -> None:
    """Print the ratios, for all-distinct items and for a third distinct."""
    system = get_system("icd10cm")
    scorer = CodeScorer(matcher=Matcher(system, threshold=-1.0))  # the released way has no threshold
    scorer.score(["fever of unknown cause in a bench\nanother phrase"], [["I10"]])  # model and index loaded
    nearest = released_way()
    nearest("warm-up")
    title_of = {
        code: title for code, title in zip(scorer.matcher.index.codes, scorer.matcher.index.titles, strict=True)
    }
    for share, budget in ((1.0, 30), (1 / 3, 100)):
        distinct = phrases(int(ANSWERS * ITEMS * share), seed=int(10 * share))
        items = (distinct * 3)[: ANSWERS * ITEMS]
        random.Random(2).shuffle(items)
        answers = [
            "\n".join(f"{i + 1}. {item}" for i, item in enumerate(items[a : a + ITEMS]))
            for a in range(0, len(items), ITEMS)
        ]
        fresh = CodeScorer(matcher=Matcher(system, threshold=-1.0))
        fresh.matcher.index, fresh.matcher.encoder = scorer.matcher.index, scorer.matcher.encoder
        scored = []
        time = seconds(
            lambda fresh=fresh, answers=answers, scored=scored: scored.append(
                fresh.score(answers, [["I10"]] * len(answers))
            )
        )
        found = {
            item.text: item.matches[0].code for answer in scored[0].answers for item in answer.items if item.matches
        }
        sample = [item for item in random.Random(3).sample(distinct, 4 * BASELINE_ITEMS) if item in found][
            :BASELINE_ITEMS
        ]
        theirs: list[str] = []
        each = seconds(lambda sample=sample, theirs=theirs: theirs.extend(map(nearest, sample))) / len(sample)
        same = sum(
            title_of.get(found[item]) == title or system.title(found[item]) == title
            for item, title in zip(sample, theirs, strict=True)
        )
        ratio = each * len(items) / time
        report(
            f"scoring {ANSWERS:,} answers of {ITEMS} items, {'all' if share == 1 else 'a third'} distinct",
            f"{len(items) / time:,.0f} items/s, {ratio:.0f}x the released way ({1 / each:.1f} items/s on {len(sample)} items)",
            f"{budget}x",
            ratio >= budget,
            agreement=f"{same} of {len(sample)} first titles equal",
            binds="encoding the distinct phrases with MiniLM",
        )


if __name__ == "__main__":
    main()
