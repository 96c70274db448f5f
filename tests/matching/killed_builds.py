"""A program for test_index_kills.py: index builds that are killed again and again until they end.

    python killed_builds.py FOLDER KILLS SEED

First one uninterrupted build, in FOLDER/whole. Then builds in FOLDER/0, FOLDER/1 … until there were KILLS kills, each
build started again after every kill. Prints a JSON line for each process: its folder, the fault, whether it was
killed, how many chunks were whole before, and how many titles were embedded.
"""

# ruff: noqa: E402 - the folders of the tests must be on the path first
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import IO, Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import numpy as np
from build_index import HashEncoder, made_up_titles, set_for_small_builds
from faults import Events, Fault, kill_until, run_in_child

from clinical_evals.matching import index, index_store


def place_events(events: Events, folder: Path) -> None:
    """Everything that a build does, from its folder to the last chunk it removes, can be its end."""
    save, fsync, replace, encode = np.save, index_store.os.fsync, Path.replace, HashEncoder.encode

    def torn(file: IO[bytes], array: Any, **options: Any) -> None:
        def part(share: float) -> None:
            save(file, array, **options)
            file.flush()
            file.truncate(int(file.tell() * share))

        events.reach("vectors torn", part)
        save(file, array, **options)

    def synced(number: int) -> None:
        events.reach("sync")
        fsync(number)

    def put(self: Path, target: Path) -> Path:
        replace(self, target)
        events.reach("put in place")
        return Path(target)

    def embedded(self: HashEncoder, *args: Any, **options: Any) -> Any:
        events.reach("chunk")
        return encode(self, *args, **options)

    np.save = torn  # type: ignore[assignment]
    index_store.os.fsync = synced  # type: ignore[attr-defined]
    Path.replace = put  # type: ignore[method-assign,assignment]
    HashEncoder.encode = embedded  # type: ignore[method-assign]
    events.watch_files(folder)


def whole_chunks(folder: Path) -> int:
    """How many chunks of an unfinished build are whole."""
    files = folder.rglob("chunks/0*.npy")
    return sum(index_store._checksum(file) == file.name.split(".")[1] for file in files)


def build(folder: Path, fault: Fault | None) -> tuple[bool, Counter[str]]:
    """One process; its JSON line is printed."""
    said = folder.with_suffix(".said")
    said.write_text("{}")
    before, finished = whole_chunks(folder), bool([*folder.rglob("header.json")])

    def work(events: Events) -> None:
        place_events(events, folder)
        encoder = HashEncoder()
        opened = index.open_titles(made_up_titles(), encoder, folder)
        digest = hashlib.sha256(opened.vectors.tobytes()).hexdigest()
        said.write_text(json.dumps({"embedded": encoder.encoded, "vectors": digest}))

    killed, counts = run_in_child(work, fault)
    line = {"folder": folder.name, "fault": fault, "killed": killed, "chunks": before, "finished": finished}
    print(json.dumps(line | json.loads(said.read_text()) | {"events": counts}), flush=True)
    return killed, counts


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    set_for_small_builds()
    kill_until(kills, Random(seed), lambda name, fault: build(folder / name, fault))


if __name__ == "__main__":
    main()
