"""Where the metric scripts and the embedded samples lie on this machine.

A wheel carries them in its `assets` folder; a checkout (editable install) has them at the repository root. There is
one copy of each, never two.
"""

from pathlib import Path

from clinical_evals.errors import ResourceMissingError

_PACKAGE = Path(__file__).resolve().parent


def asset_roots() -> tuple[Path, ...]:
    """The folders that may hold `metrics/` and `datasets/`, first the wheel's, then the repository's."""
    return _PACKAGE / "assets", _PACKAGE.parents[1]


def dataset_folder(name: str) -> Path:
    """The folder of an embedded dataset: its card (README.md) and data/.

    Raises:
        ResourceMissingError: this installation does not have it.
    """
    return _find(f"datasets/{name}", "README.md")


def metric_script(name: str) -> Path:
    """The script of a metric, `metrics/NAME/NAME.py`.

    Raises:
        ResourceMissingError: this installation does not have it.
    """
    return _find(f"metrics/{name}", f"{name}.py") / f"{name}.py"


def _find(folder: str, marker: str) -> Path:
    for root in asset_roots():
        if (root / folder / marker).is_file():
            return root / folder
    looked = " and ".join(str(root / folder) for root in asset_roots())
    raise ResourceMissingError(
        f"{folder}/{marker} is not part of this installation of clinical-evals (looked in {looked}). "
        "Install it anew: pip install --force-reinstall clinical-evals"
    )
