"""CliBench as lighteval finds it, by module and by path, and what its own command line can and cannot do."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lighteval.tasks.registry import Registry

from clinical_evals.clibench.prompts import SYSTEM, TASK_PROMPTS
from clinical_evals.errors import InputError
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.tasks import clibench, plain_context
from clinical_evals.tasks.metrics import CLIBENCH_KEYS, AnswerAndGold, HierarchicalScores
from clinical_evals.tasks.names import known_names
from clinical_evals.tasks.prediction_log import hash_row


@pytest.fixture(scope="module")
def row(repository: Path) -> dict[str, Any]:
    content = json.loads((repository / "datasets" / "clibench" / "data" / "diagnosis" / "test.json").read_text())
    first: dict[str, Any] = content["rows"][0]
    return first


@pytest.fixture(autouse=True)
def _warn_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(plain_context.CONTEXT_VARIABLE, raising=False)
    plain_context.assumed_context.cache_clear()
    yield
    plain_context.assumed_context.cache_clear()


@pytest.mark.parametrize("asked", ["clibench:diagnosis", "clibench:diagnosis|0", "custom|clibench:diagnosis|0"])
@pytest.mark.parametrize("by_path", [False, True])
def test_lighteval_finds_the_task(
    asked: str, by_path: bool, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Registry, "_load_from_files", staticmethod(lambda *_: {}))  # its own tasks: one downloads
    monkeypatch.setattr(Registry, "_load_from_subdirs", staticmethod(lambda *_: {}))
    custom = str(repository / "lighteval_tasks" / "clibench.py") if by_path else "clinical_evals.tasks.clibench"
    registry = Registry(tasks=asked, custom_tasks=custom)
    (config,) = registry.task_to_configs["clibench:diagnosis"]
    assert (config.hf_repo, config.hf_subset, tuple(config.evaluation_splits)) == ("clibench", "diagnosis", ("test",))
    assert config.generation_size == 650


def test_our_names_are_those_of_the_table() -> None:
    assert [config.name for config in clibench.TASKS_TABLE] == [
        name for name in known_names() if name.startswith("clibench:")
    ]


def test_a_row_becomes_a_document(row: dict[str, Any]) -> None:
    doc = clibench.record_to_doc(row, "clibench:diagnosis")
    assert doc.query.startswith(f"{SYSTEM}\n\n{TASK_PROMPTS['diagnosis'].instruction}")
    assert doc.query.endswith(TASK_PROMPTS["diagnosis"].question)
    assert row["record"].strip() in doc.query
    assert doc.get_golds() == row["codes"]
    assert doc.specific is not None
    assert doc.specific["subject_id"] == row["subject_id"]
    assert doc.specific["data_sha256"] == hash_row(row)
    assert "hadm_id" not in doc.specific


def test_the_plain_command_line_cuts_to_an_estimate_and_says_so_once(
    row: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        cut = [clibench.record_to_cut_doc({**row, "__index": i}, "clibench:diagnosis") for i in range(3)]
    (warning,) = caplog.messages
    assert "2048 tokens (assumed; CLINICAL_EVALS_CONTEXT=8192 sets it)" in warning
    assert "clinical-evals eval accelerate" in warning
    whole = clibench.record_to_doc(row, "clibench:diagnosis").query
    assert len(cut[0].query) < len(whole)
    assert plain_context.EstimatedTokens().count(cut[0].query) <= 2048 - 650
    assert cut[0].query.endswith(TASK_PROMPTS["diagnosis"].question)
    assert cut[0].specific is not None
    assert 0 < cut[0].specific["kept_long"] < cut[0].specific["kept_prompt"] < 1


def test_the_context_can_be_told(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plain_context.CONTEXT_VARIABLE, "8192")
    cut = clibench.record_to_cut_doc(row, "clibench:diagnosis")
    assert cut.query == clibench.record_to_doc(row, "clibench:diagnosis").query


@pytest.mark.parametrize("value", ["", "8k", "-1", "0"])
def test_a_context_that_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plain_context.CONTEXT_VARIABLE, value)
    with pytest.raises(InputError, match=f"CLINICAL_EVALS_CONTEXT='{value}': expected"):
        plain_context.assumed_context()


def test_the_metric_gives_what_the_scorer_gives_in_any_order_of_rows() -> None:
    rows = [("I10", ["I10", "E11.9"]), ("", ["R50.9"]), ("E11.9\nE11.99", ["E11.9"])]
    items = [{"row": i, "answer": answer, "gold": gold} for i, (answer, gold) in enumerate(rows)]
    found = HierarchicalScores("icd10cm").compute_corpus(list(reversed(items)))
    scored = CodeScorer("icd10cm").score([answer for answer, _ in rows], [gold for _, gold in rows])
    assert found == {key: scored.scores()[key] for key in CLIBENCH_KEYS}
    # Predicted: I10; nothing; E11.9 and an invalid code. Right: 2 of 3 predicted, of 4 in the gold.
    assert found["f1_full"] == 2 * 2 / (3 + 4)
    assert (found["invalid_codes"], found["empty_answers"]) == (1, 1)


def test_what_the_metric_takes_from_a_document(row: dict[str, Any]) -> None:
    from lighteval.models.model_output import ModelResponse

    doc = clibench.record_to_doc(row, "clibench:diagnosis")
    doc.id = "12"
    response = ModelResponse(text=["<think>…</think>I10"], text_post_processed=["I10"])
    item = AnswerAndGold().compute(doc, response)
    assert item == {"row": 12, "answer": "<think>…</think>I10", "gold": row["codes"]}
