"""A program for test_index.py: opens an index of made-up titles in a folder, and can be made to die at any write.

    python build_index.py FOLDER [--die-at N --when before|after]

Prints how many titles it embedded and the SHA-256 of the vectors. It kills itself (SIGKILL) at the N-th
time that a finished file is put in its place, before or after that.
"""

import argparse
import hashlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clinical_evals.matching import index
from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.titles import Titles

TITLES = 200
CHUNK = 16  # so 13 chunks, the last of 8
WRITES = 13 + 2  # the chunks, the vectors, the header


def set_for_small_builds() -> None:
    """For a process that does nothing else: what is imported must change no other test."""
    index.CHUNK_TITLES = CHUNK
    index.fastest_precision = lambda: "float32"  # torch would only be loaded to look at the processor


def made_up_titles() -> Titles:
    return Titles(
        "made up", [f"C{row}" for row in range(TITLES)], [f"title {row * 7919 % 1009}" for row in range(TITLES)]
    )


class HashEncoder(Encoder):
    """Unit vectors from a hash of the text: as quick and as deterministic as the tests need."""

    identity = "hash"
    dimension = 32
    encoded = 0
    seconds = 0.0

    def __init__(self) -> None:
        self.name, self.folder = "hash", Path()

    def encode(self, texts: Sequence[str], progress: Any = None, precision: str = "float32", *_: Any) -> Any:
        self.encoded += len(texts)
        time.sleep(self.seconds)
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        vectors = np.array(
            [np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds], dtype=np.float32
        )
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def die_at(number: int, when: str) -> None:
    replace, done = Path.replace, 0

    def counted(self: Path, target: Path) -> Path:
        nonlocal done
        done += 1
        if done == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        replace(self, target)
        if done == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return Path(target)

    Path.replace = counted  # type: ignore[method-assign,assignment]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--die-at", type=int, default=0)
    parser.add_argument("--when", choices=("before", "after"), default="before")
    parser.add_argument("--seconds", type=float, default=0.0, help="that each chunk takes")
    args = parser.parse_args()
    set_for_small_builds()
    if args.die_at:
        die_at(args.die_at, args.when)
    encoder = HashEncoder()
    encoder.seconds = args.seconds
    opened = index.open_titles(made_up_titles(), encoder, args.folder)
    print(encoder.encoded, hashlib.sha256(opened.vectors.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
