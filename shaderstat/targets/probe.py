"""Finding out which compilers answer, by letting each compile one small module in a child."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from shaderstat import wire
from shaderstat.environment import child_environment
from shaderstat.model import Answer, Device, Driver, Job, JobModule, Launch
from shaderstat.plain import dataclass
from shaderstat.pool import kit
from shaderstat.pool.child import BOOT, kit_path
from shaderstat.trees.launch import SHIMS, apart

# One trial takes a fraction of a second; a driver that hangs must not hold up all others for long.
LIMIT_S = 20.0
# A prefix of the user's own, which may lead to a machine that isn't there, must not hold up the list.
PREFIX_LIMIT_S = 8.0

# So many trials keep a process busy for longer than its start took, several times over.
_ENOUGH = 12

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

    @property
    def answered(self) -> bool:
        """Whether there is a device that compiled the module, be it that it tells nothing of what it made."""
        return self.index >= 0


@dataclass(frozen=True, slots=True)
class _Batch:
    """Launches that share a process.

    Attributes:
        places: which they are of all that are tried.
        launches: themselves; where there is a `shim`, without what preloads it.
        shim: what the process loads their driver behind, itself; or "".
    """

    places: Sequence[int]
    launches: Sequence[Launch]
    shim: str = ""


def try_all(launches: Sequence[Launch], progress: Callable[[int], None] = lambda count: None) -> list[list[Trial]]:
    """Try every launch, several at a time.

    Args:
        progress: told how many launches are done.

    Returns:
        For each launch its trial; for one of device -1 one for each device of the loader, or the one refusal.
    """
    workers = os.cpu_count() or 1
    found: list[list[Trial]] = [[] for _ in launches]
    with ThreadPoolExecutor(workers) as executor:

        def run(batches: Sequence[_Batch]) -> Iterator[int]:
            for batch, trials in zip(batches, executor.map(_run, batches), strict=True):
                for place, its in zip(batch.places, trials, strict=True):
                    found[place] = its
                yield len(batch.places)

        batches = _batches(launches, workers)
        for done in accumulate(run(batches)):
            progress(done)
        # A shim that was there from the start is what a target is launched with: its word counts where they differ.
        behind = [place for batch in batches if batch.shim for place in batch.places]
        for _ in run([_Batch([place], [launches[place]]) for place in behind if found[place][0].problem]):
            pass
    return found


def _batches(launches: Sequence[Launch], workers: int) -> list[_Batch]:
    """Which launches share a process, the longest first: those that differ in nothing that must be set when it starts.
    The loader's devices are as many as there are, and a preloaded library has read its variables by then; but shims
    that are known can be loaded later (`shaderstat.child.behind`)."""
    alone: list[_Batch] = []
    shared: dict[tuple[str, tuple[object, ...]], list[tuple[int, Launch]]] = {}
    for place, launch in enumerate(launches):
        bare, shim = apart(launch)
        if launch.device < 0 or bare.environment.get("LD_PRELOAD") or "--preload" in bare.prefix:
            alone.append(_Batch([place], [launch]))
        else:
            driver = bare.driver_manifest if shim else None
            key = (shim, (driver, bare.prefix, bare.python, *sorted(_early(bare).items())))
            shared.setdefault(key, []).append((place, bare))
    batches: list[_Batch] = []
    for (shim, _), members in shared.items():
        if len(members) == 1:
            place, _ = members[0]
            alone.append(_Batch([place], [launches[place]]))
            continue
        # Dealt out like cards: a driver's recent GPUs, which stand together, take ten times as long as its old ones.
        processes = min(workers, -(-len(members) // _ENOUGH))
        for start in range(processes):
            places, bare_launches = zip(*members[start::processes], strict=True)
            batches.append(_Batch(places, bare_launches, shim))
    return [*sorted(batches, key=lambda batch: -len(batch.places)), *alone]


def _run(batch: _Batch) -> list[list[Trial]]:
    """One process, one trial after the other: for each launch its own, or those of all the loader's devices."""
    launches, first = batch.launches, batch.launches[0]
    early = _early(first) if len(launches) > 1 else dict(first.environment)
    if batch.shim:
        # Were it asked before a trial has chosen its GPU, all of them would be its default one: it shall have none.
        early |= {shim.variable: "none" for shim in SHIMS.values() if shim.variable is not None}
    first = replace(first, environment=early)
    sent = _job_frame() + b"".join(_launch_frame(launch, batch.shim) for launch in launches)
    if kit.is_needed(first):
        command, sent = kit.command(first), kit.opening(first, _ENTRY) + sent
    else:
        boot = BOOT.replace("shaderstat.child", _ENTRY)
        command = [*first.prefix, sys.executable, "-I", "-S", "-c", boot, *kit_path()]
    limit = PREFIX_LIMIT_S if first.source == "config" and first.prefix else LIMIT_S * (1 + len(launches))
    try:
        status, said, errors = _ask(command, sent, child_environment(first), limit)
        trials, words = list(_trials(said)), errors.decode("utf-8", "replace").strip()
        problem = words.splitlines()[-1] if words else f"its child ended with status {status}"
        if said and not said.startswith(wire.MAGIC.to_bytes(4, "little")):
            problem = wire.foreign_words(said)
    except subprocess.TimeoutExpired:
        trials, problem = [], f"no answer within {limit:g} s"
    except OSError as error:
        trials, problem = [], str(error)
    if trials and first.device < 0:
        return [trials]
    missing = [_failed(f"{launch.id}: {problem}") for launch in launches]
    return [[trial] for trial in (*trials, *missing[len(trials) :])]


def _ask(
    command: Sequence[str], sent: bytes, environment: Mapping[str, str], limit_s: float
) -> tuple[int, bytes, bytes]:
    """A process's status, standard output and standard error; with it goes whatever its prefix has started.

    Raises:
        subprocess.TimeoutExpired: it has been killed.
        OSError: it can't be started.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environment),
        start_new_session=True,
    )  # fmt: skip
    try:
        said, errors = process.communicate(sent, timeout=limit_s)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, said, errors


def _early(launch: Launch) -> dict[str, str]:
    """Of a launch's variables those that are read when a process starts."""
    return {name: value for name, value in launch.environment.items() if name.startswith(("LD_", "XDG_"))}


def _job_frame() -> bytes:
    data = Path(__file__).with_name("trial.spv").read_bytes()
    return wire.job_frame(Job("compute", (JobModule("trial", data, "compute", "main"),), validate=False))


def _launch_frame(launch: Launch, shim: str) -> bytes:
    settings = {"environment": dict(launch.environment), "timeout_s": LIMIT_S, "shim": shim}
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
