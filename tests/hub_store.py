"""The repositories of the Hub for tests: bytes in a folder, trees in memory, commits whole or not at all."""

import base64
import hashlib
import itertools
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

LFS_SUFFIXES = (".parquet", ".arrow", ".safetensors", ".bin", ".gguf", ".gz", ".zip", ".npy", ".png")
REGULAR_LIMIT = 10_000_000
ATTRIBUTES = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in LFS_SUFFIXES).encode()


class HubError(Exception):
    """An answer that is no success: status, the Hub's error code, a message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Entry(NamedTuple):
    """A file of a tree."""

    size: int
    sha256: str
    oid: str
    """git's: SHA-1 of the blob, for LFS of the pointer."""
    is_lfs: bool


@dataclass
class Commit:
    """A tree and how it came about."""

    sha: str
    tree: dict[str, Entry]
    title: str
    description: str
    parent: str | None


@dataclass
class Repo:
    """A repository with its branches and tags."""

    kind: str
    name: str
    private: bool
    gated: str | bool = False
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def at(self, revision: str) -> Commit:
        """The commit of a branch, tag or hash."""
        sha = self.branches.get(revision) or self.tags.get(revision) or revision
        if sha not in self.commits:
            raise HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return self.commits[sha]

    @property
    def history(self) -> list[Commit]:
        """The commits of main, the newest first."""
        found, sha = [], self.branches.get("main")
        while sha:
            found.append(self.commits[sha])
            sha = found[-1].parent
        return found


class Store:
    """All repositories; its objects lie in a folder by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repos: dict[tuple[str, str], Repo] = {}
        self.lock = threading.RLock()
        self.damage: Callable[[dict[str, Entry]], object] | None = None
        """What happens to the tree of a commit, of a Hub that loses things."""
        self._count = itertools.count()

    def create(self, kind: str, name: str, private: bool, sdk: str | None) -> Repo:
        """A new repository with its .gitattributes."""
        with self.lock:
            if (kind, name) in self.repos:
                raise HubError(409, "", f"You already created this {kind} repo")
            repo = self.repos[kind, name] = Repo(kind, name, private, sdk=sdk)
            self._add(repo, "main", {".gitattributes": self.put(ATTRIBUTES)}, "initial commit", "", None)
            return repo

    def put(self, content: bytes, is_lfs: bool = False) -> Entry:
        """Keep bytes."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.object_path(sha256).write_bytes(content)
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
        blob = pointer if is_lfs else content
        return Entry(len(content), sha256, hashlib.sha1(b"blob %d\0" % len(blob) + blob).hexdigest(), is_lfs)

    def object_path(self, sha256: str) -> Path:
        """Where bytes lie."""
        return self.folder / sha256

    def files(self, kind: str, name: str, revision: str = "main") -> dict[str, bytes]:
        """The content of a repository, .gitattributes left out."""
        tree = self.repos[kind, name].at(revision).tree
        return {
            path: self.object_path(entry.sha256).read_bytes() for path, entry in tree.items() if path[:4] != ".git"
        }

    def commit(self, repo: Repo, branch: str, lines: list[dict[str, Any]]) -> Commit:
        """Apply the lines of a commit request; nothing of it is visible before all of it is."""
        with self.lock:
            head = repo.at(branch)
            if branch not in repo.branches:
                raise HubError(400, "", f"{branch} is no branch")
            tree, about = dict(head.tree), lines[0]["value"]
            if about.get("parentCommit") not in (None, head.sha):
                raise HubError(412, "", "A commit has happened since. Please refresh and try again.")
            for line in lines[1:]:
                self._apply(tree, line["key"], line["value"])
            if self.damage:
                self.damage(tree)
            return self._add(repo, branch, tree, about["summary"], about.get("description", ""), head.sha)

    def _apply(self, tree: dict[str, Entry], key: str, value: dict[str, Any]) -> None:
        path = value["path"]
        if key == "file":
            tree[path] = self.put(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            stored = self.object_path(value["oid"])
            if not stored.is_file():
                raise HubError(400, "", f"LFS object {value['oid']} was never uploaded")
            tree[path] = self.put(stored.read_bytes(), is_lfs=True)
        elif key == "deletedFile":
            if tree.pop(path, None) is None:
                raise HubError(404, "EntryNotFound", "A file with this name doesn't exist")
        else:
            raise HubError(400, "", f"no such operation here: {key}")

    def _add(
        self, repo: Repo, branch: str, tree: dict[str, Entry], title: str, description: str, parent: str | None
    ) -> Commit:
        said = json.dumps([next(self._count), repo.name, title, sorted(tree)]).encode()
        commit = Commit(hashlib.sha1(said).hexdigest(), tree, title, description, parent)
        repo.commits[commit.sha] = commit
        repo.branches[branch] = commit.sha
        return commit


def is_lfs(path: str, size: int, sample: bytes) -> bool:
    """Whether the Hub keeps such a file outside git."""
    return size > 0 and (path.lower().endswith(LFS_SUFFIXES) or size > REGULAR_LIMIT or b"\0" in sample)
