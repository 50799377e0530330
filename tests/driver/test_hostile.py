"""Hostile files on a real driver: what it would die of never reaches it, and what it dies of costs one result."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Run
from tests.driver.conftest import NAVI21
from tests.malformed.check import check_batch
from tests.malformed.make import write


def test_the_batch_of_all_gives_one_result_each(shaderstat: Run, tmp_path: Path) -> None:
    write(tmp_path)
    done = shaderstat("stats", "--json", "-t", NAVI21, tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    check_batch(done.stdout, tmp_path)
