"""`clinical-evals check-recipe`: what TRL would make of a recipe and its rows, before hours are spent on it.

TRL keeps the first `max_length` tokens of a row, 1024 where nothing is said. A long prompt so loses its completion:
the row is dropped without a word, or trains on nothing. Here such a row is an error.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import GuardError, InputError
from clinical_evals.markers import SYNTHETIC_MARKER
from clinical_evals.training.tuning.chat_tokens import ChatTokens, RowTokens
from clinical_evals.training.tuning.in_threads import map_in_threads
from clinical_evals.training.tuning.marked_template import plain_template
from clinical_evals.training.tuning.positions import check_reads
from clinical_evals.training.tuning.recipe import Recipe, read_recipe
from clinical_evals.training.tuning.recipe_values import check_what_is_learnt
from clinical_evals.training.tuning.row_files import read_about, read_loaded_source
from clinical_evals.training.tuning.weights_source import note_source

COMPLETIONS = {"sft": ("completion",), "dpo": ("chosen", "rejected")}
"""The columns that are learnt, by trainer."""


class CheckedRows(NamedTuple):
    """What the rows of a recipe are."""

    rows: int
    longest: int
    """Tokens of the longest row."""
    learnt: int
    """Tokens that are learnt, in all."""
    source: str
    """Their mark."""


def check_recipe(path: Path, trainer: str | None = None) -> str:
    """Check a recipe and its rows, and note the rows' source in its output_dir.

    Returns:
        What was found, in words.

    Raises:
        InputError: see `read_recipe` and `check_rows`.
        GuardError: it would push weights of marked rows to the Hub.
        ResourceMissingError: TRL is not installed, or the tokenizer is not on this machine.
    """
    recipe = read_recipe(path, trainer)
    found = check_rows(recipe)
    if recipe.training.push_to_hub and found.source != SYNTHETIC_MARKER:
        raise GuardError(
            f"{path}: push_to_hub would send weights that were trained on rows with the mark {found.source!r}, and "
            "TRL asks no one. Set push_to_hub: false."
        )
    noted = note_source(Path(recipe.training.output_dir), found.source, recipe)
    said = [
        f"{path}: {found.rows} rows of at most {found.longest} tokens (max_length {recipe.training.max_length}), "
        f"{found.learnt:,} tokens to be learnt, none lost",
        f"source of the rows: {found.source}, noted in {noted}",
        *recipe.notes,
        f"next: trl {recipe.trainer} --config {path}",
    ]
    return "\n".join(said)


def check_rows(recipe: Recipe) -> CheckedRows:
    """Count the tokens of every row as TRL will.

    Raises:
        InputError: the recipe would have TRL learn other tokens than the completions; it names no folder of rows,
            model or max_length; the split is empty; a row is not one of this trainer; or a row's completion would be
            cut or lost (the row is named), or the row is longer than what the model reads.
    """
    check_what_is_learnt(recipe.path, recipe.trainer, recipe.given)
    folder = _folder(recipe)
    limit = _max_length(recipe)
    chat = ChatTokens(_model(recipe), _template(recipe))
    _check_template(recipe, folder, chat.own_template)
    rows = _rows(recipe, folder)
    checked = longest = learnt = 0

    def measure(numbered: tuple[int, Mapping[str, Any]]) -> list[tuple[str, str, RowTokens]]:
        at, row = numbered
        where = f"{recipe.path}: row {at}{_named(row)}"
        return [(where, column, tokens) for column, tokens in _measured(recipe, row, at, chat)]

    for checked, found in enumerate(map_in_threads(measure, enumerate(rows)), 1):  # noqa: B007  # is read below
        for where, column, tokens in found:
            left = tokens.learnt_within(limit)
            if left < tokens.completion:
                raise InputError(_lost(where, column, left, tokens.completion, tokens.whole, limit or 0))
            if left == 0:
                raise InputError(
                    f"{where}: no supervised token: its {column} is empty in the chat template of {chat.name}."
                )
            longest, learnt = max(longest, tokens.whole), learnt + left
    if not checked:
        raise InputError(
            f"{folder}, split {recipe.script.dataset_train_split}: there is no row in it. `clinical-evals build "
            "sft` writes such a folder."
        )
    check_reads(recipe.path, chat.name, longest)
    return CheckedRows(checked, longest, learnt, read_loaded_source(folder))


def _lost(where: str, column: str, left: int, completion: int, whole: int, limit: int) -> str:
    what = f"only {left} of the {completion} tokens of its {column}" if left else "no supervised token"
    return (
        f"{where} has {whole} tokens, and TRL keeps the first {limit}: {what} would be left. Build the rows with "
        f"--max-length {limit}, or set max_length: {whole} if the model reads as many."
    )


def _folder(recipe: Recipe) -> Path:
    if recipe.mixture.datasets:
        raise InputError(
            f"{recipe.path}: datasets: give one folder of rows as dataset_name, which is what is checked."
        )
    name = recipe.script.dataset_name
    if not name or not Path(name).is_dir():
        kind = "sft" if recipe.trainer == "sft" else "preferences"
        raise InputError(
            f"{recipe.path}: dataset_name {name!r} is no folder here (paths are relative to where the command is "
            f"run). `clinical-evals build {kind} --out {name or 'DIR'}` writes it."
        )
    return Path(name)


def _max_length(recipe: Recipe) -> int | None:
    if "max_length" not in recipe.given:
        raise InputError(
            f"{recipe.path}: max_length is not set. TRL would keep the first 1024 tokens of each row and drop the "
            "others with their completions: set it to the --max-length of `clinical-evals build sft`."
        )
    limit: int | None = recipe.training.max_length
    return limit


def _model(recipe: Recipe) -> str:
    if not recipe.model.model_name_or_path:
        raise InputError(f"{recipe.path}: model_name_or_path is not set.")
    return str(recipe.model.model_name_or_path)


def _template(recipe: Recipe) -> str | None:
    path = getattr(recipe.training, "chat_template_path", None)
    if path is None:
        return None
    if not Path(path).is_file():
        raise InputError(f"{recipe.path}: chat_template_path {path!r} is no file here.")
    return Path(path).read_text(encoding="utf-8")


def _check_template(recipe: Recipe, folder: Path, own: str | None) -> None:
    """Whether the template that lies beside the rows is the model's own."""
    path = getattr(recipe.training, "chat_template_path", None)
    if path is None or own is None or Path(path).parent.resolve() != folder.resolve():
        return
    if plain_template(Path(path).read_text(encoding="utf-8")) != plain_template(own):
        raise InputError(
            f"{recipe.path}: {path} is not the chat template of {_model(recipe)}: the rows were built for another "
            "model. Build them with --tokenizer of this one."
        )


def _rows(recipe: Recipe, folder: Path) -> Any:
    from datasets import load_dataset

    split = recipe.script.dataset_train_split
    try:
        splits = load_dataset(str(folder), name=recipe.script.dataset_config)
    except Exception as error:  # whatever the files of a folder may cause in datasets
        raise InputError(f"{recipe.path}: {folder} cannot be loaded: {type(error).__name__}: {error}") from error
    if split not in splits:
        raise InputError(f"{recipe.path}: {folder} has no split {split!r}, only {', '.join(splits)}.")
    return splits[split]


def _measured(
    recipe: Recipe, row: Mapping[str, Any], number: int, chat: ChatTokens
) -> Iterator[tuple[str, RowTokens]]:
    columns = COMPLETIONS[recipe.trainer]
    for column in ("prompt", *columns):
        if not isinstance(row.get(column), list):
            raise InputError(
                f"{recipe.path}: row {number} has no conversation in column {column!r}; {recipe.trainer} rows have "
                f"prompt, {', '.join(columns)}. It has {', '.join(row)}."
            )
    for column in columns:
        yield column, chat.measure(row["prompt"], row[column])


def _named(row: Mapping[str, Any]) -> str:
    return next((f" ({name} {row[name]})" for name in ("hadm_id", "row") if name in row), "")


def about_rows(recipe: Recipe) -> dict[str, Any]:
    """What build.json of the recipe's rows says; nothing where there is none."""
    name = recipe.script.dataset_name
    return read_about(Path(name)) if name and Path(name).is_dir() else {}
