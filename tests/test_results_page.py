"""docs/results: the page is what the code makes of its entries, and its published rows are as printed."""

import json
import shutil
from pathlib import Path

import pytest

from clinical_evals.errors import InputError
from clinical_evals.report.published_tables import PUBLISHED, TASKS
from clinical_evals.report.results_page import add_entry, format_page, main


@pytest.fixture
def page(repository: Path) -> Path:
    return repository / "docs" / "results"


def test_the_page_is_not_edited_by_hand(page: Path) -> None:
    assert (page / "README.md").read_text(encoding="utf-8") == format_page(page)


def test_our_model_stands_first_with_both_protocols_and_both_data(page: Path) -> None:
    for section in (page / "README.md").read_text(encoding="utf-8").split("\n## ")[1:5]:
        rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
        ours = [row for row in rows if row.startswith("| **")]
        assert rows[: len(ours)] == ours
        assert len(ours) == 4  # two kinds of data, two protocols
        assert all("MIMIC-IV 2.2, as Table" in row for row in rows[len(ours) :])
        assert len(rows) - len(ours) in (21, 22)  # the models of the paper; of diagnoses its SFT too


@pytest.mark.parametrize("number", [2, 5, 7, 8, 10, 11, 12, 13])
def test_published_figures_are_as_printed(published: Path, number: int) -> None:
    (ours,) = PUBLISHED.glob(f"clibench_table{number}_*.csv")
    assert ours.read_text(encoding="utf-8") == (published / ours.name).read_text(encoding="utf-8")


def test_an_entry_of_a_summary(page: Path, tmp_path: Path) -> None:
    """0.5 to 0.1 at five levels: their mean is 0.3, printed in percent; the paper's rows stay below."""
    levels = ("chapter", "block", "category", "subcategory", "full")
    scores = {
        f"{measure}_{level}": value
        for measure in ("precision", "recall", "f1")
        for level, value in zip((*levels, "average"), (0.5, 0.4, 0.3, 0.2, 0.1, 0.3), strict=True)
    }
    whole = json.loads(next((page / "entries").glob("diagnosis-*standard.json")).read_text())
    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps(whole | {"scores": scores, "intervals": {"f1_average": [0.1, 0.5]}, "rows": 7}))
    main([str(tmp_path), "--add", str(summary), "--model", "A model", "--data", "Some data", "--command", "make it"])
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (
        "| **A model** | Some data | standard | 7 | 50.00 | 40.00 | 30.00 | 20.00 | 10.00 | 30.00 | 30.00 | "
        "30.00 [10.00, 50.00] |\n| 1. Flan T5 XL (2.85B) |" in text
    )
    assert "Some data:\n\n```bash\nmake it\n```" in text


def test_what_is_no_summary_is_refused(page: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "summary.json"
    for content in ("", "[]", "{}", '{"task": "clibench:diagnosis"}'):
        wrong.write_text(content)
        with pytest.raises(InputError, match=r"summary\.json is no summary\.json of a CliBench run"):
            add_entry(tmp_path, wrong, "m", "d", "c")
    entry = json.loads(next((page / "entries").glob("*.json")).read_text())
    wrong.write_text(json.dumps(entry | {"task": "ior_bench:static_cot"}))
    with pytest.raises(InputError, match=f"expected one of {', '.join(TASKS)}"):
        add_entry(tmp_path, wrong, "m", "d", "c")
    shutil.copytree(page / "entries", tmp_path / "entries", dirs_exist_ok=True)
    (tmp_path / "entries" / "diagnosis-x.json").write_text('{"task": "clibench:diagnosis"}')
    with pytest.raises(InputError, match="has no model, data, command, protocol"):
        format_page(tmp_path)
