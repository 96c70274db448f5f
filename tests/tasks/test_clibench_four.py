"""The four decisions of CliBench in one run, on a MIMIC of a few stays that was built for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from chain_model import write_chain_model
from small_mimic import LAB_MAP, write_mimic

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.matching.encoder import DEFAULT_MODEL
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.explain import explain
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.tables import format_results
from clinical_evals.tasks.show import format_prompt

pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
TASKS = {"diagnosis": 3, "procedure": 2, "lab_order": 2, "prescription": 2}
"""By task its rows in the test split."""


@pytest.fixture
def built(tmp_path: Path, written_releases: Path, fresh_scorers: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    from clinical_evals.datasets_hub.build_clibench import Request, build_clibench

    (written_releases / "d_labitems_to_loinc.csv").write_text(LAB_MAP)
    mimic = write_mimic(tmp_path / "mimic")
    out = tmp_path / "built"
    build_clibench(Request(mimic, mimic, out), lambda line: None)
    monkeypatch.setenv("CLIBENCH_DIR", str(out))
    return out


@pytest.fixture(scope="module")
def model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists metformin, whatever it is asked."""
    return write_chain_model(tmp_path_factory.mktemp("four") / "chain", tokenizer, "1. metformin", context=4000)


@pytest.fixture(scope="module")
def coder(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says I10: a code of ICD-10-CM, so that nothing is sought among its 98,000 titles, whose index takes minutes."""
    return write_chain_model(tmp_path_factory.mktemp("coder") / "chain", tokenizer, "I10", context=4000)


def options(model: Path, out: Path, **changes: Any) -> Options:
    usual = Options(f"model_name={model},dtype=float32", "clibench", out, batch_size=4, answer_tokens=12)
    return usual._replace(**changes)


def test_four_tables_from_one_run(built: Path, coder: Path, tmp_path: Path) -> None:
    """All three stays have I10, two of them one other diagnosis each: 3 of 3 predicted, 3 of 5 gold."""
    results = evaluate(options(coder, tmp_path / "runs"))
    assert {result.task.config: len(result.lines) for result in results} == TASKS
    diagnosis = results[0].scored.scores()
    assert (diagnosis["precision_full"], diagnosis["recall_full"]) == (1, 3 / 5)
    text = format_results(results)
    for task in TASKS:
        assert f"clibench:{task}, {TASKS[task]} rows, standard protocol" in text
    for level in ("chapter", "section", "subgroup", "level4"):
        assert f"\n{level} " in text


def test_both_protocols_at_their_own_levels(built: Path, model: Path, tmp_path: Path) -> None:
    """Metformin is the one drug of both stays, and no title of the other systems: those are matched by similarity."""
    asked = ("procedure", "lab_order", "prescription")
    results = evaluate(
        options(model, tmp_path / "runs", tasks=",".join(f"clibench|{task}" for task in asked), protocol="both")
    )
    assert [(result.task.config, result.protocol) for result in results] == [
        (task, protocol) for task in asked for protocol in ("standard", "official")
    ]
    scores = results[-2].scored.scores()
    assert (scores["f1_full"], scores["f1_average"], scores["share_title"]) == (1, 1, 1)
    text = format_results(results)
    assert "\nleaf " in text
    assert "d_labitems" not in text  # whose itemids are no gold of ours
    assert "LOINC numbers stand in for MIMIC's itemids" in text
    assert "--dictionary prescriptions.csv.gz gives it" in text


@pytest.fixture(scope="module")
def speller(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists a drug that is no title, but is spelled like metformin and like no other."""
    return write_chain_model(tmp_path_factory.mktemp("speller") / "chain", tokenizer, "1. metformine", context=4000)


def test_a_run_is_scored_with_the_matcher_that_is_asked_for(built: Path, speller: Path, tmp_path: Path) -> None:
    """Metformin is the one drug of both stays. The same answers are scored again as the protocol says into a file of
    their own, and those of the run stay."""
    asked = options(speller, tmp_path / "runs", tasks="clibench|prescription", matcher="hybrid")
    (result,) = evaluate(asked)
    scores = result.scored.scores()
    assert (scores["f1_full"], scores["share_embedding"]) == (1, 1)
    said = f"hybrid, {DEFAULT_MODEL}"
    assert result.about()["candidates"].endswith(said)
    assert f"{said}; not to be compared with other matchers' numbers" in format_results([result])
    summary = result.log.with_name("summary.json")
    before = summary.read_bytes()
    assert json.loads(before)["candidates"] == result.about()["candidates"]
    (papers,), files = rescore(result.log)
    assert "stays as it is" in files
    assert summary.read_bytes() == before
    assert papers.about()["candidates"] != result.about()["candidates"]
    (again,), files = rescore(result.log, matcher="hybrid")
    assert files == "beside it scored.jsonl and summary.json"
    assert again.scored.scores() == scores


def test_a_log_of_each_task_is_scored_and_explained_again(built: Path, coder: Path, tmp_path: Path) -> None:
    for result in evaluate(options(coder, tmp_path / "runs")):
        (again,), _ = rescore(result.log)
        assert again.scored.scores() == result.scored.scores()
        shown = explain(result.log, result.lines[0]["row"])
        assert "[gold]" in shown
        assert "found at:" in shown


def test_only_the_diagnosis_task_shows_results_and_history(built: Path) -> None:
    shown = {task: format_prompt(f"clibench|{task}", 0) for task in TASKS}
    assert "## Laboratory results" in shown["diagnosis"]
    for task in ("procedure", "lab_order", "prescription"):
        assert "## Record at admission" in shown[task]
        assert "## Laboratory results" not in shown[task]
        assert "X-ray: first" not in shown[task]
        assert "Known only later" not in shown[task]


def test_a_dictionary_is_of_one_task(built: Path, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "mimic" / "hosp" / "d_labitems.csv"
    with pytest.raises(InputError, match=r"is of one code system, .* ask for atc, icd10cm, icd10pcs, loinc"):
        evaluate(options(model, tmp_path / "runs", protocol="official", dictionary=path))
    with pytest.raises(InputError, match="the gold of clibench:lab_order are LOINC numbers"):
        evaluate(options(model, tmp_path / "runs", tasks="clibench|lab_order", protocol="official", dictionary=path))


def test_drugs_of_mimics_own_names(built: Path, model: Path, tmp_path: Path) -> None:
    """The NDC of "Metformin" is A10BA02; "metformin" equals it. Prefixes of 1, 2, 3 and of all but the last one."""
    path = tmp_path / "mimic" / "hosp" / "prescriptions.csv"
    (result,) = evaluate(
        options(model, tmp_path / "runs", tasks="clibench|prescription", protocol="official", dictionary=path)
    )
    assert result.scored.counts.values.tolist() == [[[1, 1, 1]] * 4] * 2
    assert "00087606005 (not of the release)" in explain(result.log, 0, "official", path)


def test_missing_files_are_said_before_the_model_is_loaded(
    built: Path, model: Path, tmp_path: Path, written_releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clinical_evals.ontology.atc import atc
    from clinical_evals.tasks import launcher

    (written_releases / "who_atc_ddd_2031-01-02.csv").unlink()
    atc.cache_clear()
    monkeypatch.setattr(launcher, "_load_model", None)
    with pytest.raises(ResourceMissingError, match="clinical-evals resources add atc FILE"):
        evaluate(options(model, tmp_path / "runs"))
