"""A pen on standard output, for what is no report."""

from __future__ import annotations

import os
import shutil
import sys

from shaderstat.reporters.text import Pen


def stdout_pen(colour: str = "auto") -> Pen:
    """Args:
    colour: ``always``, ``never`` or ``auto``: on a terminal, unless NO_COLOR is set.
    """
    sys.stdout.flush()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    painted = {"always": True, "never": False}.get(colour, sys.stdout.isatty() and not plain)
    return Pen(sys.stdout.buffer, encoding=sys.stdout.encoding or "utf-8", colour=painted)


def stdout_columns() -> int | None:
    """The terminal's columns; None where standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
