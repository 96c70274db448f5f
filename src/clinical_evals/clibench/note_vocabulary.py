"""The words that headings of discharge notes are made of: their spellings, and what each says.

Everything here is in the one spelling that `note_words` gives a word (`diagnosis` for "Dx" and "Diagnoses").
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPELLINGS = {
    "addendum": "addenda",
    "admission": "adm admit admitting admissions",
    "allergies": "allergy",
    "appointments": "appointment appts appt",
    "assessment": "assess asmt",
    "complaint": "complaints",
    "condition": "cond condn",
    "consults": "consult consultation consultations consultants",
    "diagnosis": "diagnoses dx dxs diag diags dxes",
    "discharge": "disch dc dsch dch",
    "disposition": "dispo disp",
    "ed": "er ew emergency",
    "ekg": "ecg",
    "events": "event",
    "exam": "examination exams examinations",
    "findings": "finding",
    "followup": "follow fu followups",
    "history": "hx histories",
    "hospital": "hosp hospitalization",
    "icu": "micu sicu ccu cvicu tsicu nicu",
    "imaging": "images radiology xray xrays cxr ct mri ultrasound echocardiogram echo tte",
    "instructions": "instruction instr instrs instruct",
    "issues": "issue",
    "labs": "lab laboratory laboratories",
    "medications": "medication meds med medicines drugs rx",
    "micro": "microbiology cultures",
    "operative": "operation operations",
    "osh": "outside",
    "pathology": "path cytology",
    "pertinent": "pert",
    "physical": "phys",
    "postop": "postoperative pod",
    "preop": "preoperative",
    "prescriptions": "prescription",
    "problems": "problem prob probs",
    "procedure": "procedures proc procs",
    "prognosis": "prognoses",
    "recommendations": "recommendation recs",
    "reports": "report",
    "results": "result values",
    "studies": "study diagnostics",
    "transitional": "transition transitions",
    "treatments": "treatment",
    "vitals": "vital vs",
}
"""By word: its other spellings."""

SHORT_FORMS = {
    "all": "allergies",
    "ap": "assessment plan",
    "bhc": "hospital course",
    "cc": "chief complaint",
    "famhx": "family history",
    "fh": "family history",
    "fhx": "family history",
    "hc": "hospital course",
    "hpi": "history present illness",
    "pe": "exam",
    "pex": "exam",
    "pmh": "past medical history",
    "pmhx": "past medical history",
    "pmx": "past medical history",
    "psh": "past surgical history",
    "pshx": "past surgical history",
    "sh": "social history",
    "shx": "social history",
    "sochx": "social history",
    "ti": "transitional issues",
}
"""By abbreviation: the heading it stands for."""

ONLY_ALONE = frozenset({"all", "sh", "fh", "ap", "ti"})
"""Abbreviations that are such only where they are the whole heading."""

DOUBTFUL = frozenset({"all", "sh", "fh"})
"""Abbreviations that are diseases too (a leukemia, hypertension, a cholesterol): they end no dropped section."""

MISSPELT = _words(
    "about active acute adverse after arrival attending before birth brief changes chief chronic course death "
    "dictated during facility family final first frequency gender illness impression inactive initial inpatient "
    "invasive major medical minor number other outpatient patient pending performed preadmission present "
    "presentation presenting primary principal prior reactions reason relevant resolved review secondary service "
    "social status summary surgical systems therapy transfer"
)
"""Words that, beside those of `SPELLINGS`, are looked for behind a misspelt one."""

OTHER_WORDS = _words(
    "admitted coarse conditions consulted coursed diagnosed diagnostic discharged discharges discharging familial "
    "historic illnesses imagine initially instructed invasion macro medial medicated medicine patent physically "
    "physician physicians planned presented presents previously procedural resulted secondly service statue studied "
    "sturdy surgically"
)
"""True words that are near a heading's word and are none."""

FILLING = _words(
    "a additional after all an and as at below brief by complete cont continued current date day detailed details "
    "during es final first follows for full general her his hospital in invasive is list major me minor my no "
    "number of on or other our patient post pre problems pt relevant s see selected significant system systems the "
    "their this time to up updated upon was were with your"
)
"""Words that change nothing."""

LATER = _words("callout death discharge inpatient interim interval postop transfer")
"""Times after the admission."""

EARLIER = _words(
    "admission arrival baseline clinic ed home initial osh outpatient past preadmission preop presentation "
    "presenting previous prior rehab triage"
)
"""Times up to the admission, and places before it."""

ELSEWHERE = _words("clinic ed osh outpatient past preop previous prior rehab triage")
"""Before this admission, or before its first decision: another hospital, the emergency room."""

EARLIER_STAY = _words("ed last osh past previous prior recent rehab")
"""Before "discharge" these tell of another stay: "last discharge"."""

CONNECTING = _words("after at before date day for of on prior the time to upon")
"""Words before "discharge" at the end of a heading: "Weight on the day of discharge"."""

RESULTS = _words("abg data ekg findings imaging impression labs micro pathology results studies ua workup")
"""Results of any time."""

OUT = {
    "diagnosis": "diagnosis",
    "course": "hospital course",
    "issues": "hospital course",
    "assessment": "assessment and plan",
    "plan": "assessment and plan",
    "procedure": "procedure",
    "operative": "procedure",
    "disposition": "disposition",
    "condition": "discharge condition",
    "instructions": "instructions",
    "followup": "follow-up",
    "facility": "facility",
    "addendum": "addendum",
    "consults": "consults",
    "summary": "hospital course",
    "events": "hospital course",
    "pending": "follow-up",
    "prognosis": "discharge condition",
    "frequency": "instructions",
    "appointments": "follow-up",
    "codes": "diagnosis",
    "cause": "diagnosis",
    "dictated": "signature",
    "transitional": "hospital course",
    "recommendations": "follow-up",
}
"""Things that are known only later, whatever the time, and the section of each; the first that occurs counts."""

QUALIFIERS = _words(
    "active acute appointments associated billing care changed changes chronic clinical code core date diagnostic "
    "differential exam floor hospital icu inactive interventional items key last main medical medications new notable "
    "note notes outstanding overall overnight performed pertinent physical planning prescriptions primary principal "
    "recommended requiring resolved secondary service status stay stopped surgical test therapy transitional "
    "treatments vitals ward weight working"
)
"""Other words of headings."""

FIELDS = frozenset(
    {
        frozenset({"name"}),
        frozenset({"unit"}),
        frozenset({"mrn"}),
        frozenset({"birth"}),
        frozenset({"dob"}),
        frozenset({"sex"}),
        frozenset({"gender"}),
        frozenset({"service"}),
        frozenset({"attending"}),
        frozenset({"attending", "physician"}),
        frozenset({"attending", "md"}),
    }
)
"""The fields of the header."""

KNOWN = {
    frozenset({"chief", "complaint", "history", "present", "illness"}): "history",
    frozenset({"clinical", "history"}): "history",
    frozenset({"history", "physical"}): "history",
    frozenset({"family", "medical", "history"}): "family history",
    frozenset({"history", "illness", "present"}): "history",
    frozenset({"history", "illness", "presenting"}): "history",
    frozenset({"illness", "present"}): "history",
    frozenset({"history", "medical", "past"}): "past history",
    frozenset({"history", "medical"}): "past history",
    frozenset({"history", "past"}): "past history",
    frozenset({"history", "past", "surgical"}): "past history",
    frozenset({"history", "medical", "past", "surgical"}): "past history",
    frozenset({"history", "surgical"}): "past history",
    frozenset({"history", "social"}): "social history",
    frozenset({"family", "history"}): "family history",
    frozenset({"family", "history", "social"}): "family history",
    frozenset({"family", "history", "psychiatric"}): "family history",
    frozenset({"history", "past", "psychiatric"}): "past history",
    frozenset({"history", "psychiatric"}): "past history",
    frozenset({"history", "oncologic"}): "past history",
    frozenset({"history", "oncologic", "past"}): "past history",
    frozenset({"chief", "complaint"}): "complaint",
    frozenset({"complaint", "primary"}): "complaint",
    frozenset({"complaint"}): "complaint",
    frozenset({"complaint", "presenting"}): "complaint",
    frozenset({"admission", "reason"}): "complaint",
    frozenset({"reason", "visit"}): "complaint",
    frozenset({"reason", "transfer"}): "complaint",
    frozenset({"allergies"}): "allergies",
    frozenset({"adverse", "allergies", "reactions"}): "allergies",
    frozenset({"allergies", "drug"}): "allergies",
}
"""Sections that are known at admission, by their words."""

SYMPTOM = _words(
    "amount bloody character clear color colour drainage ear eye from icd nasal nipple odor penile per purulent "
    "site smell urethral vaginal wound"
)
"""Beside these "discharge" is a symptom."""
