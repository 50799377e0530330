"""``diff`` and ``check`` as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.budget import Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.reporters import _check_json, _diff_json
from shaderstat.reporters.base import Options


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    _diff_json.write(outcome, stream)
    return ()


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    _check_json.write(verdict, stream)
    return ()
