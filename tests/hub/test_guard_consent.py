"""Targets, consent and the ledger."""

import datetime
import json
import multiprocessing
import stat
from pathlib import Path

import pytest
from mimic_like import NOTE

from clinical_evals.errors import GuardError, InputError, UnknownNameError
from clinical_evals.hub.consent import LEDGER, append_to_ledger, parse_consent, state_folder
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.inspection import Rows
from clinical_evals.hub.target import Target
from clinical_evals.markers import MIMIC_MARKER, PATIENT_MARKER

CONSENT = "Jane Doe, 2026-01-31"
PRIVATE = Target("hub-private", "me/adapter")
REMOTE = Target("endpoint", "https://api.example.org/v1")
MIMIC = Rows([NOTE], name="prompt")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CLINICAL_EVALS_STATE", str(tmp_path / "state"))
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return tmp_path / "state"


def ledger(state: Path) -> list[dict[str, object]]:
    path = state / LEDGER
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("target", [PRIVATE, REMOTE], ids=["private repository", "remote endpoint"])
def test_consent_opens_private_targets_and_is_written_down(target: Target, state: Path) -> None:
    with pytest.raises(GuardError, match=r'--dua-consent "NAME, DATE"'):
        check_may_leave(MIMIC, target)
    assert ledger(state) == []
    clearance = check_may_leave(MIMIC, target, CONSENT)
    assert "Jane Doe, 2026-01-31" in clearance.statement
    assert target.name in clearance.statement
    (entry,) = ledger(state)
    assert (entry["name"], entry["date"]) == ("Jane Doe", "2026-01-31")
    assert (entry["target_kind"], entry["target"]) == (target.kind, target.name)
    assert "marmalade" not in json.dumps(entry)
    assert [found.finding.rule for found in clearance.found] == ["note"]


def test_no_consent_opens_a_public_target(state: Path) -> None:
    with pytest.raises(GuardError, match="consent or not"):
        check_may_leave(MIMIC, Target("hub-public", "me/data"), CONSENT)
    assert ledger(state) == []


PATIENTS = Rows(["我头疼三天了"], info=f"IOR-Bench. {PATIENT_MARKER}", name="prompt")


@pytest.mark.parametrize("target", [PRIVATE, REMOTE], ids=["private repository", "remote endpoint"])
def test_patient_data_is_called_so_and_needs_the_same_consent(target: Target, state: Path) -> None:
    with pytest.raises(GuardError, match=r'Patient data leaves only with --dua-consent "NAME, DATE"') as caught:
        check_may_leave(PATIENTS, target)
    assert "the marker 'clinical-evals:patient-data' [patient marker]" in str(caught.value)
    assert "MIMIC" not in str(caught.value)
    assert ledger(state) == []
    clearance = check_may_leave(PATIENTS, target, CONSENT)
    assert clearance.statement == f"patient data; sent to {target} with the consent of: Jane Doe, 2026-01-31"
    (entry,) = ledger(state)
    assert "patient marker" in str(entry["found"])
    check_may_leave(PATIENTS, Target("endpoint", "http://localhost:8000"))  # stays here


def test_no_consent_opens_a_public_target_for_patient_data(state: Path) -> None:
    for consent in (None, CONSENT):
        with pytest.raises(GuardError, match="No patient data goes to a public place, consent or not") as caught:
            check_may_leave(PATIENTS, Target("hub-public", "me/data"), consent)
        assert "MIMIC" not in str(caught.value)
    assert ledger(state) == []


def test_where_both_marks_are_found_it_is_mimics(state: Path) -> None:
    both = Rows(["x"], info=f"{PATIENT_MARKER} {MIMIC_MARKER}", name="prompt")
    with pytest.raises(GuardError, match="MIMIC-derived content leaves only with"):
        check_may_leave(both, PRIVATE)
    clearance = check_may_leave(both, PRIVATE, CONSENT)
    assert [found.finding.rule for found in clearance.found] == ["marker", "patient marker"]
    assert clearance.statement.startswith("MIMIC-derived")


def test_consent_covers_patient_data_but_not_what_cannot_be_read_beside_it(tmp_path: Path, state: Path) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    (tmp_path / "x.txt").write_text(PATIENT_MARKER)
    with pytest.raises(GuardError, match="The consent given covers the rest") as caught:
        check_may_leave(tmp_path, PRIVATE, CONSENT)
    assert "MIMIC" not in str(caught.value)
    assert ledger(state) == []


def test_consent_does_not_cover_what_cannot_be_read(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(GuardError, match="with or without consent"):
        check_may_leave(path, PRIVATE, CONSENT)
    assert ledger(state) == []


def test_consent_that_is_not_needed_is_not_written_down(state: Path) -> None:
    assert check_may_leave(Rows(["hello"]), REMOTE, CONSENT).statement == ""
    assert ledger(state) == []


TOMORROW = (datetime.date.today() + datetime.timedelta(days=1)).isoformat()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Jane Doe",
        "Jane Doe,",
        ", 2026-01-31",
        "  , 2026-01-31",
        "1234, 2026-01-31",
        "Jane, 2026-02-30",
        "Jane, yesterday",
        "Jane, 20260131",
        "Jane, 2026-W05-6",
        "Jane, 31.01.2026",
        "Jane\nDoe, 2026-01-31",
        "NAME, DATE",
        f"Jane, {TOMORROW}",
        "J" * 201 + ", 2026-01-31",
        "Jane, ２０２６-01-31",
    ],
)
def test_malformed_consent_is_refused_also_where_none_is_needed(text: str, state: Path) -> None:
    with pytest.raises(GuardError, match="consent"):
        check_may_leave(Rows(["hello"]), REMOTE, text)
    assert ledger(state) == []


def test_names_with_commas_and_other_scripts() -> None:
    today = datetime.date.today()
    assert parse_consent(f"Doe, Jane, MD, {today}") == ("Doe, Jane, MD", today)
    assert parse_consent(" 王小明 ,2026-01-31 ").name == "王小明"


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8000/v1",
        "localhost:8000",
        "127.0.0.1",
        "http://127.8.9.1:80",
        "http://[::1]:8000/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "HTTP://LOCALHOST/v1",
        "https://user:pass@localhost/v1",
    ],
)
def test_endpoints_of_this_machine_need_no_consent(address: str, state: Path) -> None:
    check_may_leave(MIMIC, Target("endpoint", address))
    assert ledger(state) == []


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com/v1",
        "openai/gpt-4o",
        "http://10.0.0.5:8000",
        "http://192.168.1.2/v1",
        "http://172.16.0.1",
        "http://0.0.0.0:8000",
        "http://[fe80::1]/v1",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org/v1",
        "http://localhost@example.org/v1",
        "http://example.org#@127.0.0.1/",
        "http://example.org/?x=127.0.0.1",
        "http://example.org\\@127.0.0.1/",
        "http://127.0.0.1 .example.org",
        "http://127.1",
        "http://2130706433",
        "http://notlocalhost:1",
        "http://[::1",
        "http://localhost:99999",
        "http://128.0.0.1",
        "ｌocalhost",
    ],
)
def test_every_other_endpoint_is_remote(address: str) -> None:
    with pytest.raises(GuardError, match="dua-consent"):
        check_may_leave(MIMIC, Target("endpoint", address))


def test_secrets_of_an_address_are_not_written_down(state: Path) -> None:
    target = Target("endpoint", "https://user:hunter2@api.example.org/v1?key=hunter3#hunter4")
    with pytest.raises(GuardError, match=r"https://api\.example\.org/v1'") as caught:
        check_may_leave(MIMIC, target)
    clearance = check_may_leave(MIMIC, target, CONSENT)
    assert "hunter" not in str(caught.value) + clearance.statement + json.dumps(ledger(state))


def test_a_repository_named_localhost_is_no_endpoint() -> None:
    with pytest.raises(GuardError):
        check_may_leave(MIMIC, Target("hub-private", "localhost"))


def test_a_proxy_takes_local_requests_away(monkeypatch: pytest.MonkeyPatch) -> None:
    local = Target("endpoint", "http://127.0.0.1:8000/v1")
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")
    with pytest.raises(GuardError, match="no_proxy"):
        check_may_leave(MIMIC, local)
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
    check_may_leave(MIMIC, local)


def test_targets_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="hub-public"):
        Target("hub", "me/data")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs a name"):
        Target("endpoint", " ")


def test_nothing_to_send_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        check_may_leave(tmp_path / "nothing", PRIVATE)
    with pytest.raises(InputError, match="nothing to send"):
        check_may_leave(tmp_path, PRIVATE)
    with pytest.raises(InputError, match="nothing to send"):
        check_may_leave([], PRIVATE)
    with pytest.raises(InputError, match="iterator"):
        Rows(iter(["a"]))
    with pytest.raises(InputError, match="str"):
        Rows("a")


def test_the_ledger_only_grows_and_is_the_users_own(state: Path) -> None:
    check_may_leave(MIMIC, PRIVATE, CONSENT)
    first = (state / LEDGER).read_bytes()
    check_may_leave(MIMIC, REMOTE, CONSENT)
    assert (state / LEDGER).read_bytes().startswith(first)
    assert len(ledger(state)) == 2
    assert stat.S_IMODE((state / LEDGER).stat().st_mode) == 0o600


def test_a_torn_last_line_costs_only_itself(state: Path) -> None:
    state.mkdir()
    (state / LEDGER).write_text('{"name": "torn')
    append_to_ledger({"name": "whole"})
    assert (state / LEDGER).read_text() == '{"name": "torn\n{"name": "whole"}\n'


def _append_many(number: int) -> None:
    for line in range(50):
        append_to_ledger({"process": number, "line": line, "padding": "x" * 2_000})


def test_processes_at_once_do_not_mix_lines(state: Path) -> None:
    workers = [multiprocessing.get_context("fork").Process(target=_append_many, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted((entry["process"], entry["line"]) for entry in ledger(state)) == [
        (number, line) for number in range(4) for line in range(50)
    ]


def test_without_a_ledger_nothing_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CLINICAL_EVALS_STATE", str(tmp_path / "file"))
    with pytest.raises(GuardError, match="ledger"):
        check_may_leave(MIMIC, PRIVATE, CONSENT)


def test_where_the_ledger_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CLINICAL_EVALS_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "clinical-evals"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_folder() == Path.home() / ".local" / "state" / "clinical-evals"
