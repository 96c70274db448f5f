"""The title index: exact search, and a cache that survives kills, torn files, two builders and unwritable folders."""

import json
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from build_index import CHUNK, TITLES, WRITES, HashEncoder, made_up_titles
from numpy.typing import NDArray

from clinical_evals.matching import index as index_module
from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.index import QUERY_SLACK, SLACK, THRESHOLD_SLACK, TitleIndex, open_index, open_titles
from clinical_evals.matching.index_store import IndexStore, cache_folder
from clinical_evals.matching.matcher import most_similar
from clinical_evals.ontology import CodeSystem

PROGRAM = Path(__file__).with_name("build_index.py")

# Search


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _random_index(titles: int, seed: int = 0, dimension: int = 24) -> TitleIndex:
    vectors = _unit(np.random.default_rng(seed).standard_normal((titles, dimension)))
    names = [str(row) for row in range(titles)]
    return TitleIndex(names, names, vectors.astype(np.float16))


def _oracle(index: TitleIndex, queries: NDArray[np.float32], k: int) -> list[list[int]]:
    """All similarities in float64, sorted by similarity and then by position."""
    similarities = queries.astype(np.float64) @ np.asarray(index.vectors).astype(np.float64).T
    return [np.lexsort((np.arange(len(row)), -row))[:k].tolist() for row in np.round(similarities, 7)]


@pytest.mark.parametrize("titles", [1, 5, 16, 17, 203])
@pytest.mark.parametrize("block", [1, 5, 17, 4096])
def test_search_agrees_with_brute_force(titles: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    index = _random_index(titles)
    queries = _unit(np.random.default_rng(1).standard_normal((23, 24)))
    monkeypatch.setattr(index_module, "TITLE_BLOCK", block)
    monkeypatch.setattr(index_module, "QUERY_BLOCK", block)
    for k in (1, 2, 5, 40):
        positions, similarities = index.nearest(queries, k)
        assert positions.dtype == np.int64
        assert similarities.dtype == np.float32
        assert positions.tolist() == _oracle(index, queries, min(k, titles))
        exact = np.einsum("qkd,qd->qk", index.vectors[positions].astype(np.float64), queries)
        np.testing.assert_allclose(similarities, exact, atol=1e-6)
    found, similarity = index.search(queries)
    assert found.tolist() == [best for (best,) in _oracle(index, queries, 1)]
    assert np.array_equal(similarity, index.nearest(queries, 1)[1][:, 0])


def test_equal_similarities_go_to_the_first_title() -> None:
    vectors = _random_index(10).vectors
    copies = np.concatenate(
        [vectors[5:], vectors, vectors, vectors]
    )  # row r of the ten stands at r - 5, r + 5, r + 15 …
    names = [str(row) for row in range(len(copies))]
    positions, similarities = TitleIndex(names, names, copies).nearest(vectors.astype(np.float32), 3)
    assert positions.tolist() == [[5, 15, 25], [6, 16, 26], [7, 17, 27], [8, 18, 28], [9, 19, 29],
                                  [0, 10, 20], [1, 11, 21], [2, 12, 22], [3, 13, 23], [4, 14, 24]]  # fmt: skip
    assert (similarities == similarities[:, :1]).all()


def test_a_result_depends_on_its_query_only() -> None:
    index = _random_index(500)
    queries = _unit(np.random.default_rng(2).standard_normal((64, 24)))
    positions, similarities = index.nearest(queries, 2)
    order = np.random.default_rng(3).permutation(64)
    for rows in (order, order[:7], order[:1]):
        found, similarity = index.nearest(queries[rows], 2)
        assert np.array_equal(found, positions[rows])
        assert np.array_equal(similarity, similarities[rows])


def test_what_the_stored_vectors_leave_unclear_is_settled_with_exact_ones() -> None:
    true = _unit(np.array([[1, 0.0, 0.0], [1, 0.001, 0.0], [0.9, 0.3, 0.0], [0.0, 0.0, 1.0]]))
    # Stored, title 0 looks nearer to the query than title 1, and both a little farther away than they are.
    stored = _unit(np.array([[1, 0.0, 0.01], [1, 0.0, 0.02], [0.9, 0.3, 0.0], [0.0, 0.0, 1.0]])).astype(np.float16)
    asked: list[list[str]] = []

    def encode(titles: list[str]) -> NDArray[np.float32]:
        asked.append(titles)
        return true[[int(title) for title in titles]]

    names = ["0", "1", "2", "3"]
    queries = true[[1, 3, 2]]
    assert TitleIndex(names, names, stored).search(queries)[0].tolist() == [0, 3, 2]
    settled = TitleIndex(names, names, stored, slack=0.002, encode=encode)
    positions, similarities = settled.search(queries)
    assert positions.tolist() == [1, 3, 2]
    assert similarities[0] == 1
    assert asked == [["0", "1"]]  # titles 2 and 3 have no rival
    asked.clear()
    settled.search(queries[1:], threshold=0.999)
    assert asked == [["2", "3"]]  # but may be on either side of a threshold as near as this


def test_a_coarse_query_that_stands_finds_what_the_exact_one_finds() -> None:
    # 4,000 titles in 24 dimensions lie close together: many queries have several titles within the slack. A query that
    # is off by less than half the slack in every similarity must, where it stands, have the same first title and be on
    # the same side of the threshold; some must stand and some must not, or the test shows nothing.
    index = _random_index(4000)
    rng = np.random.default_rng(1)
    exact = _unit(rng.standard_normal((300, 24)))
    coarse = (exact + _unit(rng.standard_normal((300, 24))) * QUERY_SLACK * 0.49).astype(np.float32)
    threshold = 0.8
    positions, similarities = index.search(exact, threshold)
    found, about, _, stands = index.find_coarse(coarse, threshold)
    assert 30 < stands.sum() < 295
    assert (found[stands] == positions[stands]).all()
    assert ((about >= threshold) == (similarities >= threshold))[stands].all()
    assert (np.abs(about - similarities)[stands] < QUERY_SLACK).all()


def test_a_coarse_query_near_the_threshold_does_not_stand() -> None:
    # Two titles at right angles: the first title is never in doubt, only the threshold is.
    index = TitleIndex(["a", "b"], ["a", "b"], np.eye(2, dtype=np.float16))
    query = np.array([[0.8, 0.6]], dtype=np.float32)
    assert index.find_coarse(query).stands.all()
    for threshold, stands in ((0.8 - 2 * THRESHOLD_SLACK, True), (0.8 - THRESHOLD_SLACK / 2, False), (0.8, False)):
        assert index.find_coarse(query, threshold).stands.tolist() == [stands]


def test_no_queries_give_no_results() -> None:
    positions, similarities = _random_index(5).search(np.zeros((0, 24), dtype=np.float32))
    assert positions.shape == similarities.shape == (0,)


# Titles of a system, with the real model


@pytest.fixture(scope="module")
def small_index(small_system: CodeSystem, minilm: Encoder, small_cache: Path) -> TitleIndex:
    return open_index(small_system, minilm, small_cache)


def test_every_title_finds_itself(small_index: TitleIndex, minilm: Encoder) -> None:
    index = small_index
    assert index.vectors.dtype == np.float16
    assert isinstance(index.vectors, np.memmap)
    positions, similarities = index.search(minilm.encode(index.titles))
    assert positions.tolist() == list(range(len(index.titles)))
    assert similarities.min() > 0.999
    assert len(index.codes) == len(set(index.codes)) == 252


def test_it_finds_what_plain_float32_vectors_find(
    small_index: TitleIndex, small_system: CodeSystem, minilm: Encoder
) -> None:
    terms = [term for code in small_system.codes() for term in small_system.synonyms(code)][:100]
    queries = minilm.encode(terms)
    plain = TitleIndex(small_index.codes, small_index.titles, minilm.encode(small_index.titles))
    expected, cosine = plain.search(queries)
    found, similarities = small_index.search(queries)
    assert found.tolist() == expected.tolist()
    np.testing.assert_allclose(similarities, cosine, atol=SLACK["bfloat16"])
    # The whole way, with queries in bfloat16 first where the processor has it.
    matches = most_similar(terms, small_index, minilm, threshold=-1.0)
    assert [match and match.code for match in matches] == [small_index.codes[row] for row in expected]


# The cache


def _run(folder: Path, *options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), *map(str, options)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "lock"
    }


def _open(folder: Path, encoder: HashEncoder | None = None) -> TitleIndex:
    return open_titles(made_up_titles(), encoder or HashEncoder(), folder)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "CHUNK_TITLES", CHUNK)
    monkeypatch.setattr(index_module, "fastest_precision", lambda: "float32")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A cache folder with a finished index; nothing but its two files and the lock is in it."""
    folder = tmp_path / "finished"
    _open(folder)
    assert sorted(name.rsplit("/", 1)[1] for name in _files(folder)) == ["header.json", "vectors.npy"]
    return folder


def test_an_index_is_built_once(finished: Path) -> None:
    encoder = HashEncoder()
    index = _open(finished, encoder)
    assert encoder.encoded == 0
    assert isinstance(index.vectors, np.memmap)
    fresh = HashEncoder().encode(index.titles).astype(np.float16)
    assert np.array_equal(index.vectors, fresh)


EVERY_WRITE = [(number, when) for number in range(1, WRITES + 1) for when in ("before", "after")]


@pytest.mark.parametrize(
    ("number", "when"),
    [*random.Random(0).sample(EVERY_WRITE[:-2], 8), *EVERY_WRITE[-2:]],
)
def test_a_killed_build_goes_on_and_ends_in_the_same_bytes(
    finished: Path, tmp_path: Path, number: int, when: str
) -> None:
    folder = tmp_path / "killed"
    killed = _run(folder, "--die-at", number, "--when", when)
    assert killed.returncode == -9, killed.stderr
    again = _run(folder)
    assert again.returncode == 0, again.stderr
    assert "damaged" not in again.stderr
    assert _files(folder) == _files(finished)
    kept = min(number - (when == "before"), 13)  # chunks that were in their place when the first program died
    expected = 0 if kept == 13 else TITLES - kept * CHUNK
    assert int(again.stdout.split()[0]) == expected


def test_two_builders_at_once_share_one_build(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    command = [sys.executable, str(PROGRAM), str(folder), "--seconds", "0.2"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    embedded, digests = zip(*(output.split() for output, _ in outputs), strict=True)
    assert sorted(map(int, embedded)) == [0, TITLES]  # one builds, the other waits or comes later
    assert len(set(digests)) == 1
    assert _files(folder) == _files(finished)


def _cut(folder: Path) -> None:
    with (folder / "vectors.npy").open("r+b") as file:
        file.truncate(5000)


def _flip(folder: Path) -> None:
    content = bytearray((folder / "vectors.npy").read_bytes())
    content[-100] ^= 1
    (folder / "vectors.npy").write_bytes(content)


def _change_header(folder: Path, **changes: object) -> None:
    header = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps(header | changes))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (_cut, "vectors.npy has 5000 bytes, expected"),
    "empty": (lambda folder: (folder / "vectors.npy").write_bytes(b""), "vectors.npy has 0 bytes"),
    "one bit": (_flip, "checksum"),
    "no vectors": (lambda folder: (folder / "vectors.npy").unlink(), "vectors.npy is missing"),
    "no JSON": (lambda folder: (folder / "header.json").write_text('{"format": 1'), "JSONDecodeError"),
    "no text": (lambda folder: (folder / "header.json").write_bytes(b"\xff\xfe"), "UnicodeDecodeError"),
    "a list": (lambda folder: (folder / "header.json").write_text("[]"), "AttributeError"),
    "another": (lambda folder: _change_header(folder, content_sha256="0" * 64), "of another index"),
    "no checksum": (lambda folder: _change_header(folder, xxh3_128=None), "checksum"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_noticed_and_built_again(finished: Path, damage: str) -> None:
    whole = _files(finished)
    spoil, words = DAMAGES[damage]
    (folder,) = (finished / "title-index").iterdir()
    spoil(folder)
    with pytest.warns(RuntimeWarning, match=words) as warned:
        _open(finished)
    assert len(warned) == 1
    assert str(folder) in str(warned[0].message)
    assert _files(finished) == whole
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _open(finished)


def test_a_pickle_in_place_of_the_vectors_is_not_loaded(finished: Path) -> None:
    (folder,) = (finished / "title-index").iterdir()
    np.save(folder / "vectors.npy", np.array([{"an": "object"}], dtype=object), allow_pickle=True)
    _change_header(folder, bytes=(folder / "vectors.npy").stat().st_size, xxh3_128=_checksum(folder / "vectors.npy"))
    store = IndexStore(folder, {})
    assert store.read() is None
    assert "Python objects" in store.damage


def _checksum(file: Path) -> str:
    import xxhash

    return xxhash.xxh3_128(file.read_bytes()).hexdigest()


def test_a_torn_chunk_is_embedded_again(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    assert _run(folder, "--die-at", 10).returncode == -9
    chunks = sorted(folder.rglob("chunks/0*.npy"))
    assert len(chunks) == 9
    chunks[0].write_bytes(chunks[0].read_bytes()[:-1])
    chunks[1].write_bytes(b"")
    encoder = HashEncoder()
    _open(folder, encoder)
    assert encoder.encoded == TITLES - 7 * CHUNK
    assert _files(folder) == _files(finished)


def test_a_folder_that_cannot_be_written_to_costs_a_warning(tmp_path: Path, finished: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(
        RuntimeWarning, match=r"file.title-index.* cannot be written to .* CLINICAL_EVALS_CACHE"
    ) as warned:
        index = _open(tmp_path / "file")
    assert len(warned) == 1
    assert np.array_equal(index.vectors, _open(finished).vectors)


def test_a_disk_that_fills_up_costs_a_warning(tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = IndexStore._write_chunk, 0

    def full(self: IndexStore, start: int, chunk: NDArray[np.float16]) -> None:
        nonlocal written
        written += 1
        if written > 3:
            raise OSError(28, "No space left on device")
        write(self, start, chunk)

    monkeypatch.setattr(IndexStore, "_write_chunk", full)
    encoder = HashEncoder()
    with pytest.warns(RuntimeWarning, match="No space left on device") as warned:
        index = _open(tmp_path / "full", encoder)
    assert len(warned) == 1
    assert (written, encoder.encoded) == (4, TITLES)
    assert np.array_equal(index.vectors, _open(finished).vectors)
    shutil.rmtree(tmp_path / "full")


def test_what_decides_the_vectors_decides_the_folder(tmp_path: Path) -> None:
    titles = made_up_titles()
    usual = IndexStore.of(titles, "model", "float32", tmp_path).folder
    assert usual == IndexStore.of(made_up_titles(), "model", "float32", tmp_path).folder
    changed = [
        IndexStore.of(titles, "another model", "float32", tmp_path),
        IndexStore.of(titles, "model", "bfloat16", tmp_path),
        IndexStore.of(titles._replace(source="made up, another release"), "model", "float32", tmp_path),
        IndexStore.of(titles._replace(titles=[*titles.titles[:-1], "changed"]), "model", "float32", tmp_path),
        IndexStore.of(titles._replace(codes=[*titles.codes[:-1], "changed"]), "model", "float32", tmp_path),
        IndexStore.of(titles._replace(titles=titles.titles[::-1]), "model", "float32", tmp_path),
    ]
    assert len({usual, *(store.folder for store in changed)}) == 1 + len(changed)


def test_the_cache_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("CLINICAL_EVALS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "clinical-evals"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "clinical-evals"
