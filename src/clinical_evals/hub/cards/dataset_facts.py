"""The facts of the two datasets, of their samples and of what is built from real data."""

from clinical_evals.errors import UnknownNameError
from clinical_evals.hub.cards.facts import CLIBENCH_PAPER, IOR_PAPER, MIMIC_LICENCE_LINK, DatasetFacts, Made
from clinical_evals.hub.cards.notices import ATC, ICD, LOINC
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER

_NOT_CLINICAL = "Not for clinical use."
_SAMPLE_LICENCE = "Apache-2.0, as the rest of clinical-evals"

CLIBENCH = DatasetFacts(
    "clibench",
    "CliBench",
    "Decisions on hospital admissions: given what is known of an admission, which diagnoses, procedures, lab orders, "
    "prescriptions?",
    CLIBENCH_PAPER,
    ("en",),
    ("text-generation", "text-classification"),
    (
        "medical",
        "clinical",
        "icd-10-cm",
        "icd-10-pcs",
        "loinc",
        "atc",
        "diagnosis",
        "procedures",
        "laboratory",
        "medication",
        "benchmark",
    ),
    Made(
        "apache-2.0",
        (
            ("language", "US English, in the shorthand of hospital notes"),
            ("people in the data", "none: every patient is invented, adults, with dates in the years 2131–2189"),
            ("who wrote it", "drafted with a language model for clinical-evals, then checked by rule and by reading"),
            ("who chose the gold", "the same, code by code; a passage of the row supports each"),
            ("meant for", "trying benchmark, prompts and metric without credentialed data"),
            ("not meant for", "ranking models, estimating anything about patients, training beyond experiments here"),
        ),
        (
            "$admissions admissions are far too few to rank models, and invented notes are tidier than real ones: "
            "shorter, consistent, without copied text.",
            "The texts were drafted with a language model and checked by rule and by reading; no practising clinician "
            "or certified coder has reviewed them. Coding leaves room for judgement, above all in status (Z) codes "
            "and external causes.",
            "What a hospital orders on the first day is a habit of the place: another would order other tests and "
            "drugs for the same patient, and be right. The panels make the lists of laboratory tests long and alike, "
            "so a fixed list already scores well on `lab_order`.",
            "Adults in one country's documentation style and coding rules. Demographic columns vary, but not as in "
            "any population.",
            _NOT_CLINICAL,
        ),
        ("synthetic",),
        licence_text=f"{_SAMPLE_LICENCE}; LOINC and ATC content under the terms above.",
    ),
    Made(
        "other",
        (
            ("language", "US English, hospital notes"),
            ("people in the data", "adult patients of one academic centre in Boston, deidentified by MIMIC's makers"),
            ("who wrote it", "the clinicians who cared for them; clinical-evals cut and joined, and wrote no text"),
            ("who chose the gold", "the hospital: billed diagnoses and procedures, orders, prescriptions"),
            ("meant for", "evaluating and tuning models where everyone who sees rows or answers may see MIMIC"),
            ("not meant for", "any service that keeps prompts, any copy for others, finding out who a patient is"),
        ),
        (
            "One hospital, one country's habits and billing rules: scores do not carry over to other places.",
            "The gold is what was billed or ordered, not what was right: sensible decisions that nobody took are "
            "counted as wrong.",
            "Notes are cut to what is known at admission by rules over headings; `build.json` counts what they left "
            "behind.",
            "Dates are shifted patient by patient: no season, year or order between patients can be read from them.",
            _NOT_CLINICAL,
        ),
        ("mimic-iv", MIMIC_MARKER),
        "physionet-credentialed-health-data-license-1.5.0",
        MIMIC_LICENCE_LINK,
        "PhysioNet Credentialed Health Data License 1.5.0 and the data use agreements of MIMIC-IV and MIMIC-IV-Note; "
        "codes and names under the terms above.",
    ),
    (LOINC, ATC, ICD),
)

IOR_BENCH = DatasetFacts(
    "ior-bench",
    "IOR-Bench",
    "Outpatient referral in Chinese: which department of the hospital is right for this patient?",
    IOR_PAPER,
    ("zh",),
    ("text-classification", "text-generation"),
    ("medical", "clinical", "triage", "outpatient-referral", "dialogue", "chinese", "benchmark"),
    Made(
        "apache-2.0",
        (
            ("language", "Mandarin Chinese as written in mainland China, everyday and clinical"),
            ("people in the data", "none: every patient, doctor and hospital is invented"),
            ("who wrote it", "drafted with a language model for clinical-evals, then checked by rule and by reading"),
            ("who chose the gold", "the same, by what an ordinary triage nurse would say"),
            ("meant for", "trying benchmark, prompts and metric without the authors' files"),
            ("not meant for", "ranking models, or sending anybody anywhere"),
        ),
        (
            "$static and $dynamic_h1 cases are far too few to rank models, and invented patients are tidier than real "
            "ones.",
            "The texts were drafted with a language model and checked by rule and by reading; no practising clinician "
            "or triage nurse has reviewed them. Where two departments could be defended the gold is one opinion. "
            "Hospitals differ in what they send where.",
            "In `dynamic_h1` no case belongs to 全科医学科 (general practice): with 44 specialities beside it no gold "
            "for it could be defended.",
            "Departments and customs are those of hospitals in mainland China.",
            _NOT_CLINICAL,
        ),
        ("synthetic",),
        licence_text=f"{_SAMPLE_LICENCE}.",
    ),
    Made(
        "other",
        (
            ("language", "as in the files that were read; prompts and departments are Chinese"),
            ("people in the data", "those of the files that were read; nothing was removed or deidentified here"),
            ("who wrote it", "whoever wrote the files; clinical-evals renamed columns and wrote no text"),
            ("who chose the gold", "the department in the files: where the patient went, or a label"),
            ("meant for", "evaluation and tuning by whoever answers for the files"),
            ("not meant for", "any copy or service that the files' owner has not agreed to"),
        ),
        (
            "One hospital's list and habits of referral: scores do not carry over to another list.",
            "Where a patient went need not be where they should have gone.",
            _NOT_CLINICAL,
        ),
        (PATIENT_MARKER,),
        "that-of-the-files-read",
        licence_text="That of the files that were read.",
    ),
)

DATASETS = {facts.name: facts for facts in (CLIBENCH, IOR_BENCH)}
"""By bare name."""


def facts_of(name: str) -> DatasetFacts:
    """The facts of a dataset.

    Raises:
        UnknownNameError: it is none of ours.
    """
    if name not in DATASETS:
        raise UnknownNameError("dataset", name, DATASETS)
    return DATASETS[name]
