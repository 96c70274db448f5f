"""Sentence embeddings in 8-bit integers by ONNX Runtime: faster on a CPU, and a little different.

The weights are quantised channel by channel once, and kept in the cache. The range of the activations is that of each
text alone, which is encoded by itself: so a vector depends on its text only here too.
"""

import importlib.metadata
import importlib.util
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.encoder import Encoder, Precision
from clinical_evals.matching.index_store import cache_folder
from clinical_evals.write_aside import written_aside

_NEEDED = ("onnx", "onnxruntime", "onnxscript")


class Int8Encoder(Encoder):
    """An `Encoder` whose model runs in ONNX Runtime, quantised to 8 bits.

    Args:
        folder: as of `Encoder`.
        name: how the model was asked for.
        cache_dir: where the quantised model is kept; by default `cache_folder()`.

    Raises:
        ResourceMissingError: ONNX Runtime, or what writes its files, is not installed.
    """

    def __init__(self, folder: str | Path, name: str = "", cache_dir: str | Path | None = None) -> None:
        super().__init__(folder, name)
        if missing := [package for package in _NEEDED if not importlib.util.find_spec(package)]:
            raise ResourceMissingError(
                f"Embedding in 8 bits needs {', '.join(missing)}, which is not installed. Bring it with "
                "`pip install 'clinical-evals[onnx]'`, or leave int8 out."
            )
        self._cache_dir = cache_dir

    @cached_property
    def identity(self) -> str:
        """That of the model's files, and of what quantised and runs them."""
        return f"int8 onnxruntime {importlib.metadata.version('onnxruntime')} {super().identity}"

    def _vectors(
        self, ids: list[list[int]], precision: Precision, batch_tokens: int | None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Every text alone, in 8 bits, whatever precision is asked for."""
        session = self._session
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for row, vector in enumerate(pool.map(lambda one: _vector(session, one), ids)):
                yield np.array([row], dtype=np.int64), vector[None]

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the texts are spread over the processors instead
        return onnxruntime.InferenceSession(self._quantised(), options, providers=["CPUExecutionProvider"])

    def _quantised(self) -> bytes:
        """The quantised model: from the cache, or made now (half a minute) and kept."""
        key = self.identity.split()
        file = Path(self._cache_dir or cache_folder()) / "onnx" / f"{key[-1][:16]}-int8-{key[2]}.onnx"
        if file.is_file():
            return file.read_bytes()
        made = quantise(self._model)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with written_aside(file) as aside:
                aside.write_bytes(made)
        except OSError as error:
            warnings.warn(f"The 8-bit model cannot be kept in {file.parent} ({error}).", stacklevel=2)
        return made


def _vector(session: Any, ids: list[int]) -> NDArray[np.float32]:
    tokens = np.array([ids], dtype=np.int64)
    (vectors,) = session.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
    vector: NDArray[np.float32] = vectors[0] / np.linalg.norm(vectors[0])
    return vector


def quantise(model: Any) -> bytes:
    """A sentence-transformers model as an ONNX file with 8-bit weights, channel by channel.

    Args:
        model: a SentenceTransformer on the CPU.
    """
    import logging
    import tempfile

    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is not followed
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            return self.model({"input_ids": input_ids, "attention_mask": attention_mask})["sentence_embedding"]

    rows, tokens = torch.export.Dim("rows", min=1, max=4096), torch.export.Dim("tokens", min=1, max=512)
    # Two tensors: one that is given twice would become one input.
    examples = (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long))
    shapes = {name: {0: rows, 1: tokens} for name in ("input_ids", "attention_mask")}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its own internals
        plain, small = Path(folder) / "plain.onnx", Path(folder) / "int8.onnx"
        torch.onnx.export(
            Whole().eval(),
            examples,
            str(plain),
            input_names=list(shapes),
            output_names=["vectors"],
            dynamic_shapes=shapes,
            external_data=False,
            verbose=False,
        )
        logging.getLogger().addFilter(_no_advice)
        try:
            quantize_dynamic(plain, small, weight_type=QuantType.QInt8, per_channel=True)
        finally:
            logging.getLogger().removeFilter(_no_advice)
        return small.read_bytes()


def _no_advice(record: Any) -> bool:
    """Leaves out ONNX Runtime's advice to pre-process, which is for image models."""
    return "pre-processing before quantization" not in str(record.msg)
