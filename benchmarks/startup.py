"""How long a person waits: ``python benchmarks/startup.py``. The median of several runs, in milliseconds, and as a
multiple of what Python itself takes to start and end."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SAMPLE = str(Path(__file__).resolve().parent.parent / "sample_spirv" / "scale.comp.spv")

COMMANDS: dict[str, list[str]] = {
    "python -c pass": ["-c", "pass"],
    "shaderstat --help": ["-m", "shaderstat", "--help"],
    "shaderstat scale.comp.spv -t mock": ["-m", "shaderstat", SAMPLE, "-t", "mock"],
    "shaderstat scale.comp.spv -t radv:navi21": ["-m", "shaderstat", SAMPLE, "-t", "radv:navi21"],
    "shaderstat scale.comp.spv": ["-m", "shaderstat", SAMPLE],
    "shaderstat ir scale.comp.spv -t radv:navi21": ["-m", "shaderstat", "ir", SAMPLE, "-t", "radv:navi21"],
}


def median_ms(arguments: list[str], runs: int) -> float:
    """The median wall time of `runs` runs after one to warm up, in milliseconds."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=os.environ)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[1:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    base = 0.0
    for name, arguments in COMMANDS.items():
        try:
            took = median_ms(arguments, runs)
        except subprocess.CalledProcessError as error:
            print(f"{name:45} failed: {error.stderr.decode(errors='replace').strip()[-200:]}")
            continue
        base = base or took
        print(f"{name:45} {took:7.0f} ms  {took / base:5.1f} ×")


if __name__ == "__main__":
    main()
