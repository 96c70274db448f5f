"""The Hub's side: what may leave this machine, and how it gets there."""
