"""What archives cost: ``python benchmarks/archive.py``.

- own time a pipeline, as `overhead` defines it, of an archive of 137 small graphics and compute pipelines;
- a second run over the same archive, all of it remembered: (T2 − T0) / (T1 − T0), T0 being an empty archive's;
- the index of 100,000 entries: seconds, and megabytes.
"""

from __future__ import annotations

import argparse
import io
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping
from pathlib import Path

from overhead import MeasuredPool, make_modules

from shaderstat import engine
from shaderstat.archive.writer import Writer
from shaderstat.model import EndEvent, Request, ResultEvent
from shaderstat.pipeline.spec import unpack

PIPELINES = 137
ENTRIES = 100_000


def make_archive(path: Path, target: str) -> None:
    """`PIPELINES` pipelines, every one with modules of its own."""
    with tempfile.TemporaryDirectory() as folder, path.open("wb") as stream:
        make_modules(Path(folder), 9)
        writer = Writer(stream)
        request = Request((folder,), targets=(target,), cache=False, keep_states=True)
        for event in engine.run(request):
            if isinstance(event, ResultEvent) and event.state is not None and writer.pipelines < PIPELINES:
                writer.add(unpack(event.state["spec"]))
    assert writer.pipelines == PIPELINES


def measure_own_time(path: Path, target: str, validate: bool) -> None:
    """Print what shaderstat adds to the driver's time."""
    pool = getattr(engine, "Pool")  # noqa: B009 (mypy)
    setattr(engine, "Pool", MeasuredPool)  # noqa: B010 (mypy)
    *_, end = engine.run(Request((str(path),), targets=(target,), validate=validate, jobs=1, cache=False))
    setattr(engine, "Pool", pool)  # noqa: B010
    assert isinstance(end, EndEvent) and end.run.counts["ok"] == PIPELINES, end
    wall, cpu, driver = (
        one / 1e6 / PIPELINES for one in (MeasuredPool.wall_ns, MeasuredPool.cpu_ns, MeasuredPool.driver_ns)
    )
    own = wall + cpu - driver
    print(f"{target}, {PIPELINES} captured pipelines, milliseconds a pipeline:")
    print(f"  children's wall {wall:.2f}, parent's CPU {cpu:.2f}, inside the driver {driver:.2f}")
    print(f"  own time {own:.2f} = {own / driver:.2f} of the driver's")


def run_once(path: Path, target: str, environment: Mapping[str, str]) -> float:
    """Seconds of one command."""
    command = [sys.executable, "-m", "shaderstat", "stats", str(path), "-t", target, "-f", "jsonl", "-o", os.devnull]
    start = time.perf_counter()
    subprocess.run(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def measure_second_run(path: Path, target: str, folder: Path) -> None:
    """Print what is left of a run when everything is remembered."""
    environment = {"XDG_CACHE_HOME": str(folder / "cache")}
    empty = folder / "empty.foz"
    with empty.open("wb") as stream:
        Writer(stream)
    run_once(empty, target, environment)
    nothing = min(run_once(empty, target, environment) for _ in range(3))
    first = run_once(path, target, environment)
    second = min(run_once(path, target, environment) for _ in range(3))
    print(f"runs: empty {nothing:.3f} s, first {first:.3f} s, second {second:.3f} s")
    print(f"  (T2 - T0) / (T1 - T0) = {(second - nothing) / (first - nothing):.3f}")


INDEX = """
import re, sys, time
from shaderstat.archive.containers import open_container
def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = resident()
start = time.perf_counter()
found = open_container(sys.argv[1], "an.foz")
print(time.perf_counter() - start, resident() - before)
"""


def measure_index(folder: Path) -> None:
    """Print what an index costs, in a process of its own."""
    path = folder / "many.foz"
    out = io.BytesIO()
    Writer(out)
    payload = b'{"version":6,"computePipelines":{}}' + os.urandom(200)
    packed = zlib.compress(payload)
    rest = struct.pack("<IIII", len(packed), 2, zlib.crc32(packed), len(payload)) + packed
    with path.open("wb") as stream:
        stream.write(out.getvalue())
        for number in range(ENTRIES):
            stream.write(b"%024x%016x" % (7, number * 0x9E3779B97F4A7C15 % 2**64) + rest)
    done = subprocess.run([sys.executable, "-c", INDEX, str(path)], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    size = path.stat().st_size / 2**20
    print(f"index of {ENTRIES} entries in {size:.0f} MB: {seconds:.2f} s, {megabytes:.0f} MB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--target", default="radv:navi21")
    parser.add_argument("--no-validate", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        archive = folder / "small.foz"
        make_archive(archive, arguments.target)
        measure_own_time(archive, arguments.target, not arguments.no_validate)
        measure_second_run(archive, arguments.target, folder)
        measure_index(folder)


if __name__ == "__main__":
    main()
