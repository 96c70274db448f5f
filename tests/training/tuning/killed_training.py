"""A training run that dies in its seventh step, as by `kill -9`: python killed_training.py RECIPE."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, trainer

from clinical_evals.training.tuning.trl_run import train


class Killer(TrainerCallback):
    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 7:
            os.kill(os.getpid(), signal.SIGKILL)


trainer.DEFAULT_CALLBACKS.append(Killer)
train(Path(sys.argv[1]))
