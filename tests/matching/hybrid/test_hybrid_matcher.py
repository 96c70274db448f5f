"""The hybrid matcher with the real model on twenty groups of ICD-10-CM, some 1,300 codes."""

from pathlib import Path

import numpy as np
import pytest
from small_icd import SmallSystem

from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.evaluation.matchers import matcher_of
from clinical_evals.matching.evaluation.measured import measure
from clinical_evals.matching.hybrid import ranker_store
from clinical_evals.matching.hybrid.matcher import HybridMatcher
from clinical_evals.matching.hybrid.ranker import FixedRanker, Ranker
from clinical_evals.matching.matcher import Match
from clinical_evals.matching.matchers import make_scorer
from clinical_evals.matching.pairs import pairs_of, split
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem, get_system

PREFIXES = (
    "A40", "A41", "E03", "E11", "E78", "E87", "G81", "I1", "I2", "I48", "I50", "J1", "J4", "J96", "K2", "K7", "M10",
    "N1", "N39", "O08", "O23", "S72.3", "Z95",
)  # fmt: skip


@pytest.fixture(scope="module")
def system() -> CodeSystem:
    return SmallSystem(PREFIXES)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hybrid-cache")


@pytest.fixture(scope="module")
def matcher(system: CodeSystem, minilm: Encoder, cache: Path) -> HybridMatcher:
    return HybridMatcher(system, minilm, cache_dir=cache)


def one(matcher: HybridMatcher, text: str) -> Match | None:
    (match,) = matcher.match([text])
    return match


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("HTN", "I10"),
        ("high blood pressure", "I10"),
        ("urinary tract infection", "N39.0"),  # O08.83 has that name too, below "ectopic and molar pregnancy"
        ("CHF", "I50.9"),
        ("acute on chronic systolic heart failure", "I50.23"),
        ("pneumonia", "J18.9"),  # "Pneumonia, unspecified organism"
        ("Gout", "M10.9"),  # a heading: nothing more is said
        ("hemiplegia", "G81.90"),  # no side is invented
        ("fracture of shaft of left femur", "S72.302"),  # no encounter either
        ("s/p CABG", "Z95.1"),
        ("hypertension, on lisinopril", "I10"),
        ("COPD exacerbation", "J44.1"),
        ("hypokalaemia", "E87.6"),
    ],
)
def test_what_clinicians_write(matcher: HybridMatcher, text: str, code: str) -> None:
    found = one(matcher, text)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize(
    "text", ["", "  ", "no evidence of pneumonia", "rule out sepsis", "MI ruled out", "xqzzt wkkv"]
)
def test_nothing_is_found(matcher: HybridMatcher, text: str) -> None:
    assert one(matcher, text) is None
    assert matcher.matches([text]) == [()]


def test_several_diseases_in_one_text(matcher: HybridMatcher) -> None:
    (found,) = matcher.matches(["hypertension and hyperlipidemia"])
    assert [match.code for match in found] == ["I10", "E78.5"]
    (found,) = matcher.matches(["sepsis, pneumonia and hyperkalemia"])
    assert {match.code for match in found} == {"A41.9", "J18.9", "E87.5"}


def test_a_title_with_and_is_one(matcher: HybridMatcher) -> None:
    title = "Acute and chronic respiratory failure with hypoxia"
    assert matcher.matches([title]) == [(Match("J96.21", "title", 1.0, 1.0),)]


def test_a_text_matches_the_same_whatever_stands_beside_it(matcher: HybridMatcher) -> None:
    texts = [
        "swollen gouty toe",
        "kidney infection",
        "irregular heart beat",
        "thick blood",
        "HTN and gout",
        "liver scar",
    ]
    together = matcher.matches(texts)
    for text, found in zip(texts, together, strict=True):
        assert matcher.matches([text]) == [found]
    assert matcher.matches(texts[::-1]) == together[::-1]


def test_confidence_and_runner_up(matcher: HybridMatcher, system: CodeSystem) -> None:
    found = [match for match in matcher.match(["inflamed liver from drinking", "weak heart muscle"]) if match]
    assert found
    for match in found:
        assert match.how == "embedding"
        assert match.confidence is not None
        assert 0.2 <= match.confidence <= 1
        if match.runner_up is not None:
            assert system.path(match.runner_up)[2] != system.path(match.code)[2]


def test_the_ranker_is_fitted_once_and_kept(matcher: HybridMatcher, minilm: Encoder, cache: Path) -> None:
    fitted = matcher.knowledge.ranker
    assert isinstance(fitted, Ranker)
    (file,) = (cache / "ranker").iterdir()
    again = HybridMatcher(matcher.system, minilm, cache_dir=cache).knowledge.ranker
    assert all(np.array_equal(a, b) for a, b in zip(fitted, again, strict=True))
    file.write_bytes(b"not an archive")
    with pytest.warns(UserWarning, match="is damaged"):
        mended = HybridMatcher(matcher.system, minilm, cache_dir=cache).knowledge.ranker
    assert all(np.array_equal(a, b) for a, b in zip(fitted, mended, strict=True))  # made again, the same


def test_few_texts_give_fixed_weights(small_system: CodeSystem, minilm: Encoder, tmp_path: Path) -> None:
    matcher = HybridMatcher(small_system, minilm, cache_dir=tmp_path, known=[])
    matcher.knowledge._common.clear()  # without the common names too
    assert isinstance(matcher.knowledge.ranker, FixedRanker)
    (match,) = matcher.match(["bacterial enteritis from salmonella or a virus"])
    assert match is None or small_system.normalize(match.code) == match.code
    assert ranker_store.ENOUGH == 300


def test_what_is_held_out_is_nowhere(system: CodeSystem, minilm: Encoder, tmp_path: Path) -> None:
    """Held-out texts are no entries and no names, and nothing is learnt of them."""
    pairs = pairs_of(system)
    held_out, known = split(pairs, 100)
    make = matcher_of("hybrid", system, known, held_out)
    matcher = make()
    assert isinstance(matcher, HybridMatcher)
    hidden = {fold(pair.text) for pair in held_out}
    for part in matcher.knowledge._parts:
        assert not hidden & set(map(fold, part.titles))
    assert not hidden & set(matcher.knowledge.names)
    assert not hidden & {fold(pair.text) for pair in (*matcher.knowledge._known, *matcher.knowledge._common)}


def test_the_hybrid_finds_more_than_the_papers_matcher(
    system: CodeSystem, matcher: HybridMatcher, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On texts that neither has seen; with some 1,300 codes to choose from, by a wide margin at the full code."""
    assert matcher.knowledge.library  # what it embedded lies in the cache
    monkeypatch.setenv("CLINICAL_EVALS_CACHE", str(cache))
    held_out, known = split(pairs_of(system), 150)
    papers, hybrid = (
        measure(name, matcher_of(name, system, known, held_out), held_out, system) for name in ("papers", "hybrid")
    )
    assert hybrid.accuracy["full"].value > papers.accuracy["full"].value + 0.05
    assert hybrid.accuracy["category"].value > papers.accuracy["category"].value


def test_a_scorer_with_it(matcher: HybridMatcher) -> None:
    """Two diseases in one item are two predictions; the official protocol has no use for it."""
    scored = CodeScorer(matcher=matcher).score(["1. HTN and HLD\n2. no evidence of sepsis"], [["I10", "E78.5"]])
    assert scored.scores()["f1_full"] == 1.0
    assert "hybrid" in scored.info["candidates"]
    with pytest.raises(ValueError, match="no use with protocol='official'"):
        make_scorer("icd10cm", "official", matcher="hybrid")


def test_the_default_is_the_protocols_matcher() -> None:
    assert make_scorer("icd10cm").score(["I10"], [["I10"]]).info["candidates"] == (
        f"titles of icd10cm {get_system('icd10cm').release}"
    )


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Hypertension/hyperlipidemia", ["I10", "E78.5"]),
        ("AKI on CKD stage 3", ["N17.9", "N18.30"]),
        ("CAD s/p CABG", ["I25.10", "Z95.1"]),
        ("pneumonia vs CHF", ["J18.9", "I50.9"]),
        ("possible pneumonia", ["J18.9"]),
        ("pneumonia, r/o TB", ["J18.9"]),
        ("acute on chronic systolic heart failure", ["I50.23"]),  # not two diseases
        ("Type II diabetes mellitus", ["E11.9"]),
        ("T2DM", ["E11.9"]),
        ("not diabetic", []),
        ("unlikely pneumonia", []),
        ("non-ST elevation MI", ["I21.4"]),
        ("hyperlipidaemia", ["E78.5"]),
        ("\ud800 gout", ["M10.9"]),
    ],
)
def test_what_newcomers_tried(matcher: HybridMatcher, text: str, codes: list[str]) -> None:
    (found,) = matcher.matches([text])
    assert [match.code for match in found] == codes


def test_capitals_of_one_text_say_nothing_of_another(matcher: HybridMatcher) -> None:
    """ "DM" is diabetes, "dm" too; "CAP" is pneumonia, "cap" is a cap: each alone as beside the other."""
    alone = [matcher.matches([text])[0] for text in ("cap", "CAP")]
    assert alone[0] != alone[1]
    assert matcher.matches(["cap", "CAP"]) == alone
    assert matcher.matches(["CAP", "cap"]) == alone[::-1]
