"""JSON files that hold one object."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError


def read_object(path: Path, hint: str = "") -> dict[str, Any]:
    """The object in a JSON file.

    Args:
        path: the file.
        hint: what helps, for the message.

    Raises:
        InputError: the file is not there, is no JSON or holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not readable JSON: {error}{f'. {hint}' if hint else ''}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected a JSON object, found {type(found).__name__}.{f' {hint}' if hint else ''}")
    return found
