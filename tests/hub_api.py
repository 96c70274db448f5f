"""Which address of the Hub for tests does what."""

import re
from collections.abc import Callable
from urllib.parse import unquote

import hub_reads
import hub_writes
from hub_call import Answer, Call
from hub_store import HubError, Store

_API = r"/api/(?P<types>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
_ID = r"(?P<prefix>datasets/|spaces/)?(?P<name>[^/]+/[^/]+?)"
_REV = r"(?P<revision>[^/]+)"
_ROUTES: tuple[tuple[str, Callable[..., Answer]], ...] = (
    ("POST /api/repos/create", hub_writes.create),
    ("GET /api/whoami-v2", hub_reads.whoami),
    ("POST /api/validate-yaml", hub_writes.validate),
    (f"GET {_API}", hub_reads.info),
    (f"GET {_API}/revision/{_REV}", hub_reads.info),
    (f"PUT {_API}/settings", hub_writes.settings),
    (f"POST {_API}/preupload/{_REV}", hub_writes.preupload),
    (f"POST {_API}/commit/{_REV}", hub_writes.commit),
    (f"GET {_API}/tree/{_REV}(?:/(?P<path>.+))?", hub_reads.tree),
    (f"POST {_API}/paths-info/{_REV}", hub_reads.paths),
    (f"POST {_API}/branch/(?P<branch>.+)", hub_writes.branch),
    (f"POST {_API}/tag/{_REV}", hub_writes.tag),
    (f"GET {_API}/refs", hub_reads.refs),
    (rf"POST /{_ID}\.git/info/lfs/objects/batch", hub_writes.batch),
    (r"POST /api/(?P<name>[^/]+/[^/]+)\.git/info/lfs/verify", hub_writes.verify),
    ("PUT /lfs-storage/(?P<oid>[0-9a-f]{64})", hub_writes.upload),
    ("(?:GET|HEAD) /cdn/(?P<oid>[0-9a-f]{64})", hub_reads.cdn),
    (rf"(?:GET|HEAD) /{_ID}/resolve/{_REV}/(?P<path>.+)", hub_reads.resolve),
)


def answer(store: Store, call: Call) -> Answer:
    """Carry a request out."""
    for pattern, handler in _ROUTES:
        found = re.fullmatch(pattern, f"{call.method} {call.path}")
        if found:
            return handler(store, call, **{name: unquote(part) for name, part in found.groupdict().items() if part})
    raise HubError(404, "", f"the Hub for tests knows no {call.method} {call.path}")
