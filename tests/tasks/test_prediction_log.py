"""The log survives whatever happens to the process that writes it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.errors import InputError, RunError
from clinical_evals.tasks.prediction_log import PredictionLog, read_log, row_key

RUN: dict[str, Any] = {
    "task": "clibench:diagnosis",
    "model": {"weights": {"sha256": "a"}},
    "settings": {"context": 8192},
}
ABOUT = {"versions": {"clinical-evals": "0.1.0"}}
BATCHES = [["k0", "k1", "k2"], ["k3", "k4"], ["k5"]]


def lines(batch: list[str]) -> list[dict[str, Any]]:
    return [{"key": key, "answers": [f"I10\n{key} – é 血"]} for key in batch]


def write(path: Path, batches: list[list[str]] = BATCHES) -> bytes:
    log = PredictionLog(path, RUN, ABOUT)
    for batch in batches:
        missing = [line for line in lines(batch) if line["key"] not in log.rows]
        if missing:
            log.append(missing)
    log.close()
    return path.read_bytes()


def test_header_and_rows(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "log.jsonl")
    header, rows = read_log(tmp_path / "deep" / "log.jsonl")
    assert (header["run"], header["versions"]) == (RUN, ABOUT["versions"])
    assert [row["key"] for row in rows] == ["k0", "k1", "k2", "k3", "k4", "k5"]
    assert [row["batch"] for row in rows] == [[0, 3], [1, 3], [2, 3], [0, 2], [1, 2], [0, 1]]


def test_cut_at_any_byte_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.jsonl")
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    whole_batches = [ends[3], ends[5], ends[6]]  # after the header and 3, 5 and 6 rows
    for size in range(0, len(whole) + 1):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(whole[:size])
        log = PredictionLog(path, RUN, ABOUT)
        # What counts as finished is what was whole on the disk: batches that ended before the cut.
        assert len(log.rows) == sum(rows for rows, end in zip((3, 2, 1), whole_batches, strict=True) if end <= size)
        log.close()
        assert write(path) == whole


def test_zeros_after_a_power_cut_are_cut_off(tmp_path: Path) -> None:
    whole = write(tmp_path / "log.jsonl")
    (tmp_path / "log.jsonl").write_bytes(whole + b"\0" * 4096)
    assert write(tmp_path / "log.jsonl") == whole


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(write(path).replace(b'{"key":"k2"', b'{"key":"k2', 1))
    with pytest.raises(RunError, match=r"log\.jsonl, line 4: .*remove it to start over"):
        PredictionLog(path, RUN, ABOUT)


@pytest.mark.parametrize(
    "content", ['{"kind": "something else"}\n', "[1]\n{}\n", '{\n "task": 1\n}\n', '{"a": 1}\n{"b": 2}\n']
)
def test_another_file_is_not_touched(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(content)
    with pytest.raises((RunError, InputError), match=r"does not start with"):
        PredictionLog(path, RUN, ABOUT)
    assert path.read_text() == content
    with pytest.raises(InputError, match="is not a prediction log") as refused:  # nobody is told to remove it
        read_log(path)
    assert "remove" not in str(refused.value).lower()


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    with pytest.raises(RunError, match="another run"):
        PredictionLog(tmp_path / "log.jsonl", RUN | {"task": "other"}, ABOUT)
    write(tmp_path / "log.jsonl")  # and the lock is free again


def test_two_processes_do_not_write_to_one_log(tmp_path: Path) -> None:
    log = PredictionLog(tmp_path / "log.jsonl", RUN, ABOUT)
    code = (
        "import sys, json; from pathlib import Path; from clinical_evals.tasks.prediction_log import PredictionLog\n"
        "PredictionLog(Path(sys.argv[1]), json.loads(sys.argv[2]), {})"
    )
    command = [sys.executable, "-c", code, str(log.path), json.dumps(RUN)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "another process is writing to this log" in refused.stderr
    log.close()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_reader_needs_no_lock_and_changes_nothing(tmp_path: Path) -> None:
    log = PredictionLog(tmp_path / "log.jsonl", RUN, ABOUT)
    log.append(lines(["k0"]))
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(b'{"torn')
    before = log.path.read_bytes()
    assert list(PredictionLog(log.path, RUN, ABOUT, write=False).rows) == ["k0"]
    assert log.path.read_bytes() == before
    log.close()


def test_read_log_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prediction log at"):
        read_log(tmp_path / "log.jsonl")
    (tmp_path / "log.jsonl").write_text("")
    with pytest.raises(InputError, match="does not start with a whole header"):
        read_log(tmp_path / "log.jsonl")


def test_read_log_can_insist_on_a_whole_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    whole = write(path)
    assert read_log(path, whole=True) == read_log(path)
    for size in (len(whole) - 1, len(whole) - len(lines(BATCHES[2])[0])):
        path.write_bytes(whole[:size])
        assert len(read_log(path)[1]) == 5
        with pytest.raises(InputError, match=r"is torn: the last \d+ bytes are no whole batch"):
            read_log(path, whole=True)


@pytest.mark.parametrize(
    "other",
    [
        ({**RUN, "model": {"weights": {"sha256": "b"}}}, "data", "prompt"),
        ({**RUN, "settings": {"context": 4096}}, "data", "prompt"),
        ({**RUN, "prompt": "2"}, "data", "prompt"),
        (RUN, "other data", "prompt"),
        (RUN, "data", "other prompt"),
    ],
    ids=["weights", "settings", "prompt version", "data row", "prompt as sent"],
)
def test_whatever_decides_an_answer_decides_its_key(other: tuple[dict[str, Any], str, str]) -> None:
    assert row_key(*other) != row_key(RUN, "data", "prompt") == row_key(dict(reversed(RUN.items())), "data", "prompt")


def test_a_full_disk_is_told_and_keeps_what_was_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    before = write(path, BATCHES[:1])
    log = PredictionLog(path, RUN, ABOUT)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clinical_evals.tasks.prediction_log.os.fsync", full)
    with pytest.raises(RunError, match=r"log\.jsonl cannot be written \(No space left on device\).*run the same"):
        log.append(lines(BATCHES[1]))
    log.close()
    assert path.read_bytes().startswith(before)
