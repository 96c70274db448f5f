"""One progress bar for a whole run: what is answered, and the tokens of the batch at work."""

import sys
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm


class Progress:
    """Use as a context manager.

    Args:
        rows: how many of them are to be answered; without any no bar is shown.
        tokens: the most tokens an answer may have.
        show: False shows nothing (the other processes of a data-parallel run).
        unit: what is counted: rows, or the answers of dialogues.
    """

    def __init__(self, rows: int, tokens: int, show: bool = True, unit: str = "row") -> None:
        terminal = sys.stderr.isatty()
        self._tokens = tokens
        self._step = 0
        self._bar: tqdm[Any] = tqdm(
            total=rows,
            desc="answers",
            unit=unit,
            disable=not (show and rows),
            mininterval=0.5 if terminal else 15,
            dynamic_ncols=terminal,
        )

    def __enter__(self) -> Self:
        self._bar.set_postfix_str("reading the prompts")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def advance_token(self) -> None:
        """The batch has one token more."""
        self._step += 1
        self._bar.set_postfix_str(f"token {self._step} of at most {self._tokens}", refresh=False)
        self._bar.update(0)

    def finish_rows(self, rows: int) -> None:
        """So many more are answered."""
        self._step = 0
        self._bar.set_postfix_str("", refresh=False)
        self._bar.update(rows)
