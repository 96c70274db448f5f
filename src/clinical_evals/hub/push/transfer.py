"""One commit with card and data, and the repository read back after it.

`upload_folder` (with Xet) and `upload_large_folder` of huggingface_hub 1.33 make several commits of a large folder,
and the latter is deprecated. `create_commit` makes one of any size: large files go first, each under its hash, so that
a repeated push sends only those that did not arrive, and the commit, which is all or nothing, goes last.
"""

from typing import TYPE_CHECKING, NamedTuple

from clinical_evals.errors import RunError
from clinical_evals.hub.push.manifest import Manifest
from clinical_evals.hub.push.repository import Repository, make_ready

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

MOST_SHOWN = 5
OWN = (".gitattributes",)
"""Files that the Hub keeps for itself."""


class Message(NamedTuple):
    """Of the commit."""

    title: str
    text: str


class Sent(NamedTuple):
    """What a push did."""

    commit: str
    """The hash at the head of the branch now."""
    removed: tuple[str, ...]
    """Files of earlier pushes that went in the same commit."""
    is_new: bool
    """Whether there is a new commit: a repeated push of the same files makes none."""


def send(api: "HfApi", repository: Repository, manifest: Manifest, message: Message, mirror: bool) -> Sent:
    """Make the repository hold the files; may be done again, and finds done what was done.

    Args:
        api: with a token.
        repository: where to.
        manifest: the files.
        message: of the commit.
        mirror: whether files of earlier pushes that are none of these are removed.

    Raises:
        RunError: the repository holds something else afterwards.
        InputError: the repository is not as it should be.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    head = make_ready(api, repository)
    there = _tree(api, repository, head)
    removed = tuple(sorted(set(there) - set(manifest) - set(OWN))) if mirror else ()
    operations: list[CommitOperationAdd | CommitOperationDelete] = [
        CommitOperationDelete(path_in_repo=place) for place in removed
    ]
    for place, item in manifest.items():
        operation = CommitOperationAdd(path_in_repo=place, path_or_fileobj=item.path)
        operation.upload_info.sha256 = bytes.fromhex(item.sha256)  # of the bytes that the guard cleared
        operations.append(operation)
    commit = api.create_commit(
        repository.name,
        operations,
        repo_type=repository.repo_type,
        commit_message=message.title,
        commit_description=message.text,
        revision=repository.branch,
        parent_commit=head,
    )
    _compare(repository, manifest, _tree(api, repository, commit.oid), removed)
    return Sent(commit.oid, removed, commit.oid != head)


def _tree(api: "HfApi", repository: Repository, revision: str) -> dict[str, "RepoFile"]:
    from huggingface_hub.hf_api import RepoFile

    entries = api.list_repo_tree(repository.name, repo_type=repository.repo_type, revision=revision, recursive=True)
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _compare(
    repository: Repository, manifest: Manifest, there: dict[str, "RepoFile"], removed: tuple[str, ...]
) -> None:
    """Hold what the Hub lists against what was to be sent."""
    wrong = [f"{place}: still there" for place in removed if place in there]
    for place, item in manifest.items():
        entry = there.get(place)
        if entry is None:
            wrong.append(f"{place}: missing")
        elif entry.size != item.size:
            wrong.append(f"{place}: {entry.size:,} bytes, expected {item.size:,}")
        elif (entry.lfs.sha256 if entry.lfs else entry.blob_id) != (item.sha256 if entry.lfs else item.blob):
            wrong.append(f"{place}: another hash")
    if wrong:
        more = f"; and {len(wrong) - MOST_SHOWN} more" if len(wrong) > MOST_SHOWN else ""
        raise RunError(
            f"{repository.name} was read back and does not hold what was sent: {'; '.join(wrong[:MOST_SHOWN])}{more}. "
            "Files changed here meanwhile, a .gitignore there leaves them out, or the Hub lost them: push again when "
            "that is settled."
        )
