"""MODEL_ARGS of the command line ("model_name=…,dtype=…" or a YAML file) into lighteval's model configuration."""

import re
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from clinical_evals.errors import InputError
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.yaml_file import load_yaml

if TYPE_CHECKING:
    from lighteval.models.abstract_model import ModelConfig


class ModelRequest(NamedTuple):
    """What was asked of the model, checked as far as that goes without loading it."""

    name: str
    revision: str
    values: dict[str, Any]
    """All values for lighteval's configuration, `model_name` included."""
    answer_tokens: int | None
    """`max_new_tokens` of the generation parameters. lighteval's transformers model would cut the prompt to it."""
    backend: str = "accelerate"
    """One of `BACKENDS`."""

    @property
    def temperature(self) -> float | None:
        """At which the model is to sample, if it is."""
        given = self.values["generation_parameters"].get("temperature")
        return float(given) if given else None


def parse_model_args(
    text: str,
    batch_size: int | None = None,
    backend: str = "accelerate",
    overrides: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> ModelRequest:
    """Read and check MODEL_ARGS.

    Args:
        text: "model_name=NAME_OR_FOLDER[,key=value…]", or the path of a YAML file with `model_parameters`.
        batch_size: rows that are generated together; overrides the one in `text`.
        backend: one of `BACKENDS`.
        overrides: more values, which go before those in `text`; None is none.
        defaults: more values, where `text` has none.

    Raises:
        InputError, ResourceMissingError: the text cannot be read, a value is refused, or the model is not there.
    """
    engine = BACKENDS[backend]
    values = _read_yaml(Path(text)) if text.endswith((".yaml", ".yml")) else _read_pairs(text)
    _refuse(values, engine.refused)
    if "base_url" in values and backend != "endpoint":
        raise InputError(
            f"MODEL_ARGS {_shown(text)}: base_url is the address of an endpoint, and this is `{backend}`: use `eval "
            "endpoint`, or for the patient --patient-backend endpoint."
        )
    values = {**_given(defaults), **values, **_given(overrides)}
    if not values.get("model_name"):
        raise InputError(
            f'MODEL_ARGS {_shown(text)} names no model: give "model_name=FOLDER_OR_HUB_ID" (and ,key=value for more).'
        )
    generation = values.get("generation_parameters") or {}
    if not isinstance(generation, dict):
        raise InputError(f"MODEL_ARGS: generation_parameters {generation!r}: expected {{temperature:0.7,…}}.")
    generation = dict(generation)
    _refuse(generation, engine.refused_generation, "generation_parameters.")
    revision = str(values.get("revision", "main"))
    values["model_name"] = engine.find_model(str(values["model_name"]), revision)
    if rows := batch_size or values.get("batch_size") or engine.batch_size:
        values["batch_size"] = rows
    answer_tokens = _answer_tokens(generation.pop("max_new_tokens", None))
    values["generation_parameters"] = generation
    return ModelRequest(values["model_name"], revision, values, answer_tokens, backend)


def _answer_tokens(given: object) -> int | None:
    number = int(str(given)) if str(given).strip().isdecimal() else 0
    if given is not None and number < 1:
        raise InputError(
            f"MODEL_ARGS: generation_parameters.max_new_tokens {given!r}: expected a whole number of at least 1, the "
            "most tokens of an answer, or leave it out."
        )
    return number or None


def build_config(request: ModelRequest) -> "ModelConfig":
    """lighteval's configuration of the model.

    Raises:
        InputError: an unknown key, or a value of another type.
    """
    from lighteval.models.model_input import GenerationParameters
    from pydantic import ValidationError

    engine = BACKENDS[request.backend]
    config = engine.config_class()
    known = sorted(config.model_fields.keys() - engine.refused.keys())
    inner = sorted(GenerationParameters.model_fields.keys() - engine.refused_generation.keys())
    try:
        return config(**request.values)
    except ValidationError as error:
        problems = "; ".join(
            _describe(problem, inner if problem["loc"][0] == "generation_parameters" else known)
            for problem in error.errors()
        )
        of_generation = any(problem["loc"][0] == "generation_parameters" for problem in error.errors())
        more = f" Generation parameters: {', '.join(inner)}." if of_generation else ""
        raise InputError(f"MODEL_ARGS: {problems}. Known: {', '.join(known)}.{more}") from error


def _given(values: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (values or {}).items() if value is not None}


def _shown(text: str) -> str:
    """MODEL_ARGS without what may be a secret in them."""
    return repr(re.sub(r"(\w*key\w*=)[^,]*", r"\1…", re.sub(r"//[^/@,]*@", "//…@", text)))


def _refuse(values: dict[str, Any], refused: Mapping[str, str], where: str = "") -> None:
    for key, why in refused.items():
        value = values.get(key)
        if not (value is None or value is False or value in ("False", "false")):
            raise InputError(f"MODEL_ARGS: {where}{key} cannot be used: {why}.")
        values.pop(key, None)


def _describe(problem: Any, known: list[str]) -> str:
    """One complaint of pydantic, with the names that are nearest to an unknown one."""
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] != "extra_forbidden":
        return f"{name}: {problem['msg']}"
    near = get_close_matches(str(problem["loc"][-1]), known, n=3, cutoff=0.4)
    return f"{name}: there is no such value" + (f", did you mean {' or '.join(near)}" if near else "")


def _refuse_twice(text: str) -> None:
    """A key that stands twice would quietly have its last value."""
    inner = ",".join(re.findall(r"\{([^{}]*)\}", text))
    for pairs, sign in ((re.sub(r"\{[^{}]*\}", "", text), "="), (inner, ":")):
        keys = [pair.split(sign, 1)[0].strip() for pair in pairs.split(",") if sign in pair]
        twice = [key for key, times in Counter(keys).items() if times > 1]
        if twice:
            raise InputError(f"MODEL_ARGS {_shown(text)}: {', '.join(twice)} stands twice. Remove one of them.")


def _read_pairs(text: str) -> dict[str, Any]:
    from lighteval.models.abstract_model import ModelConfig

    try:
        values: dict[str, Any] = ModelConfig._parse_args(text)
    except (ValueError, IndexError) as error:
        raise InputError(
            f'MODEL_ARGS {_shown(text)} cannot be read ({error}): expected "model_name=…,key=value,…".'
        ) from error
    _refuse_twice(text)
    # lighteval ends a value at a second =, which an address or a path may have.
    whole = dict(pair.split("=", 1) for pair in text.split(",") if pair.count("=") > 1 and "{" not in pair)
    return {key: whole.get(key, value) for key, value in values.items()}


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = load_yaml(path)
    except InputError:
        raise
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from error
    values = content.get("model_parameters") if isinstance(content, dict) else None
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected a mapping `model_parameters` with model_name and other values.")
    return dict(values)
