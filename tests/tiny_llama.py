"""Tiny models for training: Llama layers of a few numbers, with a tokenizer that was trained on the sample's texts."""

import json
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[1] / "datasets" / "clibench" / "data"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM_ROLE = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + TEMPLATE
)


def make_tokenizer(template: str | None = TEMPLATE) -> Any:
    """A byte-level BPE of 2,000 pieces."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    rows = json.loads((SAMPLE / "diagnosis" / "train.json").read_text(encoding="utf-8"))["rows"]
    tokenizer.train_from_iterator([row["record"] for row in rows], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", bos_token="<|im_start|>"
    )
    fast.chat_template = template
    return fast


def write_tiny(folder: Path, hidden: int = 16, layers: int = 2, seed: int = 0) -> Path:
    """A model with weights drawn by a seed, and its tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = make_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=layers,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=8192, tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_recipe(path: Path, model: Path, rows: Path, out: Path, **changes: Any) -> Path:
    """A small recipe for the CPU; `None` takes a key out."""
    import yaml

    given: dict[str, Any] = {
        "model_name_or_path": str(model), "dtype": "float32", "dataset_name": str(rows), "output_dir": str(out),
        "max_length": 1024, "completion_only_loss": True, "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 1, "max_steps": 6, "learning_rate": 0.01, "bf16": False, "use_cpu": True,
        "gradient_checkpointing": False, "seed": 7, "logging_steps": 1, "save_steps": 2, "report_to": "none",
        "disable_tqdm": True, "use_peft": True, "lora_r": 4, "lora_target_modules": "all-linear",
    }  # fmt: skip
    kept = {key: value for key, value in (given | changes).items() if value is not None}
    path.write_text(yaml.safe_dump(kept), encoding="utf-8")
    return path
