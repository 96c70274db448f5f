"""Two clinical LLM benchmarks, Hugging Face native: CliBench (decisions on admissions), IOR-Bench (referral).

    >>> import clinical_evals                      # once: makes the bare names below known, offline too
    >>> from datasets import load_dataset
    >>> import evaluate
    >>> rows = load_dataset("clibench", "diagnosis", split="test")
    >>> metric = evaluate.load("hier_icd_f1")

Importing this package takes milliseconds; what it needs is imported where it is used.
"""

from clinical_evals.datasets_hub.names import register as _register
from clinical_evals.version import __version__

__all__ = ["__version__"]

_register()
