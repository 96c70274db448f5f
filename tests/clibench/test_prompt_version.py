"""What the prompts show of an admission is held to PROMPT_VERSION too; their fixed texts are in test_prompts.py."""

import hashlib
import json
from pathlib import Path
from typing import Any

from clinical_evals.clibench.prompts import PROMPT_VERSION, user_text
from clinical_evals.clibench.segments import LONG, render_segments
from clinical_evals.ontology import get_system
from clinical_evals.truncation import CUT_AWAY, cut_segments

KNOWN = json.loads((Path(__file__).parent / "rendered_prompt_hashes.json").read_text())


def lab(value: str | None, **changes: Any) -> dict[str, Any]:
    return {
        "label": "Sodium", "fluid": "Blood", "value": value, "valuenum": 131.0, "unit": "mEq/L", "ref_low": 133.0,
        "ref_high": 145.0, "flag": "abnormal", "charttime": "2150-01-01T06:00:00",
    } | changes  # fmt: skip


FULL: dict[str, Any] = {
    "gender": "F", "age": 71, "race": "WHITE", "insurance": "Medicare", "language": "English",
    "marital_status": "WIDOWED", "history_diagnoses": ["I10", "E11.9", "E11.99"],
    "record": " CHIEF COMPLAINT: fever \n",
    "radiology_reports": ["CHEST: clear.\n", "ABDOMEN: normal."],
    "lab_results": [
        lab("131"), lab(None), lab(None, valuenum=None), lab("1", ref_low=None), lab("1", ref_high=None),
        lab("1", ref_low=None, ref_high=None, flag=None, unit=None, fluid=None, charttime="2149-12-31T06:00:00"),
    ],
}  # fmt: skip
EMPTY = {
    **dict.fromkeys(FULL), "gender": "M", "age": 0, "history_diagnoses": [], "radiology_reports": [],
    "lab_results": [], "record": "",
}  # fmt: skip


def test_a_changed_rendering_has_a_raised_version() -> None:
    full, empty = (render_segments(row, get_system("icd10cm")) for row in (FULL, EMPTY))
    ends = {name: list(range(1, len(getattr(full, name)) + 1)) for name in LONG.names}
    shown = [full, empty, cut_segments(full, ends, 1, 2), cut_segments(full, ends, 0, 1)]
    texts = [user_text("diagnosis", segments) for segments in shown]
    assert "CHIEF COMPLAINT: fever" in texts[0]
    assert texts[3].count(CUT_AWAY) == 3
    found = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    assert KNOWN.get(PROMPT_VERSION) == found, (
        f"what the prompts show changed: raise PROMPT_VERSION, and add the new version with {found} to "
        "rendered_prompt_hashes.json (keep the old ones)"
    )
