"""Matchers by name; the list of texts that a model was trained on; how far confidence can be trusted."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_icd import SmallSystem

from clinical_evals.cli import main
from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.encoder import DEFAULT_MODEL, Encoder
from clinical_evals.matching.evaluation.matchers import matcher_of
from clinical_evals.matching.evaluation.measured import Measured
from clinical_evals.matching.evaluation.reliability import draw, reliability
from clinical_evals.matching.evaluation.table import as_json, format_measured
from clinical_evals.matching.matcher import Match, Matcher
from clinical_evals.matching.matchers import NAMES, MatcherName, make_scorer, matcher_name
from clinical_evals.matching.pairs import Pair, pairs_of, split
from clinical_evals.matching.titles import fold
from clinical_evals.matching.trained_on import NAME, digest, trained_on, write_trained_on
from clinical_evals.ontology import get_system


@pytest.mark.parametrize(
    ("name", "kind", "model", "int8"),
    [
        ("papers", "papers", "", False),
        ("papers+int8", "papers", "", True),
        ("hybrid", "hybrid", "", False),
        ("./model", "synonyms", "./model", False),
        ("owner/name", "synonyms", "owner/name", False),
        ("hybrid:/a/b", "hybrid", "/a/b", False),
        ("hybrid:owner/name+int8", "hybrid", "owner/name", True),
    ],
)
def test_names(name: str, kind: str, model: str, int8: bool) -> None:
    assert matcher_name(name) == MatcherName(name, kind, model, int8)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["paper", "hybrid:", "hybrid:model", "", "model", "+int8", "papers+int4"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UnknownNameError, match="A model is given as a folder"):
        matcher_name(name)
    with pytest.raises(UnknownNameError):
        make_scorer(matcher=name)


def test_official_has_no_use_for_a_matcher() -> None:
    with pytest.raises(InputError, match="no use with protocol='official'"):
        make_scorer(protocol="official", matcher="hybrid")
    assert set(NAMES) == {"papers", "synonyms", "hybrid"}


def test_a_run_says_what_it_was_matched_with() -> None:
    """Numbers of different matchers are not to be compared: each result names its own."""
    said = {name: make_scorer(matcher=name).score(["I10"], [["I10"]]).info["candidates"] for name in NAMES}
    assert len(set(said.values())) == len(NAMES)
    assert said["papers"] == f"titles of icd10cm {get_system('icd10cm').release}"
    assert DEFAULT_MODEL in said["hybrid"]


# The list of texts


def test_a_model_trained_again_in_its_folder_is_another_one(minilm: Encoder, tmp_path: Path) -> None:
    """Results say which weights they were matched with: by the path alone two trainings would count as one model."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in minilm.folder.iterdir():
        (folder / file.name).symlink_to(file)
    said = []
    for length in (128, 64):
        settings_file = folder / "sentence_bert_config.json"
        settings_file.unlink()
        settings_file.write_text(json.dumps({"max_seq_length": length, "do_lower_case": False}))
        for name in (str(folder), f"hybrid:{folder}"):
            text = make_scorer(matcher=name).score(["I10"], [["I10"]]).info["candidates"]
            assert str(folder) in text
            said.append(text)
    assert len(set(said)) == 4
    assert "sha256" not in make_scorer(matcher="hybrid").score(["I10"], [["I10"]]).info["candidates"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=20), st.text(max_size=30))
def test_the_list_knows_its_texts_in_any_spelling(texts: list[str], other: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_trained_on(Path(folder), texts, {"system": "icd10cm"})
        found = trained_on(Path(folder))
    assert all(fold(text.upper()) in found or fold(text.upper()) != fold(text) for text in texts)
    assert all(fold(text) in found for text in texts)
    assert (fold(other) in found) == (fold(other) in {fold(text) for text in texts})


def test_a_model_that_nobody_here_trained_has_no_list(tmp_path: Path) -> None:
    assert len(trained_on(tmp_path)) == 0
    assert "gout" not in trained_on(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", '{"texts": 3}', '{"texts": [3]}', "[]", "\x00"])
def test_a_damaged_list(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{NAME}: not the list of texts .* Train the model again"):
        trained_on(tmp_path)


def test_a_model_is_not_evaluated_on_what_it_was_trained_on(minilm: Encoder, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(minilm.folder, folder)
    system = SmallSystem()
    held_out, known = split(pairs_of(system), 20)
    write_trained_on(folder, [pair.text for pair in known], {})
    assert matcher_of(str(folder), system, known, held_out)  # trained on the others: fine
    write_trained_on(folder, [known[0].text, held_out[3].text], {})
    for name in (str(folder), f"hybrid:{folder}"):
        with pytest.raises(InputError, match=r"was trained on 1 of the 20 held-out texts, e\.g\. .* is no evidence"):
            matcher_of(name, system, known, held_out)
    assert digest("gout") != digest("gouty")


# Reliability


def _measured(found: list[Match | None]) -> Measured:
    return Measured("x", {}, len(found), 0, 0.001, 0.5, found)


def test_reliability_by_hand() -> None:
    """Four texts with 0.95, of which three have the right category (0.75), and two with 0.15, none right.
    The expected calibration error is (4 × 0.20 + 2 × 0.15) / 6."""
    pairs = [Pair(str(number), ("I10",)) for number in range(7)]
    found = [
        *(Match(code, "embedding", 0.7, 0.95) for code in ("I10", "I10", "I10", "J18.9")),
        *(Match("J18.9", "embedding", 0.6, 0.15) for _ in range(2)),
        None,  # left out: nothing was said
    ]
    result = reliability(_measured(found), pairs, get_system("icd10cm"))
    assert result.of == "confidence"
    assert [(each.texts, each.right.value, round(each.said, 2)) for each in result.bins] == [
        (2, 0, 0.15),
        (4, 0.75, 0.95),
    ]
    assert result.error == pytest.approx((4 * 0.20 + 2 * 0.15) / 6)


def test_a_matcher_without_confidence_has_its_similarities(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `train`)")
    pairs = [Pair("a", ("I10",)), Pair("b", ("I10",))]
    found: list[Match | None] = [Match("I10", "embedding", 1.0), Match("J18.9", "embedding", 0.31)]
    result = reliability(_measured(found), pairs, get_system("icd10cm"))
    assert result.of == "similarity"
    assert [(each.texts, each.right.value) for each in result.bins] == [(1, 0), (1, 1)]
    draw([result], "category", tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"--reliability .* Give a \.png or \.svg"):
        draw([result], "category", tmp_path / "none" / "figure.png")


def test_the_table_says_how_many_codes_are_the_same() -> None:
    """The second takes two of three texts for the same code as the first: "no match" is the same as "no match"."""
    system = get_system("icd10cm")
    first = _measured([Match("I10", "title", 1.0), None, Match("J18.9", "embedding", 0.7)])
    second = _measured([Match("I10", "embedding", 0.9), None, Match("J18.1", "embedding", 0.8)])
    assert second.same_codes(first) == pytest.approx(2 / 3)
    assert "66.7" in format_measured([first, second])
    told = as_json([first, second])
    assert [each["same_codes_as_first"] for each in told] == [1.0, pytest.approx(2 / 3)]
    assert json.loads(json.dumps(told)) == told  # nothing in it that JSON has not
    assert system.name == "icd10cm"


# The runner-up


def test_the_runner_up_is_the_next_code(minilm: Encoder, tmp_path: Path) -> None:
    """Brute force over all titles: the best of another code than the winner's."""
    system = SmallSystem()
    matcher = Matcher(system, minilm, threshold=-1.0, cache_dir=tmp_path)
    texts = ["weak heart", "sugar disease with sore feet", "inflamed appendix"]
    vectors = minilm.encode(texts) @ matcher.index.vectors.astype("float32").T
    for match, similar in zip(matcher.match(texts), vectors, strict=True):
        assert match is not None
        codes = matcher.index.codes
        others = {code: float(score) for code, score in zip(codes, similar, strict=True) if code != match.code}
        assert match.runner_up is not None
        assert others[match.runner_up] >= max(others.values()) - 2e-3  # bfloat16 queries are that rough


def test_the_command_refuses_what_it_cannot_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matcher", "evaluate", "--matcher", "papper"]) == 2
    assert "papers" in capsys.readouterr().err
    assert main(["matcher", "evaluate", "--matcher", "./no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["no/such/folder/x.png", "x.foo", "x"])
def test_a_picture_that_cannot_be_drawn_is_said_before_anything_is_measured(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `train`)")
    monkeypatch.setattr("clinical_evals.matching.evaluation.measured.measure", lambda *args: pytest.fail("measured"))
    assert main(["matcher", "evaluate", "--matcher", "papers", "--reliability", str(tmp_path / place)]) == 2
    assert f"--reliability {tmp_path / place}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["papers", "hybrid"])
def test_what_is_no_list_of_texts(name: str) -> None:
    """One text is not read letter by letter, and what is no text is named with its place."""
    matcher = make_scorer(matcher=name).matcher
    with pytest.raises(InputError, match=r"a list of texts, not one text: give \['HTN'\]"):
        matcher.match("HTN")
    with pytest.raises(InputError, match="text 1 to be matched is None: expected a text"):
        matcher.match(["HTN", None])  # type: ignore[list-item]  # it is refused
