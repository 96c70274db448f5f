"""The bare names: after `import clinical_evals`, `datasets` and `evaluate` know ours, offline and from any directory.

Neither library has a plugin entry point, and importing either takes seconds. So `register` only leaves a hook that
replaces one function in each when it is imported (or at once, where it already is): the function that turns a name
into a module. Our names are answered there before anything looks at the working directory, the cache or the network;
every other name goes on as before. A folder of the same name in the working directory is reached as `./clibench`.
"""

import functools
import hashlib
import importlib.abc
import importlib.machinery
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from clinical_evals.assets import dataset_folder, metric_script
from clinical_evals.errors import InputError

DATASETS = {
    "clibench": "clinical_evals.datasets_hub.clibench",
    "ior-bench": "clinical_evals.datasets_hub.ior_bench",
}
"""Our dataset names and the module of each builder."""
METRICS = ("department_accuracy", "hier_icd_f1")
"""Our metric names; each is the name of a folder under metrics/."""

_SHAPING_MODULES = (
    "built_data.py",
    "clibench.py",
    "columns.py",
    "features.py",
    "ior_bench.py",
    "source.py",
    "split_files.py",
    "../markers.py",
    "../ior_bench/*.py",
)
_DATA_SUFFIXES = (".json", ".parquet")


def code_digest() -> str:
    """SHA-256 of every module that shapes rows: a change in any of them is a new cache key."""
    here = Path(__file__).parent
    files = (file for pattern in _SHAPING_MODULES for file in sorted(here.glob(pattern)))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def register() -> None:
    """Make the names known now where the libraries are loaded, else as soon as they are."""
    for name, patch in _PATCHES.items():
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            patch(module)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


# datasets: `datasets.load.dataset_module_factory`


def _patch_datasets(module: ModuleType) -> None:
    _replace(module, "dataset_module_factory", _with_our_datasets, also="datasets.inspect")


def _with_our_datasets(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def dataset_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        if path in DATASETS:
            return _our_dataset(path, kwargs.get("data_files"))
        found = original(path, *args, **kwargs)
        return _never_stale(path, found)

    return dataset_module_factory


def _our_dataset(name: str, data_files: object) -> Any:
    from datasets.load import DatasetModule

    if data_files is not None:
        raise InputError(f"{name} takes data_dir=FOLDER (with CONFIG/SPLIT.parquet in it), not data_files=.")
    return DatasetModule(DATASETS[name], code_digest(), {"dataset_name": name})


def _never_stale(path: object, found: Any) -> Any:
    """Add the content of the data to the cache key of one of our folders loaded by path.

    `datasets` keys a local folder by its name and card only, so that edited data, or a copy elsewhere, gives old rows.
    """
    folder = Path(os.fspath(path)) if isinstance(path, str | os.PathLike) else Path()
    if folder.name not in DATASETS or not (folder / "README.md").is_file():
        return found
    files = sorted(file for file in folder.rglob("*") if file.suffix in _DATA_SUFFIXES and file.is_file())
    digest = hashlib.sha256(found.hash.encode())
    for file in files:
        digest.update(f"{file.relative_to(folder)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    found.hash = digest.hexdigest()[: len(found.hash)]
    return found


# evaluate: `evaluate.loading.evaluation_module_factory`


def _patch_evaluate(module: ModuleType) -> None:
    _replace(module, "evaluation_module_factory", _with_our_metrics, also="evaluate.inspect")


def _with_our_metrics(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def evaluation_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        return original(str(metric_script(path)) if path in METRICS else path, *args, **kwargs)

    return evaluation_module_factory


# The hook

_PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "datasets.load": _patch_datasets,
    "evaluate.loading": _patch_evaluate,
}


def _replace(module: ModuleType, name: str, wrap: Callable[..., Any], also: str) -> None:
    """Wrap one function of a library, in its module and in `also`, which may have imported it already."""
    original = getattr(module, name, None)
    if original is None:
        warnings.warn(
            f"{module.__name__}.{name} is not there in this version of the library: clinical-evals cannot add its "
            f"bare names. Load by folder path instead, e.g. {dataset_folder('clibench')}.",
            stacklevel=2,
        )
        return
    if getattr(original, "_clinical_evals", False):
        return
    wrapped = wrap(original)
    wrapped._clinical_evals = True  # so that it is wrapped once
    for target in (module, sys.modules.get(also)):
        if target is not None and getattr(target, name, None) is original:
            setattr(target, name, wrapped)


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the other finders find the two modules, and has each patched after it has run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = _PATCHES.get(fullname)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = None if isinstance(finder, _Finder) else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _PatchingLoader(spec.loader, patch)
                return spec
        return None


class _PatchingLoader(importlib.abc.Loader):
    """Runs a module by its own loader, then patches it and steps aside."""

    def __init__(self, loader: importlib.abc.Loader, patch: Callable[[ModuleType], None]) -> None:
        self.loader, self.patch = loader, patch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.patch(module)
