"""One row of each task of CliBench, worked by hand under both protocols: every set at every level is written out.

The answers hold codes and exact titles only, so that nothing is matched by similarity.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import drug_table
import pytest

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.clibench.decisions import map_drugs
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.ontology import get_system

evaluate = pytest.importorskip("evaluate")

Levels = Mapping[str, tuple[float, float, float]]
"""By level precision, recall and F1."""


class HandWorked(NamedTuple):
    """One answer with its gold codes, and what it must score."""

    system: str
    protocol: str
    answer: str
    gold: list[str]
    predicted: list[str]
    invalid: int
    scores: Levels
    f1_average: float


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    return evaluate.load("hier_icd_f1", cache_dir=str(tmp_path / "cache"))


def check(metric: Any, row: HandWorked, **options: Any) -> None:
    """By the library and by the metric, which must say the same."""
    scored = CodeScorer(row.system, row.protocol, **options).score([row.answer], [row.gold])
    assert list(scored.answers[0].codes) == row.predicted
    assert scored.counts.levels == tuple(row.scores)
    found = scored.scores()
    assert (found["invalid_codes"], found["share_embedding"], found["share_unmatched"]) == (row.invalid, 0, 0)
    for level, (precision, recall, f1) in row.scores.items():
        assert found[f"precision_{level}"] == pytest.approx(precision), level
        assert found[f"recall_{level}"] == pytest.approx(recall), level
        assert found[f"f1_{level}"] == found[f"macro_f1_{level}"] == pytest.approx(f1), level
    assert found["f1_average"] == pytest.approx(row.f1_average)
    given = {"system": row.system, "protocol": row.protocol, **options}
    assert metric.compute(predictions=[row.answer], references=[row.gold], **given) == found


# Diagnosis, ICD-10-CM.
#
#           chapter  block    category  subcategory  full
#   E11.65  4        E08-E13  E11       E11.6        E11.65   gold
#   I10     9        I10-I1A  I10       I10          I10      gold: it has no subcategory and stands for itself
#   I50.23  9        I30-I5A  I50       I50.2        I50.23   gold
#   K21.9   11       K20-K31  K21       K21.9        K21.9    gold
#   E11.9   4        E08-E13  E11       E11.9        E11.9
#   I50.22  9        I30-I5A  I50       I50.2        I50.22
#   N17.9   14       N17-N19  N17       N17.9        N17.9
DIAGNOSES = """\
1. E11.9
2. Essential (primary) hypertension
3. Acute kidney failure, unspecified
4. I50.22 Chronic systolic (congestive) heart failure
5. Gastro-esophageal reflux disease without esophagitis (K21.99)
"""
# Under `standard` the code of the fifth item, which the release does not have, is its (wrong) prediction.
DIAGNOSIS = HandWorked(
    "icd10cm", "standard", DIAGNOSES, ["E11.65", "I10", "I50.23", "K21.9"],
    ["E11.9", "I10", "I50.22", "K21.99", "N17.9"], 1,
    {
        # gold 4, 9, 11; predicted 4, 9, 14, K21.99
        "chapter": (2 / 4, 2 / 3, 2 * 2 / (3 + 4)),
        # gold E08-E13, I10-I1A, I30-I5A, K20-K31; predicted E08-E13, I10-I1A, I30-I5A, N17-N19, K21.99
        "block": (3 / 5, 3 / 4, 2 * 3 / (4 + 5)),
        # gold E11, I10, I50, K21; predicted E11, I10, I50, N17, K21.99
        "category": (3 / 5, 3 / 4, 2 * 3 / (4 + 5)),
        # gold E11.6, I10, I50.2, K21.9; predicted E11.9, I10, I50.2, N17.9, K21.99
        "subcategory": (2 / 5, 2 / 4, 2 * 2 / (4 + 5)),
        # gold E11.65, I10, I50.23, K21.9; predicted E11.9, I10, I50.22, N17.9, K21.99
        "full": (1 / 5, 1 / 4, 2 * 1 / (4 + 5)),
    },
    (4 / 7 + 6 / 9 + 6 / 9 + 4 / 9 + 2 / 9) / 5,
)  # fmt: skip
# Under `official` it is counted, but predicts nothing: the item is its title, K21.9.
OFFICIAL_DIAGNOSIS = HandWorked(
    "icd10cm", "official", DIAGNOSES, DIAGNOSIS.gold, ["E11.9", "I10", "I50.22", "K21.9", "N17.9"], 1,
    {
        # gold 4, 9, 11; predicted 4, 9, 11, 14
        "chapter": (3 / 4, 3 / 3, 2 * 3 / (3 + 4)),
        # gold E08-E13, I10-I1A, I30-I5A, K20-K31; predicted the same and N17-N19
        "block": (4 / 5, 4 / 4, 2 * 4 / (4 + 5)),
        # gold E11, I10, I50, K21; predicted the same and N17
        "category": (4 / 5, 4 / 4, 2 * 4 / (4 + 5)),
        # gold E11.6, I10, I50.2, K21.9; predicted E11.9, I10, I50.2, K21.9, N17.9
        "subcategory": (3 / 5, 3 / 4, 2 * 3 / (4 + 5)),
        # gold E11.65, I10, I50.23, K21.9; predicted E11.9, I10, I50.22, K21.9, N17.9
        "full": (2 / 5, 2 / 4, 2 * 2 / (4 + 5)),
    },
    (6 / 7 + 8 / 9 + 8 / 9 + 6 / 9 + 4 / 9) / 5,
)  # fmt: skip


# Procedure, ICD-10-PCS: 1, 2 and 3 characters, then all seven. 0FT00ZX is of no release.
PROCEDURE = HandWorked(
    "icd10pcs", "standard",
    "1. 0016071\n2. Plain Radiography of Abdomen\n3. Resection of Liver, Open Approach\n4. 0FT00ZX",
    ["0016070", "0020X0Z", "BW00ZZZ"], ["0016071", "0FT00ZX", "0FT00ZZ", "BW00ZZZ"], 1,
    {
        # gold 0, B; predicted 0, B, 0FT00ZX
        "section": (2 / 3, 2 / 2, 2 * 2 / (2 + 3)),
        # gold 00, BW; predicted 00, BW, 0F, 0FT00ZX
        "body_system": (2 / 4, 2 / 2, 2 * 2 / (2 + 4)),
        # gold 001, 002, BW0; predicted 001, BW0, 0FT, 0FT00ZX
        "operation": (2 / 4, 2 / 3, 2 * 2 / (3 + 4)),
        # gold 0016070, 0020X0Z, BW00ZZZ; predicted 0016071, BW00ZZZ, 0FT00ZZ, 0FT00ZX
        "full": (1 / 4, 1 / 3, 2 * 1 / (3 + 4)),
    },
    (4 / 5 + 4 / 6 + 4 / 7 + 2 / 7) / 4,
)  # fmt: skip
# The released pattern never meets a code of this system: the same decisions by their titles alone.
OFFICIAL_PROCEDURE = HandWorked(
    "icd10pcs", "official",
    "1. Bypass Cerebral Ventricle to Mastoid Sinus with Autologous Tissue Substitute, Open Approach\n"
    "2. Plain Radiography of Abdomen\n3. Resection of Liver, Open Approach",
    PROCEDURE.gold, ["0016071", "0FT00ZZ", "BW00ZZZ"], 0,
    {
        # gold 0, B; predicted 0, B
        "section": (2 / 2, 2 / 2, 2 * 2 / (2 + 2)),
        # gold 00, BW; predicted 00, BW, 0F
        "body_system": (2 / 3, 2 / 2, 2 * 2 / (2 + 3)),
        # gold 001, 002, BW0; predicted 001, BW0, 0FT
        "operation": (2 / 3, 2 / 3, 2 * 2 / (3 + 3)),
        # gold 0016070, 0020X0Z, BW00ZZZ; predicted 0016071, BW00ZZZ, 0FT00ZZ
        "full": (1 / 3, 1 / 3, 2 * 1 / (3 + 3)),
    },
    (4 / 4 + 4 / 5 + 4 / 6 + 2 / 6) / 4,
)  # fmt: skip


# Lab order, LOINC, in the hierarchy of `loinc_release` (Chemistry LP100-1, Sugars LP110-1, Glucose LP111-1,
# Fasting LP120-1, in serum LP112-1, a class of blood LP200-1, Cells LP210-1).
#
#           below Laboratory (standard)        from the root, last path of the file (official), and the leaf
#   2339-0  LP100-1  LP110-1  LP111-1          LP29693-6  LP100-1  LP120-1  LP111-1   gold
#   6690-2  LP200-1  LP210-1  itself           LP29693-6  LP200-1  LP210-1  LP210-1   gold
#   4548-4  LP200-1  itself   itself           LP29693-6  LP200-1  none     LP200-1   gold
#   2345-7  LP100-1  LP110-1  LP111-1          LP29693-6  LP100-1  LP120-1  LP112-1
#   718-7   LP200-1  LP210-1  itself           LP29693-6  LP200-1  LP210-1  LP210-1
#
# 2346-5 is a deprecated number: not of the release, hence a wrong prediction.
GLUCOSE, HBA1C = "Glucose [Mass/volume] in Serum or Plasma", "Hemoglobin A1c/Hemoglobin.total in Blood"
LAB_ORDER = HandWorked(
    "loinc", "standard", f"1. {GLUCOSE}\n2. LOINC 718-7\n3. {HBA1C}\n4. 2346-5",
    ["2339-0", "4548-4", "6690-2"], ["2345-7", "2346-5", "4548-4", "718-7"], 1,
    {
        # gold LP100-1, LP200-1; predicted LP100-1, LP200-1, 2346-5
        "class": (2 / 3, 2 / 2, 2 * 2 / (2 + 3)),
        # gold LP110-1, LP210-1, 4548-4; predicted LP110-1, LP210-1, 4548-4, 2346-5
        "group": (3 / 4, 3 / 3, 2 * 3 / (3 + 4)),
        # gold LP111-1, 6690-2, 4548-4; predicted LP111-1, 718-7, 4548-4, 2346-5
        "subgroup": (2 / 4, 2 / 3, 2 * 2 / (3 + 4)),
        # gold 2339-0, 6690-2, 4548-4; predicted 2345-7, 718-7, 4548-4, 2346-5
        "full": (1 / 4, 1 / 3, 2 * 1 / (3 + 4)),
    },
    (4 / 5 + 6 / 7 + 4 / 7 + 2 / 7) / 4,
)  # fmt: skip
OFFICIAL_LAB_ORDER = HandWorked(
    "loinc", "official", f"1. {GLUCOSE}\n2. Hemoglobin [Mass/volume] in Blood\n3. {HBA1C}", LAB_ORDER.gold,
    ["2345-7", "4548-4", "718-7"], 0,
    {
        # gold LP29693-6; predicted LP29693-6
        "level1": (1 / 1, 1 / 1, 2 * 1 / (1 + 1)),
        # gold LP100-1, LP200-1; predicted LP100-1, LP200-1
        "level2": (2 / 2, 2 / 2, 2 * 2 / (2 + 2)),
        # gold LP120-1, LP210-1, 4548-4 as a gold item; predicted LP120-1, LP210-1, 4548-4 as a predicted item:
        # the path is too short, and what stands in for it never matches, not even for the same test
        "level3": (2 / 3, 2 / 3, 2 * 2 / (3 + 3)),
        # gold LP111-1, LP210-1, LP200-1; predicted LP112-1, LP210-1, LP200-1
        "leaf": (2 / 3, 2 / 3, 2 * 2 / (3 + 3)),
    },
    (2 / 2 + 4 / 4 + 4 / 6 + 4 / 6) / 4,
)  # fmt: skip


ROWS = (DIAGNOSIS, OFFICIAL_DIAGNOSIS, PROCEDURE, OFFICIAL_PROCEDURE, LAB_ORDER, OFFICIAL_LAB_ORDER)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.system} {row.protocol}")
def test_a_row_worked_by_hand(metric: Any, written_releases: Path, row: HandWorked) -> None:
    check(metric, row)


# Prescription, ATC. One drug is in three classes, as aspirin is (for the mouth, for the blood, for pain).

ABN, METFORMIN, WATER = "00045048760", "00087606005", "63323018510"
DRUG_MAP = f"gsn,atc,ndc\n,A01AA01,{ABN}\n,B01AA01,{ABN}\n,N01AA01,{ABN}\n004763,A10BA02,{METFORMIN}\n"
DRUGS = [("Substance ABN", "", ABN), ("Metformin", "004763", METFORMIN)]
GOLD = ["A01AA01", "A10BA02", "B01AA01", "N01AA01"]


@pytest.fixture
def several_classes(written_releases: Path) -> Path:
    """The folder of the release files, its map of drugs with three classes for one NDC."""
    drug_table.write(written_releases, DRUG_MAP)
    return written_releases


@pytest.fixture
def prescriptions(several_classes: Path, tmp_path: Path) -> Path:
    """MIMIC's table of drugs, as the official protocol reads it; the last one has no class."""
    path = tmp_path / "prescriptions.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("drug", "gsn", "ndc"), *DRUGS, ("Sterile Water", "", WATER)])
    return path


def test_all_classes_of_a_drug_are_gold(several_classes: Path) -> None:
    """Two drugs, four codes; they stay two in the statistics, which count NDCs."""
    ibis = pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
    from clinical_evals.clibench.gold import codes_by_admission, mapping_table
    from clinical_evals.ontology.drugs import drug_map

    mapped = map_drugs(DRUGS, drug_map(), get_system("atc"))
    assert [mapped[drug].codes for drug in DRUGS] == [("A01AA01", "B01AA01", "N01AA01"), ("A10BA02",)]
    columns = ("drug", "gsn", "ndc")
    decisions = ibis.memtable([{"hadm_id": 1, **dict(zip(columns, drug, strict=True))} for drug in DRUGS])
    table = mapping_table({drug: found.codes for drug, found in mapped.items()}, columns)
    gold = codes_by_admission(decisions, table, columns, "ndc").to_pyarrow().to_pylist()
    assert gold == [{"hadm_id": 1, "codes": GOLD, "sources": 2}]


def test_a_prediction_that_names_one_class(metric: Any, several_classes: Path) -> None:
    """Metformin and one of the three: right as far as it goes, and two classes are missed. A10BA99 is no code."""
    scores = {
        # gold A, B, N; predicted A, B, A10BA99
        "level1": (2 / 3, 2 / 3, 2 * 2 / (3 + 3)),
        # gold A01, A10, B01, N01; predicted A10, B01, A10BA99
        "level2": (2 / 3, 2 / 4, 2 * 2 / (4 + 3)),
        # gold A01A, A10B, B01A, N01A; predicted A10B, B01A, A10BA99
        "level3": (2 / 3, 2 / 4, 2 * 2 / (4 + 3)),
        # gold A01AA, A10BA, B01AA, N01AA; predicted A10BA, B01AA, A10BA99
        "level4": (2 / 3, 2 / 4, 2 * 2 / (4 + 3)),
        # gold A01AA01, A10BA02, B01AA01, N01AA01; predicted A10BA02, B01AA01, A10BA99
        "full": (2 / 3, 2 / 4, 2 * 2 / (4 + 3)),
    }
    average = (4 / 6 + 4 / 7 + 4 / 7 + 4 / 7) / 4  # the full code is outside
    answer = "1. metformin\n2. substance B\n3. A10BA99"
    check(metric, HandWorked("atc", "standard", answer, GOLD, ["A10BA02", "A10BA99", "B01AA01"], 1, scores, average))


def test_one_class_under_official_without_mimics_drugs(metric: Any, several_classes: Path) -> None:
    """Our own titles stand in, each of one code: no other classes are known, and nothing is invalid."""
    scores = {
        # gold A, B, N; predicted A, B
        "level1": (2 / 2, 2 / 3, 2 * 2 / (3 + 2)),
        # gold A0, A1, B0, N0; predicted A1, B0
        "level2": (2 / 2, 2 / 4, 2 * 2 / (4 + 2)),
        # gold A01, A10, B01, N01; predicted A10, B01
        "level3": (2 / 2, 2 / 4, 2 * 2 / (4 + 2)),
        # gold A01AA0, A10BA0, B01AA0, N01AA0; predicted A10BA0, B01AA0
        "level4": (2 / 2, 2 / 4, 2 * 2 / (4 + 2)),
    }
    average = (4 / 5 + 4 / 6 + 4 / 6 + 4 / 6) / 4
    answer = "1. metformin\n2. substance B"
    check(metric, HandWorked("atc", "official", answer, GOLD, ["A10BA02", "B01AA01"], 0, scores, average))


@pytest.mark.parametrize("protocol", ["standard", "official"])
def test_a_prediction_that_names_all_classes(metric: Any, several_classes: Path, protocol: str) -> None:
    answer = "1. metformin\n2. substance A\n3. substance B\n4. substance N"
    levels = ("level1", "level2", "level3", "level4", *(["full"] if protocol == "standard" else []))
    check(metric, HandWorked("atc", protocol, answer, GOLD, GOLD, 0, dict.fromkeys(levels, (1, 1, 1)), 1))


def test_under_official_a_drug_stands_for_all_its_classes(metric: Any, prescriptions: Path) -> None:
    """One name, three codes, all right; the drug without a class contributes nothing, not even a wrong prediction."""
    scores = {
        # gold A, B, N; predicted A, B, N
        "level1": (3 / 3, 3 / 3, 2 * 3 / (3 + 3)),
        # gold A0, A1, B0, N0; predicted A0, B0, N0
        "level2": (3 / 3, 3 / 4, 2 * 3 / (4 + 3)),
        # gold A01, A10, B01, N01; predicted A01, B01, N01
        "level3": (3 / 3, 3 / 4, 2 * 3 / (4 + 3)),
        # gold A01AA0, A10BA0, B01AA0, N01AA0; predicted A01AA0, B01AA0, N01AA0
        "level4": (3 / 3, 3 / 4, 2 * 3 / (4 + 3)),
    }
    average = (6 / 6 + 6 / 7 + 6 / 7 + 6 / 7) / 4
    answer = "1. substance abn\n2. sterile water"
    row = HandWorked("atc", "official", answer, GOLD, [ABN, WATER], 0, scores, average)
    check(metric, row, dictionary=str(prescriptions))


def test_under_official_all_classes_of_a_wrong_drug_are_wrong(metric: Any, prescriptions: Path) -> None:
    """The gold is metformin alone: of the other drug's three classes one shares its main group."""
    scores = {
        # gold A; predicted A, B, N
        "level1": (1 / 3, 1 / 1, 2 * 1 / (1 + 3)),
        # gold A1; predicted A0, A1, B0, N0
        "level2": (1 / 4, 1 / 1, 2 * 1 / (1 + 4)),
        # gold A10; predicted A01, A10, B01, N01
        "level3": (1 / 4, 1 / 1, 2 * 1 / (1 + 4)),
        # gold A10BA0; predicted A01AA0, A10BA0, B01AA0, N01AA0
        "level4": (1 / 4, 1 / 1, 2 * 1 / (1 + 4)),
    }
    average = (2 / 4 + 2 / 5 + 2 / 5 + 2 / 5) / 4
    answer = "1. metformin\n2. substance abn"
    row = HandWorked("atc", "official", answer, ["A10BA02"], [ABN, METFORMIN], 0, scores, average)
    check(metric, row, dictionary=str(prescriptions))
