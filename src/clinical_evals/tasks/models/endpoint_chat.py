"""Prompts for a model behind an address: messages, which its server puts into the model's own template.

A final prompt is the JSON of the messages, as it is sent and as the log has it: a text from which they come back as
they were. There is no tokenizer here, so tokens are estimated, rather too many than too few.
"""

import json
from collections.abc import Mapping, Sequence

from clinical_evals.tasks.plain_context import TEMPLATE_TOKENS, EstimatedTokens

Message = Mapping[str, str]
"""`role` ("system", "user" or "assistant") and `content`."""

TOKENS_A_MESSAGE = 8
"""What a chat template adds to each message beyond the first two, which the estimate has already."""


class EndpointChat:
    """Writes and counts the messages for one endpoint; see `generation.Chat`."""

    tokenizer = None
    use_chat_template = True
    add_special_tokens = False

    def __init__(self) -> None:
        self._tokens = EstimatedTokens()

    def render(self, system: str, user: str) -> str:
        """The final prompt of one question."""
        return self.render_messages([{"role": "system", "content": system}, {"role": "user", "content": user}])

    def render_messages(self, messages: Sequence[Message]) -> str:
        """The final prompt of a conversation."""
        return json.dumps([dict(message) for message in messages], ensure_ascii=False)

    def check_conversation(self) -> None:
        """Nothing: the template is the server's, which refuses a conversation when it is sent."""

    def encode(self, prompt: str) -> list[int]:
        """Nothing: only the server knows the tokens."""
        return []

    def count(self, prompt: str) -> int:
        """The estimate for a final prompt, from its texts alone."""
        messages = read_messages(prompt)
        more = TOKENS_A_MESSAGE * max(len(messages) - 2, 0)
        return self._tokens.count("\n".join(message["content"] for message in messages)) + more

    def token_ends(self, text: str) -> list[int]:
        """Every character counts as one: the common ratio is one of characters."""
        return self._tokens.token_ends(text)


def estimate_answer(text: str) -> int:
    """How many tokens an answer has, where the server does not say."""
    return EstimatedTokens().count(text) - TEMPLATE_TOKENS


def read_messages(prompt: str) -> list[dict[str, str]]:
    """The messages of a final prompt."""
    messages: list[dict[str, str]] = json.loads(prompt)
    return messages
