"""croissant.json: files with their SHA-256, and columns with types, meaning and units, as machines read them.

Source: the Croissant format 1.0 of MLCommons (http://mlcommons.org/croissant/1.0) and its RAI vocabulary. Written for
data on this machine; what is on the Hub gets its Croissant from the Hub itself.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from datasets import List

from clinical_evals.datasets_hub.build_files import sha256_of
from clinical_evals.datasets_hub.columns import Column
from clinical_evals.hub.cards.facts import CANARY, DatasetFacts
from clinical_evals.hub.cards.front_matter import ConfigData
from clinical_evals.version import __version__

_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float"}
_OF_CROISSANT = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}


def croissant_json(facts: DatasetFacts, configs: Iterable[ConfigData], folder: Path, mark: str) -> str:
    """The content of croissant.json for built data: Parquet files, one record set a split of a config.

    Args:
        facts: of the dataset.
        configs: what `front_matter.read_configs` found below the folder.
        folder: where croissant.json will lie; the files are named as seen from it.
        mark: of the data's source, one of `clinical_evals.markers`; it is among the keywords.
    """
    made, configs = facts.built, list(configs)
    statement = dict(made.statement)
    about = configs[0].description.partition(" SHA-256")[0]
    files = [(config, split, path) for config in configs for split, path in config.files.items()]
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.name,
        "description": f"{facts.about} {about} Built by clinical-evals {__version__}. Canary: {CANARY}.",
        "license": made.licence_link or made.licence_text,
        "url": facts.paper.url,
        "citeAs": facts.paper.bibtex,
        "creator": {"@type": "sc:Organization", "name": "whoever built it, with clinical-evals"},
        "keywords": [*facts.tags, *dict.fromkeys((*made.tags, mark))],
        "inLanguage": list(facts.languages),
        "isLiveDataset": False,
        "version": "1.0.0",
        "rai:dataLimitations": list(made.limits),
        "rai:personalSensitiveInformation": statement["people in the data"],
        "distribution": [_file(path, folder) for _, _, path in files],
        "recordSet": [_record_set(config, split, path, folder) for config, split, path in files],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _file(path: Path, folder: Path) -> dict[str, Any]:
    place = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": place,
        "name": place,
        "contentUrl": place,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": sha256_of(path),
    }


def _record_set(config: ConfigData, split: str, path: Path, folder: Path) -> dict[str, Any]:
    name, place = f"{config.config}_{split}", path.relative_to(folder).as_posix()
    inner = dict(config.schema.inner)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"Config {config.config}, split {split}: {config.rows[split]} rows.",
        "field": [_field(column, name, place, inner.get(column.name, ())) for column in config.schema.columns],
    }


def _field(column: Column, records: str, place: str, inner: tuple[Column, ...]) -> dict[str, Any]:
    name = f"{records}/{column.name}"
    field = _described(column, name)
    if inner:
        return field | {
            "repeated": True,
            "subField": [
                _typed(each, f"{name}/{each.name}") | {"source": _source(place, column.name, each.name)}
                for each in inner
            ],
        }
    return field | _typed(column, name) | {"source": _source(place, column.name)}


def _typed(column: Column, name: str) -> dict[str, Any]:
    listed = isinstance(column.type, List)
    kind = _TYPES[column.type.feature.dtype if listed else column.type.dtype]
    return _described(column, name) | {"dataType": kind} | ({"repeated": True} if listed else {})


def _described(column: Column, name: str) -> dict[str, Any]:
    unit = f"; unit: {column.unit}" if column.unit else ""
    null = "; may be null" if column.nullable else ""
    return {"@type": "cr:Field", "@id": name, "name": name, "description": f"{column.meaning}{unit}{null}"}


def _source(place: str, column: str, key: str = "") -> dict[str, Any]:
    inner = {"transform": {"jsonPath": key}} if key else {}
    return {"fileObject": {"@id": place}, "extract": {"column": column}, **inner}
