"""PNG files by matplotlib, without a screen, and with a font that has Chinese characters where there is one."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from clinical_evals.errors import ResourceMissingError
from clinical_evals.write_aside import written_aside

_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "Microsoft YaHei", "SimHei", "PingFang SC", "Heiti SC", "Arial Unicode MS",
)  # fmt: skip
DOTS = 120


def check_matplotlib() -> None:
    """Figures can be drawn.

    Raises:
        ResourceMissingError: matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401 - asked for only
    except ImportError as error:
        raise ResourceMissingError(
            'figures are drawn by matplotlib, which is not installed: pip install "clinical-evals[train]"'
        ) from error


@contextmanager
def drawn(path: Path, inches: tuple[float, float], text: str = "") -> Iterator[Any]:
    """Axes to draw on; at the end of the block the figure is written.

    Args:
        path: of the PNG.
        inches: width and height.
        text: what is written in it, for the font.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    font: Any = {"font.sans-serif": [_chinese_font(), "DejaVu Sans"]} if not text.isascii() and _chinese_font() else {}
    with rc_context(font):
        figure = Figure(figsize=inches, layout="constrained")
        yield figure.add_subplot()
        with written_aside(path, alone=True) as aside:
            figure.savefig(aside, format="png", dpi=DOTS)


def is_drawable(text: str) -> bool:
    """Whether there is a font for the characters of a text."""
    return text.isascii() or _chinese_font() is not None


@cache
def _chinese_font() -> str | None:
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in _FONTS if name in there), None)
