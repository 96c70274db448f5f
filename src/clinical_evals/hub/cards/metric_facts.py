"""The facts of the two metrics and the Spaces that show them."""

from clinical_evals.hub.cards.facts import CLIBENCH_PAPER, IOR_PAPER, SpaceFacts

GRADIO = "6.31.0"
"""The version that the Spaces were tested with."""
PYTHON = "3.11"
"""What the Spaces ask of the Hub, whose default is older than clinical-evals can use."""

HIER_ICD_F1 = SpaceFacts(
    "hier_icd_f1",
    "Hierarchical F1 of medical codes",
    "🩺",
    ("blue", "green"),
    "Precision, recall and F1 of medical codes, by level",
    "Precision, recall and F1 of diagnoses, procedures, lab orders or drugs, in free text or as codes, by level.",
    CLIBENCH_PAPER,
    (
        "--extra-index-url https://download.pytorch.org/whl/cpu",  # PyPI's torch is a CUDA build of several GB
        "torch==2.13.0",
        "clinical-evals[eval,hcup]",
    ),
)
DEPARTMENT_ACCURACY = SpaceFacts(
    "department_accuracy",
    "Department Accuracy",
    "🏥",
    ("green", "blue"),
    "Is the right hospital department named in the answer?",
    "Accuracy of outpatient referrals, named in free text, to one department of a hospital's list.",
    IOR_PAPER,
    ("clinical-evals",),
)
SPACES = {facts.name: facts for facts in (DEPARTMENT_ACCURACY, HIER_ICD_F1)}
"""By the metric's name."""
