"""Hostile files on the mock: each gets the status, the exit status and the code of the table, and costs no memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.malformed.check import CASES, check_batch, check_result
from tests.malformed.make import Case

# Runs a command and tells the largest memory that it or a child of its had, in KiB.
WEIGH = (
    "import resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:])\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
    "sys.exit(done.returncode)"
)


def test_the_batch_of_all_gives_one_result_each(shaderstat: Run, malformed: Path) -> None:
    done = shaderstat("stats", "--json", "-t", "mock", malformed)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    check_batch(done.stdout, malformed)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_alone(malformed: Path, case: Case) -> None:
    path = malformed / f"{case.name}.spv"
    command = [sys.executable, "-c", WEIGH, sys.executable, "-m", "shaderstat", "stats", "--json", "-t", "mock", path]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr
    assert int(done.stderr.splitlines()[-1]) < 300 * 1024
    results = json.loads(done.stdout)["results"]
    for result in results:
        check_result(case, result, path)
    assert done.returncode == (0 if all(one["status"] == "ok" for one in results) else 2)
