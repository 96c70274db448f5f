"""How often a matcher finds the code of a text whose code is known."""
