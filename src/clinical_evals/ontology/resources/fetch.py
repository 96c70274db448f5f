"""Downloads a release file, on command only, where its licence lets a program do so."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.ontology.resources.archive import is_archive
from clinical_evals.ontology.resources.content import file_chunks
from clinical_evals.ontology.resources.manifest import Download, Resource
from clinical_evals.ontology.resources.store import Added, Source, archive_source, keep
from clinical_evals.version import __version__

if TYPE_CHECKING:
    import httpx

LONGEST = 1800.0
"""Seconds that a whole download may take."""
_REDIRECTS = 5
_IT = "what came"
_WEB_PAGE = (b"<!doctype html", b"<html", b"<head")


def fetch(
    resource: Resource,
    tell: Callable[[str], None],
    release: str | None = None,
    address: str | None = None,
    timeout: float = 30.0,
) -> Added:
    """Download a resource and take it in as `resources.store.add_file` does; all or nothing.

    Args:
        resource: what to fetch.
        tell: gets address, licence and size before the content is downloaded.
        release: one that the manifest has an address for; None for the first.
        address: another http(s) address, such as a mirror of your own or the archive of another year.
        timeout: seconds to wait for the connection, and for each further piece.

    Raises:
        InputError: its licence asks a person to agree first; an unknown release; both release and address.
        ResourceMissingError: it could not be fetched, or what came is not the resource; nothing was taken in.
    """
    if resource.download is None:
        raise InputError(
            f"{resource.name} is not for a program to fetch: {resource.licence}. At {resource.official}: "
            f"{resource.steps}: {resource.add_command}"
        )
    address = address_of(resource, resource.download, release, address)
    with tempfile.TemporaryDirectory(prefix="clinical-evals-") as folder:
        file = Path(folder) / _file_name(resource, address)
        try:
            _download(resource, address, file, tell, timeout)
            archive = is_archive(file)
            source = (
                archive_source(resource, file, address) if archive else Source(file.name, file_chunks(file), address)
            )
            return keep(resource, source, resource.download.pinned.sha256 if resource.download.pinned else "")
        except InputError as error:
            raise _failed(resource, address, str(error).replace(str(file), _IT).replace(address, _IT)) from error


def address_of(resource: Resource, download: Download, release: str | None, address: str | None) -> str:
    """The address that is fetched.

    Raises:
        InputError: an unknown release, both release and address, or an address that is not http(s).
    """
    if address is not None:
        if release is not None:
            raise InputError("--release and --address go one without the other: the address says which release it is.")
        if not address.startswith(("https://", "http://")):
            raise InputError(
                f"--address {address}: expected an http(s) address. A file is added with: {resource.add_command}"
            )
        return address
    release = release or next(iter(download.addresses))
    if release not in download.addresses:
        raise InputError(
            f"--release {release}: no address of that release of {resource.name} is known, only of "
            f"{', '.join(download.addresses)}. Find it at {resource.official} and give it with --address."
        )
    return download.addresses[release]


def _file_name(resource: Resource, address: str) -> str:
    """The last part of the address where it has the name of the resource, since readers tell the release from it."""
    last = address.split("?")[0].split("#")[0].rsplit("/", 1)[-1]
    return last if resource.pattern.fullmatch(last.lower()) else resource.name


def _failed(resource: Resource, address: str, reason: str) -> ResourceMissingError:
    return ResourceMissingError(
        f"{resource.name} could not be fetched from {address}: {reason.rstrip('.')}. Nothing was taken in. Try again, "
        f"give another --address, or go to {resource.official}, {resource.steps}: {resource.add_command}"
    )


def _download(resource: Resource, address: str, file: Path, tell: Callable[[str], None], timeout: float) -> None:
    from tqdm import tqdm

    with _response(resource, address, timeout) as response:
        size = _announced_size(response)
        said = f"{size:,} bytes" if size else "not announced"
        tell(f"fetching {resource.name}: {address}\nlicence: {resource.licence}\nsize: {said}")
        if size > resource.largest:
            raise InputError(f"{size:,} bytes, more than the {resource.largest:,} that it ever has")
        with file.open("wb") as out, tqdm(total=size or None, unit="B", unit_scale=True, desc=resource.name) as bar:
            for chunk in _bounded(response, resource):
                out.write(chunk)
                bar.update(len(chunk))
    with file.open("rb") as read:
        if read.read(200).lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE):
            raise InputError("a web page came instead of the file")


def _announced_size(response: "httpx.Response") -> int:
    said = response.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() else 0


def _bounded(response: "httpx.Response", resource: Resource) -> Iterator[bytes]:
    left, end = resource.largest, time.monotonic() + LONGEST
    for chunk in response.iter_bytes(1 << 16):
        left -= len(chunk)
        if left < 0:
            raise InputError(f"more than the {resource.largest:,} bytes that it ever has")
        if time.monotonic() > end:
            raise InputError(f"not complete after {LONGEST:g} seconds")
        yield chunk


@contextmanager
def _response(resource: Resource, address: str, timeout: float) -> Iterator["httpx.Response"]:
    """The answer with its content still to come; every fault of the way there becomes one error."""
    try:
        import httpx
    except ImportError as error:
        raise ResourceMissingError("`clinical-evals resources fetch` needs httpx: pip install httpx") from error

    def stay_encrypted(request: httpx.Request) -> None:
        if address.startswith("https://") and request.url.scheme != "https":
            raise InputError(f"the server sends us on to {request.url}, which is not encrypted")

    # identity: what is announced is what comes, so that a cut-off answer is told
    headers = {"user-agent": f"clinical-evals/{__version__}", "accept-encoding": "identity"}
    hooks = {"request": [stay_encrypted]}
    try:
        with (
            httpx.Client(
                timeout=timeout, headers=headers, follow_redirects=True, max_redirects=_REDIRECTS, event_hooks=hooks
            ) as client,
            client.stream("GET", address) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise InputError(f"the server answers {response.status_code} {response.reason_phrase}")
            yield response
    except httpx.TimeoutException as error:
        raise InputError(f"no answer within {timeout:g} seconds ({type(error).__name__})") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise InputError(f"{error or type(error).__name__}") from error
