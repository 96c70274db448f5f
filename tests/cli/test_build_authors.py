"""`clinical-evals build ior-bench --authors FOLDER`: the authors' two CSV files, built; what is skipped is listed."""

from pathlib import Path

import datasets
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.cli import main

datasets.disable_progress_bars()
STATIC = (
    "\ufeff年龄,性别,对话内容,lable\n"
    "34岁,女,\"[{'病人': '头疼三天'}, {'医生': '建议挂神经内科'}]\",神经内科\n"
    "8月,男,\"[{'病人': '发烧'}]\",儿科\n"  # no doctor turn: nothing names the answer
)
DYNAMIC = (
    "年龄,性别,主诉,现病史,既往史,个人史,家族史,hospital-1,hospital-2\n"
    "60,男,胸闷1周,活动后胸闷,高血压,,,心血管内科,内科\n"
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.delenv("IOR_BENCH_DIR", raising=False)


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    folder = tmp_path / "authors"
    folder.mkdir()
    (folder / "final_static.csv").write_text(STATIC, encoding="utf-8")
    (folder / "dynamic_final.csv").write_text(DYNAMIC, encoding="utf-8")
    return folder


def build(*arguments: object) -> int:
    return main(["build", "ior-bench", *map(str, arguments)])


def test_all_three_configs_and_what_was_left_out(
    authors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert build("--authors", authors, "--out", out, "--skip-invalid") == 0
    said = capsys.readouterr().out
    assert "1 records left out:" in said
    assert "final_static.csv, line 3" in said
    rows = {
        config: datasets.load_dataset("ior-bench", config, data_dir=str(out), split="test")
        for config in ("static", "dynamic_h1", "dynamic_h2")
    }
    assert [row["department"] for row in rows["static"]] == ["神经内科"]
    assert rows["dynamic_h1"]["department"] == ["心血管内科"]
    assert rows["dynamic_h2"]["department"] == ["内科"]
    # What is built is what the files themselves give.
    direct = datasets.load_dataset("ior-bench", "dynamic_h1", data_dir=str(authors), split="test")
    assert list(rows["dynamic_h1"]) == list(direct)


def test_one_bad_record_and_nothing_is_written(
    authors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build("--authors", authors, "--out", tmp_path / "out") == 2
    assert "final_static.csv, line 3" in (said := capsys.readouterr().err)
    assert "--skip-invalid" in said
    assert not (tmp_path / "out").exists()


def test_one_file_alone_gives_its_configs(authors: Path, tmp_path: Path) -> None:
    (authors / "final_static.csv").unlink()
    assert build("--authors", authors, "--out", tmp_path / "out") == 0
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["README.md", "croissant.json", "dynamic_h1", "dynamic_h2"]


def test_a_folder_with_neither_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build("--authors", tmp_path, "--out", tmp_path / "out") == 2
    assert "neither final_static.csv nor dynamic_final.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--authors", "a", "--columns", "department=x"), "--authors needs no --columns"),
        (("--authors", "a", "--config", "dynamic_h2"), "--config goes with --dynamic"),
        (("--static", "t.csv"), "--columns is missing"),
    ],
)
def test_usage(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        build(*arguments, "--out", "o")
    assert end.value.code == 2
    assert message in capsys.readouterr().err
