"""What shaderstat adds to a driver's own time, in milliseconds a pipeline: ``python benchmarks/overhead.py``.

own time = (children's wall + parent's CPU − time inside vkCreate*Pipelines and vkGetPipelineExecutable*) ÷ pipelines

with one child, validation on, statistics alone. Opening the device is left out: it happens once. Every pipeline is a
different file: the samples again and again, told apart by the header's generator word, which no compiler looks at.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from shaderstat import engine
from shaderstat.model import EndEvent, Request
from shaderstat.pool import Outcome, Pool
from shaderstat.pool.pool import Load

SAMPLES = Path(__file__).resolve().parent.parent / "sample_spirv"


class MeasuredPool(Pool):
    """A pool that keeps the clock while its children work."""

    driver_ns = 0
    wall_ns = 0
    cpu_ns = 0

    def run(self, tasks: int, load: Load, shares: Mapping[int, Sequence[int]] | None = None) -> Iterator[Outcome]:
        """As `Pool.run`; sets the class's counters."""
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        for outcome in super().run(tasks, load, shares):
            MeasuredPool.driver_ns += outcome.answer.driver_ns
            MeasuredPool.wall_ns = time.perf_counter_ns() - wall
            MeasuredPool.cpu_ns = time.process_time_ns() - cpu
            yield outcome


def make_modules(folder: Path, copies: int) -> None:
    """Each sample `copies` times, every file with words of its own."""
    for source in sorted(SAMPLES.glob("*.spv")):
        data = bytearray(source.read_bytes())
        stem, _, stage = source.name.removesuffix(".spv").rpartition(".")
        for number in range(copies):
            struct.pack_into("<I", data, 8, number)
            (folder / f"{stem}{number}.{stage}.spv").write_bytes(data)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--target", default="radv:navi21")
    parser.add_argument("--copies", type=int, default=20, help="of each sample")
    parser.add_argument("--no-validate", action="store_true")
    arguments = parser.parse_args()
    setattr(engine, "Pool", MeasuredPool)  # noqa: B010 (mypy)
    with tempfile.TemporaryDirectory() as folder:
        make_modules(Path(folder), arguments.copies)
        request = Request(
            (folder,), targets=(arguments.target,), validate=not arguments.no_validate, jobs=1, cache=False
        )
        *_, end = engine.run(request)
    assert isinstance(end, EndEvent)
    count = sum(number for status, number in end.run.counts.items() if status != "cached")
    assert end.run.counts["ok"] == count, end.run.counts
    wall, cpu, driver = (
        one / 1e6 / count for one in (MeasuredPool.wall_ns, MeasuredPool.cpu_ns, MeasuredPool.driver_ns)
    )
    own = wall + cpu - driver
    print(f"{arguments.target}, {count} pipelines, milliseconds a pipeline:")
    print(f"  children's wall {wall:.2f}, parent's CPU {cpu:.2f}, inside the driver {driver:.2f}")
    print(f"  own time {own:.2f} = {own / driver:.2f} of the driver's" if driver else f"  own time {own:.2f}")


if __name__ == "__main__":
    main()
