"""`clinical-evals install`: our names without `import clinical_evals`, through the libraries' own caches.

A name that is neither a folder here nor on the Hub is looked up by both libraries among what they loaded before:
`evaluate` runs the newest script HF_MODULES_CACHE/evaluate_modules/metrics/evaluate-metric--NAME/HASH/NAME.py, and
`datasets` takes the newest rows HF_DATASETS_CACHE/NAME/CONFIG/VERSION/HASH. `install` puts one folder in each place.

The script loads the metric of the installed package, so it is never stale. The rows are a copy of the embedded
sample, and no code of ours runs when they are loaded. So the name of their folder, which `datasets` logs at every
load, ends with the package's version and a digest of sample and code; `install` replaces rows of another digest; and
the installed metric warns when other rows answer to the name (`stale_rows`).
"""

import hashlib
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
from datasets.exceptions import DatasetGenerationError

from clinical_evals.assets import dataset_folder
from clinical_evals.datasets_hub.installed_folders import ASIDE, MANIFEST, aside, put, take_away, write_manifest
from clinical_evals.datasets_hub.names import DATASETS, METRICS, code_digest
from clinical_evals.datasets_hub.split_files import content_digest
from clinical_evals.errors import InputError
from clinical_evals.markers import SYNTHETIC_MARKER
from clinical_evals.version import __version__

_SCRIPT = '''"""Written by `clinical-evals install`: the metric of the installed package, whatever its version."""

try:
    from clinical_evals.datasets_hub.install import installed_metric
except ImportError as error:
    raise ImportError(f"{{__file__}} needs clinical-evals: install the package here, or delete its folder.") from error

Metric = installed_metric("{name}")
'''

_TEXT = """\
These work now without `import clinical_evals`, in every process with the same caches:
  {calls}
The rows are the synthetic sample of clinical-evals {version}; split=, streaming=True and num_proc= work too.

Only with `import clinical_evals`:
  data_dir= and other configs (refused without it); NAME_DIR variables, e.g. CLIBENCH_DIR (not read without it: the
  sample's rows come); cache_dir=, or another HF_HOME, HF_DATASETS_CACHE or HF_MODULES_CACHE than now (name unknown).

Please note:
  Both libraries ask the Hub first. Without HF_HUB_OFFLINE=1 and HF_EVALUATE_OFFLINE=1 a Hub that cannot be reached
  costs a call about 23 seconds.
  A folder of the same name in the working directory comes before the installed name.
  The rows stay as they are when clinical-evals is upgraded: then run `clinical-evals install` again. The metric
  follows by itself, and warns when it meets rows of another version.
  Run `clinical-evals uninstall` before you uninstall the package.

In place:
  {places}"""
_REMOVED = """\
Removed, of another version:
  {removed}"""
_RIVALS = """\
These hold other rows under the same name, as loading a folder called NAME by its path leaves them. The newest answers:
now ours, until one of them is rebuilt or used by map(). Remove them if they are not needed:
  {rivals}"""


@dataclass(frozen=True)
class Report:
    """What `install` or `uninstall` did with folders of the two caches; its text is what the command prints."""

    text: str
    written: tuple[Path, ...] = ()
    unchanged: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    rivals: tuple[Path, ...] = ()
    """Rows that others left under our dataset names; `datasets` takes whichever folder is the newest."""

    def __str__(self) -> str:
        return self.text


def install() -> Report:
    """Put the metric names and the configs of the embedded samples into the caches; what changed is replaced.

    Raises:
        InputError: a cache cannot be written, an installed folder holds files of others, or a sample is not synthetic.
    """
    rows_cache, scripts_cache = _caches()
    with _as_input_error(), aside(rows_cache) as rows, aside(scripts_cache) as scripts:
        built = {scripts_cache / place: folder for place, folder in _build_scripts(scripts)}
        built |= {rows_cache / place: folder for place, folder in _build_rows(rows)}
        written = [target for target, folder in built.items() if put(folder, target)]
        removed = [folder for folder in _installed(rows_cache, scripts_cache) if folder not in built]
        for folder in removed:
            take_away(folder)
    rows_there = [folder for target in built if rows_cache in target.parents for folder in _answering(target)]
    rivals = sorted(set(rows_there) - set(built))
    unchanged = [target for target in built if target not in written]
    text = _install_text(written, unchanged, removed, rivals)
    return Report(text, tuple(written), tuple(unchanged), tuple(removed), tuple(rivals))


def uninstall() -> Report:
    """Take away what `install` wrote, what the libraries derived from it (`map` results, bytecode), and nothing else.

    Raises:
        InputError: a folder cannot be removed, or holds files of others.
    """
    caches = _caches()
    removed = _installed(*caches)
    with _as_input_error():
        for folder in removed:
            take_away(folder)
        for left in [left for cache in caches for left in cache.glob(f"{ASIDE}*")]:
            shutil.rmtree(left)  # of a run that was killed
    done = "\n".join(f"removed {folder}" for folder in removed) or "Nothing was installed in {} and {}.".format(
        *caches
    )
    return Report(f"{done}\nThe names work after `import clinical_evals`, as before.", removed=tuple(removed))


def stale_rows() -> list[Path]:
    """The folders that answer to an installed dataset name and config, but do not hold this package's rows."""
    return [
        newest
        for name in DATASETS
        for folder in _installed_rows(_caches()[0], name)
        if not (newest := max(_answering(folder), key=lambda path: path.stat().st_mtime)).name.endswith(_digest(name))
    ]


def installed_metric(name: str) -> Any:
    """The metric class of this package, for the installed script; warns of stale rows beside it."""
    from evaluate.loading import evaluation_module_factory, import_main_class

    for folder in stale_rows():
        warnings.warn(
            f"without `import clinical_evals`, load_dataset takes the rows of {folder}, which are not those of "
            f"clinical-evals {__version__}. Run `clinical-evals install` again.",
            stacklevel=2,
        )
    return import_main_class(evaluation_module_factory(name).module_path)


def _caches() -> tuple[Path, Path]:
    """Where the two libraries, with the environment of this process, keep rows and scripts."""
    import evaluate.config

    return Path(datasets.config.HF_DATASETS_CACHE).expanduser(), Path(evaluate.config.HF_MODULES_CACHE)


def _configs(name: str) -> list[str]:
    return sorted(path.name for path in (dataset_folder(name) / "data").iterdir() if path.is_dir())


def _digest(name: str) -> str:
    """One for all configs of a name: without a config, `datasets` asks which only where they share a folder name."""
    files = sorted(path for path in (dataset_folder(name) / "data").rglob("*") if path.is_file())
    parts = [code_digest(), content_digest(files), *_configs(name)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


# Building: pairs of a place inside the cache and the folder that is to be there


def _build_scripts(work: Path) -> Iterator[tuple[Path, Path]]:
    for name in METRICS:
        script = _SCRIPT.format(name=name)
        folder = work / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(script, encoding="utf-8")
        write_manifest(folder)
        yield _script_place(name) / hashlib.sha256(script.encode()).hexdigest(), folder


def _build_rows(work: Path) -> Iterator[tuple[Path, Path]]:
    for name in DATASETS:
        sample = dataset_folder(name) / "data"  # as data_dir, so that no environment variable names another
        for config in _configs(name):
            builder = datasets.load_dataset_builder(name, config, data_dir=str(sample), cache_dir=str(work))
            if SYNTHETIC_MARKER not in builder.info.description:
                raise InputError(
                    f"{sample / config} holds rows not marked as synthetic; only the embedded sample is installed. "
                    "Move built data to a folder of its own, and load it with data_dir=FOLDER after the import."
                )
            builder.info.description += f" Put here by `clinical-evals install`, version {__version__}."
            builder.download_and_prepare()
            folder = Path(builder.cache_dir)
            write_manifest(folder)
            snake_name, _, version, _ = folder.relative_to(work).parts
            yield Path(snake_name, config, version, f"clinical-evals-{__version__}-{_digest(name)}"), folder


# Finding what is there


def _script_place(name: str) -> Path:
    return Path("evaluate_modules", "metrics", f"evaluate-metric--{name}")


def _installed(rows_cache: Path, scripts_cache: Path) -> list[Path]:
    scripts = [path.parent for name in METRICS for path in scripts_cache.glob(f"{_script_place(name)}/*/{MANIFEST}")]
    return scripts + [folder for name in DATASETS for folder in _installed_rows(rows_cache, name)]


def _installed_rows(rows_cache: Path, name: str) -> list[Path]:
    return sorted(path.parent for path in rows_cache.glob(f"{name}/*/*/*/{MANIFEST}"))


def _answering(folder: Path) -> list[Path]:
    """All folders of the same config, ours and others: those that `datasets` chooses from."""
    return [path for path in folder.parents[1].glob("*/*") if path.is_dir()]


# What is said


@contextmanager
def _as_input_error() -> Iterator[None]:
    try:
        yield
    except (OSError, DatasetGenerationError) as error:
        reason = error.__cause__ or error
        raise InputError(f"the caches of datasets and evaluate could not be changed: {reason}") from error


def _install_text(written: list[Path], unchanged: list[Path], removed: list[Path], rivals: list[Path]) -> str:
    calls = [f'evaluate.load("{name}")' for name in METRICS]
    calls += [f'load_dataset("{name}", "{config}")' for name in DATASETS for config in _configs(name)]
    places = [f"{path} (written now)" for path in written] + [f"{path} (as it was)" for path in unchanged]
    parts = [_TEXT.format(calls=_lines(calls), version=__version__, places=_lines(places))]
    parts += [_REMOVED.format(removed=_lines(removed))] if removed else []
    parts += [_RIVALS.format(rivals=_lines(rivals))] if rivals else []
    return "\n\n".join(parts)


def _lines(items: Sequence[object]) -> str:
    return "\n  ".join(map(str, items))
