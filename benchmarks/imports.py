"""Cold starts in fresh processes: the import, the command line's help, and what they must not pull in."""

import subprocess
import sys
from statistics import median

from benchmarks.measure import report, seconds

ROUNDS = 5


def start(*arguments: str) -> float:
    """Median seconds of a fresh Python process with these arguments."""
    command = [sys.executable, *arguments]
    return median(seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(ROUNDS))


def main() -> None:
    """Print the times."""
    bare, ours = start("-c", "pass"), start("-c", "import clinical_evals")
    torch = start("-c", "import evaluate")
    facts = {"bare_interpreter": f"{bare:.2f} s", "import_evaluate_alone": f"{torch:.2f} s"}
    report("import clinical_evals", f"{ours:.2f} s", "2 s", ours < 2, **facts)
    text = start("-m", "clinical_evals", "--help")
    report("clinical-evals --help", f"{text:.2f} s", "1 s", text < 1)


if __name__ == "__main__":
    main()
