"""Skipping: allowed where a machine lacks something, never where everything must be there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TESTS = """
import pytest

@pytest.fixture
def unavailable():
    pytest.skip("no validation layer")

@pytest.mark.layer
def test_by_a_fixture(unavailable): ...

@pytest.mark.layer
def test_by_itself():
    pytest.skip("no lavapipe")

@pytest.mark.layer
def test_that_runs(): ...

def test_of_something_else():
    pytest.skip("no other Python")
"""


@pytest.mark.layer
@pytest.mark.parametrize(
    ("required", "outcome"), [("", "1 passed, 3 skipped"), ("1", "1 failed, 1 passed, 1 skipped, 1 error")]
)
def test_a_skip_of_the_drivers_tests_fails_where_the_driver_is_required(
    tmp_path: Path, required: str, outcome: str
) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n layer\n driver\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--driver-count", "count", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SHADERSTAT_REQUIRE_DRIVER": required},
        capture_output=True,
        text=True,
    )
    assert outcome in done.stdout
    assert (tmp_path / "count").read_text() == "driver 1\ntree 0\n"
