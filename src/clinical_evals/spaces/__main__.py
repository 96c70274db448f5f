"""`python -m clinical_evals.spaces`: both metric Spaces on this machine, until Ctrl-C."""

import argparse
import signal
import sys
from contextlib import ExitStack
from importlib.util import find_spec

from clinical_evals.datasets_hub.names import METRICS
from clinical_evals.errors import ClinicalEvalsError, ResourceMissingError
from clinical_evals.spaces.servers import free_port, running_space


def main() -> int:
    """Start them, print their addresses and wait."""
    parser = argparse.ArgumentParser(prog="python -m clinical_evals.spaces", description=__doc__)
    parser.add_argument("--port", type=int, metavar="N", help="of the first Space, the second has the next one")
    first = parser.parse_args().port
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if find_spec("gradio") is None:
            raise ResourceMissingError("gradio is not installed: pip install gradio")
        with ExitStack() as running:
            for place, name in enumerate(METRICS):
                port = free_port() if first is None else first + place
                print(f"{name}: {running.enter_context(running_space(name, port))}", flush=True)
            print("Ctrl-C ends both.", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except ClinicalEvalsError as error:
        print(f"clinical-evals: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
