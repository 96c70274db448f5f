"""How the simulated patient speaks, and how the doctor asks: statistics of what was said (protocol.md 1.3, Table 6).

Definitions, since the paper gives none:

- A *sentence* ends with 。 ？ ！ or their Latin forms (a full stop only before white space), with a line, or with the
  turn. Commas, semicolons and … do not end one. Its *length* is the number of its characters without white space and
  punctuation; what has none of them (……) is no sentence.
  All is measured on what the other side sees: of a turn that is longer, the first `dialogue.LONGEST_TURN` characters.
- A *leak* is a turn of the patient that names a department to choose from, for whatever reason, as an answer's
  departments are found (`department_names`): a story of last week's visit to 骨科 is one too.
- A *break* is a turn of the patient that asks (a question mark, or 吗 at a sentence's end), or that speaks as a doctor
  (`simulator_cues`: a doctor's label in front of a line of the raw answer, or words that only the other side says;
  what others said is no such word). 我该挂什么科？ is a question and no doctor's speech: it breaks the patient's part,
  which is to answer. The two kinds are counted apart, so that either reading can be had.
- A *question* of the doctor is a question mark or a row of them.
"""

import re
import unicodedata
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from clinical_evals.ior_bench.department_names import fold, mark_mentions
from clinical_evals.ior_bench.simulator_cues import DOCTOR_LABEL, DOCTOR_SPEECH, QUESTION, REPORTED

MOST_QUESTIONS = 2
"""Questions that the questioner may ask in one turn (protocol.md 1.3: one or two)."""

_SENTENCE_END = re.compile(r"[。！？!?\n]|\.(?=\s|\Z)")
_MARKS = re.compile(r"[?？](?:[\s!！]*[?？])*")


class PatientTurn(NamedTuple):
    """What one turn of the patient shows."""

    sentence_lengths: tuple[int, ...]
    """In characters."""
    departments: tuple[str, ...]
    """The departments that it names, spelled as in the list, each once, in the order named."""
    asks: bool
    speaks_as_doctor: bool

    @property
    def leaks(self) -> bool:
        """Whether it names a department."""
        return bool(self.departments)

    @property
    def breaks(self) -> bool:
        """Whether it asks or speaks as a doctor."""
        return self.asks or self.speaks_as_doctor


class PatientStatistics(NamedTuple):
    """The turns of the patient in a run."""

    turns: int
    silent: int
    """Turns without a sentence."""
    sentences: int
    sentence_length: float | None
    """Mean length of a sentence in characters; None where nothing is said."""
    leaks: int
    """Turns that name a department."""
    gold_leaks: int
    """Of these, turns that name the gold one."""
    breaks: int
    """Turns that ask or speak as a doctor."""
    asks: int
    doctor_speech: int
    """The two kinds of break; a turn may be both."""

    @property
    def leak_rate(self) -> float | None:
        """Share of the turns, 0-1; None where there are none."""
        return self.leaks / self.turns if self.turns else None

    @property
    def break_rate(self) -> float | None:
        """Share of the turns, 0-1; None where there are none."""
        return self.breaks / self.turns if self.turns else None


class QuestionStatistics(NamedTuple):
    """The turns in which the questioner asks."""

    turns: int
    questions: int
    too_many: int
    """Turns with more than `MOST_QUESTIONS`."""
    none: int
    """Turns without any."""


def split_sentences(text: str) -> list[str]:
    """The sentences of a turn, without their ends.

    >>> split_sentences("头疼，三天了。还有点恶心……真的！！")
    ['头疼，三天了', '还有点恶心……真的']
    """
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if count_characters(part)]


def count_characters(text: str) -> int:
    """Characters that are neither white space nor punctuation.

    >>> count_characters("头疼， 三天了。")
    5
    """
    return sum(unicodedata.category(char)[0] not in "CPZ" for char in text)


def count_questions(text: str) -> int:
    """How many questions a turn of the doctor asks.

    >>> count_questions("疼吗？？多久了?"), count_questions("请说说看。")
    (2, 0)
    """
    return sum(1 for _ in _MARKS.finditer(text))


def read_patient_turn(said: str, answer: str, candidates: Sequence[str]) -> PatientTurn:
    """What one turn of the patient shows; takes time linear in its length.

    Args:
        said: the patient's own words, as the doctor sees them.
        answer: the model's raw answer, which may have a label that `said` is freed of.
        candidates: the departments to choose from.
    """
    text = fold(said)
    found = mark_mentions(text, candidates).candidates
    departments = tuple(dict.fromkeys(candidates[place] for place in found))
    as_doctor = DOCTOR_LABEL.search(_spoken(answer)) is not None
    as_doctor = as_doctor or any(map(_is_doctors, split_sentences(text)))
    lengths = tuple(map(count_characters, split_sentences(said)))
    return PatientTurn(lengths, departments, QUESTION.search(text) is not None, as_doctor)


def patient_statistics(turns: Sequence[PatientTurn], golds: Sequence[str]) -> PatientStatistics:
    """The statistics over turns.

    Args:
        turns: of all dialogues.
        golds: for each turn the gold department of its case.
    """
    lengths = [length for turn in turns for length in turn.sentence_lengths]
    return PatientStatistics(
        turns=len(turns),
        silent=sum(not turn.sentence_lengths for turn in turns),
        sentences=len(lengths),
        sentence_length=fmean(lengths) if lengths else None,
        leaks=sum(turn.leaks for turn in turns),
        gold_leaks=sum(gold in turn.departments for turn, gold in zip(turns, golds, strict=True)),
        breaks=sum(turn.breaks for turn in turns),
        asks=sum(turn.asks for turn in turns),
        doctor_speech=sum(turn.speaks_as_doctor for turn in turns),
    )


def question_statistics(turns: Sequence[str]) -> QuestionStatistics:
    """The statistics over what the questioner said, one text a turn."""
    counts = [count_questions(said) for said in turns]
    too_many = sum(count > MOST_QUESTIONS for count in counts)
    return QuestionStatistics(len(counts), sum(counts), too_many, counts.count(0))


def _spoken(answer: str) -> str:
    """A raw answer without what the model only thought."""
    _, end, spoken = answer.rpartition("</think>")
    return "" if not end and spoken.lstrip().startswith("<think>") else spoken


def _is_doctors(sentence: str) -> bool:
    """Whether a sentence is a doctor's, and not what the patient was told by others."""
    cue = DOCTOR_SPEECH.search(sentence)
    return cue is not None and REPORTED.search(sentence, 0, cue.end()) is None
