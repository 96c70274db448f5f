"""Answers under both protocols, row by row: `protocol_differences.json` has the reasons."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clinical_evals.matching.dictionary import read_dictionary
from clinical_evals.matching.encoder import Encoder
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.official_matcher import OfficialMatcher
from clinical_evals.matching.resolved import ResolvedAnswer
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.ontology.icd10cm import ICD10CM

TABLE = json.loads((Path(__file__).parent / "protocol_differences.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = [*TABLE["differ"], *TABLE["agree"]]
PROTOCOLS = ("standard", "official")


class Excerpt(ICD10CM):
    """The release with the titles of the table's dictionary only, so that an index is a matter of seconds."""

    def codes(self) -> Sequence[str]:
        return tuple(TABLE["dictionary"])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, minilm: Encoder) -> dict[str, list[ResolvedAnswer]]:
    """All rows under each protocol; the expected codes of the table, with '~text' replaced, under "expected"."""
    folder, system = tmp_path_factory.mktemp("protocols"), Excerpt()
    with (folder / "d_icd_diagnoses.csv").open("w", newline="") as file:
        rows = [(code.replace(".", ""), "10", system.title(code)) for code in reversed(TABLE["dictionary"])]
        csv.writer(file).writerows([("icd_code", "icd_version", "long_title"), *rows])
    candidates = read_dictionary(folder / "d_icd_diagnoses.csv", system)
    scorers = {
        "standard": CodeScorer(matcher=Matcher(system, minilm, cache_dir=folder)),
        "official": CodeScorer(protocol="official", matcher=OfficialMatcher(candidates, minilm, folder)),
    }
    answers = [row["answer"] for row in ROWS]
    found = {protocol: scorers[protocol].resolve(answers) for protocol in PROTOCOLS}
    # The released way of matching: one similarity with every title, the first of the highest.
    texts = [code[1:] for row in ROWS for code in row["official"]["codes"] if code.startswith("~")]
    similarities = minilm.encode(texts) @ minilm.encode(candidates.titles).T
    nearest = {
        f"~{text}": candidates.codes[int(np.argmax(row))] for text, row in zip(texts, similarities, strict=True)
    }
    for row in ROWS:
        row["official"]["codes"] = sorted({nearest.get(code, code) for code in row["official"]["codes"]})
    return found


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda row: ROWS[row]["answer"][:40].replace("\n", "/"))
def test_items_and_codes_are_those_of_the_table(row: int, results: dict[str, list[ResolvedAnswer]]) -> None:
    for protocol in PROTOCOLS:
        expected, found = ROWS[row][protocol], results[protocol][row]
        assert [item.text for item in found.items] == expected["items"], (protocol, ROWS[row]["why"])
        assert list(found.codes) == expected["codes"], (protocol, ROWS[row]["why"])


def test_the_protocols_differ_where_the_table_says_so(results: dict[str, list[ResolvedAnswer]]) -> None:
    differ = [one.codes != other.codes for one, other in zip(results["standard"], results["official"], strict=True)]
    assert differ == [True] * len(TABLE["differ"]) + [False] * len(TABLE["agree"])


def test_the_table_is_large_enough() -> None:
    assert len(TABLE["differ"]) >= 40
    assert len(TABLE["agree"]) >= 15
    assert len({row["answer"] for row in ROWS}) == len(ROWS)
    assert all(row["why"] for row in ROWS)
