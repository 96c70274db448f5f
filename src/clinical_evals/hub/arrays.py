"""Numbers as NumPy holds them, and NumPy's own files."""

import math
from typing import Any, BinaryIO

import numpy as np

from clinical_evals.hub.evidence import Evidence
from clinical_evals.hub.identifiers import Integers
from clinical_evals.hub.sources import BLOCK, UnreadableError, read_up_to


def signed(values: "np.ndarray[Any, Any]") -> Integers:
    """As int64; unsigned numbers beyond it become negative, which is as far from every range."""
    result: Integers = values.astype(np.int64, copy=False)
    return result


def whole(values: "np.ndarray[Any, Any]") -> Integers:
    """The whole numbers among floats: an integer column with gaps is a float column in pandas."""
    values = values[np.isfinite(values) & (np.abs(values) < 1e15)]
    result: Integers = values[values == np.floor(values)].astype(np.int64)
    return result


def scan_npy(file: BinaryIO, evidence: Evidence) -> None:
    """Look at the whole numbers or the text of a NumPy array; arrays of Python objects are pickles: not opened."""
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise UnreadableError("it is a NumPy array of Python objects, which only unpickling can read")
    left = math.prod(shape)
    while left > 0 and dtype.itemsize:
        count = min(left, max(1, BLOCK // dtype.itemsize))
        values = np.frombuffer(read_up_to(file, count * dtype.itemsize), dtype)
        if values.size != count:
            raise UnreadableError("it is a NumPy array that ends too early")
        for name in dtype.names or ("",):
            _scan_numpy(values[name] if name else values, name, evidence)
        left -= count


def _scan_numpy(array: "np.ndarray[Any, Any]", name: str, evidence: Evidence) -> None:
    flat = array.reshape(-1)
    if array.dtype.kind in "iu":
        evidence.add_values(signed(flat), name)
    elif array.dtype.kind == "f":
        evidence.add_values(whole(flat.astype(np.float64)), name)
    elif array.dtype.kind in "US":
        evidence.add_text(("\n" + "\n".join(map(str, flat.tolist())) + "\n").encode(errors="replace"), name)
    elif array.dtype.kind not in "bcmM":
        raise UnreadableError(f"a NumPy array of kind {array.dtype.kind!r} is not looked into")
