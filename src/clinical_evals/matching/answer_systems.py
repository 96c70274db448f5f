"""What the words of an answer mean in each code system: its own topic, its groups, and what only tells of a decision.

A heading "Labs" stands over evidence where diagnoses are asked for, and over the decisions where lab orders are. All
of the parser's knowledge of single systems that is a list of words stands here.
"""

import re
from typing import NamedTuple

from clinical_evals.matching.answer_words import word_set
from clinical_evals.ontology import CodeSystem


class Vocabulary(NamedTuple):
    """The words of one code system, in lower case."""

    orders: bool = True
    """Its decisions are orders: they can be held, and "negative" is a result of theirs; else they are conditions."""
    own: frozenset[str] = frozenset()
    """Words for its decisions in a heading."""
    other: frozenset[str] = frozenset()
    """Words for the decisions of other systems."""
    labels: frozenset[str] = frozenset()
    """Labels, columns and keys whose content is one decision, beyond those that are so in every system."""
    groups: frozenset[str] = frozenset()
    """Words that name a group of decisions ("antibiotics", "electrolytes"): a heading if any are listed under it, else
    an order."""
    purposes: frozenset[str] = frozenset()
    """Last words of labels that say what the decisions after them are for ("DVT prophylaxis: heparin")."""
    for_conditions: bool = False
    """Headings and labels are often the conditions that the decisions are for ("Pneumonia: ceftriaxone")."""
    modifiers: frozenset[str] = frozenset()
    """Further words that a heading may have."""
    fields: frozenset[str] = frozenset()
    """Keys, columns and labels that tell of a decision and hold none."""
    past: frozenset[str] = frozenset()
    """Words of headings over decisions of earlier times, which are no decisions now."""
    results: bool = False
    """Tables of values with their units name its decisions."""
    other_codes: re.Pattern[str] | None = None
    """The whole of a code of another system that answers give instead."""
    code_like_names: re.Pattern[str] | None = None
    """The whole of a name that has the shape of a code."""
    slashes: bool = True
    """Three names with slashes between them are three decisions."""


_FIELDS = (
    "frequency schedule timing duration priority urgency indication indications instructions reason rationale status "
    "action date time notes comments purpose quantity location"
)
_DIAGNOSES = Vocabulary(
    orders=False,
    other=word_set("labs tests medications drugs orders prescriptions procedures procedure test drug"),
)
_PROCEDURES = Vocabulary(
    own=word_set("procedures procedure interventions intervention operations surgeries imaging"),
    other=word_set("labs tests medications drugs prescriptions diagnosis diagnoses dx conditions problems"),
    labels=word_set("procedure procedures operation operations surgery surgeries intervention interventions"),
    modifiers=word_set(
        "this these planned performed diagnostic therapeutic bedside operative surgical invasive noninvasive proposed"
    ),
    purposes=word_set("management access support intervention"),
    fields=word_set(
        f"{_FIELDS} approach device body part laterality side anesthesia site qualifier operation_type surgeon"
    ),
    other_codes=re.compile(r"\d{5}|\d{2}\.\d{1,2}"),  # CPT, ICD-9
    past=word_set("psh past prior previous earlier history historical"),
)
_LABS = Vocabulary(
    results=True,
    own=word_set("labs lab laboratory tests test orders panels chemistry vitals"),
    other=word_set(
        "medications drugs prescriptions procedures procedure drug diagnosis diagnoses dx conditions problems"
    ),
    labels=word_set("lab labs laboratory test tests analyte analytes order orders panel assay"),
    groups=word_set(
        "electrolytes coagulation coags chemistry chemistries hematology microbiology panel panels profile cbc bmp "
        "cmp "
        "lfts lft function metabolic lipid lipids count differential gas gases abg vbg urinalysis ua enzymes markers "
        "studies thyroid iron cardiac renal liver hepatic blood basic comprehensive complete chem chem7 "
        "chem10 chem20 serology serologies inflammatory"
    ),
    modifiers=word_set("routine stat daily morning admission initial baseline repeat serial other basic orders"),
    fields=word_set(f"{_FIELDS} specimen sample fluid value values unit units range result results flag method"),
)
_DRUGS = Vocabulary(
    own=word_set("medications medication meds drugs drug prescriptions treatment treatments therapy"),
    other=word_set(
        "labs tests procedures procedure test imaging lab laboratory diagnosis diagnoses dx conditions problems"
    ),
    labels=word_set(
        "rx medication medications med meds drug drugs prescription prescriptions order agent agents fluid"
    ),
    groups=word_set(
        "antibiotics antibiotic antimicrobials antimicrobial antivirals antifungals analgesics analgesia analgesic "
        "diuretics diuretic anticoagulants anticoagulation anticoagulant antiplatelets antiplatelet antihypertensives "
        "antihypertensive antiemetics antiemetic antiarrhythmics vasopressors vasopressor pressors bronchodilators "
        "bronchodilator steroids corticosteroids insulins laxatives laxative electrolytes electrolyte fluids fluid "
        "statins sedatives sedation vitamins supplements infusions drips opioids antipsychotics antidepressants "
        "anticonvulsants antiepileptics inhalers nebulizers hydration immunosuppressants inotropes"
    ),
    purposes=word_set(
        "prophylaxis ppx control regimen coverage management repletion replacement support maintenance protection "
        "prevention relief resuscitation rescue treatment therapy hydration"
    ),
    for_conditions=True,
    modifiers=word_set(
        "broad spectrum home new scheduled standing prn needed as iv oral po intravenous continuous inpatient "
        "outpatient continue "
        "continued start started starting empiric maintenance resumed resume changed adjusted other and replacement"
    ),
    fields=word_set(
        f"{_FIELDS} dose dosage dosing strength route form formulation unit units sig rate concentration refills "
        "volume class amount max"
    ),
    code_like_names=re.compile(r"D(?:5|10|20|25|50|70)(?:W|NS|LR)|D(?:20|25|50|70)|B12|Q\d\d?H", re.IGNORECASE),
    slashes=False,  # EFV/FTC/TDF is one drug
)
_VOCABULARIES = {"icd10cm": _DIAGNOSES, "icd10pcs": _PROCEDURES, "loinc": _LABS, "atc": _DRUGS}
_UNKNOWN = Vocabulary()


def vocabulary(system: CodeSystem) -> Vocabulary:
    """The words of a system; of one that is not known here, those of orders without any word of their own."""
    return _VOCABULARIES.get(system.name, _UNKNOWN)
