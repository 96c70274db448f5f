"""What a transformers model has read of each dialogue, so that it reads only what is new.

A prompt of a dialogue begins as an earlier prompt of the same side did. The keys and values of that beginning are
kept for each dialogue; when it is asked again they are put in their place in the new batch, and only the last columns
of the batch are computed: as many as the row with most news needs. What new dialogues begin with alike, such as the
doctor's instructions, is read once for all of them.

Kept is only what was computed from prompts, never from answers while they were generated, and nothing survives a
group of dialogues. So what is kept follows from the prompts alone, and a resumed run that reads the same batches again
has the same bits.
"""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

Tokens = tuple[int, ...]
_WORTH_SHARING = 64
"""From how many common tokens on they are read once, alone, before the batch."""


class _Read(NamedTuple):
    """What was read of one dialogue by one side."""

    tokens: Tokens
    layers: "list[tuple[Tensor, Tensor]]"
    """Keys and values of each layer, (heads, tokens, size of a head)."""


def can_remember(model: Any) -> bool:
    """Whether a model keeps every token of its prompt (not only a window of it, or a summary)."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    if model.config.is_encoder_decoder or not model._supports_default_dynamic_cache():
        return False
    if model.generation_config.cache_implementation is not None:  # generate then wants to make its own
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


class ReadBefore:
    """Stands in for `generate` of a transformers model while dialogues are played.

    Args:
        model: a transformers model for which `can_remember` holds.

    Attributes:
        owners: which dialogue and side each prompt of the next batch belongs to, by its tokens.
        only_reads: True reads the prompts of a batch and generates nothing.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.owners: Mapping[Tokens, str] = {}
        self.only_reads = False
        self._generate: Callable[..., Any] = model.generate
        self._read: dict[str, _Read] = {}

    def __call__(self, input_ids: "Tensor", attention_mask: "Tensor", **settings: Any) -> Any:
        """As the model's `generate`, for prompts that are padded on the left."""
        import torch

        with torch.inference_mode():
            cache = self._read_prompts(input_ids, attention_mask)
            if self.only_reads:
                return SimpleNamespace(sequences=torch.cat([input_ids, input_ids[:, -1:]], dim=1))
        return self._generate(input_ids=input_ids, attention_mask=attention_mask, cache=cache, **settings)

    def _read_prompts(self, input_ids: "Tensor", mask: "Tensor") -> Any:
        """A cache of all columns but the last one, which generating itself begins with."""
        width = input_ids.shape[1] - 1
        lengths = [int(length) for length in mask.sum(dim=1)]
        whole = [tuple(ids[-length:].tolist()) for ids, length in zip(input_ids, lengths, strict=True)]
        names, rows = [self.owners[row] for row in whole], [row[:-1] for row in whole]
        earlier = self._with_shared([self._read.get(name) for name in names], rows)
        beginnings = [_common(row, read.tokens) if read else 0 for row, read in zip(rows, earlier, strict=True)]
        new = max(len(row) - known for row, known in zip(rows, beginnings, strict=True))
        starts = [width - len(row) for row in rows]
        cache = self._laid_out(earlier, starts, width - new)
        if new:
            self._compute(input_ids[:, width - new : width], mask[:, :width], cache)
        for place, (name, row, start) in enumerate(zip(names, rows, starts, strict=True)):
            self._read[name] = _kept(cache, place, start, row)
        return cache

    def _with_shared(self, earlier: Sequence[_Read | None], rows: Sequence[Tokens]) -> list[_Read | None]:
        """In place of nothing what the dialogues of which nothing was read have in common, if that is much."""
        import torch
        from transformers import DynamicCache

        fresh = [row for row, read in zip(rows, earlier, strict=True) if read is None]
        # What the first and the last in order begin with alike, all those between them begin with too.
        shared = min(fresh)[: _common(min(fresh), max(fresh))] if len(fresh) > 1 else ()
        if len(shared) < _WORTH_SHARING:
            return list(earlier)
        ids = torch.tensor([shared], device=self.model.device)
        cache = DynamicCache(config=self.model.config)
        self._compute(ids, torch.ones_like(ids), cache)
        return [read or _kept(cache, 0, 0, shared) for read in earlier]

    def _compute(self, ids: "Tensor", mask: "Tensor", cache: Any) -> None:
        """Read the last columns of a batch into the cache of those before."""
        places = (mask.long().cumsum(dim=1) - 1).clamp(min=0)
        self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=places[:, -ids.shape[1] :],
            cache=cache,
            use_cache=True,
            logits_to_keep=1,
        )

    def _laid_out(self, earlier: Sequence[_Read | None], starts: Sequence[int], columns: int) -> Any:
        """A cache of the first columns of a batch: of each row, after its padding, what was read before."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self.model.config)
        known = next((read for read in earlier if read), None)
        if columns <= 0 or known is None:
            return cache
        for number, layer in enumerate(known.layers):
            both = [of_row.new_zeros(len(starts), len(of_row), columns, of_row.shape[-1]) for of_row in layer]
            for place, (read, start) in enumerate(zip(earlier, starts, strict=True)):
                if read and start < columns:
                    for whole, of_row in zip(both, read.layers[number], strict=True):
                        whole[place, :, start:] = of_row[:, : columns - start]
            cache.update(*both, number)
        return cache


def _kept(cache: Any, place: int, start: int, tokens: Tokens) -> _Read:
    """What a cache has of the tokens of one row, which begin in column `start`."""
    both = ((layer.keys[place, :, start:], layer.values[place, :, start:]) for layer in cache.layers)
    return _Read(tokens, [(keys.clone(), values.clone()) for keys, values in both])


def _common(tokens: Tokens, others: Tokens) -> int:
    """How many tokens at the beginning are the same."""
    pairs = enumerate(zip(tokens, others, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(tokens), len(others)))
