"""Workflow commands, as a GitHub Actions log takes them: annotations of the worst, and a summary.

Only ten annotations of a kind are shown for a step, so no more are written. Escapes are those of the Actions toolkit
(``packages/core/src/command.ts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.budget import Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.reporters import _check_words, _diff_words
from shaderstat.reporters._findings import Finding, near, of_check, of_diff
from shaderstat.reporters.base import Options

MOST = 10

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    findings = of_diff(outcome)
    counts = {level: sum(each.level == level for each in findings) for level in _COMMANDS}
    words = [_diff_words.count_words(outcome.difference), f"{len(outcome.difference.affected)} executables affected"]
    words += [f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items() if count]
    return _write(findings, "; ".join(words), stream)


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    return _write(of_check(verdict), _check_words.summary(verdict), stream)


def _write(findings: Sequence[Finding], summary: str, stream: BinaryIO) -> Sequence[str]:
    cut = 0
    for level in _COMMANDS:
        of_level = [each for each in findings if each.level == level]
        room = MOST - 1 if level == "note" else MOST  # the summary is a notice, too
        cut += len(of_level[room:])
        for each in of_level[:room]:
            _command(_COMMANDS[level], each, stream)
    more = f" ({cut} of them not annotated)" if cut else ""
    stream.write(f"::notice title=shaderstat::{_data(summary + more)}\n".encode())
    return [f"{cut} more than GitHub would annotate"] if cut else []


def _command(command: str, finding: Finding, stream: BinaryIO) -> None:
    properties = []
    if finding.path is not None:
        properties += [f"file={_property(near(finding.path))}", "line=1"]
    properties.append(f"title={_property(finding.title)}")
    message = finding.message + (f" on {finding.target}" if finding.target else "")
    text = "\n".join(filter(None, (message, finding.help)))
    stream.write(f"::{command} {','.join(properties)}::{_data(text)}\n".encode("utf-8", "backslashreplace"))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
