"""The tests of commands use the written logs of the tests of tasks."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tasks"))
