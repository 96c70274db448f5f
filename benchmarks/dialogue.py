"""Dialogues of the dynamic task: eight side by side, against one at a time on the same model, the demo's.

The baseline plays one dialogue after the other and reads every prompt whole, as the released script does. It is timed
on some of the dialogues and extrapolated to all of them. Both are greedy in float32 and must say the same.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import report, seconds

from clinical_evals.assets import dataset_folder
from clinical_evals.ior_bench.dialogue import Step
from clinical_evals.tasks.dialogue.dialogue_log import open_transcripts
from clinical_evals.tasks.dialogue.dialogue_played import Played
from clinical_evals.tasks.dialogue.dialogue_run import DialogueRun, Side, play
from clinical_evals.tasks.lighteval_session import lighteval_session
from clinical_evals.tasks.models.backends import BACKENDS
from clinical_evals.tasks.models.demo_model import find_demo_model
from clinical_evals.tasks.models.model_args import build_config, parse_model_args

DIALOGUES, BASELINE_DIALOGUES, TURNS, BUDGET = 8, 2, 3, 2.5
ANSWER_TOKENS: dict[Step, int] = {"patient": 32, "refer": 16, "question": 32}


def load_model(batch_size: int) -> Any:
    """The demo's model in float32."""
    request = parse_model_args(f"model_name={find_demo_model()},dtype=float32", batch_size)
    return BACKENDS["accelerate"].load(build_config(request), 0)


def play_cases(cases: list[dict[str, Any]], model: Any) -> list[Played]:
    """The dialogues of the cases, the model in all roles, with a log that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        side = Side({}, model.max_length)
        path = Path(folder) / "transcripts.jsonl"
        run = DialogueRun(path, "ior_bench:dynamic_h2", side, side, TURNS, ANSWER_TOKENS)
        log = open_transcripts(run.path, run.identity, {})
        try:
            return play(cases, model, model, run, log).played
        finally:
            log.close()


def main() -> None:
    """Print the ratio."""
    file = dataset_folder("ior-bench") / "data/dynamic_h2/test.json"
    cases = json.loads(file.read_text(encoding="utf-8"))["rows"][:DIALOGUES]
    with lighteval_session():
        batched, single = load_model(DIALOGUES), load_model(1)
        single.begin_dialogues = lambda: None  # reads every prompt whole
        ours: list[Played] = []
        time = seconds(lambda: ours.extend(play_cases(cases, batched)))
        theirs: list[Played] = []
        each = seconds(lambda: theirs.extend(play_cases(cases[:BASELINE_DIALOGUES], single))) / BASELINE_DIALOGUES
    texts = [[[line["text"] for line in one.lines] for one in played] for played in (ours, theirs)]
    lines = [line for one in ours for line in one.lines]
    ratio = each * DIALOGUES / time
    report(
        f"{DIALOGUES} dialogues of {TURNS} turns side by side, SmolLM2-135M in all roles, float32",
        f"{time / DIALOGUES:.1f} s a dialogue, {ratio:.1f}x one at a time ({each:.1f} s, measured on "
        f"{BASELINE_DIALOGUES} dialogues)",
        f"{BUDGET}x",
        ratio >= BUDGET,
        same_texts=f"{texts[0][:BASELINE_DIALOGUES] == texts[1]} (temperature 0, {BASELINE_DIALOGUES} dialogues)",
        tokens=f"{sum(line['output_tokens'] for line in lines):,} written, "
        f"{sum(line['input_tokens'] for line in lines):,} in the prompts",
        binds="reading each patient's record once (reading gains nothing from a batch), then decoding",
    )


if __name__ == "__main__":
    main()
