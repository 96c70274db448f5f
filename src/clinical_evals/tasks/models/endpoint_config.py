"""MODEL_ARGS of `clinical-evals eval endpoint`: where the model is, and how it is asked."""

import os
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from lighteval.models.abstract_model import ModelConfig
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from clinical_evals.errors import InputError
from clinical_evals.hub.target import Target
from clinical_evals.tasks.models.endpoint_budget import Budget, Prices

KEY_VARIABLE = "OPENAI_API_KEY"


class EndpointConfig(ModelConfig):  # type: ignore[misc]  # lighteval is not typed
    """A model behind an address. No field holds a secret: lighteval writes them all into its result files."""

    base_url: str
    """What stands before /chat/completions, as in http://localhost:8000/v1."""
    context: PositiveInt | None = None
    """Tokens that prompt and answer may have together."""
    api_key_env: str = KEY_VARIABLE
    """The environment variable that holds the key."""
    concurrency: PositiveInt = 8
    """Requests under way at a time."""
    batch_size: PositiveInt | None = None
    """Rows that are logged together; None: as many as `concurrency`."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 8
    """How often a request is sent before its row is missing."""
    timeout: PositiveFloat = 600
    """Seconds for one attempt, from the connection to the last byte."""
    connect_timeout: PositiveFloat = 10
    """Seconds for the connection."""
    input_price: NonNegativeFloat | None = None
    """Of a million tokens of prompts, in any currency."""
    output_price: NonNegativeFloat | None = None
    """Of a million tokens of answers."""
    budget_tokens: PositiveInt | None = None
    """The most tokens of prompts and answers together; --max-tokens sets it."""
    budget_cost: PositiveFloat | None = None
    """The most that they may cost; --max-cost sets it."""
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the server calls the longest answer."""
    send_temperature: bool = True
    """False for models that refuse any but their own."""
    send_seed: bool = True
    """False for servers that refuse a seed. Only sampled answers have one."""

    @property
    def address(self) -> str:
        """`base_url` without what is added to it."""
        return self.base_url.rstrip("/").removesuffix("/chat/completions").rstrip("/")

    @property
    def prices(self) -> Prices | None:
        """Where both are known."""
        if self.input_price is None or self.output_price is None:
            return None
        return Prices(self.input_price, self.output_price)

    @property
    def settings(self) -> dict[str, Any]:
        """What of it decides the answers."""
        return {
            "backend": "endpoint",
            "length_parameter": self.length_parameter,
            "send_temperature": self.send_temperature,
            "send_seed": self.send_seed,
        }

    def budget(self) -> Budget:
        """What the command may spend, nothing of it spent yet."""
        return Budget(self.budget_tokens, self.budget_cost, self.prices)


def check_endpoint(config: EndpointConfig) -> None:
    """Look whether the endpoint can be asked, without asking it.

    Raises:
        InputError: an address that is none or carries a secret, no context, no prices for a limit of cost, no key in
            the variable that was named, or several processes that would all ask.
    """
    _check_address(config.base_url)
    if (processes := os.environ.get("WORLD_SIZE", "1")) not in ("", "0", "1"):
        raise InputError(
            f"the endpoint {config.address}: each of {processes} processes would ask it for the same answers. Start "
            "one process (no `accelerate launch`): it has `--concurrency` requests under way at a time."
        )
    if config.context is None:
        raise InputError(
            "an endpoint does not say how many tokens its model reads, and prompts are cut to that: give context=… in "
            "MODEL_ARGS, or --context TOKENS."
        )
    if (config.input_price is None) != (config.output_price is None):
        raise InputError("MODEL_ARGS: input_price and output_price go together: give both, or neither.")
    if config.budget_cost is not None and config.prices is None:
        raise InputError(
            f"--max-cost {config.budget_cost:g}: what tokens cost is not known. Give the prices of a million tokens "
            "in MODEL_ARGS: input_price=…,output_price=… ; or limit tokens: --max-tokens N."
        )
    find_key(config)


def find_key(config: EndpointConfig) -> str | None:
    """The key from the environment; None where there is none, and none was named: many servers want none.

    Raises:
        InputError: the variable that was named is not set, or holds what no header can.
    """
    name = config.api_key_env
    key = os.environ.get(name, "").strip()
    if not key and name != KEY_VARIABLE:
        raise InputError(f"MODEL_ARGS: api_key_env names the environment variable {name}, which is not set.")
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"the environment variable {name} holds what cannot be a key: expected printable ASCII.")
    return key or None


def remote_address(config: EndpointConfig) -> str:
    """Where prompts go; empty where they stay on this machine."""
    _check_address(config.base_url)
    return "" if Target("endpoint", config.address).is_local else config.address


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # It would be logged with the run, so it is not shown either.
        raise InputError(
            "MODEL_ARGS: base_url carries a user name, password, query or fragment, and it is logged with the run. "
            f"Give the address alone, and the key in the environment: {KEY_VARIABLE}=… or api_key_env=NAME."
        )
    plain = re.fullmatch(r"[\x21-\x5b\x5d-\x7e]+", url)  # no blanks, no backslash: parsers disagree on the host then
    if parts.scheme not in ("http", "https") or not host or port == 0 or not plain:
        raise InputError(f"MODEL_ARGS: base_url {url!r}: expected an address such as http://localhost:8000/v1.")
