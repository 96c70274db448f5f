"""One task asked in several ways: ablations and contexts, from the command's words to the tables."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from varied_model import varied_model

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.clibench.prompts import TASK_PROMPTS, only_shown, user_text
from clinical_evals.clibench.segments import Segments
from clinical_evals.errors import InputError
from clinical_evals.report.published_tables import PUBLISHED
from clinical_evals.scoring.hierarchy import scores
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.names import parse_tasks
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.tasks.scored.code_results import CodeResult
from clinical_evals.tasks.scored.rescore import rescore
from clinical_evals.tasks.scored.studies import compare_ways
from clinical_evals.tasks.scored.tables import format_results
from clinical_evals.tasks.variants import SEGMENTS, Variant, parse_contexts, parse_without, tasks_of, variants_of

ROWS, TOKENS = 6, 20


@pytest.fixture(scope="module")
def model(shared: Path, tokenizer: Any) -> Path:
    """Answers something else wherever the prompt is another."""
    return varied_model(shared, tokenizer)


def run(model: Path, out: Path, **asked: Any) -> list[CodeResult]:
    options = Options(f"model_name={model},dtype=float32", "clibench|diagnosis", out, ROWS, 4, answer_tokens=TOKENS)
    results = evaluate(options._replace(**asked))
    assert all(isinstance(result, CodeResult) for result in results)
    return results  # type: ignore[return-value]  # just looked at


# What is asked for


def test_the_ways_that_are_asked_for() -> None:
    tasks = parse_tasks("clibench|diagnosis")
    assert variants_of((), (), tasks) == [Variant()]
    assert variants_of((), (4096,), tasks) == [Variant((), 4096)]
    # What the others are compared with comes first: the whole prompt, the longest context.
    asked = parse_without("Record, labs+radiology")
    assert variants_of(asked, (), tasks) == [Variant(), Variant(("record",)), Variant(("radiology", "labs"))]
    assert variants_of((), parse_contexts("4096,8192"), tasks) == [Variant((), 8192), Variant((), 4096)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("notes", "'notes' is no part of a prompt; expected profile, history, record, radiology, labs"),
        ("record,", "'' is no part of a prompt"),
        ("record,record", "record is there twice"),
        ("record+record", r"record\+record is there twice"),
        ("labs+record,record+labs", r"record\+labs is there twice"),
    ],
)
def test_words_that_are_none(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_without(text)


@pytest.mark.parametrize(
    ("text", "said"), [("4k", "whole number"), ("4096,", "whole number"), ("0", "at least 1"), ("512,512", "twice")]
)
def test_contexts_that_are_none(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_contexts(text)


def test_studies_that_cannot_be() -> None:
    with pytest.raises(InputError, match="are two studies"):
        variants_of((("record",),), (4096, 8192), parse_tasks("clibench"))
    with pytest.raises(InputError, match="--without is for the tasks of clibench; ior_bench:static_cot cannot use it"):
        variants_of((("record",),), (), parse_tasks("clibench|diagnosis,ior_bench|static_cot"))
    with pytest.raises(InputError, match="--context with several numbers is for the tasks of clibench"):
        variants_of((), (4096, 8192), parse_tasks("ior_bench|dynamic_h1"))
    with pytest.raises(InputError, match=r"--without labs: no prompt here has that \(clibench:procedure: "):
        tasks_of(Variant(("labs",)), parse_tasks("clibench|procedure"))
    names = [task.config for task in tasks_of(Variant(("labs",)), parse_tasks("clibench"))]
    assert names == ["diagnosis"]  # the other three do not show them


# Prompts

PARTS = Segments("Sex: female", "I10 Essential hypertension", "Chest pain.", "No effusion.", "Sodium: 131")


@pytest.mark.parametrize("segment", SEGMENTS)
def test_a_part_that_is_left_out_leaves_no_trace(segment: str) -> None:
    whole, cut = user_text("diagnosis", PARTS), user_text("diagnosis", PARTS, [segment])
    text = getattr(PARTS, segment)
    assert whole.count(text) == 1
    assert text not in cut
    assert whole.count("## ") == cut.count("## ") + 1  # the heading goes too
    assert "None available" not in cut  # it is not said that there was nothing
    assert only_shown("diagnosis", PARTS, [segment]) == PARTS._replace(**{segment: ""})


def test_what_a_task_does_not_show_is_neither_cut_nor_counted() -> None:
    for task in ("procedure", "lab_order", "prescription"):
        assert TASK_PROMPTS[task].shown == ("profile", "record")
        assert only_shown(task, PARTS) == Segments("Sex: female", "", "Chest pain.", "", "")


# Runs


def test_an_ablation(model: Path, tmp_path: Path) -> None:
    (alone,) = run(model, tmp_path)
    results = run(model, tmp_path, without=parse_without("record,labs+radiology"), protocol="both")
    whole, record, seen = (result for result in results if result.protocol == "standard")
    assert (whole.log, whole.resumed) == (alone.log, ROWS)  # the whole prompt is the usual run: nothing is asked twice
    assert len({whole.log, record.log, seen.log}) == 3
    assert [result.variant().without for result in (whole, record, seen)] == [(), ("record",), ("radiology", "labs")]
    assert "## Record at admission" in whole.lines[0]["prompt"]
    assert "## Record at admission" not in record.lines[0]["prompt"]
    assert "## Laboratory results" in record.lines[0]["prompt"]
    assert [line["answers"] for line in whole.lines] != [line["answers"] for line in record.lines]

    study = compare_ways([whole, record, seen])
    assert [way.differences is None for way in study.ways] == [True, False, False]
    for way, result in zip(study.ways[1:], (record, seen), strict=True):
        assert way.differences is not None
        ours, theirs = scores(result.scored.counts), scores(whole.scored.counts)
        for key, (value, low, high) in way.differences.items():
            assert value == pytest.approx(ours[key] - theirs[key]), key
            assert -1 <= low <= high <= 1

    text = format_results(results, published=PUBLISHED)
    assert text.count("clibench:diagnosis, 6 rows, standard protocol: what each part of the prompt is worth") == 1
    assert text.count("clibench:diagnosis, 6 rows, official protocol: what each part of the prompt is worth") == 1
    assert "\nwithout radiology and labs " in text
    assert "published: without medical record at admission -14.96 -14.06 -14.58\n" in re.sub(" +", " ", text)
    files = sorted(tmp_path.glob("clibench_diagnosis_ablation-varied-model-????????*.json"))
    assert [path.name[len("clibench_diagnosis_ablation-varied-model-12345678") :] for path in files] == [
        ".json",
        ".official.json",
    ]
    for path in files:
        found = json.loads(path.read_text())
        assert [way["without"] for way in found["ways"]] == [[], ["record"], ["radiology", "labs"]]
        assert all((tmp_path / way["log"]).is_file() for way in found["ways"])

    # A log of an ablation says so wherever it is scored again.
    (again,), _ = rescore(record.log)
    assert format_results([again]).startswith("clibench:diagnosis without record, 6 rows")
    assert json.loads(record.log.with_name("summary.json").read_text())["without"] == ["record"]
    assert "without" not in json.loads(whole.log.with_name("summary.json").read_text())


def test_contexts(model: Path, tmp_path: Path) -> None:
    longest, shorter, shortest = run(model, tmp_path, contexts=(700, 900, 1500))
    room = [read_log(result.log)[0]["run"]["settings"]["context"] for result in (longest, shorter, shortest)]
    assert room == [1500, 900, 700]
    for result, context in zip((longest, shorter, shortest), room, strict=True):
        assert all(line["input_tokens"] <= context - TOKENS for line in result.lines)
    study = compare_ways([longest, shorter, shortest])
    kept = [way.kept["mean"] for way in study.ways]
    assert kept == sorted(kept, reverse=True)
    text = format_results([longest, shorter, shortest], published=PUBLISHED)
    table = text[text.index("what a context keeps") :].splitlines()
    assert [line.split()[0] for line in table[3:6]] == ["700", "900", "1,500"]
    assert "4,096 (LLaMA2 series, published) - 53.82 48.90 2.50 -" in re.sub(" +", " ", text)
    (path,) = tmp_path.glob("clibench_diagnosis_contexts-*.json")
    assert [way["context"] for way in json.loads(path.read_text())["ways"]] == room
    # The same context alone is the same run.
    (again,) = run(model, tmp_path, contexts=(900,))
    assert (again.log, again.resumed) == (shorter.log, ROWS)


def test_a_context_that_the_model_has_not_is_said_before_anything_is_asked(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--context 99999: .* reads at most"):
        run(model, tmp_path, contexts=(900, 99999))
    assert not list(tmp_path.rglob("predictions.jsonl"))


def test_only_rows_that_all_ways_answered_are_compared(model: Path, tmp_path: Path) -> None:
    """An endpoint may leave a row without an answer in one of the runs: as if row 2 were missing there."""
    whole, record = run(model, tmp_path, without=(("record",),))
    place = next(number for number, line in enumerate(record.lines) if line["row"] == record.lines[2]["row"])
    fewer = [line for number, line in enumerate(record.lines) if number != place]
    from clinical_evals.tasks.scored.code_results import score_codes

    study = compare_ways([whole, score_codes(record.task, record.log, 0, fewer, "standard")])
    assert (study.rows, study.most_rows) == (ROWS - 1, ROWS)
    kept = [number for number in range(ROWS) if number != place]
    assert dict(study.ways[0].scores) == scores(whole.scored.counts.take(kept))
    assert dict(study.ways[1].scores) == scores(record.scored.counts.take(kept))
