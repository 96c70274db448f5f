"""What the Hub for tests tells of its repositories."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from hub_call import PREFIXES, TYPES, Answer, Call, failure, repo_of
from hub_store import Commit, Entry, HubError, Store

WHEN = "2026-11-30T12:00:00.000Z"


def whoami(store: Store, call: Call) -> Answer:
    if not call.role:
        raise HubError(401, "", "Invalid username or password.")
    return Answer(200, {"name": "someone", "type": "user", "orgs": [], "auth": {"accessToken": {"role": call.role}}})


def info(store: Store, call: Call, types: str, name: str, revision: str = "main") -> Answer:
    repo = repo_of(store, call, TYPES[types], name)
    commit = repo.at(revision)
    about = {
        "_id": "0" * 24,
        "id": name,
        "author": name.partition("/")[0],
        "sha": commit.sha,
        "lastModified": WHEN,
        "createdAt": WHEN,
        "private": repo.private,
        "gated": repo.gated,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [{"rfilename": path} for path in sorted(commit.tree)],
        **({"sdk": repo.sdk} if repo.sdk else {}),
    }
    return Answer(200, about)


def _entry(path: str, entry: Entry) -> dict[str, Any]:
    lfs = {"lfs": {"oid": entry.sha256, "size": entry.size, "pointerSize": 134}} if entry.is_lfs else {}
    return {"type": "file", "path": path, "size": entry.size, "oid": entry.oid, **lfs}


def _listed(commit: Commit, below: str, recursive: bool) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path, entry in sorted(commit.tree.items()):
        rest = path.removeprefix(below)
        if rest == path and below:
            continue
        parts = rest.split("/")
        for depth in range(1, len(parts) if recursive else min(2, len(parts))):
            folder = below + "/".join(parts[:depth])
            found.setdefault(folder, {"type": "directory", "path": folder, "size": 0, "oid": "0" * 40})
        if recursive or len(parts) == 1:
            found[path] = _entry(path, entry)
    return list(found.values())


def tree(store: Store, call: Call, types: str, name: str, revision: str, path: str | None = None) -> Answer:
    commit = repo_of(store, call, TYPES[types], name).at(revision)
    recursive = call.query.get("recursive", ["false"])[0].lower() == "true"
    entries = _listed(commit, f"{path}/" if path else "", recursive)
    if path and not entries:
        raise HubError(404, "EntryNotFound", f"{path} does not exist on {revision}")
    start = int(call.query.get("cursor", ["0"])[0])
    end = start + call.page
    more = f'<{call.url}{call.path}?recursive={str(recursive).lower()}&cursor={end}>; rel="next"'
    return Answer(200, entries[start:end], {"Link": more} if end < len(entries) else {})


def paths(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    commit = repo_of(store, call, TYPES[types], name).at(revision)
    is_json = call.body[:1] == b"{"
    asked = call.json["paths"] if is_json else parse_qs(call.body.decode()).get("paths", [])
    every = {entry["path"]: entry for entry in _listed(commit, "", True)}
    return Answer(200, [every[path] for path in asked if path in every])


def refs(store: Store, call: Call, types: str, name: str) -> Answer:
    repo = repo_of(store, call, TYPES[types], name)

    def shown(kind: str, refs: Mapping[str, str]) -> list[dict[str, str]]:
        return [{"name": ref, "ref": f"refs/{kind}/{ref}", "targetCommit": sha} for ref, sha in refs.items()]

    return Answer(200, {"branches": shown("heads", repo.branches), "tags": shown("tags", repo.tags), "converts": []})


def resolve(store: Store, call: Call, name: str, revision: str, path: str, prefix: str = "") -> Answer:
    repo = repo_of(store, call, PREFIXES[prefix], name)
    if repo.gated and not call.role:
        raise HubError(401, "GatedRepo", f"Access to {name} is restricted.")
    commit = repo.at(revision)
    entry = commit.tree.get(path)
    about = {"X-Repo-Commit": commit.sha}
    if entry is None:
        missing = failure(HubError(404, "EntryNotFound", "Entry not found"))
        return Answer(404, missing.content, {**missing.headers, **about})
    content = store.object_path(entry.sha256).read_bytes()
    if entry.is_lfs:
        about |= {"X-Linked-Etag": f'"{entry.sha256}"', "X-Linked-Size": str(entry.size)}
        about |= {"ETag": f'"{entry.sha256}"'}
        if call.method == "HEAD":
            return Answer(200, content, about)
        return Answer(302, b"", {**about, "Location": f"{call.url}/cdn/{entry.sha256}"})
    return Answer(200, content, {**about, "ETag": f'"{entry.oid}"'})


def cdn(store: Store, call: Call, oid: str) -> Answer:
    return Answer(200, store.object_path(oid).read_bytes(), {"ETag": f'"{oid}"'})
