"""The prompts of the dynamic task, in our own Chinese words (contents: protocol.md 1.3).

The doctor is one model in two roles: the *questioner* asks the patient, the *referrer* must name one department. Both
have the same system text and the same history and differ in the task that ends the last message, so that a backend
which keeps what it has read reads a history once. A changed word here needs a raised `DIALOGUE_PROMPT_VERSION`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

DIALOGUE_PROMPT_VERSION = "1"
"""Raised with every change of a prompt's text; it is part of every transcript's header."""

GREETING = "您好，我是医院的导诊助手。请问您今天哪里不舒服？"
"""The doctor's first turn, the same in every dialogue."""
ARRIVAL = "（患者来到导诊台。）"
"""Stands before the greeting in the doctor's messages: most chat templates want the user to begin."""
SILENCE = "……"
"""Stands for a turn without text: a message without content is refused by some templates."""

OWN_VOICE_FROM = 12
"""Years from which patients speak for themselves; for younger ones a parent speaks."""

_FIELDS = (
    ("chief_complaint", "主诉"),
    ("history_of_present_illness", "现病史"),
    ("past_medical_history", "既往史"),
    ("personal_history", "个人史"),
    ("family_history", "家族史"),
)

_DOCTOR = (
    "你是一家医院门诊的导诊人员，正在与一位患者（或陪同的家属）对话，目的是弄清患者这次应当挂哪个科室的号。"
    "本院门诊科室：{candidates}。\n"
    "患者每次回答之后，你会收到一项任务，只完成这一项：\n"
    "- 任务是“提问”时，提出一到两个容易听懂的问题，不用医学术语；一个症状已经问清楚，就换一个方面问"
    "（部位、起病时间、变化、伴随症状、既往病史、年龄、是否怀孕等）。"
    "不要重复问过的问题，不要解释，不要提任何科室，也不要替患者回答。\n"
    "- 任务是“选科”时，根据到目前为止的对话，从本院门诊科室中选出最合适的一个，只写这个科室的名称，"
    "写法与上面完全相同，即使信息还不够也必须选。"
)
QUESTION_TASK = "【任务：提问】"
REFER_TASK = "【任务：选科】"

_PATIENT = (
    "你要扮演一位到医院门诊就诊的{speaker}，正在与导诊人员对话。下面是{whose}病历，只有你知道：\n"
    "{record}\n\n"
    "说话的要求：\n"
    "- 只说病历里有的内容，如实回答，不编造；问到病历里没有的，就说没有注意或者不清楚。\n"
    "- 每次只说一到三条信息，只回答问到的；导诊人员第一次问哪里不舒服时，只说最主要的不适。\n"
    "- 用普通人的口语，不用医学术语，不念病历原文。\n"
    "- 不提任何科室的名称，不做诊断，不提建议，不像医生那样提问；每次一两句话，只说自己这一方的话。"
)


def doctor_system(candidates: Sequence[str]) -> str:
    """The system text of questioner and referrer."""
    return _DOCTOR.format(candidates="、".join(candidates))


def patient_system(case: Mapping[str, Any]) -> str:
    """The system text of the simulated patient: the whole record, personal history included, and how to speak.

    Args:
        case: a row of `dynamic_h1` or `dynamic_h2`.
    """
    child = is_child(case)
    known = [
        ("年龄", _age(case["age"])),
        ("性别", {"female": "女", "male": "男"}.get(case["sex"] or "", "")),
        *((name, case[field].strip()) for field, name in _FIELDS),
    ]
    return _PATIENT.format(
        speaker="孩子的家长，孩子太小，由你替孩子说" if child else "患者",
        whose="孩子的" if child else "你的",
        record="\n".join(f"{name}：{text}" for name, text in known if text),
    )


def is_child(case: Mapping[str, Any]) -> bool:
    """Whether a parent speaks; a patient of unknown age speaks for themselves."""
    return case["age"] is not None and case["age"] < OWN_VOICE_FROM


def _age(years: float | None) -> str:
    """An age as it is said: in years, below two in months, below a month in days.

    >>> _age(34.0), _age(1.5), _age(0.0219), _age(None)
    ('34岁', '18个月', '8天', '')
    """
    if years is None:
        return ""
    if years >= 2:
        return f"{years:.0f}岁" if years == int(years) or years >= 12 else f"{years:.1f}岁"
    months = round(years * 12)
    return f"{months}个月" if months >= 1 else f"{round(years * 365.25)}天"
