"""MIMIC-IV's tables as what CliBench needs of them: expressions that every engine runs (protocol.md 2.2 and 2.3).

Each function takes tables of text (see `engines`) or of earlier functions. What is large is sorted by admission alone;
what is made of it in the end does not depend on the order of rows.
"""

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import ibis.expr.types as ir

FirstBatch = Literal["released", "first_timestamp"]
"""`released`: what is decided within 24 hours of admission, or within 2 hours of the first decision.
`first_timestamp`: what is decided at the first time within 24 hours of admission."""

UNREADABLE = "unreadable"
"""Column of stored tables: a time of the source that is no time; null where there was none or it was read."""


def _time(column: Any) -> Any:
    """A date with its time of day; a date alone, which would be read as midnight, is none."""
    import ibis

    return ibis.ifelse(column.contains(":"), column.try_cast("timestamp"), ibis.null("timestamp"))


def unique(table: "ir.Table") -> "ir.Table":
    """Each distinct row once.

    Not `distinct`: what Ibis makes of it before an order fails on Spark where a column is computed, and on BigQuery
    tells rows apart by the columns of the order too.
    """
    return table.group_by(*table.columns).aggregate(rows=table.count()).drop("rows")


def read_admissions(admissions: "ir.Table", patients: "ir.Table") -> "ir.Table":
    """All admissions with their profile, and the admission of the patient before.

    `patient` is false where the patient is not in `patients`. Ages are in years, the length of stay in days.
    """
    import ibis

    own = unique(admissions)
    people = unique(patients).rename(patient_id="subject_id")
    joined = own.left_join(people, own.subject_id == people.patient_id)
    admitted = _time(joined.admittime)
    left = _time(joined.dischtime)
    columns = joined.select(
        hadm_id=joined.hadm_id.try_cast("int64"),
        subject_id=joined.subject_id.try_cast("int64"),
        admittime=admitted,
        unreadable=ibis.cases(
            (joined.admittime.notnull() & admitted.isnull(), joined.admittime),
            (joined.dischtime.notnull() & left.isnull(), joined.dischtime),
        ),
        patient=joined.patient_id.notnull(),
        gender=joined.gender,
        age=(
            joined.anchor_age.try_cast("int64") + admitted.year().cast("int64") - joined.anchor_year.try_cast("int64")
        ),
        race=joined.race,
        insurance=joined.insurance,
        language=joined.language,
        marital_status=joined.marital_status,
        admission_type=joined.admission_type,
        admission_location=joined.admission_location,
        # not as seconds since 1970: BigQuery has those of a TIMESTAMP alone, and these times are DATETIMEs
        length_of_stay=left.delta(admitted, unit="second").cast("float64") / 86400.0,
    )
    # those without a time last, on every engine: they are nobody's previous
    by_patient = ibis.window(group_by="subject_id", order_by=[columns.admittime.isnull(), "admittime", "hadm_id"])
    return columns.mutate(previous=columns.hadm_id.lag().over(by_patient)).order_by("hadm_id", "subject_id")


def read_diagnoses(diagnoses: "ir.Table") -> "ir.Table":
    """All diagnosis codes of all admissions; a row that is there twice once."""
    found = diagnoses.select(
        hadm_id=diagnoses.hadm_id.try_cast("int64"),
        seq_num=diagnoses.seq_num.try_cast("int64"),
        icd_code=diagnoses.icd_code,
        icd_version=diagnoses.icd_version,
    )
    return unique(found).order_by("hadm_id", "seq_num", "icd_version", "icd_code")


def read_procedures(procedures: "ir.Table") -> "ir.Table":
    """All procedures with their date as a time at midnight."""
    time = procedures.chartdate.try_cast("timestamp")
    return _events(
        procedures,
        time,
        procedures.chartdate,
        icd_code=procedures.icd_code,
        icd_version=procedures.icd_version,
    )


def read_all_labs(labs: "ir.Table") -> "ir.Table":
    """All lab results with their admission as a number. Those of no admission are there to be counted: as nulls.

    In MIMIC they are about half. What their admission was is in `unreadable_id` where it was no number.
    """
    import ibis

    hadm_id = labs.hadm_id.try_cast("int64")
    used = {name: labs[name] for name in labs.columns if name != "hadm_id"}
    return labs.select(
        hadm_id=hadm_id,
        unreadable_id=ibis.ifelse(hadm_id.isnull(), labs.hadm_id, ibis.null("string")),
        **{name: ibis.ifelse(hadm_id.notnull(), column, ibis.null("string")) for name, column in used.items()},
    )


def read_labs(labs: "ir.Table", admissions: "ir.Table") -> "ir.Table":
    """The lab results of some admissions, those of an admission together but in no order of their own.

    They are the bulk of MIMIC: nothing more is sorted than must be. `rows` puts them in order of time, and takes a
    result that is there twice once.

    Args:
        labs: of `read_all_labs`.
        admissions: a table with the `hadm_id` of those wanted.
    """
    import ibis

    wanted = labs.semi_join(admissions, "hadm_id")
    time = _time(wanted.charttime)
    columns = wanted.select(
        hadm_id=wanted.hadm_id,
        time=time,
        labevent_id=wanted.labevent_id.try_cast("int64"),
        itemid=wanted.itemid,
        value=wanted.value,
        valuenum=wanted.valuenum.try_cast("float64"),
        unit=wanted.valueuom,
        ref_low=wanted.ref_range_lower.try_cast("float64"),
        ref_high=wanted.ref_range_upper.try_cast("float64"),
        flag=wanted.flag,
        unreadable=ibis.ifelse(wanted.charttime.notnull() & time.isnull(), wanted.charttime, ibis.null("string")),
    )
    return columns.order_by("hadm_id")


def read_prescriptions(prescriptions: "ir.Table") -> "ir.Table":
    """The prescriptions that name a drug by its NDC; "0" is none."""
    named = prescriptions.filter(prescriptions.ndc.notnull() & ~prescriptions.ndc.re_search("^0*$"))
    time = _time(named.starttime)
    return _events(
        named, time, named.starttime, drug=named.drug.fill_null(""), gsn=named.gsn.fill_null(""), ndc=named.ndc
    )


def _events(table: "ir.Table", time: Any, written: Any, **columns: Any) -> "ir.Table":
    """Decisions with their time; each distinct one of an admission at a time once."""
    import ibis

    found = table.select(
        hadm_id=table.hadm_id.try_cast("int64"),
        time=time,
        unreadable=ibis.ifelse(written.notnull() & time.isnull(), written, ibis.null("string")),
        **columns,
    )
    return unique(found).order_by("hadm_id")


def first_batch(events: "ir.Table", admissions: "ir.Table", rule: FirstBatch, dates_only: bool = False) -> "ir.Table":
    """The decisions of an admission that belong to its first batch; those without a time are none of them.

    Args:
        events: with `hadm_id` and `time`.
        admissions: with `hadm_id` and `admittime`; events of others are left out.
        rule: which rule.
        dates_only: whether the times are dates (procedures): the day of admission then counts from its midnight.
    """
    import ibis

    day = ibis.interval(hours=24)
    joined = events.filter(events.time.notnull()).inner_join(admissions.select("hadm_id", "admittime"), "hadm_id")
    start = joined.admittime.truncate("D") if dates_only else joined.admittime
    in_day = joined.time <= joined.admittime + day
    if rule == "first_timestamp":
        joined = joined.filter(in_day & (joined.time >= start))
        first = joined.group_by("hadm_id").aggregate(first=joined.time.min())
        both = joined.inner_join(first, "hadm_id")
        kept = both.filter(both.time == both.first)
    else:
        first = joined.group_by("hadm_id").aggregate(first=joined.time.min())
        both = joined.inner_join(first, "hadm_id")
        kept = both.filter((both.time <= both.admittime + day) | (both.time <= both["first"] + ibis.interval(hours=2)))
    return kept.select(*events.columns)


def distinct_values(table: "ir.Table", column: str) -> "ir.Table":
    """The distinct values of a column by admission, in order: services, care units."""
    found = table.select(hadm_id=table.hadm_id.try_cast("int64"), value=table[column])
    return unique(found.filter(found.hadm_id.notnull() & found.value.notnull())).order_by("hadm_id", "value")


def read_notes(notes: "ir.Table", admissions: "ir.Table | None" = None) -> "ir.Table":
    """Notes with a text by admission and number; of some admissions only, where a table of them is given.

    Addenda to discharge summaries (AD) are left out: they are written later.
    """
    notes = notes.filter(notes.note_type.isin(["DS", "RR", "AR"]))
    found = notes.select(
        hadm_id=notes.hadm_id.try_cast("int64"),
        note_seq=notes.note_seq.try_cast("int64"),
        note_id=notes.note_id,
        text=notes.text,
    )
    found = found.filter(found.hadm_id.notnull() & found.text.notnull())
    return found if admissions is None else found.semi_join(admissions, "hadm_id")
