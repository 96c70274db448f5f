"""The versions that a result depends on: the command line prints them all."""

import subprocess
import sys

from clinical_evals.clibench.prompts import PROMPT_VERSION
from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION
from clinical_evals.ior_bench.prompts import PROMPT_VERSION as IOR_PROMPT_VERSION
from clinical_evals.ontology import SYSTEMS, get_system
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.version import __version__


def test_the_command_line_prints_every_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clinical_evals", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"clinical-evals {__version__}",
        f"protocol {PROTOCOL_VERSION} (standard and official)",
        f"prompts clibench {PROMPT_VERSION}",
        f"prompts ior-bench {IOR_PROMPT_VERSION} (static), {DIALOGUE_PROMPT_VERSION} (dynamic)",
        *(f"{name} {get_system(name).release}" for name in SYSTEMS),
    ]
