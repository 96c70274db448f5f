"""`clinical-evals tuned merge`: an adapter and its base become one model, and the mark of the rows goes with it."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import ClinicalEvalsError, InputError, ResourceMissingError
from clinical_evals.tasks.models.model_files import check_model
from clinical_evals.training.tuning.adapter import Adapter, check_shapes, find_base, hash_weights, read_adapter
from clinical_evals.training.tuning.recipe import INSTALL
from clinical_evals.training.tuning.weights_source import ADAPTER_KEY, CONFIG_KEY, source_of_weights, write_source


class Request(NamedTuple):
    """What was asked; the command line's help says what each is."""

    adapter: Path
    out: Path
    base: str | None = None
    copy_of_base: bool = False
    rows: Path | None = None


def merge_adapter(request: Request) -> str:
    """Merge, and write the model aside first: it is there whole or not at all.

    Returns:
        What was done, in words.

    Raises:
        InputError: the adapter or base cannot be used, they do not belong together, or there is something at `out`.
        ResourceMissingError: PEFT is not installed, or the base model is not on this machine.
    """
    adapter = read_adapter(request.adapter)
    base = check_model(find_base(adapter, request.base, request.copy_of_base))
    check_shapes(adapter, base)
    source = source_of_weights(request.adapter, request.rows)
    if request.out.exists() and (not request.out.is_dir() or any(request.out.iterdir())):
        raise InputError(f"{request.out} is there already and not empty. Give a new folder as --out.")
    _write_whole(adapter, base, source, request.out)
    return (
        f"{request.adapter} merged into {base}: {request.out}\nsource of the training rows: {source} (in {CONFIG_KEY} "
        f"of its config.json)\nnext: clinical-evals eval accelerate "
        f'"model_name={request.out}" --tasks "clibench|…", then clinical-evals compare BASE_LOG LOG'
    )


def _write_whole(adapter: Adapter, base: str, source: str, out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise InputError(f"{out.parent} cannot be written to ({error.strerror or error}).") from error
    try:
        _merge(adapter, base, aside)
        _mark_config(aside / "config.json", source)
        about = {"base_model": base, "adapter": adapter.folder.name, ADAPTER_KEY: hash_weights(adapter)}
        write_source(aside, source, about)
        aside.chmod(0o755)
        if out.exists():
            out.rmdir()
        aside.rename(out)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror or error}).") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _merge(adapter: Adapter, base: str, folder: Path) -> None:
    try:
        from peft import PeftModel
    except ImportError as error:
        raise ResourceMissingError(f"PEFT is not installed, and merges adapters: {INSTALL}") from error
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
        merged = PeftModel.from_pretrained(model, str(adapter.folder)).merge_and_unload(safe_merge=True)
        merged.save_pretrained(folder)
        has_tokenizer = (adapter.folder / "tokenizer_config.json").is_file()
        AutoTokenizer.from_pretrained(str(adapter.folder) if has_tokenizer else base).save_pretrained(folder)
    except ClinicalEvalsError:
        raise
    except OSError:
        raise
    except Exception as error:  # whatever the files of a model may cause in three libraries
        raise InputError(
            f"{adapter.folder} cannot be merged into {base}: {type(error).__name__}: {str(error)[:300]}"
        ) from error


def _mark_config(path: Path, source: str) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, CONFIG_KEY: source}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
