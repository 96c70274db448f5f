"""Published lists of admissions: who can compare them, what differs, what they give away, and damaged files."""

import csv
import gzip
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_evals.clibench.id_lists import (
    FORMAT,
    Differences,
    IdList,
    check_id_list,
    list_ids,
    read_id_list,
    write_id_list,
)
from clinical_evals.clibench.mimic_key import Admission, MimicKey, key_of
from clinical_evals.errors import InputError
from clinical_evals.hub.inspection import inspect_paths

START = datetime(2150, 1, 1, 6, 0)
ADMISSIONS = [
    Admission(10_000_000 + number // 2, 20_000_000 + 7 * number, START + timedelta(hours=5 * number))
    for number in range(400)
]
IDS = [row.hadm_id for row in ADMISSIONS]
KEY = key_of(ADMISSIONS)


def listed(hadm_ids: list[int], key: MimicKey = KEY, split: str = "test", salt: str | None = None) -> IdList:
    return list_ids(hadm_ids, key, "diagnosis", split, "3.1", {"seed": 0, "first_batch": "released"}, salt)


def test_a_list_is_what_its_method_says() -> None:
    """The same by hand, as a program without this package would do it."""
    rows = [Admission(2, 30, datetime(2150, 1, 2, 3, 4)), Admission(1, 20, datetime(2149, 12, 31, 23, 59, 58))]
    secret = hashlib.sha256(b"1,20,2149-12-31 23:59:58\n2,30,2150-01-02 03:04:00\n").digest()
    expected = hmac.new(secret, b"diagnosis/test:30", "sha256").hexdigest()[:32]
    assert listed([30], key_of(rows)).hashes == (expected,)


def test_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "diagnosis_test.json"
    write_id_list(path, listed(IDS[:5]))
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["format"] == FORMAT
    assert "HMAC-SHA-256" in found["method"]
    assert found["admissions"] == 5
    assert found["salt"] == "diagnosis/test"
    assert found["settings"] == {"seed": 0, "first_batch": "released"}
    assert len(path.read_text(encoding="utf-8").splitlines()) > 5, "a hash a line, so that versions can be compared"
    assert KEY.secret.hex() not in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@given(st.permutations(ADMISSIONS[:20]), st.permutations(IDS[:9]))
def test_neither_order_matters(admissions: list[Admission], hadm_ids: list[int]) -> None:
    assert listed(hadm_ids, key_of(admissions)) == listed(IDS[:9], key_of(ADMISSIONS[:20]))


@given(st.sets(st.sampled_from(IDS)), st.sets(st.sampled_from(IDS)))
def test_differences_are_those_of_the_sets(theirs: set[int], ours: set[int]) -> None:
    found = check_id_list(listed(sorted(theirs)), ours, KEY)
    assert found == Differences(sorted(theirs - ours), sorted(ours - theirs), 0)
    assert found.same == (theirs == ours)


def test_written_and_read_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    made = listed(IDS[10:60], salt="Größe 1")
    write_id_list(path, made)
    first = path.read_bytes()
    assert read_id_list(path) == made
    assert check_id_list(read_id_list(path), IDS[10:60], KEY).same
    write_id_list(path, listed(IDS[10:60][::-1], salt="Größe 1"))
    assert path.read_bytes() == first


def test_hashes_of_no_admission_are_counted() -> None:
    made = listed(IDS[:3])
    foreign = made._replace(hashes=(*made.hashes, "0" * 32))
    assert check_id_list(foreign, IDS[:3], KEY) == Differences([], [], 1)
    assert not check_id_list(foreign, IDS[:3], KEY).same


def test_another_mimic_cannot_be_compared() -> None:
    moved = [*ADMISSIONS[:-1], ADMISSIONS[-1]._replace(admittime=START)]
    for other in (ADMISSIONS[:-1], moved):  # a row less, and one time that is another
        with pytest.raises(InputError, match=r"diagnosis, test.*another table of admissions.*3\.1"):
            check_id_list(listed(IDS[:3]), IDS[:3], key_of(other))


def test_lists_of_two_splits_share_no_hash() -> None:
    """Who has no MIMIC does not even see that two lists hold the same admissions, unless they share the salt."""
    test, train, again = (
        listed(IDS),
        listed(IDS, split="train"),
        listed(IDS[:100], split="train", salt=listed(IDS).salt),
    )
    assert not set(test.hashes) & set(train.hashes)
    assert len(set(test.hashes) & set(again.hashes)) == 100


def test_ids_cannot_be_found_by_trying_them_all() -> None:
    """What a salt alone would allow: with what the file holds, no id of the whole range gives one of the hashes."""
    made = listed(IDS)
    head = [made.salt, made.key_check, made.config, made.split, made.mimic_version, ""]
    for secret in (text.encode() for text in head):
        for hadm_id in IDS:  # the attacker's best case: only the right ones are tried
            tried = hmac.new(secret, f"{made.salt}:{hadm_id}".encode(), "sha256").hexdigest()[:32]
            plain = hashlib.sha256(secret + f"{made.salt}:{hadm_id}".encode()).hexdigest()[:32]
            assert tried not in made.hashes
            assert plain not in made.hashes


def test_a_printed_key_shows_nothing() -> None:
    assert KEY.secret.hex() not in f"{KEY!r} {KEY}"
    assert repr(KEY.secret) not in repr(KEY)
    assert str(IDS[0]) not in repr(KEY)


def test_the_guard_lets_a_list_through_and_not_its_ids(tmp_path: Path) -> None:
    key = key_of(Admission(10_000_000 + 31 * number, 20_000_000 + 1_999 * number, START) for number in range(5_000))
    write_id_list(tmp_path / "list.json", listed(sorted(key.hadm_ids), key))
    assert inspect_paths([tmp_path / "list.json"]).found == ()
    (tmp_path / "ids.json").write_text(json.dumps(sorted(key.hadm_ids), indent=1), encoding="utf-8")
    assert inspect_paths([tmp_path / "ids.json"]).found, "this test would pass with a guard that sees nothing"


def test_the_open_demo(mimic_demo: Path, tmp_path: Path) -> None:
    with gzip.open(mimic_demo / "hosp" / "admissions.csv.gz", "rt", encoding="utf-8") as stream:
        rows = [
            Admission(int(row["subject_id"]), int(row["hadm_id"]), datetime.fromisoformat(row["admittime"]))
            for row in csv.DictReader(stream)
        ]
    key = key_of(rows)
    assert len(key.hadm_ids) == 275
    ids = sorted(key.hadm_ids)
    write_id_list(tmp_path / "list.json", listed(ids[:100], key))
    found = check_id_list(read_id_list(tmp_path / "list.json"), ids[1:101], key_of(reversed(rows)))
    assert found == Differences([ids[0]], [ids[100]], 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: key_of([]), "the table of admissions is empty"),
        (lambda: key_of([*ADMISSIONS, ADMISSIONS[3]]), "hadm_id 20000021 twice"),  # 20,000,000 + 7 * 3
        (lambda: listed([IDS[0], IDS[1], IDS[0]]), "hadm_id 20000000 is there twice"),
        (lambda: listed([29_999_999]), "hadm_id 29999999 is not in the table of admissions"),
        (lambda: check_id_list(listed(IDS[:2]), [IDS[0], IDS[0]], KEY), "hadm_id 20000000 is there twice"),
    ],
)
def test_what_makes_no_list(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "clinical-evals id list 2"}, r"format is 'clinical-evals id list 2', expected"),
        ({"format": None}, "format is None"),
        ({"salt": None}, "'salt' is None, expected a text"),
        ({"config": 3}, "'config' is 3"),
        ({"settings": [1]}, "'settings' is no object"),
        ({"settings": {"seed": 0.5}}, "'settings' is no object of texts and numbers"),
        ({"hashes": "ab"}, "'hashes' is no list"),
        ({"hashes": ["ab"]}, "hash 1 is 'ab', expected 32"),
        ({"hashes": ["0" * 32, 7]}, "hash 2 is 7"),
        ({"hashes": ["0" * 32 + "\n"]}, "hash 1 is"),
        ({"hashes": ["0" * 32] * 5}, "a hash is there twice"),
        ({"admissions": 4}, "it has 5 hashes and says 4"),
    ],
)
def test_damaged_lists(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "list.json"
    write_id_list(path, listed(IDS[:5]))
    found = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        read_id_list(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b"[" * 100_000, b"3", b"null"])
def test_what_is_no_list_at_all(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"list\.json"):
        read_id_list(path)
    with pytest.raises(InputError, match=r"none\.json cannot be read"):
        read_id_list(tmp_path / "none.json")


def test_a_failed_write_leaves_the_old_list(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    write_id_list(path, listed(IDS[:5]))
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_id_list(path, listed(IDS[:6])._replace(settings={"seed": object()}))  # type: ignore[dict-item]
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
