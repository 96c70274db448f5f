"""IOR-Bench: outpatient referral in Chinese, from data files to scored answers (arXiv 2503.08292)."""
