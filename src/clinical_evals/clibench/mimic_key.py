"""A key that only users of MIMIC can compute, for hashes of its ids that may stand in public.

A salt that stands beside the hashes would not do: a hadm_id is one of ten million numbers, so with the salt at hand
anybody hashes all of them in seconds and reads the ids off. That only hides from a careless eye. Here the hashes are
keyed (HMAC-SHA-256) by a digest of the table of admissions: nobody guesses its hundreds of thousands of ids and times,
and everybody who signed the data use agreement has them, so no secret has to be passed on.

The key is computed when it is needed and never written down: **do not publish it, log it or send it**; with it the
hashes are as good as the ids. It hides nothing from other users of the same MIMIC, who have the ids anyway, and the
key of the open demo is as open as the demo. Without it, what hashes show is how many there are and, of two lists under
one salt and one key, how many they share.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from clinical_evals.errors import InputError

METHOD = (
    "the first 128 bits of HMAC-SHA-256 of 'SALT:ID' in hexadecimal; key: SHA-256 of the table of admissions, a line "
    "'subject,admission,YYYY-MM-DD HH:MM:SS of admittime' each, sorted by admission, each ended by a line feed"
)
"""How an id is hashed, for readers without this package."""


class Admission(NamedTuple):
    """What of a row of MIMIC's `admissions` goes into the key."""

    subject_id: int
    hadm_id: int
    admittime: datetime
    """Without zone, to the second (shifted, as MIMIC has it)."""


@dataclass(frozen=True)
class MimicKey:
    """The key that only users of one version of MIMIC can compute; it never shows itself when printed."""

    secret: bytes = field(repr=False)
    hadm_ids: frozenset[int] = field(repr=False)
    """All admissions of the table."""

    def hash_id(self, salt: str, hadm_id: int) -> str:
        """What stands in a list for an admission: 32 hexadecimal digits."""
        return self._digest(f"{salt}:{hadm_id:d}")

    @property
    def check(self) -> str:
        """Tells two keys apart and gives nothing else away."""
        return self._digest("check of the key")

    def _digest(self, text: str) -> str:
        return hmac.digest(self.secret, text.encode(), "sha256")[:16].hex()


def key_of(admissions: Iterable[Admission]) -> MimicKey:
    """The key of a version of MIMIC, from *all* rows of its `admissions`, in any order.

    Raises:
        InputError: there are no rows, or an admission is there twice.
    """
    rows = sorted(admissions, key=lambda row: row.hadm_id)
    if not rows:
        raise InputError("the table of admissions is empty: there is nothing to make the key of an id list from")
    for row, after in pairwise(rows):
        if row.hadm_id == after.hadm_id:
            raise InputError(f"admissions has hadm_id {row.hadm_id} twice; expected one row an admission")
    digest = hashlib.sha256()
    for row in rows:
        time = row.admittime.isoformat(" ", "seconds")
        digest.update(f"{row.subject_id:d},{row.hadm_id:d},{time}\n".encode())
    return MimicKey(digest.digest(), frozenset(row.hadm_id for row in rows))
