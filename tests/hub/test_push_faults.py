"""A Hub that fails at each request of a push: the repository is as before or as after, and the next push does it."""

import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hub_server import Fault, Hub, serving
from hub_store import Entry
from huggingface_hub import constants
from push_folders import MODEL_CARD, adapter, contents, dataset, metric

REPO = "org/letters"
FAULTS: tuple[int | str, ...] = (429, 500, "cut", "lost", "short")


def state(hub: Hub) -> dict[str, bytes]:
    return hub.store.files("dataset", REPO)


class Kind(NamedTuple):
    """A kind of push on the Hub."""

    repo_type: str
    types: str
    """In addresses."""
    large: int
    """How many of its files go by LFS."""
    mirrors: bool
    """Whether it takes the place of the one before; results come beside it."""


FOUR = {
    "dataset": Kind("dataset", "datasets", large=2, mirrors=True),
    "metric": Kind("space", "spaces", large=0, mirrors=True),
    "model": Kind("model", "models", large=1, mirrors=True),
    "results": Kind("dataset", "datasets", large=0, mirrors=False),
}


def small_folder(kind: str, folder: Path, number: int) -> Path:
    """A folder of a kind, each number with other bytes and with a file, or a run, that its neighbours lack."""
    if kind == "dataset":
        dataset(folder, f"build {number}")
    elif kind == "metric":
        metric(folder, "letters")
        (folder / "letters.py").write_text(f'"""How many letters, version {number}."""\n')
    elif kind == "model":
        adapter(folder)
        weights = folder / "adapter_model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4] + struct.pack("<f", number))
    else:
        run = folder / f"run-{number}"
        run.mkdir(parents=True)
        (run / "summary.json").write_text(json.dumps({"scores": {"f1_full": number / 100}}))
        (folder / "README.md").write_text(MODEL_CARD + f"Version {number}.\n")
    if kind != "results":
        (folder / ("odd.json" if number % 2 else "even.json")).write_text(json.dumps({"version": number}))
    return folder


def requests_of(kind: Kind) -> list[tuple[str, int]]:
    """The requests of a push to a repository that is there, in their order; the last of several large files."""
    large = [("POST .*/objects/batch", 1), ("PUT /lfs-storage/", kind.large), ("POST .*/lfs/verify", 1)]
    return [
        (f"GET /api/{kind.types}/{REPO}$", 1),
        ("GET .*/revision/", 1),
        ("GET .*/tree/", 1),
        ("POST /api/validate-yaml", 1),
        ("POST .*/preupload/", 1),
        *(large if kind.large else []),
        ("POST .*/commit/", 1),
        ("GET .*/tree/", 2),  # reading back
    ]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", FOUR)
def test_before_or_after_and_the_next_push_completes_it(
    hub: Hub, push: Any, tmp_path: Path, name: str, fault: int | str
) -> None:
    """A first push, then a newer one for each request: never half, and what is removed goes with what comes."""
    kind = FOUR[name]
    words = (REPO, "--retry-for", "0")
    before: dict[str, bytes] = {}
    for number, (pattern, nth) in enumerate([("POST .*/commit/", 1), *requests_of(kind)]):
        folder = small_folder(name, tmp_path / str(number), number)
        after = contents(folder) if kind.mirrors else before | contents(folder)
        hub.faults = [Fault(pattern, fault, nth, retry_after=1)]
        assert push(name, folder, *words) == 4, pattern
        assert hub.faults[0].seen >= nth, f"{pattern} was asked {hub.faults[0].seen} times"
        was_committed = (nth == 2 and "tree" in pattern) or ("commit" in pattern and fault in ("lost", "short"))
        assert hub.store.files(kind.repo_type, REPO) == (after if was_committed else before), pattern
        hub.faults = []
        assert push(name, folder, *words) == 0, pattern
        assert hub.store.files(kind.repo_type, REPO) == after, pattern
        assert len(hub.store.repos[kind.repo_type, REPO].history) == 2 + number, "no half of a commit, and none twice"
        before = after
    used = any("lfs" in request for request in hub.requests)
    assert used == bool(kind.large), "requests_of names all requests"


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
