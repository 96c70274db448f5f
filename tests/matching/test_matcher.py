"""From texts to codes: equal titles, similar titles, nothing; the same whatever stands beside a text."""

import random
from pathlib import Path

import pytest

from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.matcher import DEFAULT_THRESHOLD, Match, Matcher
from clinical_evals.ontology import CodeSystem


def _not_needed() -> Encoder:
    raise AssertionError("no model is needed for equal titles")


@pytest.fixture(scope="module")
def matcher(small_system: CodeSystem, minilm: Encoder, small_cache: Path) -> Matcher:
    return Matcher(small_system, minilm, cache_dir=small_cache)


def test_equal_titles_need_no_model(small_system: CodeSystem, tmp_path: Path) -> None:
    matcher = Matcher(small_system, _not_needed, cache_dir=tmp_path / "cache")
    texts = ["Acute appendicitis", "Essential (primary) hypertension", "  ESSENTIAL (PRIMARY)  hypertension.", ""]
    assert matcher.match(texts) == [
        Match("K35", "title", 1.0),
        Match("I10", "title", 1.0),
        Match("I10", "title", 1.0),
        None,
    ]
    assert not (tmp_path / "cache").exists()


def test_every_title_matches_a_code_with_that_title(small_system: CodeSystem) -> None:
    codes = [code for code in small_system.codes() if "-" not in code]
    for code, match in zip(
        codes, Matcher(small_system, _not_needed).match([*map(small_system.title, codes)]), strict=True
    ):
        assert match is not None
        assert small_system.title(match.code) == small_system.title(code)
        assert match.code.startswith(code) or code == match.code


def test_the_model_is_looked_for_only_when_it_is_needed(small_system: CodeSystem) -> None:
    with pytest.raises(AssertionError, match="no model is needed"):
        Matcher(small_system, _not_needed).match(["high blood pressure"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Type 2 diabetes mellitus with ketoacidosis but without coma", "E11.10"),
        ("Chronic systolic heart failure", "I50.22"),
        ("Enteritis due to rotavirus", "A08.0"),
        ("lobar pneumonia", "J18.1"),  # the title goes on: ", unspecified organism"
        ("UTI, site not specified (urinary tract infection)", "N39.0"),
    ],
)
def test_similar_titles_are_found(matcher: Matcher, text: str, code: str) -> None:
    (match,) = matcher.match([text])
    assert match is not None
    assert (match.code, match.how) == (code, "embedding")
    assert DEFAULT_THRESHOLD <= match.similarity < 1


@pytest.mark.parametrize(
    "text", ["Please consult a healthcare professional", "BP 120/80", "🙂", "42", "N/A", "诊断如下", "\ud800"]
)
def test_other_texts_stay_unmatched(matcher: Matcher, text: str) -> None:
    assert matcher.match([text]) == [None]


@pytest.mark.parametrize("text", ["", " ", "...", "**", "\u200b", "—"])
def test_texts_without_content_stay_unmatched(matcher: Matcher, text: str) -> None:
    assert matcher.match([text]) == [None]


def test_below_the_threshold_nothing_is_matched(matcher: Matcher, small_system: CodeSystem, minilm: Encoder) -> None:
    text, title = minilm.encode(["lobar pneumonia", small_system.title("J18.1")]).astype(float)
    similarity = float(text @ title)
    for threshold, matched in ((similarity - 1e-5, True), (similarity + 1e-5, False)):
        (match,) = Matcher(small_system, minilm, threshold, matcher._cache_dir).match(["Lobar pneumonia"])
        assert (match is not None) == matched


def test_a_match_depends_on_its_text_only(matcher: Matcher, small_system: CodeSystem) -> None:
    terms = [term for code in small_system.codes() for term in small_system.synonyms(code)][:60]
    whole = dict(zip(terms, matcher.match(terms), strict=True))
    shuffled = random.Random(0).sample(terms, len(terms))
    assert matcher.match(shuffled) == [whole[term] for term in shuffled]
    assert matcher.match([*terms[:20], *terms[:20]]) == [whole[term] for term in terms[:20]] * 2
    for size, stop in ((1, 5), (7, 28)):
        pieces = [terms[start : start + size] for start in range(0, stop, size)]
        assert [match for piece in pieces for match in matcher.match(piece)] == [whole[term] for term in terms[:stop]]


def test_each_text_is_embedded_once(
    small_system: CodeSystem, minilm: Encoder, matcher: Matcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    encode = Encoder.encode
    monkeypatch.setattr(
        Encoder, "encode", lambda self, texts, *rest: seen.append(list(texts)) or encode(self, texts, *rest)
    )
    matcher.match(["Lobar pneumonia", "lobar  pneumonia.", "Acute appendicitis", "“Lobar pneumonia”"])
    assert seen == [["lobar pneumonia"]]


def test_no_texts_give_no_matches(small_system: CodeSystem) -> None:
    assert Matcher(small_system, _not_needed).match([]) == []
