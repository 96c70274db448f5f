"""CliBench: clinical decisions on hospital admissions (arXiv 2406.09923): what the model is shown, and how much of "
"it."""
