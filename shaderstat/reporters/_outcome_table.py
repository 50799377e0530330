"""Tables of ``diff`` and ``check``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.budget import Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.reporters import _check_table, _diff_table
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    return _diff_table.draw(outcome, Pen(stream, encoding=options.encoding, colour=options.colour), options)


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    return _check_table.draw(verdict, Pen(stream, encoding=options.encoding, colour=options.colour), options)
