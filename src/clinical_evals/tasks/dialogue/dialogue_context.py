"""What of a dialogue fits a model's context: the oldest questions and answers go first (protocol.md 1.3).

The system text, the greeting, the patient's first answer (the complaint) and the last message are never dropped; of
what is between them whole pairs of a question and its answer go, so that the two sides still speak in turn.
"""

from clinical_evals.errors import InputError
from clinical_evals.ior_bench.dialogue import Dialogue, Step, messages_for
from clinical_evals.tasks.dialogue.dialogue_log import Shown
from clinical_evals.tasks.models.generation import Chat
from clinical_evals.truncation import Room

_FIRST = 2
"""Turns that always stay: the greeting and the patient's first answer."""


def show(step: Step, dialogue: Dialogue, chat: Chat, room: Room, where: str) -> Shown:
    """The prompt of a step, without as many of the oldest questions and answers as the model's context asks for.

    Args:
        step: who is asked.
        dialogue: so far.
        chat: the model's own template and tokenizer.
        room: the tokens there are.
        where: names the case in an error.

    Raises:
        InputError: what is never dropped does not fit alone.
    """
    spoken = dialogue.spoken
    for dropped in range(droppable_pairs(len(spoken)) + 1):
        shown = spoken[:_FIRST] + spoken[_FIRST + 2 * dropped :]
        prompt = chat.render_messages(messages_for(step, dialogue._replace(spoken=shown)))
        tokens = chat.count(prompt)
        if tokens <= room.prompt:
            return Shown(prompt, tokens, len(shown) / len(spoken))
    raise InputError(
        f"{where}: the instructions, the patient's first answer and the last message take {tokens} tokens, but a "
        f"context of {room.context} tokens less {room.reserved} reserved for the answer leaves {max(room.prompt, 0)}. "
        f"Give a longer --context (at least {tokens + room.reserved}), if the model has it, or fewer --answer-tokens."
    )


def droppable_pairs(spoken: int) -> int:
    """How many pairs of question and answer may go when so many turns were spoken.

    >>> [droppable_pairs(spoken) for spoken in (1, 2, 3, 4, 5, 6)]
    [0, 0, 0, 0, 1, 1]
    """
    return max(0, (spoken - _FIRST - 1) // 2)
