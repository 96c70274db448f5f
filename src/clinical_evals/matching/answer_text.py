"""Stage 1 of reading an answer: any text becomes plain lines (Unicode forms, reasoning, chat tokens, HTML).

Every function is text in, text out, takes linear time, and never raises. Source: protocol 2.5, point 1.
"""

import html
import re
import unicodedata

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
_PLAIN = str.maketrans(
    _CIRCLED | dict.fromkeys("‐‑−﹣－", "-") | dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″", '"') | {"\U0001f51f": "10) "}
)
# Bounded runs: the canonical ordering of a megabyte of combining marks would take quadratic time.
_NON_ASCII_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,200}")


def plain_unicode(text: str) -> str:
    """One newline character, compatibility forms folded (full-width, ligatures, circled numbers), nothing invisible."""
    if "\n" not in text and "\\n" in text:  # a log that escaped its newlines
        text = text.replace("\\r", "").replace("\\n", "\n")
    text = _LINE_ENDS.sub("\n", text)
    if not text.isascii():
        text = _KEYCAP.sub(r"\1) ", text).translate(_PLAIN)
        text = _NON_ASCII_RUN.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
    return _INVISIBLE.sub("", text)


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
_ECHOED_TURN = re.compile(r"\A\s*(?:human|user|question|### (?:instruction|question|input))\s?:[^\n]*(?:\n(?!\s*(?:#* ?)?(?:assistant|answer|response)\s?:)[^\n]*)*(?=\n\s*(?:#* ?)?(?:assistant|answer|response)\s?:)", re.IGNORECASE)
_ROLE = re.compile(r"^[ ]?(?:#{1,4} ?)?(?:assistant|ai|model|doctor|clinician|response)\s?: ?", re.IGNORECASE | re.MULTILINE)
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
        return bare.rpartition("assistantfinal")[2] if bare.startswith("analysis") and "assistantfinal" in bare else text
    ends = [m.start() for m in channels[1:]] + [len(text)]
    parts = [text[m.end() : end] for m, end in zip(channels, ends, strict=True) if m[1].lower() == "final"]
    return "\n".join(_CHANNEL_END.split(part, maxsplit=1)[0] for part in parts)


def _without_tagged_reasoning(text: str) -> str:
    kept: list[str] = []
    inside, last = "", 0
    for tag in _REASONING.finditer(text):
        groups = tag.groupdict()
        name = next(v for k, v in groups.items() if k.startswith("name") and v is not None).lower() or "unused"
        ends = next((v for k, v in groups.items() if k.startswith("end") and v is not None), "").lower() in ("/", "end", "95")
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


# HTML and other tags

_HUGE_ENTITY = re.compile(r"&#[xX]?[0-9a-fA-F]{8,}+;?")  # html.unescape fails on numbers of thousands of digits
_COMMENT = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,40}+)((?:\s[^<>]{0,400})?)/?>")
_INLINE = frozenset("i em u span font code sub sup small a mark label abbr tt kbd center big cite q ins".split())
_STRUCK = frozenset("s del strike".split())
_BOLD = frozenset("b strong".split())
_EVIDENCE_TAG = re.compile(r"evidence|rational|reason|explan|justif|confiden|comment|note|probab|support|treat")
_CODE_TAG = re.compile(r"code|icd")
_TITLE_TAG = re.compile(r"name|title|descr|term|diagnosis|condition|disease")
_TABLE_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_TABLE_LINE = re.compile(r"^[ ]{0,8}\|.*$", re.MULTILINE)


def without_html(text: str) -> str:
    """Tags as the Markdown that says the same: list items, table rows, headings, bold; entities as characters."""
    if "&" in text:
        text = html.unescape(_HUGE_ENTITY.sub(" ", text)).replace("\r", "\n")
        text = _INVISIBLE.sub("", text.replace("\xa0", " "))
    if "<" not in text:
        return text
    text = _TABLE_LINE.sub(lambda line: _TABLE_BREAK.sub(" ", line[0]), _without_comments(text))
    records = re.search(r"<(?:name|title|description|diagnosis)>", text, re.IGNORECASE) is not None
    out: list[str] = []
    depth, row, last = 0, False, 0
    for tag in _TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if tag[3].strip() and "=" not in tag[3] and name not in _INLINE | _BOLD | {"br", "p", "div", "hr"}:
            continue  # "<patient name>" is a placeholder, not a tag
        piece = text[last : tag.start()]
        out.append(" ".join(piece.split()) if row else piece)
        last = tag.end()
        depth = min(20, max(0, depth + (-1 if closing else 1))) if name in ("ul", "ol", "dl") else depth
        out.append(_markdown(name, closing, depth, row, records))
        row = (not closing) if name == "tr" else row and name not in ("table", "tbody", "thead")
    return "".join([*out, text[last:]])


def _markdown(name: str, closing: bool, depth: int, row: bool, records: bool) -> str:
    if name in ("td", "th"):
        return " | " if closing else ""
    if name == "tr":
        return "\n" if closing else "\n| "
    if name in _BOLD:
        return "**"
    if name in _STRUCK:
        return "~~"
    if row or (name in _INLINE and not (records and name == "code")):
        return " " if row else ""
    if name in ("li", "dt"):
        return "\n" if closing else "\n" + "  " * max(0, depth - 1) + "- "
    if name == "dd":
        return "\n" if closing else "\n" + "  " * max(1, depth) + "- "
    if re.fullmatch(r"h[1-6]", name):
        return "\n" if closing else "\n" + "#" * int(name[1]) + " "
    if name in ("p", "table"):
        return "\n\n"
    return "\n" if closing or not records else _record_label(name)


def _record_label(name: str) -> str:
    """<diagnosis><name>…</name><code>…</code></diagnosis> as the lines of a record."""
    for pattern, label in ((_EVIDENCE_TAG, "Evidence: "), (_CODE_TAG, "Code: "), (_TITLE_TAG, "")):
        if pattern.search(name):
            return "\n" + label
    return "\n"


def _without_comments(text: str) -> str:
    kept, last = [], 0
    while start := _COMMENT.search(text, last):
        kept.append(text[last : start.start()])
        end = re.compile(f"</{start[1]}>" if start[1] else "-->", re.IGNORECASE).search(text, start.end())
        if not end:  # not closed: what follows is read as text
            return "".join(kept) + text[start.end() :]
        last = end.end()
    return "".join([*kept, text[last:]])


# Several items in one line

_INLINE_NUMBER = re.compile(r"(?:(?<=^)|(?<=[\s;:,.)、。!?]))\(?(\d{1,2})(?:[.、](?!\d)|\)|:(?!\d)) ?(?=[^\s\d]|\d[^\d.])", re.MULTILINE)
_INLINE_BULLET = re.compile(r" ?[•●▪◦‣] ?")
_LAST_AND = re.compile(r"[ ,;、]{0,4}(?: (?:and|or))?[ ,;、]{0,4}\Z")
_SEP = re.compile(r"<sep>|\[SEP\]", re.IGNORECASE)


def one_item_a_line(text: str) -> str:
    """Lines that hold a whole list ("1. Pneumonia 2. Hypertension", "• Pneumonia • Hypertension") cut into its entries."""
    return "\n".join(_cut_line(line) for line in _SEP.sub("\n", text).split("\n"))


def _cut_line(line: str) -> str:
    cuts: list[int] = []
    wanted = 1
    for number in _INLINE_NUMBER.finditer(line):
        before = line[max(0, number.start() - 12) : number.start()].lower().rstrip()
        if int(number[1]) == wanted and not (wanted == 2 and before.endswith(("stage", "type", "grade", "class", "step", "part", "phase", "level"))):
            cuts.append(number.start())
            wanted += 1
    if len(cuts) > 1:
        edges = [*cuts, len(line)]
        parts = [_LAST_AND.sub("", line[start:end]) for start, end in zip(edges[:-1], edges[1:], strict=True)]
        head = line[: cuts[0]].rstrip()
        return "\n".join([head, *parts] if head else parts)
    if len(_INLINE_BULLET.findall(line.strip())) > 1:
        head, *rest = _INLINE_BULLET.split(line.strip())
        return "\n".join(([head] if head else []) + ["- " + part.rstrip(" ,;") for part in rest if part.strip()])
    return line
