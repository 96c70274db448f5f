"""Where something is to be sent."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from clinical_evals.errors import InputError, UnknownNameError

Kind = Literal["hub-public", "hub-private", "endpoint"]
KINDS: dict[str, str] = {
    "hub-public": "the public Hub repository",
    "hub-private": "the private Hub repository",
    "endpoint": "the model endpoint",
}


@dataclass(frozen=True)
class Target:
    """A repository of a Hub or a model behind an address.

    Args:
        kind: "hub-public" (anyone may read it, gated or not), "hub-private" or "endpoint".
        name: the repository, or the endpoint's base URL, `host:port` or provider's name.

    Raises:
        InputError: an unknown kind or an empty name.
    """

    kind: Kind
    name: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("kind of target", str(self.kind), KINDS)
        if not self.name.strip():
            raise InputError(f"the target of kind {self.kind!r} needs a name: a repository or an endpoint's address")

    def __str__(self) -> str:
        return f"{KINDS[self.kind]} {self.shown_name!r}"

    @property
    def shown_name(self) -> str:
        """The name without what an address may carry of secrets: user and password, query and fragment."""
        return re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", self.name)[0])

    @property
    def is_loopback(self) -> bool:
        """Whether it is an endpoint whose address is this machine's own: localhost, 127.0.0.0/8 or ::1.

        No name is looked up: what is not written as one of these is remote, private networks and 0.0.0.0 too.
        """
        host = _host(self.name) if self.kind == "endpoint" else None
        return host is not None and _is_loopback(host)

    @property
    def is_local(self) -> bool:
        """Whether requests to it stay here: a loopback address, and no proxy of the environment before it."""
        return self.is_loopback and not _goes_through_proxy(_host(self.name) or "")


def _host(address: str) -> str | None:
    if not re.fullmatch(r"[\x21-\x5b\x5d-\x7e]+", address):
        return None  # blanks and backslashes: clients disagree on what the host of such an address is
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        return parts.hostname if parts.port is None or parts.port else None
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(number, "ipv4_mapped", None)
    return (mapped or number).is_loopback


def _goes_through_proxy(host: str) -> bool:
    """Whether a client that minds http_proxy and no_proxy would hand requests to this host to another machine."""
    proxies = getproxies()
    return any(kind in proxies for kind in ("http", "https", "all")) and not proxy_bypass(host)
