"""A matcher that weighs words, spelling and meaning together: `matcher.HybridMatcher`."""
