"""Rows for SFT: nothing is lost, training and evaluation agree, and where rows come from stays with them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from built_rows import built, sample_rows
from datasets import load_dataset
from tiny_llama import NO_SYSTEM_ROLE, make_tokenizer

import clinical_evals  # noqa: F401  # the bare names
from clinical_evals.cli import main
from clinical_evals.clibench.prompts import SYSTEM, TASK_PROMPTS
from clinical_evals.errors import GuardError, InputError, ResourceMissingError, UnknownNameError
from clinical_evals.hub.guard import check_may_leave
from clinical_evals.hub.target import Target
from clinical_evals.markers import MIMIC_MARKER, SYNTHETIC_MARKER
from clinical_evals.matching.scorer import CodeScorer
from clinical_evals.tasks.names import find_task
from clinical_evals.training.tuning.build_sft import Request, build_sft
from clinical_evals.training.tuning.positions import most_positions
from clinical_evals.training.tuning.targets import TARGETS, completion

PUBLIC = Target("hub-public", "someone/rows")


def _tokens(tokenizer: Any, row: dict[str, Any]) -> int:
    return len(tokenizer.apply_chat_template([*row["prompt"], *row["completion"]], return_dict=True)["input_ids"])


@pytest.mark.parametrize("task", TASK_PROMPTS)
@pytest.mark.parametrize("target", ["titles-with-codes", "codes"])
def test_what_is_taught_scores_full_marks(task: str, target: str) -> None:
    rows = load_dataset("clibench", task, split="train").to_list()
    try:
        scorer = CodeScorer(find_task(f"clibench:{task}").system)
    except ResourceMissingError as error:
        pytest.skip(str(error))
    scored = scorer.score([completion(row, task, target) for row in rows], [row["codes"] for row in rows])
    assert scored.scores()["f1_full"] == 1.0


def test_targets_by_hand() -> None:
    row = {"codes": ["E11.9", "I10"], "titles": ["Type 2  diabetes", "Hypertension"]}
    assert {target: completion(row, "diagnosis", target) for target in TARGETS} == {
        "titles-with-codes": "Type 2 diabetes (E11.9)\nHypertension (I10)",
        "titles": "Type 2 diabetes\nHypertension",
        "codes": "E11.9\nI10",
        "official": "E119\nI10",
    }
    assert completion({"codes": ["C07AG02"], "titles": ["carvedilol"]}, "prescription", "official") == "carvedilol"
    with pytest.raises(UnknownNameError, match="Did you mean 'titles'"):
        completion(row, "diagnosis", "title")


def test_official_labs_have_mimics_labels(release_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINICAL_EVALS_RESOURCES", str(release_files))
    row = {"codes": ["2951-2"], "titles": ["Sodium [Moles/volume] in Serum or Plasma"]}
    assert completion(row, "lab_order", "official") == "Sodium"


def test_long_prompts_are_cut_and_completions_stay_whole(tiny: Path, rows: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    made = load_dataset(str(rows), split="train").to_list()
    gold = {row["hadm_id"]: row["codes"] for row in sample_rows(4)}
    assert [row["hadm_id"] for row in made] == list(gold)
    about = json.loads((rows / "build.json").read_text())
    lengths = [_tokens(tokenizer, row) for row in made]
    assert max(lengths) <= 1024
    assert min(lengths) > 1024 - 40  # cut to the word, not by halves
    for row in made:
        assert [said["role"] for said in row["prompt"]] == ["system", "user"]
        assert row["prompt"][0]["content"] == SYSTEM
        assert row["prompt"][1]["content"].startswith(TASK_PROMPTS["diagnosis"].instruction)
        assert row["prompt"][1]["content"].endswith(TASK_PROMPTS["diagnosis"].question)
        assert row["completion"][0]["content"].split("\n") == gold[row["hadm_id"]]
    assert (about["rows"], about["prompts_cut"], about["tokens"]["max"]) == (4, 4, max(lengths))


def test_the_prompt_is_the_one_of_the_evaluation(tiny: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from clinical_evals.clibench.prompts import only_shown, user_text
    from clinical_evals.clibench.segments import LONG, render_segments
    from clinical_evals.ontology import get_system
    from clinical_evals.tasks.models.chat import ChatPrompt
    from clinical_evals.truncation import Room, fit_prompt

    build_sft(Request("procedure", str(tiny), tmp_path / "rows", max_length=4096, limit=1))
    made = load_dataset(str(tmp_path / "rows"), split="train")[0]
    chat = ChatPrompt(AutoTokenizer.from_pretrained(tiny), use_chat_template=True)
    row = load_dataset("clibench", "procedure", split="train")[0]
    segments = only_shown("procedure", render_segments(row, get_system("icd10cm")))
    asked = fit_prompt(
        segments, LONG, lambda cut: chat.render(SYSTEM, user_text("procedure", cut)), chat, Room(4096, 0), "row 0"
    )
    assert chat.render_messages(made["prompt"]) == asked.text


def test_a_model_without_system_role_gets_it_in_the_user_turn(tmp_path: Path) -> None:
    make_tokenizer(NO_SYSTEM_ROLE).save_pretrained(tmp_path / "tokenizer")
    build_sft(Request("diagnosis", str(tmp_path / "tokenizer"), tmp_path / "rows", max_length=1024, limit=1))
    (said,) = load_dataset(str(tmp_path / "rows"), split="train")[0]["prompt"]
    assert said["role"] == "user"
    assert said["content"].startswith(f"{SYSTEM}\n\n{TASK_PROMPTS['diagnosis'].instruction}")


def test_new_rows_at_an_old_place_are_read(tiny: Path, tmp_path: Path) -> None:
    for target, expected in (("codes", "I10"), ("titles", "Essential (primary) hypertension")):
        data = built(tmp_path / target, [sample_rows(1)[0] | {"codes": ["I10"], "titles": [expected]}], "x")
        build_sft(Request("diagnosis", str(tiny), tmp_path / "rows", data, target, 1024))
        (row,) = load_dataset(str(tmp_path / "rows"), split="train")
        assert row["completion"] == [{"role": "assistant", "content": expected}]


def test_the_mark_of_mimic_goes_with_the_rows(tiny: Path, tmp_path: Path) -> None:
    data = built(tmp_path, sample_rows(1), MIMIC_MARKER)
    assert (
        build_sft(Request("diagnosis", str(tiny), tmp_path / "rows", data, max_length=1024))["source"] == MIMIC_MARKER
    )
    for file in sorted((tmp_path / "rows").iterdir()):
        with pytest.raises(GuardError, match="marker"):
            check_may_leave(file, PUBLIC)


def test_synthetic_rows_may_leave(rows: Path) -> None:
    assert check_may_leave(rows, PUBLIC).synthetic
    assert SYNTHETIC_MARKER in (rows / "README.md").read_text()


def test_rows_without_gold_are_counted_and_left_out(tiny: Path, tmp_path: Path) -> None:
    first, second = sample_rows(2)
    data = built(tmp_path, [first | {"codes": [], "titles": []}, second], SYNTHETIC_MARKER)
    about = build_sft(Request("diagnosis", str(tiny), tmp_path / "rows", data, max_length=1024))
    assert (about["rows"], about["rows_without_gold"]) == (1, 1)


@pytest.mark.parametrize(
    ("rows", "splits", "message"),
    [
        (0, ("test", "train"), "no train split, or an empty one: .* never trained on"),
        (1, ("test",), "no train split, or an empty one"),
    ],
)
def test_an_empty_split(tiny: Path, tmp_path: Path, rows: int, splits: tuple[str, ...], message: str) -> None:
    data = built(tmp_path, sample_rows(rows), SYNTHETIC_MARKER, splits)
    with pytest.raises(InputError, match=message):
        build_sft(Request("diagnosis", str(tiny), tmp_path / "rows", data))
    assert not (tmp_path / "rows").exists()


def test_asking_a_train_split_that_is_not_there(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLIBENCH_DIR", str(built(tmp_path, [], SYNTHETIC_MARKER, splits=("test",))))
    run = ["eval", "accelerate", f"model_name={tiny}", "--tasks", "clibench|diagnosis", "--split", "train"]
    assert main([*run, "--output-dir", str(tmp_path / "runs")]) == 2
    assert "--split train: the data of clibench:diagnosis has only test" in capsys.readouterr().err


def test_a_tokenizer_without_chat_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_tokenizer(template=None).save_pretrained(tmp_path / "tokenizer")
    arguments = ["--task", "diagnosis", "--tokenizer", str(tmp_path / "tokenizer"), "--out", str(tmp_path / "rows")]
    assert main(["build", "sft", *arguments]) == 2
    assert "has no chat template" in capsys.readouterr().err
    assert not (tmp_path / "rows").exists()


@pytest.mark.parametrize(
    ("config", "reads"),
    [
        ({"max_position_embeddings": 2048}, 2048),
        ({"n_positions": 1024}, 1024),
        ({"text_config": {"max_position_embeddings": 4096}}, 4096),
        ({"max_position_embeddings": 2048, "rope_scaling": {"type": "linear", "factor": 2.0}}, 4096),
        (
            {
                "max_position_embeddings": 131072,
                "rope_parameters": {"factor": 8.0, "original_max_position_embeddings": 8192},
            },
            131072,
        ),
        ({"max_position_embeddings": None}, None),
        ({}, None),
    ],
)
def test_what_a_model_reads(config: dict[str, Any], reads: int | None, tmp_path: Path) -> None:
    assert most_positions(str(tmp_path)) is None
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert most_positions(str(tmp_path)) == reads
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match=r"config\.json: expected a JSON object, found list"):
        most_positions(str(tmp_path))


def test_rows_longer_than_what_the_model_reads(tiny: Path, tmp_path: Path) -> None:
    request = Request("diagnosis", str(tiny), tmp_path / "rows", max_length=100_000)
    with pytest.raises(InputError, match=r"--max-length 100000: the model reads at most 8192 tokens, as config\.json"):
        build_sft(request)
    assert not (tmp_path / "rows").exists()
    make_tokenizer().save_pretrained(tmp_path / "tokenizer")
    config = tmp_path / "tokenizer" / "config.json"
    request = Request("diagnosis", str(config.parent), tmp_path / "rows", max_length=100_000, limit=1)
    assert build_sft(request)["max_length"] == 100_000  # nothing says what the model reads
    config.write_text('{"max_position_embeddings": 1024}')
    assert build_sft(request._replace(max_length=None))["max_length"] == 1024


def test_a_row_that_cannot_fit_is_named(tiny: Path, tmp_path: Path) -> None:
    request = Request("diagnosis", str(tiny), tmp_path / "rows", max_length=300)
    with pytest.raises(InputError, match=r"hadm_id 950000006 of diagnosis: .* more than --max-length 300\.") as error:
        build_sft(request)
    enough = int(re.findall(r"Give --max-length (\d+)", str(error.value))[0])
    build_sft(request._replace(max_length=enough, limit=1))  # what the error says is enough


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "diagnoses"], "Did you mean 'diagnosis'"),
        (["--task", "diagnosis", "--limit", "0"], "--limit 0: expected"),
        (["--task", "diagnosis", "--data", "nowhere"], "no clibench data for config 'diagnosis' in"),
    ],
)
def test_other_errors(
    arguments: list[str], message: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "sft", *arguments, "--tokenizer", str(tiny), "--out", str(tmp_path / "rows")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["README.md", "notes.txt", "train.parquet", "build.json", "chat_template.jinja"])
def test_files_of_the_user_are_not_replaced(name: str, tiny: Path, rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows"
    if name in ("README.md", "build.json", "chat_template.jinja"):  # beside rows of this command
        shutil.copytree(rows, out)
    out.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError, match=rf"rows is not empty and no earlier output .*{name}.*Give another --out"):
        build_sft(Request("diagnosis", str(tiny), out, max_length=1024, limit=1))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_earlier_rows_are_replaced_and_it_is_said(tiny: Path, rows: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(rows, tmp_path / "rows"))
    (out / "notes.txt").write_text("mine")
    said: list[str] = []
    request = Request("diagnosis", str(tiny), out, max_length=1024, limit=1)
    assert build_sft(request, said.append)["rows"] == 1
    assert said[0] == f"replaced: the earlier rows in {out}"
    assert (out / "notes.txt").read_text() == "mine"
    build_sft(request._replace(out=tmp_path / "new"), said.append)
    assert sum(line.startswith("replaced") for line in said) == 1


def test_rows_are_written_to_no_file(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("mine")
    with pytest.raises(InputError, match="rows is a file, expected a folder"):
        build_sft(Request("diagnosis", str(tiny), tmp_path / "rows"))
