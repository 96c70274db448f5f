"""JSON lines as records: one object a line, its keys are the columns."""

import json
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.records import Record, Table
from clinical_evals.ior_bench.text_file import NOT_IN, TextFile, cell_problem


def read_jsonl(path: Path, file: TextFile) -> Table:
    """The table of a JSONL file; the columns are all keys in order of first appearance, an absent key or null is "".

    Numbers become text, lists and objects JSON text. Lines that are not an object, or name a key twice, are there with
    their `problem`; blank lines are passed over.

    Raises:
        InputError: no line is a JSON object (a JSON list over several lines, for one).
    """
    columns: dict[str, None] = {}
    records: list[Record] = []
    for line, text in enumerate(file.text.split("\n"), start=1):
        if not text.strip():
            continue
        number = len(records) + 1
        try:
            cells = _cells(text, file)
        except ValueError as error:
            records.append(Record(number, line, {}, str(error)))
            if NOT_IN in str(error):
                file = file._replace(first_bad=None)  # lines come in order: only the first one holds that byte
            continue
        columns.update(dict.fromkeys(cells))
        bad_cells = {name: reason for name, cell in cells.items() if (reason := cell_problem(cell, "UTF-8"))}
        records.append(Record(number, line, cells, bad_cells=bad_cells))
    if not columns:
        reason = f" Line {records[0].line}: {records[0].problem}." if records else ""
        raise InputError(f"{path} has no line that is a JSON object; expected one object a line.{reason}")
    return Table(path, list(columns), records, file.encoding)


def _cells(text: str, file: TextFile) -> dict[str, str]:
    """The values of one line as text, or a ValueError with the reason."""
    problem = cell_problem(text, file.encoding)
    if problem:
        at = f" (byte {file.first_bad} of the file)" if file.first_bad is not None and NOT_IN in problem else ""
        raise ValueError(f"the line holds {problem}{at}")
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.colno}); expected one object a line") from error
    except RecursionError as error:
        raise ValueError("JSON nested too deeply; expected one object of texts a line") from error
    if not isinstance(value, dict):
        raise ValueError(f"a JSON {type(value).__name__}; expected one object a line")
    return {name: _text(each) for name, each in value.items()}


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object: keep one of the two")
    return content


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
