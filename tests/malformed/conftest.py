"""Hostile files, written once, and what a result of one must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.malformed.make import write


@pytest.fixture(scope="session")
def malformed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `tests.malformed.make.cases`."""
    folder = tmp_path_factory.mktemp("malformed")
    write(folder)
    return folder
