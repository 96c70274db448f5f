"""Wording that states a diagnosis before naming it ("The final diagnoses of this admission are …"), and letter forms.

A statement is a sentence, yet what follows its verb is a decision, or a line of several.
"""

import re

from clinical_evals.matching.answer_phrases import is_evidence, is_negated, is_remark, is_sentence, says_nothing
from clinical_evals.matching.answer_words import remembered

_STAY = r"(?:admission|hospitali[sz]ation|hospital stay|stay|encounter|visit|episode|discharge|patient|case|record)"
PLACE = (
    r"(?:of|for|at|on|during|upon|from|in) (?:(?:this|the|that|these|his|her|their|our|a) )?"
    rf"(?:(?:current|present|hospital|inpatient|given) )?(?:patient's )?{_STAY}"
)
"""Regular expression: "of this admission", "for the patient", "at discharge"."""
_VERB = r"(?:(?:is|are|was|were|would be|may be|could be|includes?|included)(?: as follows)?) ?:? ?"
_STATEMENT = re.compile(
    r"(?:(?:the|this|that|his|her|their|my|patient's) )*"
    r"(?:(?:primary|secondary|tertiary|final|principal|main|most likely|likely|other|additional|admission|admitting"
    r"|discharge|active|chronic|acute|definitive|working|underlying|comorbid|associated|leading|key|overall"
    r"|and|or|patient's|clinical|medical) ){0,4}"
    rf"(?:diagnos[ei]s|comorbidities|conditions?|problems?|impressions?)(?: {PLACE}){{0,2}} {_VERB}(?=\S)"
    rf"|(?:(?:of|for|at|during) )?(?:this|the|his|her) (?:current |present |hospital )?"
    r"(?:admission|hospitali[sz]ation|stay|encounter|visit|episode) (?:is|are|was|were) (?:for )?"
    r"(?!\w+(?:ed|ing)\b)(?=\S)",
    re.IGNORECASE,
)
_NAMED_PLACE = re.compile(
    rf"(?:the )?(?:(?:primary|secondary|final|main|principal|active) )?diagnos[ei]s {PLACE} ?: ?(?=\S)", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?:likely |probably |most likely |an? |the )+(?=\S)", re.IGNORECASE)


@remembered
def stated(text: str) -> str:
    """What a statement names: "pneumonia" from "The diagnosis of this admission is pneumonia"; "" for other texts.

    What follows the verb must read as names of conditions: "The diagnosis is based on …" and "… is unclear" name none.
    """
    match = _STATEMENT.match(text[:300]) or _NAMED_PLACE.match(text[:300])
    if not match:
        return ""
    named = text[match.end() :].strip()
    named = _ARTICLE.sub("", named, count=1) if _ARTICLE.match(named) else named
    bare = named.rstrip(" .:")
    if says_nothing(bare) or any(judge(bare) for judge in (is_sentence, is_remark, is_evidence, is_negated)):
        return ""
    if _NOT_NAMED.match(bare) or _STATEMENT.search(bare) or not re.search(r"[^\W\d_]{2}", bare):
        return ""
    return named


_NOT_NAMED = re.compile(
    r"(?:listed|as follows|below|above|not|uncertain|unclear|made|established|still|also|in|on|to|by|from|that"
    r"|therefore|correct|complex|important|consistent|supported|confirmed|related|due|ranked|sorted|ordered|given|provided"
    r"|shown|stated|complicated|considered|determined|known)\b",
    re.IGNORECASE,
)

_CUT_OFF = re.compile(
    r"(?:the )?(?:(?:primary|secondary|final|main|principal|most likely) )?diagnos[ei]s"
    r"(?: (?:of|for|at|during|upon|from|in)(?: (?:this|the|his|her|their)(?: \w+)?)?)?(?: (?:is|are|was|were))?",
    re.IGNORECASE,
)


def is_cut_off(text: str) -> bool:
    """A statement that breaks off before it names anything: "The diagnosis of this ad"."""
    return _CUT_OFF.fullmatch(text.rstrip(" .")) is not None


# Letters

_SIGN_OFF = re.compile(
    r"(?:(?:with )?(?:my |our )?(?:(?:very|best|kind(?:est)?|warm(?:est)?) )*(?:regards|wishes)(?: and .{0,40})?"
    r"|(?:yours |very )?(?:sincerely|truly|faithfully|respectfully)(?: yours| submitted)?|yours|cheers|cordially"
    r"|respectfully(?: submitted| yours)?|signed(?: by)?|thank(?:s| you)(?: again)?(?: and .{0,40})?|all the best"
    r"|(?:electronically )?signed\b.{0,80}|take care)[,.!:]*",
    re.IGNORECASE,
)


def is_sign_off(text: str) -> bool:
    """The end of a letter ("Best regards,"): what follows without a marker is a signature."""
    return len(text) <= 100 and _SIGN_OFF.fullmatch(text.strip()) is not None
