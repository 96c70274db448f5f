"""A batch of generated admissions and all that belongs to them, as Arrow tables with MIMIC-IV's columns.

Everything is drawn in arrays, never row by row. A batch depends on the seed and its number alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clinical_evals.clibench.generated_catalog import Catalog

Ints = NDArray[np.int64]
Times = NDArray[np.datetime64]
FIRST_SUBJECT, FIRST_HADM = 10_000_000, 20_000_000
ICD10_SHARE = 0.45
"""Share of the admissions that are coded in ICD-10, as in MIMIC-IV."""
PATIENTS_PER_ADMISSION = 0.41
DAY = 24 * 60
"""Minutes."""
_EPOCH = np.datetime64("2110-01-01T00:00:00", "s")


class Admissions(NamedTuple):
    """A batch of admissions, as arrays of the same length."""

    subject: Ints
    hadm: Ints
    first: NDArray[np.bool_]
    """Whether it is the first of its patient."""
    admitted: Times
    stay: Ints
    """Minutes from admission to discharge."""
    icd10: NDArray[np.bool_]


def draw_admissions(start: int, count: int, rng: np.random.Generator) -> Admissions:
    """Admissions number `start` and following; each batch begins with a new patient."""
    first = rng.random(count) < PATIENTS_PER_ADMISSION
    first[0] = True
    patient = np.cumsum(first) - 1
    nth = np.arange(count) - np.flatnonzero(first)[patient]
    begin = rng.integers(0, 90 * 365 * DAY, patient[-1] + 1)[patient]
    minutes = begin + nth * 200 * DAY + rng.integers(0, 150 * DAY, count)
    stay = np.clip(rng.lognormal(8.3, 0.9, count), 60, 40 * DAY).astype(np.int64)
    return Admissions(
        FIRST_SUBJECT + 17 * (start + patient),
        FIRST_HADM + start + np.arange(count),
        first,
        _EPOCH + minutes.astype("timedelta64[m]"),
        stay,
        rng.random(count) < ICD10_SHARE,
    )


class Batch:
    """The tables of a batch of admissions.

    Args:
        admissions: the admissions.
        catalog: what items, drugs and codes are drawn from.
        rng: what draws; the tables are to be made in one order.
    """

    def __init__(self, admissions: Admissions, catalog: Catalog, rng: np.random.Generator) -> None:
        self.admissions, self.catalog, self.rng = admissions, catalog, rng

    def spread(self, rows: int, spread: float = 0.6) -> Ints:
        """How many of `rows` rows each admission has; the larger `spread`, the more they differ."""
        weights = self.rng.lognormal(0, spread, len(self.admissions.hadm))
        return self.rng.multinomial(rows, weights / weights.sum()).astype(np.int64)

    def within(self, rows: Ints) -> Times:
        """A time in the stay of each of the given admissions, most of them early."""
        stay = self.admissions.stay[rows]
        after = (stay * self.rng.random(len(rows)) ** 3).astype("timedelta64[m]")
        time: Times = self.admissions.admitted[rows] + after
        return time

    def _words(self, name: str, count: int) -> pa.Array:
        return choice(self.catalog.values[name], count, self.rng)

    def patients(self) -> pa.Table:
        """One row for each patient of the batch."""
        subject = self.admissions.subject[self.admissions.first]
        year = self.admissions.admitted[self.admissions.first].astype("datetime64[Y]").astype(np.int64) + 1970
        return pa.table(
            {
                "subject_id": subject,
                "gender": choice("FM", len(subject), self.rng),
                "anchor_age": self.rng.integers(18, 92, len(subject)),
                "anchor_year": year,
                "anchor_year_group": choice(("2008 - 2010", "2014 - 2016", "2017 - 2019"), len(subject), self.rng),
                "dod": pa.nulls(len(subject), pa.string()),
            }
        )

    def admission_rows(self) -> pa.Table:
        """The table admissions."""
        known, count = self.admissions, len(self.admissions.hadm)
        columns: dict[str, Any] = {
            "subject_id": known.subject,
            "hadm_id": known.hadm,
            "admittime": known.admitted,
            "dischtime": known.admitted + known.stay.astype("timedelta64[m]"),
            "deathtime": pa.nulls(count, pa.timestamp("s")),
        }
        words = {"admission_type": "admission_types", "admission_location": "admission_locations"}
        words |= {"discharge_location": "discharge_locations", "insurance": "insurances", "language": "languages"}
        words |= {"marital_status": "marital", "race": "races"}
        columns |= {column: self._words(name, count) for column, name in words.items()}
        return pa.table(columns | {"hospital_expire_flag": np.zeros(count, dtype=np.int64)})

    def prescriptions(self, rows: int) -> pa.Table:
        """`rows` rows of prescriptions."""
        admission = np.repeat(np.arange(len(self.admissions.hadm)), self.spread(rows))
        drug = self.rng.integers(0, len(self.catalog.drugs), rows)
        start = self.within(admission).astype("datetime64[h]").astype("datetime64[s]")
        name, gsn, ndc, strength, dose, unit, route, times = zip(*self.catalog.drugs, strict=True)
        return pa.table(
            {
                "subject_id": self.admissions.subject[admission],
                "hadm_id": self.admissions.hadm[admission],
                "pharmacy_id": self.rng.integers(10_000_000, 99_999_999, rows),
                "poe_id": pa.nulls(rows, pa.string()),
                "poe_seq": pa.nulls(rows, pa.string()),
                "order_provider_id": pa.nulls(rows, pa.string()),
                "starttime": start,
                "stoptime": start + self.rng.integers(1, 96, rows).astype("timedelta64[h]"),
                "drug_type": choice(("MAIN", "MAIN", "MAIN", "BASE"), rows, self.rng),
                "drug": taken(name, drug),
                "formulary_drug_cd": pa.nulls(rows, pa.string()),
                "gsn": taken(gsn, drug),
                "ndc": taken(ndc, drug),
                "prod_strength": taken(strength, drug),
                "form_rx": pa.nulls(rows, pa.string()),
                "dose_val_rx": taken(dose, drug),
                "dose_unit_rx": taken(unit, drug),
                "form_val_disp": taken(dose, drug),
                "form_unit_disp": taken(unit, drug),
                "doses_per_24_hrs": taken(times, drug),
                "route": taken(route, drug),
            }
        )

    def diagnoses(self, rows: int) -> pa.Table:
        """About `rows` rows of diagnoses_icd: no admission has a code twice."""
        codes = {revision: [code for code, _ in pairs] for revision, pairs in self.catalog.diagnoses.items()}
        return pa.table(self._coded(rows, codes))

    def procedures(self, rows: int) -> pa.Table:
        """About `rows` rows of procedures_icd: no admission has a code twice."""
        coded = self._coded(rows, self.catalog.procedures)
        place = coded["hadm_id"] - self.admissions.hadm[0]
        coded["chartdate"] = self.within(place).astype("datetime64[D]")
        return pa.table({name: coded[name] for name in (*_WHO, "seq_num", "chartdate", "icd_code", "icd_version")})

    def _coded(self, rows: int, codes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        limit = min(map(len, codes.values()))
        counts = np.minimum(self.spread(rows, 0.3), limit)
        admission = np.repeat(np.arange(len(counts)), counts)
        sequence = np.arange(len(admission)) - np.repeat(np.cumsum(counts) - counts, counts)
        start = self.rng.integers(0, 1 << 30, len(counts))[admission]
        icd10 = self.admissions.icd10[admission]
        size = np.where(icd10, len(codes["10"]), len(codes["9"]))
        place = (start + sequence) % size + np.where(icd10, len(codes["9"]), 0)
        return {
            "subject_id": self.admissions.subject[admission],
            "hadm_id": self.admissions.hadm[admission],
            "seq_num": sequence + 1,
            "icd_code": taken((*codes["9"], *codes["10"]), place),
            "icd_version": np.where(icd10, 10, 9),
        }

    def services(self, rows: int) -> pa.Table:
        """`rows` rows of services, at least one for each admission."""
        admission = self._each(rows)
        return pa.table(
            {
                "subject_id": self.admissions.subject[admission],
                "hadm_id": self.admissions.hadm[admission],
                "transfertime": self.within(admission),
                "prev_service": pa.nulls(len(admission), pa.string()),
                "curr_service": self._words("services", len(admission)),
            }
        )

    def transfers(self, rows: int, first: int) -> pa.Table:
        """`rows` rows of transfers, at least one for each admission."""
        admission = self._each(rows)
        time = self.within(admission)
        return pa.table(
            {
                "subject_id": self.admissions.subject[admission],
                "hadm_id": self.admissions.hadm[admission],
                "transfer_id": np.arange(first, first + len(admission)),
                "eventtype": choice(("admit", "transfer", "ED"), len(admission), self.rng),
                "careunit": self._words("care_units", len(admission)),
                "intime": time,
                "outtime": time + self.rng.integers(1, 96, len(admission)).astype("timedelta64[h]"),
            }
        )

    def _each(self, rows: int) -> Ints:
        count = len(self.admissions.hadm)
        return np.sort(np.concatenate([np.arange(count), self.rng.integers(0, count, max(rows - count, 0))]))


_WHO = ("subject_id", "hadm_id")


def choice(words: Sequence[str], count: int, rng: np.random.Generator) -> pa.Array:
    """`count` of the words, the first ones more often."""
    place = (len(words) * rng.random(count) ** 1.7).astype(np.int64)
    return taken(words, np.minimum(place, len(words) - 1))


def taken(words: Sequence[Any], places: Ints) -> pa.Array:
    """The words at the places, as an Arrow array."""
    return pa.array(words).take(pa.array(places))
