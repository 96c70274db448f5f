"""The page of results: what models scored in our runs, above the rows that CliBench prints (Tables 10 to 13).

    python -m clinical_evals.report.results_page docs/results                 writes docs/results/README.md anew
    python -m clinical_evals.report.results_page docs/results --add SUMMARY --model NAME --data TEXT --command TEXT

`--add` keeps what the page needs of a run's summary.json in docs/results/entries. The rows of the papers are of other
data than any of ours, and each row says of which.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.published_table import PublishedRow, read_published
from clinical_evals.report.published_tables import PUBLISHED, TASKS
from clinical_evals.write_aside import written_aside

_TABLES = dict(zip(TASKS, (10, 11, 12, 13), strict=True))
_MEASURES = ("precision", "recall", "f1")
_KEPT = (
    "task", "protocol", "protocol_version", "system", "release", "candidates", "rows", "scores", "intervals",
    "input_tokens", "output_tokens", "answers_cut_off", "prompts_cut", "kept_prompt",
)  # fmt: skip
_AVERAGE = "average"
_LEVELS_OF = {
    "lab_order": "`standard` counts the three levels below Laboratory and the LOINC number, the published scorer "
    "(`official`) from the root: its first levels are the same for nearly every test.",
    "prescription": "`standard` averages the ATC levels A, A10, A10B, A10BA (WHO's fifth, the full code, is in the "
    "entry), the published scorer (`official`) prefixes of 1, 2, 3 and 4 characters.",
}


class Row(NamedTuple):
    """One line of a table; scores in percent."""

    model: str
    data: str
    protocol: str
    rows: int | None
    levels: tuple[float, ...]
    """F1 at each level, coarsest first."""
    average: tuple[float, float, float]
    """Mean precision, recall and F1 over the levels."""
    interval: tuple[float, float] | None
    """Of the mean F1."""


def add_entry(folder: Path, summary: Path, model: str, data: str, command: str) -> Path:
    """Keep what the page needs of a run.

    Raises:
        InputError: the file is no summary of a CliBench task.
    """
    try:
        found = json.loads(summary.read_text(encoding="utf-8"))
        task = found["task"].removeprefix("clibench:")
        entry = {"model": model, "data": data, "command": command, **{key: found[key] for key in _KEPT}}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(f"{summary} is no summary.json of a CliBench run ({error!r}).") from error
    if task not in TASKS:
        raise InputError(f"{summary} is of {found['task']}, expected one of {', '.join(TASKS)} of clibench.")
    name = "-".join(_slug(part) for part in (task, model, data, found["protocol"]))
    path = folder / "entries" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(path) as aside:
        aside.write_text(json.dumps(entry, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def format_page(folder: Path) -> str:
    """The page, from the entries of a folder and the published tables.

    Raises:
        InputError: an entry cannot be read.
    """
    entries = [_read(path) for path in sorted((folder / "entries").glob("*.json"))]
    parts = [_HEAD]
    for task in TASKS:
        of_task = [entry for entry in entries if entry["task"] == f"clibench:{task}"]
        names, published = _published(task)
        rows = [*map(_row, of_task), *published]
        parts += [f"## {task.replace('_', ' ').capitalize()}", _LEVELS_OF.get(task, ""), _table(names, rows)]
    commands = dict.fromkeys((entry["data"], entry["command"]) for entry in entries)
    parts += ["## How our rows were made", *(f"{data}:\n\n```bash\n{command}\n```" for data, command in commands)]
    releases = sorted({f"{entry['system']} {entry['release']}" for entry in entries})
    parts.append(f"Code systems: {'; '.join(releases)}.")
    return "\n\n".join(part for part in parts if part) + "\n"


_HEAD = """\
# Results

Written by `python -m clinical_evals.report.results_page docs/results` from [entries](entries); not edited by hand.

F1 in percent at each level, micro over the rows; then the means of precision, recall and F1 over the levels, with the
95 % interval of the mean F1 (bootstrap by patient). **Rows of different data do not compare**: the published ones are
of the paper's 1,036 to 1,100 admissions of MIMIC-IV 2.2, ours of what the column says. The synthetic sample is small
and made up by us; the notes of the MIMIC-IV demo are synthetic, written from its tables, and so are easier or harder
than real ones in ways that nobody has measured. SmolLM2-135M-Instruct is the demo's model: far too small for the task,
and here to show that every step runs and what a floor looks like."""


def _read(path: Path) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if missing := [key for key in ("model", "data", "command", *_KEPT) if key not in entry]:
        raise InputError(f"{path} has no {', '.join(missing)}: add it again with --add.")
    return entry


def _row(entry: Mapping[str, Any]) -> Row:
    scores = entry["scores"]
    names = [key.removeprefix("f1_") for key in scores if key.startswith("f1_")]
    names.remove(_AVERAGE)
    if entry["system"] == "atc" and "full" in names:
        names.remove("full")  # outside the average, and in no published table
    low, high = entry["intervals"][f"f1_{_AVERAGE}"]
    precision, recall, f1 = (100 * scores[f"{measure}_{_AVERAGE}"] for measure in _MEASURES)
    return Row(
        entry["model"],
        entry["data"],
        entry["protocol"],
        entry["rows"],
        tuple(100 * scores[f"f1_{name}"] for name in names),
        (precision, recall, f1),
        (100 * low, 100 * high),
    )


def _published(task: str) -> tuple[list[str], list[Row]]:
    """The names of the levels, and the rows in the order of the paper's table."""
    number = _TABLES[task]
    path = PUBLISHED / f"clibench_table{number}_{task}.csv"
    models: dict[str, dict[str, PublishedRow]] = {}
    for row in read_published(path, ("row", "model", "params", "level", *_MEASURES)):
        models.setdefault(row.cells["row"], {})[row.cells["level"]] = row
    names = [name for name in next(iter(models.values())) if name != _AVERAGE]
    rows = []
    for number_of_row, levels in models.items():
        precision, recall, f1 = (levels[_AVERAGE].number(measure) for measure in _MEASURES)
        f1s = tuple(levels[name].number("f1") for name in names)
        data = f"MIMIC-IV 2.2, as Table {number} prints it"
        cells = levels[names[0]].cells
        size = "" if cells["params"] == "—" else f" ({cells['params']})"
        model = f"{number_of_row}. {cells['model']}{size}"
        rows.append(Row(model, data, "the authors'", None, f1s, (precision, recall, f1), None))
    return names, rows


def _table(names: Sequence[str], rows: Sequence[Row]) -> str:
    head = ["model", "data", "protocol", "rows", *(f"F1 {name}" for name in names), "P", "R", "F1 average"]
    lines = [head, ["---"] * 4 + ["---:"] * (len(head) - 4)]
    for row in rows:
        interval = "" if row.interval is None else f" [{row.interval[0]:.2f}, {row.interval[1]:.2f}]"
        cells = [f"{value:.2f}" for value in (*row.levels, *row.average)]
        cells[-1] += interval
        ours = f"**{row.model}**" if row.rows is not None else row.model
        lines.append([ours, row.data, row.protocol, "" if row.rows is None else str(row.rows), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _slug(text: str) -> str:
    return "_".join("".join(char if char.isalnum() else " " for char in text.lower()).split())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page of a folder, after adding an entry if one is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--add", type=Path, metavar="SUMMARY", action="append", default=[])
    parser.add_argument("--model", metavar="NAME")
    parser.add_argument("--data", metavar="TEXT")
    parser.add_argument("--command", metavar="TEXT")
    args = parser.parse_args(arguments)
    if args.add and not (args.model and args.data and args.command):
        parser.error("--add needs --model, --data and --command")
    for summary in args.add:
        print(add_entry(args.folder, summary, args.model, args.data, args.command))
    page = args.folder / "README.md"
    with written_aside(page) as aside:
        aside.write_text(format_page(args.folder), encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
