"""Gold and predictions counted at the levels of CliBench's released scorer (protocol.md 3).

For ICD-10-CM and ICD-10-PCS these are ours. LOINC is counted from the root of its hierarchy, and ATC by prefixes of
one, two and three characters and of all but the last one, which are no levels of ATC.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from clinical_evals.matching.dictionary_rows import Candidates
from clinical_evals.ontology import CodeSystem
from clinical_evals.ontology.atc_official import OFFICIAL_LEVELS as ATC_LEVELS
from clinical_evals.ontology.atc_official import at_official_levels
from clinical_evals.ontology.loinc_official import OFFICIAL_LEVELS as LOINC_LEVELS
from clinical_evals.ontology.loinc_official import official_loinc
from clinical_evals.scoring.hierarchy import Counts, count, count_sets

_Side = Literal["gold", "predicted"]
_Sets = Callable[[Iterable[str], _Side], tuple[frozenset[str], ...]]


def count_official(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], system: CodeSystem, candidates: Candidates
) -> Counts:
    """Count gold and predictions per row at the official levels.

    Args:
        gold: of each row, codes of the release; with MIMIC's dictionary of labs its itemids.
        predicted: of each row, `candidates.codes` or codes of the release.
        system: the code system.
        candidates: what predictions were matched to.
    """
    if system.name == "loinc":
        return _count(gold, predicted, LOINC_LEVELS, official_loinc().at_levels)
    if system.name == "atc":
        return _count(gold, predicted, ATC_LEVELS, lambda codes, _: at_official_levels(_classes(codes, candidates)))
    return count(gold, predicted, system)


def _count(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], levels: tuple[str, ...], sets: _Sets
) -> Counts:
    return count_sets([sets(row, "gold") for row in gold], [sets(row, "predicted") for row in predicted], levels)


def _classes(codes: Iterable[str], candidates: Candidates) -> list[str]:
    """Codes as they are, and of a drug all its ATC codes: none where it has none."""
    return [of_code for code in codes for of_code in candidates.classes.get(code, () if _is_ndc(code) else (code,))]


def _is_ndc(code: str) -> bool:
    return code.isdecimal()
