"""From MIMIC-IV's tables to the gold of the four tasks, with what every step drops (protocol.md 2.2).

`extract` runs the expressions of `mimic` and `gold` on an engine, stage by stage. Rows are put together by `rows`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clinical_evals.clibench import gold, mimic
from clinical_evals.clibench import table_checks as checks
from clinical_evals.clibench.decisions import Mapped, map_codes, map_drugs, map_labs
from clinical_evals.clibench.engines import Engine
from clinical_evals.clibench.gold import SYSTEM_OF, Step
from clinical_evals.clibench.mimic_files import HOSP, NOTES, MimicFiles
from clinical_evals.clibench.stages import Stages
from clinical_evals.clibench.systems import Systems
from clinical_evals.clibench.values import count_of, distinct_of, rows_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

COLUMNS = {spec.name: spec.columns for spec in (*HOSP, *NOTES)}
_SHOWN = 5


class Extracted(NamedTuple):
    """What an extraction found."""

    stages: Stages
    tasks: tuple[str, ...]
    """Those that have a gold."""
    funnel: list[Step]
    """How many admissions and decisions are left after each step."""
    mapped: dict[str, Mapped]
    """By task its sources and their codes."""
    notes: list[str]
    """What else whoever reads the result has to know: losses, replaced codes, admissions without a patient."""


def extract(
    files: MimicFiles,
    stages: Stages,
    systems: Systems,
    rule: mimic.FirstBatch,
    say: Callable[[str], None],
) -> Extracted:
    """Run the stages up to the gold of each task.

    Args:
        files: the tables.
        stages: where the steps are stored; its engine runs them.
        systems: whose codes are the gold.
        rule: which decisions are the first batch.
        say: is told what is being done.

    Raises:
        InputError: a table is cut off or damaged, a time cannot be read, an id is none, an admission is there twice
            with other content, codes have lost their leading zeros; each names the table and what was found.
        RunError: the disk is full, or the engine failed.
    """
    return _Extraction(files, stages, systems, rule, say).run()


class _Extraction:
    def __init__(
        self,
        files: MimicFiles,
        stages: Stages,
        systems: Systems,
        rule: mimic.FirstBatch,
        say: Callable[[str], None],
    ) -> None:
        self.files, self.stages, self.systems, self.rule, self.say = files, stages, systems, rule, say
        self.engine: Engine = stages.engine
        self.funnel: list[Step] = []
        self.mapped: dict[str, Mapped] = {}
        self.notes: list[str] = [f"without {name}: {loss}" for name, loss in files.lost.items()]

    def run(self) -> Extracted:
        admissions = self._admissions()
        base = self._with_a_note(admissions)
        tasks = [task for task, make in self._tasks().items() if make(admissions, base)]
        self._read_values("services", "curr_service")
        self._read_values("transfers", "careunit")
        if self.files.has("d_labitems"):
            self._read_stage("d_labitems", lambda: mimic.unique(self._read("d_labitems")).order_by("itemid"))
        self._say_of_empty_tables()
        return Extracted(self.stages, tuple(tasks), self.funnel, self.mapped, self.notes)

    def _tasks(self) -> "Mapping[str, Callable[[ir.Table, ir.Table], bool]]":
        return {
            "diagnosis": self._diagnosis,
            "procedure": self._procedure,
            "lab_order": self._lab_order,
            "prescription": self._prescription,
        }

    # Admissions

    def _admissions(self) -> "ir.Table":
        table = self._read_stage(
            "admissions", lambda: mimic.read_admissions(self._read("admissions"), self._read("patients"))
        )
        checks.check_times(table, self._path("admissions"), "admittime or dischtime")
        checks.check_ids(table, self._path("admissions"))
        checks.check_once(table, self._path("admissions"))
        incomplete = table.filter(table.admittime.isnull() | table.length_of_stay.isnull())
        if number := count_of(incomplete):
            self.notes.append(f"{number:,} admissions without admittime or dischtime are left out")
        checks.check_profile(table, self._path("patients"))
        if number := count_of(table.filter(table.patient & (table.length_of_stay < 0))):
            self.notes.append(f"{number:,} admissions end before they begin: their length of stay is below 0")
        alone = table.filter(~table.patient)
        if number := count_of(alone):
            ids = ", ".join(str(row["hadm_id"]) for row in rows_of(alone.order_by("hadm_id").limit(_SHOWN)))
            self.notes.append(f"{number:,} admissions whose patient is not in patients are left out: {ids}, …")
        self._step("all", "admissions", table)
        return table

    def _with_a_note(self, admissions: "ir.Table") -> "ir.Table":
        """The base of every task: admissions with a discharge note, a patient and their times (protocol.md 2.3)."""
        notes = self.stages.local.stored(self.stages.path("notes"))
        usable = admissions.filter(
            admissions.patient & admissions.admittime.notnull() & admissions.length_of_stay.notnull()
        )
        self._step("all", "with patient and times", usable)
        base = self._derived(
            "base", lambda: usable.semi_join(notes, "hadm_id").select("hadm_id", "admittime").order_by("hadm_id")
        )
        self._step("all", "with a discharge note", base)
        return base

    # Tasks

    def _diagnosis(self, admissions: "ir.Table", base: "ir.Table") -> bool:
        table = self._read_stage("diagnoses", lambda: mimic.read_diagnoses(self._read("diagnoses_icd")))
        checks.check_ids(table, self._path("diagnoses_icd"))
        self._say_of_others("diagnoses_icd", table, admissions)
        checks.check_icd(table, self._path("diagnoses_icd"), {"9": 3, "10": 3})
        ours = table.semi_join(base, "hadm_id")
        self._step("diagnosis", "with diagnoses", ours)
        icd10 = ours.semi_join(gold.wholly_icd10(ours), "hadm_id")
        self._step("diagnosis", "all of ICD-10", icd10)
        codes = map_codes(distinct_of(table.filter(table.icd_version == "10"), "icd_code"), self.systems.icd10cm)
        mapping = gold.mapping_table(codes.codes, ["icd_code"])
        valid = icd10.semi_join(gold.all_valid(icd10, mapping), "hadm_id")
        self._step("diagnosis", "all valid in the release", valid)
        self._derived("history", lambda: gold.history(admissions, table, mapping))
        earlier = admissions.semi_join(valid, "hadm_id").filter(lambda row: row.previous.notnull())
        other = table.anti_join(gold.wholly_icd10(table), "hadm_id").select(previous="hadm_id")
        if number := count_of(earlier.semi_join(other, "previous")):
            self.notes.append(f"diagnosis: the previous admission of {number:,} has ICD-9 codes: its history is empty")
        return self._gold("diagnosis", codes, mapping, ["icd_code"], "icd_code", valid)

    def _procedure(self, admissions: "ir.Table", base: "ir.Table") -> bool:
        system = self.systems.icd10pcs
        if system is None or not self.files.has("procedures_icd"):
            return False
        table = self._read_stage("procedures", lambda: mimic.read_procedures(self._read("procedures_icd")))
        checks.check_ids(table, self._path("procedures_icd"))
        self._say_of_others("procedures_icd", table, admissions)
        checks.check_times(table, self._path("procedures_icd"), "chartdate")
        checks.check_icd(table, self._path("procedures_icd"), {"9": 2, "10": 7})
        ours = table.semi_join(base, "hadm_id")
        self._step("procedure", "with procedures", ours)
        icd10 = ours.filter(ours.icd_version == "10")
        self._step("procedure", "of ICD-10", icd10)
        batch = self._first_batch("procedure", icd10, base, dates_only=True)
        codes = map_codes(distinct_of(batch, "icd_code"), system)
        mapping = gold.mapping_table(codes.codes, ["icd_code"])
        return self._gold("procedure", codes, mapping, ["icd_code"], "icd_code", batch)

    def _lab_order(self, admissions: "ir.Table", base: "ir.Table") -> bool:
        system = self.systems.loinc
        if not self.files.has("labevents"):
            return False
        table = self._labs()
        if system is None:
            return False
        self._step("lab_order", "with lab results", table)  # they are of the base alone
        batch = self._first_batch("lab_order", table.select("hadm_id", "time", "itemid"), base)
        codes = map_labs(distinct_of(batch, "itemid"), self.systems.lab_items, system)
        return self._gold("lab_order", codes, gold.mapping_table(codes.codes, ["itemid"]), ["itemid"], "itemid", batch)

    def _labs(self) -> "ir.Table":
        """The lab results of the base. The table is read once: it is nearly all of MIMIC."""
        everything = self._read_stage("labevents", lambda: mimic.read_all_labs(self._read("labevents")))
        checks.check_readable_ids(everything, self._path("labevents"))
        table = self.stages.read(
            "labs",
            lambda: mimic.read_labs(self.stages.for_engine("labevents"), self.stages.for_engine("base")),
            "picking the lab results of the admissions",
        )
        checks.check_times(table, self._path("labevents"), "charttime")
        self._count_rows("labevents", everything, table, "of admissions with a discharge note")
        return table

    def _prescription(self, admissions: "ir.Table", base: "ir.Table") -> bool:
        system = self.systems.atc
        if system is None or not self.files.has("prescriptions"):
            return False
        everything = self._read_stage("prescriptions_all", lambda: self._read("prescriptions"))
        table = self.stages.read(
            "prescriptions",
            lambda: mimic.read_prescriptions(self.stages.for_engine("prescriptions_all")),
            "picking the prescriptions with an NDC",
        )
        checks.check_ids(table, self._path("prescriptions"))
        self._say_of_others("prescriptions", table, admissions)
        checks.check_times(table, self._path("prescriptions"), "starttime")
        checks.check_drug_codes(table, self._path("prescriptions"))
        ours = table.semi_join(base, "hadm_id")
        self._count_rows(
            "prescriptions", everything, ours, "distinct ones with an NDC, of admissions with a discharge note"
        )
        self._step("prescription", "with a drug that has an NDC", ours)
        batch = self._first_batch("prescription", ours, base)
        names = ["drug", "gsn", "ndc"]
        drugs = [tuple(row[name] for name in names) for row in rows_of(batch.select(*names).distinct())]
        found = map_drugs(drugs, self.systems.drug_map, system)
        self.mapped["prescription"] = Mapped(
            {" | ".join(drug): entry.codes for drug, entry in found.items()},
            {" | ".join(drug): entry.dropped for drug, entry in found.items() if entry.dropped},
            {" | ".join(drug): entry.replaced for drug, entry in found.items() if entry.replaced},
        )
        mapping = gold.mapping_table({drug: entry.codes for drug, entry in found.items()}, names)
        return self._gold("prescription", self.mapped["prescription"], mapping, names, "ndc", batch)

    def _first_batch(self, task: str, events: "ir.Table", base: "ir.Table", dates_only: bool = False) -> "ir.Table":
        timeless = events.filter(events.time.isnull())
        if number := count_of(timeless):
            self.notes.append(f"{task}: {number:,} decisions without a time are left out")
        table = self._derived(
            f"{task}_first_batch",
            lambda: mimic.first_batch(events, base, self.rule, dates_only).order_by("hadm_id"),
        )
        self._step(task, "in the first batch", table)
        return table

    def _gold(
        self, task: str, codes: Mapped, mapping: "ir.Table", names: list[str], source: str, decisions: "ir.Table"
    ) -> bool:
        self.mapped[task] = codes
        unmapped = decisions.anti_join(mapping, names)
        if number := count_of(unmapped):
            self.notes.append(
                f"{task}: {number:,} decisions, of {len(codes.dropped):,} distinct sources, have no code of "
                f"{SYSTEM_OF[task]}; they are no gold"
            )
        if codes.replaced:
            self.notes.append(
                f"{task}: {len(codes.replaced):,} distinct sources have codes of an older release: replaced by name "
                "or dropped"
            )
        table = self._derived(f"{task}_gold", lambda: gold.codes_by_admission(decisions, mapping, names, source))
        self._step(task, "with gold", table)
        return count_of(table) > 0

    # What there is to say

    def _say_of_empty_tables(self) -> None:
        for spec in HOSP:
            path = self.stages.path({"procedures_icd": "procedures", "labevents": "labs"}.get(spec.name, spec.name))
            if spec.loss and path.exists() and not count_of(self.stages.local.stored(path)):
                self.notes.append(f"{spec.name} has no row of the admissions: without {spec.loss}")

    # Small things

    def _count_rows(self, name: str, everything: "ir.Table", kept: "ir.Table", those: str) -> None:
        """Say how many rows of a table are of no admission, or of none that is wanted."""
        ids = everything.hadm_id if everything.hadm_id.type().is_integer() else everything.hadm_id.try_cast("int64")
        counted = rows_of(everything.aggregate(rows=everything.count(), alone=ids.isnull().sum()))[0]
        of_none, here = int(counted["alone"] or 0), count_of(kept)
        self.notes.append(f"{name}: {counted['rows']:,} rows, {of_none:,} of them of no admission; {here:,} {those}")

    def _say_of_others(self, name: str, table: "ir.Table", admissions: "ir.Table") -> None:
        if number := count_of(table.anti_join(admissions, "hadm_id")):
            self.notes.append(f"{name}: {number:,} rows of admissions that are not in admissions are left out")

    def _read(self, name: str) -> "ir.Table":
        return self.engine.read(self.files.tables[name], COLUMNS[name])

    def _read_values(self, name: str, column: str) -> None:
        if self.files.has(name):
            self._read_stage(name, lambda: mimic.distinct_values(self._read(name), column))

    def _read_stage(self, name: str, make: "Callable[[], ir.Table]") -> "ir.Table":
        return self.stages.read(name, make, f"reading {name.replace('_', ' ')}")

    def _derived(self, name: str, make: "Callable[[], ir.Table]") -> "ir.Table":
        return self.stages.derive(name, make, f"working out {name.replace('_', ' ')}")

    def _path(self, name: str) -> Path:
        return self.files.tables[name].path

    def _step(self, task: str, step: str, table: "ir.Table") -> None:
        counts = rows_of(table.aggregate(admissions=table.hadm_id.nunique(), decisions=table.count()))[0]
        decisions = None if counts["decisions"] == counts["admissions"] else int(counts["decisions"])
        self.funnel.append(Step(task, step, int(counts["admissions"]), decisions))
