"""The cards of the metrics, which are the front pages of their Spaces, and what the Hub must install there."""

from typing import Any

from clinical_evals.hub.cards.facts import SpaceFacts
from clinical_evals.hub.cards.front_matter import put_together
from clinical_evals.hub.cards.metric_facts import GRADIO, PYTHON
from clinical_evals.hub.cards.prose import fill, wrapped

_LONGEST_TILE = 60
"""Characters that the Hub takes of `short_description`."""


def metric_card(facts: SpaceFacts) -> str:
    """The whole card of a metric.

    Raises:
        ValueError: the short description is longer than the Hub takes.
    """
    citation = f"{wrapped(facts.paper.sentence)}.\n\n```bibtex\n{facts.paper.bibtex}\n```"
    return put_together(_front_matter(facts), fill(facts.name, citation=citation))


def requirements(facts: SpaceFacts) -> str:
    """The content of requirements.txt."""
    return "\n".join(facts.requirements) + "\n"


def _front_matter(facts: SpaceFacts) -> dict[str, Any]:
    if len(facts.short) > _LONGEST_TILE:
        raise ValueError(f"{facts.name}: {facts.short!r} has {len(facts.short)} characters, at most {_LONGEST_TILE}")
    return {
        "title": facts.title,
        "emoji": facts.emoji,
        "colorFrom": facts.colours[0],
        "colorTo": facts.colours[1],
        "sdk": "gradio",
        "sdk_version": GRADIO,
        "python_version": PYTHON,
        "app_file": "app.py",
        "pinned": False,
        "license": facts.licence,
        "tags": ["evaluate", "metric"],
        "short_description": facts.short,
        "description": facts.description,
    }
