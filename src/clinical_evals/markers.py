"""The marks that say where data comes from; everything that writes a file or a card takes them from here.

A mark is plain text and may stand anywhere in a file that the guard (`clinical_evals.hub.guard`) reads: in the
description of a dataset's info, in the YAML or text of a card, in the key-value metadata of a Parquet file, in an
`adapter_config.json`, in the header line of a log. Nothing may hold `MIMIC_MARKER` that does not come from MIMIC: a
card that only explains the mark would be refused as well; the same goes for `PATIENT_MARKER`.
"""

MIMIC_MARKER = "clinical-evals:mimic-derived"
"""Rows, answers or weights that were made from MIMIC: they never go to a public place."""

PATIENT_MARKER = "clinical-evals:patient-data"
"""Rows, answers or weights that were made from patient data of the user's, such as a hospital's own table."""

SYNTHETIC_MARKER = "clinical-evals:synthetic"
"""Invented rows. It is a statement, not a pass: what looks like MIMIC is refused whatever the file says of itself."""
