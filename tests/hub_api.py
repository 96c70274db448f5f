"""What the Hub for tests answers to each address."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import yaml
from hub_store import Commit, Entry, HubError, Repo, Store, is_lfs

TYPES = {"models": "model", "datasets": "dataset", "spaces": "space"}
PREFIXES = {"": "model", "datasets/": "dataset", "spaces/": "space"}
WHEN = "2026-11-30T12:00:00.000Z"


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


def answer(store: Store, call: Call) -> Answer:
    """Carry a request out."""
    for pattern, handler in _ROUTES:
        found = re.fullmatch(pattern, f"{call.method} {call.path}")
        if found:
            return handler(store, call, **{name: unquote(part) for name, part in found.groupdict().items() if part})
    raise HubError(404, "", f"the Hub for tests knows no {call.method} {call.path}")


def _repo(store: Store, call: Call, kind: str, name: str, write: bool = False) -> Repo:
    repo = store.repos.get((kind, name))
    if repo is None or (repo.private and not call.role):
        raise HubError(404, "RepoNotFound", "Repository not found")
    if write:
        _may_write(call, name.partition("/")[0])
    return repo


def _may_write(call: Call, owner: str) -> None:
    if not call.role:
        raise HubError(401, "", "Invalid username or password.")
    if call.role != "write" or owner == "others":
        raise HubError(403, "", f'You don\'t have the rights to write under the namespace "{owner}"')


def _create(store: Store, call: Call) -> Answer:
    given = call.json
    owner = given.get("organization") or "someone"
    _may_write(call, owner)
    kind, name = given.get("type", "model"), f"{owner}/{given['name']}"
    url = f"{call.url}/{'' if kind == 'model' else kind + 's/'}{name}"
    if (kind, name) in store.repos:
        return Answer(409, {"error": f"You already created this {kind} repo: {name}", "url": url})
    store.create(kind, name, given.get("visibility") == "private", given.get("sdk"))
    return Answer(200, {"url": url, "name": name})


def _whoami(store: Store, call: Call) -> Answer:
    if not call.role:
        raise HubError(401, "", "Invalid username or password.")
    return Answer(200, {"name": "someone", "type": "user", "orgs": [], "auth": {"accessToken": {"role": call.role}}})


def _validate(store: Store, call: Call) -> Answer:
    head = re.match(r"---\n(.*?)\n---", call.json["content"], re.DOTALL)
    try:
        known = yaml.safe_load(head[1]) if head else {}
        errors = [] if isinstance(known, dict) else [{"message": "the metadata is no mapping"}]
    except yaml.YAMLError as error:
        errors = [{"message": f"bad YAML: {error}"}]
    return Answer(400 if errors else 200, {"errors": errors, "warnings": []})


def _info(store: Store, call: Call, types: str, name: str, revision: str = "main") -> Answer:
    repo = _repo(store, call, TYPES[types], name)
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


def _settings(store: Store, call: Call, types: str, name: str) -> Answer:
    repo = _repo(store, call, TYPES[types], name, write=True)
    repo.gated = call.json.get("gated", repo.gated)
    if "visibility" in call.json:
        repo.private = call.json["visibility"] == "private"
    return Answer(200, {"private": repo.private, "gated": repo.gated})


def _preupload(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    tree = _repo(store, call, TYPES[types], name, write=True).at(revision).tree
    files = []
    for file in call.json["files"]:
        large = is_lfs(file["path"], file["size"], base64.b64decode(file["sample"]))
        there = tree.get(file["path"])
        oid = None if there is None else there.sha256 if there.is_lfs else there.oid
        mode = "lfs" if large else "regular"
        files.append(
            {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, **({"oid": oid} if oid else {})}
        )
    return Answer(200, {"files": files})


def _batch(store: Store, call: Call, name: str, prefix: str = "") -> Answer:
    _repo(store, call, PREFIXES[prefix], name, write=True)
    objects = []
    for item in call.json["objects"]:
        actions = {
            "upload": {"href": f"{call.url}/lfs-storage/{item['oid']}", "header": {}},
            "verify": {"href": f"{call.url}/api/{name}.git/info/lfs/verify", "header": {}},
        }
        there = store.object_path(item["oid"]).is_file()
        objects.append({"oid": item["oid"], "size": item["size"], **({} if there else {"actions": actions})})
    return Answer(200, {"transfer": "basic", "objects": objects}, {"Content-Type": "application/vnd.git-lfs+json"})


def _upload(store: Store, call: Call, oid: str) -> Answer:
    if hashlib.sha256(call.body).hexdigest() != oid:
        raise HubError(400, "", "the bytes are not those of the address")
    store.put(call.body)
    return Answer(200, {"stored": oid})


def _verify(store: Store, call: Call, name: str) -> Answer:
    stored = store.object_path(call.json["oid"])
    if not stored.is_file() or stored.stat().st_size != call.json["size"]:
        raise HubError(404, "", "no such object")
    return Answer(200, {})


def _commit(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    repo = _repo(store, call, TYPES[types], name, write=True)
    commit = store.commit(repo, revision, [json.loads(line) for line in call.body.splitlines() if line])
    url = f"{call.url}/{'' if types == 'models' else types + '/'}{name}/commit/{commit.sha}"
    return Answer(200, {"success": True, "commitOid": commit.sha, "commitUrl": url, "hookOutput": ""})


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


def _tree(store: Store, call: Call, types: str, name: str, revision: str, path: str | None = None) -> Answer:
    commit = _repo(store, call, TYPES[types], name).at(revision)
    recursive = call.query.get("recursive", ["false"])[0].lower() == "true"
    entries = _listed(commit, f"{path}/" if path else "", recursive)
    if path and not entries:
        raise HubError(404, "EntryNotFound", f"{path} does not exist on {revision}")
    start = int(call.query.get("cursor", ["0"])[0])
    end = start + call.page
    more = f'<{call.url}{call.path}?recursive={str(recursive).lower()}&cursor={end}>; rel="next"'
    return Answer(200, entries[start:end], {"Link": more} if end < len(entries) else {})


def _paths(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    commit = _repo(store, call, TYPES[types], name).at(revision)
    is_json = call.body[:1] == b"{"
    asked = call.json["paths"] if is_json else parse_qs(call.body.decode()).get("paths", [])
    every = {entry["path"]: entry for entry in _listed(commit, "", True)}
    return Answer(200, [every[path] for path in asked if path in every])


def _branch(store: Store, call: Call, types: str, name: str, branch: str) -> Answer:
    repo = _repo(store, call, TYPES[types], name, write=True)
    if branch in repo.branches:
        raise HubError(409, "", f"Reference already exists: {branch}")
    start = (call.json if call.body else {}).get("startingPoint") or "main"
    repo.branches[branch] = repo.at(start).sha
    return Answer(200, {})


def _tag(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    repo = _repo(store, call, TYPES[types], name, write=True)
    repo.tags[call.json["tag"]] = repo.at(revision).sha
    return Answer(200, {})


def _refs(store: Store, call: Call, types: str, name: str) -> Answer:
    repo = _repo(store, call, TYPES[types], name)

    def shown(kind: str, refs: Mapping[str, str]) -> list[dict[str, str]]:
        return [{"name": ref, "ref": f"refs/{kind}/{ref}", "targetCommit": sha} for ref, sha in refs.items()]

    return Answer(200, {"branches": shown("heads", repo.branches), "tags": shown("tags", repo.tags), "converts": []})


def _resolve(store: Store, call: Call, name: str, revision: str, path: str, prefix: str = "") -> Answer:
    repo = _repo(store, call, PREFIXES[prefix], name)
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


def _cdn(store: Store, call: Call, oid: str) -> Answer:
    return Answer(200, store.object_path(oid).read_bytes(), {"ETag": f'"{oid}"'})


_API = r"/api/(?P<types>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
_ID = r"(?P<prefix>datasets/|spaces/)?(?P<name>[^/]+/[^/]+?)"
_REV = r"(?P<revision>[^/]+)"
_ROUTES: tuple[tuple[str, Callable[..., Answer]], ...] = (
    ("POST /api/repos/create", _create),
    ("GET /api/whoami-v2", _whoami),
    ("POST /api/validate-yaml", _validate),
    (f"GET {_API}", _info),
    (f"GET {_API}/revision/{_REV}", _info),
    (f"PUT {_API}/settings", _settings),
    (f"POST {_API}/preupload/{_REV}", _preupload),
    (f"POST {_API}/commit/{_REV}", _commit),
    (f"GET {_API}/tree/{_REV}(?:/(?P<path>.+))?", _tree),
    (f"POST {_API}/paths-info/{_REV}", _paths),
    (f"POST {_API}/branch/(?P<branch>.+)", _branch),
    (f"POST {_API}/tag/{_REV}", _tag),
    (f"GET {_API}/refs", _refs),
    (rf"POST /{_ID}\.git/info/lfs/objects/batch", _batch),
    (r"POST /api/(?P<name>[^/]+/[^/]+)\.git/info/lfs/verify", _verify),
    ("PUT /lfs-storage/(?P<oid>[0-9a-f]{64})", _upload),
    ("(?:GET|HEAD) /cdn/(?P<oid>[0-9a-f]{64})", _cdn),
    (rf"(?:GET|HEAD) /{_ID}/resolve/{_REV}/(?P<path>.+)", _resolve),
)
