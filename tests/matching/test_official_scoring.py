"""The official protocol from answers to scores: matching to candidates, rows left out, what diagnostics say."""

import csv
import logging
from pathlib import Path

import numpy as np
import pytest

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.dictionary import own_titles, read_dictionary
from clinical_evals.matching.dictionary_rows import Candidates
from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.official_matcher import OfficialMatcher
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.matching.titles import titles_of
from clinical_evals.ontology import CodeSystem, get_system
from clinical_evals.scoring.hierarchy import count, scores
from clinical_evals.scoring.intervals import bootstrap

SYSTEM = get_system("icd10cm")
CODES = ["A41.8", "A41.89", "A41.9", "E11", "E11.9", "I10", "I50.9", "J18.9", "K21.9", "M10.9", "N39.0", "R55"]


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small d_icd_diagnoses with real titles, in no order."""
    path = tmp_path_factory.mktemp("mimic") / "d_icd_diagnoses.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["icd_code", "icd_version", "long_title"])
        writer.writerow(["0389", "9", "Unspecified septicemia"])
        for code in reversed(CODES):
            writer.writerow([code.replace(".", ""), "10", SYSTEM.title(code)])
    return path


@pytest.fixture(scope="module")
def scorer(dictionary: Path, minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> CodeScorer:
    matcher = OfficialMatcher(read_dictionary(dictionary, SYSTEM), minilm, tmp_path_factory.mktemp("cache"))
    return CodeScorer("icd10cm", "official", matcher=matcher)


def _nearest(texts: list[str], candidates: Candidates, minilm: Encoder) -> list[str]:
    """The released way: one similarity with every candidate, the first of the highest."""
    similarities = minilm.encode(texts) @ minilm.encode(candidates.titles).T
    return [candidates.codes[int(np.argmax(row))] for row in similarities]


def test_equal_title_else_most_similar_first_on_a_tie(scorer: CodeScorer, minilm: Encoder) -> None:
    texts = ["SEPSIS,unspecified  Organism", "", "heart stopped pumping well", "syncope after standing up", "GERD"]
    found = scorer.matcher.match(texts)
    assert found[0] is not None
    assert found[0][:2] == ("A41.9", "title")
    expected = _nearest(texts[1:], scorer.matcher.candidates, minilm)
    assert [match and match[:2] for match in found[1:]] == [(code, "embedding") for code in expected]
    assert expected[1:] == ["I50.9", "R55", "K21.9"]


def test_codes_with_one_title_stand_for_the_first(scorer: CodeScorer) -> None:
    assert SYSTEM.title("A41.8") == SYSTEM.title("A41.89") == "Other specified sepsis"
    equal, similar = scorer.matcher.match(["other specified sepsis", "some other sepsis that is specified"])
    # A418 stands before A4189 in the dictionary's order; `standard` takes the billing code A41.89.
    assert equal is not None
    assert equal[:2] == ("A41.8", "title")
    assert similar is not None
    assert similar[:2] == ("A41.8", "embedding")


def test_no_match_only_below_zero(minilm: Encoder, tmp_path: Path) -> None:
    alone = Candidates("one title", ("R55",), ("Syncope and collapse",), "one title", from_mimic=True)
    texts = ["quarterly tax form for landlords", "fainting", "music"]
    similarities = (minilm.encode(texts) @ minilm.encode(alone.titles).T)[:, 0]
    found = OfficialMatcher(alone, minilm, tmp_path).match(texts)
    assert similarities[0] < 0 < similarities[2] < 0.3  # so low that `standard` leaves it unmatched
    assert [match and match.code for match in found] == [None, "R55", "R55"]


def test_the_index_is_kept_by_content_not_by_file(scorer: CodeScorer, minilm: Encoder, tmp_path: Path) -> None:
    candidates = scorer.matcher.candidates
    OfficialMatcher(candidates, minilm, tmp_path).match(["fainting"])
    OfficialMatcher(candidates._replace(source="packed otherwise"), minilm, tmp_path).match(["fainting"])
    assert len(list((tmp_path / "title-index").iterdir())) == 1
    turned = candidates._replace(codes=candidates.codes[::-1], titles=candidates.titles[::-1])
    OfficialMatcher(turned, minilm, tmp_path).match(["fainting"])
    assert len(list((tmp_path / "title-index").iterdir())) == 2


# Our own titles share the vectors of the standard protocol's index


TEXTS = ["tired heart", "other viral enteritis of some sort", "sugar disease", "", "quarterly tax form", "pneumonia"]


def test_own_titles_are_those_of_the_standard_index() -> None:
    assert set(own_titles(SYSTEM).titles) == set(titles_of(SYSTEM).titles)


def test_the_shared_vectors_are_those_of_an_index_of_its_own(
    small_system: CodeSystem, minilm: Encoder, tmp_path: Path
) -> None:
    candidates = own_titles(small_system)
    assert len(candidates.titles) > len(titles_of(small_system).titles)  # titles that several codes have
    alone = OfficialMatcher(candidates, minilm, tmp_path / "alone")
    Matcher(small_system, minilm, cache_dir=tmp_path / "shared").match(["tired heart"])
    (index,) = (tmp_path / "shared" / "title-index").iterdir()
    before = {path: path.stat().st_mtime_ns for path in index.rglob("*.npy")}
    shared = OfficialMatcher(candidates, minilm, tmp_path / "shared", same_titles=small_system)
    assert (shared.index.codes, shared.index.titles) == (alone.index.codes, alone.index.titles)
    assert np.array_equal(shared.index.vectors, alone.index.vectors)
    assert shared.match(TEXTS) == alone.match(TEXTS)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "shared").rglob("*.npy")} == before


def test_a_title_that_the_standard_index_lacks_means_an_index_of_its_own(
    small_system: CodeSystem, minilm: Encoder, tmp_path: Path
) -> None:
    lay = Candidates("lay words", ("I50.9", "I10"), ("Tired heart", "High blood pressure"), "lay", from_mimic=True)
    matcher = OfficialMatcher(lay, minilm, tmp_path, same_titles=small_system)
    assert matcher.index.titles == ["Tired heart", "High blood pressure"]
    assert [path.name[:9] for path in (tmp_path / "title-index").iterdir()] == ["lay-words"]


def test_the_scorer_shares_them() -> None:
    matcher = CodeScorer("icd10cm", "official").matcher
    assert isinstance(matcher, OfficialMatcher)
    assert matcher.same_titles is SYSTEM


ANSWERS = [
    "1. E11.9\n2. Sepsis, unspecified organism",  # both right
    "E11.99 is what I would say",  # no item: left out, and its invalid code with it
    "",  # left out
    "1. Gout, unspecified (M10.99)\n2. I50.9",  # M10.99 is invalid and counted; the title is matched
]
GOLD = [["E11.9", "A41.9"], ["E11.9"], ["I10"], ["M10.9", "I50.9", "I10"]]


def test_rows_that_predict_nothing_are_left_out_of_every_count(scorer: CodeScorer) -> None:
    scored = scorer.score(ANSWERS, GOLD)
    assert scored.scored_rows == (0, 3)
    assert [answer.codes for answer in scored.answers] == [("A41.9", "E11.9"), (), (), ("I50.9", "M10.9")]
    result = scored.scores()
    assert result["precision_full"] == 4 / 4
    assert result["recall_full"] == 4 / 5  # 2 + 3 gold codes: those of rows 1 and 2 do not count
    assert result["macro_f1_full"] == pytest.approx((2 * 2 / (2 + 2) + 2 * 2 / (2 + 3)) / 2)
    assert {key: result[key] for key in ("rows", "rows_left_out", "empty_answers", "invalid_codes", "items")} == {
        "rows": 4,
        "rows_left_out": 2,
        "empty_answers": 2,
        "invalid_codes": 1,  # M10.99; not E11.99, whose row is left out
        "items": 4,
    }
    assert (result["share_code"], result["share_title"]) == (2 / 4, 2 / 4)
    same = scorer.score([ANSWERS[0], ANSWERS[3]], [GOLD[0], GOLD[3]])
    assert scores(scored.counts) == scores(same.counts)


def test_groups_stay_with_their_rows(scorer: CodeScorer) -> None:
    scored = scorer.score(ANSWERS, GOLD)
    assert scored.of_scored_rows(["p0", "p1", "p2", "p3"]) == ["p0", "p3"]
    assert set(bootstrap(scored.counts, scored.of_scored_rows([1, 2, 3, 4]), draws=20)) == set(scores(scored.counts))


def test_all_rows_left_out_score_zero(scorer: CodeScorer) -> None:
    scored = scorer.score(["", "no idea"], [["I10"], ["I10"]])
    assert scored.counts.rows == 0
    assert scored.scores()["f1_average"] == 0.0
    assert scored.diagnostics["rows_left_out"] == 2
    assert bootstrap(scored.counts, scored.of_scored_rows(["a", "b"]))["f1_average"] == (0.0, 1.0)


def test_lists_of_codes_are_predictions_as_they_are(scorer: CodeScorer) -> None:
    predictions = [["e119", "E11.99"], [], ["I10"]]
    official = scorer.score(predictions, [["E11.9"], ["I10"], ["I10"]])
    # Entries are not answers: any spelling is read, and an invalid one is a wrong prediction.
    assert official.answers[0].codes == ("E11.9", "E11.99")
    assert official.scored_rows == (0, 2)
    assert official.diagnostics["invalid_codes"] == 1
    standard = CodeScorer("icd10cm").score(predictions, [["E11.9"], ["I10"], ["I10"]])
    assert standard.scored_rows == (0, 1, 2)
    assert standard.counts.take([0, 2]).values.tolist() == official.counts.values.tolist()


def test_counts_are_those_of_the_resolved_codes(scorer: CodeScorer) -> None:
    scored = scorer.score(ANSWERS, GOLD)
    again = count([GOLD[0], GOLD[3]], [scored.answers[0].codes, scored.answers[3].codes], SYSTEM)
    assert scored.counts.values.tolist() == again.values.tolist()


def test_the_result_says_what_it_matched_to(scorer: CodeScorer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        with_dictionary = scorer.score(["1. E11.9\n2. R55.0 Syncope and collapse"], [["E11.9"]])
        assert not caplog.records
        alone = CodeScorer("icd10cm", "official")
        for _ in range(2):
            without = alone.score([f"1. E11.9\n2. {SYSTEM.title('R55')}"], [["E11.9"]])
    assert with_dictionary.diagnostics["own_titles"] == 0
    assert with_dictionary.info["protocol"] == "official"
    assert (
        f"{len(CODES)} of the {len(CODES)} ICD-10 titles of d_icd_diagnoses.csv" in with_dictionary.info["candidates"]
    )
    assert without.diagnostics["own_titles"] == 1
    assert without.info["candidates"] == own_titles(SYSTEM).source
    assert without.answers[0].codes == ("E11.9", "R55")
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [  # once, not once a call
        "protocol='official' without MIMIC's dictionary"
    ]


def test_dictionary_is_read_from_its_path(dictionary: Path) -> None:
    scored = CodeScorer("icd10cm", "official", dictionary=dictionary).score(
        ["1. Gout, unspecified\n2. E11.9"], [["M10.9"]]
    )
    assert scored.answers[0].codes == ("E11.9", "M10.9")
    assert scored.diagnostics["own_titles"] == 0


def test_options_that_would_do_nothing_are_refused(scorer: CodeScorer, dictionary: Path) -> None:
    with pytest.raises(InputError, match=r"d_icd_diagnoses.*protocol='official'.*no use with protocol='standard'"):
        CodeScorer("icd10cm", dictionary=dictionary)
    with pytest.raises(InputError, match="no use with a matcher"):
        CodeScorer("icd10cm", "official", dictionary=dictionary, matcher=scorer.matcher)
    with pytest.raises(InputError, match="protocol='standard' cannot use a OfficialMatcher"):
        CodeScorer("icd10cm", matcher=scorer.matcher)
    with pytest.raises(UnknownNameError, match=r"unknown protocol 'offical'\. Did you mean 'official'"):
        CodeScorer("icd10cm", "offical")
    with pytest.raises(InputError, match="does not exist"):
        CodeScorer("icd10cm", "official", dictionary="nowhere/d_icd_diagnoses.csv.gz")


def test_rows_of_another_type_are_errors_here_too(scorer: CodeScorer) -> None:
    with pytest.raises(InputError, match=r"predictions\[1\] is None"):
        scorer.score(["1. E11.9\n2. I10", None], [["E11.9"], ["I10"]])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"references\[1\]: 'E11.99' is not a code"):
        scorer.score(["", ""], [["E11.9"], ["E11.99"]])
