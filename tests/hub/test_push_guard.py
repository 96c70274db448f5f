"""The guard at the door of `push`: what it refuses opens no connection, and what is legitimate goes through."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import Hub
from mimic_like import ADMISSIONS, CLEAN_NOTE, NOTE, REPORT, SECRET_WORDS, SUBJECTS
from push_folders import DATASET_CARD, MODEL_CARD, SPACE_CARD, adapter, dataset, metric
from test_guard_accepts import LEGITIMATE as LEGITIMATE_CONTENT
from test_guard_refuses import ATTEMPTS as REFUSED_CONTENT

from clinical_evals.hub.consent import LEDGER
from clinical_evals.hub.inspection import Rows
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

CONSENT = "Jane Doe, 2026-01-31"
PUBLIC_WITH_CONSENT = ("--public", "--dua-consent", CONSENT)


class Door(NamedTuple):
    """What to push: KIND PATH REPO and more options."""

    words: tuple[object, ...]


def of_paths(cases: list[Any]) -> list[Any]:
    """The cases of the guard's own tests that are files or folders, not rows."""
    return [case for case in cases if case.values[0].__annotations__["return"] is not Rows]


ATTEMPTS: list[Any] = []
Build = Callable[[Path], Door]


def attempt(rule: str) -> Callable[[Build], Build]:
    def collect(build: Build) -> Build:
        ATTEMPTS.append(pytest.param(build, rule, id=build.__name__))
        return build

    return collect


def as_any_kind(number: int, case: Any) -> Any:
    """Content of the guard's tests, brought to the doors in turn: as results, or beside what a kind demands."""
    content, rule = case.values

    def build(folder: Path) -> Door:
        made = content(folder)
        if made.is_file() and number % 4 == 0:
            return Door(("results", made, "org/results"))
        kind = ("dataset", "metric", "model")[number % 3]
        if kind == "dataset" and not (folder / "README.md").exists():
            dataset(folder)
        elif kind == "metric" and not (folder / "README.md").exists():
            metric(folder)
        elif kind == "model":
            card = (folder / "README.md").read_text() if (folder / "README.md").exists() else MODEL_CARD
            adapter(folder)
            (folder / "README.md").write_text(card)
        return Door((kind, folder, "org/letter_share"))

    return pytest.param(build, rule, id=case.id)


@attempt("marker")
def a_build_of_clibench(folder: Path) -> Door:
    dataset(folder, card=DATASET_CARD.replace("license: apache-2.0", f"license: other\ntags:\n- {MIMIC_MARKER}"))
    return Door(("dataset", folder, "org/clibench"))


@attempt("marker")
def a_build_whose_card_was_replaced(folder: Path) -> Door:
    dataset(folder)
    rows = pa.table({"codes": [["I10"]]}).replace_schema_metadata({"clinical_evals_source": MIMIC_MARKER})
    pq.write_table(rows, folder / "letters" / "test.parquet")
    return Door(("dataset", folder, "org/not-mimic"))


@attempt("patient marker")
def a_build_of_a_hospitals_questions(folder: Path) -> Door:
    dataset(folder)
    rows = pa.table({"dialogue": ["我头疼三天了"]}).replace_schema_metadata({"clinical_evals_source": PATIENT_MARKER})
    pq.write_table(rows, folder / "letters" / "train.parquet")
    return Door(("dataset", folder, "org/questions"))


@attempt("id column")
def rows_as_gzipped_csv_beside_a_clean_dataset(folder: Path) -> Door:
    sink = io.StringIO()
    csv.writer(sink).writerows([["k", "v"], *zip(SUBJECTS, ADMISSIONS, strict=True)])
    (dataset(folder) / "letters" / "more.csv.gz").write_bytes(gzip.compress(sink.getvalue().encode()))
    return Door(("dataset", folder, "org/letters"))


@attempt("note")
def a_workbook_of_notes(folder: Path) -> Door:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in NOTE.splitlines():
        book.active.append([line])
    dataset(folder)
    book.save(folder / "notes.xlsx")
    return Door(("dataset", folder, "org/letters"))


@attempt("note")
def a_dataset_card_that_quotes_a_note(folder: Path) -> Door:
    dataset(folder, card=f"{DATASET_CARD}\nA row:\n\n{NOTE}")
    return Door(("dataset", folder, "org/letters"))


@attempt("note")
def a_metric_card_that_quotes_a_report(folder: Path) -> Door:
    (metric(folder) / "README.md").write_text(f"{SPACE_CARD}\nFor example:\n\n{REPORT}")
    return Door(("metric", folder, "org/letter_share"))


@attempt("column name")
def a_metric_with_ids_in_its_script(folder: Path) -> Door:
    (metric(folder) / "letter_share.py").write_text(f'EXAMPLE = {{"hadm_id": {ADMISSIONS[0]}}}\n')
    return Door(("metric", folder, "org/letter_share"))


@attempt("note")
def cases_of_a_metric_in_a_folder_below(folder: Path) -> Door:
    (metric(folder) / "tests").mkdir()
    (folder / "tests" / "cases.json").write_text(json.dumps([{"predictions": NOTE, "references": ["I10"]}]))
    return Door(("metric", folder, "org/letter_share"))


@attempt("marker")
def an_adapter_with_the_note_of_check_recipe(folder: Path) -> Door:
    return Door(("model", adapter(folder, MIMIC_MARKER), "org/adapter"))


@attempt("marker")
def an_adapter_whose_template_is_marked(folder: Path) -> Door:
    (adapter(folder, "") / "chat_template.jinja").write_text(
        f"{{# source of the training rows: {MIMIC_MARKER} #}}{{{{ messages }}}}"
    )
    return Door(("model", folder, "org/adapter"))


@attempt("marker")
def an_adapter_whose_template_lies_in_the_tokenizers_settings(folder: Path) -> Door:
    template = f"{{# source of the training rows: {MIMIC_MARKER} #}}{{{{ messages }}}}"
    (adapter(folder) / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    return Door(("model", folder, "org/adapter"))


@attempt("marker")
def an_adapter_that_says_both(folder: Path) -> Door:
    (adapter(folder, SYNTHETIC_MARKER) / "training.md").write_text(f"Rows: {MIMIC_MARKER}\n")
    return Door(("model", folder, "org/adapter"))


@attempt("no marker")
def an_adapter_whose_marks_were_taken_out(folder: Path) -> Door:
    return Door(("model", adapter(folder, ""), "org/adapter"))


@attempt("marker")
def a_marked_adapter_and_other_words(folder: Path) -> Door:
    return Door(("model", adapter(folder, MIMIC_MARKER), "org/adapter", "--trained-on", "invented rows"))


@attempt("marker")
def a_merged_model(folder: Path) -> Door:
    adapter(folder, "")
    (folder / "adapter_config.json").unlink()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "clinical_evals_source": MIMIC_MARKER}))
    return Door(("model", folder, "org/merged"))


@attempt("patient marker")
def a_model_of_a_hospitals_rows(folder: Path) -> Door:
    return Door(("model", adapter(folder, PATIENT_MARKER), "org/adapter"))


@attempt("marker")
def a_prediction_log(folder: Path) -> Door:
    lines = [{"header": True, "source": MIMIC_MARKER}, {"row": 0, "answer": "I10"}]
    (folder / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "summary.json").write_text(json.dumps({"scores": {"f1_full": 0.1}}))
    return Door(("results", folder, "org/results", "--with-rows"))


@attempt("column name")
def scored_rows(folder: Path) -> Door:
    (folder / "run").mkdir()
    (folder / "run" / "scored.official.jsonl").write_text(json.dumps({"row": 3, "hadm_id": ADMISSIONS[3]}) + "\n")
    return Door(("results", folder, "org/results", "--with-rows"))


@attempt("no marker")
def scored_rows_of_a_hospital_without_their_log(folder: Path) -> Door:
    rows = {"row": 0, "answers": ["挂消化内科"], "gold": "肛肠科"}
    (folder / "scored.jsonl").write_text(json.dumps(rows))
    return Door(("results", folder / "scored.jsonl", "org/results"))


@attempt("no marker")
def scored_rows_of_another_run_beside_a_synthetic_one(folder: Path) -> Door:
    for run in ("a", "b"):
        (folder / run).mkdir()
        (folder / run / "scored.jsonl").write_text(json.dumps({"row": 0, "answers": ["I10"]}))
    (folder / "a" / "predictions.jsonl").write_text(json.dumps({"source": SYNTHETIC_MARKER}))
    return Door(("results", folder, "org/results", "--with-rows"))


@attempt("patient marker")
def transcripts_of_a_hospital(folder: Path) -> Door:
    (folder / "transcripts.jsonl").write_text(json.dumps({"source": PATIENT_MARKER}) + "\n{}\n")
    return Door(("results", folder, "org/results", "--with-rows"))


@attempt("note")
def a_summary_with_answers_in_it(folder: Path) -> Door:
    (folder / "summary.json").write_text(json.dumps({"scores": {"f1_full": 0.1}, "worst": {"prompt": NOTE}}))
    return Door(("results", folder, "org/results"))


@attempt("id column")
def an_ablation_by_admission(folder: Path) -> Door:
    by_row = {str(number): 0.5 for number in ADMISSIONS}
    (folder / "clibench_diagnosis_ablation-1a2b.json").write_text(json.dumps({"by_row": by_row}))
    return Door(("results", folder, "org/results"))


@attempt("id column")
def runs_whose_folders_have_the_names_of_patients(folder: Path) -> Door:
    for number in SUBJECTS[:20]:
        (folder / f"p{number}").mkdir()
        (folder / f"p{number}" / "summary.json").write_text("{}")
    return Door(("results", folder, "org/results"))


@attempt("note")
def details_of_lighteval(folder: Path) -> Door:
    pq.write_table(pa.table({"doc": [NOTE], "metric": [0.5]}), folder / "details.parquet")
    return Door(("results", folder / "details.parquet", "org/results"))


ALL_ATTEMPTS = [*ATTEMPTS, *(as_any_kind(number, case) for number, case in enumerate(of_paths(REFUSED_CONTENT)))]


@pytest.mark.parametrize(("build", "rule"), ALL_ATTEMPTS)
def test_refused_without_a_connection(
    hub: Hub, push: Any, tmp_path: Path, build: Build, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sent").mkdir()
    words = build(tmp_path / "sent").words
    rehearsed = [] if words[0] == "dataset" else [("--public", "--dry-run")]  # a third of them less, for the time
    for more in (PUBLIC_WITH_CONSENT, (), *rehearsed):
        code = push(*words, *more)
        printed = capsys.readouterr()
        assert (code, printed.out) == (5, ""), printed
        assert f"[{rule}]" in printed.err
        assert str(words[2]) in printed.err
        assert not re.search(r"(?<!\d)[123]\d{7}(?!\d)", printed.err), "an id is in the message"
        assert not any(word in printed.err.lower() for word in SECRET_WORDS), "words of the note are in the message"
    assert (hub.connections, hub.store.repos) == (0, {})
    assert not (tmp_path / "state" / LEDGER).exists()


def test_there_are_attempts_enough() -> None:
    assert len(ALL_ATTEMPTS) >= 40 <= len(of_paths(REFUSED_CONTENT))


# --- what goes through ----------------------------------------------------------------------------------------------

LEGITIMATE: list[Any] = []


def legitimate(build: Build) -> Build:
    LEGITIMATE.append(pytest.param(build, id=build.__name__))
    return build


def legitimate_content(case: Any) -> Any:
    """A file as results; a folder as a Space, which may hold anything."""

    def build(folder: Path) -> Door:
        made = case.values[0](folder)
        if made.name == "README.md":  # a card alone is no result
            made = made.rename(folder / "report.md")
        if made.is_file():
            return Door(("results", made, "org/results"))
        metric(folder)
        return Door(("metric", folder, "org/letter_share"))

    return pytest.param(build, id=case.id)


@legitimate
def invented_rows(folder: Path) -> Door:
    return Door(("dataset", dataset(folder, CLEAN_NOTE), "org/letters", "--gated", "auto"))


@legitimate
def the_sample_of_ior_bench(folder: Path) -> Door:
    return Door(("dataset", "ior-bench", "org/ior-bench"))


@legitimate
def the_sample_of_clibench(folder: Path) -> Door:
    return Door(("dataset", "clibench", "org/clibench"))


@legitimate
def the_metric_of_codes(folder: Path) -> Door:
    return Door(("metric", "hier_icd_f1", "org/hier_icd_f1"))


@legitimate
def the_metric_of_departments_by_its_folder(folder: Path) -> Door:
    return Door(("metric", Path(__file__).parents[2] / "metrics" / "department_accuracy", "org/department_accuracy"))


@legitimate
def an_adapter_of_invented_rows(folder: Path) -> Door:
    return Door(("model", adapter(folder), "org/adapter"))


@legitimate
def a_model_of_other_data(folder: Path) -> Door:
    return Door(("model", adapter(folder, ""), "org/adapter", "--trained-on", "WikiText-103"))


@legitimate
def scores_of_mimic_without_its_rows(folder: Path) -> Door:
    (folder / "run").mkdir()
    (folder / "run" / "summary.json").write_text(
        json.dumps({"task": "clibench:diagnosis", "scores": {"f1_full": 0.2}})
    )
    (folder / "run" / "predictions.jsonl").write_text(json.dumps({"source": MIMIC_MARKER, "prompt": NOTE}))
    return Door(("results", folder, "org/results"))


@legitimate
def logs_of_the_synthetic_sample(folder: Path) -> Door:
    (folder / "predictions.jsonl").write_text(json.dumps({"source": SYNTHETIC_MARKER, "answer": "I10"}))
    (folder / "scored.jsonl").write_text(json.dumps({"row": 0, "answers": ["I10"]}))
    return Door(("results", folder, "org/results", "--with-rows"))


@legitimate
def zipped_scores(folder: Path) -> Door:
    with zipfile.ZipFile(folder / "scores.zip", "w") as archive:
        archive.writestr("summary.json", json.dumps({"scores": {"f1_full": 0.2}}))
    return Door(("results", folder / "scores.zip", "org/results"))


ALL_LEGITIMATE = [*LEGITIMATE, *(legitimate_content(case) for case in of_paths(LEGITIMATE_CONTENT))]


@pytest.mark.parametrize("build", ALL_LEGITIMATE)
def test_goes_through_without_a_word_of_the_guard(hub: Hub, push: Any, tmp_path: Path, build: Build) -> None:
    (tmp_path / "sent").mkdir()
    words = build(tmp_path / "sent").words
    assert push(*words, "--public") == 0
    (repo,) = hub.store.repos.values()
    assert (repo.name, repo.private, len(repo.history)) == (words[2], False, 2)
    assert not (tmp_path / "state" / LEDGER).exists()


def test_there_are_legitimate_pushes_enough() -> None:
    assert len(ALL_LEGITIMATE) >= 20
