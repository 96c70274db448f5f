"""The four kinds of push: which files each takes, what it demands of them, and how the repository is used after."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from clinical_evals.assets import dataset_folder, metric_script
from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.hub.push.card import CARD, check_dataset_card, read_head, require_card
from clinical_evals.hub.push.parcel import Parcel, parcel_of

SAMPLES = ("clibench", "ior-bench")
"""The embedded datasets, by the names under which they load."""
BENCHMARK = "eval.yaml"
"""What makes a dataset a benchmark on the Hub (`hub.cards`)."""
_TRAINING_STATE = re.compile(
    r"(?:^|/)checkpoint-\d+/|(?:^|/)(?:optimizer|scheduler|rng_state|scaler)[^/]*\.(?:pt|pth|bin)$"
    r"|(?:^|/)training_args\.bin$|(?:^|/)trainer_state\.json$|(?:^|/)runs/|(?:^|/)events\.out\.tfevents\."
)
_PICKLES = re.compile(r"\.(?:bin|pt|pth|ckpt|pkl|pickle)$")
_WEIGHTS = re.compile(r"\.(?:safetensors|gguf|onnx)$")
_ROWS = re.compile(r"(?:^|/)(?:predictions\.jsonl|transcripts\.jsonl|scored(?:\.\w+)?\.jsonl)$")
_RESULTS = re.compile(rf"(?:^|/)(?:summary(?:\.\w+)?\.json|[^/]+_(?:ablation|contexts)-[^/]+\.json)$|^{CARD}$")
_RESULTS_AND_ROWS = re.compile(f"{_RESULTS.pattern}|{_ROWS.pattern}")


class Kind(NamedTuple):
    """A kind of push."""

    repo_type: str
    """The Hub's: dataset, model or space."""
    collect: Callable[[str, bool], Parcel]
    """From the path or name and whether rows go with results."""
    check: Callable[[Parcel, str], str]
    """From the parcel and the repository's name: how it is used once it is there. Raises InputError."""
    is_whole: bool
    """Whether the repository holds nothing but this."""


def _collect_dataset(path: str, _: bool) -> Parcel:
    if path not in SAMPLES:
        return parcel_of(Path(path))
    folder = dataset_folder(path)
    data = {
        file["path"] for config in read_head(folder / CARD)["configs"] for file in config["data_files"]
    }  # and nothing that was built beside them
    places = sorted({CARD, BENCHMARK, *data})
    return Parcel(folder, {place: folder / place for place in places})


def _check_dataset(parcel: Parcel, repo: str) -> str:
    configs = check_dataset_card(parcel.files, parcel.origin)
    return "\n".join(f'load_dataset("{repo}", "{config}")' for config in configs)


def _collect_metric(path: str, _: bool) -> Parcel:
    try:
        folder = Path(path) if "/" in path else metric_script(path).parent
    except ResourceMissingError:
        folder = Path(path)
    return parcel_of(folder)


def _check_metric(parcel: Parcel, repo: str) -> str:
    name = repo.partition("/")[2]
    if f"{name}.py" not in parcel.files:
        scripts = [place for place in parcel.files if place.endswith(".py") and "/" not in place]
        raise InputError(
            f'evaluate.load("{repo}") would run {name}.py, which is not in {parcel.origin} (it has '
            f"{', '.join(scripts) or 'no script'}): the repository must have the name of the metric's script"
        )
    card = require_card(parcel.files, parcel.origin, "a metric", "Its YAML says title, sdk and app_file of the Space.")
    if read_head(card).get("sdk") != "gradio":
        raise InputError(f"{card}: a metric is a Space with `sdk: gradio`")
    return f'evaluate.load("{repo}")'


def _collect_model(path: str, _: bool) -> Parcel:
    return _with_note_on_base(parcel_of(Path(path), leave=_TRAINING_STATE))


def _check_model(parcel: Parcel, repo: str) -> str:
    is_adapter = "adapter_config.json" in parcel.files
    if not is_adapter and "config.json" not in parcel.files:
        raise InputError(f"{parcel.origin} has neither adapter_config.json nor config.json: expected a saved model")
    pickles = [place for place in parcel.files if _PICKLES.search(place)]
    if pickles:
        raise InputError(
            f"{parcel.origin / pickles[0]} is a pickle, which runs code where it is loaded: save the model anew, as "
            "safetensors (save_pretrained), and remove it"
        )
    if not any(_WEIGHTS.search(place) for place in parcel.files):
        raise InputError(f"{parcel.origin} holds no weights: expected .safetensors, .gguf or .onnx")
    require_card(parcel.files, parcel.origin, "a model", "`clinical-evals tuned card` writes one.")
    loader = "AutoPeftModelForCausalLM" if is_adapter else "AutoModelForCausalLM"
    return f'{loader}.from_pretrained("{repo}")'


def _with_note_on_base(parcel: Parcel) -> Parcel:
    """With a note where an adapter's base is a folder of this machine."""
    config = parcel.files.get("adapter_config.json")
    if config is None or not config.is_file():
        return parcel
    try:
        base = json.loads(config.read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (OSError, ValueError, AttributeError):
        return parcel  # what the guard or the loader says of it is better
    if isinstance(base, str) and Path(base).is_absolute():
        return replace(parcel, notes=(f"the adapter's base model is a folder of this machine: {base}",))
    return parcel


def _collect_results(path: str, with_rows: bool) -> Parcel:
    return parcel_of(Path(path), take=_RESULTS_AND_ROWS if with_rows else _RESULTS)


def _check_results(parcel: Parcel, repo: str) -> str:
    example = next((place for place in parcel.files if place != CARD), None)
    if example is None:
        raise InputError(f"{parcel.origin} holds no results but {CARD}")
    return f'hf_hub_download("{repo}", "{example}", repo_type="dataset")'


KINDS = {
    "dataset": Kind("dataset", _collect_dataset, _check_dataset, is_whole=True),
    "metric": Kind("space", _collect_metric, _check_metric, is_whole=True),
    "model": Kind("model", _collect_model, _check_model, is_whole=True),
    "results": Kind("dataset", _collect_results, _check_results, is_whole=False),
}
