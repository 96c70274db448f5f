"""The versions that trained weights depend on."""

import platform
from importlib.metadata import PackageNotFoundError, version

from clinical_evals.version import __version__

_LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "datasets", "numpy", "scikit-learn")


def library_versions() -> dict[str, str]:
    """By name, ours and Python's among them; what is not installed is left out."""
    found = {"clinical-evals": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
