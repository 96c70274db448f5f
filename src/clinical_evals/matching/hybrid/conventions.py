"""What ICD-10-CM's guidelines take a text to mean that leaves something open."""

import re

_DIABETES = re.compile(r"\bdiabet(?:es(?: mellitus)?|ic)\b", re.IGNORECASE)
_IS_TYPED = re.compile(
    r"\btype\b|insipidus|gestation|pregnan|partum|drug|steroid|induced|chemical|underlying|secondary diabet"
    r"|diabet\w*(?: mellitus)?,? (?:secondary|due) to|pre-?diabet|latent|histor|screening|mody\b|monogenic|juvenile"
    r"|neonat|newborn|bronze|pancreat|insulin[- ]depend|phosphate|ketosis[- ]prone|lada\b|genetic|congenital|mother"
    r"|brittle|cystic fibrosis|cushing|malnutrition|risk|(?:non|not)[- ]?diabet",
    re.IGNORECASE,
)


def with_type_of_diabetes(text: str, system: str = "icd10cm") -> str:
    """Diabetes of no type is type 2 (Official Guidelines for Coding and Reporting, I.C.4.a.2).

    Args:
        text: with abbreviations written out.
        system: the name of the code system; only ICD-10-CM has the convention.

    >>> with_type_of_diabetes("diabetes mellitus with retinopathy")
    'type 2 diabetes mellitus with retinopathy'
    >>> with_type_of_diabetes("gestational diabetes")
    'gestational diabetes'
    """
    if system != "icd10cm" or _IS_TYPED.search(text):
        return text
    return _DIABETES.sub(lambda found: f"type 2 {found[0]}", text, count=1)
