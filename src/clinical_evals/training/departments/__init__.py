"""The BERT baseline of IOR-Bench: an encoder is fine-tuned to name the department of a finished dialogue.

Source: protocol.md 1.4 (the paper's appendix F and Table 4). `training/classify_department.py` is the command.
"""
