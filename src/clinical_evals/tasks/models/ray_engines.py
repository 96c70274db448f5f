"""Copies of a vLLM engine on the GPUs of a Ray cluster: data-parallel generation."""

import os
from collections.abc import Sequence
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.vllm_engine import ENVIRONMENT, About, Answered, Arguments, LocalEngine


def names_a_cluster() -> str:
    """What RAY_ADDRESS names: a cluster that may have other machines, wherever its head is; empty where none."""
    address = os.environ.get("RAY_ADDRESS", "")
    return "" if address == "local" else address


class RayEngines:
    """Copies of the model on a Ray cluster, each of which answers its share of the prompts.

    vLLM's LLM refuses a data_parallel_size of its own, and lighteval's way loads every copy anew for each batch. Ray
    is the cluster that RAY_ADDRESS names, else one that is started here: a cluster that happens to run already may
    have other machines, to which prompts would go unasked (`backends` asks the guard where RAY_ADDRESS is set).

    Args:
        arguments: of vLLM's LLM.
        copies: how many (data_parallel_size).
        gpus_each: of one copy, all on one machine; 0 where vLLM runs on the CPU.

    Raises:
        InputError: the cluster has no room for so many; Ray would wait for it without a word.
    """

    def __init__(self, arguments: Arguments, copies: int, gpus_each: int) -> None:
        import ray

        self._ours = not ray.is_initialized()
        if self._ours:
            settings = {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}
            ray.init(
                address=None if names_a_cluster() else "local",  # None: RAY_ADDRESS decides
                include_dashboard=False,
                logging_level="WARNING",
                runtime_env={"env_vars": settings},
            )
        try:
            _check_gpus(copies, gpus_each)
            if gpus_each > 1:
                # Ray's own way to spread one copy would take its GPUs a second time.
                arguments = arguments | {"distributed_executor_backend": "mp"}
            copy = ray.remote(num_cpus=0, num_gpus=gpus_each)(LocalEngine)
            self._copies = [copy.remote(arguments) for _ in range(copies)]
            self._about = [About(*one) for one in _await([one.about.remote() for one in self._copies])]
        except BaseException:
            self.close()
            raise

    def about(self) -> About:
        """What the copies know of themselves; the shortest context is everyone's."""
        return min(self._about)

    def answer(self, prompts: Sequence[list[int]], sampling: Sequence[Arguments]) -> list[Answered]:
        """The answers to each prompt; see `Engine`. Prompts are dealt out in turn, so that long ones are shared."""
        number = len(self._copies)
        shares = [range(place, len(prompts), number) for place in range(min(number, len(prompts)))]
        asked = [
            copy.answer.remote([prompts[i] for i in share], [sampling[i] for i in share])
            for copy, share in zip(self._copies, shares, strict=False)
        ]
        answered: dict[int, Answered] = {}
        for share, answers in zip(shares, _await(asked), strict=True):
            answered |= zip(share, answers, strict=True)
        return [answered[i] for i in range(len(prompts))]

    def close(self) -> None:
        """Free the memory of all copies, and end Ray if it was started for them."""
        import ray

        for copy in getattr(self, "_copies", ()):
            ray.kill(copy)
        if self._ours:
            ray.shutdown()


def _await(references: Sequence[Any]) -> list[Any]:
    """The results of all copies, or what one of them raised, without Ray's own account of it."""
    import ray

    try:
        results: list[Any] = ray.get(references)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    return results


def _check_gpus(copies: int, each: int) -> None:
    import ray

    if not each:
        return
    free = int(ray.available_resources().get("GPU", 0))
    machines = [int(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"]]
    room = min(free // each, sum(gpus // each for gpus in machines))
    if room < copies:
        raise InputError(
            f"MODEL_ARGS: data_parallel_size={copies} with {each} GPUs for each copy (tensor_parallel_size x "
            f"pipeline_parallel_size, on one machine) needs {copies * each} free GPUs; Ray has {free}, on machines "
            f"with {', '.join(map(str, machines)) or 'none'}: room for {room}. Give smaller sizes, or start a larger "
            "cluster and name it in RAY_ADDRESS."
        )
