"""What the Hub refuses, in words that help; the token is in none of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from clinical_evals.errors import ClinicalEvalsError, InputError, RunError

LOGIN = "`hf auth login` keeps one, HF_TOKEN or --token gives one: https://huggingface.co/settings/tokens"
LONGEST = 500


@contextmanager
def hub_errors_in_words(repo: str, token: str) -> Iterator[None]:
    """Turn errors of `huggingface_hub` within the block into ours.

    Raises:
        InputError: token, rights, name or card are not as the Hub wants them.
        RunError: anything else that the Hub refuses.
    """
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        yield
    except ClinicalEvalsError as error:
        error.args = tuple(str(part).replace(token, "…") for part in error.args)
        raise
    except HFValidationError as error:
        raise InputError(f"{repo!r} is no name that the Hub takes: {_plain(error, token)}") from error
    except HfHubHTTPError as error:
        raise _by_status(error.response.status_code, repo, _plain(error, token)) from None
    except (ValueError, RuntimeError) as error:
        if "README.md" in str(error):  # its YAML, of which the Hub says what is wrong
            raise InputError(f"nothing was committed to {repo}: {_plain(error, token)}") from None
        cause = error.__cause__
        if isinstance(cause, HfHubHTTPError):
            raise _by_status(cause.response.status_code, repo, _plain(cause, token)) from None
        raise RunError(f"nothing was committed to {repo}: {_plain(error, token)}") from None


def _by_status(status: int, repo: str, said: str) -> ClinicalEvalsError:
    owner = repo.partition("/")[0]
    if status == 401:
        return InputError(f"the Hub does not accept the token: {LOGIN}. ({said})")
    if status == 403:
        return InputError(
            f"the token may not write to {owner}: it needs write access to repositories of {owner}, and you a role "
            f"there that may write. {LOGIN}. ({said})"
        )
    if status == 404:
        return InputError(f"{repo} is not there, or the token may not see it. ({said})")
    if status in (409, 412):
        return RunError(f"somebody else changed {repo} at the same time: repeat the command. ({said})")
    if status == 400:
        return InputError(f"the Hub does not take this: {said}")
    return RunError(f"the Hub answered with status {status}: {said}")


def _plain(error: Exception, token: str) -> str:
    text = " ".join(str(getattr(error, "server_message", None) or error).split())
    return text.replace(token, "…")[:LONGEST]
