"""What a card of a trained model says of the rows it was trained on, by their mark."""

from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

TRAINED_ON = {
    MIMIC_MARKER: (
        "MIMIC-DERIVED: trained on rows of MIMIC-IV, which is credentialed data. Weights can repeat what they were "
        f"trained on. They stay with people who have signed the PhysioNet data use agreement ({MIMIC_MARKER})."
    ),
    PATIENT_MARKER: (
        "TRAINED ON PATIENT DATA that the user supplied. Weights can repeat what they were trained on. They stay on "
        f"this machine unless whoever answers for the data consents ({PATIENT_MARKER})."
    ),
    SYNTHETIC_MARKER: (
        "TRAINED ON SYNTHETIC ROWS, invented for clinical-evals to try the way from rows to scores. No patient is in "
        f"them, and the scores say nothing about the published results ({SYNTHETIC_MARKER})."
    ),
}
"""By the mark of the training rows."""
