"""Which resources are on this machine, where, and whether they are still what they were."""

import importlib.metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple

from clinical_evals.errors import ClinicalEvalsError, InputError
from clinical_evals.ontology.resources import Found, kept_file, locate, telling_where
from clinical_evals.ontology.resources.content import sha256_of
from clinical_evals.ontology.resources.folder import Recorded, kept_folder, read_record
from clinical_evals.ontology.resources.manifest import RESOURCES, Resource
from clinical_evals.ontology.resources.reading import read_resource
from clinical_evals.ontology.resources.remarks import remark_on_hash, remarks_on
from clinical_evals.ontology.resources.unchanged import require_hash


class Listed(NamedTuple):
    """One resource and its state."""

    resource: Resource
    found: Found | None
    problem: str
    """Why it cannot be used although there is something; empty else."""
    stand_in: str
    """The installed package that stands in for the file, with its version; empty if there is none."""
    remark: str = ""
    """That the file is another one than the one that the manifest knows; empty else."""

    @property
    def state(self) -> str:
        """One of: found, problem, package, optional (absent, the system works without), absent."""
        if self.problem:
            return "problem"
        if self.found:
            return "found"
        if self.stand_in:
            return "package"
        return "optional" if self.resource.without else "absent"


def list_resources() -> list[Listed]:
    """All resources of the manifest, looked for as the code systems look for them.

    Files are not read; one of which the manifest knows the hash is hashed, if it is not in the record.
    """
    return [_listed(resource) for resource in RESOURCES]


def _listed(resource: Resource) -> Listed:
    try:
        found, problem = locate(resource), ""
        remark = _remark(resource, found) if found else ""
    except InputError as error:
        found, problem, remark = None, str(error), ""
    return Listed(resource, found, problem, _installed(resource.instead), remark)


def _remark(resource: Resource, found: Found) -> str:
    if not (resource.download and resource.download.pinned):
        return ""
    recorded = _recorded(resource, found)
    if recorded:
        return remark_on_hash(resource, found, recorded.sha256, recorded.entries)
    return remark_on_hash(resource, found, sha256_of(found.path))


def _recorded(resource: Resource, found: Found) -> Recorded | None:
    """What the record says of a file; None where it is not the recorded one."""
    recorded = read_record(kept_folder()).get(resource.name)
    return recorded if recorded and found.path == kept_folder() / recorded.file else None


def _installed(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}" if package else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def as_json(listed: Listed) -> dict[str, Any]:
    """The same for programs."""
    resource = listed.resource
    return {
        "name": resource.name,
        "system": resource.system,
        "what": resource.what,
        "used_for": resource.used_for,
        "tested_release": resource.tested,
        "official": resource.official,
        "licence": resource.licence,
        "state": listed.state,
        "path": str(listed.found.path) if listed.found else None,
        "found_by": listed.found.by if listed.found else None,
        "problem": listed.problem or None,
        "remark": listed.remark or None,
        "package": listed.stand_in or None,
        "fetch": resource.fetch_command or None,
        "releases": list(resource.download.addresses) if resource.download else [],
        "add": resource.add_command,
    }


def as_text(listed: Listed) -> str:
    """The same for people: some lines."""
    resource = listed.resource
    lines = [
        f"{resource.name}: {resource.what}",
        f"  for {resource.used_for}; tested with {resource.tested}",
        f"  licence: {resource.licence}",
        f"  {_state_line(listed)}",
    ]
    if listed.remark:
        lines.append(f"  note: {listed.remark}")
    if listed.state in ("absent", "optional"):
        lines.append(f"  get it: {resource.fetch_command or f'{resource.add_command} (from {resource.official})'}")
    return "\n".join(lines)


def _state_line(listed: Listed) -> str:
    if listed.found:
        return f"found: {listed.found.path} ({listed.found.by})"
    return {
        "problem": f"problem: {listed.problem}",
        "package": f"no file; the package {listed.stand_in} stands in",
        "optional": f"absent, optional: {listed.resource.without}",
        "absent": "absent",
    }[listed.state]


class Verified(NamedTuple):
    """What came of reading one file again."""

    name: str
    state: Literal["ok", "note", "bad", "absent"]
    """note: it can be used, but may not be the whole file, see what is said."""
    said: str


def verify(resource: Resource) -> list[Verified]:
    """Hash and read again each file that is found for a resource; where there is none, what stands in.

    The kept file is looked at too where the environment variable's folder goes before it.
    """
    results: list[Verified] = []
    seen: set[Path] = set()
    for look in (locate, kept_file):
        try:
            found = look(resource)
            if found and found.path not in seen:
                seen.add(found.path)
                results.append(_verify_file(resource, found))
        except ClinicalEvalsError as error:
            if all(result.said != str(error) for result in results):
                results.append(Verified(resource.name, "bad", str(error)))
    if results:
        return results
    listed = _listed(resource)
    absent = listed.state in ("absent", "optional")
    return [Verified(resource.name, "absent" if absent else "ok", _state_line(listed))]


def _verify_file(resource: Resource, found: Found) -> Verified:
    sha256 = sha256_of(found.path)
    if recorded := _recorded(resource, found):
        require_hash(resource, found.path, recorded, sha256)
    with telling_where(resource.name):
        read = read_resource(resource, found.path)
    remarks = remarks_on(resource, found, sha256, read.entries)
    said = f"{found.path}: {'; '.join([read.content, *remarks])}; SHA-256 {sha256}"
    return Verified(resource.name, "note" if remarks else "ok", said)
