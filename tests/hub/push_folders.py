"""Small folders that a push takes: a dataset with large and small files, a metric, a model."""

import json
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinical_evals.markers import SYNTHETIC_MARKER

DATASET_CARD = """\
---
license: apache-2.0
configs:
- config_name: letters
  data_files:
  - split: test
    path: letters/test.parquet
  - split: train
    path: letters/train.parquet
---
# Letters

Invented rows.
"""
SPACE_CARD = "---\ntitle: A metric\nsdk: gradio\napp_file: app.py\n---\n# A metric\n"
MODEL_CARD = "---\nlicense: apache-2.0\nlibrary_name: peft\n---\n# A small adapter\n"


def dataset(folder: Path, text: str = "a", card: str = DATASET_CARD) -> Path:
    """Two Parquet files (kept outside git) and two of text."""
    (folder / "letters").mkdir(parents=True, exist_ok=True)
    for split in ("test", "train"):
        pq.write_table(
            pa.table({"text": [f"{text} {split} {n}" for n in range(20)]}), folder / f"letters/{split}.parquet"
        )
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / "build.json").write_text(json.dumps({"rows": 40, "text": text}))
    return folder


def metric(folder: Path, name: str = "letter_share") -> Path:
    """A script of its own name and a card."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text('"""How many letters."""\n')
    (folder / "README.md").write_text(SPACE_CARD)
    return folder


def adapter(folder: Path, said: str = SYNTHETIC_MARKER) -> Path:
    """A LoRA adapter's files; `said` is what clinical_evals_source.json says, empty for no such file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(MODEL_CARD)
    (folder / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "org/base"})
    )
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    if said:
        (folder / "clinical_evals_source.json").write_text(json.dumps({"source": said}))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their place."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
