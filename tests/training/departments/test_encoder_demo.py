"""The encoder half of `make demo-train`, with a tiny encoder instead of the real one."""

from dataclasses import replace
from pathlib import Path

import pytest

from clinical_evals.training.departments import demo


def test_the_demo_learns_the_embedded_sample(encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """31 departments by chance: the loss starts at ln 31 = 3.4. The tiny encoder knows few of the characters, so only
    a part is learnt, but more than before. What is asked is the sample, whatever IOR_BENCH_DIR says."""
    monkeypatch.setenv("IOR_BENCH_DIR", str(tmp_path / "other"))
    settings = replace(demo.SETTINGS, model=str(encoder), learning_rate=3e-3, head_factor=1.0)
    monkeypatch.setattr(demo, "SETTINGS", settings)
    said: list[str] = []
    found = demo.run_encoder_demo(tmp_path, said.append)
    assert "learns 52 synthetic dialogues\nof 31 departments" in said[0]
    assert len(found.losses) == demo.EPOCHS
    assert 3.0 < found.losses[0] < 4.0
    assert found.checked().startswith("loss by epoch: 3.")
    assert not (tmp_path / "encoder" / "checkpoints").exists()
