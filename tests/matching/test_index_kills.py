"""Index builds killed at 30 seeded places: before and after every file operation, and in the middle of a write."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from build_index import CHUNK, TITLES

PROGRAM = Path(__file__).with_name("killed_builds.py")
KILLS = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-builds")


@pytest.fixture(scope="module")
def processes(folder: Path) -> list[dict[str, Any]]:
    """What each process said, in their order."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), str(KILLS), "20"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "damaged" not in done.stderr  # no kill leaves something that looks finished and is not
    return [json.loads(line) for line in done.stdout.splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "lock"
    }


def test_the_kills_are_of_every_kind(processes: list[dict[str, Any]]) -> None:
    assert sum(process["killed"] for process in processes) == KILLS
    kinds = {process["fault"][0] for process in processes if process["killed"]}
    assert kinds == processes[0]["events"].keys() == {"chunk", "file", "put in place", "sync", "vectors torn"}


def test_every_build_ends_in_the_same_bytes(processes: list[dict[str, Any]], folder: Path) -> None:
    whole = contents(folder / "whole")
    assert sorted(name.rsplit("/", 1)[1] for name in whole) == ["header.json", "vectors.npy"]
    builds = {process["folder"] for process in processes} - {"whole"}
    assert len(builds) >= KILLS / 4
    for build in builds:
        assert contents(folder / build) == whole, build
    assert len({process["vectors"] for process in processes if "vectors" in process}) == 1


def test_finished_chunks_are_never_embedded_again(processes: list[dict[str, Any]]) -> None:
    assert processes[0]["embedded"] == TITLES
    for process in processes[1:]:
        if not process["killed"]:
            expected = 0 if process["finished"] else TITLES - min(TITLES, process["chunks"] * CHUNK)
            assert process["embedded"] == expected, process
    assert any(0 < process["chunks"] < 13 for process in processes), "no kill left a part"
