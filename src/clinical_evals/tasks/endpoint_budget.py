"""What a run may spend on an endpoint: tokens, or money, as a ceiling that is never crossed.

Before a request goes out the most it can take is set aside: its prompt as estimated and the longest answer. Where
that does not fit beside the requests under way, it waits for them. What the server reports then takes its place. A
request that broke off after it was sent may have been computed, and paid for: it stays counted in full.
"""

import asyncio
from typing import NamedTuple


class Usage(NamedTuple):
    """Tokens of requests."""

    prompt: int = 0
    answer: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(self.prompt + other.prompt, self.answer + other.answer)

    def minus(self, other: "Usage") -> "Usage":
        """Without the other."""
        return Usage(self.prompt - other.prompt, self.answer - other.answer)


class Prices(NamedTuple):
    """Of a million tokens, in any currency."""

    prompt: float
    answer: float

    def cost(self, usage: Usage) -> float:
        """Of some tokens."""
        return (usage.prompt * self.prompt + usage.answer * self.answer) / 1e6


class BudgetSpentError(Exception):
    """A request does not fit into what is left; the text says what was spent."""


class Budget:
    """Counts what the requests of one command take.

    Args:
        tokens: the most of prompts and answers together; None: any number.
        cost: the most that they may cost; None: anything.
        prices: needed with `cost`.

    Attributes:
        used: what is spent.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None, prices: Prices | None = None) -> None:
        self.tokens, self.cost, self.prices = tokens, cost, prices
        self.used = Usage()
        self._reserved = Usage()
        self._under_way = 0
        self._settled: asyncio.Event | None = None

    async def reserve(self, most: Usage) -> None:
        """Set aside what a request may take, as soon as there is room for it.

        Raises:
            BudgetSpentError: there never will be.
        """
        while not self._fits(most):
            if not self._under_way:
                raise BudgetSpentError(self._describe(most))
            self._settled = self._settled or asyncio.Event()
            await self._settled.wait()
        self._reserved = self._reserved.plus(most)
        self._under_way += 1

    def settle(self, most: Usage, used: Usage) -> None:
        """Count what a request took in the place of what was set aside for it."""
        self._reserved = self._reserved.minus(most)
        self._under_way -= 1
        self.used = self.used.plus(used)
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def _fits(self, most: Usage) -> bool:
        then = self.used.plus(self._reserved).plus(most)
        if self.tokens is not None and sum(then) > self.tokens:
            return False
        return self.cost is None or self.prices is None or self.prices.cost(then) <= self.cost

    def _describe(self, most: Usage) -> str:
        spent, more = f"{sum(self.used):,} tokens", f"{sum(most):,}"
        limits = [f"--max-tokens {self.tokens:,}"] if self.tokens is not None else []
        if self.prices is not None:
            spent += f" (cost {self.prices.cost(self.used):.4f})"
            more += f" (cost {self.prices.cost(most):.4f})"
            limits += [f"--max-cost {self.cost:g}"] if self.cost is not None else []
        return f"the budget of {' and '.join(limits)} is spent: {spent}, and the next request may take {more} more."
