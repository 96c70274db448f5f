"""Training recipes: rows, checks and what happens after training."""
