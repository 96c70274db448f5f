"""The mark of the rows that weights were trained on, kept beside them: the guard reads it there.

`check-recipe` writes it before training into the folder that TRL saves to, `tuned merge` into the merged model, once
as a file of its own and once in config.json, where it stays when the model is loaded and saved elsewhere.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinical_evals.datasets_hub.source import mark_in
from clinical_evals.errors import InputError
from clinical_evals.json_file import read_object
from clinical_evals.markers import MIMIC_MARKER
from clinical_evals.training.tuning.marked_template import mark_beside
from clinical_evals.training.tuning.row_files import read_source
from clinical_evals.version import __version__
from clinical_evals.write_aside import written_aside

if TYPE_CHECKING:
    from clinical_evals.training.tuning.recipe import Recipe

SOURCE_FILE = "clinical_evals_source.json"
CONFIG_KEY = "clinical_evals_source"
"""In the config.json of a model."""
ADAPTER_KEY = "adapter_sha256"
"""In `SOURCE_FILE` of a merged model: the hash of the adapter's matrices."""


def note_source(folder: Path, source: str, recipe: "Recipe") -> Path:
    """Write the mark before training, with what the recipe says of it.

    Raises:
        InputError: the folder cannot be written to; or holds weights of rows with another mark.
    """
    before = noted_source(folder)
    if before is not None and before != source:
        raise InputError(
            f"{folder} is noted to hold weights of rows with the mark {before!r}, these rows have {source!r}. Give "
            "another output_dir."
        )
    about = {
        "base_model": recipe.model.model_name_or_path,
        "rows": recipe.script.dataset_name,
        "recipe": recipe.path.name,
    }
    return write_source(folder, source, about)


def write_source(folder: Path, source: str, about: dict[str, Any]) -> Path:
    """Write the mark into a folder of weights; the folder is made if need be.

    Raises:
        InputError: it cannot be written to.
    """
    path = folder / SOURCE_FILE
    content = {"source": source, **about, "clinical_evals": __version__}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with written_aside(path) as aside:
            aside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}).") from error
    return path


def noted_source(folder: Path) -> str | None:
    """The mark in a folder of weights, for a checkpoint that of the run; None where there is no such file.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / SOURCE_FILE
    if folder.name.startswith("checkpoint-") and not path.is_file():
        path = folder.parent / SOURCE_FILE
    if not path.is_file():
        return None
    return mark_in(str(read_object(path, "Run check-recipe again.").get("source", "")))


def merged_adapter(folder: Path) -> str | None:
    """The hash of the adapter that `tuned merge` merged into a model; None where the folder does not say.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / SOURCE_FILE
    return read_object(path, "Merge again.").get(ADAPTER_KEY) if path.is_file() else None


def source_of_weights(folder: Path, rows: Path | None) -> str:
    """The mark that weights carry: of the rows given, else as noted or as their chat template says.

    What says nothing is taken for MIMIC's.

    Raises:
        InputError: rows and note disagree, or cannot be read.
    """
    noted = noted_source(folder) or mark_beside(folder)
    if rows is None:
        return noted or MIMIC_MARKER
    found = read_source(rows)
    if noted is not None and noted != found:
        raise InputError(
            f"{folder} says that the weights are of rows with the mark {noted!r}, but {rows} has {found!r}: they "
            "were trained on other rows. Leave --rows out."
        )
    return found
