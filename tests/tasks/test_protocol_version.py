"""The rules from an answer to its scores change only together with PROTOCOL_VERSION, and logs name every version."""

import importlib.metadata
import json
from pathlib import Path

import pytest
from pin_protocol import COMMAND, PINS, compare, inputs, protocol_hashes

import clinical_evals  # noqa: F401 - makes the bare name known
from clinical_evals.clibench.prompts import PROMPT_VERSION
from clinical_evals.ontology import get_system
from clinical_evals.tasks.launcher import evaluate
from clinical_evals.tasks.names import PROTOCOL_VERSION
from clinical_evals.tasks.options import Options
from clinical_evals.tasks.prediction_log import read_log
from clinical_evals.version import __version__


def test_a_changed_protocol_has_a_raised_version() -> None:
    pinned = json.loads(PINS.read_text())
    assert PROTOCOL_VERSION in pinned, f"the version was raised: `{COMMAND}` pins what it gives; keep the old ones"
    changed, gone, new = compare(pinned[PROTOCOL_VERSION], protocol_hashes())
    given = inputs()
    assert not changed, (
        f"{len(changed)} answers are read or scored in another way, the first: {given[min(changed)]!r}. Raise "
        f"PROTOCOL_VERSION and run `{COMMAND}` (before version {PROTOCOL_VERSION} is released: `{COMMAND} --repin`)."
    )
    assert not gone, f"{len(gone)} pinned answers are in no table any more: `{COMMAND} --repin`"
    assert len(new) < 50, f"{len(new)} answers of the tables are not pinned: `{COMMAND}`"


def test_the_pins_notice_a_change_of_either_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    before = protocol_hashes()
    with monkeypatch.context() as patch:
        patch.setattr("clinical_evals.matching.official.FIRST_OF_A_LIST", ("•",))  # a hyphen then begins no list
        assert compare(before, protocol_hashes())[0]
    with monkeypatch.context() as patch:
        patch.setattr("clinical_evals.matching.answer.without_reasoning", lambda text: text)
        assert compare(before, protocol_hashes())[0]
    assert compare(before, protocol_hashes()) == (set(), set(), set())


def test_the_files_of_a_run_name_every_version(chain_model: Path, tmp_path: Path) -> None:
    options = Options(
        f"model_name={chain_model}", "clibench|diagnosis", tmp_path, 2, protocol="both", answer_tokens=12
    )
    standard, official = evaluate(options)
    header, _ = read_log(standard.log)
    assert header["run"]["prompt"] == PROMPT_VERSION
    for package in ("lighteval", "transformers", "torch", "datasets"):
        assert header["versions"][package] == importlib.metadata.version(package)
    assert header["versions"]["clinical-evals"] == __version__
    for result, mark in ((standard, ""), (official, ".official")):
        summary = json.loads(result.log.with_name(f"summary{mark}.json").read_text())
        scored = json.loads(result.log.with_name(f"scored{mark}.jsonl").read_text().splitlines()[0])
        for file in (summary, scored):
            assert file["protocol_version"] == PROTOCOL_VERSION
            assert file["release"] == get_system("icd10cm").release
