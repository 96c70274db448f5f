"""The gold of each task from stored tables: which admissions have one, and how many do not, step by step.

Expressions that every engine runs, over what `mimic` gives. Sources: protocol.md 2.2 and 2.3.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clinical_evals.clibench.mimic import unique

if TYPE_CHECKING:
    import ibis.expr.types as ir

TASKS = ("diagnosis", "procedure", "lab_order", "prescription")
SYSTEM_OF = {"diagnosis": "icd10cm", "procedure": "icd10pcs", "lab_order": "loinc", "prescription": "atc"}


class Step(NamedTuple):
    """How many are left after a step of the extraction."""

    task: str
    step: str
    admissions: int
    decisions: int | None = None
    """Rows of decisions, where the step is about them."""


def mapping_table(codes: Mapping[Any, Sequence[str]], names: Sequence[str]) -> "ir.Table":
    """Pairs of source and code as a table: one row for each code of a source.

    Args:
        codes: by source its codes.
        names: the columns of a source; with one of them a source is text, else a tuple.
    """
    import ibis

    rows = [
        {**dict(zip(names, (source,) if len(names) == 1 else source, strict=True)), "code": code}
        for source in sorted(codes)
        for code in codes[source]
    ]
    return ibis.memtable(rows, schema=ibis.schema({**dict.fromkeys(names, "string"), "code": "string"}))


def wholly_icd10(diagnoses: "ir.Table") -> "ir.Table":
    """The admissions with diagnoses whose codes are all of ICD-10."""
    by_admission = diagnoses.group_by("hadm_id").aggregate(other=(diagnoses.icd_version != "10").any())
    return by_admission.filter(~by_admission.other).select("hadm_id")


def all_valid(diagnoses: "ir.Table", mapping: "ir.Table") -> "ir.Table":
    """The admissions of which every code is in the mapping."""
    unknown = diagnoses.anti_join(mapping, "icd_code").select("hadm_id")
    return unique(diagnoses.select("hadm_id")).anti_join(unknown, "hadm_id")


def codes_by_admission(decisions: "ir.Table", mapping: "ir.Table", names: Sequence[str], source: str) -> "ir.Table":
    """The gold of each admission: its distinct codes, sorted, and how many distinct sources they come from.

    Args:
        decisions: with `hadm_id` and the columns `names`.
        mapping: from `mapping_table`.
        names: the columns of a source.
        source: the one of them that is counted, before any mapping (protocol.md 2.3).
    """
    joined = decisions.inner_join(mapping, list(names))
    gold = _codes_by(joined, "hadm_id")
    counted = decisions.group_by("hadm_id").aggregate(sources=decisions[source].nunique())
    return gold.inner_join(counted, "hadm_id").order_by("hadm_id")


def history(admissions: "ir.Table", diagnoses: "ir.Table", mapping: "ir.Table") -> "ir.Table":
    """The diagnoses of each admission's previous one, where there is one and all of its codes are of ICD-10.

    A code that the release does not have stands as MIMIC writes it.

    Args:
        admissions: with `hadm_id` and `previous`.
        diagnoses: of all admissions.
        mapping: from `mapping_table`.
    """
    earlier = diagnoses.semi_join(wholly_icd10(diagnoses), "hadm_id").left_join(mapping, "icd_code")
    codes = earlier.select(previous="hadm_id", code=earlier.code.fill_null(earlier.icd_code))
    by_admission = _codes_by(codes, "previous")
    joined = admissions.select("hadm_id", "previous").inner_join(by_admission, "previous")
    return joined.select("hadm_id", "codes").order_by("hadm_id")


def _codes_by(table: "ir.Table", name: str) -> "ir.Table":
    """By the column `name` the distinct codes, sorted. In two steps: BigQuery sorts no aggregate where it is made."""
    found = table.group_by(name).aggregate(codes=table.code.collect(distinct=True))
    return found.mutate(codes=found.codes.sort())
