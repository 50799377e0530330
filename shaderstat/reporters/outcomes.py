"""What ``diff`` and ``check`` come to, in every format: a module each, with a function for either.

remarks = write("markdown", outcome, stream, options)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from shaderstat.reporters.base import Options

if TYPE_CHECKING:
    from shaderstat.budget import Verdict
    from shaderstat.compare.outcome import DiffOutcome

FORMATS: Mapping[str, str] = {
    "table": "shaderstat.reporters._outcome_table",
    "json": "shaderstat.reporters._outcome_json",
    "markdown": "shaderstat.reporters.markdown",
    "junit": "shaderstat.reporters.junit",
    "github": "shaderstat.reporters.github",
    "sarif": "shaderstat.reporters.sarif",
}


def write_diff(format: str, outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    """Write a comparison. Returns lines for standard error: what was left out, and how to see it."""
    lines: Sequence[str] = importlib.import_module(FORMATS[format]).diff(outcome, stream, options)
    return lines


def write_check(format: str, verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    """Write what became of the budgets. Returns lines for standard error."""
    lines: Sequence[str] = importlib.import_module(FORMATS[format]).check(verdict, stream, options)
    return lines
