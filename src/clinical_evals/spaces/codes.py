"""One answer against its gold codes: the table of levels, and what became of every line."""

import re
from functools import cache
from typing import NamedTuple

from clinical_evals.errors import InputError
from clinical_evals.matching.resolved import ResolvedItem
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.ontology import CodeSystem
from clinical_evals.scoring.hierarchy import Counts
from clinical_evals.scoring.rows import row_scores

LONGEST_ANSWER = 20_000
"""Characters."""
MOST_GOLD = 500
"""Gold codes."""


class Level(NamedTuple):
    """One line of the table of levels; scores in 0-1, the other numbers are sizes of sets."""

    name: str
    precision: float
    recall: float
    f1: float
    both: int | None
    predicted: int | None
    gold: int | None


class ItemCode(NamedTuple):
    """One code of one item of the answer, or an item that stands for none."""

    item: str
    code: str
    """Empty: unmatched, no prediction."""
    title: str
    how: str
    """"code", "title", "embedding", "invalid code" or "unmatched"."""
    similarity: float | None
    """Cosine to the title, 0-1; None where nothing was matched."""
    right_at: tuple[str, ...]
    """The levels at which a gold code has the same ancestor."""


class GoldCode(NamedTuple):
    """One gold code."""

    code: str
    title: str
    found_at: tuple[str, ...]
    """The levels at which a predicted code has the same ancestor."""


class ScoredAnswer(NamedTuple):
    """All of it."""

    system: str
    """Name and release."""
    levels: list[Level]
    """Coarsest first, the average last; empty where "official" leaves the answer out."""
    items: list[ItemCode]
    gold: list[GoldCode]
    note: str
    """What whoever reads the numbers has to know; often empty."""


def score_answer(answer: str, gold: str, system: str, protocol: str) -> ScoredAnswer:
    """Score one answer.

    Args:
        answer: free text, of any layout.
        gold: codes, separated by commas, semicolons, blanks or line ends.
        system: one of `ontology.SYSTEMS`.
        protocol: one of `matching.protocols.PROTOCOLS`.

    Raises:
        UnknownNameError: no such system or protocol.
        ResourceMissingError: the system's files, or the model for free text, are not on this machine.
        InputError: no gold codes, one that the release does not have, or more text than is read.
    """
    if len(answer) > LONGEST_ANSWER:
        raise InputError(f"The answer has {len(answer):,} characters; at most {LONGEST_ANSWER:,} are read.")
    written = [code for code in re.split(r"[,;\s，；、]+", gold) if code]
    if not written:
        raise InputError("There are no gold codes: give at least one, e.g. E11.9.")
    if len(written) > MOST_GOLD:
        raise InputError(f"There are {len(written)} gold codes; at most {MOST_GOLD} are read.")
    scorer = _scorer(system, protocol)
    codes = _gold(written, scorer.system)
    scored = scorer.score([answer], [codes])
    (resolved,) = scored.answers
    predicted = list(resolved.codes)
    right = dict(zip(predicted, _shared(scorer, [([code], codes) for code in predicted]), strict=True))
    found = _shared(scorer, [(predicted, [code]) for code in codes]) if predicted else [()] * len(codes)
    return ScoredAnswer(
        f"{scorer.system.name}, {scorer.system.release}",
        _levels(scored.counts) if scored.scored_rows else [],
        [row for item in resolved.items for row in _rows(item, scorer.system, right)],
        [GoldCode(code, scorer.system.title(code), at) for code, at in zip(codes, found, strict=True)],
        _note(scorer, bool(scored.scored_rows), bool(resolved.items)),
    )


def _gold(written: list[str], system: CodeSystem) -> list[str]:
    codes = system.normalize_all(written)
    for text, code in zip(written, codes, strict=True):
        if code is None:
            what_helps = CodeSystem.explain(system, text)  # of whoever has rows; here there is one answer
            why = system.explain(text).removesuffix(what_helps).strip()
            message = f"The gold code {text!r} is not in {system.name} {system.release}. {why}".strip()
            raise InputError(f"{message} Correct it, or take it out.")
    return sorted({code for code in codes if code is not None})


@cache
def _scorer(system: str, protocol: str) -> CodeScorer:
    return CodeScorer(system, protocol)


def _shared(scorer: CodeScorer, rows: list[tuple[list[str], list[str]]]) -> list[tuple[str, ...]]:
    """Of each pair of predicted and gold codes the levels at which they have an ancestor in common."""
    if not rows:
        return []
    counts = scorer.score([predicted for predicted, _ in rows], [gold for _, gold in rows]).counts
    both = counts.values[:, :, 0] > 0
    return [tuple(level for level, some in zip(counts.levels, row, strict=True) if some) for row in both.tolist()]


def _levels(counts: Counts) -> list[Level]:
    (scores,) = row_scores(counts)
    sizes: list[list[int | None]] = [*counts.values[0].tolist(), [None, None, None]]
    return [
        Level(name, scores[f"precision_{name}"], scores[f"recall_{name}"], scores[f"f1_{name}"], both, predicted, gold)
        for name, (both, gold, predicted) in zip((*counts.levels, "average"), sizes, strict=True)
    ]


def _rows(item: ResolvedItem, system: CodeSystem, right: dict[str, tuple[str, ...]]) -> list[ItemCode]:
    text = " ".join(item.text.split())
    rows = [
        ItemCode(
            text, match.code, _title(match.code, system), match.how, float(match.similarity), right.get(match.code, ())
        )
        for match in item.matches
    ]
    rows += [ItemCode(text, code, "not in the release", "invalid code", None, ()) for code in item.invalid]
    return rows or [ItemCode(text, "", "", "unmatched", None, ())]


def _title(code: str, system: CodeSystem) -> str:
    return system.title(code) if system.normalize(code) == code else "not of the release"


def _note(scorer: CodeScorer, counts: bool, any_items: bool) -> str:
    notes = [scorer.system.note]
    if not any_items:
        notes.append("Nothing was found in the answer: it is an empty prediction.")
    if not counts:
        notes.append("The official protocol leaves out an answer that predicts nothing: it has no scores.")
    if scorer.protocol == "official":
        notes.append(
            "Matched to the release's own titles: MIMIC's dictionary is credentialed and not here, so that scores may "
            "differ from published ones."
        )
    return " ".join(filter(None, notes))
