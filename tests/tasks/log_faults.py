"""Where a process that writes a log may be killed; for killed_runs.py and killed_dialogues.py."""

import os

from faults import Events

from clinical_evals.tasks import prediction_log
from clinical_evals.tasks.prediction_log import PredictionLog


def place_log_events(events: Events) -> None:
    """In the middle of a write ("log torn"), and when it is on the disk ("log written")."""
    write, fsync = PredictionLog._write, os.fsync

    def torn_log(self: PredictionLog, text: str) -> None:
        data = text.encode()

        def part(share: float) -> None:
            assert self._file is not None
            self._file.write(data[: int(len(data) * share)])

        events.reach("log torn", part)
        write(self, text)

    def synced(number: int) -> None:
        fsync(number)
        events.reach("log written")

    PredictionLog._write = torn_log  # type: ignore[method-assign]  # the real one, with an event before it
    prediction_log.os.fsync = synced  # type: ignore[attr-defined]  # the module's own name for it
