"""`clinical-evals install`: the names without the import, in fresh processes; and what becomes of the two caches."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import datasets
import evaluate
import pytest
from test_bare_names import LOAD_DATASET, LOAD_DATASETS, LOAD_METRIC, LOAD_METRICS, ROWS, finish, run, start

from clinical_evals import assets
from clinical_evals.datasets_hub.install import MANIFEST, install, stale_rows, uninstall
from clinical_evals.datasets_hub.installed_folders import ASIDE
from clinical_evals.datasets_hub.names import DATASETS, METRICS
from clinical_evals.errors import InputError

INSTALL = "from clinical_evals.datasets_hub.install import install\nreport = install()\n"
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
NOT_IMPORTED = "import sys\nassert 'clinical_evals' not in sys.modules\n"
CONFIGS = [path for name in DATASETS for path in (assets.dataset_folder(name) / "data").iterdir() if path.is_dir()]
CLIBENCH = [path.name for path in CONFIGS if path.parents[1].name == "clibench"]
PLACES = len(METRICS) + len(CONFIGS)  # one folder each


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two caches for this process that do not exist yet, as HF_HOME would give them."""
    rows, scripts = tmp_path / "hf" / "datasets", tmp_path / "hf" / "modules"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", rows)
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", scripts)
    return rows, scripts


@pytest.fixture
def sample(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test split of a copy of the assets, to be edited."""
    for folder in ("datasets", "metrics"):
        shutil.copytree(repository / folder, tmp_path / "assets" / folder)
    monkeypatch.setattr(assets, "asset_roots", lambda: (tmp_path / "assets",))
    return tmp_path / "assets" / "datasets" / "clibench" / "data" / "diagnosis" / "test.json"


def place_of(name: str, folders: Sequence[Path]) -> Path:
    """The one of the installed folders that is the metric's, CACHE/evaluate-metric--NAME/HASH, or that of a config."""
    (place,) = [path for path in folders if name in (path.parent.name.partition("--")[2], path.parts[-3])]
    return place


def contents(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def drop_a_row(path: Path) -> None:
    edit(path, rows=json.loads(path.read_text())["rows"][1:])


# Fresh processes


def test_all_names_without_the_import_offline_and_from_an_empty_directory(tmp_path: Path) -> None:
    # What these variables name is not the sample, and not installed: the folder does not even exist.
    elsewhere = {"CLIBENCH_DIR": str(tmp_path / "mimic"), "IOR_BENCH_DIR": str(tmp_path / "hospital")}
    assert run(INSTALL + "print(len(report.written))", tmp_path, **elsewhere) == [str(PLACES)]
    code = f"""{LOAD_DATASET}
print(load_dataset("clibench", "procedure", split="train").num_rows)
print(len(list(load_dataset("clibench", "diagnosis", split="test", streaming=True))))
print("SYNTHETIC" in load_dataset("clibench", "diagnosis", split="test").info.description)
rows = load_dataset("clibench", "diagnosis", split="test").to_list()
dialogues = load_dataset("ior-bench", "static", split="test").to_list()
{LOAD_DATASETS["ior-bench"]}
print(len(list(load_dataset("ior-bench", "dynamic_h2", split="test", streaming=True))))
{NOT_IMPORTED}{"".join(LOAD_METRICS.values())}
print(evaluate.combine(["hier_icd_f1"]).compute(predictions=[["I10"]], references=[["I11.9"]])["f1_chapter"])
print(load_dataset("clibench", "diagnosis", split="test").to_list() == rows)  # by the import, which the metric did
print(load_dataset("ior-bench", "static", split="test").to_list() == dialogues)
"""
    out = ["40", "5", "40", "True", ROWS["ior-bench"], "80", "1.0", "1.0", "1.0", "True", "True"]
    assert run(code, tmp_path, **OFFLINE) == out
    assert not list((tmp_path / "empty").iterdir())


def test_what_is_refused_without_the_import_and_works_with_it(tmp_path: Path, repository: Path) -> None:
    run(INSTALL, tmp_path)
    folder = repository / "datasets" / "clibench" / "data"
    code = f"""
from datasets import load_dataset
def load(config, **more):
    try:
        return load_dataset("clibench", config, split="test", **more).num_rows
    except (ValueError, ConnectionError) as error:
        return str(error).splitlines()[0].partition(" for config")[0].partition(" (")[0]
print(load("diagnosis", data_dir={str(folder)!r}))
print(load("procedures"))
print(load("diagnosis", cache_dir="../other"))
{NOT_IMPORTED}
import clinical_evals
print(load("diagnosis", data_dir={str(folder)!r}))
print(load("procedures").partition(".")[0])
print(load("diagnosis", cache_dir="../other"))
"""
    assert run(code, tmp_path, **OFFLINE) == [
        "Couldn't find cache for clibench",
        "Couldn't find cache for clibench",
        "Couldn't reach 'clibench' on the Hub",
        "40",
        "unknown clibench config 'procedures'",
        "40",
    ]


@pytest.mark.slow
def test_two_installs_at_once(tmp_path: Path) -> None:
    both = [start(INSTALL + "print(len(report.written + report.unchanged))", tmp_path) for _ in range(2)]
    assert [finish(process) for process in both] == [[str(PLACES)], [str(PLACES)]]
    assert run(LOAD_DATASET + NOT_IMPORTED + LOAD_METRIC, tmp_path, **OFFLINE) == ["40", "1.0"]


@pytest.mark.slow
def test_rows_of_an_older_package_are_named_then_replaced(tmp_path: Path, repository: Path) -> None:
    run(INSTALL, tmp_path)
    newer = tmp_path / "newer"
    for folder in ("src", "datasets", "metrics"):
        shutil.copytree(repository / folder, newer / folder)
    (newer / "src" / "clinical_evals" / "version.py").write_text('__version__ = "99.0"')
    drop_a_row(newer / "datasets" / "clibench" / "data" / "diagnosis" / "test.json")
    code = """
import warnings
from datasets import load_dataset
rows = load_dataset("clibench", "diagnosis", split="test")
import evaluate
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    evaluate.load("hier_icd_f1")
import clinical_evals
print(clinical_evals.__version__, rows.num_rows, "clinical-evals-99.0-" in rows.cache_files[0]["filename"])
print(sum("Run `clinical-evals install` again" in str(warning.message) for warning in seen))
"""
    upgraded = OFFLINE | {"PYTHONPATH": str(newer / "src")}
    # One warning for each config of clibench: their digest is one.
    assert run(code, tmp_path, **upgraded) == ["99.0 40 False", str(len(CLIBENCH))]
    assert run(INSTALL + "print(len(report.written), len(report.removed))", tmp_path, **upgraded) == [
        f"{len(CONFIGS)} {len(CONFIGS)}"
    ]
    assert run(code, tmp_path, **upgraded) == ["99.0 39 True", "0"]


def test_the_metric_says_what_it_needs_where_the_package_is_gone(tmp_path: Path) -> None:
    run(INSTALL, tmp_path)
    code = """
import sys
sys.modules["clinical_evals"] = None  # as where it is not installed
import evaluate
try:
    evaluate.load("hier_icd_f1")
except ImportError as error:
    print(str(error).partition("hier_icd_f1.py ")[2])
"""
    assert run(code, tmp_path, **OFFLINE) == ["needs clinical-evals: install the package here, or delete its folder."]


# What becomes of the caches


def test_uninstall_leaves_what_others_wrote_as_it_was(caches: tuple[Path, Path]) -> None:
    rows, scripts = caches
    for other in (
        rows / "squad" / "plain" / "0.0.0" / "abc" / "dataset_info.json",
        rows / "clibench" / "diagnosis-6a47" / "1.0.0" / "abc" / "dataset_info.json",  # by the import
        scripts / "evaluate_modules" / "__init__.py",
        scripts / "evaluate_modules" / "metrics" / "evaluate-metric--bleu" / ("0" * 64) / "bleu.py",
    ):
        other.parent.mkdir(parents=True)
        other.write_text("theirs")
    before = contents(*caches)
    report = install()
    assert {path.parent for path in set(contents(*caches)) - set(before)} == set(report.written)
    ours = [path.parts[-4:-2] for path in report.written if rows in path.parents]
    assert ours == [
        *(("clibench", name) for name in sorted(CLIBENCH)),
        *(("ior-bench", name) for name in ("dynamic_h1", "dynamic_h2", "static")),
    ]
    assert uninstall().removed == report.written
    assert contents(*caches) == before
    assert sorted(path.name for path in rows.iterdir()) == ["clibench", "squad"]
    assert not (rows / "clibench" / "diagnosis").exists()
    assert not uninstall().removed


def test_installing_again_changes_nothing_and_mends_what_was_damaged(caches: tuple[Path, Path]) -> None:
    first = install()
    before = contents(*caches)
    again = install()
    assert (again.written, again.unchanged, again.removed) == ((), first.written, ())
    assert contents(*caches) == before
    arrow = next((caches[0] / "clibench" / "diagnosis").rglob("clibench-test.arrow"))
    arrow.write_bytes(arrow.read_bytes()[:100])
    assert install().written == (arrow.parent,)
    assert contents(*caches) == before


def test_edited_rows_replace_the_old(caches: tuple[Path, Path], sample: Path) -> None:
    written = install().written
    old = tuple(path for path in written if path.parts[-4] == "clibench")
    drop_a_row(sample)
    assert stale_rows() == list(old)  # one digest for all configs, see the next test
    report = install()
    assert report.removed == old
    assert f"Removed, of another version:\n  {old[0]}" in str(report)
    assert report.unchanged == tuple(path for path in written if path not in old)  # the scripts among them
    assert not stale_rows()
    assert not any(path.exists() for path in old)
    counts = {
        path.parts[-3]: datasets.Dataset.from_file(str(path / "clibench-test.arrow")).num_rows
        for path in report.written
    }
    assert counts == {"diagnosis": 39, "lab_order": 40, "prescription": 40, "procedure": 25}


def test_an_edit_of_one_config_replaces_all_three_of_ior_bench(caches: tuple[Path, Path], sample: Path) -> None:
    written = install().written
    ours = tuple(path for path in written if path.parts[-4] == "ior-bench")
    assert len(ours) == 3
    drop_a_row(sample.parents[3] / "ior-bench" / "data" / "dynamic_h2" / "test.json")
    # One digest for all: without a config, the library asks which only where their folders have the same name.
    assert stale_rows() == list(ours)
    report = install()
    assert report.removed == ours
    counts = {
        path.parts[-3]: datasets.Dataset.from_file(str(path / "ior-bench-test.arrow")).num_rows
        for path in report.written
    }
    assert counts == {"dynamic_h1": 80, "dynamic_h2": 79, "static": 72}
    assert not stale_rows()


def test_results_of_map_go_with_the_rows_but_files_of_others_stop_it(caches: tuple[Path, Path]) -> None:
    written = install().written
    script, rows = place_of("hier_icd_f1", written), place_of("diagnosis", written)
    (script / "__pycache__").mkdir()
    (script / "__pycache__" / "hier_icd_f1.cpython-311.pyc").write_bytes(b"")
    (rows / "cache-0123456789abcdef_00000_of_00002.arrow").write_bytes(b"")
    (rows / "notes.txt").write_text("mine")
    before = contents(rows)
    with pytest.raises(InputError, match=r"did not write: notes\.txt"):
        uninstall()
    assert contents(rows) == before
    (rows / "notes.txt").unlink()
    uninstall()
    assert not contents(*caches)


def test_rows_of_a_folder_of_our_name_are_reported(caches: tuple[Path, Path], repository: Path) -> None:
    install()
    # The library keeps a folder loaded by its path under the folder's name and the config, which are ours.
    datasets.load_dataset(str(repository / "datasets" / "clibench"), "diagnosis", cache_dir=str(caches[0]))
    (rival,) = stale_rows()
    assert rival.parent == caches[0] / "clibench" / "diagnosis" / "0.0.0"
    report = install()
    assert report.rivals == (rival,)
    assert str(rival) in str(report)
    assert not stale_rows()  # ours is the newest again
    uninstall()
    assert rival.is_dir()


def test_what_a_killed_run_left_is_harmless_and_goes(caches: tuple[Path, Path]) -> None:
    for cache in caches:
        (cache / f"{ASIDE}abc" / "old").mkdir(parents=True)
        (cache / f"{ASIDE}abc" / "old" / MANIFEST).write_text("{}")
    assert len(install().written) == PLACES
    uninstall()
    assert not [path for cache in caches for path in cache.iterdir()]


def test_a_cache_that_cannot_be_written(caches: tuple[Path, Path]) -> None:
    rows, scripts = caches
    scripts.parent.mkdir()
    scripts.write_text("a file, so that nobody can make a folder of it, root included")
    with pytest.raises(InputError, match=r"the cache .*modules cannot be written \(File exists\). Set HF_HOME"):
        install()
    assert not list(rows.iterdir())


def test_rows_that_are_not_marked_as_synthetic_are_not_installed(caches: tuple[Path, Path], sample: Path) -> None:
    edit(sample, source="")  # says nothing, so it is taken for MIMIC's
    with pytest.raises(InputError, match="rows not marked as synthetic"):
        install()
    assert not contents(*caches)


def test_a_sample_that_cannot_be_read_is_named(caches: tuple[Path, Path], sample: Path) -> None:
    rows = json.loads(sample.read_text())["rows"]
    edit(sample, rows=[rows[0] | {"codes": None}, *rows[1:]])
    with pytest.raises(InputError, match=r"test\.json, row 0: column 'codes' is null"):
        install()
    assert not contents(*caches)


def test_the_report_says_what_works_and_what_does_not(caches: tuple[Path, Path]) -> None:
    text = str(install())
    calls = [f'evaluate.load("{name}")' for name in METRICS]
    for part in (*calls, 'load_dataset("clibench", "diagnosis")', "HF_HUB_OFFLINE=1"):
        assert part in text
    only_with_the_import = text.partition("Only with")[2].partition("Please note")[0]
    assert all(part in only_with_the_import for part in ("data_dir=", "other configs", "CLIBENCH_DIR", "cache_dir="))
