"""Rows of the dataset from the stored stages of an extraction, some thousand admissions at a time.

The stages are sorted by admission, so a batch reads a short stretch of each. The columns are those of
`datasets_hub.features`. This runs on DuckDB whichever engine made the stages.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinical_evals.clibench.stages import StageReader
from clinical_evals.errors import RunError
from clinical_evals.ontology import CodeSystem

BATCH = 1000
"""Admissions that are put together at a time: their lab results are what takes memory."""

_PROFILE = "gender, race, age, insurance, language, marital_status, admission_type, admission_location, length_of_stay"
_LABS = """list({
    'itemid': t.itemid, 'label': coalesce(items.label, 'itemid ' || t.itemid), 'fluid': coalesce(items.fluid, ''),
    'category': coalesce(items.category, ''), 'loinc': items.loinc, 'value': t.value, 'valuenum': t.valuenum,
    'unit': t.unit, 'ref_low': t.ref_low, 'ref_high': t.ref_high, 'flag': t.flag,
    'charttime': strftime(t.time, '%Y-%m-%dT%H:%M:%S')
} ORDER BY t.time, t.labevent_id, t.itemid, t.value) FILTER (WHERE t.time IS NOT NULL)"""
_BESIDE = {"labs": "LEFT JOIN items USING (itemid)"}
_ONCE = {"labs": "DISTINCT"}  # the other stages have each row once
_VALUES = "list(value ORDER BY value)"
_TEXTS = "list(text ORDER BY note_seq, note_id)"
_RECORD = "string_agg(text, chr(10) || chr(10) ORDER BY note_seq, note_id)"
# Stage, column of the dataset, and what stands there where an admission has none.
_NESTED = (
    ("services", "services", "[]"),
    ("transfers", "care_units", "[]"),
    ("notes", "record", "''"),
    ("labs", "lab_results", "[]"),
    ("radiology", "radiology_reports", "[]"),
    ("history", "history_diagnoses", "[]"),
)


class Rows:
    """Puts the rows of one extraction together.

    Args:
        reader: of the stages admissions, notes and the gold of the tasks, and of labs, radiology, history, services
            and transfers where they are there.
        items: of each itemid its label, fluid, category and LOINC number, as far as they are known.
    """

    def __init__(self, reader: StageReader, items: Sequence[Mapping[str, str | None]]) -> None:
        import pyarrow as pa

        self._stage, self._connection = reader.stage, reader.connection
        columns = ("itemid", "label", "fluid", "category", "loinc")
        table = pa.table({name: pa.array([item.get(name) for item in items], pa.string()) for name in columns})
        self._connection.register("items", table)

    def batches(self, task: str, admissions: Sequence[int], system: CodeSystem) -> Iterator[Any]:
        """Arrow tables with the rows of some admissions, by `hadm_id`.

        Args:
            task: whose gold they have; only the rows of "diagnosis" have lab results, reports and history.
            admissions: which, in any order.
            system: of the gold, for its titles.
        """
        ordered = sorted(admissions)
        for start in range(0, len(ordered), BATCH):
            yield self._batch(task, ordered[start : start + BATCH], system)

    def _batch(self, task: str, admissions: Sequence[int], system: CodeSystem) -> Any:
        import pyarrow as pa

        self._connection.register("batch", pa.table({"hadm_id": pa.array(admissions, pa.int64())}))
        span = f"hadm_id BETWEEN {admissions[0]} AND {admissions[-1]} AND hadm_id IN (SELECT hadm_id FROM batch)"
        parts = {"services": _VALUES, "transfers": _VALUES, "notes": _RECORD}
        if task == "diagnosis":
            parts |= {"labs": _LABS, "radiology": _TEXTS, "history": "any_value(codes)"}
        joins = "".join(
            f" LEFT JOIN (SELECT hadm_id, {parts[name]} AS {name} "
            f"FROM (SELECT {_ONCE.get(name, '')} * FROM {self._stage[name]} WHERE {span}) AS t "
            f"{_BESIDE.get(name, '')} GROUP BY hadm_id) AS of_{name} USING (hadm_id)"
            for name in parts
            if name in self._stage
        )
        columns = ", ".join(
            f"coalesce({name}, {empty}) AS {column}"
            if name in parts and name in self._stage
            else f"{empty} AS {column}"
            for name, column, empty in _NESTED
        )
        table = self._connection.sql(
            f"SELECT hadm_id, subject_id, {_PROFILE}, {columns}, gold.codes AS codes "
            f"FROM (SELECT * FROM {self._stage['admissions']} WHERE {span}) "
            f"JOIN (SELECT * FROM {self._stage[f'{task}_gold']} WHERE {span}) AS gold USING (hadm_id)"
            f"{joins} ORDER BY hadm_id"
        ).to_arrow_table()
        if table.num_rows != len(admissions):
            raise RunError(f"{task}: {table.num_rows} rows for {len(admissions)} admissions. Run the build again.")
        titles = [[system.title(code) for code in codes] for codes in table["codes"].to_pylist()]
        return table.append_column("titles", pa.array(titles, pa.list_(pa.string())))
