"""`python -m clinical_evals …`: the command line, also for `accelerate launch -m clinical_evals …`."""

from clinical_evals.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
