"""What a run may spend on an endpoint: tokens, or money, as a ceiling that is never crossed.

Before a request goes out the most it can take is set aside: its prompt as estimated and the longest answer. Where
that does not fit beside the requests under way, it waits for them. What the server reports then takes its place. A
request that broke off after it was sent may have been computed, and paid for: it stays counted in full.
"""

import asyncio
from collections.abc import Sequence
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
    """A request does not fit into what is left; the text says what was spent, and the way out."""


class _Account:
    """What the requests of one command have taken, and what is set aside for those under way; by their prices."""

    def __init__(self) -> None:
        self.used: dict[Prices | None, Usage] = {}
        self.reserved: dict[Prices | None, Usage] = {}
        self.under_way = 0
        self.settled: asyncio.Event | None = None

    def then(self, most: Usage, prices: Prices | None) -> tuple[Usage, float]:
        """Tokens and cost of everything, with a further request."""
        each = [*self.used.items(), *self.reserved.items(), (prices, most)]
        return _sum_up(each)


class Budget:
    """Counts what the requests of one command take.

    Args:
        tokens: the most of prompts and answers together; None: any number.
        cost: the most that they may cost; None: anything.
        prices: needed with `cost`.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None, prices: Prices | None = None) -> None:
        self.tokens, self.cost, self.prices = tokens, cost, prices
        self._account = _Account()

    @property
    def used(self) -> Usage:
        """What is spent."""
        return _sum_up([*self._account.used.items()])[0]

    def share(self, other: "Budget") -> None:
        """Spend from now on what the other has left, each by its own prices: one ceiling over two endpoints."""
        self._account = other._account

    async def reserve(self, most: Usage) -> None:
        """Set aside what a request may take, as soon as there is room for it.

        Raises:
            BudgetSpentError: there never will be.
        """
        account = self._account
        while not self._fits(most):
            if not account.under_way:
                raise BudgetSpentError(self._describe(most))
            account.settled = account.settled or asyncio.Event()
            await account.settled.wait()
        account.reserved[self.prices] = account.reserved.get(self.prices, Usage()).plus(most)
        account.under_way += 1

    def settle(self, most: Usage, used: Usage) -> None:
        """Count what a request took in the place of what was set aside for it."""
        account = self._account
        account.reserved[self.prices] = account.reserved[self.prices].minus(most)
        account.used[self.prices] = account.used.get(self.prices, Usage()).plus(used)
        account.under_way -= 1
        if account.settled is not None:
            account.settled.set()
            account.settled = None

    def _fits(self, most: Usage) -> bool:
        usage, cost = self._account.then(most, self.prices)
        if self.tokens is not None and sum(usage) > self.tokens:
            return False
        return self.cost is None or cost <= self.cost

    def _fits_alone(self, most: Usage) -> bool:
        """Whether a request would fit where nothing is spent."""
        if self.tokens is not None and sum(most) > self.tokens:
            return False
        return self.cost is None or self.prices is None or self.prices.cost(most) <= self.cost

    def _describe(self, most: Usage) -> str:
        used, cost = _sum_up([*self._account.used.items()])
        spent, more = f"{sum(used):,} tokens", f"{sum(most):,}"
        limits = [f"--max-tokens {self.tokens:,}"] if self.tokens is not None else []
        if self.prices is not None:
            spent += f" (cost {cost:.4f})"
            more += f" (cost {self.prices.cost(most):.4f})"
            limits += [f"--max-cost {self.cost:g}"] if self.cost is not None else []
        budget = f"the budget of {' and '.join(limits)}"
        if not sum(used):
            return f"{budget} is too small for the first request, which may take {more}: give more."
        said = f"{budget} is spent: {spent}, and the next request may take {more} more. What was answered is logged; "
        if self._fits_alone(most):
            return said + "the same command again goes on with a new budget."
        return said + "that request is more than the whole budget, so give the same command a higher one."


def _sum_up(usages: Sequence[tuple[Prices | None, Usage]]) -> tuple[Usage, float]:
    """Tokens of all, and the cost of those whose prices are known."""
    together = Usage(sum(usage.prompt for _, usage in usages), sum(usage.answer for _, usage in usages))
    return together, sum(prices.cost(usage) for prices, usage in usages if prices)
