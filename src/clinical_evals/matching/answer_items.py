"""Stage 4 of reading an answer: one stated decision becomes a clean item, without label, explanation and code.

Source: protocol 2.5, points 1 and 2.
"""

import re
from typing import NamedTuple

from clinical_evals.matching.answer_phrases import (
    has_no_content,
    is_code_label,
    is_evidence,
    is_heading,
    is_label,
    is_measurement,
    is_negated,
    is_remark,
    is_sentence,
    is_title,
    remembered,
    says_nothing,
    section_kind,
    words_of,
)
from clinical_evals.matching.codes_in_text import find_codes, is_only_codes
from clinical_evals.ontology import CodeSystem


class Decision(NamedTuple):
    """One place of the answer that states a decision, before codes are looked for."""

    text: str
    """What the answer wrote there; Markdown may be in it."""
    code_field: str = ""
    """What stood in a code column or field beside it."""
    several: bool = False
    """The text may be a comma or semicolon line of several decisions."""


class Item(NamedTuple):
    """One decision of an answer."""

    text: str
    """What is to be matched if there are no codes; empty where the answer gave only codes."""
    codes: tuple[str, ...]
    """Canonical where valid; upper-cased as written where not (a wrong prediction); () if the text is to be matched."""


# Markdown

_STRUCK = re.compile(r"~~[^~\n]{1,500}~~")
_ESCAPED = re.compile(r"\\([\\*_#\-.()\[\]|>`~+!])")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\((?:https?:|www\.|#|/)[^()\s]{0,300}\)")
_BOXED = re.compile(r"\\(?:boxed|text|textbf|mathrm)\{([^{}]{0,400})\}")
_CITATION = re.compile(r"\[\^?\d{1,3}\](?!\w)|【[^【】]{0,40}】")
_EMPHASIS = re.compile(r"\*+|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|`+|\$\$?(?=\S)")


@remembered
def plain(text: str) -> str:
    """A line without Markdown marks; white space folded."""
    if any(mark in text for mark in "\\[~【"):
        text = _ESCAPED.sub(r"\1", _CITATION.sub("", _LINK.sub(r"\1", _BOXED.sub(r"\1", _STRUCK.sub("", text)))))
    return " ".join(_EMPHASIS.sub("", text).split())


# Explanations

_BOLD_HEAD = re.compile(r"\s*(?:\*\*|__)(?P<head>[^*_\n]{2,200}?)\s*(?P<colon>:?)\s*(?:\*\*|__)\s*(?P<tail>[:,;(\[–—→-].*|\Z)", re.DOTALL)
_SIGN = re.compile(r": | -+>? | ?[–—] ?| ?(?:→|=>|->) ?|; |, |\. (?=[A-Z])|\s\|\s|(?<=\)) (?=[A-Z])| (?=(?:as )?(?:evidenced|supported|indicated|suggested|confirmed) by\b)| (?=based (?:up)?on\b)")
_CARE = re.compile(
    r"(?:will |to )?(?:continue|hold|held|start|stop|give|trend|titrate|treat|administer|consult|repeat|resume|wean|transfuse|replete|sliding scale|managed?|monitor"
    r"|on \w+|s/p|follow|plan|will)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s?[(\[]([^()\[\]]{0,300})[)\]]")
_SURENESS = re.compile(
    r"(?:(?:very )?(?:high|medium|moderate|low) ?(?:confidence|certainty|probability|likelihood)?|confidence\b.*|probability\b.*|likely|probable|possible|suspected|confirmed|certain"
    r"|\d{1,3} ?%|[01]?\.\d+|(?:primary|secondary|principal|main|final|admission|discharge)(?: diagnos[ie]s)?|\*|new|see (?:above|below).*|code\b.*|icd\b.*|n/?a|continued|cont\.?d?)\.?",
    re.IGNORECASE,
)
_PATIENT = re.compile(
    r"(?:(?:the|this|our) )?(?:patient|pt|he|she|they|individual)(?: (?:\w+ly|also))? (?:has been|was|is being|is|has|had|have)(?: (?:\w+ly|also|been|most|a|an|the)){0,3}"
    r"(?: (?:diagnosed (?:with|as having)|suffering from|found to have|known to have|affected by|having|experiencing|diagnosis of|diagnoses of|showing))? ",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:the )?(?:primary |secondary |final |principal |most likely |likely |main )?diagnos[ei]s (?:is|are|of|include|includes|would be|may be)|diagnosed with|patient (?:with|has|diagnosed with)"
    r"|evidence of|findings? consistent with|consistent with|indicative of|suggestive of|concern for|a diagnosis of) (?:a |an |the )?",
    re.IGNORECASE,
)


def without_label(text: str, system: CodeSystem) -> str:
    """"Primary diagnosis: Pneumonia" → "Pneumonia"."""
    for _ in range(3):
        head, sign, tail = _label_of(text)
        if not sign or not tail.strip() or not is_label(head) or is_code_label(head) or is_title(text, system):
            break
        text = tail.strip()
    return text


def _label_of(text: str) -> tuple[str, str, str]:
    sign = re.search(r" ?: ?| [-–—] ", text[:120])
    return (text[: sign.start()], sign[0], text[sign.end() :]) if sign else (text, "", "")


def without_explanation(text: str, system: CodeSystem) -> str:
    """The decision without the reasons that follow it in the same line ("… - based on HbA1c 9.1", "… (BP 168/95)")."""
    signs = list(_SIGN.finditer(text[:600]))
    for sign in signs:  # what is a title of the release as it stands, commas and all, is not cut
        if sign[0] != ", " and is_title(text[: sign.start()], system) and _explains(sign[0].strip(), text[: sign.start()], text[sign.end() :].strip(), system):
            return text[: sign.start()]
    text = _without_asides(text, system)
    if is_title(text, system):
        return text
    for sign in _SIGN.finditer(text[:600]):
        head, tail = text[: sign.start()].strip(), text[sign.end() :].strip()
        if not re.search(r"[^\W\d_]{2}", head) or (sign[0] == ". " and len(head.rsplit(" ", 1)[-1]) < 4):
            continue
        if _explains(sign[0].strip(), head, tail, system):
            return head
    return text


def _explains(sign: str, head: str, tail: str, system: CodeSystem) -> bool:
    if not tail or is_evidence(tail) or is_remark(tail) or _CARE.match(tail):
        return True
    if sign == ",":
        return is_measurement(tail.split(",")[0])
    if sign in ("", ";"):
        return is_sentence(tail) or is_measurement(tail) or re.match(r"\w+ed by\b|based\b", tail) is not None
    if sign == ".":
        return True
    if is_title(tail, system) and not is_title(head, system):
        return False
    return is_title(head, system) or len(words_of(tail)) > 5 or is_sentence(tail) or any(map(str.isdigit, tail))


def _without_asides(text: str, system: CodeSystem) -> str:
    if "(" not in text and "[" not in text:
        return text
    if is_title(text, system):
        return text

    def keep(aside: re.Match[str]) -> str:
        inner = aside[1].strip()
        last = aside.end() == len(text)  # elsewhere it may be a title's own: "Maternal care for (suspected) …"
        unimportant = (
            (last and _SURENESS.fullmatch(inner)) or is_evidence(inner) or is_measurement(inner) or is_sentence(inner) or says_nothing(inner)
            or re.match(r"(?:e\.g|i\.e|as |due to |see |per |noted|history: )", inner) or re.search(r"\d ?(?:mg|mm|%|/\d|g/|u/|k/)", inner, re.IGNORECASE)
        )
        return "" if unimportant else aside[0]

    shorter = " ".join(_ASIDE.sub(keep, text).split())
    bare = " ".join(_ASIDE.sub("", text).split())
    return bare if bare != shorter and is_title(bare, system) else shorter


# Items

def items_of(decision: Decision, system: CodeSystem, *, listed: bool = True) -> list[Item]:
    """The items that one decision gives: one, none if it states nothing, several if it is a sentence that names several.

    Args:
        decision: what was stated; not a line of several any more.
        system: the code system of the answer.
        listed: it stood in a list or field of its own (else only in running text, where sentences do not count).
    """
    text = plain(decision.text)
    field = find_codes(plain(decision.code_field), system, field=True).codes if decision.code_field else ()
    if is_title(text, system) and not is_only_codes(text, system):
        return [Item(text.strip(" .,;:") if not text.endswith("etc.") else text, field)]
    found = find_codes(text, system)
    codes = tuple(dict.fromkeys(field + found.codes))
    if codes:
        sure = field or found.leading or not _denies(found.rest, system)
        return [Item(_clean(decision.text, found.rest, system), codes)] if sure else []
    if not re.search(r"[^\W\d_]{2}|[^\x00-\x7f]|\d{3}\.\d", text) or _states_nothing(text, system):
        return []
    cleaned = _clean(decision.text, text, system)
    if (is_sentence(cleaned) and not is_title(cleaned, system)) or _PATIENT.match(cleaned):
        named = named_in_sentence(text, system)
        if named or not listed or re.match(r"(?:the|this|these|patient|he|she|it|they|his|her)\b", text, re.IGNORECASE):
            return [Item(name, ()) for name in named]
    return [Item(cleaned, ())] if cleaned and not says_nothing(cleaned) and not is_heading(cleaned) else []


def _denies(rest: str, system: CodeSystem) -> bool:
    """A code that is mentioned, not stated: in a remark, in evidence, or as what the patient does not have."""
    head, sign, _ = _label_of(rest)
    section = section_kind(head, system) if sign else ""
    return not (is_title(rest, system)) and (is_negated(rest) or bool(section) or (is_remark(rest) and is_sentence(rest)))


def _states_nothing(text: str, system: CodeSystem) -> bool:
    """No decision, although it stands where one could."""
    if is_title(text, system) or any(is_title(text[: m.start()], system) for m in _SIGN.finditer(text[:600])):
        return False
    head, sign, tail = _label_of(text)
    if sign and section_kind(head, system) and not is_title(head, system):
        return True
    if sign and is_label(head):
        return not tail.strip() or _states_nothing(tail.strip(), system)
    return (
        says_nothing(text) or has_no_content(text) or is_negated(text) or is_remark(text) or is_evidence(text) or is_heading(text) or section_kind(text, system) != ""
    )


def _clean(raw: str, text: str, system: CodeSystem) -> str:
    """The text for matching: `text` is the raw one without Markdown and codes."""
    bold = _BOLD_HEAD.match(raw[:1000])
    if bold and (bold["colon"] or bold["tail"]):
        head = find_codes(plain(bold["head"]), system).rest
        if re.search(r"[^\W\d_]{2}", head) and not is_label(head) and not section_kind(head, system):
            return without_explanation(_trim(_PATIENT.sub("", head, count=1)), system)
    text = without_label(text, system)
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    return _trim(without_explanation(_trim(text), system))


def _trim(text: str) -> str:
    text = text.strip(" \t-–—:;,.|*_`\"=>→+&~•·")
    if text[:1] + text[-1:] in ("()", "[]") and not re.search(r"[()\[\]]", text[1:-1]):
        text = text[1:-1]
    if text.count("(") > text.count(")"):
        text = text.rstrip("( ") if text.endswith("(") else text
    return text.strip(" ,;:-–—")


# Sentences

_NAMES = re.compile(
    r"\b(?:diagnos[ie]s|conditions?|problems?|impressions?|codes?|comorbidities)\b[^.:]{0,80}?\b(?:is|are|was|were|would be|includes?|included|including|as follows|of|may be|could be)[: ]{1,2}(?P<a>.+)"
    r"|^(?P<c>[^.:;]{3,160}?) (?:is|are|would be|appears? to be|seems to be|remains) (?:(?:the|a|an|her|his|my|their|most|likely|more|primary|main|final|probable|principal|correct|best|leading"
    r"|working|current|patient's|overall|single|underlying|admission|discharge) ){0,4}diagnos[ie]s\b"
    r"|\b(?:diagnosed (?:with|as)|suffer(?:s|ing)? from|consistent with|indicative of|suggest(?:s|ive)?(?: of)?|compatible with|found to have|most likely has|points? to(?:wards?)?|indicates?) (?P<b>.+)",
    re.IGNORECASE,
)
_WEAK_NAMES = re.compile(
    r"\b(?:patient|pt|he|she|man|woman|male|female|they|individual)\b[^.]{0,40}?\b(?:has|had|have|with|having|admitted (?:with|for)):?(?: (?:been|a|an|the|also|both|known|likely|multiple|several))* (?P<a>.+)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r",? (?:as evidenced|as indicated|as shown|evidenced by|supported by|based on|given|because|which|that|who|since|while|where|and (?:is|was|has|had|are|were|will|should|needs|requires|presents|presented"
    r"|reports|the patient|she|he)\b|but|although|requiring|presenting|manifest|confirmed by|suggested by|indicated by|for which|in the setting of|after|before|when)\b.*|\.(?: |\Z).*|[?!]\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE = re.compile(r"(?:a|an|the|likely|also|probable|both|possible diagnosis of|diagnosis of|diagnoses of|having|has|been|be|that|to be) ", re.IGNORECASE)


def named_in_sentence(text: str, system: CodeSystem, *, weak: bool = True) -> list[str]:
    """The conditions that a sentence says are the diagnosis, or (weak) that the patient has."""
    from clinical_evals.matching.answer_split import split_pair

    match = _NAMES.search(text[:2000]) or (_WEAK_NAMES.search(text[:2000]) if weak else None)
    if not match:
        return []
    named = next(group for group in match.groups() if group is not None)
    named = _CLAUSE_END.sub("", named, count=1).strip(" .,;:")
    names = []
    for part in split_pair(named, system):
        part = _ARTICLE.sub("", _ARTICLE.sub("", part.strip(" .,;:"), count=1) if _ARTICLE.match(part) else part.strip(" .,;:"), count=1) if _ARTICLE.match(part) else part.strip(" .,;:")
        part = without_explanation(_trim(part), system)
        if part and re.search(r"[^\W\d_]{2}", part) and len(words_of(part)) <= 14 and not _states_nothing(part, system):
            names.append(part)
    return names
