"""How much of a table of prescriptions a map of drugs covers; what it does not is listed with counts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from clinical_evals.ontology.drugs import DrugMap
from clinical_evals.ontology.drugs_file import explain_gsn, is_gsn
from clinical_evals.ontology.ndc import explain_ndc, is_no_ndc, normalize_ndc
from clinical_evals.ontology.table_file import read_text_columns

PRESCRIPTION_COLUMNS = ("drug", "gsn", "ndc")
"""The columns of MIMIC's `hosp/prescriptions` that name a drug."""
_SHOWN = 20


class Drug(NamedTuple):
    """A drug as a prescription names it, as text."""

    name: str
    gsn: str
    ndc: str


class MalformedValue(NamedTuple):
    """A value of a prescription that is no code of its column."""

    column: str
    found: str
    why: str


_Key = TypeVar("_Key", str, Drug, MalformedValue)


class DrugCoverage(NamedTuple):
    """Rows of a table by what the map says of them."""

    rows: int
    with_ndc: int
    """Rows with an NDC; "0" and empty are none. Malformed ones count: the row does name one."""
    with_gsn: int
    by_gsn: int
    """Rows that have ATC codes by their GSN."""
    by_ndc: int
    """Rows that have them by their NDC only."""
    ndc_unmapped: int
    """Rows with an NDC and without any ATC code."""
    unmapped: tuple[tuple[Drug, int], ...]
    """Distinct drugs without any ATC code and their rows, the most frequent first."""
    unknown_gsns: tuple[tuple[str, int], ...]
    """Distinct GSNs that the map lacks and their rows, the most frequent first; others of a row may be mapped."""
    malformed: tuple[tuple[MalformedValue, int], ...]
    """Distinct values that are no NDC or GSN and their rows, the most frequent first."""

    def describe(self) -> str:
        """The counts and the most frequent gaps in lines of text."""
        mapped = self.by_gsn + self.by_ndc
        lines = [
            f"{mapped:,} of {self.rows:,} rows have an ATC code: {self.by_gsn:,} by GSN, {self.by_ndc:,} by NDC only",
            f"{self.with_gsn:,} rows have a GSN, {self.with_ndc:,} an NDC; {self.ndc_unmapped:,} of the latter have "
            f"no ATC code",
        ]
        drugs = [f"{drug.name!r} (gsn {drug.gsn!r}, ndc {drug.ndc!r})" for drug, _ in self.unmapped]
        lines += _listed("drugs without an ATC code", drugs, [rows for _, rows in self.unmapped])
        lines += _listed(
            "GSNs that the map lacks", [gsn for gsn, _ in self.unknown_gsns], [rows for _, rows in self.unknown_gsns]
        )
        values = [f"{value.column} {value.found!r}: {value.why}" for value, _ in self.malformed]
        lines += _listed("malformed values", values, [rows for _, rows in self.malformed])
        return "\n".join(lines)


def _listed(what: str, names: list[str], rows: list[int]) -> list[str]:
    if not names:
        return []
    lines = [f"{len(names):,} {what}, in {sum(rows):,} rows:"]
    lines += [f"  {count:,}: {name}" for name, count in zip(names[:_SHOWN], rows, strict=False)]
    return [*lines, f"  and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else lines


def cover(drug_map: DrugMap, prescriptions: Iterable[tuple[str, str, str]]) -> DrugCoverage:
    """What a map says of rows (drug, gsn, ndc), as text; each distinct one is looked at once, so rows may stream."""
    return _summed(drug_map, Counter(Drug(*row) for row in prescriptions))


def read_prescriptions(path: Path) -> Iterator[tuple[str, str, str]]:
    """The drug, gsn and ndc of every row of MIMIC's `hosp/prescriptions`; the file is read as a whole.

    Raises:
        InputError: the file cannot be read, is another table, or is cut off.
        ResourceMissingError: a Parquet file, but pyarrow is not installed.
    """
    hint = "Give MIMIC-IV's own file hosp/prescriptions.csv.gz."
    for _, (drug, gsn, ndc) in read_text_columns(path, PRESCRIPTION_COLUMNS, hint):
        yield drug, gsn, ndc


def _malformed(drug: Drug) -> Iterator[MalformedValue]:
    for gsn in set(drug.gsn.split()):
        if not is_gsn(gsn):
            yield MalformedValue("gsn", gsn, explain_gsn(gsn))
    if normalize_ndc(drug.ndc) is None and not is_no_ndc(drug.ndc):
        yield MalformedValue("ndc", drug.ndc, explain_ndc(drug.ndc))


def _by_frequency(counts: Counter[_Key]) -> tuple[tuple[_Key, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _summed(drug_map: DrugMap, drugs: Counter[Drug]) -> DrugCoverage:
    rows: Counter[str] = Counter()
    unmapped: Counter[Drug] = Counter()
    unknown: Counter[str] = Counter()
    malformed: Counter[MalformedValue] = Counter()
    for drug, count in drugs.items():
        by = drug_map.classes(drug.gsn, drug.ndc).by
        rows[by] += count
        rows["with_gsn"] += count if drug.gsn.strip() else 0
        has_ndc = not is_no_ndc(drug.ndc)
        rows["with_ndc"] += count if has_ndc else 0
        if not by:
            unmapped[drug] += count
            rows["ndc_unmapped"] += count if has_ndc else 0
        for value in _malformed(drug):
            malformed[value] += count
        for gsn in filter(is_gsn, set(drug.gsn.split()).difference(drug_map.table.by_gsn)):
            unknown[gsn] += count
    return DrugCoverage(
        rows=drugs.total(),
        with_ndc=rows["with_ndc"],
        with_gsn=rows["with_gsn"],
        by_gsn=rows["gsn"],
        by_ndc=rows["ndc"],
        ndc_unmapped=rows["ndc_unmapped"],
        unmapped=_by_frequency(unmapped),
        unknown_gsns=_by_frequency(unknown),
        malformed=_by_frequency(malformed),
    )
