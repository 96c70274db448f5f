"""Words that the Hub does not know stop a card before it is written."""

import doctest
from dataclasses import replace

import pytest

from clinical_evals.errors import UnknownNameError
from clinical_evals.hub.cards import vocabulary
from clinical_evals.hub.cards.dataset_facts import CLIBENCH, facts_of
from clinical_evals.hub.cards.metric_facts import HIER_ICD_F1


def test_an_unknown_licence_fails() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown licence 'apache2'. Did you mean 'apache-2.0'"):
        replace(CLIBENCH.sample, licence="apache2")
    with pytest.raises(UnknownNameError, match=r"unknown licence 'Apache-2\.0'"):
        replace(HIER_ICD_F1, licence="Apache-2.0")


def test_an_unknown_language_fails() -> None:
    with pytest.raises(UnknownNameError, match="unknown language 'english'"):
        replace(CLIBENCH, languages=("en", "english"))


def test_an_unknown_kind_of_task_fails() -> None:
    with pytest.raises(UnknownNameError, match="unknown task category 'coding'"):
        replace(CLIBENCH, task_categories=("coding",))


def test_an_unknown_dataset_is_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'ior-bench'"):
        facts_of("ior_bench")


def test_sizes() -> None:
    assert doctest.testmod(vocabulary) == (0, 1)
    assert vocabulary.size_category(123_456) == "100K<n<1M"
