"""The kinds of facts that cards are written from, the two papers, and where things are on the Hub."""

from dataclasses import dataclass
from typing import NamedTuple

from clinical_evals.hub.cards.vocabulary import check_language, check_licence, check_task_category

OWNER = "clinical-evals"
"""The organisation on the Hub that the public repositories are meant for."""
HOME = "https://github.com/clinical-evals/clinical-evals"
MIMIC_LICENCE_LINK = "https://physionet.org/content/mimiciv/view-license/3.1/"
CANARY = "9b6ce521-fd5d-487f-9cf0-5d80f3e3fc8d"
"""The identifier that stands in every data file of the samples; tests hold the files to it."""


@dataclass(frozen=True)
class Paper:
    """What a benchmark was published as."""

    key: str
    title: str
    first_author: str
    """Surname, given names; the others are "and others", as in the metrics' own citations."""
    year: int
    arxiv: str

    @property
    def url(self) -> str:
        """Of its abstract."""
        return f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def sentence(self) -> str:
        """For a reader."""
        return f'{self.first_author.split(",")[0]} et al., "{self.title}", arXiv {self.arxiv}'

    @property
    def bibtex(self) -> str:
        """For a bibliography."""
        return (
            f"@article{{{self.key},\n"
            f"  title = {{{self.title}}},\n"
            f"  author = {{{self.first_author} and others}},\n"
            f"  journal = {{arXiv preprint arXiv:{self.arxiv}}},\n"
            f"  year = {{{self.year}}}\n}}"
        )


CLIBENCH_PAPER = Paper(
    "ma2024clibench",
    "CliBench: A Multifaceted and Multigranular Evaluation of Large Language Models for Clinical Decision Making",
    "Ma, Mingyu Derek",
    2024,
    "2406.09923",
)
IOR_PAPER = Paper(
    "liu2025ior",
    "Can LLMs perform Outpatient Referral? A Static and Dynamic Analysis",
    "Liu, Xiaoxiao",
    2025,
    "2503.08292",
)


class Notice(NamedTuple):
    """Whose codes and names are in the data, and on what terms."""

    heading: str
    text: str


@dataclass(frozen=True)
class Made:
    """What one kind of a dataset's data, the sample or what is built, says of itself.

    Raises:
        UnknownNameError: a licence that the Hub does not know.
    """

    licence: str
    """As the Hub spells it."""
    statement: tuple[tuple[str, str], ...]
    """The data statement: what is asked of data about people, and the answer."""
    limits: tuple[str, ...]
    tags: tuple[str, ...] = ()
    licence_name: str = ""
    licence_link: str = ""
    licence_text: str = ""
    """For a reader."""

    def __post_init__(self) -> None:
        check_licence(self.licence)


@dataclass(frozen=True)
class DatasetFacts:
    """One dataset.

    Raises:
        UnknownNameError: a language or kind of task that the Hub does not know.
    """

    name: str
    """Its bare name, and its folder's."""
    title: str
    about: str
    """What is asked, in one sentence."""
    paper: Paper
    languages: tuple[str, ...]
    task_categories: tuple[str, ...]
    tags: tuple[str, ...]
    sample: Made
    built: Made
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        for language in self.languages:
            check_language(language)
        for category in self.task_categories:
            check_task_category(category)

    @property
    def repository(self) -> str:
        """On the Hub."""
        return f"{OWNER}/{self.name}"


@dataclass(frozen=True)
class SpaceFacts:
    """One metric and the Space that shows it.

    Raises:
        UnknownNameError: a licence that the Hub does not know.
    """

    name: str
    """Of the metric, the folder, the script and the Space."""
    title: str
    emoji: str
    colours: tuple[str, str]
    short: str
    """Shown on the Space's tile; the Hub takes 60 characters."""
    description: str
    paper: Paper
    requirements: tuple[str, ...]
    """The lines of requirements.txt; the Hub installs gradio itself, from `sdk_version`."""
    licence: str = "apache-2.0"

    def __post_init__(self) -> None:
        check_licence(self.licence)
