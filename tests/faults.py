"""Programs that die: a function runs in a forked child that kills itself (SIGKILL) at a chosen event.

Events are counted by kind. A run that is only counted tells how many of each kind there are; a plan then names a kind
and which one of them, so the same seed dies at the same place. The programs that use this fork before they have any
thread of their own.
"""

import gc
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn


class Fault(NamedTuple):
    """Where to die: at event number `number` (from 1) of a kind; `share` of a text is written before."""

    kind: str
    number: int
    share: float


class Events:
    """Counts events, and dies at the one that `fault` names; without a fault it only counts."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault, self.counts = fault, Counter[str]()

    def reach(self, kind: str, first: Callable[[float], object] = lambda share: None) -> None:
        """One event; `first` is called with the share just before the process dies of it."""
        self.counts[kind] += 1
        if self.fault and (kind, self.counts[kind]) == self.fault[:2]:
            first(self.fault.share)
            os.kill(os.getpid(), signal.SIGKILL)

    def watch_files(self, folder: Path) -> None:
        """Whatever makes, opens for writing, renames or removes a file below a folder is an event, before it."""
        inside = str(folder.resolve())
        changing = os.O_WRONLY | os.O_RDWR | os.O_CREAT

        def hook(name: str, args: tuple[Any, ...]) -> None:
            if name not in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"):
                return
            is_path = isinstance(args[0], str | os.PathLike) and (name != "open" or args[2] & changing)
            if is_path and os.path.abspath(os.fspath(args[0])).startswith(inside):
                self.reach("file")

        sys.addaudithook(hook)


def run_in_child(work: Callable[[Events], object], fault: Fault | None) -> tuple[bool, Counter[str]]:
    """Run `work` in a forked child. Returns whether it was killed, and the counts of a child that was not.

    Raises:
        RuntimeError: the child ended in any other way than by a kill or with success.
    """
    with tempfile.TemporaryFile() as counts:
        gc.freeze()  # what was there before need not be looked through, and copied, in every child
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                events = Events(fault)
                work(events)
                os.write(counts.fileno(), json.dumps(events.counts).encode())
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stderr.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status not in (0, -signal.SIGKILL):
            raise RuntimeError(f"the child of fault {fault} ended with {status}")
        counts.seek(0)
        return status != 0, Counter(json.loads(counts.read() or b"{}"))


def draw_fault(draw: Random, whole: Counter[str], died: Counter[str]) -> Fault:
    """Of the kinds of event that killed least so far any, and of that kind any event of a whole run."""
    fewest = min(died[kind] for kind in whole)
    kind = draw.choice(sorted(kind for kind in whole if died[kind] == fewest))
    return Fault(kind, draw.randint(1, whole[kind]), draw.random())


def kill_until(kills: int, draw: Random, run: Callable[[str, Fault | None], tuple[bool, Counter[str]]]) -> None:
    """One whole run, "whole", then runs "0", "1" and so on, each started again until it ends, for so many kills."""
    _, whole = run("whole", None)
    died, number = Counter[str](), 0
    while died.total() < kills:
        fault = draw_fault(draw, whole, died) if draw.random() < 0.75 else None
        if run(str(number), fault)[0] and fault:
            died[fault.kind] += 1
        else:
            number += 1
    run(str(number), None)


def say(value: object) -> None:
    """Write one JSON line, in one piece: processes that share an output, unbuffered too, do not mix their lines."""
    os.write(1, json.dumps(value).encode() + b"\n")


def kill_and_exit(folder: Path, kills: int, seed: int, run: Callable[[str, Fault | None], Any]) -> NoReturn:
    """`kill_until` in a folder of its own, and the end of this process: it is a forked one.

    Args:
        folder: it is made.
        kills: see `kill_until`.
        seed: of the faults.
        run: see `kill_until`.
    """
    code = 1
    try:
        folder.mkdir()
        kill_until(kills, Random(seed), run)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def runs_of(processes: list[dict[str, Any]]) -> dict[tuple[int, str], list[dict[str, Any]]]:
    """The processes of each run, by seed and folder; the uninterrupted ones left out."""
    runs: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for process in processes:
        if process["folder"] != "whole":
            runs.setdefault((process["seed"], process["folder"]), []).append(process)
    return runs
