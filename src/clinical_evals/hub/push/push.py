"""The push itself: collect, pass the guard, check, send, read back."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.hub.guard import Clearance, check_may_leave
from clinical_evals.hub.push.hub_errors import LOGIN, hub_errors_in_words
from clinical_evals.hub.push.kinds import KINDS
from clinical_evals.hub.push.manifest import Manifest, make_manifest, stamp
from clinical_evals.hub.push.parcel import Parcel
from clinical_evals.hub.push.patience import impatient_client, with_patience
from clinical_evals.hub.push.repository import Repository
from clinical_evals.hub.push.rows import rows_without_source
from clinical_evals.hub.push.transfer import Message, Sent, send
from clinical_evals.hub.target import Target
from clinical_evals.version import __version__

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
LONGEST_STATEMENT = 500


@dataclass(frozen=True)
class Request:
    """What was asked; the command line's help says what each is."""

    kind: str
    path: str
    repo: str
    public: bool = False
    gated: Literal["auto", "manual"] | None = None
    revision: str = "main"
    token: str | None = None
    consent: str | None = None
    trained_on: str | None = None
    with_rows: bool = False
    keep: bool = False
    dry_run: bool = False
    retry_for: float = 300.0


def push(request: Request, say: Callable[[str], object]) -> str:
    """Send it, or with `dry_run` say what would be sent: then no connection is opened.

    Returns:
        What was done, in words, with the address.

    Raises:
        GuardError: it may not leave this machine; no connection was opened.
        InputError: the files, the repository or the token cannot be used.
        RunError: the Hub failed for longer than `retry_for`, or holds something else than was sent.
    """
    if request.kind not in KINDS:
        raise UnknownNameError("kind of push", request.kind, KINDS)
    if not _NAME.fullmatch(request.repo):
        raise InputError(f"{request.repo!r} is no repository: expected ORG/NAME or USER/NAME")
    if request.trained_on is not None and not 0 < len(request.trained_on.strip()) <= LONGEST_STATEMENT:
        raise InputError(f"--trained-on takes 1 to {LONGEST_STATEMENT} characters")
    kind = KINDS[request.kind]
    parcel = kind.collect(request.path, request.with_rows)
    manifest, usage, statement, token = _cleared(request, parcel)
    repository = Repository(request.repo, kind.repo_type, request.public, request.gated, request.revision)
    if request.dry_run:
        return _planned(request, repository, parcel, manifest)
    with hub_errors_in_words(request.repo, token), impatient_client():
        sent = with_patience(
            lambda: _send(repository, manifest, _message(request, parcel, statement), token, mirror=_mirrors(request)),
            request.retry_for,
            say,
        )
    return _done(repository, parcel, manifest, sent, usage)


def _cleared(request: Request, parcel: Parcel) -> tuple[Manifest, str, str, str]:
    """The manifest of what passed guard and checks, how it is used, what the commit must state, and the token.

    The guard speaks first: what may not leave is not told how to look better. The ledger is written only where nothing
    else is in the way; a missing token is.
    """
    usage, token, refused = "", "", None
    try:
        usage = KINDS[request.kind].check(parcel, request.repo)
        token = "" if request.dry_run else _token_of_an_open_line(request.token)
    except InputError as error:
        refused = error
    target = Target("hub-public" if request.public else "hub-private", request.repo)
    stamps = {place: stamp(path) for place, path in parcel.files.items()}
    with parcel.laid_out() as folder:
        clearance: Clearance = check_may_leave(
            folder,
            target,
            request.consent,
            weights=request.kind == "model" and request.trained_on is None,
            unsaid=rows_without_source(parcel.files) if request.kind == "results" else (),
            rehearsal=request.dry_run or refused is not None,
        )
        places = {path.relative_to(folder).as_posix() for path in clearance.files}
    if refused is not None:
        raise refused
    files = {place: path for place, path in parcel.files.items() if place in places}
    return make_manifest(files, stamps), usage, clearance.statement, token


def _token_of_an_open_line(given: str | None) -> str:
    from huggingface_hub import get_token, is_offline_mode

    if is_offline_mode():
        raise InputError("HF_HUB_OFFLINE is set, so nothing can be pushed: unset it (--dry-run works with it)")
    token = given or get_token()
    if not token:
        raise InputError(f"there is no token to push with: {LOGIN}")
    return token


def _mirrors(request: Request) -> bool:
    return KINDS[request.kind].is_whole and not request.keep


def _send(repository: Repository, manifest: Manifest, message: Message, token: str, mirror: bool) -> Sent:
    from huggingface_hub import HfApi

    api = HfApi(token=token, library_name="clinical-evals", library_version=__version__)
    return send(api, repository, manifest, message, mirror)


def _message(request: Request, parcel: Parcel, statement: str) -> Message:
    lines = [f"Pushed with clinical-evals {__version__}."]
    lines += [f"Trained on, as stated by who pushed it: {request.trained_on.strip()}"] if request.trained_on else []
    lines += [f"{statement}"] if statement else []
    return Message(f"{request.kind.capitalize()} {parcel.origin.resolve().name}", "\n".join(lines))


def _planned(request: Request, repository: Repository, parcel: Parcel, manifest: Manifest) -> str:
    from huggingface_hub import constants

    width = max(len(place) for place in manifest)
    lines = [f"{place:<{width}}  {item.size:>13,} bytes" for place, item in manifest.items()]
    lines.append(f"{_count(manifest)}: one commit on {repository.branch} of {repository.address(constants.ENDPOINT)}")
    gate = f", gated ({repository.gated})" if repository.gated else ""
    lines.append(f"{'public' if repository.public else 'private'}{gate}; dry run: no connection was opened")
    if _mirrors(request):
        lines.append("files of earlier pushes that are none of these would be removed (--keep leaves them)")
    return "\n".join([*lines, *_remarks(parcel)])


def _done(repository: Repository, parcel: Parcel, manifest: Manifest, sent: Sent, usage: str) -> str:
    from huggingface_hub import constants

    done = f"commit {sent.commit[:12]}" if sent.is_new else f"nothing new: commit {sent.commit[:12]} holds the same"
    lines = [f"{_count(manifest)} in {repository.address(constants.ENDPOINT)} ({_kind(repository)}), {done}"]
    lines.append("read back: all sizes and hashes are those of the files here")
    lines += [f"removed in the same commit: {', '.join(sent.removed)}"] if sent.removed else []
    where = [] if repository.branch == "main" else [f'with revision="{repository.branch}"']
    return "\n".join([*lines, *_remarks(parcel), usage, *where])


def _kind(repository: Repository) -> str:
    seen = "public" if repository.public else "private"
    return ", ".join([seen, *([f"gated {repository.gated}"] if repository.gated else []), repository.branch])


def _count(manifest: Manifest) -> str:
    total = sum(item.size for item in manifest.values())
    return f"{len(manifest)} file{'' if len(manifest) == 1 else 's'}, {total:,} bytes"


def _remarks(parcel: Parcel) -> list[str]:
    shown = ", ".join(parcel.left_out[:5]) + (f" and {len(parcel.left_out) - 5} more" if parcel.left_out[5:] else "")
    return [*([f"left out: {shown}"] if shown else []), *(f"Note: {note}" for note in parcel.notes)]
