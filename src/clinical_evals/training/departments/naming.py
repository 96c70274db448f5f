"""A fine-tuned encoder names departments.

Not by `Trainer.predict`: with grouping by length transformers 5 gives its predictions in the order of the groups, not
of the rows.
"""

from collections.abc import Sequence
from typing import Any

BATCH = 64


def name_numbers(model: Any, tokenizer: Any, ids: Sequence[Sequence[int]], bfloat16: bool = False) -> list[int]:
    """The number of the likeliest department of each row, in the order given.

    Args:
        model: a classifier; it is put into evaluation mode.
        tokenizer: pads.
        ids: tokens of each row; rows of like length are read together.
        bfloat16: whether it computes in bfloat16, as it was trained.
    """
    import torch

    model.eval()
    by_length = sorted(range(len(ids)), key=lambda row: (len(ids[row]), row))
    named = [0] * len(ids)
    for first in range(0, len(ids), BATCH):
        rows = by_length[first : first + BATCH]
        batch = tokenizer.pad({"input_ids": [list(ids[row]) for row in rows]}, return_tensors="pt").to(model.device)
        with torch.inference_mode(), torch.autocast(model.device.type, torch.bfloat16, enabled=bfloat16):
            numbers = model(**batch).logits.float().argmax(dim=1).tolist()
        for row, number in zip(rows, numbers, strict=True):
            named[row] = number
    return named
