"""The repository a push goes to: found or made, and seen to be as private as the guard was told."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clinical_evals.errors import InputError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TYPES = ("dataset", "model", "space")
PREFIXES = {"dataset": "datasets/", "model": "", "space": "spaces/"}


@dataclass(frozen=True)
class Repository:
    """Where a push goes.

    Args:
        name: ORG/NAME.
        repo_type: dataset, model or space.
        public: whether anyone may read it.
        gated: how readers are let in, or None to leave that as it is.
        branch: the branch; it is made from main if need be.
    """

    name: str
    repo_type: str
    public: bool
    gated: Literal["auto", "manual"] | None = None
    branch: str = "main"

    def address(self, endpoint: str) -> str:
        """Of its page, without the branch."""
        return f"{endpoint}/{PREFIXES[self.repo_type]}{self.name}"


def make_ready(api: "HfApi", repository: Repository) -> str:
    """Find or make the repository, its gate and its branch; nothing is sent yet. May be done again.

    Returns:
        The commit at the head of the branch.

    Raises:
        InputError: a repository of another type has the name, or it is not as private as asked.
    """
    found = _find(api, repository)
    if found is None:
        _check_other_types(api, repository)
        api.create_repo(
            repository.name,
            repo_type=repository.repo_type,
            private=not repository.public,
            space_sdk="gradio" if repository.repo_type == "space" else None,
            exist_ok=True,
        )
        found = api.repo_info(repository.name, repo_type=repository.repo_type)
    _check_visibility(repository, bool(getattr(found, "private", False)))
    if repository.gated and getattr(found, "gated", False) != repository.gated:
        api.update_repo_settings(repository.name, repo_type=repository.repo_type, gated=repository.gated)
    if repository.branch != "main":
        api.create_branch(repository.name, repo_type=repository.repo_type, branch=repository.branch, exist_ok=True)
    head = api.repo_info(repository.name, repo_type=repository.repo_type, revision=repository.branch).sha
    if head is None:
        raise InputError(f"the Hub names no commit at the head of {repository.branch} in {repository.name}")
    return head


def _find(api: "HfApi", repository: Repository, repo_type: str = "") -> object | None:
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        return api.repo_info(repository.name, repo_type=repo_type or repository.repo_type)
    except RepositoryNotFoundError:
        return None


def _check_other_types(api: "HfApi", repository: Repository) -> None:
    for other in TYPES:
        if other != repository.repo_type and _find(api, repository, other) is not None:
            raise InputError(
                f"{repository.name} is a {other} on the Hub, and this push makes a {repository.repo_type}: give it "
                f"another name, or push as what it is"
            )


def _check_visibility(repository: Repository, is_private: bool) -> None:
    if repository.public and is_private:
        raise InputError(
            f"{repository.name} is there and private. A push never makes it public: what it holds was not looked at, "
            "its history included. Push without --public, or to a new repository."
        )
    if not repository.public and not is_private:
        raise InputError(
            f"{repository.name} is public, and this push was checked for a private repository. With --public it is "
            "checked for a public one; or give another repository."
        )
