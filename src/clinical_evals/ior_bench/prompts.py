"""The prompts of the static task, in our own Chinese words (contents: protocol.md 1.2).

System role; then instruction, departments to choose from, written examples (few-shot only), the dialogue, and the form
of the answer. A changed word here or in `examples` needs a raised `PROMPT_VERSION`: results of different versions are
not compared, and logged answers of another version are not reused.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clinical_evals.truncation import Long

PROMPT_VERSION = "1"
"""Raised with every change of a prompt's text; it is part of every log and of the key of every logged answer."""

SYSTEM = "你是一家医院门诊的导诊人员，熟悉各科室的诊疗范围，负责判断来院患者这次应当挂哪个科室的号。"

SPEAKERS = {"patient": "患者", "doctor": "导诊"}
"""How the prompts name the speakers; a parent or another relative may speak for the patient."""

_INSTRUCTION = (
    "下面是一位患者（或其家属）与医院智能导诊助手的对话，助手还没有给出最后的建议。"
    "请根据对话内容，从可选科室中选出最适合这位患者本次就诊的一个科室。"
)
_DIRECT = "请只写出一个科室的名称，写法与可选科室中的完全相同，不要解释，也不要续写对话。"
_REASONED = (
    "请先逐步分析：患者是谁（年龄、性别、是否妊娠等），主要的症状、部位、起病时间和变化，"
    "哪些科室看起来有关、为什么选这个而不选那个。"
    "分析之后另起一行，以“结论：”开头，只写出一个科室的名称，写法与可选科室中的完全相同。"
)
CONCLUSION = "结论："
"""What the conclusion section of an answer starts with."""


class Strategy(NamedTuple):
    """One of the four prompting strategies of protocol.md 1.2."""

    name: str
    question: str
    """What ends the prompt: the form of the answer."""
    examples: bool = False
    votes: int = 1
    """Answers sampled to one prompt."""
    answer_tokens: int = 256
    """Tokens kept free for the answer, unless the user says otherwise."""


STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("zero_shot", _DIRECT),
        Strategy("few_shot", _DIRECT, examples=True),
        Strategy("majority_vote", _DIRECT, votes=5),
        Strategy("cot", _REASONED, answer_tokens=1024),
    )
}
"""By name, in the order in which the paper's Table 2 and ours print them."""

SHOTS = 3
"""Examples in a few-shot prompt, unless the user says otherwise."""
TEMPERATURE = 0.7
"""At which the answers of a majority vote are sampled, unless the user says otherwise."""


class Parts(NamedTuple):
    """What of a prompt belongs to the row."""

    candidates: str
    examples: str
    """Empty, or all examples as one text."""
    dialogue: str


LONG = Long(
    ("dialogue",),
    "system role, instruction, departments, examples and question",
    "Fewer --shots would help too, in a few-shot prompt.",
)
"""What is cut when the prompt does not fit: the dialogue, at its end."""


class Example(NamedTuple):
    """A solved case."""

    dialogue: Sequence[Mapping[str, str]]
    department: str


def render_dialogue(turns: Sequence[Mapping[str, str]]) -> str:
    """One turn a line, each with its speaker.

    >>> render_dialogue([{"role": "patient", "content": "牙疼。"}, {"role": "doctor", "content": "多久了？"}])
    '患者：牙疼。\\n导诊：多久了？'
    """
    return "\n".join(f"{SPEAKERS[turn['role']]}：{turn['content'].strip()}" for turn in turns)


def render_examples(examples: Sequence[Example]) -> str:
    """The examples of a few-shot prompt, numbered."""
    shown = []
    for number, example in enumerate(examples, 1):
        shown.append(f"例{number}\n{render_dialogue(example.dialogue)}\n科室：{example.department}")
    return "\n\n".join(shown)


def make_parts(
    turns: Sequence[Mapping[str, str]], candidates: Sequence[str], examples: Sequence[Example] = ()
) -> Parts:
    """The texts of one row.

    Args:
        turns: the dialogue as far as the model sees it (see `static.seen_turns`).
        candidates: the departments, in the order of the list.
        examples: of a few-shot prompt.
    """
    return Parts("、".join(candidates), render_examples(examples), render_dialogue(turns))


def user_text(strategy: str, parts: Parts) -> str:
    """Everything but the system role, as one text.

    Args:
        strategy: a key of `STRATEGIES`.
        parts: the texts of the row, whole or cut.
    """
    blocks = [_INSTRUCTION, f"【可选科室】\n{parts.candidates}"]
    if parts.examples:
        blocks.append(f"【示例】\n{parts.examples}")
    return "\n\n".join([*blocks, f"【对话】\n{parts.dialogue}", f"【要求】\n{STRATEGIES[strategy].question}"])
