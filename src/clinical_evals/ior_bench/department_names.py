"""Names of departments: how they are folded, in which forms they are recognised, and where an answer mentions them.

Folding (protocol 1.2): NFKC, lower case, traditional characters as simplified ones; inside a name white space,
emphasis marks, quotes and hyphens do not count. A line break inside a name is read over once ("消化" at the end of a
line, "内科" on the next), a blank line never; a name of two characters that is broken over lines must stand alone
("妇", "科"), since 内 at a line's end and 科 at the next one's start are mostly two words.

Mentions are the longest matches without overlaps. Longer names that are no candidates count there too (`_FOREIGN`):
血液内科 is a department of its own, so a list with 内科 and without 血液内科 is not answered by it.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from clinical_evals.ior_bench.department_forms import accepted_forms

MENTION = "\ue000"
"""Stands for one mention of a candidate in a marked text (private use: no answer has a meaning for it)."""
FOREIGN = "\ue001"
"""Stands for the name of a department that is no candidate."""

# Traditional characters of department names and of the words that the rules know, drawn once from the character table
# of OpenCC (Apache-2.0) for the simplified characters that occur there; the two strings are parallel.
_TRADITIONAL = (
    "並併來個備傢傳傷傾僅儘優兒內別則剛創劃劇劑動務區卽員問嗎噁噹嚥嚮國圍圖夠婦學宮實寧將專對導屬嵗師幷幹張彆後從復惡態慮應懷戶掛擇擔據斷於旣時暫曏會朮査條業榦標檢檯歲歸氣決沒測準溫溼濕為無煙熱燒營爲狀猶現"
    "產産當療癥發盡矯確礙種稱穩箇節終組結絕給絶經綜緊總織纔義習聯聲職聽腎腦腫腸膚膽臟臨臺與菸萬葯薦藥處號術衕複覈見視覺計許診註詢話該認說説請論諮諸議護變負責軟較輸轉迴這進運過達適選遺還醫釋針錶鍼鎭鎮鑑鑒長"
    "門間閤關際隻雖難項須預頜頭頸題願顯風颱養馬驗髒體髮鬚麪麫麵麼麽齒齣齲"
)
_SIMPLIFIED = (
    "并并来个备家传伤倾仅尽优儿内别则刚创划剧剂动务区即员问吗恶当咽向国围图够妇学宫实宁将专对导属岁师并干张别后从复恶态虑应怀户挂择担据断于既时暂向会术查条业干标检台岁归气决没测准温湿湿为无烟热烧营为状犹现"
    "产产当疗症发尽矫确碍种称稳个节终组结绝给绝经综紧总织才义习联声职听肾脑肿肠肤胆脏临台与烟万药荐药处号术同复核见视觉计许诊注询话该认说说请论咨诸议护变负责软较输转回这进运过达适选遗还医释针表针镇镇鉴鉴长"
    "门间合关际只虽难项须预颌头颈题愿显风台养马验脏体发须面面面么么齿出龋"
)
_SIMPLE = str.maketrans(_TRADITIONAL, _SIMPLIFIED)

_GAP = r"[ \t*_~`'\"·•-]{0,3}+"
_BROKEN_GAP = rf"{_GAP}(?:\n{_GAP})?+"
_PUNCTUATION_GAP = r"[^\w\n]{0,4}+"
_ASCII_WORD = re.compile(r"[a-z0-9]")
# 科 that belongs to the next word: 内科学, 外科室, 科研, 科目, 科技, 科普.
_OTHER_WORD = re.compile("[学研目技普]")
# What may follow a form that does not end in 科 (急诊, 全科): 急诊手术 is an operation, not a department.
_AFTER_OPEN_FORM = re.compile(
    r"\W|就|看|室|中心|门诊|吧|了|即|挂|处理|的?(?:号|医生|专家)|[和或与及也]|可以|更?合适|最|\Z"
)
# 心内 and 神内 inside other words (中心内, 精神内); 产科急诊 is obstetrics.
_BEFORE_OPEN_FORM = re.compile("[中精核身放担科]")

# Qualifiers that make a department of their own out of 科, 内科 and 外科. Longer ones first where one begins another.
_QUALIFIERS = (
    "心脏大血管|心血管|心脏|心胸|胸心|呼吸|消化|神经内|神经|肾脏|血液|妇科内分泌|内分泌|风湿免疫|风湿|免疫|感染|传染|肝胆胰|肝胆|肝病|胰腺|胃肠|普通|普胸"
    "|血管|泌尿|甲状腺|乳腺|整形|烧伤|口腔颌面|颌面|口腔|脊柱|创伤|显微|运动|关节|肛肠|结直肠|妇科肿瘤|肿瘤|小儿|儿童|新生儿|老年病|老年|介入|疼痛|移植"
    "|耳鼻咽喉头颈|耳鼻咽喉|耳鼻喉|头颈|微创|妇产|生殖|皮肤性病|皮肤|变态反应|过敏|高血压|糖尿病|肥胖|减重|疝|腹壁|淋巴|腔镜|器官移植|骨肿瘤|骨关节|骨伤|足踝|手足|四肢|干部|中西医结合|中医|针灸|推拿|康复|职业病|急诊|重症"
)
# Parts of the body: one or more of them before 内科 or 外科 make a specialty too (骨外科, 手足外科, 肝胆外科).
_BODY = "心肾胸脑手足骨肝胆胰脾胃肠肺乳颈肩腕膝髋踝腰脊眼耳鼻喉咽口牙妇男"
_FOREIGN = re.compile(
    rf"(?:(?:{_QUALIFIERS})[*`]{{0,2}}){{1,3}}(?:[骨眼妇产男心肾胸脑手肝][*`]{{0,2}})?(?:内|外)?科"
    rf"|(?:[{_BODY}普大][*`]{{0,2}}){{1,4}}(?:内|外)科|门儿科"
    r"|\b(?:(?:plastic|vascular|cardiac|cardiothoracic|thoracic|orthop(?:a)?edic|pa?ediatric|oral|maxillofacial|breast|hand"
    r"|general|colorectal|trauma|transplant|neurological|surgical|interventional|medical|gyna?ecologic(?:al)?) )+"
    r"(?:surgery|cardiology|oncology|neurology|radiology|medicine|gastroenterology|endocrinology|dermatology)\b"
)


def fold(text: str) -> str:
    """NFKC, lower case, traditional characters as simplified ones."""
    return unicodedata.normalize("NFKC", text).translate(_SIMPLE).lower()


def name_key(name: str) -> str:
    """What two spellings of one name have in common: its folded letters and digits."""
    return "".join(letter for letter in fold(name) if letter.isalnum())


class MarkedText(NamedTuple):
    """A folded text in which each mention is one character."""

    text: str
    """`MENTION` and `FOREIGN` stand where names stood."""
    candidates: tuple[int, ...]
    """Which candidate each `MENTION` names, in order of the text."""

    def part(self, start: int, end: int) -> "MarkedText":
        """The slice of the text with the mentions that are in it."""
        first = self.text.count(MENTION, 0, start)
        text = self.text[start:end]
        return MarkedText(text, self.candidates[first : first + text.count(MENTION)])


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    letters: int
    candidate: int
    open_end: bool  # a short form that does not end in 科


def mark_mentions(text: str, candidates: Sequence[str]) -> MarkedText:
    """Replace the candidates' names in a folded text; linear in the length of the text.

    Args:
        text: the folded text (`fold`).
        candidates: the departments, as the caller spells them.

    Returns:
        The text with one `MENTION` for each mention of a candidate and one `FOREIGN` for other departments.
    """
    text = text.replace(MENTION, " ").replace(FOREIGN, " ")
    found: list[tuple[int, int, int, int]] = []  # minus the letters, start, end, candidate (or -1)
    for form in _forms(tuple(candidates)):
        for match in form.pattern.finditer(text):
            if _stands_for_itself(text, match, form):
                found.append((-form.letters, match.start(), match.end(), form.candidate))
    # A candidate stands before a foreign name of the same length: sorting is stable.
    for match in _FOREIGN.finditer(text):
        found.append((-sum(map(str.isalnum, match[0])), match.start(), match.end(), -1))
    return _replaced(text, _without_overlaps(found, len(text)))


def _stands_for_itself(text: str, match: re.Match[str], form: _Form) -> bool:
    following = text[match.end() : match.end() + 3]
    if form.open_end:
        inside_word = _BEFORE_OPEN_FORM.match(text, max(0, match.start() - 1), match.start())
        return inside_word is None and _AFTER_OPEN_FORM.match(following) is not None
    if match[0].endswith("科") and (
        _OTHER_WORD.match(following) or (form.letters == 2 and following.startswith("室"))
    ):
        return False
    if "\n" not in match[0] or form.letters > 2:
        return True
    starts_line = match.start() == 0 or text[match.start() - 1] == "\n"
    return starts_line and (not following or following.startswith("\n"))


def _without_overlaps(found: list[tuple[int, int, int, int]], length: int) -> list[tuple[int, int, int]]:
    """The longest names first, then the earlier ones: (start, end, candidate) in order of the text."""
    taken = bytearray(length)
    kept: list[tuple[int, int, int]] = []
    for _, start, end, candidate in sorted(found, key=lambda match: match[:2]):
        if not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            kept.append((start, end, candidate))
    return sorted(kept)


def _replaced(text: str, names: list[tuple[int, int, int]]) -> MarkedText:
    parts: list[str] = []
    last = 0
    for start, end, candidate in names:
        parts += [text[last:start], FOREIGN if candidate < 0 else MENTION]
        last = end
    return MarkedText("".join([*parts, text[last:]]), tuple(candidate for *_, candidate in names if candidate >= 0))


@lru_cache(maxsize=64)
def _forms(candidates: tuple[str, ...]) -> tuple[_Form, ...]:
    """Each form in which each candidate may be written; the candidates' own names before their short forms."""
    folded = [fold(name).strip() for name in candidates]
    forms = [_Form(_pattern(name), len(name_key(name)), i, False) for i, name in enumerate(folded) if name_key(name)]
    for form, candidate in accepted_forms([name_key(name) for name in folded]).items():
        forms.append(_Form(_pattern(form), len(form), candidate, not form.endswith("科")))
    return tuple(forms)


def _pattern(name: str) -> re.Pattern[str]:
    """A folded name with anything between its letters that does not count; words in Latin letters stand whole."""
    written = ""
    previous = ""
    for letter in name:
        if not letter.isalnum():
            previous = letter
            continue
        if previous:
            written += _between(previous, letter)
        written += re.escape(letter)
        previous = letter
    letters = [letter for letter in name if letter.isalnum()]
    start = r"(?<![a-z0-9])" if letters and _ASCII_WORD.match(letters[0]) else ""
    end = r"(?![a-z0-9])" if letters and _ASCII_WORD.match(letters[-1]) else ""
    return re.compile(f"{start}{written}{end}")


def _between(previous: str, letter: str) -> str:
    if not previous.isalnum():
        return _PUNCTUATION_GAP
    return "" if _ASCII_WORD.match(previous) and _ASCII_WORD.match(letter) else _BROKEN_GAP
