"""What hatchling asks before it packs: files that git does not track must not be in a wheel."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig

PACKED = ("src/clinical_evals", "metrics", "datasets")


class TrackedFilesOnly(BuildHookInterface[WheelBuilderConfig]):
    """Stops the build of a wheel in a checkout that has untracked files where packed ones are.

    The list of files in pyproject.toml goes by pattern, so a forgotten script or table would go along. Outside of a
    git checkout (an unpacked sdist) there is nothing to compare with.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look before anything is packed; an editable install packs nothing."""
        root = Path(self.root)
        if version == "editable" or not (root / ".git").exists():
            return
        packed = {included.distribution_path for included in self.build_config.builder.recurse_included_files()}
        untracked = [name for name in _untracked(root) if _place(name) in packed]
        if untracked:
            raise RuntimeError(
                f"untracked files would be packed: {', '.join(sorted(untracked))}. Commit, move or remove them."
            )


def _untracked(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--others", "--", *PACKED]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise RuntimeError(
            f"git does not say which files it tracks, so that others could be packed: {said}. Install git, or build "
            "from a copy without .git."
        ) from error
    return [name for name in listed.stdout.split("\0") if name]


def _place(name: str) -> str:
    """Where a file of the repository lies in the wheel."""
    return name.removeprefix("src/") if name.startswith("src/") else f"clinical_evals/assets/{name}"
