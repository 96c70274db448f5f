"""The training itself: sentence-transformers' trainer; negatives are the hard one and the other texts of a batch."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from clinical_evals.matching.encoder import fastest_precision
from clinical_evals.training.code_matcher.settings import Settings
from clinical_evals.training.code_matcher.triples import Triple


def fit(model_folder: Path, triples: Sequence[Triple], settings: Settings, output: Path) -> None:
    """Fine-tune the model in a folder and write it to another, as safetensors.

    On a machine without GPU in bfloat16 where the processor computes it, else in float32.
    """
    import torch
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model = SentenceTransformer(
        str(model_folder),
        device=None if torch.cuda.is_available() else "cpu",
        local_files_only=True,
        model_kwargs={"use_safetensors": True, "dtype": torch.float32},
    )
    read = model.max_seq_length
    model.max_seq_length = settings.max_length
    columns = {name: [getattr(triple, name) for triple in triples] for name in Triple._fields}
    with tempfile.TemporaryDirectory() as scratch:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=scratch,
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            warmup_steps=0.1,
            lr_scheduler_type="linear",
            bf16=torch.cuda.is_available() or fastest_precision() == "bfloat16",
            use_cpu=not torch.cuda.is_available(),
            batch_sampler="no_duplicates",
            save_strategy="no",
            report_to="none",
            logging_steps=50,
            seed=settings.seed,
        )
        trainer = SentenceTransformerTrainer(
            model, arguments, train_dataset=Dataset.from_dict(columns), loss=MultipleNegativesRankingLoss(model)
        )
        with torch.enable_grad():  # an evaluation by lighteval in the same process leaves gradients switched off
            trainer.train()
    model.max_seq_length = read
    model.save_pretrained(str(output), create_model_card=False, safe_serialization=True)
