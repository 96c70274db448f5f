"""Vital signs, laboratory values and dates: lines that are evidence, whatever stands around them."""

import re

from clinical_evals.matching.answer_words import word_set

_MEASURED = word_set(
    "bp hr rr spo2 sao2 o2 sat sats saturation temp temperature tmax t p r pulse heart rate respiratory "
    "blood pressure systolic diastolic ra room air "
    "weight wt height ht bmi gcs map na k cl co2 hco3 bicarb bicarbonate bun cr creat creatinine glucose "
    "glu fsbg fs ca mg phos phosphate "
    "wbc rbc hgb hb h hct plt plts platelet platelets inr pt ptt aptt ast alt alp alkp bili tbili "
    "bilirubin total albumin alb lactate "
    "lac troponin trop tnt bnp nt probnp ck ckmb mb a1c hba1c tsh ft4 ph pco2 po2 paco2 pao2 ef lvef esr "
    "crp lipase amylase ldl hdl "
    "ferritin iron egfr gfr urine output anion gap sodium potassium chloride calcium magnesium hemoglobin "
    "haemoglobin hematocrit vitals vs "
    "labs lab white count cell cells neutrophils uop i o fio2 peep pain score level serum random fasting "
    "cholesterol triglycerides "
    "procalcitonin d dimer ldh uric acid ammonia phosphorus mcv"
)
_UNITS = word_set(
    "mg dl mmol l meq g kg mmhg bpm min c f ul u ml ng pg cm mm k iu hr hpf sec s mcg umol micromol fl nl "
    "abnormal critical on of at and with to was is "
    "x from day days ref range normal high low lpm nc n a m w in by units h pm am"
)
_NUMBERS = re.compile(r"\d[\d.,/:%-]*|[A-Za-z][A-Za-z0-9]*")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"(?:date|on|admitted|admission|discharged?"
    rf"|dated?)?(?: date)?:? ?(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd"
    rf"|th)?(?:,? \d{{2,4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?:,? \d{{2,4}})?|\d{{4}}年\d{{1,2}}月\d{{1,2}}日)"
    r"(?:[ T,]{1,2}\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?)?[.,;]?|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_CLASSIC_ICD9 = re.compile(r"\d{3}\.\d{1,2}")


def is_measurement(text: str) -> bool:
    """Vital signs, laboratory values, dates and numbers with nothing else: "BP 168/95", "Na 128, K 3.1",
    "2026-01-12"."""
    if len(text) > 400 or not any(map(str.isdigit, text)):
        return False
    if _DATE.fullmatch(text.strip()):
        return True
    if _CLASSIC_ICD9.fullmatch(text.strip()):
        return False  # a code of the wrong system is a decision all the same
    tokens = _NUMBERS.findall(text.lower())
    names = [token for token in tokens if token[0].isalpha()]
    if text.isalnum() or not all(name in _MEASURED or name in _UNITS for name in names):
        return text.isdecimal()
    plain = re.sub(r"[\s\d.,;:/%()<>=+*~°µ↑↓-]|[A-Za-z]+", "", text)
    return not plain and (not names or re.search(r"(?<![A-Za-z])\d", text) is not None)
