"""What the pages share: how they look, how they are started, tables and messages whose text is escaped."""

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from clinical_evals.errors import ClinicalEvalsError

CSS = """
.result tr { border: none; }
.result table { width: 100%; border-collapse: collapse; border: none; margin: 0.3em 0 1.2em; }
.result th, .result td { text-align: left; vertical-align: top; padding: 0.4em 0.7em; border: none;
  border-bottom: 1px solid var(--border-color-primary); overflow-wrap: anywhere; }
.result th { color: var(--body-text-color); font-weight: 600; overflow-wrap: normal; }
.result .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.result .code { white-space: nowrap; font-family: var(--font-mono); }
.result h3 { margin: 0.6em 0 0; font-weight: 600; }
.result .message, .result .verdict { padding: 0.7em 1em; border-radius: 6px; margin-bottom: 1em; }
.result .message { background: #fdecea; color: #7a1b12; border: 1px solid #e7a79f; }
.result .right { background: #e6f4ea; color: #14532d; border: 1px solid #9ccfac; }
.result .wrong { background: #fff4e0; color: #6b4300; border: 1px solid #e3bd7c; }
"""
LAUNCH: dict[str, Any] = {
    "css": CSS,
    "run_history": False,  # its default keeps what was typed in the browser
    "enable_monitoring": False,
    "footer_links": ["gradio"],
}
"""How a page is launched, here and on the Hub."""
NOTHING_YET = "Nothing is scored yet: fill in the fields, or choose an example below, and press Score."
KEPT_NOTE = "What you type is scored and forgotten: nothing is logged or kept. Do not paste text of real patients."


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = (), codes: str = ""
) -> str:
    """A table as HTML; every cell is escaped.

    Args:
        headings: of the columns.
        rows: one cell a column; None is an empty cell.
        numbers: the headings of columns of numbers.
        codes: the heading of a column of codes.
    """
    kinds = ["number" if name in numbers else "code" if name == codes else "text" for name in headings]
    head = "".join(f'<th class="{kind}">{html.escape(name)}</th>' for name, kind in zip(headings, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{kind}">{_cell(value)}</td>' for value, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def heading(text: str) -> str:
    """A heading above a table."""
    return f"<h3>{html.escape(text)}</h3>"


def box(text: str, kind: str) -> str:
    """A line in a coloured box: kind is "message" (an error), "right" or "wrong"."""
    if kind == "message":
        return f'<div class="message" role="alert">{html.escape(text)}</div>'
    return f'<div class="verdict {kind}" role="status">{html.escape(text)}</div>'


def note(text: str) -> str:
    """A paragraph in small print; nothing for no text."""
    return f'<p class="note">{html.escape(text)}</p>' if text else ""


def answering(show: Callable[..., tuple[str, str]]) -> Callable[..., tuple[str, str]]:
    """The function of a button: what cannot be scored becomes a message on the page, in place of what was there.

    Args:
        show: gives what stands beside the inputs and what stands below them, as HTML.
    """

    def answer(*inputs: str | None) -> tuple[str, str]:
        try:
            beside, below = show(*(value or "" for value in inputs))
        except ClinicalEvalsError as error:
            beside, below = box(str(error), "message"), ""
        return result(beside), result(below)

    return answer


def result(shown: str) -> str:
    """HTML in the look of `CSS`; nothing for nothing."""
    return f'<div class="result">{shown}</div>' if shown else ""


def _cell(value: object) -> str:
    return "" if value is None else html.escape(str(value))
