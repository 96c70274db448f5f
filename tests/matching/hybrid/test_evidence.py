"""What speaks for candidates, against a way of working it out one by one; the ranker; the choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clinical_evals.matching.hybrid import dense, ranker
from clinical_evals.matching.hybrid.choice import category_level, choose
from clinical_evals.matching.hybrid.entries import Entries
from clinical_evals.matching.hybrid.evidence import Evidence, Library
from clinical_evals.matching.hybrid.lexical import Pieces, Words
from clinical_evals.matching.titles import titles_of
from clinical_evals.ontology import CodeSystem

TEXTS = [
    "acute appendicitis with abscess", "type 2 diabetes with neuropathy", "heart failure", "urinary infection",
    "salmonella enteritis", "something else entirely",
]  # fmt: skip


def unit(rows: int, seed: int, dimension: int = 24) -> NDArray[np.float64]:
    vectors = np.random.default_rng(seed).normal(size=(rows, dimension))
    unit_vectors: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit_vectors


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 400), st.integers(1, 60), st.integers(0, 9))
def test_the_nearest_entries_are_those_of_the_whole_product(queries: int, entries: int, k: int, seed: int) -> None:
    """Brute force: all similarities, sorted. Which of the k are found, not in what order."""
    asked, stored = unit(queries, seed).astype(np.float32), unit(entries, seed + 100).astype(np.float16)
    expected = asked @ stored.astype(np.float32).T
    for row, found in enumerate(dense.nearest(asked, stored, k)):
        assert len(found) == len(set(found.tolist())) == min(k, entries)
        least = expected[row, found].min()
        others = np.delete(expected[row], found)
        assert not len(others) or others.max() <= least + 1e-5


def test_a_left_out_entry_is_not_found() -> None:
    stored = unit(50, 1).astype(np.float16)
    asked = stored[[3, 7]].astype(np.float32)
    one, other = dense.nearest(asked, stored, 5, np.array([3, -1]))
    assert 3 not in one
    assert 7 in other


@pytest.fixture(scope="module")
def library(small_system: CodeSystem) -> Library:
    titles = titles_of(small_system)
    codes, texts = [*titles.codes, "K35.80", "N39.0"], [*titles.titles, "Appendicitis, acute, NOS", "Wee infection"]
    entries = Entries(small_system, codes, texts, len(titles.codes))
    return Library(entries, unit(len(codes), 5).astype(np.float16))


def test_words_and_pieces_one_by_one(library: Library) -> None:
    """The vectorised products are the cosines of scikit-learn's own vectors, worked out pair by pair."""
    words, pieces = library.words, library.pieces
    vectors = words.vectors(TEXTS)
    rows, entries = np.array([0, 0, 2, 5]), np.array([4, 200, 100, 3])
    for number, alike in enumerate(pieces.similarities(TEXTS, (rows, entries))):
        one = pieces._vectorizer.transform([TEXTS[rows[number]]])
        other = pieces._vectorizer.transform([library.entries.texts[entries[number]]])
        assert alike == pytest.approx((one @ other.T).toarray()[0, 0], abs=1e-6)
    for row, best in enumerate(words.best(vectors, 7)):
        scores = (vectors[[row]] @ words.entries.T).toarray()[0]
        order = np.lexsort((np.arange(len(scores)), -scores))
        assert best.tolist() == [entry for entry in order[:7].tolist() if scores[entry] > 0]


def test_a_word_of_one_entry_alone_is_unknown_without_that_entry(library: Library) -> None:
    """ "Wee" is a word of one entry: a text that is this entry has it not, any other text has it."""
    words = library.words
    both = ["Wee infection", "Wee infection"]
    vectors = words.vectors(both, np.array([True, False]))
    assert words.unknown(both, vectors).tolist() == [0.5, 0.0]
    lengths = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    assert lengths == pytest.approx([1, 1], abs=1e-6)


def test_a_text_has_the_same_evidence_whatever_stands_beside_it(library: Library) -> None:
    vectors = unit(len(TEXTS), 9).astype(np.float32)
    together = library.evidence(TEXTS, vectors)
    for row, text in enumerate(TEXTS):
        alone = library.evidence([text], vectors[[row]])
        part = together.rows == row
        assert alone.codes.tolist() == together.codes[part].tolist()
        assert np.allclose(alone.features, together.features[part], atol=1e-6)


def test_each_code_stands_there_once_with_its_best_entry(library: Library) -> None:
    vectors = unit(len(TEXTS), 9).astype(np.float32)
    found = library.evidence(TEXTS, vectors)
    pairs = list(zip(found.rows.tolist(), found.codes.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert np.isfinite(found.features).all()
    for row, code, nearest in zip(found.rows[:60], found.codes[:60], found.nearest[:60], strict=True):
        entries = np.flatnonzero(library.entries.code_of == code)
        assert nearest <= (library.vectors[entries].astype(np.float32) @ vectors[row]).max() + 1e-5


def test_what_titles_say(library: Library) -> None:
    entries = library.entries
    place = {code: number for number, code in enumerate(entries.codes)}
    unspecified, other, encounter, header, length = entries.marks[place["A08"]]
    # "Viral and other specified intestinal infections", with codes below it.
    assert (unspecified, other, encounter, header) == (0, 1, 0, 1)
    assert length == pytest.approx(3 / 8)
    assert entries.marks[place["A08.39"]].tolist() == pytest.approx([0, 1, 0, 0, 6 / 8])  # "Other viral enteritis"
    assert entries.marks[place["N39.0"]][0] == 0  # "site not specified" is not the word
    assert entries.marks[place["K35.80"]][0] == 1
    assert entries.ancestors.shape == (len(entries.codes), 5)
    same = entries.ancestors[place["E11.65"], 2] == entries.ancestors[place["E11.9"], 2]
    assert same


# The ranker


def lessons(texts: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
    """Candidates of which the right one has the highest first feature; the second is noise."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(texts), 6)
    features = rng.normal(size=(len(rows), 2)).astype(np.float32)
    right = np.zeros((len(rows), 2), dtype=np.bool_)
    for text in range(texts):
        best = text * 6 + int(features[text * 6 : text * 6 + 6, 0].argmax())
        right[best] = True
        right[text * 6 : text * 6 + 3, 0] |= best < text * 6 + 3  # the coarser level: the first three are one category
    return rows, features, right


def test_the_ranker_learns_what_decides() -> None:
    rows, features, right = lessons(300, 0)
    fitted = ranker.fit(rows, features, right)
    asked_rows, asked, asked_right = lessons(100, 1)
    likely = ranker.softmax_by_row(asked_rows, fitted.scores(asked))
    assert likely.reshape(100, 6).sum(axis=1) == pytest.approx(np.ones(100))
    found = likely.reshape(100, 6).argmax(axis=1)
    assert np.mean(asked_right.reshape(100, 6, 2)[np.arange(100), found, 1]) > 0.9


def test_the_same_lessons_give_the_same_ranker(tmp_path: object) -> None:
    given_lessons = lessons(80, 3)
    one, other = ranker.fit(*given_lessons), ranker.fit(*given_lessons)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_ranker_comes_back_as_it_was_stored(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("ranker") / "r.npz"
    fitted = ranker.fit(*lessons(80, 3))
    ranker.save(fitted, path)
    assert all(np.array_equal(a, b) for a, b in zip(fitted, ranker.load(path), strict=True))


def test_calibration_finds_how_often_the_sure_are_right() -> None:
    """Texts that are said to be right at 0.9, of which 70 % are: calibrated, they are said to be right at 0.7."""
    rng = np.random.default_rng(0)
    likely = np.where(rng.random(4000) < 0.5, 0.9, 0.5)
    is_right = rng.random(4000) < np.where(likely > 0.8, 0.7, 0.3)
    similarity = np.full(4000, 0.7, dtype=np.float32)
    weights = ranker.calibrate(likely, similarity, is_right)
    sure = ranker.calibrated(np.array([0.9, 0.5]), similarity[:2], weights)
    assert sure == pytest.approx([0.7, 0.3], abs=0.03)


def test_the_choice_is_right_at_most_levels_on_average(library: Library) -> None:
    """K35.80 has 0.4, E11.9 and E11.65 have 0.3 each: a category with 0.6 is worth more than a code with 0.4."""
    entries = library.entries
    place = {code: number for number, code in enumerate(entries.codes)}
    codes = np.array(sorted([place["K35.80"], place["E11.9"], place["E11.65"]]))
    likely = np.array([0.4 if code == place["K35.80"] else 0.3 for code in codes])
    evidence = Evidence(
        np.zeros(3, dtype=np.int64), codes, np.zeros((3, 1), dtype=np.float32), np.full(3, 0.8, np.float32)
    )
    chosen = choose(evidence, likely, entries)
    assert entries.codes[chosen.best[0]] in ("E11.9", "E11.65")
    assert chosen.likely[0] == pytest.approx(0.6)
    assert entries.codes[chosen.runner_up[0]] == "K35.80"
    assert category_level(5) == 2


def test_one_category_has_no_runner_up(library: Library) -> None:
    codes = np.array([library.entries.codes.index(code) for code in ("E11.9", "E11.65")])
    codes.sort()
    evidence = Evidence(np.zeros(2, np.int64), codes, np.zeros((2, 1), np.float32), np.full(2, 0.8, np.float32))
    assert choose(evidence, np.array([0.5, 0.5]), library.entries).runner_up.tolist() == [-1]


def test_words_need_no_entries_to_share() -> None:
    words = Words(["gout", "fever"], ["gout joint", "fever general"])
    assert [found.tolist() for found in words.best(words.vectors(["xyz", "gout"]), 3)] == [[], [0]]
    assert Pieces(["gout"]).similarities(["gouty"], (np.array([0]), np.array([0])))[0] > 0.3


def test_a_ranker_is_fitted_where_gradients_are_switched_off() -> None:
    """lighteval switches them off for its whole process, in which answers are then scored."""
    import torch

    expected = ranker.fit(*lessons(80, 3))
    with torch.no_grad():
        found = ranker.fit(*lessons(80, 3))
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
