"""Which part of an answer is judged: the answer's own turn, and in it the conclusion section if there is one.

Works on folded, marked texts (`department_names`). Three kinds of openings are told apart:

- a *label* (结论：, 【结论】, ## 结论, **最终科室**：, 推荐科室：, Answer:, \\boxed{…}, a JSON key) announces the
  answer. The last one with anything after it counts, also when it names no department:
  "结论：无法判断" is no answer, whatever the reasoning names. The same label with another department before it, and no
  word of a correction between them, makes the answer ambiguous;
- a *summary* (综上, 总之, 最合适的科室是, 建议：) counts when it names a department or abstains, else what stands
  before it does;
- an *inference* (因此, 所以) counts when it recommends one and no label is there: such words also open the steps of a
  reasoning.

A section ends where reasons, notes or the next title begin.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from clinical_evals.ior_bench.department_names import MENTION, MarkedText

# Turns of a dialogue that the model makes up after (or echoes before) its answer.

_PATIENT = r"病人|患者|用户|家属|家长|提问者?|问题?|对话(?:内容)?|示例\d{0,2}|例\d{1,2}|question|user|patient|human|q"
_DOCTOR = r"医生|医师|导诊员?|导诊台|分诊员?|分诊台|护士|助手|助理|客服|答|ai医生|doctor|assistant|nurse|a"
_TURN = re.compile(
    rf"(?:^|(?<=[\s。!?;\"]))(?:[\[【(<#]{{0,4}}+[ ]?(?:(?P<patient>{_PATIENT})|(?P<doctor>{_DOCTOR}))[\]】)>]?[ ]?:"
    rf"|[【\[](?:(?P<patient2>{_PATIENT})|(?P<doctor2>{_DOCTOR}))[】\]])|^#{{1,4}} (?P<patient3>{_PATIENT})[ ]?$",
    re.MULTILINE,
)

# A next case that a model goes on to write after a short answer, in the layout of the examples it was shown.
_NEXT_CASE = re.compile(
    r"^[#【\[ ]{0,4}(?:病例|案例|示例|例)[ ]?[0-9一二三四五六七八九十]{0,3}[】\]]?[ ]?(?:$|:|(?<=】))"
    r"|^[#【\[ ]{0,4}(?:患者)?(?:主诉|信息|年龄|性别|病历|现病史)[】\]]?[ ]?(?::|(?<=】))",
    re.MULTILINE,
)
_SHORT_ANSWER = 60

# Openings of a conclusion.

_QUALIFIER = (
    "我的|我|您的|您|本次|该|患者|病人|最终|最后|最佳|最|合适|适合|应该|应|首诊|首选|优先|正确|匹配|对应|分诊|导诊|转诊|目标|所属|预测|就诊|就医|挂号|诊疗"
    "|推荐|建议|判断|选择|的|去|挂|是|final|recommended|suggested|the|my|best|most|appropriate|predicted|target|referral"
    "|outpatient|hospital| "
)
_NOUN = "结论|答案|科室|科别|结果|输出|output|departments?|answer|conclusion|specialty|clinic"
_OPENING_MARKS = r"[ \t#>\"'({\[【.)、|0-9一二三四五六七八九十①-⑩-]{0,14}"
_LABEL = re.compile(
    rf"(?:^|(?<=[。;!?,.{{<\n]))(?:因此|所以|故|综上(?:所述)?)?[,]?{_OPENING_MARKS}+(?:{_QUALIFIER}){{0,8}}(?:{_NOUN})"
    r"(?:名称|name)?(?:"
    r"[ ]?(?:应该是|应为|应是|就是|是|为|is)?[ ]?(?P<key>[\"'])?[】\])\"]?[ ]?(?::|—|->|→|=)"
    r"|[】\]\"](?!:)"
    r"|[ ]?$)"
    r"|(?P<boxed>\\boxed[ ]?\{)"
    r"|<(?P<tag>(?:最终|推荐|就诊)?(?:结论|答案|科室))>",
    re.MULTILINE,
)
_SUMMARY = re.compile(
    r"综上|综合(?=以上|上述|来看|考虑|分析|判断|您|所述|起来)|总之|总的来说|总而言之|总体而言|最终(?=我|认为|建议|推荐|选择|应|判断|确定|决定|还是)"
    rf"|(?<![这该此个么选其他它])(?:{_NOUN})(?:名称)?[ ]?(?:应该是|应为|应是|就是|是|为|is\b)"
    rf"|(?:^|(?<=[。;!?\n])){_OPENING_MARKS}+(?:{_QUALIFIER}){{0,6}}(?:建议|推荐|判断|选择|意见|总结|回答|recommendation|summary)"
    r"[】\])\"]?[ ]?(?::|$)"
    r"|in conclusion|in summary|to sum up",
    re.MULTILINE,
)
_INFERENCE = re.compile(r"因此|所以|因而|故(?=建议|应|推荐|选)|\btherefore\b|\bthus\b")
_ALSO = re.compile(r"也|还|同时|\balso\b")

_END = re.compile(
    rf"(?:^|(?<=[。;!?,.\n])){_OPENING_MARKS}+(?:推荐|建议|选择|判断|主要|的|就诊|挂号)?"
    r"(?:理由|原因|依据|分析|解释|说明|备注|注意(?:事项)?|注|温馨提示|提示|提醒|鉴别(?:诊断)?|症状|诊断|reasons?|reasoning|explanation"
    r"|notes?|rationale|analysis|justification)[】\])\"]?(?:[ ]?:|[ ]?$|(?<=】))"
    rf"|^#{{1,6}} [^\n{MENTION}]{{0,60}}$|^【[^\n】{MENTION}]{{1,12}}】",
    re.MULTILINE,
)
_CONTENT = re.compile(rf"[\w{MENTION}\ue001]")


class Opening(Enum):
    """How a conclusion section begins."""

    LABEL = "label"
    SUMMARY = "summary"
    INFERENCE = "inference"


class Section(NamedTuple):
    """A part of the answer that states a conclusion."""

    opening: Opening
    part: MarkedText


def own_turn(marked: MarkedText) -> MarkedText:
    """The answer itself, without the turns of patient and doctor that a model writes after or before it.

    Text that stands before the first speaker is the answer, and so is the first doctor's turn that names a department.
    "患者：男，34岁" is also a line of a summary: where a conclusion is labelled further down, nothing is cut.
    """
    next_case = _NEXT_CASE.search(marked.text)
    if next_case and next_case.start() <= _SHORT_ANSWER and MENTION in marked.text[: next_case.start()]:
        marked = marked.part(0, next_case.start())
    text = marked.text
    turns = list(_TURN.finditer(text))
    if not turns:
        return marked
    head = marked.part(0, turns[0].start())
    if MENTION in head.text:
        return head
    concludes = any(_LABEL.search(text, turn.end()) for turn in turns[:1])
    if not _CONTENT.search(head.text):
        ends = [turn.start() for turn in turns[1:]] + [len(text)]
        for turn, end in zip(turns, ends, strict=True):
            if (turn["doctor"] or turn["doctor2"]) and text.find(MENTION, turn.end(), end) >= 0:
                return marked.part(turn.end(), end)
    elif _SUMMARY.search(text, turns[0].end()) or _INFERENCE.search(text, turns[0].end()):
        concludes = True
    return marked if concludes else head


def conclusion_sections(marked: MarkedText) -> Iterator[Section]:
    """The conclusion sections of an answer, the last one first.

    A label with nothing after it is a section only where there is no other: the conclusion that never came.
    """
    text = marked.text
    labels = list(_LABEL.finditer(text))
    openings = [(match.start(), Opening.LABEL, match) for match in labels]
    openings += [(match.start(), Opening.SUMMARY, match) for match in _last(_SUMMARY, text)]
    if not labels:
        openings += [(match.start(), Opening.INFERENCE, match) for match in _last(_INFERENCE, text)]
    announced = None
    filled = False
    for _, opening, match in sorted(openings, key=lambda found: found[0], reverse=True)[:_MOST_SECTIONS]:
        part = marked.part(match.end(), _section_end(text, match))
        if _CONTENT.search(part.text):
            if opening is not Opening.INFERENCE or not _ALSO.search(part.text[:40]):
                filled = True
                yield Section(opening, part)
        elif opening is Opening.LABEL:
            announced = Section(opening, part)
    if announced and not filled:
        yield announced


_REVISED = re.compile("修改|更正|纠正|修正|重新|更新|改为|再考虑|revis|correct(?:ion|ed)|updat")


def earlier_conclusions(marked: MarkedText) -> list[MarkedText]:
    """What the label of the last conclusion announced before, where nothing says that it was revised.

    The same label again (结论：X, 结论：Y) is no change of mind; 初步结论 and 最终结论 are two labels.
    """
    labels = [label for label in _last(_LABEL, marked.text) if _CONTENT.search(marked.text, label.end())]
    keys = ["".join(letter for letter in label[0] if letter.isalpha()) for label in labels]
    found: list[MarkedText] = []
    for place, label in enumerate(labels[:-1]):
        end = min(labels[place + 1].start(), _section_end(marked.text, label))
        if _REVISED.search(marked.text, label.end(), labels[place + 1].start()):
            found.clear()
        elif keys[place] == keys[-1]:
            found.append(marked.part(label.end(), end))
    return found


def before_reasons(marked: MarkedText) -> MarkedText:
    """What stands before reasons or notes that an answer adds under a title of their own."""
    end = _END.search(marked.text)
    return marked.part(0, end.start()) if end else marked


_MOST_SECTIONS = 20  # only the last ones of an answer that repeats itself without end: the time stays linear


def _last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(pattern.finditer(text))[-_MOST_SECTIONS:]


def _section_end(text: str, opening: re.Match[str]) -> int:
    groups = opening.groupdict()
    start = opening.end()
    if groups.get("boxed"):
        return _found(text, "}", start)
    if groups.get("tag"):
        return _found(text, "</", start)
    if groups.get("key"):
        return _value_end(text, start)
    end = _END.search(text, start)
    return end.start() if end else len(text)


def _found(text: str, mark: str, start: int) -> int:
    end = text.find(mark, start)
    return len(text) if end < 0 else end


_VALUE = re.compile(r"\s{0,20}(?:\"[^\"]*\"|'[^']*'|\[[^\]]*\]|[^,}\n]*)")


def _value_end(text: str, start: int) -> int:
    """Where the value of a JSON key ends: a string, a list of strings, or a bare word such as null."""
    match = _VALUE.match(text, start)
    return match.end() if match else len(text)
