"""Where training rows may be written: a new or empty folder, or one that the same command wrote before."""

import json
from pathlib import Path

from clinical_evals.datasets_hub.source import SOURCE_KEY
from clinical_evals.errors import InputError
from clinical_evals.training.tuning.marked_template import TEMPLATE_FILE, mark_beside
from clinical_evals.training.tuning.row_files import ABOUT, CARD, DIGEST_OF, ROWS, Columns


def check_out(out: Path, columns: Columns) -> bool:
    """Whether the folder holds earlier rows of the same command, which the new ones replace.

    What a killed build left counts, too: the rows are written first. Further files beside them stay as they are.

    Args:
        out: the folder that was asked for.
        columns: of the rows that are to be written; by them a command knows its own.

    Raises:
        InputError: it is a file, or holds something else: nothing of the user's is replaced.
    """
    if not out.exists():
        return False
    if not out.is_dir():
        raise InputError(f"--out {out} is a file, expected a folder. Give another --out FOLDER.")
    there = sorted(path.name for path in out.iterdir() if not path.name.endswith(".part"))
    if not there:
        return False
    other = next((name for name in (ROWS, ABOUT, CARD, TEMPLATE_FILE) if not _is_own(out / name, columns)), None)
    if other is None:
        return True
    what = f"no {ROWS} of this command" if other == ROWS else f"a {other} that this command did not write"
    raise InputError(
        f"--out {out} is not empty and no earlier output of this command: it holds {', '.join(there[:8])}"
        f"{', …' if len(there) > 8 else ''} ({what}). Give another --out FOLDER."
    )


def _is_own(path: Path, columns: Columns) -> bool:
    """Whether a file is as the command writes it; apart from the rows a file may be missing."""
    if not path.exists():
        return path.name != ROWS
    try:
        if path.name == ROWS:
            return _has_columns(path, columns)
        if path.name == TEMPLATE_FILE:
            return mark_beside(path.parent) is not None
        text = path.read_text(encoding="utf-8")
        if path.name == CARD:
            return DIGEST_OF in " ".join(text.split())  # YAML folds long lines
        about = json.loads(text)
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and {"source", "sha256"} <= set(about)


def _has_columns(path: Path, columns: Columns) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid):
        return False
    return SOURCE_KEY in (schema.metadata or {}) and set(schema.names) == set(columns)
