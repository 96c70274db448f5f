"""One task asked in several ways, compared: CliBench's ablations (Table 5) and contexts (Table 8).

Each way is a run of its own, with its own log. Their scores are compared with those of the first way on the same rows,
paired by patient.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.scoring.hierarchy import scores
from clinical_evals.scoring.intervals import bootstrap
from clinical_evals.scoring.paired import Difference, paired_differences
from clinical_evals.tasks.names import PROTOCOL_VERSION, Task
from clinical_evals.tasks.prediction_log import hash_json
from clinical_evals.tasks.scored.code_results import CodeResult
from clinical_evals.tasks.scored.counted_rows import count_rows
from clinical_evals.tasks.scored.results import Intervals, Result, write_json
from clinical_evals.tasks.variants import Variant


class Way(NamedTuple):
    """What one way of asking gave on the rows that all ways answered."""

    variant: Variant
    log: Path
    scores: Mapping[str, float]
    differences: Mapping[str, Difference] | None
    """From the first way; None of that one itself."""
    kept: Mapping[str, float]
    """Mean, median and minimum of the kept share of the whole prompt, 0-1."""
    prompts_cut: int


class Study(NamedTuple):
    """The ways of asking one task, the first being the one that the others are compared with."""

    task: Task
    protocol: str
    rows: int
    """Rows that all ways answered."""
    most_rows: int
    """Rows that some way answered."""
    intervals: Intervals
    """Of the scores of the first way."""
    ways: list[Way]

    @property
    def of_contexts(self) -> bool:
        """Whether contexts are compared; otherwise parts of the prompt."""
        return not any(way.variant.without for way in self.ways)


def find_studies(results: Sequence[Result]) -> Iterator[Study]:
    """The studies among results, by task and protocol: those that were asked in more than one way."""
    codes = [result for result in results if isinstance(result, CodeResult)]
    for task in dict.fromkeys(result.task for result in codes):
        for protocol in dict.fromkeys(result.protocol for result in codes if result.task == task):
            of = [result for result in codes if (result.task, result.protocol) == (task, protocol)]
            if len({result.log for result in of}) > 1:
                yield compare_ways(of)


def compare_ways(results: Sequence[CodeResult]) -> Study:
    """One task by one protocol, asked in several ways; the first result is the one compared with."""
    common = set.intersection(*({line["row"] for line in result.lines} for result in results))
    runs = [count_rows(result).on(common).run for result in results]
    first = runs[0]
    ways = []
    for result, run in zip(results, runs, strict=True):
        kept = [line["kept_prompt"] for line in result.lines if line["row"] in common]
        ways.append(
            Way(
                result.variant(),
                result.log,
                scores(run.counts),
                None if run is first else paired_differences(first, run),
                {"mean": statistics.fmean(kept), "median": statistics.median(kept), "min": min(kept)},
                sum(share < 1 for share in kept),
            )
        )
    most = max(len(result.lines) for result in results)
    intervals = bootstrap(first.counts, first.groups)
    return Study(results[0].task, results[0].protocol, len(common), most, intervals, ways)


def write_study(study: Study, folder: Path) -> Path:
    """Write it as JSON, named by what it is of, with the logs that it comes from; returns the file's path."""
    value: dict[str, Any] = {
        "task": study.task.name,
        "protocol": study.protocol,
        "protocol_version": PROTOCOL_VERSION,
        "rows": study.rows,
        "ways": [
            {
                "without": list(way.variant.without),
                "context": way.variant.context,
                "log": way.log.relative_to(folder).as_posix(),
                "scores": dict(way.scores),
                **(
                    {"intervals": study.intervals}
                    if way.differences is None
                    else {"differences": {key: list(each) for key, each in way.differences.items()}}
                ),
                "kept_prompt": dict(way.kept),
                "prompts_cut": way.prompts_cut,
            }
            for way in study.ways
        ],
    }
    path = folder / study_file(study)
    write_json(path, [value], indent=2)
    return path


def study_file(study: Study) -> str:
    """What its file is called: studies of other runs, or of more rows, have files of their own."""
    model = study.ways[0].log.parent.name.rpartition("-")[0]
    of = hash_json([study.rows, *(way.log.parent.name for way in study.ways)])[:8]
    mark = "" if study.protocol == "standard" else f".{study.protocol}"
    return f"{study.task.slug}_{'contexts' if study.of_contexts else 'ablation'}-{model}-{of}{mark}.json"
