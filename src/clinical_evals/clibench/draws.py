"""The splits of the tasks from the stored stages: who is drawn, and what they hold (protocol.md 2.3, Table 2)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from clinical_evals.clibench.mimic_key import Admission, MimicKey, key_of
from clinical_evals.clibench.sampling import Candidate, Drawn, draw
from clinical_evals.clibench.stages import StageReader
from clinical_evals.clibench.statistics import SplitStatistics, Visit, count_split
from clinical_evals.ontology import CodeSystem

SOURCE_OF = {
    "diagnosis": ("diagnoses", "icd_code"),
    "procedure": ("procedure_first_batch", "icd_code"),
    "lab_order": ("lab_order_first_batch", "itemid"),
    "prescription": ("prescription_first_batch", "ndc"),
}
"""By task the stage with its decisions, and the column that Table 2 counts."""


class Split(NamedTuple):
    """The splits of one task."""

    drawn: Drawn
    statistics: dict[str, SplitStatistics]
    """By split."""

    def ids(self) -> dict[str, list[int]]:
        """By split the admissions, ascending; an empty `train` is none."""
        return {"test": self.drawn.test} | ({"train": self.drawn.train} if self.drawn.train else {})


def draw_task(task: str, reader: StageReader, system: CodeSystem, quota: int, minimum: int, seed: int) -> Split:
    """Draw the splits of a task and count what they hold.

    Args:
        task: one of `gold.TASKS`.
        reader: of the stages.
        system: of its gold.
        quota: admissions a label.
        minimum: admissions a service and a care unit.
        seed: of the draw.
    """
    drawn = draw(_candidates(task, reader, system), quota, minimum, seed)
    stage, column = SOURCE_OF[task]
    query = (
        f"SELECT d.hadm_id, a.subject_id, list(DISTINCT d.{column}) FROM {{{stage}}} AS d "
        f"JOIN {{{task}_gold}} USING (hadm_id) JOIN {{admissions}} AS a USING (hadm_id) "
        f"GROUP BY d.hadm_id, a.subject_id"
    )
    of_split = dict.fromkeys(drawn.test, "test") | dict.fromkeys(drawn.train, "train")
    counted = {
        split: count_split(
            Visit(hadm_id, patient, codes)
            for hadm_id, patient, codes in reader.rows(query)
            if of_split.get(hadm_id) == split
        )
        for split in ("test", "train")
    }
    return Split(drawn, counted)


def mimic_key(reader: StageReader) -> MimicKey:
    """The key of the published lists, from all admissions with a time."""
    rows = reader.rows("SELECT subject_id, hadm_id, admittime FROM {admissions} WHERE admittime IS NOT NULL")
    return key_of(Admission(*row) for row in rows)


def _candidates(task: str, reader: StageReader, system: CodeSystem) -> Iterator[Candidate]:
    sets: dict[tuple[str, ...], frozenset[str]] = {}

    def one_of(values: Any) -> frozenset[str]:
        return sets.setdefault(tuple(sorted(set(values or ()))), frozenset(values or ()))

    codes = "[primary_code]" if task == "diagnosis" else "gold.codes"
    of_primary = (
        "JOIN (SELECT hadm_id, arg_min(icd_code, (seq_num, icd_code)) AS primary_code FROM {diagnoses} "
        "GROUP BY hadm_id) USING (hadm_id)"
    )
    places = {name: f"(SELECT hadm_id, list(value) AS {name} FROM {{{name}}} GROUP BY hadm_id)" for name in _PLACES}
    there = [name for name in _PLACES if name in reader.stage]
    query = (
        f"SELECT hadm_id, a.subject_id, {codes}, {', '.join(n if n in there else '[]' for n in _PLACES)} "
        f"FROM {{{task}_gold}} AS gold JOIN {{admissions}} AS a USING (hadm_id) "
        f"{of_primary if task == 'diagnosis' else ''} "
        + " ".join(f"LEFT JOIN {places[name]} USING (hadm_id)" for name in there)
    )
    label: dict[str, str] = {}
    for hadm_id, patient, found, services, units in reader.rows(query):
        for code in found:
            if code not in label:
                label[code] = system.path(str(system.normalize(code)))[0]
        yield Candidate(hadm_id, patient, one_of([label[code] for code in found]), one_of(services), one_of(units))


_PLACES = ("services", "transfers")
