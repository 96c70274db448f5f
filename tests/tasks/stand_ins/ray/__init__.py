"""Stands in for Ray: of its public surface what is used here. An actor lives in this process, and works when asked."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

machines = [8]
"""The GPUs of each machine of the cluster, all free."""
actors: list["_Actor"] = []
calls: list[str] = []


class _RayTaskError(Exception):
    def __init__(self, cause: Exception) -> None:
        super().__init__("ray::LocalEngine.answer() (pid=1) …")
        self.cause = cause


exceptions = SimpleNamespace(RayTaskError=_RayTaskError)


def is_initialized() -> bool:
    return "init" in calls and calls[-1] != "shutdown"


def init(**options: Any) -> None:
    calls.append("init")


def shutdown() -> None:
    calls.append("shutdown")


def available_resources() -> dict[str, float]:
    return {"CPU": 2.0, "GPU": float(sum(machines))} if sum(machines) else {"CPU": 2.0}


def nodes() -> list[dict[str, Any]]:
    return [{"Alive": True, "Resources": {"CPU": 2.0, "GPU": float(gpus)}} for gpus in machines]


class _Method:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def remote(self, *arguments: Any) -> Callable[[], Any]:
        return lambda: self._function(*arguments)


class _Actor:
    def __init__(self, instance: Any, resources: dict[str, float]) -> None:
        self.instance, self.resources, self.alive = instance, resources, True
        actors.append(self)

    def __getattr__(self, name: str) -> _Method:
        return _Method(getattr(self.instance, name))


def remote(**resources: float) -> Callable[[type], Any]:
    return lambda kind: SimpleNamespace(remote=lambda *arguments: _Actor(kind(*arguments), resources))


def get(references: list[Callable[[], Any]]) -> list[Any]:
    try:
        return [reference() for reference in references]
    except Exception as error:
        raise _RayTaskError(error) from error


def kill(actor: _Actor) -> None:
    actor.alive = False
