"""Tuning language models on CliBench: rows for TRL, checks of recipes, merging, model cards (protocol.md 2.7)."""
