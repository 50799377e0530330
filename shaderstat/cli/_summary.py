"""The summary of a step, which GitHub Actions shows as Markdown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import BinaryIO

from shaderstat.cli import say
from shaderstat.reporters.text import printable

VARIABLE = "GITHUB_STEP_SUMMARY"


def step_summary(formats: Iterable[str], write: Callable[[BinaryIO], object]) -> None:
    """Append what `write` writes to the file that the runner names, where ``-f github`` was asked for."""
    path = os.environ.get(VARIABLE)
    if not path or "github" not in formats:
        return
    page = BytesIO()
    write(page)
    try:
        with open(path, "ab") as file:
            file.write(page.getvalue() + b"\n")
    except OSError as error:
        say(f"warning: {VARIABLE}: {printable(path)}: can't be written: {error.strerror or error}")
