"""The folder of a run: what was asked is noted in it, and a resumed run must be the same."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.model_files import identify_model
from clinical_evals.training.departments.cases import Cases
from clinical_evals.training.departments.settings import Settings
from clinical_evals.training.departments.versions import library_versions
from clinical_evals.write_aside import written_aside

_FREE = ("output_dir", "seeds", "train_sizes", "data", "model")
# What a resumed run may change: more seeds and sizes, where things lie. Rows and weights are known by their hashes.


def describe_run(settings: Settings, cases: Cases, encoder: Path) -> dict[str, Any]:
    """What makes a run the same run: settings, weights, rows and versions."""
    return {
        "settings": settings.as_json(),
        "model": identify_model(str(encoder)),
        "data": {"source": cases.mark, "rows": len(cases.rows), "sha256": cases.sha256},
        "versions": library_versions(),
    }


def open_run(folder: Path, about: dict[str, Any], resume: bool) -> None:
    """Note in FOLDER/run.json what is run.

    Raises:
        InputError: a run lies there and is not to go on, or is another one.
    """
    path = folder / "run.json"
    if path.is_file():
        if not resume:
            raise InputError(f"{folder} holds a run already: go on with it by --resume, or give another --output-dir.")
        before = json.loads(path.read_text(encoding="utf-8"))
        changed = [name for name in ("model", "data", "versions") if before[name] != about[name]]
        changed += [
            name
            for name, value in about["settings"].items()
            if name not in _FREE and before["settings"].get(name) != value
        ]
        if changed:
            raise InputError(
                f"{path} is of another run: {', '.join(changed)} changed since. Give the same again, or another "
                "--output-dir."
            )
    write_json(path, about)


def write_json(path: Path, value: Any) -> None:
    """Write a file that is whole or not there."""
    with written_aside(path, alone=True) as aside:
        aside.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
