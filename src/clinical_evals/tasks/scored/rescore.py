"""`clinical-evals score`: a prediction log scored again, by either protocol, without the model that wrote it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinical_evals.errors import InputError
from clinical_evals.matching.matchers import PROTOCOL
from clinical_evals.ontology import get_system
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import Line
from clinical_evals.tasks.scored.answered_rows import Matching, protocols_of
from clinical_evals.tasks.scored.results import (
    MissingRow,
    Result,
    file_names,
    is_same_scoring,
    summarise,
    write_files,
    write_json,
)
from clinical_evals.tasks.scored.scoring_runs import score_log


def rescore(
    log: Path,
    protocol: str = "standard",
    dictionary: Path | None = None,
    output: Path | None = None,
    matcher: str = PROTOCOL,
) -> tuple[list[Result], str]:
    """Score a log by one protocol or both, and write what came out.

    Args:
        log: the predictions.jsonl or transcripts.jsonl of a run.
        protocol: "standard", "official" or "both".
        dictionary: for "official": MIMIC's d_icd_diagnoses.
        output: a file for the summaries, one JSON object by protocol; then nothing is written beside the log.
        matcher: for "standard": what turns texts into codes, a name of `matching.matchers`.

    Returns:
        One result a protocol, and what is to be said of the files.

    Raises:
        ClinicalEvalsError: log, dictionary or output file cannot be used; said before anything is scored.
    """
    matching = Matching(dictionary, matcher)
    protocols = protocols_of(protocol, matching)
    if output is not None:
        _check_output(output, log)
    header, results, left_out = score_log(log, protocols, matching)
    results = list(map(_with_missing, results))
    said = [left_out] if left_out else []
    return results, "; ".join([*said, *_other_versions(header, results[0].task), _write(results, output)])


def _other_versions(header: Line, task: Task) -> list[str]:
    """By what the run itself scored, where that is not what scores now: such numbers may differ from the run's."""
    logged = header.get("versions")
    if not isinstance(logged, dict):
        return []
    now = {"protocol": PROTOCOL_VERSION} | ({task.system: get_system(task.system).release} if task.system else {})
    return [
        f"the run was made with {name} {logged[name]}, this is scored with {version}"
        for name, version in now.items()
        if logged.get(name, version) != version
    ]


def _write(results: Sequence[Result], output: Path | None) -> str:
    try:
        if output is not None:
            write_json(output, [{result.protocol: summarise(result) for result in results}], indent=2)
            return f"summary: {output}"
        return "; ".join(map(_write_beside, results))
    except OSError as error:
        place = output or results[0].log.parent
        raise InputError(
            f"{place} cannot be written to ({error.strerror or error}). Let --output FILE name another place."
        ) from error


def _with_missing(result: Result) -> Result:
    """With the rows that the summary of the run names as missing: the log does not know of them."""
    place = result.log.with_name(file_names(result.protocol)[1])
    summary: Any = _read_json(place) if place.exists() else None
    if not is_same_scoring(result, summary):
        return result
    return replace(result, unanswered=tuple(MissingRow(**each) for each in summary.get("missing", ())))


def _write_beside(result: Result) -> str:
    scored, summary = file_names(result.protocol)
    place = result.log.with_name(summary)
    if place.exists() and not is_same_scoring(result, _read_json(place)):
        return (
            f"{summary} beside it is of other rows, titles or versions and stays as it is; --output FILE keeps this "
            "scoring"
        )
    write_files(result)
    return f"beside it {scored} and {summary}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _check_output(output: Path, log: Path) -> None:
    if output.is_dir() or not output.parent.is_dir():
        found = "is a folder" if output.is_dir() else "lies in a folder that does not exist"
        raise InputError(f"--output {output} {found}: expected the name of a file.")
    own = (log.name, *file_names("standard"), *file_names("official"))
    if output.resolve() in {log.with_name(name).resolve() for name in own}:
        raise InputError(f"--output {output} is a file of the run itself. Give another name.")
