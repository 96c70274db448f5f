"""`clinical-evals push`: where it goes and how, what it says, and what it refuses where the guard would not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hub_server import READ_TOKEN, WRITE_TOKEN, Fault, Hub
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import RepositoryNotFoundError
from mimic_like import NOTE
from push_folders import DATASET_CARD, MODEL_CARD, adapter, contents, dataset, metric

from clinical_evals.hub import guard
from clinical_evals.hub.consent import LEDGER
from clinical_evals.markers import MIMIC_MARKER

REPO = "org/letters"
CONSENT = "Jane Doe, 2026-01-31"


def refused(capsys: pytest.CaptureFixture[str], code: int, *parts: str, expected: int = 2) -> None:
    printed = capsys.readouterr()
    assert (code, printed.out) == (expected, "")
    assert WRITE_TOKEN not in printed.err
    for part in parts:
        assert part in printed.err, printed.err


def test_private_unless_asked_and_one_commit(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push("dataset", dataset(tmp_path / "data"), REPO) == 0
    repo = hub.store.repos["dataset", REPO]
    assert (repo.private, repo.gated, len(repo.history)) == (True, False, 2)
    assert repo.history[0].title == "Dataset data"
    out = capsys.readouterr().out
    assert f"{hub.url}/datasets/{REPO} (private, main), commit {repo.history[0].sha[:12]}" in out
    assert f'load_dataset("{REPO}", "letters")' in out
    assert WRITE_TOKEN not in out
    with pytest.raises(RepositoryNotFoundError):
        HfApi(endpoint=hub.url, token=False).dataset_info(REPO)


@pytest.mark.parametrize("gated", ["auto", "manual"])
def test_public_and_gated_before_anything_is_in_it(hub: Hub, push: Any, tmp_path: Path, gated: str) -> None:
    assert push("dataset", dataset(tmp_path / "data"), REPO, "--public", "--gated", gated) == 0
    repo = hub.store.repos["dataset", REPO]
    assert (repo.private, repo.gated) == (False, gated)
    gate = hub.requests.index(f"PUT /api/datasets/{REPO}/settings")
    assert gate < hub.requests.index(f"POST /api/datasets/{REPO}/commit/main")


def test_a_branch_of_its_own(hub: Hub, push: Any, tmp_path: Path) -> None:
    assert push("model", adapter(tmp_path / "adapter"), "org/adapter", "--revision", "v2/small") == 0
    assert hub.store.files("model", "org/adapter", "v2/small") == contents(tmp_path / "adapter")
    assert hub.store.files("model", "org/adapter") == {}


def test_a_new_build_takes_the_old_ones_place_in_one_commit(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dataset(tmp_path / "data")
    assert push("dataset", folder, REPO) == 0
    (folder / "letters" / "train.parquet").unlink()
    (folder / "README.md").write_text(DATASET_CARD.replace("  - split: train\n    path: letters/train.parquet\n", ""))
    assert push("dataset", folder, REPO, "--keep") == 0
    assert "letters/train.parquet" in hub.store.files("dataset", REPO)
    capsys.readouterr()
    assert push("dataset", folder, REPO) == 0
    assert "removed in the same commit: letters/train.parquet" in capsys.readouterr().out
    assert hub.store.files("dataset", REPO) == contents(folder)
    assert push("dataset", folder, REPO) == 0
    assert "nothing new" in capsys.readouterr().out
    assert len(hub.store.repos["dataset", REPO].history) == 4


def test_results_come_beside_earlier_ones(hub: Hub, push: Any, tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model / f"run-{model}").mkdir(parents=True)
        (tmp_path / model / f"run-{model}" / "summary.json").write_text(json.dumps({"model": model}))
        assert push("results", tmp_path / model, "org/results") == 0
    assert sorted(hub.store.files("dataset", "org/results")) == ["run-a/summary.json", "run-b/summary.json"]


def test_pages_of_a_long_listing_are_all_read(hub: Hub, push: Any, tmp_path: Path) -> None:
    hub.page = 2
    assert push("dataset", dataset(tmp_path / "data"), REPO) == 0


def test_our_names_come_before_folders_of_the_same_name(
    hub: Hub, push: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ior-bench", "hier_icd_f1"):
        dataset(tmp_path / name)
    assert push("dataset", "ior-bench", "org/ior-bench") == push("metric", "hier_icd_f1", "org/hier_icd_f1") == 0
    assert "data/static/test.json" in hub.store.files("dataset", "org/ior-bench")
    assert "hier_icd_f1.py" in hub.store.files("space", "org/hier_icd_f1")
    assert push("dataset", "./ior-bench", "org/letters") == 0
    assert hub.store.files("dataset", "org/letters") == contents(tmp_path / "ior-bench")


def test_a_dry_run_connects_to_nothing(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.delenv("HF_TOKEN")
    folder = dataset(tmp_path / "data")
    assert push("dataset", folder, REPO, "--dry-run", "--gated", "manual") == 0
    out = capsys.readouterr().out
    total = sum(map(len, contents(folder).values()))
    assert f"4 files, {total:,} bytes: one commit on main of {hub.url}/datasets/{REPO}" in out
    assert all(place in out for place in contents(folder))
    assert hub.connections == 0


def test_consent_goes_into_commit_and_ledger(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dataset(tmp_path / "data", NOTE, card=f"{DATASET_CARD}\n{MIMIC_MARKER}\n")
    words = ("dataset", folder, "org/clibench", "--dua-consent", CONSENT)
    ledger = tmp_path / "state" / LEDGER
    assert push(*words, "--dry-run") == 0
    assert not ledger.exists(), "nothing was sent"
    assert push(*words) == 0
    (entry,) = map(json.loads, ledger.read_text().splitlines())
    assert (entry["name"], entry["target"], entry["target_kind"]) == ("Jane Doe", "org/clibench", "hub-private")
    repo = hub.store.repos["dataset", "org/clibench"]
    assert repo.private
    said = repo.history[0].description
    assert "MIMIC-derived; sent to the private Hub repository 'org/clibench'" in said
    assert CONSENT in said


def test_consent_opens_no_repository_that_is_public(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.store.create("dataset", REPO, private=False, sdk=None)
    folder = dataset(tmp_path / "data", NOTE, card=f"{DATASET_CARD}\n{MIMIC_MARKER}\n")
    refused(capsys, push("dataset", folder, REPO, "--dua-consent", CONSENT), f"{REPO} is public")
    assert hub.store.files("dataset", REPO) == {}
    assert not any("lfs" in request or "commit" in request for request in hub.requests)


def test_no_push_makes_a_private_repository_public(
    hub: Hub, push: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.store.create("dataset", REPO, private=True, sdk=None)
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO, "--public"), "its history included")
    assert hub.store.repos["dataset", REPO].private


def test_what_weights_were_trained_on_goes_into_the_commit(hub: Hub, push: Any, tmp_path: Path) -> None:
    assert push("model", adapter(tmp_path / "a", ""), "org/a", "--public", "--trained-on", "WikiText-103") == 0
    assert (
        "Trained on, as stated by who pushed it: WikiText-103"
        in hub.store.repos["model", "org/a"].history[0].description
    )


def test_weights_that_say_nothing_count_as_mimics_with_consent_too(hub: Hub, push: Any, tmp_path: Path) -> None:
    assert push("model", adapter(tmp_path / "a", ""), "org/a", "--dua-consent", CONSENT) == 0
    assert "MIMIC-derived" in hub.store.repos["model", "org/a"].history[0].description


# --- what helps -----------------------------------------------------------------------------------------------------


def test_no_token(hub: Hub, push: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), "no token", "hf auth login", "HF_TOKEN")
    assert hub.connections == 0


def test_offline(hub: Hub, push: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), "HF_HUB_OFFLINE is set", "--dry-run")
    assert hub.connections == 0


def test_a_wrong_token(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    wrong = "hf_wrongWrongWrongWrongWrongWrongWrong"
    code = push("dataset", dataset(tmp_path / "data"), REPO, "--token", wrong)
    printed = capsys.readouterr()
    assert code == 2
    assert "the Hub does not accept the token" in printed.err
    assert "hf auth login" in printed.err
    assert wrong not in printed.out + printed.err


@pytest.mark.parametrize(("repo", "token"), [("others/letters", WRITE_TOKEN), (REPO, READ_TOKEN)])
def test_no_right_to_write(hub: Hub, push: Any, tmp_path: Path, capsys: Any, repo: str, token: str) -> None:
    code = push("dataset", dataset(tmp_path / "data"), repo, "--token", token)
    refused(capsys, code, f"may not write to {repo.partition('/')[0]}", "write access")
    assert hub.store.repos == {}


def test_a_repository_of_another_type(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    hub.store.create("model", REPO, private=True, sdk=None)
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), f"{REPO} is a model on the Hub", "another name")
    assert ("dataset", REPO) not in hub.store.repos


def test_somebody_else_commits_at_the_same_time(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    hub.faults = [Fault("POST .*/commit/", 412)]
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), "repeat the command", expected=4)


def test_a_card_that_the_hub_refuses(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    hub.faults = [Fault("POST /api/validate-yaml", 400, says='"license" must be one of ours')]
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), "README.md", '"license" must be one of ours')


def test_a_token_in_what_the_hub_says_is_not_repeated(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    hub.faults = [Fault("POST .*/commit/", 400, says=f"bad token {WRITE_TOKEN}")]
    refused(capsys, push("dataset", dataset(tmp_path / "data"), REPO), "bad token …")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "README.md").unlink(), "has no README.md"),
        (lambda folder: (folder / "README.md").write_text("# Letters\n"), "no YAML between two --- lines"),
        (lambda folder: (folder / "README.md").write_text("---\na: [\n---\n"), "line 2: the YAML"),
        (lambda folder: (folder / "README.md").write_text("---\nlicense: mit\n---\n"), "names no configs"),
        (
            lambda folder: (folder / "letters" / "train.parquet").unlink(),
            "names letters/train.parquet, which is not in",
        ),
        (lambda folder: (folder / "letters" / "test.parquet").rename(folder / "x.parquet"), "letters/test.parquet"),
    ],
)
def test_a_dataset_and_its_card_belong_together(
    hub: Hub, push: Any, tmp_path: Path, capsys: Any, change: Any, said: str
) -> None:
    folder = dataset(tmp_path / "data")
    change(folder)
    refused(capsys, push("dataset", folder, REPO, "--dry-run"), said)
    refused(capsys, push("dataset", folder, REPO), said)
    assert hub.connections == 0


def test_a_file_that_no_config_names(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    folder = dataset(tmp_path / "data")
    (folder / "letters" / "more.parquet").write_bytes((folder / "letters" / "test.parquet").read_bytes())
    refused(capsys, push("dataset", folder, REPO), "more.parquet belongs to no config")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dataset", "no-such-folder", REPO), "no-such-folder does not exist"),
        (("dataset", "ior-bench", "letters"), "expected ORG/NAME"),
        (("metric", "hier_icd_f1", "org/hierarchical-f1"), "would run hierarchical-f1.py"),
        (("metric", "no_such_metric", "org/no_such_metric"), "no_such_metric does not exist"),
    ],
)
def test_what_cannot_be_pushed(hub: Hub, push: Any, capsys: Any, words: tuple[str, ...], said: str) -> None:
    refused(capsys, push(*words), said)
    assert hub.connections == 0


def test_models_without_card_weights_or_with_pickles(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    folder = adapter(tmp_path / "adapter")
    (folder / "README.md").unlink()
    refused(capsys, push("model", folder, "org/a"), "has no README.md", "clinical-evals tuned card")
    (folder / "README.md").write_text(MODEL_CARD)
    (folder / "adapter_model.safetensors").rename(folder / "weights.txt")
    refused(capsys, push("model", folder, "org/a", "--dua-consent", CONSENT), "holds no weights")
    (folder / "adapter_config.json").unlink()
    refused(capsys, push("model", folder, "org/a", "--dua-consent", CONSENT), "neither adapter_config.json nor")
    assert not (tmp_path / "state" / LEDGER).exists()
    assert hub.connections == 0


def test_the_state_of_training_stays_here(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    folder = adapter(tmp_path / "adapter")
    (folder / "checkpoint-100").mkdir()
    for name in ("training_args.bin", "optimizer.pt", "checkpoint-100/adapter_model.safetensors"):
        (folder / name).write_bytes(b"\x80\x04")
    config = {"peft_type": "LORA", "base_model_name_or_path": "/home/me/base"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    assert push("model", folder, "org/a") == 0
    assert set(contents(folder)) - set(hub.store.files("model", "org/a")) == {
        "training_args.bin",
        "optimizer.pt",
        "checkpoint-100/adapter_model.safetensors",
    }
    out = capsys.readouterr().out
    assert "left out: checkpoint-100/adapter_model.safetensors, optimizer.pt, training_args.bin" in out
    assert "Note: the adapter's base model is a folder of this machine: /home/me/base" in out


def test_a_space_of_another_kind(hub: Hub, push: Any, tmp_path: Path, capsys: Any) -> None:
    folder = metric(tmp_path / "letter_share")
    (folder / "README.md").write_text("---\nsdk: docker\n---\n")
    refused(capsys, push("metric", folder, "org/letter_share"), "`sdk: gradio`")


def test_a_file_that_changes_after_the_guard_saw_it(
    hub: Hub, push: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = dataset(tmp_path / "data")
    look = guard.inspect_paths

    def look_and_change(paths: Any) -> Any:
        seen = look(paths)
        (folder / "build.json").write_text(json.dumps({"note": NOTE}))
        return seen

    monkeypatch.setattr(guard, "inspect_paths", look_and_change)  # another program, at the worst moment
    refused(capsys, push("dataset", folder, REPO, "--public"), "build.json changed while it was looked at")
    assert hub.connections == 0
