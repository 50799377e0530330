"""Finding out which compilers answer, by letting each compile one small module in a child."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from shaderstat import wire
from shaderstat.model import Answer, Device, Driver, Job, JobModule, Launch
from shaderstat.plain import dataclass
from shaderstat.pool import kit
from shaderstat.pool.child import BOOT, kit_path
from shaderstat.pool.environment import child_environment

# One trial takes a fraction of a second; a driver that hangs must not hold up all others for long.
LIMIT_S = 20.0

_ENTRY = "shaderstat.child.trial"


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one launch.

    Attributes:
        problem: why it gave nothing, one line; "" where it answered.
        index: which of the loader's devices it took.
        driver, device: who answered.
        statistics, representations: whether it gave any.
        answers: a hash of its statistics: compilers that are one answer alike.
        takes: what modules may ask of it, in the words of `Answer.needs`.
        metrics: how many VK_ARM_shader_instrumentation has there; None where it isn't offered, or wasn't asked for
            (`Launch.runs`).
        per_basic_block: whether they are counted for each basic block.
    """

    problem: str
    index: int
    driver: Driver
    device: Device
    statistics: bool = False
    representations: bool = False
    answers: str = ""
    takes: frozenset[str] = frozenset()
    metrics: int | None = None
    per_basic_block: bool = False


def try_all(launches: Sequence[Launch], progress: Callable[[int], None] = lambda count: None) -> list[list[Trial]]:
    """Try every launch, several at a time.

    Args:
        progress: told how many launches are done.

    Returns:
        For each launch its trial; for one of device -1 one for each device of the loader, or the one refusal.
    """
    workers = os.cpu_count() or 1
    batches = _batches(launches, workers)
    found: list[list[Trial]] = [[] for _ in launches]
    done = 0
    with ThreadPoolExecutor(workers) as executor:
        runs = executor.map(_run, [[launches[place] for place in batch] for batch in batches])
        for batch, trials in zip(batches, runs, strict=True):
            if len(batch) == 1:
                found[batch[0]] = trials
            else:
                for place, trial in zip(batch, trials, strict=True):
                    found[place] = [trial]
            done += len(batch)
            progress(done)
    return found


def _batches(launches: Sequence[Launch], workers: int) -> list[list[int]]:
    """Which launches share a process, by place in `launches`: those that differ in nothing that must be set when it
    starts. A shim reads its GPU's name then, and the loader's devices are as many as there are."""
    shared: dict[tuple[object, ...], list[int]] = {}
    batches: list[list[int]] = []
    for place, launch in enumerate(launches):
        if launch.device < 0 or launch.environment.get("LD_PRELOAD") or "--preload" in launch.prefix:
            batches.append([place])
        else:
            shared.setdefault((launch.prefix, launch.python), []).append(place)
    for places in shared.values():
        # Dealt out like cards: a driver's recent GPUs, which stand together, take ten times as long as its old ones.
        batches[:0] = [places[start::workers] for start in range(min(workers, len(places)))]
    return batches


def _run(launches: Sequence[Launch]) -> list[Trial]:
    """One process, one trial after the other: as many as launches, or as the loader has devices."""
    first = launches[0]
    sent = _job_frame() + b"".join(_launch_frame(launch) for launch in launches)
    if kit.is_needed(first):
        command, sent = kit.command(first), kit.opening(first, _ENTRY) + sent
    else:
        boot = BOOT.replace("shaderstat.child", _ENTRY)
        command = [*first.prefix, sys.executable, "-I", "-S", "-c", boot, *kit_path()]
    early = {name: value for name, value in first.environment.items() if len(launches) == 1 or _is_early(name)}
    environment = child_environment(replace(first, environment=early))
    limit = LIMIT_S * (1 + len(launches))
    try:
        done = subprocess.run(command, input=sent, capture_output=True, env=environment, timeout=limit)
        trials, words = list(_trials(done.stdout)), done.stderr.decode("utf-8", "replace").strip()
        problem = words.splitlines()[-1] if words else f"its child ended with status {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        trials, problem = [], str(error)
    missing = [_failed(f"{launch.id}: {problem}") for launch in launches]
    return trials if trials and first.device < 0 else [*trials, *missing[len(trials) :]]


def _is_early(name: str) -> bool:
    return name.startswith(("LD_", "XDG_"))


def _job_frame() -> bytes:
    data = Path(__file__).with_name("trial.spv").read_bytes()
    return wire.job_frame(Job("compute", (JobModule("trial", data, "compute", "main"),), validate=False))


def _launch_frame(launch: Launch) -> bytes:
    settings = {"environment": dict(launch.environment), "timeout_s": LIMIT_S}
    return wire.frame(wire.LAUNCH, {**wire.launch_to_plain(launch), **settings})


def _trials(output: bytes) -> Iterable[Trial]:
    reader = wire.FrameReader()
    reader.feed(output)
    hello: wire.Hello | None = None
    taken: frozenset[str] = frozenset()
    try:
        while (frame := reader.next()) is not None:
            kind, header, blob = frame
            if kind == wire.HELLO:
                hello, taken = wire.hello_from_plain(header), frozenset(header["takes"])
            elif kind == wire.REFUSED:
                yield _failed(header["message"])
            elif kind == wire.ANSWER and hello is not None:
                yield _answered(hello, wire.answer_from_frame(header, blob), taken)
    except wire.ProtocolError:
        return


def _answered(hello: wire.Hello, answer: Answer, taken: frozenset[str]) -> Trial:
    lacks = "it lists no executables"
    if not hello.tells_executables:
        lacks = f"{hello.device.name} has no VK_KHR_pipeline_executable_properties"
    return Trial(
        problem="" if answer.executables else lacks,
        index=hello.device_index,
        driver=hello.driver,
        device=hello.device,
        statistics=any(one.statistics for one in answer.executables),
        representations=any(one.representations for one in answer.executables),
        answers=_fingerprint(answer),
        takes=taken,
        metrics=None if hello.offer is None else len(hello.offer.metrics),
        per_basic_block=hello.offer is not None and hello.offer.per_basic_block,
    )


def _fingerprint(answer: Answer) -> str:
    """The numbers, without RADV's hash of the pipeline: that is of what went in, the GPU's name included."""
    numbers = [
        (executable.name, executable.subgroup_size, one.name, one.bits)
        for executable in answer.executables
        for one in executable.statistics
        if one.name != "Driver pipeline hash"
    ]
    return hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]


def _failed(problem: str) -> Trial:
    return Trial(problem, -1, Driver(0, "", "", ""), Device("", 0, 0, "", "", ""))


def identity(files: Iterable[str], environment: Mapping[str, str]) -> str:
    """A hash of what a trial's outcome depends on: the module, the files' sizes and times, variables."""
    parts: list[object] = [hashlib.sha256(Path(__file__).with_name("trial.spv").read_bytes()).hexdigest()]
    for file in files:
        try:
            found = os.stat(file)
            parts.append((file, found.st_size, found.st_mtime_ns))
        except OSError:
            parts.append((file, None))
    parts.append(sorted(environment.items()))
    return hashlib.sha256(repr(parts).encode()).hexdigest()
