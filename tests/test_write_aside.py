"""A file is there whole or as it was before, whatever happens while it is written."""

import os
import stat
from pathlib import Path

import pytest

from clinical_evals.write_aside import ABANDONED, written_aside


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report [1].json"
    path.write_text("old")
    with written_aside(path) as aside:
        aside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # rows of patients: for their owner only


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "rows.json"
    path.write_text("old")

    def write_half() -> None:
        with written_aside(path) as aside:
            aside.write_text("half of the n")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_library_may_put_its_own_file_in_its_place(tmp_path: Path) -> None:
    """Some write aside themselves and rename: then the name stands for another file than the one that was made."""
    path = tmp_path / "rows.json"
    with written_aside(path) as aside:
        own = tmp_path / "own"
        own.write_text("new")
        own.replace(aside)
    assert path.read_text() == "new"


def test_what_a_killed_process_left_is_removed_but_not_what_another_one_writes(tmp_path: Path) -> None:
    left, fresh, other = (tmp_path / name for name in (".a*.json.x1.part", ".a*.json.x2.part", ".ab.json.x3.part"))
    for file in (left, fresh, other):
        file.write_text("half")
    for file in (left, other):
        os.utime(file, (0, file.stat().st_mtime - ABANDONED - 60))
    with written_aside(tmp_path / "a*.json") as aside:
        aside.write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, other.name, "a*.json"]
    with written_aside(tmp_path / "a*.json", alone=True) as aside:
        aside.write_text("newer")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "a*.json"]
