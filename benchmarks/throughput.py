"""Many pipelines: ``python benchmarks/throughput.py FOLDER``. How much of the time is the driver's, what a second job
brings, and what a second run costs.

own time = (children's wall + parent's CPU − time inside vkCreate*Pipelines and vkGetPipelineExecutable*) ÷ pipelines

Drivers' own caches are off, as always. Everything is a ratio within one run of this script: machines differ. With
--slow MS a layer makes every pipeline take that much longer (RADV's null device makes tiny shaders in 4 ms).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import steps

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_spirv"

# Runs a request in a process of its own, and tells what it took.
PROGRAM = """
import json, resource, sys, time
sys.path[:0] = [{root!r}, {root!r} + "/benchmarks"]
from shaderstat import engine
from shaderstat.model import EndEvent, Request, ResultEvent
from shaderstat.pool import Pool

class Measured(Pool):
    driver = wall = cpu = 0
    def run(self, *arguments):
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        for outcome in super().run(*arguments):
            Measured.driver += outcome.answer.driver_ns
            Measured.wall = time.perf_counter_ns() - wall
            Measured.cpu = time.process_time_ns() - cpu
            yield outcome

engine.Pool = Measured
if {steps!r}:
    import steps
    from shaderstat.pool import child
    steps.watch_parent()
    child.BOOT = steps.boot({steps!r})
request = Request(({folder!r},), targets=({target!r},), jobs={jobs}, cache=False)
count = 0
for event in engine.run(request):
    count += isinstance(event, ResultEvent)
usage = resource.getrusage(resource.RUSAGE_SELF)
own = dict(steps.spent) if {steps!r} else {{}}
took = [count, event.run.counts["cached"], Measured.wall, Measured.cpu, Measured.driver, usage.ru_maxrss, own]
print(json.dumps(took))
"""


@dataclass(frozen=True)
class Took:
    """One run: seconds of its process, then milliseconds in all of its loop, and megabytes."""

    process_s: float
    pipelines: int
    cached: int
    wall: float
    cpu: float
    driver: float
    memory: float
    steps: dict[str, int]

    @property
    def own(self) -> float:
        """Milliseconds a pipeline; for one child."""
        return (self.wall + self.cpu - self.driver) / self.pipelines


def run(folder: str, target: str, jobs: int, environment: dict[str, str], *, steps: str = "") -> Took:
    """Run it once.

    Args:
        steps: where the child writes its steps (`steps.serve`).
    """
    program = PROGRAM.format(root=str(ROOT), folder=folder, target=target, jobs=jobs, steps=steps)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    count, cached, wall, cpu, driver, memory, its = json.loads(done.stdout)
    return Took(time.perf_counter() - began, count, cached, wall / 1e6, cpu / 1e6, driver / 1e6, memory / 1e3, its)


def command(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds and CPU seconds of a command line and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "shaderstat", "stats", *arguments],
        env={**os.environ, **environment, "PYTHONPATH": path}, capture_output=True,
    )  # fmt: skip
    assert done.returncode in (0, 2), done.stderr
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cached(folder: str, target: str, environment: dict[str, str]) -> str:
    """(T2 - T0) / (T1 - T0), with T0 a run over an empty folder: what a second run costs of the first."""
    with tempfile.TemporaryDirectory() as empty:
        known = {**environment, "SHADERSTAT_CACHE_DIR": f"{empty}/cache"}
        Path(empty, "none").mkdir()
        options = ["-t", target, "-q", "-j", "1", "-o", f"json:{empty}/report.json"]
        first = command([folder, *options], known)
        again = min(command([folder, *options], known) for _ in range(5))
        nothing = min(command([f"{empty}/none", *options], known) for _ in range(5))
    return " · ".join(
        f"{name} {(second - none) / (one - none):.3f}"
        for name, one, second, none in zip(("time", "CPU"), first, again, nothing, strict=True)
    )


def where(folder: str, target: str, environment: dict[str, str]) -> Iterator[str]:
    """Lines of a profile: what of our own time each step takes."""
    with tempfile.TemporaryDirectory() as place:
        said = f"{place}/steps.json"
        took = run(folder, target, 1, environment, steps=said)
        child = json.loads(Path(said).read_text())
    yield from steps.table(child, took.steps, int(took.driver * 1e6), took.pipelines)


def slow_layer(folder: Path, ms: int) -> dict[str, str]:
    """The test layer, set to take `ms` more for each pipeline: the environment that turns it on."""
    sys.path.insert(0, str(ROOT))
    from tests.layer.conftest import HOSTILE, build

    build(folder, "hostile", HOSTILE)
    return {"VK_INSTANCE_LAYERS": HOSTILE, "VK_LAYER_PATH": str(folder), "HOSTILE_SLEEP_MS": str(ms)}


def multiply(source: Path, folder: Path, copies: int) -> None:
    """Every module `copies` times, told apart by the header's generator word, which no compiler looks at."""
    for file in sorted(source.rglob("*.spv")):
        data = bytearray(file.read_bytes())
        for number in range(copies):
            place = folder / str(number) / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if number and len(data) >= 12:
                struct.pack_into("<I", data, 8, number)
            place.write_bytes(data)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=str(SAMPLES))
    parser.add_argument("-t", "--target", default="radv:navi21")
    parser.add_argument("--copies", type=int, default=3, help="of each module, so that starts weigh less")
    parser.add_argument("--slow", type=int, metavar="MS")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        environment: dict[str, str] = {}
        if arguments.slow:
            environment = slow_layer(Path(stack.enter_context(tempfile.TemporaryDirectory())), arguments.slow)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        multiply(Path(arguments.folder), Path(folder), arguments.copies)
        one = run(folder, arguments.target, 1, environment)
        two = run(folder, arguments.target, 2, environment)
        profile = list(where(folder, arguments.target, environment))
        again = cached(folder, arguments.target, environment)
        print(f"{arguments.target}, {one.pipelines} pipelines of {arguments.folder}")
        print(f"  one job   {one.wall / one.pipelines:6.2f} ms a pipeline, {one.driver / one.wall:4.0%} in the driver")
        print(f"  two jobs  {two.wall / two.pipelines:6.2f} ms a pipeline: {one.wall / two.wall:.2f} × as fast")
        print(f"  own time  {one.own:6.2f} ms a pipeline = {one.own * one.pipelines / one.driver:.2f} of the driver's")
        print(f"  memory    {one.memory:6.1f} MB of the parent's")
        print(f"  again     {again} of the first run's")
        print("  where ours goes, milliseconds a pipeline:", *profile, sep="\n")


if __name__ == "__main__":
    main()
