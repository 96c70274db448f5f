"""A sentence-embedding model fine-tuned to find codes: `training/train_code_matcher.py`."""
