"""An OpenAI-compatible endpoint as a generator: chat messages go out, several at a time, and texts come back.

What the weights behind it are, nobody here knows: they may change from one day to the next under the same name.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lighteval.tasks.requests import Doc

from clinical_evals.tasks.models.endpoint_budget import Usage
from clinical_evals.tasks.models.endpoint_chat import EndpointChat, read_messages
from clinical_evals.tasks.models.endpoint_client import (
    EndpointClient,
    EndsRunError,
    RowMissingError,
    forget_unreachable,
)
from clinical_evals.tasks.models.endpoint_config import EndpointConfig, find_key
from clinical_evals.tasks.models.endpoint_reply import Reply
from clinical_evals.tasks.models.generation import Missing, Output, Served
from clinical_evals.tasks.prediction_log import hash_text
from clinical_evals.tasks.progress import Progress

_SENT = ("top_p", "frequency_penalty", "presence_penalty")


class EndpointGenerator:
    """Asks for the answers of one batch; see `Generator`.

    Args:
        config: which endpoint, and how it is asked.
        seed: decides each sampled answer (temperature above 0) together with its prompt, where the server minds it.
    """

    is_main = True

    def __init__(self, config: EndpointConfig, seed: int = 0) -> None:
        self.config, self.seed = config, seed
        self.chat = EndpointChat()
        self.max_length = config.context or 0
        self.settings: Mapping[str, Any] = config.settings
        self.versions: dict[str, str] = {}
        self.rows_at_once = config.batch_size or config.concurrency
        self.budget = config.budget()
        self._has_answered = False
        forget_unreachable(config.address)

    def wait_for_everyone(self) -> None:
        """There is only one process that asks."""

    def cleanup(self) -> None:
        """Nothing is held between batches."""

    def generate(
        self, docs: Sequence[Doc], progress: Progress, temperature: float | None = None
    ) -> list[list[Output] | Missing]:
        """For each document its answers, or why there are none; see `Generator`. The bar hears of no single token.

        Each of several answers to a prompt is a request of its own: servers ignore `n`.
        """
        return asyncio.run(self._ask_all(docs, temperature))

    async def _ask_all(self, docs: Sequence[Doc], temperature: float | None) -> list[list[Output] | Missing]:
        at_once = asyncio.Semaphore(self.config.concurrency)
        async with EndpointClient(self.config, find_key(self.config), self.budget, self._has_answered) as client:
            answers = await asyncio.gather(*(self._ask(client, at_once, doc, temperature) for doc in docs))
            self._has_answered = client.has_answered
        return answers

    async def _ask(
        self, client: EndpointClient, at_once: asyncio.Semaphore, doc: Doc, temperature: float | None
    ) -> list[Output] | Missing:
        """All answers to one prompt: some of them are none."""
        most = Usage(self.chat.count(doc.query), doc.generation_size)

        async def one(number: int) -> Output | Missing:
            async with at_once:
                try:
                    return self._output(await client.ask(self._body(doc, number, temperature), most), most)
                except RowMissingError as error:
                    return Missing(str(error))
                except EndsRunError as end:
                    return Missing(str(end), end.error)

        answers = await asyncio.gather(*(one(number) for number in range(doc.num_samples)))
        missing = [answer for answer in answers if isinstance(answer, Missing)]
        if missing:
            return next((each for each in missing if each.ends_run), missing[0])
        return [answer for answer in answers if isinstance(answer, Output)]

    def _body(self, doc: Doc, number: int, temperature: float | None) -> dict[str, Any]:
        """The request for one answer to a prompt."""
        given = self.config.generation_parameters
        heat = given.temperature if temperature is None else temperature
        body = {
            "model": self.config.model_name,
            "messages": read_messages(doc.query),
            self.config.length_parameter: doc.generation_size,
            "stream": False,
            "temperature": heat if self.config.send_temperature else None,
            "stop": given.stop_tokens,
            **{name: getattr(given, name) for name in _SENT},
        }
        if heat > 0 and self.config.send_seed:
            # 31 bits: what every server can read. From the prompt, so that a row draws the same in a resumed run.
            body["seed"] = int(hash_text(f"{self.seed}\n{number}\n{doc.query}")[:8], 16) & 0x7FFFFFFF
        return {name: value for name, value in body.items() if value is not None}

    def _output(self, reply: Reply, most: Usage) -> Output:
        usage, prices = reply.usage or most, self.config.prices
        cost = round(prices.cost(usage), 8) if prices else None
        served = Served(*usage, reply.estimated, reply.model, reply.fingerprint, cost)
        return Output(reply.text, [], reply.finish, served)


def load(config: EndpointConfig, seed: int) -> EndpointGenerator:
    """The generator of an endpoint; no connection is opened yet."""
    return EndpointGenerator(config, seed)
