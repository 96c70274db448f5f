"""The parts of a dataset card that follow from schema and data, written by whatever writes the data.

    python -m clinical_evals.datasets_hub.card datasets/clibench datasets/ior-bench

A folder loaded by path is cached by its card, not by its data: so each config's description holds a SHA-256 of its
files, and a card that does not fit its data fails a test, which names this command.
"""

import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from clinical_evals.datasets_hub.features import SCHEMAS
from clinical_evals.datasets_hub.source import describe
from clinical_evals.datasets_hub.split_files import content_digest, find_split_files, read_tables, source_of
from clinical_evals.errors import InputError

_TABLE = re.compile(
    r"(<!-- columns of (\S+): written by clinical_evals\.datasets_hub\.card -->\n)"
    r"(?:.*?\n)??(<!-- end of columns -->)",
    re.DOTALL,
)


def card_metadata(folder: Path) -> dict[str, Any]:
    """`configs` and `dataset_info` of the card of one of our dataset folders, from its data.

    Raises:
        InputError: a config's files are missing or are not of the schema.
    """
    both = [_config(folder, config) for config in SCHEMAS[folder.name] if (folder / "data" / config).is_dir()]
    return {"configs": [config for config, _ in both], "dataset_info": [info for _, info in both]}


def read_card(folder: Path) -> tuple[dict[str, Any], str]:
    """Metadata and text of a card.

    Raises:
        InputError: README.md does not start with YAML between two lines of `---`.
    """
    parts = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise InputError(f"{folder / 'README.md'} does not start with YAML between two lines of ---.")
    return yaml.safe_load(parts[1]), parts[2]


def refresh_card(folder: Path) -> str:
    """The whole card with metadata and column table as they should be."""
    metadata, text = read_card(folder)
    head = yaml.safe_dump(metadata | card_metadata(folder), sort_keys=False, allow_unicode=True, width=120)
    schemas = SCHEMAS[folder.name]
    return f"---\n{head}---\n" + _TABLE.sub(lambda found: f"{found[1]}{schemas[found[2]].table()}\n{found[3]}", text)


def _config(folder: Path, config: str) -> tuple[dict[str, Any], dict[str, Any]]:
    files = find_split_files(folder / "data", config, folder.name)
    about = describe(folder.name, {source_of(path) for path in files.values()})
    description = f"{about} SHA-256 of the data: {content_digest(files.values())}"
    schema = SCHEMAS[folder.name][config]
    splits = []
    for split, path in files.items():
        rows = pa.concat_tables(read_tables(path, schema))
        splits.append({"name": split, "num_bytes": rows.nbytes, "num_examples": rows.num_rows})
    suffixes = {path.suffix for path in files.values()}
    entry: dict[str, Any] = {"config_name": config, "description": description}
    entry |= {"field": "rows"} if suffixes == {".json"} else {}
    entry["data_files"] = [
        {"split": split, "path": path.relative_to(folder).as_posix()} for split, path in files.items()
    ]
    info = {
        "config_name": config,
        "description": description,
        "features": schema.features._to_yaml_list(),
        "splits": splits,
        "download_size": sum(path.stat().st_size for path in files.values()),
        "dataset_size": sum(split["num_bytes"] for split in splits),
    }
    return entry, info


if __name__ == "__main__":
    for name in sys.argv[1:] or ["datasets/clibench", "datasets/ior-bench"]:
        card = refresh_card(Path(name).resolve())
        (Path(name) / "README.md").write_text(card, encoding="utf-8")
        print(f"wrote {name}/README.md")
