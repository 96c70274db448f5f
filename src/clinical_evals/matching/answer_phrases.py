"""What a line of an answer says besides a decision: nothing, a denial, a remark, evidence, a sentence."""

import re

from clinical_evals.matching.answer_measurements import is_measurement
from clinical_evals.matching.answer_words import remembered, word_set, words_of

_NOTHING = re.compile(
    r"(?:none|n\.?\s?/?\s?a\.?|nil|null|nothing|unspecified|unknown|tbd|no|empty|undefined|keine|无)"
    r"(?: (?:identified|known|noted|reported|applicable|found|documented|specified|available|listed|other"
    r"|apply|at this time|yet|stated))*"
    r"|no (?:(?:additional|other|further|new|specific|active|acute|clear|known|definitive|definite"
    r"|significant|valid|relevant|known|icd|code"
    r"|secondary|primary|discharge|medical|confirmed|formal|more|applicable|diagnostic)[\s-]?(?:10|10-cm)?\s?){0,4}"
    r"(?:diagnos[ei]s|codes?|conditions?|problems?|information|data|answers?|comorbidities|findings|items?"
    r"|decisions?|procedures?"
    r"|labs?|medications?|orders?|evidence|abnormalities|complaints)\b.*"
    r"|(?:same|see|as|refer to)(?: as)? (?:above|below|previous\w*|before)"
    r"|(?:not (?:applicable|available|specified|known|enough|provided|determined|documented|listed|stated"
    r"|sure|given|possible)"
    r"|insufficient (?:information|data|evidence|detail|record|context)|unable to|cannot|can't|could not"
    r"|undetermined|unclear)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED = re.compile(
    r"(?:no|denie[sd]|negative for|ruled out|no evidence of|without evidence of|does not have|not consistent with)\b"
    r"|.*\b(?:ruled out|(?:was|is|be|been) excluded|unlikely|not present|less likely|not supported)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_DENIAL = (
    r"(?:no|none|false|absent|negative|denied|denies|excluded|refuted|ruled out|unlikely|no evidence(?: of .{1,60})?"
    r"|not (?:present|found|detected|seen|supported|diagnosed))"
)
_DENIED = re.compile(rf"{_DENIAL}\W{{0,3}}", re.IGNORECASE)
_DENIED_AT_END = re.compile(rf"(?: ?[:?] ?| [-–—] ){_DENIAL}(?: ?\([^()]{{0,80}}\))?[.!]?\Z", re.IGNORECASE)
_NOT_ORDERED = re.compile(
    r"(?: ?: ?| [-–—] )(?:no|none|false|not (?:ordered|indicated|needed|required|performed))[.!]?\Z", re.IGNORECASE
)
_AFFIRMED_AT_END = re.compile(r" ?[:?] ?(?:yes|true|present|positive|confirmed)[.!]?\Z", re.IGNORECASE)
_EXCLUDED = re.compile(
    r"\W{0,3}(?:(?:can|could|may|should) be|(?:is|was)|has been) (?:safely |also |therefore )?"
    r"(?:excluded|ruled out|denied|absent|unlikely|not present)\W*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|great|hello|hi|hey|alright"
    r"|understood|got it|yes)\b(?:[,.!:]|\Z| here| i\b)|(?:many )?thank(?:s| you)\b|(?:my )?dear\b|(?:to whom|good"
    r" (?:morning|afternoon|evening|day))\b|(?:hello|hi|hey) (?:there|doctor|dr|colleagues?|team|everyone|all)\b"
    r"|(?:best|kind|warm|with (?:best|kind|warm)) (?:regards|wishes)\b|(?:yours )?(?:sincerely|faithfully|truly)\b"
    r"|(?:on|in|following|having|with|during) (?:(?:my|our|a|the|this|careful|close|detailed|thorough|further) ){0,3}"
    r"(?:review|reviewing|reviewed|analysis|reading|examining|evaluation|chart review)\b(?!.*:.)"
    r"|(?:here(?:'s| is| are| you)|below (?:is|are|you)|following (?:is|are)|the (?:following|above"
    r"|below)\b|let me|let's|let us|please|feel free"
    r"|note(?: that|:| -)|please note|n\.?b\.?:|disclaimer|remember|keep in mind|bear in mind|caution:"
    r"|warning:|important:|it is important|it's important"
    r"|however|in summary|in conclusion|to summarize|overall,|in addition,|additionally,|furthermore"
    r"|moreover|for (?:more|further|additional) "
    r"|if (?:you|there|any|further|needed|more|it|this|these|the)\b|always consult|consult (?:a|your|with)"
    r"|your\b|you\b|we\b|my\b|i\b|i'|as an? "
    r"(?:ai|large|language|expert|clinician|clinical|medical|artificial|assistant)|i am|sorry"
    r"|unfortunately|apologies|hope|looking forward|would you"
    r"|do you|does this|is there|are there|end of |that's (?:all|it)|based on (?:the|your|this|these|my"
    r"|her|his|all|an?|available|provided|review)\b"
    r"|given (?:the|this|that|her|his|these|all)\b|according to|after (?:reviewing|careful|review|analy"
    r"|considering|evaluating)|upon (?:review|analy|admission)"
    r"|to (?:determine|provide|answer|identify|summarize|arrive|find|help|ensure|generate|solve)\b|since\b"
    r"|because\b|while\b|although\b|therefore\b"
    r"|thus\b|so,|hence\b|as (?:per|such|requested|mentioned|noted|always|the)\b|from the (?:record"
    r"|provided|information|patient|above)"
    r"|first,|firstly|second,|secondly|next,|finally,|lastly|then,|now,|wait\b|hmm|also,|step \d"
    r"|this (?:list|information|response|answer|is|are|was|may|should|"
    r"analysis|assessment|patient|case|output)\b|these (?:diagnoses|codes|conditions|are|were|may|should"
    r"|findings|items|include|represent)\b"
    r"|those\b|it (?:is|was|should|may|appears|seems)\b|they\b|there (?:is|are|was|were)\b|the (?:list"
    r"|diagnoses|codes|diagnosis|final|most|primary"
    r"|answer|icd|conditions|exact|specific) .*\b(?:is|are|was|were|include|includes|above|below|cannot"
    r"|can't|can|could|would|may)\b|all (?:diagnoses|codes|conditions|of the)\b|(?:each|every|some|any) of\b"
    r"|any (?:other|further|questions)|consider(?:ing)? (?:the|all)|\(?continued|(?:one|each) (?:decision"
    r"|diagnosis|code) (?:a|per)\b"
    r"|additional (?:notes?|information|comments)|looking at|reviewing|in this case|in terms of|when\b"
    r"|what\b|how\b|why\b)",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:list|provide|use|give|write|answer|return|output|include|do not|identify|state|name|select|choose|generate"
    r"|predict|make|ensure|format|respond|respond with|put) "
    r"(?:the|all|one|each|only|your|an?|any|up|no|as|every|it|in|sure|with|them)\b",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"(?:\d{2,3}[\s-]?(?:y/?o|yrs?|years?|[mf])\b"
    r"|supported by|(?:as )?evidenced? (?:by|of|for|:)|evidence\b|based (?:up)?on\b|(?:as )?(?:confirmed"
    r"|indicated|demonstrated|suggested|shown|seen"
    r"|noted|documented|reported|found|described|revealed|diagnosed|manifested|reflected|mentioned) (?:by"
    r"|on|in|from|at|with|during|per)\b|per\b|as per\b"
    r"|given\b|treated with|managed with|on treatment|currently (?:on|taking)|documentation|patient (?:is"
    r"|was|has|had|reports|reported|presents|presented"
    r"|denies|takes|received|underwent|with)|(?:the|this) (?:patient|pt)\b|pt\b|he\b|she\b|reports\b"
    r"|presents\b|presented\b|requiring\b|likely due to\b"
    r"|secondary to\b|started on|continued? (?:on"
    r"|home|with)\b|monitor\b|recommend|status:|labs?:|vitals?:"
    r"|(?:[\w-]+ ){0,3}(?:x-?rays?|ct|mri|cxr|ecg|ekg|echo\w*|imaging|labs?|laboratory|scan|ultrasound"
    r"|exam\w*|cultures?|urinalysis|radiographs?|studies|tests?|results?"
    r"|biopsy|findings|vitals|signs|levels?|pressure|temperature) (?:\w+ ){0,2}(?:shows?|showed|reveals?"
    r"|revealed|demonstrates?|demonstrated|indicates?|suggests?|is|are|was|were"
    r"|confirms?|confirmed)\b)",
    re.IGNORECASE,
)
_VERBS = word_set(
    "is are was were has have had having shows show showed suggests suggest suggested indicates indicate "
    "indicated presents presented "
    "reports reported includes include requires required should will would can could may might must does "
    "do did been being appears seems "
    "remains reveals revealed demonstrates demonstrated received underwent noted developed admitted "
    "started treated denies denied "
    "needs provides confirms confirmed supports takes explain explains warrants represent represents "
    "reflects went gave found I'm am"
)


def says_nothing(text: str) -> bool:
    """No decision is stated ("None", "N/A", "No diagnoses."), or nothing is ("...")."""
    bare = text.strip(" \t.,;:!?()[]{}<>*_-–—\"'`/\\|#=~")
    return not any(map(str.isalnum, bare)) or _NOTHING.fullmatch(bare) is not None


def is_negated(text: str) -> bool:
    """A condition that the answer denies."""
    return _NEGATED.match(text[:400]) is not None


def is_denial(value: str) -> bool:
    """A value that denies what it stands beside: "no", "absent", "ruled out"."""
    return _DENIED.fullmatch(value.strip()) is not None


def ends_in_denial(text: str, *, results: bool) -> bool:
    """A condition with the value that it is absent ("CHF: no").

    Args:
        text: one line.
        results: the decisions are orders, of which "negative" or "absent" is a result and denies nothing.
    """
    return (_NOT_ORDERED if results else _DENIED_AT_END).search(text, max(0, len(text) - 180)) is not None


def without_affirmation(text: str) -> str:
    """The condition without the value that it is present: "Gout" from "Gout: yes"."""
    affirmed = _AFFIRMED_AT_END.search(text, max(0, len(text) - 40))
    return text[: affirmed.start()] if affirmed and affirmed.start() else text


def is_excluded(rest: str) -> bool:
    """What stands beside a code says no more than that it is excluded ("E11.9 can be excluded.")."""
    return _EXCLUDED.fullmatch(rest[:200]) is not None


@remembered
def is_remark(text: str) -> bool:
    """Preambles, closing remarks, refusals, and whatever else speaks to the reader."""
    start = text.lstrip(" ([*\"'")[:400]
    return _REMARK.match(start) is not None or _COMMAND.match(start) is not None


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
