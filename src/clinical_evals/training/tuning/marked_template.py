"""The chat template of the model that is to be trained, with the mark of the rows' source in a comment.

TRL's SFT saves the template beside the weights, in every checkpoint, and so the mark goes with them whether or not
anyone of us is asked: `build sft` writes the file, the recipes name it as `chat_template_path`. The comment renders to
nothing: the model sees what it sees without it.
"""

import re
from pathlib import Path

from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER

TEMPLATE_FILE = "chat_template.jinja"
_COMMENT = re.compile(r"\{# source of the training rows: \S+ #\}")


def mark_template(template: str, source: str) -> str:
    """The template with the mark, in place of any earlier one."""
    return f"{{# source of the training rows: {source} #}}{plain_template(template)}"


def plain_template(template: str) -> str:
    """The template without a mark.

    >>> plain_template(mark_template("{{ messages }}", "clinical-evals:synthetic"))
    '{{ messages }}'
    """
    return _COMMENT.sub("", template)


def mark_beside(folder: Path) -> str | None:
    """The mark in the template of a folder of weights; None where there is none."""
    path = folder / TEMPLATE_FILE
    if not path.is_file():
        return None
    said = " ".join(_COMMENT.findall(path.read_text(encoding="utf-8", errors="replace")))
    return next((mark for mark in (MIMIC_MARKER, PATIENT_MARKER, SYNTHETIC_MARKER) if mark in said), None)
