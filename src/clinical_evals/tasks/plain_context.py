"""What lighteval's own command line leaves unknown, the tokenizer and context: an estimate, with one warning."""

import logging
import os
from functools import cache

from clinical_evals.errors import InputError

CONTEXT_VARIABLE = "CLINICAL_EVALS_CONTEXT"
ASSUMED_CONTEXT = 2048
"""Tokens, when nobody says: the context of the smallest models in use (and lighteval's own guess)."""
CHARACTERS_PER_TOKEN = 2.5
"""Of ASCII text; fewer than any tokenizer measured makes of these prompts (SmolLM2, digits apart: 2.9 or more)."""
TOKENS_PER_CHARACTER = 2.6
"""Of Chinese and other text beyond ASCII, with a tokenizer that falls back to bytes (SmolLM2: 2.5)."""
TEMPLATE_TOKENS = 48
"""What a chat template may add."""


class EstimatedTokens:
    """Counts tokens by bytes, Chinese and other characters beyond ASCII apart; rather too many than too few."""

    def count(self, prompt: str) -> int:
        """The estimate for a whole prompt."""
        beyond = sum(not char.isascii() for char in prompt)
        plain = (len(prompt) - beyond) / CHARACTERS_PER_TOKEN
        return int(plain + beyond * TOKENS_PER_CHARACTER) + 1 + TEMPLATE_TOKENS

    def token_ends(self, text: str) -> list[int]:
        """Every character counts as one: the common ratio is one of characters."""
        return list(range(1, len(text) + 1))


@cache
def assumed_context() -> int:
    """The context in tokens for lighteval's own command line, from CLINICAL_EVALS_CONTEXT or assumed; warns once.

    Raises:
        InputError: the variable is no positive whole number.
    """
    given = os.environ.get(CONTEXT_VARIABLE)
    if given is not None and not (given.isdecimal() and int(given) > 0):
        raise InputError(
            f"{CONTEXT_VARIABLE}={given!r}: expected the model's context in tokens, e.g. {CONTEXT_VARIABLE}=8192."
        )
    context = int(given) if given else ASSUMED_CONTEXT
    source = f"from {CONTEXT_VARIABLE}" if given else f"assumed; {CONTEXT_VARIABLE}=8192 sets it"
    logging.getLogger(__name__).warning(
        "lighteval's own command line gives a task no tokenizer: prompts are cut by an estimate to a context of "
        f"{context} tokens "
        f"({source}). It also keeps no log of ours, does not resume, its cache may return old answers, and our guard "
        "is not asked before it sends anything (endpoints, --push-to-hub). For all "
        "of that: "
        "clinical-evals eval accelerate MODEL_ARGS --tasks TASK"
    )
    return context
