"""From MODEL_ARGS and options to an endpoint's configuration; nothing is asked here."""

from pathlib import Path
from typing import Any

import pytest

from clinical_evals.errors import ClinicalEvalsError, InputError
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.models.endpoint_config import EndpointConfig, check_endpoint, find_key, remote_address
from clinical_evals.tasks.models.model_args import build_config, parse_model_args
from clinical_evals.tasks.options import Options, check_numbers

URL = "http://localhost:8000/v1"


def config_of(text: str, **overrides: Any) -> EndpointConfig:
    config = build_config(parse_model_args(text, None, "endpoint", overrides))
    assert isinstance(config, EndpointConfig)
    return config


def test_values_and_what_is_assumed_without_them() -> None:
    config = config_of(f"model_name=org/m:free,base_url={URL},context=4096")
    assert (config.model_name, config.address, config.context) == ("org/m:free", URL, 4096)
    assert (config.concurrency, config.batch_size, config.api_key_env) == (8, None, "OPENAI_API_KEY")
    assert config.prices is None
    config = config_of(f"model_name=m,base_url={URL}/chat/completions,input_price=0.5,output_price=2,concurrency=3")
    assert (config.address, config.concurrency) == (URL, 3)
    assert config.prices == (0.5, 2.0)
    assert config_of(f"model_name=m,base_url={URL},concurrency=3", concurrency=5).concurrency == 5


def test_a_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "endpoint.yaml"
    path.write_text(
        f"model_parameters:\n  model_name: m\n  base_url: {URL}\n  context: 4096\n  send_seed: false\n"
        "  generation_parameters:\n    temperature: 0.5\n    max_new_tokens: 9\n"
    )
    request = parse_model_args(str(path), None, "endpoint")
    assert (request.answer_tokens, request.temperature) == (9, 0.5)
    assert build_config(request).send_seed is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base_url=http://h/v1", "names no model"),
        ("model_name=m", "base_url: Field required"),
        ("model_name=m,base_url=http://h/v1,api_key=sk-secret", "api_key cannot be used: .*OPENAI_API_KEY"),
        ("model_name=m,base_url=http://h/v1,max_tokens=9", "max_tokens cannot be used: .*--answer-tokens"),
        ("model_name=m,base_url=http://h/v1,concurency=9", "did you mean concurrency"),
        ("model_name=m,base_url=http://h/v1,concurrency=0", "concurrency: Input should be greater than 0"),
        ("model_name=m,base_url=http://h/v1,attempts=99", "attempts: Input should be less than or equal to 20"),
        ("model_name=m,base_url=http://h/v1,length_parameter=n", "length_parameter: Input should be 'max_tokens' or"),
        ("model_name=m,base_url=http://h/v1,generation_parameters={top_k:5}", "top_k cannot be used: the OpenAI API"),
        ("model_name=m,base_url=http://h/v1,generation_parameters={seed:5}", "seed cannot be used: .*--seed"),
        ("base_url=http://me:secret@h/v1", "names no model"),
        ("model_name=m,base_url=http://h/v1,concurrency=1,concurrency=2", "concurrency stands twice"),
        ("model_name=m,base_url=http://h/v1,generation_parameters={top_p:1,top_p:0.5}", "top_p stands twice"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        config_of(text)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://me:secret@h/v1", "carries a user name"),
        ("http://h/v1?key=secret", "carries a user name, password, query"),
        ("http://127.0.0.1#secret@h/v1", "fragment"),
        ("localhost:8000/v1", "expected an address such as"),
        ("ftp://h/v1", "expected an address such as"),
        ("http:///v1", "expected an address such as"),
        ("http://h:0/v1", "expected an address such as"),
        ("http://h:port/v1", "expected an address such as"),
        ("http://127.0.0.1\\@h/v1", "expected an address such as|user name"),
        ("http://127.0.0.1 .h/v1", "expected an address such as"),
    ],
)
def test_an_address_that_is_none_or_carries_a_secret(url: str, message: str) -> None:
    config = EndpointConfig(model_name="m", base_url=url, context=9)
    for check in (check_endpoint, remote_address):
        with pytest.raises(InputError, match=message) as raised:
            check(config)
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://localhost:8000/v1/", ""),
        ("http://127.0.0.1/v1", ""),
        ("http://[::1]:8000/v1", ""),
        ("http://0.0.0.0:8000/v1", "http://0.0.0.0:8000/v1"),
        ("http://192.168.1.5:8000/v1", "http://192.168.1.5:8000/v1"),
        ("https://api.example.org/v1/", "https://api.example.org/v1"),
        ("http://localhost.example.org/v1", "http://localhost.example.org/v1"),
    ],
)
def test_what_is_on_this_machine(monkeypatch: pytest.MonkeyPatch, url: str, remote: str) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert remote_address(EndpointConfig(model_name="m", base_url=url)) == remote


def test_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EndpointConfig(model_name="m", base_url=URL, context=9)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert find_key(config) is None
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1\n")
    assert find_key(config) == "sk-1"
    named = config.model_copy(update={"api_key_env": "MY_KEY"})
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError, match="api_key_env names the environment variable MY_KEY, which is not set"):
        check_endpoint(named)
    monkeypatch.setenv("MY_KEY", "sk-secret\nX: y")
    with pytest.raises(InputError, match="MY_KEY holds what cannot be a key") as raised:
        check_endpoint(named)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "does not say how many tokens its model reads.*context=… in MODEL_ARGS, or --context TOKENS"),
        ({"context": 8192, "max_cost": 1.0}, "--max-cost 1: what tokens cost is not known"),
        ({"context": 8192, "max_tokens": 0}, "--max-tokens 0: expected a whole number of at least 1"),
        ({"context": 8192, "max_cost": 0.0}, "--max-cost 0.0: expected a number above 0"),
        ({"context": 8192, "concurrency": -1}, "--concurrency -1: expected a whole number"),
        ({"backend": "accelerate", "max_tokens": 5}, "--concurrency, --max-tokens and --max-cost are for `eval endpo"),
        ({"context": 600}, "a context of 600 tokens leaves nothing for the prompt beside 650"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    options = Options(f"model_name=m,base_url={URL}", "clibench|diagnosis", tmp_path, 1, backend="endpoint")
    with pytest.raises(ClinicalEvalsError, match=message):
        evaluate(options._replace(**changes))


# Two models


def two(tmp_path: Path, **changes: Any) -> Options:
    usual = Options(
        f"model_name=m,base_url={URL},context=4000",
        "ior_bench|dynamic_h2",
        tmp_path,
        1,
        backend="endpoint",
        patient_model=f"model_name=p,base_url={URL},context=4000",
    )
    return usual._replace(**changes)


PATIENT_FAULTS = {
    "model_name=p": r"--patient-model: MODEL_ARGS: base_url: Field required",
    "": r"--patient-model: MODEL_ARGS '' names no model",
    f"model_name=p,base_url={URL}": r"--patient-model: .*give context=",
    f"model_name=p,base_url={URL},context=4000,input_price=1": r"--patient-model: .*input_price and output_price",
}


@pytest.mark.parametrize("text", PATIENT_FAULTS)
def test_what_is_wrong_with_the_patient_says_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=PATIENT_FAULTS[text]):
        evaluate(two(tmp_path, patient_model=text))


def test_an_address_for_a_model_of_this_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"base_url is the address of an endpoint, .*--patient-backend endpoint"):
        parse_model_args(f"model_name=p,base_url={URL}")


def test_limits_are_for_an_endpoint_on_either_side(tmp_path: Path) -> None:
    check_numbers(two(tmp_path, backend="accelerate", patient_backend="endpoint", max_tokens=10, concurrency=2))
    with pytest.raises(InputError, match="--concurrency, --max-tokens and --max-cost are for `eval endpoint`, or"):
        check_numbers(two(tmp_path, backend="accelerate", max_tokens=10))


def test_a_value_keeps_its_equals_signs() -> None:
    values = parse_model_args("model_name=m,base_url=http://localhost:8000/a=b/v1", backend="endpoint").values
    assert values["base_url"] == "http://localhost:8000/a=b/v1"
