"""A recipe for `trl sft --config` or `trl dpo --config`, read by TRL's own parser.

TRL's scripts ignore a key that they do not know (under `accelerate launch` a misspelt `max_lenght` trains at 1024),
and `trl` takes it for an argument of accelerate and prints that one's usage. Here it is an error with the nearest
keys.
"""

import contextlib
import io
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.training.tuning.recipe_values import check_values
from clinical_evals.yaml_file import load_yaml

LAUNCH_KEYS = frozenset(
    (
        "accelerate_config",
        "num_processes",
        "num_machines",
        "machine_rank",
        "main_process_ip",
        "main_process_port",
        "env",
    )
)
"""What `trl` hands on to `accelerate launch`, and `env`, which its parser reads itself."""

INSTALL = 'pip install -c constraints.txt -e ".[train]"'


class Recipe(NamedTuple):
    """A recipe, parsed."""

    path: Path
    trainer: str
    """sft or dpo."""
    script: Any
    """trl.ScriptArguments"""
    training: Any
    """trl.SFTConfig or trl.DPOConfig"""
    model: Any
    """trl.ModelConfig"""
    mixture: Any
    """trl.DatasetMixtureConfig"""
    given: Mapping[str, Any]
    """What the file itself says."""
    notes: tuple[str, ...]
    """What of it cannot be done on this machine, and was switched off to read it."""


def read_recipe(path: Path, trainer: str | None = None, overrides: Sequence[str] = ()) -> Recipe:
    """Parse a recipe.

    Args:
        path: the YAML file.
        trainer: sft or dpo; None: dpo where the file's name has it, else sft.
        overrides: arguments as on TRL's command line, such as ("--max_steps", "3"); they take precedence.

    Raises:
        InputError: the file is no recipe, has a key twice or one that TRL does not know, or a value that it refuses
            or that cannot work.
        ResourceMissingError: TRL is not installed.
    """
    trainer = trainer or ("dpo" if "dpo" in path.stem else "sft")
    given = _read_yaml(path)
    parser = _parser(trainer)
    _check_keys(path, given, {action.dest for action in parser._actions})
    check_values(path, given)
    notes, off = _beyond_this_machine(given, overrides)
    launch = {key for key in given if key in LAUNCH_KEYS - {"env"}}
    try:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            parsed = parser.parse_args_and_config(
                ["--config", str(path), *overrides, *off], fail_with_unknown_args=not launch
            )
    except SystemExit as error:  # argparse
        raise InputError(f"{path}: TRL refuses it: {said.getvalue().strip().splitlines()[-1]}") from error
    except (ValueError, TypeError, ImportError) as error:
        raise InputError(f"{path}: TRL refuses it: {error}") from error
    script, training, model, mixture = parsed
    _check_trust(path, training)
    return Recipe(path, trainer, script, training, model, mixture, given, notes)


def _parser(trainer: str) -> Any:
    try:
        from importlib import import_module

        script = import_module(f"trl.scripts.{trainer}")
    except ImportError as error:
        raise ResourceMissingError(f"TRL is not installed, and reads the recipes: {INSTALL}") from error
    return script.make_parser()


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        found = load_yaml(path)
    except OSError as error:
        raise InputError(
            f"no recipe at {path} ({error.strerror}). Those of this package: training/recipes/."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not readable YAML: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected lines of `key: value`, found {type(found).__name__}.")
    return found


def _check_keys(path: Path, given: Mapping[str, Any], known: set[str]) -> None:
    unknown = [str(key) for key in given if key not in known | LAUNCH_KEYS]
    if not unknown:
        return
    said = []
    for key in unknown:
        near = get_close_matches(key, sorted(known), n=3, cutoff=0.5)
        said.append(f"{key!r}" + (f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""))
    raise InputError(
        f"{path}: TRL knows no key {', '.join(said)}, and would train without it. Correct or remove it; "
        "`trl sft --help` lists all."
    )


def _beyond_this_machine(given: Mapping[str, Any], overrides: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """What needs a GPU, where there is none: the notes, and the arguments that switch it off."""
    import torch

    if torch.cuda.is_available():
        return (), []
    notes, off = [], []
    for key in ("load_in_4bit", "load_in_8bit"):
        if given.get(key) and f"--{key}" not in overrides:
            notes.append(f"{key} needs a GPU and bitsandbytes: switched off here")
            off += [f"--{key}", "False"]
    if given.get("bf16", True) and "--bf16" not in overrides:
        notes.append("bf16 is for GPUs: switched off here")
        off += ["--bf16", "False"]
    return tuple(notes), off


def _check_trust(path: Path, training: Any) -> None:
    if training.trust_remote_code:
        raise InputError(f"{path}: trust_remote_code: code that comes with a model is not run. Remove the key.")
