"""One chat completion of an OpenAI-compatible server: sent, retried, and understood or given up.

httpx sends, tenacity retries. What each outcome means:

| what came | what follows |
|---|---|
| an answer | it is returned |
| 408, 409, 425, 429, 5xx, no connection, silence, a body that is cut or no answer | sent again, after Retry-After or \
longer and longer waits; at last the row is missing |
| 413, and once the endpoint has answered anything 400 and 422, or a content filter's 400 | this row is missing |
| 401, 402, 403, 404, any other 4xx, a redirect, an empty account, a Retry-After above LONGEST_WAIT | the run ends |

No redirect is followed: it would carry the prompts to an address that the guard has not seen.
"""

import asyncio
import contextlib
import email.utils
import logging
import math
import ssl
import sys
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential
from tqdm import tqdm

from clinical_evals.errors import ClinicalEvalsError, InputError, RunError
from clinical_evals.tasks.models.endpoint_budget import Budget, BudgetSpentError, Usage
from clinical_evals.tasks.models.endpoint_chat import estimate_answer
from clinical_evals.tasks.models.endpoint_config import EndpointConfig, remote_address
from clinical_evals.tasks.models.endpoint_reply import Reply, UnusableReplyError, read_complaint, read_reply, shorten
from clinical_evals.version import __version__

LONGEST_BACK_OFF = 60
"""Seconds."""
BACK_OFF: wait_base = wait_random_exponential(multiplier=1, max=LONGEST_BACK_OFF)
"""Seconds between attempts: random up to 1, 2, 4, … 60, so that requests do not come back all at once."""
LONGEST_WAIT = 600
"""Seconds of a Retry-After; a server that asks for more will not be waited for."""
LARGEST_REPLY = 2**24
"""Bytes."""

_LOG = logging.getLogger(__name__)
_UNREACHABLE: set[str] = set()
"""Addresses of which it was said that they cannot be reached: once is enough."""
_SENT_AGAIN = (408, 409, 425, 429)
_OF_ONE_ROW = (400, 422)


class RowMissingError(Exception):
    """This request has no answer; the text says where it was sent (host and port) and why."""


class EndsRunError(Exception):
    """No request will have an answer; the run ends with `error`."""

    def __init__(self, error: ClinicalEvalsError) -> None:
        super().__init__(str(error))
        self.error = error


class _FailedAttemptError(Exception):
    """To be sent again."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class EndpointClient:
    """Asks the endpoint while it is open, as an asynchronous context manager.

    Args:
        config: which endpoint, and how patiently.
        key: sent as a bearer token; it never appears in an error.
        budget: what may be spent.
        has_answered: whether the endpoint is known to answer requests like these.
    """

    def __init__(self, config: EndpointConfig, key: str | None, budget: Budget, has_answered: bool = False) -> None:
        self.config, self.budget, self.has_answered = config, budget, has_answered
        self._key = key
        self._place = urlsplit(config.address).netloc  # `check_endpoint` lets no secret in
        self._end: EndsRunError | None = None
        self._ended = asyncio.Event()
        headers = {"User-Agent": f"clinical-evals/{__version__}"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(config.timeout, connect=config.connect_timeout),
            limits=httpx.Limits(max_connections=config.concurrency),
            follow_redirects=False,
            verify=_tls(),
            trust_env=bool(remote_address(config)),  # on this machine no proxy of the environment comes between
        )

    async def __aenter__(self) -> "EndpointClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, body: Mapping[str, Any], most: Usage) -> Reply:
        """The reply to one request.

        Args:
            body: of the request.
            most: tokens that it can take, as far as is known.

        Raises:
            RowMissingError: there is none, though others may have theirs.
            EndsRunError: there is none, and from now on none for anybody.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.config.attempts),
            wait=_find_wait,
            retry=retry_if_exception_type(_FailedAttemptError),
            sleep=self._pause,
            reraise=True,
        )
        try:
            reply: Reply = await retrying(self._attempt, body, most)
        except _FailedAttemptError as failure:
            raise RowMissingError(f"{self._place}: {failure} (attempts: {self.config.attempts})") from failure
        except EndsRunError as end:
            self._end = self._end or end
            self._ended.set()
            raise
        self.has_answered = True
        _UNREACHABLE.discard(self.config.address)
        return reply

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the run ends before."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    async def _attempt(self, body: Mapping[str, Any], most: Usage) -> Reply:
        if self._end is not None:
            raise self._end
        try:
            await self.budget.reserve(most)
        except BudgetSpentError as error:
            raise EndsRunError(RunError(str(error))) from error
        used = most  # unless it is known better
        try:
            status, headers, content = await self._post(body)
            if status == 200:
                reply = _with_usage(read_reply(content), most)
                used = reply.usage or most
                return reply
            used = Usage()
            self._refuse(status, headers, content)
        except UnusableReplyError as error:
            used = error.usage or most
            raise _FailedAttemptError(self._without_key(str(error))) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            used = Usage()
            words = self._words(error)
            self._say_unreachable(words)
            raise _FailedAttemptError(f"no connection: {words}") from error
        except TimeoutError as error:
            raise _FailedAttemptError(f"no whole answer within {self.config.timeout:g} s") from error
        except httpx.TimeoutException as error:
            raise _FailedAttemptError(f"silence for {self.config.timeout:g} s") from error
        except httpx.RequestError as error:
            raise _FailedAttemptError(f"the connection broke off: {self._words(error)}") from error
        finally:
            self.budget.settle(most, used)

    def _say_unreachable(self, why: str) -> None:
        """Once for an address: else nothing is heard of a run for minutes."""
        attempts, address = self.config.attempts, self.config.address
        if attempts == 1 or address in _UNREACHABLE:
            return
        _UNREACHABLE.add(address)
        waits = sum(min(2**number, LONGEST_BACK_OFF) for number in range(attempts - 1))
        seconds = waits + attempts * self.config.connect_timeout
        with tqdm.external_write_mode(file=sys.stderr):  # on a line of its own, not behind the bar
            _LOG.warning(
                f"cannot reach {address} ({why}), trying again for up to {seconds:,.0f} s a request ({attempts} "
                "attempts)"
            )

    async def _post(self, body: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        url = f"{self.config.address}/chat/completions"
        content = bytearray()
        async with asyncio.timeout(self.config.timeout), self._http.stream("POST", url, json=body) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_REPLY:
                    raise UnusableReplyError(f"the reply has more than {LARGEST_REPLY:,} bytes")
        return response.status_code, response.headers, bytes(content)

    def _refuse(self, status: int, headers: httpx.Headers, content: bytes) -> NoReturn:
        """Say what an error of the server means; see the table above."""
        words, code = read_complaint(content)
        said = self._without_key(f"HTTP {status}" + (f": {words}" if words else "") + (f" [{code}]" if code else ""))
        if code == "insufficient_quota":
            raise self._final(RunError, said, "The account behind the key has nothing left.")
        if status in _SENT_AGAIN or status >= 500:
            wait = read_retry_after(headers.get("Retry-After"))
            if wait is not None and wait > LONGEST_WAIT:
                raise self._final(RunError, said, f"It asks to wait {wait:,.0f} s. Run the same command again then.")
            raise _FailedAttemptError(said, wait)
        of_row = status in _OF_ONE_ROW and (self.has_answered or "content" in code)
        if of_row or status == 413:
            raise RowMissingError(f"{self._place}: {said}")
        raise self._final(InputError, said, self._way_out(status, headers))

    def _final(self, kind: type[ClinicalEvalsError], said: str, way_out: str) -> EndsRunError:
        return EndsRunError(kind(f"the endpoint {self.config.address} refuses: {said}. {way_out}"))

    def _way_out(self, status: int, headers: httpx.Headers) -> str:
        name = self.config.model_name
        if status in (401, 403):
            found = "was sent" if self._key else "was not set, so no key was sent"
            return f"The key in the environment variable {self.config.api_key_env} {found}; api_key_env names another."
        if status == 404:
            return f"Look at base_url and at the model's name, {name!r}: GET {self.config.address}/models lists them."
        if 300 <= status < 400:
            return f"It redirects to {shorten(headers.get('Location', 'nowhere'))!r}: give the address itself."
        if status in _OF_ONE_ROW:
            return (
                f"Look at the model's name, {name!r}; if the server names a parameter, these change what is sent: "
                "length_parameter=max_completion_tokens, send_temperature=False, send_seed=False."
            )
        return "What was answered before is logged."

    def _words(self, error: Exception) -> str:
        return self._without_key(shorten(str(error)) or type(error).__name__)

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "(the key)") if self._key else text


def forget_unreachable(address: str) -> None:
    """Say anew, in a new run, that an address cannot be reached."""
    _UNREACHABLE.discard(address)


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reads the certificates, which takes longer than many a request


def _with_usage(reply: Reply, most: Usage) -> Reply:
    if reply.usage is not None:
        return reply
    estimate = Usage(most.prompt, min(most.answer, estimate_answer(reply.text)))
    return reply._replace(usage=estimate, estimated=True)


def read_retry_after(value: str | None) -> float | None:
    """Seconds from now, of a Retry-After header: a number, or a date (RFC 9110, 10.2.3).

    None: it says nothing, also where the number is infinite or none (nan).
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _find_wait(state: RetryCallState) -> float:
    """What the server asked for and a little more, lest all come back in the same moment; else our own back-off."""
    failure = state.outcome.exception() if state.outcome else None
    own = float(BACK_OFF(state))
    asked = failure.wait if isinstance(failure, _FailedAttemptError) else None
    return own if asked is None else asked + min(own, 1.0)
