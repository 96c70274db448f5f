"""Timing in one run: ours and the baseline in turn, so that a slow or busy machine slows both."""

import os
import platform
import time
from collections.abc import Callable
from datetime import date
from statistics import median
from typing import NamedTuple


class Pair(NamedTuple):
    """Seconds of both, the median over the rounds."""

    ours: float
    baseline: float

    @property
    def ratio(self) -> float:
        """How many times less time ours takes."""
        return self.baseline / self.ours


def in_turn(ours: Callable[[], object], baseline: Callable[[], object], rounds: int = 3) -> Pair:
    """Median wall-clock seconds of two functions that are run in turn."""
    times = [(seconds(ours), seconds(baseline)) for _ in range(rounds)]
    return Pair(median(t[0] for t in times), median(t[1] for t in times))


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(name: str, result: str, budget: str, met: bool, **facts: object) -> None:
    """Print one line of result and one of facts."""
    print(f"{name}: {result} (budget: {budget}; {'met' if met else 'MISSED'})")
    for key, value in facts.items():
        print(f"    {key.replace('_', ' ')}: {value}")


def machine() -> str:
    """The machine and the day, for the head of a report."""
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            cpu = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{date.today()}: {cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
