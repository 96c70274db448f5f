"""The prose of the cards, in texts/*.md, and the sections that follow from facts."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from string import Template

from clinical_evals.hub.cards.facts import CANARY, DatasetFacts, Made
from clinical_evals.write_aside import written_aside

_TEXTS = Path(__file__).parent / "texts"


def fill(name: str, **places: object) -> str:
    """The text of a name with its $places filled.

    Raises:
        KeyError: a place of the text is not given.
        ValueError: something is given that the text has no place for.
    """
    template = Template((_TEXTS / f"{name}.md").read_text(encoding="utf-8"))
    if unused := places.keys() - set(template.get_identifiers()):
        raise ValueError(f"texts/{name}.md has no place for {', '.join(sorted(unused))}")
    return template.substitute(places)


def closing(facts: DatasetFacts, made: Made, canary: str, citation: str, **places: object) -> str:
    """The sections that end every dataset card: data statement, limits, canary, notices, licence, citation.

    Args:
        facts: of the dataset.
        made: of the sample or of what is built.
        canary: what the card says of the canary.
        citation: what stands above the BibTeX.
        places: what the limits have $places for.
    """
    limits = "\n".join(wrapped(f"- {Template(limit).substitute(places)}", "  ") for limit in made.limits)
    sections = [
        ("Data statement", table(("asked", "answer"), made.statement)),
        ("Limits", limits),
        ("Canary", canary),
        *facts.notices,
        ("Licence", wrapped(made.licence_text)),
        ("Citation", f"{wrapped(citation)}\n\n```bibtex\n{facts.paper.bibtex}\n```"),
    ]
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections) + "\n"


def canary_of_sample() -> str:
    """What the card of a sample says of it."""
    return wrapped(
        f"Each data file starts with a line that holds the identifier `{CANARY}`, so that a model which was trained "
        "on these files can be recognised. Please leave it in copies, and leave the files out of training corpora."
    )


def canary_of_built() -> str:
    """What the card of built data says of it."""
    return wrapped(
        f"clinical-evals canary {CANARY}: this folder is benchmark material. Keep it out of text that language models "
        "are trained on; whoever finds this identifier in a model's output knows that it was not."
    )


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (headings, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(headings), *lines[1:]])


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph in lines of at most 120 characters; those after the first begin with `indent`."""
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write_text(path: Path, text: str, public: bool = False) -> None:
    """Write a file aside, then rename it.

    Args:
        path: the file.
        text: what it holds.
        public: whether everyone on the machine may read it, as the files of a checkout; else its owner alone.

    Raises:
        OSError: the folder cannot be written to.
    """
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")
        if public:
            aside.chmod(0o644)
