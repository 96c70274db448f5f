"""Stage 1 of reading an answer: any text becomes plain lines (Unicode forms, reasoning, chat tokens, HTML).

Every function is text in, text out, takes linear time, and never raises. Source: protocol 2.5, point 1.
"""

import re
import unicodedata
from itertools import pairwise

from clinical_evals.matching.answer_headings import is_label

# Unicode

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]"
)
_CIRCLED = {chr(0x2460 + i): f"{i + 1}) " for i in range(20)}  # ① to ⑳
for _first in (0x2776, 0x2780, 0x278A):  # ❶, ➀, ➊ to ten
    _CIRCLED |= {chr(_first + i): f"{i + 1}) " for i in range(10)}
_KEYCAP = re.compile("([0-9])\ufe0f?\u20e3")
_LATEX_FRAME = re.compile(r"\\(?:begin|end)\{[a-z*]{1,20}\}(?:\[[^\]\n]{0,60}\])?")
_LATEX_ITEM = re.compile(r"\\item\b(?:\[[^\]\n]{0,20}\])?")
_PLAIN = str.maketrans(
    _CIRCLED
    | dict.fromkeys("‐‑−﹣－", "-")
    | dict.fromkeys("‘’‚‛′", "'")
    | dict.fromkeys("“”„‟″", '"')
    | {"\U0001f51f": "10) "}
)
# Bounded runs: the canonical ordering of a megabyte of combining marks would take quadratic time.
_NON_ASCII_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,200}")


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Pairs of surrogates as their character, lone ones as a space: no UTF-8 text can hold half a character."""
    if not _SURROGATE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\ufffd", " ")


def plain_unicode(text: str) -> str:
    """One newline character, compatibility forms folded (full-width, circled numbers), nothing invisible."""
    text = without_surrogates(text)
    if "\\n" in text and "\n" not in text.strip():  # a log that escaped its newlines
        text = text.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
    text = _LINE_ENDS.sub("\n", text)
    if not text.isascii():
        text = _KEYCAP.sub(r"\1) ", text).translate(_PLAIN)
        text = _NON_ASCII_RUN.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
    text = _INVISIBLE.sub("", text)
    if "\\item" in text:  # a LaTeX list
        text = _LATEX_ITEM.sub("\n- ", _LATEX_FRAME.sub("\n", text))
    quoted = text.strip()
    if len(quoted) > 2 and quoted[0] == quoted[-1] == '"' and quoted.count('"') == 2:
        return quoted[1:-1]
    return text


# Reasoning and chat tokens

_REASONING_NAMES = (
    "think|thinks|thinking|thought|thoughts|reason|reasons|reasoning|reasoning_process|analysis|scratchpad|reflection|rationale"
    "|rationales|explanation|justification|evidence|cot|chain_of_thought|inner_monologue|internal_thought|planning|seed:think"
)
_REASONING = re.compile(
    rf"<\s?(?P<end>/?)\s?(?P<name>{_REASONING_NAMES})(?:\s[^<>\n]{{0,80}})?>"
    r"|\[(?P<end2>/?)(?P<name2>think|thinking|reasoning)\]"
    r"|<\|(?P<end3>begin|end)_of_(?P<name3>thought|thinking|reasoning)\|>"
    r"|◁(?P<end4>/?)(?P<name4>think)▷"
    r"|<unused(?P<end5>94|95)>(?P<name5>)",  # MedGemma
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s?(\w{1,20})[^<]{0,80}(?:<\|message\|>)?", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call)\|>", re.IGNORECASE)
_ANSWER = re.compile(r"<(answer|final_answer|final|output|response)>", re.IGNORECASE)
_NEXT_TURN = re.compile(
    r"<\|im_start\|>\s?user|<\|start_header_id\|>\s?user|<start_of_turn>\s?user|<\|user\|>|\[INST\]"
    r"|^[ ]?(?:#{1,4} ?)?(?:human|user|instruction|question)\s?:",
    re.IGNORECASE | re.MULTILINE,
)
_ECHOED_TURN = re.compile(
    r"\A\s*(?:human|user|question|q|### (?:instruction|question"
    r"|input))\s?:[^\n]*(?:\n(?!\s*(?:#* ?)?(?:assistant|answer|a"
    r"|response)\s?:)[^\n]*)*\n(?:(?=\s*(?:#* ?)?(?:assistant|answer|response)\s?:)|\s*a\s?:)",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^[ ]?(?:#{1,4} ?)?(?:assistant|ai|model|doctor|clinician|response)\s?: ?", re.IGNORECASE | re.MULTILINE
)
_CHAT_TOKEN = re.compile(
    r"<\|im_start\|>\s?assistant|<\|start_header_id\|>\s?assistant|<start_of_turn>\s?model|<\|[a-z_0-9]{1,40}\|>|</s>"
    r"|<(?:end_of_turn|start_of_turn|eos|bos|pad|unk)>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)


def without_reasoning(text: str) -> str:
    """The answer without what the model only thought, and without chat tokens or turns that it made up.

    An opening tag without its end drops the rest, an end without its opening drops what stands before it.
    """
    text = _without_tagged_reasoning(_final_channel(text))
    text = _tagged_answer(text)
    text = _ROLE.sub("", _ECHOED_TURN.sub("", text, count=1))
    turn = next((m.start() for m in _NEXT_TURN.finditer(text) if text[: m.start()].strip()), None)
    return _CHAT_TOKEN.sub("\n", text[:turn])


def _final_channel(text: str) -> str:
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        bare = text.lstrip()  # the same with its tokens stripped
        return (
            bare.rpartition("assistantfinal")[2] if bare.startswith("analysis") and "assistantfinal" in bare else text
        )
    ends = [m.start() for m in channels[1:]] + [len(text)]
    parts = [text[m.end() : end] for m, end in zip(channels, ends, strict=True) if m[1].lower() == "final"]
    return "\n".join(_CHANNEL_END.split(part, maxsplit=1)[0] for part in parts)


def _without_tagged_reasoning(text: str) -> str:
    kept: list[str] = []
    inside, last = "", 0
    for tag in _REASONING.finditer(text):
        groups = tag.groupdict()
        name = next(v for k, v in groups.items() if k.startswith("name") and v is not None).lower() or "unused"
        ends = next((v for k, v in groups.items() if k.startswith("end") and v is not None), "").lower() in (
            "/",
            "end",
            "95",
        )
        if inside:
            if ends and name == inside:
                inside, last = "", tag.end()
        elif ends:
            kept, last = [], tag.end()
        else:
            kept.append(text[last : tag.start()])
            inside = name
    return "\n".join(kept if inside else [*kept, text[last:]])


def _tagged_answer(text: str) -> str:
    """What stands in the last filled <answer> (or the like), if there is one."""
    best, position = "", 0
    while tag := _ANSWER.search(text, position):
        end = re.compile(f"</{tag[1]}>", re.IGNORECASE).search(text, tag.end())
        content = text[tag.end() : end.start() if end else len(text)]
        best = content if content.strip() else best
        if not end:
            break
        position = end.end()
    return best or text


# Several items in one line

_INLINE_NUMBER = re.compile(
    r"(?:(?<=^)|(?<=[\s;:,)、。!?]))\(?([1-9]\d?)([.、](?!\d)|\)|:(?!\d)) {0,2}(?=[^\s\d]|\d[^\d.])", re.MULTILINE
)
_INLINE_BULLET = re.compile(r" ?[•●▪◦‣] ?")
_LAST_AND = re.compile(r"[ ,;、]{0,4}(?: (?:and|or))?[ ,;、]{0,4}\Z")
_NEXT_LABEL = re.compile(r"(?<=[.;]) (?=([A-Z][A-Za-z /-]{1,40}):)")
_SEP = re.compile(r"<sep>|\[SEP\]", re.IGNORECASE)


def one_item_a_line(text: str) -> str:
    """Lines that hold a whole list ("1. Pneumonia 2. Hypertension", "• Pneumonia • Hypertension") cut
    into its entries."""
    text = _NEXT_LABEL.sub(lambda m: "\n" if is_label(m[1]) else m[0], _SEP.sub("\n", text))
    return "\n".join(_cut_line(line) for line in text.split("\n"))


_INLINE_LETTER = re.compile(r"(?:(?<=^)|(?<=[\s;,.]))\(?([A-Za-z])[.)] (?=\S)")


def _lettered(line: str) -> list[int]:
    """Where "a. Sepsis b. AKI c. CKD" is to be cut; three letters at least, for "E. coli" is none."""
    cuts: list[int] = []
    for letter in _INLINE_LETTER.finditer(line):
        if letter[1].lower() == chr(ord("a") + len(cuts)) and (cuts or letter.start() == 0):
            cuts.append(letter.start())
    return cuts if len(cuts) > 2 else []


_INLINE_ROMAN = re.compile(r"(?:(?<=^)|(?<=[\s;,.:]))\(?([ivx]{1,5})\) ?(?=\S)", re.IGNORECASE)
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")


def _roman_numbered(line: str) -> list[int]:
    """Where "(i) sepsis (ii) AKI" is to be cut."""
    cuts: list[int] = []
    for numeral in _INLINE_ROMAN.finditer(line):
        if len(cuts) < len(_ROMANS) and numeral[1].lower() == _ROMANS[len(cuts)]:
            cuts.append(numeral.start())
    return cuts if len(cuts) > 1 else []


# "CKD stage 2." is no second entry.
_COUNTED = ("stage", "type", "grade", "class", "step", "part", "phase", "level", "fetus", "twin", "category", "factor")


def _numbered(line: str) -> list[int]:
    """Where "1. Sepsis 2. AKI" is to be cut: numbers in sequence, all with the sign of the first."""
    cuts: list[int] = []
    sign = ""
    for number in _INLINE_NUMBER.finditer(line):
        before = line[max(0, number.start() - 12) : number.start()].lower().rstrip()
        if int(number[1]) != len(cuts) + 1 or (sign and number[2] != sign):
            continue
        if len(cuts) != 1 or not before.endswith(_COUNTED):
            cuts.append(number.start())
            sign = number[2]
    return cuts if len(cuts) > 1 else []


def _cut_line(line: str) -> str:
    cuts = _numbered(line) or _lettered(line) or _roman_numbered(line)
    if len(cuts) > 1:
        edges = [*cuts, len(line)]
        parts = [_LAST_AND.sub("", line[start:end]) for start, end in pairwise(edges)]
        head = line[: cuts[0]].rstrip()
        return "\n".join([head, *parts] if head else parts)
    if len(_INLINE_BULLET.findall(line.strip())) > 1:
        head, *rest = _INLINE_BULLET.split(line.strip())
        return "\n".join(([head] if head else []) + ["- " + part.rstrip(" ,;") for part in rest if part.strip()])
    return line
