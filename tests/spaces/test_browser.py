"""Each Space as a person has it: a browser, an answer typed, a button, a table; and a bad input, a message."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clinical_evals.datasets_hub.names import METRICS
from clinical_evals.errors import RunError
from clinical_evals.spaces import servers
from clinical_evals.spaces.servers import free_port, running_space

pytest.importorskip("gradio", reason="gradio is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.slow
CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        own = CHROMIUM if Path(CHROMIUM).exists() else None
        try:
            found = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"no Chromium can be started: {str(error).splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """Both Spaces by name, as `make spaces` runs them; they end with the tests of this file."""
    command = [sys.executable, "-m", "clinical_evals.spaces"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            said = [process.stdout.readline() for _ in METRICS]
            found = dict(line.split(": ", 1) for line in map(str.strip, said))
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, process.stdout.read()
    for address in found.values():
        with pytest.raises(urllib.error.URLError):  # nobody is left
            urllib.request.urlopen(address, timeout=30)


@pytest.fixture
def page(browser: Any, addresses: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page of a Space; whatever is asked of other machines fails."""
    address = addresses[request.param]
    opened = browser.new_page(viewport={"width": 1280, "height": 1100})
    opened.route(lambda url: not url.startswith(address), lambda route: route.abort())
    opened.set_default_timeout(30_000)
    opened.goto(address)
    yield opened
    opened.close()


def score(page: Any, **fields: str) -> None:
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " "), exact=False).first.fill(text)
    page.get_by_role("button", name="Score").click()


@pytest.mark.parametrize("page", ["hier_icd_f1"], indirect=True)
def test_codes(page: Any, tmp_path: Path) -> None:
    score(
        page,
        Answer="1. Type 2 diabetes mellitus without complications\n2. N18.4\n3. E11.99",
        Gold_codes="E11.9, N18.30",
    )
    row = page.locator(".result tr", has_text="full").first
    assert row.inner_text().split() == ["full", "33.3", "50.0", "40.0", "3", "2", "1"]
    item = page.locator(".result tr", has_text="N18.4")
    assert "chapter, block, category" in item.inner_text()
    assert "no such code: wrong" in item.locator("xpath=..").inner_text()
    page.screenshot(path=tmp_path / "codes.png", full_page=True)
    score(page, Gold_codes="E11.9, <b>${7*7}</b>")
    assert "The gold code '<b>${7*7}</b>' is not in icd10cm" in page.locator(".result .message").inner_text()
    assert page.locator(".result table").count() == 0
    page.screenshot(path=tmp_path / "codes-message.png", full_page=True)


@pytest.mark.parametrize("page", ["department_accuracy"], indirect=True)
def test_departments(page: Any, tmp_path: Path) -> None:
    score(
        page,
        Answer="建议您挂小儿外科。",
        Departments="外科\n小儿外科\n消化内科",
        The_right_department="小儿外科",
    )
    assert "Read: 小儿外科. Right" in page.locator(".result .verdict").inner_text()
    assert page.locator(".result tbody tr", has_text="小儿外科").inner_text().split() == ["小儿外科", *["yes"] * 4]
    page.screenshot(path=tmp_path / "departments.png", full_page=True)
    score(page, The_right_department="骨科")
    assert "'骨科' is none of the 3 departments" in page.locator(".result .message").inner_text()
    page.screenshot(path=tmp_path / "departments-message.png", full_page=True)


def test_a_page_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text("raise SystemExit('out of order')")
    monkeypatch.setattr(servers, "metric_script", lambda name: tmp_path / f"{name}.py")
    with pytest.raises(RunError, match="does not run:\nout of order"), running_space("hier_icd_f1", free_port()):
        pass


def test_a_port_that_is_taken() -> None:
    command = [sys.executable, "-m", "clinical_evals.spaces", "--port"]
    with socket.socket() as taken:
        taken.bind((servers.HOST, 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run([*command, port], capture_output=True, text=True, timeout=120)
    assert done.returncode == RunError.exit_code
    assert f"port {port} of {servers.HOST} is taken" in done.stderr
