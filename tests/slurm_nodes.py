"""Stands in for Slurm: the nodes of a job are processes of this machine, and the sbatch files run as they are."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NODES = ("127.0.0.1", "127.0.0.2")
"""Each leads to this machine."""

_SRUN = f"""#!{sys.executable}
import os, subprocess, sys
options, command = {{}}, sys.argv[1:]
while command[0].startswith("--"):
    name, _, value = command.pop(0).partition("=")
    assert name in ("--nodes", "--ntasks", "--nodelist", "--exclude"), name
    options[name] = value
nodes = {NODES!r}[: int(os.environ["SLURM_NNODES"])]
chosen = [n for n in nodes if n != options.get("--exclude") and n == options.get("--nodelist", n)]
assert len(chosen) == int(options.get("--nodes", len(nodes))) == int(options.get("--ntasks", len(nodes)))
started = [subprocess.Popen(command, env={{**os.environ, "SLURM_NODEID": str(nodes.index(n))}}) for n in chosen]
sys.exit(max(process.wait() for process in started))
"""
_SCONTROL = f"""#!{sys.executable}
import sys
assert sys.argv[1:] == ["show", "hostnames", "the nodes of the job"]
print({chr(10).join(NODES)!r})
"""
_RECORDED = f"""#!{sys.executable}
import json, os, sys, time
line = json.dumps([[os.path.basename(sys.argv[0]), *sys.argv[1:]], dict(os.environ)]) + "\\n"
with open(os.environ["RECORDED"], "a") as stream:
    stream.write(line)
def nodes_started():
    words = [json.loads(line)[0] for line in open(os.environ["RECORDED"]) if line.endswith("\\n")]
    return sum(each[:2] == ["ray", "start"] for each in words)
if line.startswith('[["ray", "status"'):
    sys.exit(not nodes_started())  # as Ray's own says: there is no cluster yet
if line.startswith('[["python", "-c"'):
    for _ in range(600):  # the wait for all nodes
        if nodes_started() == int(os.environ["SLURM_NNODES"]):
            break
        time.sleep(0.1)
    else:
        sys.exit("the nodes did not come")
"""


def run_job(
    script: Path, folder: Path, nodes: int, gpus: int, settings: Mapping[str, str], recorded: Sequence[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """Run an sbatch file as Slurm would on the first node of a job.

    Args:
        script: the file.
        folder: where the stand-ins are written, and what is `recorded`.
        nodes: of the job, one or two.
        gpus: of each node.
        settings: more of the environment.
        recorded: commands that are not run, but written down: see `recorded_commands`.
    """
    folder.mkdir(exist_ok=True)
    texts = {"srun": _SRUN, "scontrol": _SCONTROL, **dict.fromkeys(recorded, _RECORDED)}
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    job = {
        "SLURM_NNODES": str(nodes), "SLURM_GPUS_ON_NODE": str(gpus), "SLURM_CPUS_PER_TASK": "1",
        "SLURM_JOB_ID": str(os.getpid()), "SLURM_JOB_NODELIST": "the nodes of the job",
        "RECORDED": str(folder / "recorded.jsonl"),
        "PATH": os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]),
    }  # fmt: skip
    return subprocess.run(
        ["bash", str(script)], env={**os.environ, **job, **settings}, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip


def recorded_commands(folder: Path) -> list[tuple[list[str], dict[str, Any]]]:
    """The commands that were written down, each with its environment."""
    return [tuple(json.loads(line)) for line in (folder / "recorded.jsonl").read_text().splitlines()]
