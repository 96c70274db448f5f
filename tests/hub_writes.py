"""What changes the repositories of the Hub for tests."""

import base64
import hashlib
import json
import re

import yaml
from hub_call import PREFIXES, TYPES, Answer, Call, may_write, repo_of
from hub_store import HubError, Store, is_lfs


def create(store: Store, call: Call) -> Answer:
    given = call.json
    owner = given.get("organization") or "someone"
    may_write(call, owner)
    kind, name = given.get("type", "model"), f"{owner}/{given['name']}"
    url = f"{call.url}/{'' if kind == 'model' else kind + 's/'}{name}"
    if (kind, name) in store.repos:
        return Answer(409, {"error": f"You already created this {kind} repo: {name}", "url": url})
    store.create(kind, name, given.get("visibility") == "private", given.get("sdk"))
    return Answer(200, {"url": url, "name": name})


def validate(store: Store, call: Call) -> Answer:
    head = re.match(r"---\n(.*?)\n---", call.json["content"], re.DOTALL)
    try:
        known = yaml.safe_load(head[1]) if head else {}
        errors = [] if isinstance(known, dict) else [{"message": "the metadata is no mapping"}]
    except yaml.YAMLError as error:
        errors = [{"message": f"bad YAML: {error}"}]
    return Answer(400 if errors else 200, {"errors": errors, "warnings": []})


def settings(store: Store, call: Call, types: str, name: str) -> Answer:
    repo = repo_of(store, call, TYPES[types], name, write=True)
    repo.gated = call.json.get("gated", repo.gated)
    if "visibility" in call.json:
        repo.private = call.json["visibility"] == "private"
    return Answer(200, {"private": repo.private, "gated": repo.gated})


def preupload(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    tree = repo_of(store, call, TYPES[types], name, write=True).at(revision).tree
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


def batch(store: Store, call: Call, name: str, prefix: str = "") -> Answer:
    repo_of(store, call, PREFIXES[prefix], name, write=True)
    objects = []
    for item in call.json["objects"]:
        actions = {
            "upload": {"href": f"{call.url}/lfs-storage/{item['oid']}", "header": {}},
            "verify": {"href": f"{call.url}/api/{name}.git/info/lfs/verify", "header": {}},
        }
        there = store.object_path(item["oid"]).is_file()
        objects.append({"oid": item["oid"], "size": item["size"], **({} if there else {"actions": actions})})
    return Answer(200, {"transfer": "basic", "objects": objects}, {"Content-Type": "application/vnd.git-lfs+json"})


def upload(store: Store, call: Call, oid: str) -> Answer:
    if hashlib.sha256(call.body).hexdigest() != oid:
        raise HubError(400, "", "the bytes are not those of the address")
    store.put(call.body)
    return Answer(200, {"stored": oid})


def verify(store: Store, call: Call, name: str) -> Answer:
    stored = store.object_path(call.json["oid"])
    if not stored.is_file() or stored.stat().st_size != call.json["size"]:
        raise HubError(404, "", "no such object")
    return Answer(200, {})


def commit(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    repo = repo_of(store, call, TYPES[types], name, write=True)
    commit = store.commit(repo, revision, [json.loads(line) for line in call.body.splitlines() if line])
    url = f"{call.url}/{'' if types == 'models' else types + '/'}{name}/commit/{commit.sha}"
    return Answer(200, {"success": True, "commitOid": commit.sha, "commitUrl": url, "hookOutput": ""})


def branch(store: Store, call: Call, types: str, name: str, branch: str) -> Answer:
    repo = repo_of(store, call, TYPES[types], name, write=True)
    if branch in repo.branches:
        raise HubError(409, "", f"Reference already exists: {branch}")
    start = (call.json if call.body else {}).get("startingPoint") or "main"
    repo.branches[branch] = repo.at(start).sha
    return Answer(200, {})


def tag(store: Store, call: Call, types: str, name: str, revision: str) -> Answer:
    repo = repo_of(store, call, TYPES[types], name, write=True)
    repo.tags[call.json["tag"]] = repo.at(revision).sha
    return Answer(200, {})
