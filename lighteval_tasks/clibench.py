"""CliBench for lighteval's own command line: --custom-tasks lighteval_tasks/clibench.py."""

from clinical_evals.tasks.clibench import TASKS_TABLE  # noqa: F401 - lighteval reads it
