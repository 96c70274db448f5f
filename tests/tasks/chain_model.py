"""Language models whose answers are known: real Llama weights, set by hand, with SmolLM2's tokenizer.

Every token that matters has a direction of its own in the embedding; attention and MLP are zero, so the hidden state
is the last token, and the output layer points from each token to those that may follow. It costs milliseconds.
"""

from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any


def write_chain_model(folder: Path, tokenizer: Any, answer: str, ends: bool = True, context: int = 2600) -> Path:
    """A model that answers `answer` to a prompt that ends with a line break, whatever it says.

    Args:
        folder: where to write it.
        tokenizer: of the model; no token may occur twice in the answer.
        answer: the text.
        ends: False begins again after the answer, for ever.
        context: how many tokens it reads and writes.
    """
    start = tokenizer("\n", add_special_tokens=False)["input_ids"]
    tokens = tokenizer(answer, add_special_tokens=False)["input_ids"]
    chain = [*start, *tokens]
    assert len(set(chain)) == len(chain), f"a token occurs twice: {tokenizer.convert_ids_to_tokens(chain)}"
    followers = [*tokens, tokenizer.eos_token_id if ends else tokens[0]]
    chained = {token: {after: 1.0} for token, after in zip(chain, followers, strict=True)}
    return write_model(folder, tokenizer, chained, context)


def write_letter_model(folder: Path, tokenizer: Any) -> Path:
    """A model that answers with a letter and 10: I10 when greedy, any of 26 as likely when sampled."""
    ids = {text: tokenizer(text, add_special_tokens=False)["input_ids"][0] for text in f"{ascii_uppercase}10\n"}
    letters = [ids[letter] for letter in ascii_uppercase]
    first = dict.fromkeys(letters, 1.0) | {ids["I"]: 1.001}
    after = {letter: {ids["1"]: 1.0} for letter in letters}
    ending = {ids["1"]: {ids["0"]: 1.0}, ids["0"]: {tokenizer.eos_token_id: 1.0}}
    return write_model(folder, tokenizer, {ids["\n"]: first, **after, **ending})


def write_model(
    folder: Path, tokenizer: Any, followers: Mapping[int, Mapping[int, float]], context: int = 2600
) -> Path:
    """A model by which tokens may follow each token, with their weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=8 * (len(followers) // 8 + 1), intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, max_position_embeddings=context, tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    state = {name: torch.full_like(value, float("norm" in name)) for name, value in model.state_dict().items()}
    for place, (token, after) in enumerate(followers.items()):
        state["model.embed_tokens.weight"][token, place] = 1
        for follower, weight in after.items():
            state["lm_head.weight"][follower, place] = 20 * weight  # others then have no chance
    model.load_state_dict(state)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
