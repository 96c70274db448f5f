"""Training recipes: the papers' baselines and tuning, on the data and the scorers of this package."""
