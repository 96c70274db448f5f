"""Training: the recipes of the papers' baselines, on the data and the scorers of this package."""
