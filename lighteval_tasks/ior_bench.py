"""IOR-Bench for lighteval's own command line: --custom-tasks lighteval_tasks/ior_bench.py."""

from clinical_evals.tasks.ior_bench import TASKS_TABLE  # noqa: F401 - lighteval reads it
