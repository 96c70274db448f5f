"""A Hub that fails at each request of a push: the repository is as before or as after, and the next push does it."""

from pathlib import Path
from typing import Any

import pytest
from hub_server import Fault, Hub, serving
from hub_store import Entry
from huggingface_hub import constants
from push_folders import contents, dataset

REPO = "org/letters"
REQUESTS = (
    ("GET /api/datasets/org/letters$", 1),
    ("GET .*/revision/", 1),
    ("GET .*/tree/", 1),
    ("POST /api/validate-yaml", 1),
    ("POST .*/preupload/", 1),
    ("POST .*/objects/batch", 1),
    ("PUT /lfs-storage/", 2),
    ("POST .*/lfs/verify", 1),
    ("POST .*/commit/", 1),
    ("GET .*/tree/", 2),  # reading back
)
KINDS: tuple[int | str, ...] = (429, 500, "cut", "lost", "short")


def state(hub: Hub) -> dict[str, bytes]:
    return hub.store.files("dataset", REPO)


@pytest.mark.parametrize("kind", KINDS)
def test_before_or_after_and_the_next_push_completes_it(hub: Hub, push: Any, tmp_path: Path, kind: int | str) -> None:
    assert push("dataset", dataset(tmp_path / "0"), REPO) == 0
    for number, (pattern, nth) in enumerate(REQUESTS, 1):
        before, folder = state(hub), dataset(tmp_path / str(number), f"build {number}")
        if number % 2:
            (folder / "build.json").unlink()  # to be removed there too, in the same commit
        fault = Fault(pattern, kind, nth, retry_after=1)
        hub.faults = [fault]
        assert push("dataset", folder, REPO, "--retry-for", "0") == 4, pattern
        assert fault.seen >= nth, f"{pattern} was asked {fault.seen} times"
        was_committed = (nth == 2 and "tree" in pattern) or ("commit" in pattern and kind in ("lost", "short"))
        assert state(hub) == (contents(folder) if was_committed else before), pattern
        hub.faults = []
        assert push("dataset", folder, REPO, "--retry-for", "0") == 0, pattern
        assert state(hub) == contents(folder), pattern
        assert len(hub.store.repos["dataset", REPO].history) == 2 + number, "no half of a commit, and none twice"


@pytest.mark.parametrize("pattern", ["POST /api/repos/create", "PUT .*/settings", "POST .*/branch/"])
@pytest.mark.parametrize("kind", [500, "cut", "lost"])
def test_while_the_repository_is_made(hub: Hub, push: Any, tmp_path: Path, pattern: str, kind: int | str) -> None:
    words = ("dataset", dataset(tmp_path / "data"), REPO, "--gated", "manual", "--revision", "v1", "--retry-for", "0")
    hub.faults = [Fault(pattern, kind)]
    assert push(*words) == 4
    assert ("dataset", REPO) not in hub.store.repos or state(hub) == {}
    hub.faults = []
    assert push(*words) == 0
    repo = hub.store.repos["dataset", REPO]
    assert (repo.private, repo.gated, sorted(repo.branches)) == (True, "manual", ["main", "v1"])
    assert hub.store.files("dataset", REPO, "v1") == contents(tmp_path / "data")
    assert state(hub) == {}


def test_one_command_outlasts_what_passes(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = [
        Fault("POST .*/preupload/", 429, retry_after=1),
        Fault("PUT /lfs-storage/", "cut", times=2),
        Fault("POST .*/commit/", "lost"),
    ]
    assert push("dataset", dataset(tmp_path / "data"), REPO) == 0
    assert state(hub) == contents(tmp_path / "data")
    assert len(hub.store.repos["dataset", REPO].history) == 2
    out = capsys.readouterr().out
    assert "status 429): again in 1.0 s" in out
    assert "read back: all sizes and hashes" in out


def test_large_files_that_arrived_are_not_sent_again(hub: Hub, push: Any, tmp_path: Path) -> None:
    hub.faults = [Fault("POST .*/commit/", 500)]
    assert push("dataset", dataset(tmp_path / "data"), REPO, "--retry-for", "0") == 4
    sent = sum(request.startswith("PUT /lfs-storage/") for request in hub.requests)
    assert push("dataset", tmp_path / "data", REPO) == 0
    assert sent == sum(request.startswith("PUT /lfs-storage/") for request in hub.requests) == 2


def test_a_retry_after_beyond_the_budget_is_not_waited_for(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = [Fault("POST .*/commit/", 429, retry_after=3_600)]
    assert push("dataset", dataset(tmp_path / "data"), REPO, "--retry-for", "60") == 4
    assert "repeat the command" in capsys.readouterr().err


def test_a_hub_that_is_gone(hub: Hub, push: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path / "other") as other:
        gone = other.url
    monkeypatch.setattr(constants, "ENDPOINT", gone)
    assert push("dataset", dataset(tmp_path / "data"), REPO, "--retry-for", "0") == 4
    assert hub.connections == 0


@pytest.mark.parametrize(
    ("damage", "said"), [("missing", "missing"), ("size", "bytes, expected"), ("hash", "another")]
)
def test_what_is_read_back_must_be_what_was_sent(
    hub: Hub, push: Any, tmp_path: Path, damage: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = "letters/test.parquet"

    def lose(tree: dict[str, Entry]) -> None:
        entry = tree.pop(place)
        if damage != "missing":
            tree[place] = entry._replace(size=1) if damage == "size" else entry._replace(sha256="0" * 64)

    hub.store.damage = lose
    assert push("dataset", dataset(tmp_path / "data"), REPO) == 4
    error = capsys.readouterr().err
    assert f"{REPO} was read back and does not hold what was sent: {place}" in error
    assert said in error
    if damage != "size":  # a Hub that lists a wrong size beside the right hash is beyond a push
        hub.store.damage = None
        assert push("dataset", tmp_path / "data", REPO) == 0
        assert state(hub) == contents(tmp_path / "data")
