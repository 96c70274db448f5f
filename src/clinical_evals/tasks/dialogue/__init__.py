"""Dialogues of doctor and patient: playing them, their transcripts, going on with them."""
