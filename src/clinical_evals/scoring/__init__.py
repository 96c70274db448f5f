"""Sets per level, counts, scores and their intervals: pure functions over numpy arrays."""
