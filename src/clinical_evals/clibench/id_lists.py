"""Lists of admissions that may be published, so that another team can check that it built the same splits.

A list holds no ids but keyed hashes of them, and the key is a digest of MIMIC's own table of admissions. Who has MIMIC
computes the key from that table and compares; who has not cannot tell which admissions are meant.

`clinical_evals.clibench.mimic_key` says what that protects and what not. A list of ids is not rows of patients, but it
was made from MIMIC: whether you may publish it is between you and your data use agreement.

A file is one JSON object: what was built and from which version, the salt, a check of the key, then one hash a line.
"""

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clinical_evals.clibench.mimic_key import METHOD, MimicKey
from clinical_evals.errors import InputError
from clinical_evals.write_aside import written_aside

FORMAT = "clinical-evals id list 1"

_HASH = re.compile(r"[0-9a-f]{32}")
_TEXTS = ("config", "split", "mimic_version", "salt", "key_check")


class IdList(NamedTuple):
    """One split, as it may be published."""

    config: str
    """The task, e.g. diagnosis."""
    split: str
    mimic_version: str
    """E.g. 3.1."""
    settings: Mapping[str, str | int]
    """What else decides which admissions are drawn, such as the seed; for the reader, nothing is computed from it."""
    salt: str
    key_check: str
    hashes: tuple[str, ...]
    """Sorted, so that their order says nothing of the admissions'."""


class Differences(NamedTuple):
    """What a list and one's own split do not share."""

    missing: list[int]
    """hadm_ids that the list has and the split lacks, ascending."""
    extra: list[int]
    """hadm_ids that the split has and the list lacks, ascending."""
    foreign: int
    """Hashes of the list that stand for no admission of the table."""

    @property
    def same(self) -> bool:
        """Whether list and split are of the same admissions."""
        return not (self.missing or self.extra or self.foreign)


def list_ids(
    hadm_ids: Iterable[int],
    key: MimicKey,
    config: str,
    split: str,
    mimic_version: str,
    settings: Mapping[str, str | int],
    salt: str | None = None,
) -> IdList:
    """The list of a split; the same ids and arguments give the same list.

    Args:
        hadm_ids: the admissions of the split, in any order.
        key: of the MIMIC that the split was built from, see `mimic_key.key_of`.
        config: the task.
        split: test or train.
        mimic_version: as it was detected.
        settings: what else decides the draw, e.g. `{"seed": 0, "first_batch": "released"}`.
        salt: what keeps lists from being compared without MIMIC; default: config and split, so that only lists of the
            same split can be. It is no secret.

    Raises:
        InputError: an id is there twice, or not in the table that the key is of.
    """
    salt = f"{config}/{split}" if salt is None else salt
    ids = _distinct(hadm_ids, key)
    hashes = tuple(sorted(key.hash_id(salt, hadm_id) for hadm_id in ids))
    return IdList(config, split, mimic_version, dict(settings), salt, key.check, hashes)


def _distinct(hadm_ids: Iterable[int], key: MimicKey) -> set[int]:
    ids: set[int] = set()
    for hadm_id in hadm_ids:
        if hadm_id in ids:
            raise InputError(f"hadm_id {hadm_id} is there twice; expected each admission once")
        if hadm_id not in key.hadm_ids:
            raise InputError(
                f"hadm_id {hadm_id} is not in the table of admissions that the key was made from; build the split and "
                "the key from the same MIMIC"
            )
        ids.add(hadm_id)
    return ids


def write_id_list(path: Path, listed: IdList) -> None:
    """Write a list; the file is there whole or, where that fails, as it was.

    Raises:
        OSError: the folder cannot be written to, or is full.
    """
    head = {"format": FORMAT, "method": METHOD, "admissions": len(listed.hashes)}
    text = json.dumps(head | listed._asdict(), indent=1, ensure_ascii=False)
    with written_aside(path) as aside:
        aside.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_id_list(path: Path) -> IdList:
    """Read a list.

    Raises:
        InputError: the file cannot be read, is no list or of a later format, or is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as an id list (JSON): {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        shown = repr(found.get("format"))[:80] if isinstance(found, dict) else f"a JSON {type(found).__name__}"
        raise InputError(f"{path} is no id list: its format is {shown}, expected {FORMAT!r}")
    problem = _problem(found)
    if problem:
        raise InputError(f"{path} is a damaged id list: {problem}. Fetch it anew from where it was published.")
    texts = {name: found[name] for name in _TEXTS}
    return IdList(**texts, settings=found["settings"], hashes=tuple(found["hashes"]))


def _problem(found: Mapping[str, Any]) -> str:
    """What is wrong with the fields of a list, or nothing."""
    for name in _TEXTS:
        if not isinstance(found.get(name), str):
            return f"{name!r} is {found.get(name)!r:.80}, expected a text"
    settings, hashes = found.get("settings"), found.get("hashes")
    if not isinstance(settings, dict) or not all(isinstance(value, str | int) for value in settings.values()):
        return "'settings' is no object of texts and numbers"
    if not isinstance(hashes, list):
        return "'hashes' is no list"
    for number, each in enumerate(hashes, start=1):
        if not isinstance(each, str) or not _HASH.fullmatch(each):
            return f"hash {number} is {each!r:.80}, expected 32 hexadecimal digits in lower case"
    if len(set(hashes)) != len(hashes):
        return "a hash is there twice"
    if found.get("admissions") != len(hashes):
        return f"it has {len(hashes):,} hashes and says {found.get('admissions')!r:.80}"
    return ""


def check_id_list(listed: IdList, hadm_ids: Iterable[int], key: MimicKey) -> Differences:
    """Compare a published list with one's own split.

    Args:
        listed: the list.
        hadm_ids: the admissions of one's own split, in any order.
        key: of the MIMIC that it was built from.

    Raises:
        InputError: the list was made from another version of MIMIC (or a part of it), so that nothing can be compared;
            an id is there twice, or not in the table that the key is of.
    """
    if not hmac.compare_digest(listed.key_check, key.check):
        raise InputError(
            f"the id list of {listed.config}, {listed.split}, was made from another table of admissions (MIMIC-IV "
            f"{listed.mimic_version}, as it says) than the one given here, so the two cannot be compared; build from "
            "that version, with its admissions table whole"
        )
    own = _distinct(hadm_ids, key)
    known = {key.hash_id(listed.salt, hadm_id): hadm_id for hadm_id in key.hadm_ids}
    there = {known[each] for each in listed.hashes if each in known}
    return Differences(sorted(there - own), sorted(own - there), len(listed.hashes) - len(there))
