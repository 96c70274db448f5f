"""Embeddings in 8 bits: near to the plain ones, the same whatever stands beside a text, made once."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from small_icd import SmallSystem

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching import encoder_int8
from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.encoder_int8 import Int8Encoder
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.pairs import pairs_of
from clinical_evals.ontology import CodeSystem

TEXTS = ["gout", "acute appendicitis with abscess", "type 2 diabetes mellitus with neuropathy", "", "x" * 3000, "gout"]


@pytest.fixture(scope="module")
def small(minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Int8Encoder:
    if not all(importlib.util.find_spec(package) for package in ("onnx", "onnxruntime", "onnxscript")):
        pytest.skip("ONNX Runtime is not installed (extra `onnx`)")
    return Int8Encoder(minilm.folder, cache_dir=tmp_path_factory.mktemp("onnx"))


def test_near_to_the_plain_vectors(small: Int8Encoder, minilm: Encoder) -> None:
    vectors, plain = small.encode(TEXTS), minilm.encode(TEXTS)
    assert vectors.shape == plain.shape
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert (vectors * plain).sum(axis=1).min() > 0.97


def test_a_vector_depends_on_its_text_alone(small: Int8Encoder) -> None:
    together = small.encode(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.array_equal(small.encode([text])[0], vector)


def test_the_quantised_model_is_kept(small: Int8Encoder, minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = small.encode(["gout"])
    folder = Path(str(small._cache_dir))

    def not_again(_: object) -> bytes:
        raise AssertionError("quantised a second time")

    monkeypatch.setattr(encoder_int8, "quantise", not_again)
    assert np.array_equal(Int8Encoder(minilm.folder, cache_dir=folder).encode(["gout"]), expected)


def test_its_index_is_another_one(
    small: Int8Encoder, minilm: Encoder, small_system: CodeSystem, tmp_path: Path
) -> None:
    assert small.identity != minilm.identity
    matcher = Matcher(small_system, small, cache_dir=tmp_path)
    (match,) = matcher.match(["inflammation of the appendix, acute"])
    assert match is not None
    assert match.code.startswith("K35")
    assert len(list((tmp_path / "title-index").iterdir())) == 1


def test_most_terms_are_taken_for_the_same_code(small: Int8Encoder, minilm: Encoder, tmp_path: Path) -> None:
    """docs/matching.md: among 97,449 titles 8 bits take 81 % of 2,000 terms for the same code as float vectors do, and
    the category of as many is right. Here 273 terms have 384 titles to choose from, fewer that are nearly as near as
    the best, but of terms that lie closer together: about as many are the same (83 % where this was written). So many
    terms scatter around 81 % by 2.4 %; three times as far below it the encoder would have got worse.
    """
    system = SmallSystem(("D6", "F0", "F6", "F8", "K1", "R5"))  # categories with more terms than codes
    pairs = pairs_of(system)[::2]
    texts = [pair.text for pair in pairs]
    plain, eight = (
        [match.code for match in Matcher(system, encoder, threshold=-1.0, cache_dir=tmp_path).match(texts) if match]
        for encoder in (minilm, small)
    )
    same = sum(one == other for one, other in zip(plain, eight, strict=True)) / len(texts)
    assert same >= 0.81 - 3 * (0.81 * 0.19 / len(texts)) ** 0.5
    category = system.levels.index("category")
    right = [
        sum(
            system.path(code)[category] in {system.path(each)[category] for each in pair.codes}
            for code, pair in zip(found, pairs, strict=True)
        )
        / len(texts)
        for found in (plain, eight)
    ]
    assert right[1] == pytest.approx(right[0], abs=0.05)  # 67 % both where this was written


def test_what_is_missing_is_named(minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else found(name))
    with pytest.raises(ResourceMissingError, match=r"onnxruntime, which is not installed.*clinical-evals\[onnx\]"):
        Int8Encoder(minilm.folder)
