"""Generated notes: the layout of discharge and radiology notes, with sentences put together at random.

They are for measuring time and memory: their sections are right, their content says nothing. For notes that fit their
admission see `demo_notes`.
"""

from collections.abc import Sequence
from random import Random

from clinical_evals.clibench.demo_note_styles import STYLES, TEMPLATE, lay_out

LABEL = "[Synthetic note: clinical-evals, generated for measurements]"
VARIANTS = 64
"""Frames of discharge notes; each note puts other sentences into one of them."""
_LISTS = {"home_drugs": 8, "discharge_drugs": 10, "history": 6, "results": 16}
_PLACE = "\x00"


class NoteTexts:
    """Makes texts of notes.

    Args:
        sentences: to put together.
        seed: another seed gives other texts.
    """

    def __init__(self, sentences: Sequence[str], seed: int) -> None:
        self._sentences = tuple(sentences)
        random = Random(f"{seed} frames")
        self._frames = [self._frame(random) for _ in range(VARIANTS)]

    def _frame(self, random: Random) -> tuple[str, str]:
        sections: dict[str, Sequence[str]] = {name: self._section(name, random) for name in TEMPLATE}
        text = lay_out(random.choice(STYLES), random.choice("FM"), sections, LABEL)
        before, after = text.split(_PLACE)
        return before, after

    def _section(self, name: str, random: Random) -> list[str]:
        if name == "illness":
            return [_PLACE]
        if name in _LISTS:
            return [f"{number}. {random.choice(self._sentences)}" for number in range(1, _LISTS[name] + 1)]
        return random.choices(self._sentences, k={"course": 24, "exam": 9, "instructions": 8}.get(name, 1))

    def discharge(self, random: Random) -> str:
        """A discharge note of about 5,000 characters."""
        before, after = random.choice(self._frames)
        return before + " \n".join(random.choices(self._sentences, k=12)) + after

    def radiology(self, random: Random) -> str:
        """A radiology report of about 500 characters."""
        found = " \n".join(random.choices(self._sentences, k=5))
        return (
            f"EXAMINATION:  CHEST (PORTABLE AP)\n\nINDICATION:  {random.choice(self._sentences)}\n\nFINDINGS: \n\n"
            f"{found}\n\nIMPRESSION: \n\n{random.choice(self._sentences)}\n\n{LABEL}\n"
        )
