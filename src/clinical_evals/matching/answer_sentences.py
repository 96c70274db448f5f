"""What a sentence names: "The patient was diagnosed with pneumonia and AKI." gives pneumonia and AKI."""

import re

from clinical_evals.matching.answer_explanations import states_nothing, trim, without_explanation
from clinical_evals.matching.answer_order_holds import is_withheld
from clinical_evals.matching.answer_orders import order_name, ordered_in_sentence
from clinical_evals.matching.answer_split import split_pair
from clinical_evals.matching.answer_statements import PLACE, stated
from clinical_evals.matching.answer_words import words_of
from clinical_evals.matching.codes_in_text import find_codes
from clinical_evals.ontology import CodeSystem

SENTENCE_END = re.compile(r"(?<=[a-z)\]\d][.!?]) +(?=[A-Z\"'(])|\n+|。")
"""Where running text is cut into sentences."""
_NAMES = re.compile(
    r"\b(?:diagnos[ie]s|conditions?|problems?|impressions?|codes?|comorbidities)\b[^.:]{0,80}?\b(?:is|are"
    rf"|was|were|would be|includes?|included|including|as follows|(?!{PLACE}\b)of|may be|could be)[: ]{{1,2}}(?P<a>.+)"
    r"|^(?P<c>[^.:;]{3,160}?) (?:is|are|would be|appears? to be|seems to be|remains) (?:(?:the|a|an|her"
    r"|his|my|their|most|likely|more|primary|main|final|probable|principal|correct|best|leading"
    r"|working|current|patient's|overall|single|underlying|admission|discharge) ){0,4}diagnos[ie]s\b"
    r"|\b(?:diagnosed (?:with|as)|suffer(?:s|ing)? from|consistent with|indicative of|suggest(?:s"
    r"|ive)?(?: of)?|compatible with|found to have|most likely has|points? to(?:wards?)?|indicates?) (?P<b>.+)",
    re.IGNORECASE,
)
_WEAK_NAMES = re.compile(
    r"\b(?:history|course|presentation|record|exam\w*|patient)\b[^.]{0,40}? (?:significant|notable"
    r"|remarkable|positive) for (?P<h>.+)"
    r"|\b(?:patient|pt|he|she|man|woman|male|female|they|individual)\b[^.]{0,40}?\b(?:has|had|have|with"
    r"|having|(?:admitted|treated"
    r"|managed|hospitali[sz]ed) (?:with|for)):?"
    r"(?: (?:been|a|an|the|also|both|known|likely|multiple|several))* (?P<a>.+)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r",? (?:as evidenced|as indicated|as shown|evidenced by|supported by|based on|given|because|which|that"
    r"|who|since|while|where|and (?:is|was|has|had|are|were|will|should|needs|requires|presents|presented"
    r"|reports|the patient|she|he)\b|but|although|requiring|presenting|manifest|confirmed by|suggested by"
    r"|indicated by|for which|in the setting of|after|before|when)\b.*|\.(?: |\Z).*|[?!]\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE = re.compile(
    r"(?:a|an|the|likely|also|probable|both|possible diagnosis of|diagnosis of|diagnoses of|having|has"
    r"|been|be|that|to be) ",
    re.IGNORECASE,
)


def named_in_sentence(text: str, system: CodeSystem, *, weak: bool = True) -> list[str]:
    """The conditions that a sentence says are the diagnosis, or (weak) that the patient has."""
    named = stated(text[:2000]) or ordered_in_sentence(text, system)
    if not named:
        match = _NAMES.search(text[:2000]) or (_WEAK_NAMES.search(text[:2000]) if weak else None)
        if not match:
            return []
        named = next(group for group in match.groups() if group is not None)
    named = _CLAUSE_END.sub("", named, count=1).strip(" .,;:")
    names = []
    for part in split_pair(named, system):
        part = (
            _ARTICLE.sub(
                "",
                _ARTICLE.sub("", part.strip(" .,;:"), count=1) if _ARTICLE.match(part) else part.strip(" .,;:"),
                count=1,
            )
            if _ARTICLE.match(part)
            else part.strip(" .,;:")
        )
        part = trim(part) if find_codes(part, system).codes else without_explanation(trim(part), system)
        if is_withheld(part, system):
            continue
        if part and re.search(r"[^\W\d_]{2}", part) and len(words_of(part)) <= 14 and not states_nothing(part, system):
            names.append(order_name(part, system))
    return names
