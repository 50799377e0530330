"""The command line in this process, before an engine that answers what a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from shaderstat.cli import run
from tests.cli.events import Engine


@dataclass(frozen=True)
class Done:
    """What one command line came to."""

    status: int
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    return Engine(monkeypatch)


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run ``shaderstat ARGUMENTS`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str | Path) -> Done:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Done(status, said.out, said.err)

    return call
