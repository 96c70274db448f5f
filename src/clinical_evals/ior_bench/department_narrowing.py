"""A wider department and the part of it that is meant: 内科（消化内科）, 内科-消化内科, 外科，具体是骨科.

That is a specification, not two recommendations (protocol 1.2 asks for one department): the wider name is taken out
before the text is read. A bracket or a dash is one only where the two are a department and a part of it (骨科（眼科）
names two); 具体 and the like say so themselves. 外科中的骨科 is read where statements are
(`department_cues.PART_OF`).
"""

import re
from collections.abc import Sequence

from clinical_evals.ior_bench.department_names import MENTION, MarkedText, name_key

_IS = r"(?:[ ]?(?:是|为|到|即|指|可以?|建议|应该?|推荐|您|你|挂|去|看|选择?|请|科室|:)){0,4}[ ]?"
_SPECIFIED = (
    r"(?:更?具体|更?细分|更?准确|更?确切|更?详细|specifically|in particular|或者?说)(?:地|来|的|而)?(?:说|讲|言|点)?,?"
)
_SECOND_LEVEL = r"[,;\n]?[ ]?(?:二级|亚|下级)(?:学科|专科|科室|分科)"
_NARROWED = re.compile(
    rf"(?P<wide>{MENTION})(?:"
    rf"(?:门诊)?[ ]?[(\[【][ ]?(?:{_SPECIFIED}|如|例如|特指|主要)?{_IS}(?P<bracket>{MENTION})"
    rf"(?P<more>(?:[ ]?(?:、|/|,|或者?|和|与|及)[ ]?{MENTION}){{0,4}})"
    rf"(?P<tail>(?:门诊|方向|专业|专科|亚专科)?)[ ]?[)\]】]"
    rf"|(?:门诊)?[ ]?(?:-|—|–|→|:){{1,2}}[ ]?(?P<dash>{MENTION})"
    rf"|(?:门诊)?[ ]?(?:[,(\n]?[ ]?{_SPECIFIED}|{_SECOND_LEVEL}){_IS}(?P<said>{MENTION})\)?)"
)
_NEGATED = re.compile(r"[不非别无勿][^,。;!?\n]{0,10}\Z")
"""不建议挂内科，准确地说应挂骨科: what is refused is not specified but replaced."""
_SURGICAL = ("骨科", "肛肠科", "泌尿科", "乳腺科", "烧伤科", "脊柱科")
"""Departments of surgery whose name does not say so."""
_MEDICAL = (
    "消化科",
    "呼吸科",
    "心血管科",
    "神经科",
    "肾科",
    "内分泌科",
    "血液科",
    "风湿免疫科",
    "感染科",
    "老年医学科",
)
"""Departments of internal medicine whose name does not say so."""
_PARTS = {"外科": _SURGICAL, "内科": _MEDICAL}


def without_wider(marked: MarkedText, candidates: Sequence[str]) -> MarkedText:
    """The text without the wider names that it specifies at once; linear in its length.

    Args:
        marked: a folded text with its mentions.
        candidates: the departments its mentions stand for.
    """
    matches = list(_NARROWED.finditer(marked.text))
    if not matches:
        return marked
    keys = [name_key(name) for name in candidates]
    places = {place: rank for rank, place in enumerate(_places(marked.text))}
    parts: list[str] = []
    dropped: set[int] = set()
    last = 0
    for match in matches:
        group = next(name for name in ("bracket", "dash", "said") if match[name])
        ranks = places[match.start()], places[match.start(group)]
        wide, narrow = (keys[marked.candidates[rank]] for rank in ranks)
        if match["more"] and "如" in match[0]:  # several examples of the wider one
            continue
        if group == "said" and _NEGATED.search(marked.text, max(0, match.start() - 12), match.start()):
            continue
        if group == "said" or is_part(narrow, wide):
            dropped.add(ranks[0])
        elif is_part(wide, narrow) and not match["more"]:
            dropped.add(ranks[1])
        else:
            continue
        parts += [marked.text[last : match.start()], MENTION, match["more"] or "", match["tail"] or ""]
        last = match.end()
    kept = tuple(candidate for rank, candidate in enumerate(marked.candidates) if rank not in dropped)
    return MarkedText("".join([*parts, marked.text[last:]]), kept)


def is_part(narrow: str, wide: str) -> bool:
    """Whether one department is a part of the other by their names: 消化内科 of 内科, 口腔颌面外科 of 口腔科.

    Args:
        narrow: a folded name.
        wide: the folded name it may be a part of.
    """
    if narrow == wide:
        return False
    if wide in _PARTS:
        return narrow.endswith(wide) or narrow in _PARTS[wide]
    return (wide.endswith("科") and len(wide) > 2 and narrow.startswith(wide.removesuffix("科"))) or narrow.startswith(
        wide
    )


def _places(text: str) -> list[int]:
    return [match.start() for match in re.finditer(MENTION, text)]
