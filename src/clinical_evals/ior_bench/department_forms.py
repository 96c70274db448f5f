"""Other forms of a department's name that an answer may use: the same name shortened, or its fuller form.

Protocol 1.2 allows suffix forms where they stay unambiguous. What is taken here:

- 门诊 left out of a candidate's name (added to one it needs no rule: the name itself is inside);
- 内 left out (消化科 for 消化内科), 医学 left out (康复科 for 康复医学科), and the fuller form for a list that uses
  the short one;
- the closed table `SHORT_FORMS`, each short form being letters of the full one in their order (心内科, 心内 for
  心血管内科);
- 科 left out at the end where the rest is longer than another candidate inside it (妇科内分泌 for 妇科内分泌科), so
  that the shorter one (妇科) is not credited;
- the closed table `NAMES_IN_USE`: whole names in ordinary use for a department that the list names otherwise, taken
  only where nothing closer is listed.

A form is taken only when it fits exactly one candidate and is no candidate itself: 神经科 names none where both
神经内科 and 神经外科 are listed. Protocol 1.2 calls 儿科 found *inside* 小儿科 a flaw of substring search; as a whole
name, in a list with 儿科 and without 小儿科, it is the same department and is taken. Other synonyms (脑外科, 五官科)
and departments made of two (妇产科 for 妇科) stay other names: which one they mean is a question to the hospital.
"""

from collections.abc import Sequence

SHORT_FORMS: dict[str, tuple[str, ...]] = {
    "心血管内科": ("心内科", "心内"),
    "心脏内科": ("心内科", "心内"),
    "神经内科": ("神内",),
    "神经外科": ("神外",),
    "小儿外科": ("小儿外",),
    "心脏外科": ("心外科", "心外"),
    "胸外科": ("胸外",),
    "心血管外科": ("心外科", "心外"),
    "耳鼻喉科": ("耳鼻喉",),
    "耳鼻咽喉科": ("耳鼻喉科", "耳鼻咽喉", "耳鼻喉"),
    "耳鼻咽喉头颈外科": ("耳鼻咽喉科", "耳鼻喉科", "耳鼻喉头颈外科", "耳鼻咽喉", "耳鼻喉"),
    "内分泌代谢科": ("内分泌科",),
    "普外科": ("普外",),
    "普通外科": ("普外科", "普外"),
    "肝胆外科": ("肝胆科",),
    "肛肠外科": ("肛肠科",),
    "泌尿外科": ("泌尿科",),
    "乳腺外科": ("乳腺科",),
    "甲状腺外科": ("甲状腺科",),
    "整形外科": ("整形科",),
    "风湿免疫科": ("风湿科",),
    "感染性疾病科": ("感染科",),
    "皮肤性病科": ("皮肤科",),
    "呼吸与危重症医学科": ("呼吸科",),
    "全科医学科": ("全科",),
    "急诊医学科": ("急诊",),
    "急诊科": ("急诊",),
}
"""Full name → forms with letters left out; both ways they are one department."""

_NEPHROLOGY = ("肾内科", "肾科", "肾脏科", "肾脏内科", "肾脏病科")
_CARDIOLOGY = ("心血管内科", "心血管科", "心内科", "心脏科")
_EMERGENCY = ("急诊科", "急诊医学科", "急诊")
_RESPIRATORY = ("呼吸内科", "呼吸科")
_PAEDIATRICS = ("儿科",)
NAMES_IN_USE: dict[str, tuple[str, ...]] = {
    "肾脏内科": _NEPHROLOGY,
    "肾病科": _NEPHROLOGY,
    "肾病内科": _NEPHROLOGY,
    "心脏内科": _CARDIOLOGY,
    "颌面外科": ("口腔颌面外科",),
    "儿外科": ("小儿外科",),
    "小儿科": _PAEDIATRICS,
    "小儿内科": _PAEDIATRICS,
    "儿内科": _PAEDIATRICS,
    "创伤骨科": ("骨科", "创伤科", "创伤外科"),
    "关节骨科": ("骨科", "关节外科"),
    "呼吸与危重症医学科": _RESPIRATORY,
    "呼吸与危重症科": _RESPIRATORY,
    "普外科": ("外科",),
    "普通外科": ("外科",),
    "普外": ("外科",),
    "心理门诊": ("心理科", "临床心理科", "心身医学科"),
    "急诊内科": _EMERGENCY,
    "急诊外科": _EMERGENCY,
}
"""Name in use → the departments it may stand for: taken where exactly one is listed and nothing fits closer."""

_INTERNAL = ("消化", "呼吸", "心血管", "神经", "肾", "血液", "内分泌", "风湿免疫", "感染", "肿瘤", "心脏", "肾脏")
"""Fields of internal medicine: a list's 消化科 is 消化内科, while a list's 骨科 is no 骨内科."""


def accepted_forms(candidates: Sequence[str]) -> dict[str, int]:
    """The further forms that name exactly one of the candidates.

    Args:
        candidates: the folded names (letters and digits only).

    Returns:
        Form → index of the candidate it stands for.
    """
    claims: dict[str, set[int]] = {}
    usable: set[str] = set()
    for index, name in enumerate(candidates):
        forms = _other_forms(name)
        usable |= forms
        for form in forms | _unclear_forms(name):
            claims.setdefault(form, set()).add(index)
    for form, departments in NAMES_IN_USE.items():
        if form not in usable:
            claims[form] = {index for index, name in enumerate(candidates) if name.removesuffix("门诊") in departments}
            usable.add(form)
    for index, name in enumerate(candidates):
        stem = name.removesuffix("科")
        if stem != name and any(other != name and len(other) > 1 and other in stem for other in candidates):
            claims.setdefault(stem, set()).add(index)
            usable.add(stem)
    names = set(candidates)
    return {form: next(iter(claims[form])) for form in sorted(usable) if form not in names and len(claims[form]) == 1}


def _other_forms(name: str) -> set[str]:
    base = name.removesuffix("门诊")
    forms = {base} if base.endswith("科") else set()
    forms |= set(SHORT_FORMS.get(base, ()))
    forms |= {full for full, shorts in SHORT_FORMS.items() if base in shorts}
    for longer in ("内科", "医学科"):
        stem = base.removesuffix(longer)
        if stem and stem != base:
            forms.add(stem + "科")
    stem = base.removesuffix("科")
    if stem in _INTERNAL:
        forms.add(stem + "内科")
    if stem != base and len(stem) > 1 and not stem.endswith(("内", "外", "医学")):
        forms.add(stem + "医学科")
    # 心血管科 and 心内科 are both short for 心血管内科.
    for full in [form for form in forms if base in SHORT_FORMS.get(form, ()) or form == stem + "内科"]:
        forms |= set(SHORT_FORMS.get(full, ()))
    return {form for form in forms if form != name}


def _unclear_forms(name: str) -> set[str]:
    """神经科 may be 神经外科 too: where that is listed, 神经科 names neither."""
    stem = name.removesuffix("门诊").removesuffix("外科")
    return {stem + "科"} if stem and not stem.endswith("科") else set()
