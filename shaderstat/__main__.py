"""``python -m shaderstat``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its status."""
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
