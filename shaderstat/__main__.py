"""``python -m shaderstat``."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    # Many small objects and hardly a cycle among them: a search at every 700 takes a tenth of a run.
    gc.set_threshold(50_000)
    try:
        from shaderstat import interruptions

        interruptions.install()
        from shaderstat.cli import run
    except KeyboardInterrupt:  # in the first moments of an import
        os._exit(130)
    interruptions.started()
    try:
        status = run(sys.argv[1:])
    except KeyboardInterrupt as interruption:  # one more, while the first was seen to
        status = interruptions.exit_status(interruption)
    finally:
        interruptions.finished()
    if interruptions.happened():
        # Python takes a KeyboardInterrupt that passed through an exec() (every dataclass has one) for unhandled, and
        # would end itself by SIGINT, whatever the status. All is flushed.
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
