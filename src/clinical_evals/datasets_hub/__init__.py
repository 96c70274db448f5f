"""What Hugging Face `datasets` and `evaluate` see of us: bare names, builders, features and cards.

`names` alone is imported with the package (it costs milliseconds); everything else imports `datasets` and is loaded
when a dataset is.
"""
