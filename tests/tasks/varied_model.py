"""A language model whose answers differ from prompt to prompt: real Llama weights, drawn with a fixed seed.

Some dimensions hold the last token and decide, as in `chain_model`, which kinds of token may follow, so that an answer
is a list of code-like texts ("N17, E25"). Which one of a kind follows is decided by sharp attention with random
weights over the whole prompt: by another word anywhere, or by the same word in another place.
"""

from pathlib import Path
from string import ascii_uppercase
from typing import Any

from filelock import FileLock

CONTENT, HEADS = 64, 4


def varied_model(shared: Path, tokenizer: Any) -> Path:
    """The model, written once for all test processes of a run into their common folder."""
    folder = shared / "varied-model"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            write_varied_model(folder, tokenizer)
    return folder


def write_varied_model(folder: Path, tokenizer: Any, seed: int = 3) -> Path:
    """Write the model: letter, digit below 5, other digit, then the end or a comma and the next code."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    ids = {text: tokenizer(text, add_special_tokens=False)["input_ids"] for text in _texts()}
    assert all(len(tokens) == 1 for tokens in ids.values()), "each text must be one token"
    one = {text: tokens[0] for text, tokens in ids.items()}
    end = tokenizer.eos_token_id
    letters, later = [one[c] for c in ascii_uppercase], [one[f" {c}"] for c in ascii_uppercase]
    low, high = [one[c] for c in "01234"], [one[c] for c in "56789"]
    kinds = [([one["\n"]], letters), ([*letters, *later], low), (low, high), (high, [end, one[","]]),
             ([one[","]], later)]  # fmt: skip

    draw = torch.Generator().manual_seed(seed)
    size = CONTENT + 64  # the last 64: which kind the last token is of
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=size, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=HEADS, num_key_value_heads=HEADS, max_position_embeddings=2600, tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=end, pad_token_id=end,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    state = {name: torch.full_like(value, float("norm" in name)) for name, value in model.state_dict().items()}
    embedding = state["model.embed_tokens.weight"]
    embedding[:, :CONTENT] = torch.randn(len(tokenizer), CONTENT, generator=draw)
    for part in ("q", "k", "v"):
        weight = state[f"model.layers.0.self_attn.{part}_proj.weight"]
        weight[:, :CONTENT] = torch.randn(size, CONTENT, generator=draw) / 5
    out = state["model.layers.0.self_attn.o_proj.weight"]
    out[:CONTENT] = torch.randn(CONTENT, size, generator=draw)
    for kind, (tokens, followers) in enumerate(kinds):
        embedding[tokens, CONTENT + kind] = 40
        state["lm_head.weight"][followers, CONTENT + kind] = 100
    for _, followers in kinds:
        state["lm_head.weight"][followers, :CONTENT] = torch.randn(len(followers), CONTENT, generator=draw)
    model.load_state_dict(state)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _texts() -> list[str]:
    return [*ascii_uppercase, *(f" {letter}" for letter in ascii_uppercase), *"0123456789", ",", "\n"]


def with_few_logits(model: Any) -> None:
    """Have the output layer multiply only its rows that are not zero: the others' logits are 0 all the same.

    Of 49,152 rows these are under 200; the whole product is nearly half of what an answer costs.
    """
    import torch

    class FewRows(torch.nn.Module):
        def __init__(self, whole: torch.nn.Linear) -> None:
            super().__init__()
            self.rows = whole.weight.abs().sum(dim=1).nonzero().squeeze(1)
            self.weight, self.size = whole.weight[self.rows].detach(), len(whole.weight)

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            logits = hidden.new_zeros(*hidden.shape[:-1], self.size)
            logits[..., self.rows] = hidden @ self.weight.T
            return logits

    model.lm_head = FewRows(model.lm_head)
