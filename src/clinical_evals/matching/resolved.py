"""What answers became: items, their codes, and how they were understood."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from clinical_evals.matching.matcher import Match


class ResolvedItem(NamedTuple):
    """One decision of an answer and the codes that it became."""

    text: str
    matches: tuple[Match, ...]
    """The codes of the release that the item stands for; empty: unmatched, or only invalid codes."""
    invalid: tuple[str, ...]
    """Codes that the release does not have: wrong predictions."""

    @property
    def how(self) -> str:
        """How the item was understood: code, title, embedding or unmatched."""
        if self.invalid or not self.matches:
            return "code" if self.invalid else "unmatched"
        return self.matches[0].how


class ResolvedAnswer(NamedTuple):
    """The items of one answer; no items is an empty answer."""

    items: tuple[ResolvedItem, ...]
    ignored: frozenset[str] = frozenset()
    """Invalid codes of the answer that predict nothing: the official protocol counts them and matches the text."""

    @property
    def codes(self) -> tuple[str, ...]:
        """What the row predicts: distinct canonical and invalid codes, sorted."""
        valid = {match.code for item in self.items for match in item.matches}
        return tuple(sorted(valid.union(*(item.invalid for item in self.items))))

    @property
    def invalid(self) -> frozenset[str]:
        """The distinct invalid codes of the row."""
        return self.ignored.union(*(item.invalid for item in self.items))


def diagnose(answers: Sequence[ResolvedAnswer]) -> dict[str, float]:
    """How the answers were understood.

    Returns:
        `rows`, `items`, `invalid_codes` (distinct per row) and `empty_answers` as counts; `share_code`, `share_title`,
        `share_embedding` and `share_unmatched` as shares of the items, 0-1.
    """
    how = Counter(item.how for answer in answers for item in answer.items)
    items = how.total()
    shares = {
        f"share_{kind}": how[kind] / items if items else 0.0 for kind in ("code", "title", "embedding", "unmatched")
    }
    return {
        "rows": float(len(answers)),
        "items": float(items),
        **shares,
        "invalid_codes": float(sum(len(answer.invalid) for answer in answers)),
        "empty_answers": float(sum(not answer.items for answer in answers)),
    }
