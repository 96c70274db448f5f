"""A request of the Hub for tests, its answer, and who may ask for what."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hub_store import HubError, Repo, Store

TYPES = {"models": "model", "datasets": "dataset", "spaces": "space"}
PREFIXES = {"": "model", "datasets/": "dataset", "spaces/": "space"}


class Call(NamedTuple):
    """A request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    body: bytes
    role: str
    url: str
    page: int

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass
class Answer:
    """Status, JSON or bytes, headers."""

    status: int
    content: Any = b""
    headers: Mapping[str, Any] = field(default_factory=dict)


def failure(error: HubError) -> Answer:
    """An error as the Hub words it."""
    headers = {"X-Error-Message": str(error), **({"X-Error-Code": error.code} if error.code else {})}
    return Answer(error.status, {"error": str(error)}, headers)


def repo_of(store: Store, call: Call, kind: str, name: str, write: bool = False) -> Repo:
    """The repository, if whoever asks may see it, or write to it."""
    repo = store.repos.get((kind, name))
    if repo is None or (repo.private and not call.role):
        raise HubError(404, "RepoNotFound", "Repository not found")
    if write:
        may_write(call, name.partition("/")[0])
    return repo


def may_write(call: Call, owner: str) -> None:
    """Raise unless the token may write to what an owner has."""
    if not call.role:
        raise HubError(401, "", "Invalid username or password.")
    if call.role != "write" or owner == "others":
        raise HubError(403, "", f'You don\'t have the rights to write under the namespace "{owner}"')
