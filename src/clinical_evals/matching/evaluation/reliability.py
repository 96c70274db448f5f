"""How far a matcher's confidence, or its similarity, can be trusted: what it said against how often it was right."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.matching.evaluation.measured import Measured, Share
from clinical_evals.matching.pairs import Pair
from clinical_evals.ontology import CodeSystem
from clinical_evals.scoring.intervals import wilson

BINS = 10
LEAST = 5
"""Texts of which a bin is drawn."""


class Bin(NamedTuple):
    """The texts of which a matcher was about equally sure."""

    said: float
    """Mean confidence or similarity, 0-1."""
    right: Share
    """How many have the right category."""
    texts: int


class Reliability(NamedTuple):
    """One matcher."""

    name: str
    of: Literal["confidence", "similarity"]
    """What was said: a matcher without confidence has its similarities only, which promise nothing."""
    bins: list[Bin]

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of what was said and what was right, weighted by texts."""
        texts = sum(each.texts for each in self.bins)
        return sum(each.texts * abs(each.said - each.right.value) for each in self.bins) / texts


def reliability(measured: Measured, held_out: Sequence[Pair], system: CodeSystem) -> Reliability:
    """Held-out texts in ten bins of equal width by what the matcher said; texts without a match are left out."""
    level = len(system.levels) // 2
    found = [(match, pair) for match, pair in zip(measured.found, held_out, strict=True) if match is not None]
    knows = all(match.confidence is not None for match, _ in found)
    said = np.array([(match.confidence if knows else match.similarity) or 0.0 for match, _ in found])
    right = np.array(
        [system.path(match.code)[level] in {system.path(code)[level] for code in pair.codes} for match, pair in found]
    )
    place = np.clip((said * BINS).astype(np.int64), 0, BINS - 1)
    bins = [_bin(said[place == number], right[place == number]) for number in range(BINS) if (place == number).any()]
    return Reliability(measured.name, "confidence" if knows else "similarity", bins)


def _bin(said: NDArray[np.float64], right: NDArray[np.bool_]) -> Bin:
    good = int(right.sum())
    return Bin(float(said.mean()), Share(good / len(right), *wilson(good, len(right))), len(right))


def check_drawable(path: Path) -> None:
    """Whether `draw` can write there, before anything is measured.

    Raises:
        ResourceMissingError: matplotlib is not installed.
        InputError: the folder does not exist or cannot be written to, or the name ends otherwise than in .png or .svg.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ResourceMissingError(
            "Drawing needs matplotlib, which is not installed. Bring it with `pip install 'clinical-evals[train]'`."
        )
    folder = path.resolve().parent
    if path.suffix not in (".png", ".svg") or path.is_dir():
        raise InputError(f"--reliability {path} names no picture. Give a .png or .svg in a folder that exists.")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"--reliability {path}: the folder {folder} does not exist or cannot be written to. Give a .png or .svg "
            "in a folder that exists."
        )


def draw(found: Sequence[Reliability], category: str, path: Path) -> None:
    """Draw what was said against what was right, one line a matcher, as PNG or SVG; bins of few texts are left out.

    Raises:
        ResourceMissingError, InputError: see `check_drawable`.
    """
    check_drawable(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle="--")
    for each in found:
        bins = [one for one in each.bins if one.texts >= LEAST]
        said, value = [one.said for one in bins], np.array([one.right.value for one in bins])
        low, high = (np.array([getattr(one.right, end) for one in bins]) for end in ("low", "high"))
        distance = f", expected calibration error {each.error:.3f}" if each.of == "confidence" else ""
        axes.errorbar(
            said,
            value,
            np.maximum([value - low, high - value], 0),
            marker="o",
            label=f"{each.name} ({each.of}{distance})",
        )
    axes.set(xlabel="said by the matcher", ylabel=f"right {category}, with 95 % interval", xlim=(0, 1), ylim=(0, 1))
    figure.legend(loc="outside lower center", fontsize="small")
    try:
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else {})
    except (OSError, ValueError) as error:
        raise InputError(f"--reliability {path}: {error}. Give a .png or .svg in a folder that exists.") from error
