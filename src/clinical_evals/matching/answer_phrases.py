"""What a piece of an answer says: a heading, a remark, evidence, a statement that there is nothing, or a decision.

Word lists and small predicates over one line of plain text. None of them looks at layout: `answer_lines` does.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from clinical_evals.ontology import CodeSystem

_P = ParamSpec("_P")
_R = TypeVar("_R")


def remembered(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Keep the results for short texts: the lines of answers repeat, and each is looked at from several sides."""
    cached = lru_cache(maxsize=8192)(function)

    @wraps(function)
    def look_up(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return cached(*args, **kwargs) if len(str(args[0])) <= 300 else function(*args, **kwargs)

    return look_up


_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@remembered
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, a possessive 's removed."""
    return tuple(word.removesuffix("'s") for word in _WORDS.findall(text.lower()))


# Headings and labels

_HEADING_NOUNS = _set(
    "diagnosis diagnoses diagnose diagnostics dx ddx pdx sdx dxs conditions problems comorbidity comorbidities code codes list lists issues "
    "disorders diseases illnesses history histories complications impression impressions assessment assessments answer answers output "
    "outputs response prediction predictions categories systems abnormalities concerns others miscellaneous misc pmh pmhx psh "
    "procedures labs tests medications drugs orders prescriptions decisions decision results result conclusion hpi items plan "
    "诊断 diagnose diagnosen hauptdiagnose nebendiagnosen diagnósticos diagnostico"
)
_ORGANS = _set(
    "cardiac cardiovascular cardiology cv cvs heart vascular circulatory pulmonary respiratory pulm resp renal kidney urologic urological "
    "genitourinary gu gi gastrointestinal digestive hepatic hepatobiliary liver neuro neurologic neurological neurology nervous "
    "cns endocrine endocrinologic metabolic metabolism nutritional nutrition fen fluids electrolytes electrolyte heme hematologic hematology "
    "hematological haematological oncologic oncology onc infectious id psych psychiatric mental behavioral musculoskeletal msk "
    "ortho orthopedic rheum rheumatologic dermatologic dermatological derm skin ent ophthalmologic ob gyn obstetric reproductive "
    "immunologic immunological immune social psychosocial factors general constitutional toxicologic substance lifestyle status "
    "chemistry microbiology coagulation imaging therapeutic antibiotics analgesics"
)
_FILLERS = _set(
    "a an the of and or for with this that in on at by to from as per based is are following below above here my your his her their our "
    "no number nr most least very patient patients pt record records case icd icd10 icd10cm 10 9 11 cm pcs loinc atc who s "
    "all any each every only also upon during admission admitting discharge hospital hospitalization inpatient visit encounter e g"
)
_MODIFIERS = _set(
    "primary secondary tertiary principal main major minor final definitive definite active acute subacute chronic current past medical "
    "surgical prior previous pre existing preexisting underlying new newly other additional associated related relevant significant "
    "possible probable potential likely suspected suspect confirmed established known working provisional preliminary differential high "
    "medium moderate low confidence certainty billing clinical present presenting predicted suggested recommended requested ordered "
    "identified key top complete comprehensive detailed full resolved ongoing stable inactive historical important contributing coexisting "
    "comorbid concurrent long term short group part system set section first second third one two three top ranked"
)
_LABEL_NOUNS = _set("name title description desc term label text display item problem condition disease disorder illness category test drug procedure")
# Sections that state no decisions. Strong: whatever stands there is not one. Weak: what has a code there is one all the same.
_STRONG = _set(
    "evidence rationale rationales reason reasons reasoning justification justifications explanation explanations basis because comment "
    "comments note notes nb remark remarks probability likelihood treatment treatments plan plans management therapy recommendation "
    "recommendations follow followup steps step disclaimer disclaimers caveat caveats limitations references reference sources source citation "
    "considerations consideration analysis thought thoughts thinking approach methodology method pathophysiology monitoring education "
    "workup prognosis criteria ruled excluded interventions intervention instructions caution warning context interpretation support supporting "
    "supported indication indications indicators justified clue clues details documentation important score confidence priority "
    "evidenced questions question task input prompt definition"
)
_WEAK = _set(
    "vitals vital signs sign symptom symptoms presentation manifestations onset severity labs lab laboratory laboratories imaging radiology "
    "report reports xray ray ct mri ecg ekg echo exam examination physical findings finding medications medication meds "
    "allergies allergy disposition course chief complaint complaints family profile demographics information info summary overview "
    "background age sex gender race insurance language marital illness presenting service unlikely less values data risk timeline date dates "
    "status type frequency duration dose route code_system version chapter block"
)
_TOPIC_WORDS = {  # what is a decision's own name in one system is another system's evidence
    "icd10cm": _set("labs tests medications drugs orders prescriptions procedures procedure test drug"),
    "icd10pcs": _set("labs tests medications drugs prescriptions"),
    "loinc": _set("medications drugs prescriptions procedures diagnosis diagnoses procedure drug"),
    "atc": _set("labs tests procedures diagnosis diagnoses procedure test imaging lab laboratory"),
}
_OWN_WORDS = {
    "icd10pcs": _set("procedures procedure interventions intervention operations surgeries imaging"),
    "loinc": _set("labs lab laboratory tests test orders panels chemistry vitals"),
    "atc": _set("medications medication meds drugs drug prescriptions treatment treatments therapy"),
}


_HEADING_WORDS = _HEADING_NOUNS | _ORGANS | _FILLERS | _MODIFIERS
_LABEL_WORDS = _HEADING_WORDS | _LABEL_NOUNS
_LABEL_MEANING = _HEADING_NOUNS | _ORGANS | _LABEL_NOUNS | _MODIFIERS | _set("icd icd10 icd10cm loinc atc")
_NO_CONTENT = _FILLERS | _MODIFIERS | _HEADING_NOUNS
_SECTION_WORDS = _NO_CONTENT | _LABEL_NOUNS | _STRONG | _WEAK
_DECISION_WORDS = _set("assessment impression diagnosis diagnoses dx conditions problems")
_CODE_LABEL_WORDS = _FILLERS | _MODIFIERS | _set("code codes diagnosis diagnoses diagnostic category specific")
_TITLE_NAMES = _set("name title description desc term label text display diagnosis condition disease disorder")
_TITLE_LABEL_WORDS = _TITLE_NAMES | _FILLERS | _MODIFIERS | {"code"}


@remembered
def is_heading(text: str) -> bool:
    """Only words of headings ("Secondary diagnoses", "Cardiovascular"), one of them a noun that says what is listed."""
    words = words_of(text)
    if not 0 < len(words) <= 12:
        return False
    nouns = not _LABEL_MEANING.isdisjoint(words)
    singular = words[-1] in ("condition", "problem", "item") and not any(word in _ORGANS for word in words)
    rest = words[:-1] if singular else words
    return (nouns or singular) and all(word in _HEADING_WORDS or word.isdigit() for word in rest)


@remembered
def is_label(text: str) -> bool:
    """What may stand before a colon and a decision: a heading, or a field's name ("Name", "Diagnosis 1", "Primary")."""
    words = words_of(text)
    if not 0 < len(words) <= 8:
        return False
    return not _LABEL_MEANING.isdisjoint(words) and all(word in _LABEL_WORDS or word.isdigit() for word in words)


_GROUP_NOUNS = _set("disease disorder illness health care status conditions infections")
_DISEASE = re.compile(
    r"\w+(?:itis|[ae]mia|osis|oma|pathy|tension|failure|pneumonia|plegia|rrhea|algia|cele|sepsis|diabetes|asthma|stroke|fracture|cancer|injury|infarction|disease"
    r"|syndrome|disorder|infection|deficiency|obesity|embolism|shock|ulcer|pain|fibrillation|abuse|dependence|withdrawal|delirium|dementia|mellitus|megaly|edema|effusion"
    r"|thyroidism|lipidemia|trophy|stenosis|insufficiency|bleeding|hemorrhage|arrest|encephalopathy|malnutrition|dehydration|hypoxia|COPD|CHF|AKI|CKD|HTN|GERD|UTI|DVT|PE|CAD|T2DM)\Z"
    r"|(?:COPD|CHF|AKI|CKD|HTN|GERD|UTI|DVT|PE|CAD|T2DM|DM|DM2|AF|OSA|BPH|PVD|NSTEMI|STEMI|TIA|CVA|ARDS|DKA|ESRD|HLD|sepsis|asthma|stroke|pain|obesity|cancer|shock)\Z"
)


def is_group(text: str) -> bool:
    """Names a group rather than a decision: a heading, or several things ("Electrolyte abnormalities")."""
    words = words_of(text)
    plural = len(words) > 1 and words[-1] in _set("disorders diseases conditions problems issues abnormalities complications infections injuries symptoms")
    return is_heading(text) or plural


def is_organ_group(text: str) -> bool:
    """Organs with "disease" or the like: "Infectious disease", "Cardiovascular disorder". May be a decision too."""
    words = words_of(text)
    known = _ORGANS | _FILLERS | _MODIFIERS | _HEADING_NOUNS | _GROUP_NOUNS
    return any(word in _ORGANS for word in words) and all(word in known for word in words)


def names_disease(text: str) -> bool:
    """Ends with a word that only diseases end with (-itis, -emia, failure, COPD)."""
    bare = _ASIDE.sub("", text).strip(" .,;:")
    return _DISEASE.search(bare.rsplit(" ", 1)[-1]) is not None


def has_no_content(text: str) -> bool:
    """Only words that say nothing of their own: "Record at admission", "Final", "Primary and secondary"."""
    return all(word in _NO_CONTENT or word.isdigit() for word in words_of(text[:400]))


@remembered
def section_kind(text: str, system: CodeSystem) -> str:
    """Whether a label or heading names something other than decisions: "strong", "weak" or "" (it does not)."""
    words = words_of(text)
    if not 0 < len(words) <= 8:
        return ""
    own = _OWN_WORDS.get(system.name, frozenset())
    other = _TOPIC_WORDS.get(system.name, frozenset())
    if not own.isdisjoint(words):
        return ""
    if any(word in ("ruled", "excluded", "unlikely", "rejected", "negatives") for word in words):
        return "strong"
    if any(word in _DECISION_WORDS and word not in other for word in words):
        return ""
    if not all(word in _SECTION_WORDS or word in other or word.isdigit() for word in words):
        return ""
    if not _STRONG.isdisjoint(words):
        return "strong"
    return "weak" if any(word in _WEAK or word in other for word in words) else ""


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


# Statements

_NOTHING = re.compile(
    r"(?:none|n\.?\s?/?\s?a\.?|nil|null|nothing|unspecified|unknown|tbd|no|empty|undefined|keine|无)"
    r"(?: (?:identified|known|noted|reported|applicable|found|documented|specified|available|listed|other|apply|at this time|yet|stated))*"
    r"|no (?:(?:additional|other|further|new|specific|active|acute|clear|known|definitive|definite|significant|valid|relevant|known|icd|code"
    r"|secondary|primary|discharge|medical|confirmed|formal|more|applicable|diagnostic)[\s-]?(?:10|10-cm)?\s?){0,4}"
    r"(?:diagnos[ei]s|codes?|conditions?|problems?|information|data|answers?|comorbidities|findings|items?|decisions?|procedures?"
    r"|labs?|medications?|orders?|evidence|abnormalities|complaints)\b.*"
    r"|(?:not (?:applicable|available|specified|known|enough|provided|determined|documented|listed|stated|sure|given|possible)"
    r"|insufficient (?:information|data|evidence|detail|record|context)|unable to|cannot|can't|could not|undetermined|unclear)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED = re.compile(
    r"(?:no|denie[sd]|negative for|ruled out|no evidence of|without evidence of|does not have|not consistent with)\b"
    r"|.*\b(?:ruled out|was excluded|is excluded|unlikely|not present|less likely|not supported)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_REMARK = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|great|hello|hi|hey|alright|thanks?|thank you|understood|got it|yes)\b(?:[,.!:]|\Z| here| i\b)"
    r"|(?:here(?:'s| is| are| you)|below (?:is|are|you)|following (?:is|are)|the (?:following|above|below)\b|let me|let's|let us|please|feel free"
    r"|note(?: that|:| -)|please note|n\.?b\.?:|disclaimer|remember|keep in mind|bear in mind|caution:|warning:|important:|it is important|it's important"
    r"|however|in summary|in conclusion|to summarize|overall,|in addition,|additionally,|furthermore|moreover|for (?:more|further|additional) "
    r"|if (?:you|there|any|further|needed|more|it|this|these|the)\b|always consult|consult (?:a|your|with)|your\b|you\b|we\b|my\b|i\b|i'|as an? "
    r"(?:ai|large|language|expert|clinician|clinical|medical|artificial|assistant)|i am|sorry|unfortunately|apologies|hope|looking forward|would you"
    r"|do you|does this|is there|are there|end of |that's (?:all|it)|based on (?:the|your|this|these|my|her|his|all|an?|available|provided|review)\b"
    r"|given (?:the|this|that|her|his|these|all)\b|according to|after (?:reviewing|careful|review|analy|considering|evaluating)|upon (?:review|analy|admission)"
    r"|to (?:determine|provide|answer|identify|summarize|arrive|find|help|ensure|generate|solve)\b|since\b|because\b|while\b|although\b|therefore\b"
    r"|thus\b|so,|hence\b|as (?:per|such|requested|mentioned|noted|always|the)\b|from the (?:record|provided|information|patient|above)"
    r"|first,|firstly|second,|secondly|next,|finally,|lastly|then,|now,|wait\b|hmm|also,|step \d|this (?:list|information|response|answer|is|are|was|may|should|"
    r"analysis|assessment|patient|case|output)\b|these (?:diagnoses|codes|conditions|are|were|may|should|findings|items|include|represent)\b"
    r"|those\b|it (?:is|was|should|may|appears|seems)\b|they\b|there (?:is|are|was|were)\b|the (?:list|diagnoses|codes|diagnosis|final|most|primary"
    r"|answer|icd|conditions) .*\b(?:is|are|was|were|include|includes|above|below)\b|all (?:diagnoses|codes|conditions|of the)\b|(?:each|every|some|any) of\b"
    r"|any (?:other|further|questions)|consider(?:ing)? (?:the|all)|\(?continued|(?:one|each) (?:decision|diagnosis|code) (?:a|per)\b"
    r"|additional (?:notes?|information|comments)|looking at|reviewing|in this case|in terms of|when\b|what\b|how\b|why\b)",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"(?:supported by|(?:as )?evidenced? (?:by|of|for|:)|evidence\b|based (?:up)?on\b|(?:as )?(?:confirmed|indicated|demonstrated|suggested|shown|seen"
    r"|noted|documented|reported|found|described|revealed|diagnosed|manifested|reflected|mentioned) (?:by|on|in|from|at|with|during|per)\b|per\b|as per\b"
    r"|given\b|treated with|managed with|on treatment|currently (?:on|taking)|documentation|patient (?:is|was|has|had|reports|reported|presents|presented"
    r"|denies|takes|received|underwent|with)|(?:the|this) (?:patient|pt)\b|pt\b|he\b|she\b|reports\b|presents\b|presented\b|requiring\b|likely due to\b"
    r"|elevated .*\d|low .*\d|decreased .*\d|increased .*\d|secondary to\b|started on|continued? (?:on|home|with)\b|monitor\b|recommend|status:|labs?:|vitals?:"
    r"|(?:[\w-]+ ){0,3}(?:x-?rays?|ct|mri|cxr|ecg|ekg|echo\w*|imaging|labs?|laboratory|scan|ultrasound|exam\w*|cultures?|urinalysis|radiographs?|studies|tests?|results?"
    r"|biopsy|findings|vitals|signs|levels?|pressure|temperature) (?:\w+ ){0,2}(?:shows?|showed|reveals?|revealed|demonstrates?|demonstrated|indicates?|suggests?|is|are|was|were"
    r"|confirms?|confirmed)\b)",
    re.IGNORECASE,
)
_VERBS = _set(
    "is are was were has have had having shows show showed suggests suggest suggested indicates indicate indicated presents presented "
    "reports reported includes include requires required should will would can could may might must does do did been being appears seems "
    "remains reveals revealed demonstrates demonstrated received underwent noted developed admitted started treated denies denied "
    "needs provides confirms confirmed supports takes explain explains warrants represent represents reflects went gave found I'm am"
)


def says_nothing(text: str) -> bool:
    """"None", "N/A", "No diagnoses.", dots: the statement that there is no decision, or no statement at all."""
    bare = text.strip(" \t.,;:!?()[]{}<>*_-–—\"'`/\\|#=~")
    return not any(map(str.isalnum, bare)) or _NOTHING.fullmatch(bare) is not None


def is_negated(text: str) -> bool:
    """A condition that the answer denies."""
    return _NEGATED.match(text[:400]) is not None


@remembered
def is_remark(text: str) -> bool:
    """Preambles, closing remarks, refusals, and whatever else speaks to the reader."""
    return _REMARK.match(text.lstrip(" ([*\"'")[:400]) is not None


@remembered
def is_evidence(text: str) -> bool:
    """Starts like support for a decision, or is only a measurement or a date."""
    return _EVIDENCE.match(text[:400]) is not None or is_measurement(text)


@remembered
def is_sentence(text: str) -> bool:
    """Four words or more, one of them a finite verb; or far too long for a title, or for a list of titles."""
    words = words_of(text[:2000])
    if len(words) > 60 and len(words) > 12 * (1 + text[:2000].count(",") + text[:2000].count(";")):
        return True
    return len(words) >= 4 and any(word in _VERBS for word in words)


# Measurements and dates

_MEASURED = _set(
    "bp hr rr spo2 sao2 o2 sat sats saturation temp temperature tmax t p r pulse heart rate respiratory blood pressure systolic diastolic ra room air "
    "weight wt height ht bmi gcs map na k cl co2 hco3 bicarb bicarbonate bun cr creat creatinine glucose glu fsbg fs ca mg phos phosphate "
    "wbc rbc hgb hb h hct plt plts platelet platelets inr pt ptt aptt ast alt alp alkp bili tbili bilirubin total albumin alb lactate "
    "lac troponin trop tnt bnp nt probnp ck ckmb mb a1c hba1c tsh ft4 ph pco2 po2 paco2 pao2 ef lvef esr crp lipase amylase ldl hdl "
    "ferritin iron egfr gfr urine output anion gap sodium potassium chloride calcium magnesium hemoglobin haemoglobin hematocrit vitals vs "
    "labs lab white count cell cells neutrophils uop i o fio2 peep pain score level serum random fasting cholesterol triglycerides "
    "procalcitonin d dimer ldh uric acid ammonia phosphorus mcv"
)
_UNITS = _set(
    "mg dl mmol l meq g kg mmhg bpm min c f ul u ml ng pg cm mm k iu hr hpf sec s mcg umol micromol fl nl on of at and with to was is "
    "x from day days ref range normal high low lpm nc n a m w in by units h pm am"
)
_NUMBERS = re.compile(r"\d[\d.,/:%-]*|[A-Za-z][A-Za-z0-9]*")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"(?:date|on|admitted|admission|discharged?|dated?)?(?: date)?:? ?(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{2,4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?:,? \d{{2,4}})?|\d{{4}}年\d{{1,2}}月\d{{1,2}}日)"
    r"(?:[ T,]{1,2}\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?)?[.,;]?|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_CLASSIC_ICD9 = re.compile(r"\d{3}\.\d{1,2}")


def is_measurement(text: str) -> bool:
    """Vital signs, laboratory values, dates and numbers with nothing else: "BP 168/95", "Na 128, K 3.1", "2026-01-12"."""
    if len(text) > 400 or not any(map(str.isdigit, text)):
        return False
    if _DATE.fullmatch(text.strip()):
        return True
    if _CLASSIC_ICD9.fullmatch(text.strip()):
        return False  # a code of the wrong system is a decision all the same
    tokens = _NUMBERS.findall(text.lower())
    names = [token for token in tokens if token[0].isalpha()]
    if not all(name in _MEASURED or name in _UNITS for name in names) or text.isalnum():
        return not names
    plain = re.sub(r"[\s\d.,;:/%()<>=+*~°µ↑↓-]|[A-Za-z]+", "", text)
    return not plain and (not names or re.search(r"(?<![A-Za-z])\d", text) is not None)


# Official titles

_TITLES: "WeakKeyDictionary[CodeSystem, frozenset[str]]" = WeakKeyDictionary()
_QUALIFIED = re.compile(r", unspecified(?: [\w ]*)?\Z|, not elsewhere classified\Z| NOS\Z", re.IGNORECASE)
_ASIDE = re.compile(r" ?(?:\([^()]*\)|\[[^\[\]]*\])")


def fold(text: str) -> str:
    """The form in which titles are compared: lower case, single spaces, no punctuation at the ends."""
    return " ".join(text.lower().split()).strip(" .,;:")


@remembered
def is_title(text: str, system: CodeSystem) -> bool:
    """Whether a text is a title or synonym of the release, also without its "unspecified" or its bracketed words."""
    if len(text) > 400:
        return False
    titles = _TITLES.get(system)
    if titles is None:
        titles = _TITLES[system] = frozenset(_title_forms(system))
    return fold(text) in titles


def _title_forms(system: CodeSystem) -> set[str]:
    forms: set[str] = set()
    for code in system.codes():
        for title in (system.title(code), *system.synonyms(code)):
            whole = fold(title)
            forms.add(whole)
            if "unspecified" in whole or "classified" in whole or whole.endswith(" nos"):
                forms.add(_QUALIFIED.sub("", whole))
            if "(" in whole or "[" in whole:
                forms.add(fold(_ASIDE.sub("", whole)))
    return forms
