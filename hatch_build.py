"""What hatchling asks before it packs: files that git does not track must not be in a wheel."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKED = ("src/clinical_evals", "metrics", "datasets")


class TrackedFilesOnly(BuildHookInterface):  # type: ignore[type-arg]
    """Stops the build of a wheel in a checkout that has untracked files where packed ones are.

    The list of files in pyproject.toml goes by pattern, so a forgotten script or table would go along. Outside of a
    git checkout (an unpacked sdist) there is nothing to compare with.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look before anything is packed; an editable install packs nothing."""
        root = Path(self.root)
        if version == "editable" or not (root / ".git").exists():
            return
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--others", "--", *PACKED], cwd=root, capture_output=True, text=True, check=False
        )
        if listed.returncode:
            return  # no git here: a copy of a checkout without its history
        packed = {included.distribution_path for included in self.build_config.builder.recurse_included_files()}
        untracked = [name for name in listed.stdout.split("\0") if name and _place(name) in packed]
        if untracked:
            raise RuntimeError(
                f"untracked files would be packed: {', '.join(sorted(untracked))}. Commit, move or remove them."
            )


def _place(name: str) -> str:
    """Where a file of the repository lies in the wheel."""
    return name.removeprefix("src/") if name.startswith("src/") else f"clinical_evals/assets/{name}"
