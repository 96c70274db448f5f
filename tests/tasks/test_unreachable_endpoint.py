"""What is said of an endpoint that cannot be reached, or whose model is another than the one asked for."""

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import EndpointServer, completion

import clinical_evals  # noqa: F401 - makes the bare names known
from clinical_evals.errors import RunError
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models import endpoint_client
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.scored.results import Result
from clinical_evals.tasks.scored.tables import format_results

DIALOGUES, STATIC = "ior_bench|dynamic_h2", "ior_bench|static_zero_shot"


pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def closed() -> Iterator[int]:
    """A port at which nobody listens, and nobody will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def model_of(port: int) -> str:
    return f"model_name=org/some-model,base_url=http://127.0.0.1:{port}/v1,context=8192,attempts=3"


def run(port: int, out: Path, tasks: str, **changes: Any) -> list[Result]:
    usual = Options(model_of(port), tasks, out, 2, backend="endpoint", turns=2 if tasks == DIALOGUES else None)
    return evaluate(usual._replace(**changes))


def test_the_patients_address_is_named_where_only_it_is_out_of_reach(
    server: EndpointServer, closed: int, tmp_path: Path
) -> None:
    message = rf"row \d+, turn 0: patient: 127\.0\.0\.1:{closed}: no connection: .* \(attempts: 3\)"
    with pytest.raises(RunError, match=message):
        run(server.port, tmp_path, DIALOGUES, patient_model=model_of(closed), patient_backend="endpoint")


def test_it_is_said_once_that_an_address_cannot_be_reached(
    closed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(RunError, match=rf": 127\.0\.0\.1:{closed}: no connection"):
        run(closed, tmp_path, STATIC)
    (said,) = [record.getMessage() for record in caplog.records if record.name == endpoint_client.__name__]
    # Three attempts to connect of 10 s each, and waits of up to 1 and 2 s between them.
    assert said.startswith(f"cannot reach http://127.0.0.1:{closed}/v1 (")
    assert said.endswith("), trying again for up to 33 s a request (3 attempts)")
    with caplog.at_level(logging.WARNING), pytest.raises(RunError):
        run(closed, tmp_path, STATIC)  # a new run says it anew
    assert sum(record.name == endpoint_client.__name__ for record in caplog.records) == 2


def test_nothing_is_tried_again_after_the_only_attempt(
    closed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RunError, match="no connection"):
        run(closed, tmp_path, STATIC, model_args=model_of(closed).replace("attempts=3", "attempts=1"))
    assert [record for record in caplog.records if record.name == endpoint_client.__name__] == []


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        (STATIC, ["the endpoint names the model some-other-model (asked for: org/some-model)"]),
        (
            DIALOGUES,
            [
                "the endpoint of the doctor names the model some-other-model (asked for: org/some-model)",
                "the endpoint of the patient names the model some-other-model (asked for: org/some-model)",
            ],
        ),
    ],
)
def test_another_model_that_answers_is_named(
    server: EndpointServer, tmp_path: Path, tasks: str, said: list[str]
) -> None:
    server.script = lambda asked: completion(asked, model="some-other-model")
    lines = format_results(run(server.port, tmp_path / "other", tasks)).splitlines()
    assert sorted(line for line in lines if "names the model" in line) == said
    server.reset(lambda asked: completion(asked, model=asked.body["model"]))
    assert "names the model" not in format_results(run(server.port, tmp_path / "same", tasks))
