"""Stage 4, first half: a stated decision without Markdown, label, explanation and remarks."""

import re

from clinical_evals.matching.answer_headings import (
    has_no_content,
    is_code_label,
    is_heading,
    is_label,
    mentions_disease,
    names_disease,
    section_kind,
)
from clinical_evals.matching.answer_measurements import is_measurement
from clinical_evals.matching.answer_orders import goes_on_with_order, is_known_order
from clinical_evals.matching.answer_phrases import is_evidence, is_negated, is_remark, is_sentence, says_nothing
from clinical_evals.matching.answer_systems import vocabulary
from clinical_evals.matching.answer_titles import is_title
from clinical_evals.matching.answer_words import remembered, words_of
from clinical_evals.ontology import CodeSystem

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

_SIGN = re.compile(
    r": | -+>? | ?[–—] ?| ?(?:→|=>|->) ?|; |, |\. (?=[A-Z])|\s\|\s|(?<=\)) (?=[A-Z])"
    r"| (?=(?:as )?(?:evidenced|supported|indicated|suggested|confirmed) by\b)| (?=based (?:up)?on\b)"
)
_CARE = re.compile(
    r"(?:will |to )?(?:continue|hold|held|start|stop|give|trend|titrate|treat|administer|consult|repeat"
    r"|resume|wean|transfuse|replete|sliding scale|managed?|monitor"
    r"|to (?:evaluate|assess|rule|monitor|check|determine|confirm|guide|look|screen|identify|measure|treat"
    r"|manage|prevent|reduce)|on \w+|s/p|follow|plan|will)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s?[(\[]([^()\[\]]{0,300})[)\]]")
_SURENESS = re.compile(
    r"(?:(?:very )?(?:high|medium|moderate|low) ?(?:confidence|certainty|probability|likelihood)?"
    r"|confidence\b.*|probability\b.*|likely|probable|possible|suspected|confirmed|certain|\d{1,3} ?%|[01]?\.\d+"
    r"|(?:primary|secondary|principal|main|final|admission|discharge)(?: diagnos[ie]s)?|\*|new|comorbid\w*"
    r"|resolv(?:ed|ing)|improv(?:ed|ing)|stable|worsening|ongoing|active|inactive|(?:present )?on admission|poa"
    r"|rule out|chronic|pre-?existing|see (?:above|below).*|code\b.*|icd\b.*|n/?a|continued|cont\.?d?)\.?",
    re.IGNORECASE,
)


def without_label(text: str, system: CodeSystem) -> str:
    """The decision after its label: "Pneumonia" from "Primary diagnosis: Pneumonia"."""
    for _ in range(3):
        head, sign, tail = label_of(text)
        if not sign or not tail.strip() or not is_label(head) or is_code_label(head) or is_title(head, system):
            break
        text = tail.strip()
    return text


def label_of(text: str) -> tuple[str, str, str]:
    """What stands before the first colon or dash, the sign itself, and what follows it; no sign: the whole."""
    sign = re.search(r" ?: ?| [-–—] ", text[:120])
    return (text[: sign.start()], sign[0], text[sign.end() :]) if sign else (text, "", "")


def without_explanation(text: str, system: CodeSystem) -> str:
    """The decision without the reasons that follow it in the same line ("… - based on HbA1c 9.1", "… (BP 168/95)")."""
    signs = list(_SIGN.finditer(text[:600]))
    for sign in signs:  # what is a title of the release as it stands, commas and all, is not cut
        if (
            sign[0] != ", "
            and is_title(text[: sign.start()], system)
            and _explains(sign[0].strip(), text[: sign.start()], text[sign.end() :].strip(), system)
        ):
            return text[: sign.start()]
    text = _without_asides(text, system)
    if is_title(text, system):
        return text
    for sign in _SIGN.finditer(text[:600]):
        head, tail = text[: sign.start()].strip(), text[sign.end() :].strip()
        if not re.search(r"[^\W\d_]{2}", head) or (sign[0] == ". " and _abbreviates(head)):
            continue
        if _explains(sign[0].strip(), head, tail, system):
            return _without_asides(head, system)
    return text


def _abbreviates(head: str) -> bool:
    """Ends like an abbreviation, so that the full stop after it ends no sentence: "E.", "St.", not "UTI."."""
    last = head.rsplit(" ", 1)[-1]
    return len(last) < 4 and not (len(last) > 1 and last.isupper())


def _explains(sign: str, head: str, tail: str, system: CodeSystem) -> bool:
    if not tail or is_evidence(tail) or is_remark(tail) or _CARE.match(tail):
        return True
    if vocabulary(system).orders and sign[:1] in "-–—→:" and mentions_disease(tail) and not mentions_disease(head):
        return not is_known_order(tail, system)  # "Pantoprazole - GI bleed"
    if _SURENESS.fullmatch(tail) and sign not in (",", ""):
        return True
    if sign == ",":
        return is_measurement(tail.split(",")[0])
    if sign in ("", ";"):
        return is_sentence(tail) or is_measurement(tail) or re.match(r"\w+ed by\b|based\b", tail) is not None
    if sign == ".":
        return True
    if is_title(tail, system) and not is_title(head, system):
        return False
    if sign == ":" and (len(words_of(head)) > 1 or names_disease(head)):
        return True
    return is_title(head, system) or len(words_of(tail)) > 5 or is_sentence(tail) or any(map(str.isdigit, tail))


def _without_asides(text: str, system: CodeSystem) -> str:
    if "(" not in text and "[" not in text:
        return text
    if is_title(text, system):
        return text

    def keep(aside: re.Match[str]) -> str:
        inner = aside[1].strip()
        last = aside.end() == len(text)  # elsewhere it may be a title's own: "Maternal care for (suspected) …"
        unimportant = not is_known_order(inner, system) and (
            (last and _SURENESS.fullmatch(inner))
            or is_evidence(inner)
            or is_measurement(inner)
            or is_sentence(inner)
            or says_nothing(inner)
            or re.match(r"(?:e\.g|i\.e|as |due to |see |per |noted|history: )", inner)
            or re.search(r"\d ?(?:mg|mm|%|/\d|g/|u/|k/)", inner, re.IGNORECASE)
        )
        return "" if unimportant else aside[0]

    shorter = " ".join(_ASIDE.sub(keep, text).split())
    bare = " ".join(_ASIDE.sub("", text).split())
    if bare == shorter or any(goes_on_with_order(aside[1].strip(), system) for aside in _ASIDE.finditer(shorter)):
        return shorter  # "Creatinine (urine)" is not creatinine
    return bare if is_title(bare, system) else shorter


def states_nothing(text: str, system: CodeSystem, labels: int = 6) -> bool:
    """No decision, although it stands where one could; a text of more than `labels` labels in a row states none."""
    if is_known_order(text, system) or is_title(text, system):
        return False
    if any(is_title(text[: m.start()], system) for m in _SIGN.finditer(text[:600])):
        return False
    head, sign, tail = label_of(text)
    if sign and section_kind(head, system) and not is_title(head, system):
        return True
    if sign and is_label(head):
        return not tail.strip() or labels == 0 or states_nothing(tail.strip(), system, labels - 1)
    return (
        says_nothing(text)
        or has_no_content(text)
        or is_negated(text)
        or is_remark(text)
        or is_evidence(text)
        or is_heading(text)
        or section_kind(text, system) != ""
    )


def trim(text: str) -> str:
    """Without punctuation around it, without a bracket around the whole, white space folded."""
    text = text.strip(' \t-–—:;,.|*_`"=>→+&~•·')
    if text[:1] + text[-1:] in ("()", "[]") and not re.search(r"[()\[\]]", text[1:-1]):
        text = text[1:-1]
    if text.count("(") > text.count(")"):
        text = text.rstrip("( ") if text.endswith("(") else text
    return " ".join(text.strip(" ,;:-–—。").split())
