"""Headings, labels and sections of an answer: their words, and what they say about the lines below them."""

import re

from clinical_evals.matching.answer_systems import Vocabulary, vocabulary
from clinical_evals.matching.answer_words import remembered, word_set, words_of
from clinical_evals.ontology import CodeSystem

_HEADING_NOUNS = word_set(
    "diagnosis diagnoses diagnose diagnostics dx ddx pdx sdx dxs conditions problems comorbidity "
    "comorbidities code codes list lists issues "
    "disorders diseases illnesses history histories complications impression impressions assessment "
    "assessments answer answers output "
    "outputs response prediction predictions categories systems abnormalities concerns others "
    "miscellaneous misc pmh pmhx psh "
    "procedures labs tests medications drugs orders prescriptions decisions decision results result "
    "conclusion conclusions hpi items plan "
    "诊断 diagnose diagnosen hauptdiagnose nebendiagnosen diagnósticos diagnostico"
)
_ORGANS = word_set(
    "cardiac cardiovascular cardiology cv cvs heart vascular circulatory pulmonary respiratory pulm resp "
    "renal kidney urologic urological "
    "genitourinary gu gi gastrointestinal digestive hepatic hepatobiliary liver neuro neurologic "
    "neurological neurology nervous "
    "cns endocrine endocrinologic metabolic metabolism nutritional nutrition fen fluids electrolytes "
    "electrolyte heme hematologic hematology "
    "hematological haematological oncologic oncology onc infectious id psych psychiatric mental "
    "behavioral musculoskeletal msk "
    "ortho orthopedic rheum rheumatologic dermatologic dermatological derm skin ent ophthalmologic ob gyn "
    "obstetric reproductive "
    "immunologic immunological immune social psychosocial factors general constitutional toxicologic "
    "substance lifestyle status "
    "chemistry microbiology coagulation imaging therapeutic antibiotics analgesics"
)
_FILLERS = word_set(
    "so therefore thus "
    "a an the of and or for with this that in on at by to from as per based is are following below above "
    "here my your his her their our "
    "no number nr most least very patient patients pt record records case icd icd10 icd10cm 10 9 11 cm "
    "pcs loinc atc who s "
    "all any each every only also upon during admission admitting discharge hospital hospitalization "
    "inpatient visit encounter e g"
)
_MODIFIERS = word_set(
    "primary secondary tertiary principal main major minor final definitive definite active acute "
    "subacute chronic current past medical "
    "surgical prior previous pre existing preexisting underlying new newly other additional associated "
    "related relevant significant "
    "possible probable potential less likely suspected suspect confirmed established known working provisional "
    "preliminary differential high "
    "medium moderate low confidence certainty billing clinical present presenting predicted suggested "
    "recommended requested ordered "
    "identified key top complete comprehensive detailed full resolved ongoing stable inactive historical "
    "important contributing coexisting "
    "comorbid concurrent long term short group part system set section first second third one two three top ranked"
)
_LABEL_NOUNS = word_set(
    "name title description desc term label text display item problem condition disease disorder illness "
    "category test drug procedure"
)
# Sections that state no decisions. Strong: nothing in them is one. Weak: what has a code there is one all the same.
_STRONG = word_set(
    "evidence rationale rationales reason reasons reasoning justification justifications explanation "
    "explanations basis because comment "
    "comments note notes nb remark remarks probability likelihood treatment treatments plan plans "
    "management therapy recommendation "
    "recommendations follow followup steps step disclaimer disclaimers caveat caveats limitations "
    "references reference sources source citation "
    "considerations consideration analysis thought thoughts thinking approach methodology method "
    "pathophysiology monitoring education "
    "workup prognosis criteria ruled excluded interventions intervention instructions caution warning "
    "context interpretation support supporting "
    "supported indication indications indicators justified clue clues details documentation important "
    "score confidence priority "
    "evidenced questions question task input prompt definition"
)
_WEAK = word_set(
    "vitals vital signs sign symptom symptoms presentation manifestations onset severity labs lab "
    "laboratory laboratories imaging radiology "
    "report reports xray ray ct mri ecg ekg echo exam examination physical findings finding medications "
    "medication meds "
    "allergies allergy disposition dispo course chief complaint complaints family profile demographics "
    "information info summary overview "
    "background age sex gender race insurance language marital illness presenting service unlikely less "
    "values data risk timeline date dates "
    "status type frequency duration dose route code_system version chapter block"
)
_DENIED = word_set("supported present confirmed included met meeting diagnosed coded established listed evident")
_STOPPED = word_set(
    "hold held holding stop stopped stopping discontinue discontinued discontinuing avoid avoided withheld withhold "
    "contraindicated deferred cancelled canceled allergies allergy"
)  # of orders: what stands below is none

HEADING_WORDS = _HEADING_NOUNS | _ORGANS | _FILLERS | _MODIFIERS
"""All that a heading may consist of."""
_LABEL_WORDS = HEADING_WORDS | _LABEL_NOUNS
_LABEL_MEANING = _HEADING_NOUNS | _ORGANS | _LABEL_NOUNS | _MODIFIERS | word_set("icd icd10 icd10cm loinc atc")
_NO_CONTENT = _FILLERS | _MODIFIERS | _HEADING_NOUNS
_SECTION_WORDS = _NO_CONTENT | _LABEL_NOUNS | _STRONG | _WEAK
_DECISION_WORDS = word_set("assessment impression diagnosis diagnoses dx conditions problems")
_CODE_LABEL_WORDS = _FILLERS | _MODIFIERS | word_set("code codes diagnosis diagnoses diagnostic category specific")
_TITLE_NAMES = word_set("name title description desc term label text display diagnosis condition disease disorder")
_TITLE_LABEL_WORDS = _TITLE_NAMES | _FILLERS | _MODIFIERS | {"code"}


@remembered
def is_heading(text: str) -> bool:
    """Only words of headings ("Secondary diagnoses", "Cardiovascular"), one of them a noun that says
    what is listed."""
    words = words_of(text)
    if not 0 < len(words) <= 12:
        return False
    nouns = not _LABEL_MEANING.isdisjoint(words)
    singular = words[-1] in ("condition", "problem", "item") and not any(word in _ORGANS for word in words)
    rest = words[:-1] if singular else words
    known = _LABEL_WORDS if words[-1] in ("list", "lists") else HEADING_WORDS  # "Problem list"
    return (nouns or singular) and all(word in known or word.isdigit() for word in rest)


@remembered
def is_label(text: str) -> bool:
    """What may stand before a colon and a decision: a heading, or a field's name ("Name", "Diagnosis 1",
    "Primary")."""
    words = words_of(text)
    if not 0 < len(words) <= 8:
        return False
    return not _LABEL_MEANING.isdisjoint(words) and all(word in _LABEL_WORDS or word.isdigit() for word in words)


_GROUP_NOUNS = word_set("disease disorder illness health care status conditions infections")
_SINGLE_GROUPS = word_set(
    "infections injuries malignancies neoplasms cancers electrolytes complications fractures wounds "
    "addictions arrhythmias"
)
_ELSEWHERE = word_set(
    "treatment treatments plan management therapy recommendation recommendations recommend recommended "
    "steps interventions medications "
    "medication meds tests workup precautions instructions questions reasons"
)
_IN_BRACKETS = re.compile(r" ?\([^()]*\)")
_DISEASE = re.compile(
    r"\w*(?:itis|[ae]mia|osis|oma|pathy|tension|failure|pneumonia|plegia|rrhea|algia|cele|sepsis|diabetes"
    r"|asthma|stroke|fracture|cancer|injury|infarction|disease|syndrome|disorder|infection|deficiency|obesity"
    r"|embolism|shock|ulcer|pain|fibrillation|abuse|dependence|withdrawal|delirium|dementia|mellitus|megaly"
    r"|edema|effusion|thyroidism|lipidemia|trophy|stenosis|insufficiency|bleed|bleeding|hemorrhage|arrest"
    r"|malnutrition|dehydration|hypoxia|gout|seizures?|angina|migraine|influenza|flutter|depression|anxiety)"
)
_DISEASE_SHORT = re.compile(
    r"COPD|CHF|AKI|CKD|HTN|GERD|UTI|DVT|PE|CAD|T2DM|DM|DM2|AF|OSA|BPH|PVD|NSTEMI|STEMI|TIA|CVA|ARDS|DKA|ESRD|HLD"
)
_WORD = re.compile(r"[^\W\d_]\w*")


def is_group(text: str) -> bool:
    """Names a group rather than a decision: a heading, or several things ("Electrolyte abnormalities")."""
    words = words_of(text)
    plural = len(words) > 1 and words[-1] in word_set(
        "disorders diseases conditions problems issues abnormalities complications infections injuries symptoms"
    )
    return is_heading(text) or plural or (len(words) == 1 and words[0] in _SINGLE_GROUPS)


_LEADS_TO_EVIDENCE = {
    (word, "by") for word in ("supported", "evidenced", "indicated", "confirmed", "suggested", "shown", "demonstrated")
} | {
    ("based", "on"),
    ("because", "of"),
    ("following", "evidence"),
    ("following", "findings"),
    ("supporting", "evidence"),
}


def leads_elsewhere(text: str, system: CodeSystem) -> bool:
    """A sentence that announces another list: "The patient was given the following medications:"."""
    words = words_of(text)[-5:]
    if words[-1:] == ("because",) or words[-2:] in _LEADS_TO_EVIDENCE:
        return True
    known = vocabulary(system)
    other = (known.other | _ELSEWHERE) - known.own
    return not other.isdisjoint(words) and not any(word in _HEADING_NOUNS and word not in other for word in words)


def is_organ_group(text: str) -> bool:
    """Organs with "disease" or the like: "Infectious disease", "Cardiovascular disorder". May be a decision too."""
    words = words_of(text)
    known = _ORGANS | _FILLERS | _MODIFIERS | _HEADING_NOUNS | _GROUP_NOUNS
    return any(word in _ORGANS for word in words) and all(word in known for word in words)


def names_disease(text: str) -> bool:
    """Ends with a word that only diseases end with (-itis, -emia, failure, COPD)."""
    bare = _IN_BRACKETS.sub("", text).strip(" .,;:")
    return _is_disease(re.split(r"[ /-]", bare)[-1])


def mentions_disease(text: str) -> bool:
    """Any word of it is one that only diseases end with: "Sepsis due to E. coli"."""
    return any(map(_is_disease, _WORD.findall(text[:300])))


def _is_disease(word: str) -> bool:
    return (_DISEASE.fullmatch(word.lower()) or _DISEASE_SHORT.fullmatch(word)) is not None


def has_no_content(text: str) -> bool:
    """Only words that say nothing of their own: "Record at admission", "Final", "Primary and secondary"."""
    return all(word in _NO_CONTENT or word.isdigit() for word in words_of(text[:400]))


@remembered
def section_kind(text: str, system: CodeSystem) -> str:
    """Whether a label or heading names something other than decisions: "strong", "weak" or "" (it does not)."""
    words = words_of(text)
    if not 0 < len(words) <= 8:
        return ""
    known = vocabulary(system)
    own, other = known.own, known.other
    if known.orders and _is_taken_back(words, known):
        return "strong"
    if not own.isdisjoint(words):
        return ""
    if any(word in ("ruled", "excluded", "unlikely", "rejected", "negatives") for word in words):
        return "strong"
    if "not" in words and not _DENIED.isdisjoint(words):
        return "strong"
    if any(word in _DECISION_WORDS and word not in other for word in words):
        return ""
    if not all(word in _SECTION_WORDS or word in other or word.isdigit() for word in words):
        return ""
    if "reasons" in words and not {"admission", "hospitalization"}.isdisjoint(words):
        return ""
    if "most" in words and _STRONG.intersection(words) == {"important"}:
        return ""  # "Most important first"
    if not _STRONG.isdisjoint(words):
        return "strong"
    return "weak" if any(word in _WEAK or word in other for word in words) else ""


def _is_taken_back(words: tuple[str, ...], known: Vocabulary) -> bool:
    """Over orders that are held or stopped, or of earlier times: "Held medications", "Past surgical history"."""
    heading = all(
        word in HEADING_WORDS or word in known.own or word in known.modifiers or word in _STOPPED for word in words
    )
    history = not known.past.isdisjoint(words) and any(
        word in ("history", "psh") or word in known.own for word in words
    )
    return heading and (history or not _STOPPED.isdisjoint(words))


@remembered
def is_code_label(text: str) -> bool:
    """A label whose content is a code: "ICD-10", "ICD-10-CM code", "Code"."""
    words = words_of(text)
    named = any(word.startswith("icd") or word in ("code", "codes", "loinc", "atc") for word in words)
    return 0 < len(words) <= 6 and named and all(word.startswith("icd") or word in _CODE_LABEL_WORDS for word in words)


def is_title_label(text: str) -> bool:
    """A label whose content is the title of a code stated beside it: "Description", "Title"."""
    words = words_of(text)
    return 0 < len(words) <= 4 and words[-1] in _TITLE_NAMES and all(word in _TITLE_LABEL_WORDS for word in words)
