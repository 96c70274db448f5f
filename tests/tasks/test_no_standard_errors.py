"""lighteval's own standard errors, which are about 32 times too small for corpus metrics, are nowhere."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lighteval.logging.info_loggers import MetricsLogger

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.metrics import CLIBENCH_KEYS, IOR_KEYS, hierarchical_scores, referral_scores
from clinical_evals.tasks.options import Options

CODES = [{"row": row, "answer": "I10", "gold": ["I10", "E46"]} for row in range(4)]
REFERRALS = [{"row": row, "answers": ["外科"], "gold": "外科", "candidates": ["外科", "内科"]} for row in range(4)]


@pytest.mark.parametrize(
    ("metric", "rows", "keys"),
    [
        (hierarchical_scores("icd10cm"), CODES, CLIBENCH_KEYS),
        (hierarchical_scores("icd10cm", "official"), CODES, CLIBENCH_KEYS),
        (referral_scores(votes=False), REFERRALS, IOR_KEYS),
    ],
)
def test_lighteval_adds_none_to_our_metrics(metric: Any, rows: list[Any], keys: tuple[str, ...]) -> None:
    """Also from its own command line, which bootstraps 1,000 times: our metrics return several scores at once."""
    logger = MetricsLogger()
    for row in rows:
        logger.log("a:b|0", {metric.metric_name: row})
    logger.aggregate({"a:b|0": SimpleNamespace(aggregation=lambda: metric.get_corpus_aggregations())}, 1000)
    assert set(logger.metric_aggregated["a:b|0"]) == set(keys)


def test_a_run_writes_and_prints_none(
    chain_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our launcher asks for none, whatever a metric returns."""
    from lighteval import pipeline

    asked: list[int] = []
    parameters = pipeline.PipelineParameters

    def noted(**given: Any) -> Any:
        made = parameters(**given)
        asked.append(made.bootstrap_iters)
        return made

    monkeypatch.setattr(pipeline, "PipelineParameters", noted)
    evaluate(Options(f"model_name={chain_model},dtype=float32", "clibench|diagnosis", tmp_path, 2, 2))
    assert asked == [0]
    (file,) = tmp_path.rglob("results_*.json")
    assert "stderr" not in file.read_text()
    assert set(json.loads(file.read_text())["results"]["clibench:diagnosis|0"]) == set(CLIBENCH_KEYS)
    assert "stderr" not in capsys.readouterr().out.lower()
