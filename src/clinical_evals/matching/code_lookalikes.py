"""Tokens that have the shape of a code and are plainly something else: HLA-B27, parvovirus B19, fever (T38.5)."""

import re

from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_words import word_set
from clinical_evals.ontology import CodeSystem

NAME_BEFORE = word_set(
    "vitamin vit coenzyme co enzyme ubiquinone hla parvovirus parvo enterovirus ev coxsackievirus coxsackie "
    "echovirus rhinovirus adenovirus serotype serogroup genotype coli stec ehec room bed ward protein gene "
    "isotope iodine fluorine yttrium carbon nitrogen oxygen strain clone cytokeratin ck cd amp ampule ampoule "
    "anti antigen factor complement exon codon mutant temp temperature tmax vertebra vertebrae vertebral "
    "ubiquinol"
)
_NAME_AFTER = word_set(
    "mask masks respirator respirators mutation mutations mutant mutated gene protein antigen antibody "
    "antibodies fdg pet sirt microspheres radioembolization vertebra vertebrae vertebral virus serotype strain "
    "supplement supplements supplementation titer titers staining immunostain immunostaining allele haplotype "
    "positive positivity negative expression overexpression dextrose bolus push drip infusion breath urea "
    "ammonia receptor"
)
_FEVER = re.compile(
    r"\b(?:t|tmax|temp\w*|fever\w*|febrile|hyper-?thermi\w*|hypo-?thermi\w*|pyrexia|sepsis|sirs|chills)\b",
    re.IGNORECASE,
)
_SPINE = re.compile(
    r"\b(?:vertebra\w*|spin\w+|compression|fracture|thoracic|metasta\w+|cord|level|disc|disk|burst)\b", re.IGNORECASE
)
_VITAMIN = re.compile(r"\b(?:vit\w*|cobalamin|cyanocobalamin|deficien\w+|an(?:a)?emia)\b", re.IGNORECASE)


def is_a_name(text: str, start: int, end: int) -> bool:
    """A valid code that stands in prose as part of a name or as a measurement."""
    written = text[start:end]
    if re.fullmatch(r"[Tt] ?(?:3[4-9]|4[0-2])\.\d", written):
        around = text[max(0, start - 200) : start] + " " + text[end : end + 200]
        return _FEVER.search(around) is not None or re.match(r" ?°?[CF]\b", text[end : end + 4]) is not None
    if "." in written or len(written) > 4:
        return False
    before = re.search(r"([A-Za-z0-9]+)[^\w,;:]*\Z", text[max(0, start - 24) : start])
    after = re.match(r"[ -]([A-Za-z]+)", text[end : end + 24])
    if (before and before[1].lower() in NAME_BEFORE) or (after and after[1].lower() in _NAME_AFTER):
        return True
    return re.fullmatch(r"p\d\d", written) is not None


def is_vertebra_or_vitamin(text: str, start: int, end: int) -> bool:
    """What an invalid token in brackets may name: (T12), (B12)."""
    around = text[max(0, start - 200) : end + 200]
    if text[start:end].upper() in ("T10", "T11", "T12"):
        return _SPINE.search(around) is not None
    return text[start:end].upper() == "B12" and _VITAMIN.search(around) is not None


def is_range(written: str) -> bool:
    """What beside a name is most likely a range of small numbers, though LOINC has such codes: 4-6 hours."""
    return re.fullmatch(r"\d{1,2}-\d", written) is not None


def is_fluid_or_vitamin(written: str, system: CodeSystem) -> bool:
    """Names of drugs that have the shape of a drug's code: D5W, D50, B12. D10 alone is the code of a group."""
    names = vocabulary(system).code_like_names
    return names is not None and names.fullmatch(written) is not None
