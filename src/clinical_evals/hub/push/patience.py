"""A Hub that is busy, failing or cut off is asked again, within one budget for the whole push.

`huggingface_hub` repeats some requests by itself and others never, with waits that nobody bounds. Here its client
raises `HubAwayError` for all of them alike, and `with_patience` repeats the whole step, which finds what was done.
"""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from clinical_evals.errors import RunError

Result = TypeVar("Result")
BUSY = (408, 425, 429, 500, 502, 503, 504)
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds; doubled from one to the other, or what the server says in Retry-After where that is longer."""
TIMEOUT, CONNECT_TIMEOUT = 180.0, 30.0
"""Seconds without a byte after which a connection counts as cut, and in which it must be made."""
_WINDOW = re.compile(r"\br=0;t=(\d{1,6})\b")
"""In the Hub's RateLimit header: no request is left for so many seconds."""


class HubAwayError(Exception):
    """Internal: the Hub may answer later."""

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


@contextmanager
def impatient_client() -> Iterator[None]:
    """While the block runs, requests of `huggingface_hub` in this process raise HubAwayError at once."""
    import httpx
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils._http import default_client_factory, hf_request_event_hook  # no public name has them

    class Client(httpx.Client):
        def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
            try:
                response = super().send(request, **options)
            except (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError) as error:
                raise HubAwayError(f"{_place(request)}: {str(error) or type(error).__name__}") from error
            if response.status_code in BUSY:
                response.close()
                raise HubAwayError(f"{_place(request)}: status {response.status_code}", _retry_after(response.headers))
            return response

    def _place(request: httpx.Request) -> str:
        return f"{request.method} {request.url.host}{request.url.path}"

    def make() -> httpx.Client:
        hooks = {"request": [hf_request_event_hook]}
        timeout = httpx.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT)
        return Client(event_hooks=hooks, follow_redirects=True, timeout=timeout)

    set_client_factory(make)
    try:
        yield
    finally:
        set_client_factory(default_client_factory)


def _retry_after(headers: Any) -> float:
    """Seconds that the server asks for, in Retry-After or as the Hub has it; a date or nonsense counts as none."""
    window = _WINDOW.search(headers.get("RateLimit", ""))
    try:
        seconds = float(headers.get("Retry-After") or (window[1] if window else 0))
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


def with_patience(step: Callable[[], Result], budget: float, say: Callable[[str], object]) -> Result:
    """Do a step until the Hub answers.

    Args:
        step: may be done again.
        budget: seconds from now after which no further try begins; 0 for one try.
        say: told of every wait.

    Raises:
        RunError: the budget is spent.
    """
    end, wait, tries = time.monotonic() + budget, FIRST_WAIT, 0
    while True:
        tries += 1
        try:
            return step()
        except Exception as error:
            away = _away_in(error)
            if away is None:
                raise
            pause = max(wait, away.retry_after)
            if time.monotonic() + pause > end:
                raise RunError(
                    f"the Hub did not answer as it should ({away}), after {tries} tr{'y' if tries == 1 else 'ies'}. "
                    "The repository is as it was before, or complete: repeat the command. Large files that arrived "
                    "are not sent again."
                ) from error
            say(f"the Hub is away ({away}): again in {pause:.1f} s")
            time.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)


def _away_in(error: BaseException | None) -> HubAwayError | None:
    """The reason to wait in an error or in what caused it: uploads are wrapped by the threads that they run in."""
    while error is not None:
        if isinstance(error, HubAwayError):
            return error
        if isinstance(error, ConnectionError | TimeoutError):
            return HubAwayError(str(error) or type(error).__name__)
        error = error.__cause__ or error.__context__
    return None
