"""The name of the drug in a prescription: "Metoprolol tartrate 25 mg PO BID" is metoprolol.

Dose, unit, route, frequency, the reason of a PRN order and words for the form are no part of it. A salt stays, unless
the name without it is a title of the release: potassium chloride and ferrous sulfate are their salts.
"""

import re

from clinical_evals.matching.answer_titles import is_title, shortened_to_name
from clinical_evals.matching.answer_words import word_set
from clinical_evals.matching.order_times import AMOUNT, END, START, TIMES, without_runs
from clinical_evals.ontology import CodeSystem

_UNIT = (
    r"(?:mcg|µg|μg|ug|mg|gm|grams?|g|kg|ml|cc|liters?|litres?|l|meqs?|mmol|mol|(?:million )?(?:international )?units?"
    r"|iu|u|tablets?|tabs?|capsules?|caps?|puffs?|drops?|sprays?|patch(?:es)?|packets?|ampules?|amps?|vials?|doses?"
    r"|inhalations?|suppositor(?:y|ies)|bags?|lozenges?|applications?|scoops?|%)"
)
_PER = r"(?:kg|m2|hours?|hrs?|hr|h|minutes?|min|days?|d|dose|ml|l|tab)"
_DOSE = rf"{AMOUNT} ?{_UNIT}{END}(?: ?(?:/|per) ?(?:\d{{1,4}} ?)?{_PER}{END}){{0,3}}"
_ROUTE = (
    r"(?:ivpb|ivp|iv|po|im|sc|sq|subq|sub-q|subcut(?:aneous(?:ly)?)?|pr|sl|ng|ngt|gt|intravenous(?:ly)?"
    r"|intramuscular(?:ly)?|oral(?:ly)?|by mouth|per (?:rectum|os|ng tube)|rectal(?:ly)?|sublingual(?:ly)?"
    r"|topical(?:ly)?|inhaled|nebulized|transdermal|ophthalmic|intranasal|enteral)"
)
_FORM = (
    r"(?:tablets?|tabs?|capsules?|caps?|patch(?:es)?|solution|soln|suspension|susp|syrup|elixir|cream|ointment|gel"
    r"|jelly|lotion|spray|inhalers?|inhalation|nebs?|nebuli[sz]ers?|nebuli[sz]ation|injections?|inj|infusions?|drips?"
    r"|gtt|bolus(?:es)?|push|flush(?:es)?|drops?|powder|packets?|suppositor(?:y|ies)|lozenges?|syringes?|vials?|bags?"
    r"|pca|pump|liquid|chewable|mini bag plus|xl|xr|er|sr|cr|ir|dr|la|ec|odt|ds|hfa|mdi|dpi|pf|ssi|sliding[- ]scale"
    r"|protocol|(?:extended|immediate|delayed|sustained|controlled)[- ]release|enteric[- ]coated|course|loading dose"
    r"|ophth|oint|otic|nasal|vag(?:inal)?|diskus|viscous|disintegrating|dwell|rinse|lock|e\.r|taper|dose)"
)
_PART = re.compile(
    rf"{START}(?:(?P<strong>(?<![.\d]){_DOSE}|(?:{TIMES}){END})"
    rf"|(?P<weak>(?:{_ROUTE}|{_FORM}|at|to|of|then|followed by|a total of|total|scheduled|continuous(?:ly)?"
    rf"|now){END}))",
    re.IGNORECASE,
)
_TEXT = r"(?:(?! and [\w-]{1,30} (?:[\w-]{1,30} )?\d)[^,;.|()\n\[\]\"\\])"
_TAIL = re.compile(
    r" {0,2}(?:(?:, ?)?(?:[-–—] )?(?:prn|as needed|if needed|for|to (?:treat|prevent|maintain|keep|control|cover|goal)"
    r"|given|titrat(?:e|ed|ing)|until|while|if|when|based on|per|adjust(?:ed)?|due to|because|dose by|target|goal)"
    r"|, ?hold (?:for|if|when))\b"
    rf"{_TEXT}{{0,120}}"
    rf"|(?<=prn|ded) (?!and |or |[-–—] |\d)(?=[a-z]){_TEXT}{{1,80}}",
    re.IGNORECASE,
)
_MEASURE = r"(?:sbp|bp|hr|map|rr|systolic|heart rate|pulse|(?:over)?sedation|rass|loose|diarrhea|glucose|bg|fsbg|k\b)"
_PARAMETERS = re.compile(
    rf"[,;]? ?\(?\bhold:? (?:if\b|(?:for |when )?(?:{_MEASURE}|[^,;|()\n\[\]\"<>≤≥]{{0,30}}[<>≤≥]))"
    r"[^,;|()\n\[\]\"]{0,80}\)?",
    re.IGNORECASE,
)
_DISPENSED = re.compile(
    r"(?<=[A-Za-z)%])[,;.–-] ?(?:sig|take|apply|inhale|inject|instill|dispense|disp|qty|quantity|no refills|refills?"
    r"|#\d)\b"
    r"[^|\n\"\]}]{0,300}",
    re.IGNORECASE,
)
_HOLD_FIRST = re.compile(r"[\s\d.)*+•-]*\Z")


def without_dosage(line: str) -> str:
    """A line of prescriptions without doses, frequencies and what belongs to them; names and layout stay."""
    line = _PARAMETERS.sub(lambda m: m[0] if _HOLD_FIRST.match(line[max(0, m.start() - 40) : m.start()]) else "", line)
    return without_runs(_DISPENSED.sub("", line), _PART, _TAIL)


_LEADING = re.compile(
    r"(?:(?:then|also|and|plus|supplemental|home|scheduled|empiric(?:al)?|prophylactic|sliding[- ]scale"
    r"|(?:low|high|full)[- ]dose|weight[- ]based|maintenance|standing|continuous|trial of|dose of|course of"
    r"|therapy with|treatment with"
    rf"|{_ROUTE}(?! (?:fluids?|hydration|antibiotics?|access|crystalloids?)\b))(?: |\Z))+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r",? ?[ (\[](?:for|to (?:treat|prevent|maintain|keep|control|cover|achieve|goal|map|sbp|bp|hr|inr|ptt|rass)"
    r"|given|due to|because|prn|as needed|if|except|in (?:dextrose|ns|d5w|sodium chloride|sterile water|normal saline)"
    r"|until|per|via|while|titrat\w+|adjust\w*|based on|in the setting of)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_USE = r"(?:load|therapy|supplementation|supplements?|replacement|repletion)"
_LAST = re.compile(rf"[ ,]+(?:{_ROUTE}|{_FORM}|{_USE}|at|to|of|then|and|with)[ .,;:*]*\Z", re.IGNORECASE)
_ENDS_AS_FORM = re.compile(rf"(?:\A|.*[ ,/])(?:{_ROUTE}|{_FORM})\W*", re.IGNORECASE | re.DOTALL)
_BRACKET = re.compile(r"(?P<head>[^()]+?) ?\((?P<inner>[^()]*)\)(?P<rest>[^()]*)")
_ONLY_FORM = re.compile(
    rf"(?:(?:{_ROUTE}|{_FORM}|home|new|continued?)(?:[ ,/]{{1,3}}|\Z))*(?:(?:for|prn)\b.*)?", re.IGNORECASE
)
_SALT = re.compile(
    r" (?:tartrate|succinate|hydrochloride|hcl|besylate|maleate|mesylate|fumarate|phosphate|acetate|citrate"
    r"|(?:di)?sodium|potassium|calcium|magnesium|sulfate|(?:hydro)?bromide|gluconate|nitrate|(?:mono|di)hydrate"
    r"|decanoate|valproate|propionate|furoate|trihydrate|acetonide|xinafoate|(?:na|sod(?:ium)?) succ(?:inate)?)\.?\Z",
    re.IGNORECASE,
)


_IONS = word_set(
    "potassium sodium calcium magnesium iron ferrous ferric zinc lithium aluminum aluminium ammonium copper"
)


def drug_name(text: str, system: CodeSystem) -> str:
    """The name of the drug that one prescription names, as written; the text itself where nothing else is left."""
    return shortened_to_name(text, system, lambda longer: _shorter(longer, system))


def _shorter(text: str, system: CodeSystem) -> str:
    """One step on the way to the name; the text itself at its end."""
    if (lead := _LEADING.match(text[:120])) and lead.end() < len(text):
        return text[lead.end() :]
    if reason := _REASON.search(text[:400]):
        return text[: reason.start()]
    if last := _LAST.search(text, max(0, len(text) - 40)):
        return text[: last.start()]
    if named := _BRACKET.fullmatch(text) if len(text) <= 200 else None:
        return _of_bracket(named, text, system)
    if (bare := _AMOUNT_LAST.sub("", text)) != text and is_title(_without_salt(bare, system), system):
        return bare
    return _without_salt(text, system)


_AMOUNT_LAST = re.compile(r" \d{1,5}(?:\.\d{1,3})?\Z")


def _of_bracket(named: re.Match[str], text: str, system: CodeSystem) -> str:
    """Of a name and the one in brackets after it (generic and brand) the one that is a title."""
    head, inner = named["head"].strip(), named["inner"].strip()
    for name in (head, inner):
        if is_title(bare := _without_salt(_LAST.sub("", name), system), system):
            return bare
    if _ONLY_FORM.fullmatch(inner[:80]) or _ENDS_AS_FORM.fullmatch(inner[:80]):
        return f"{head} {named['rest']}".strip()
    return text


def _without_salt(text: str, system: CodeSystem) -> str:
    bare = _SALT.sub("", text) if len(text) <= 200 else text
    if bare.lower() in _IONS:
        return text
    return bare if bare != text and not is_title(text, system) and is_title(bare, system) else text


_EXAMPLES = r"(?:such as|including|like|with|e\.g\.,?|i\.e\.,?)"
_LISTED = re.compile(
    rf"(?P<head>[^():\[\]]{{2,60}}?)(?: ?\((?:{_EXAMPLES} )?(?P<inner>[^()]{{2,300}})\)"
    rf"|,? {_EXAMPLES} (?P<tail>[^()]{{2,300}}))\W{{0,3}}",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r" and (?:\w{2,12}bactam|clavulan\w{1,6}|cilastatin|trimethoprim|carbidopa|benserazide|hydrochlorothiazide)\b",
    re.IGNORECASE,
)


def listed_drugs(text: str) -> tuple[str, list[str]]:
    """What stands before a bracket or "such as", and the parts listed there; no parts for other texts."""
    listed = _LISTED.fullmatch(text) if len(text) < 400 else None
    if not listed:
        return text, []
    parts = [part.strip() for part in re.split(r",(?: ?and )?|;|/| and | \+ ", listed["inner"] or listed["tail"])]
    return listed["head"], [part for part in parts if part]


def joins_drugs(text: str) -> bool:
    """Whether "and" joins the parts of one drug: "piperacillin and tazobactam"."""
    return _JOINED.search(text[:400]) is not None
