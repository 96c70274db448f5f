"""What is written and printed of a run: results.json and the table."""

from collections.abc import Sequence
from typing import Any

from clinical_evals.ruled_table import ruled
from clinical_evals.scoring.department import as_printed, mean_and_sd
from clinical_evals.training.departments.run import Finished, Named
from clinical_evals.training.departments.scored import Comparison, compare, score_of


def as_json(run: Finished) -> dict[str, Any]:
    """Everything that was found; accuracies and F1 are 0-1."""
    ids = {name: [run.cases.rows[row].id for row in rows] for name, rows in run.parts._asdict().items()}
    return {
        "task": "ior-bench static, department classification",
        **run.about,
        "departments": run.cases.candidates,
        "cut": run.cut,
        "unseen": run.overlap.unseen,
        "repeated": {
            "rows": len(run.overlap.repeated),
            "accuracy_without": {_label(each): found for each, found in accuracies_without(run)},
        },
        "classifiers": [_named(each) for each in run.classifiers],
        "seeds": _spread(_encoders(run.classifiers)),
        "comparisons": [
            {"classifier": each.classifier, "baseline": each.baseline, **each.difference._asdict(), "p": each.p}
            for each in comparisons(run)
        ],
        "scaling": [_named(each) for each in run.scaling],
        "split": {"seed": run.settings.split_seed, **ids},
    }


def comparisons(run: Finished) -> list[Comparison]:
    """The encoder, with its first seed, against each baseline."""
    first = _encoders(run.classifiers)[0]
    ids = [run.cases.rows[row].id for row in run.parts.test]
    return [
        compare((_label(first), first.outcomes), (each.name, each.outcomes), ids)
        for each in run.classifiers
        if each.seed is None
    ]


def accuracies_without(run: Finished) -> list[tuple[Named, float]]:
    """The accuracy of each classifier on the test rows that no training row repeats; none where all are repeated."""
    others = sorted(set(range(len(run.parts.test))) - set(run.overlap.repeated))
    if not others:
        return []
    found = [(each, [each.outcomes[place] for place in others]) for each in run.classifiers]
    return [(each, score_of(outcomes).accuracy) for each, outcomes in found]


def format_run(run: Finished) -> str:
    """Tables and remarks."""
    blocks = [
        f"accuracy on {len(run.parts.test):,} held-out dialogues (in %, 95 % interval by case)",
        ruled([["classifier", "learnt from", "accuracy", "macro F1"]], _rows(run.classifiers), last_apart=False),
        *_spread_lines(run),
        *(_comparison_line(each) for each in comparisons(run)),
        *_overlap_lines(run),
    ]
    if run.scaling:
        heads = [["learnt from", "classifier", "accuracy", "macro F1"]]
        rows = [[row[1], row[0], *row[2:]] for row in _rows(run.scaling)]
        blocks += ["", "by the number of training rows, on the same held-out dialogues"]
        blocks.append(ruled(heads, rows, last_apart=False))
    return "\n".join(blocks)


def _encoders(found: Sequence[Named]) -> list[Named]:
    return [each for each in found if each.seed is not None]


def _named(each: Named) -> dict[str, Any]:
    score = score_of(each.outcomes)._asdict()
    return {"name": each.name, "rows": each.size, "seed": each.seed, **score, "epochs": each.epochs}


def _spread(found: Sequence[Named]) -> dict[str, Any]:
    mean, sd = mean_and_sd([score_of(each.outcomes).accuracy for each in found])
    return {"seeds": [each.seed for each in found], "mean_accuracy": mean, "population_sd": sd}


def _rows(found: Sequence[Named]) -> list[list[str]]:
    rows = []
    for each in found:
        score = score_of(each.outcomes)
        accuracy = f"{_percent(score.accuracy)} [{_percent(score.low)}, {_percent(score.high)}]"
        rows.append([_label(each), f"{each.size:,} rows", accuracy, _percent(score.macro_f1)])
    return rows


def _spread_lines(run: Finished) -> list[str]:
    found = _encoders(run.classifiers)
    if len(found) < 2:
        return []
    spread = _spread(found)
    mean, sd = _percent(spread["mean_accuracy"]), _percent(spread["population_sd"])
    return [f"{found[0].name} over {len(found)} seeds: {mean} ± {sd} (mean and population SD of the accuracies)"]


def _comparison_line(each: Comparison) -> str:
    value, low, high = (f"{100 * bound:+.2f}" for bound in each.difference)
    return f"{each.classifier} - {each.baseline}: {value} [{low}, {high}] points, paired; sign-flip p = {each.p:.4f}"


def _overlap_lines(run: Finished) -> list[str]:
    lines = []
    if unseen := run.overlap.unseen:
        named = ", ".join(f"{name} ({rows})" for name, rows in unseen.items())
        lines.append(
            f"{sum(unseen.values())} held-out dialogues are of departments that no training row has, and cannot be "
            f"right: {named}"
        )
    if repeated := len(run.overlap.repeated):
        without = ", ".join(f"{_label(each)} {_percent(accuracy)}" for each, accuracy in accuracies_without(run))
        lines.append(
            f"{repeated} held-out dialogues stand in the training part word for word; without them the accuracies are "
            f"{without or 'of no rows'}"
        )
    return lines


def _label(each: Named) -> str:
    return each.name if each.seed is None else f"{each.name}, seed {each.seed}"


def _percent(value: float) -> str:
    return as_printed(100 * value)
