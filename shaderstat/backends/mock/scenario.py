"""What the mock shall do instead of what it does: `Launch.scenario`, plain data that `shaderstat.config.scenario` makes
of a scenario file, whose format stands there. Anything that a driver may do to its caller can be said.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, NoReturn

from shaderstat.backends.base import DriverError
from shaderstat.errors import NoTarget
from shaderstat.instrumentation import Metric, MetricBlock, Offer, Slot
from shaderstat.model import ExecutableAnswer, RepresentationAnswer, StatisticAnswer
from shaderstat.plain import dataclass

Plain = Mapping[str, Any]
# An answer beyond this is no test of shaderstat any more but of the machine's memory.
MAX_REPRESENTATION = 256 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """What happens during a call: noise first, then the wait, then at most one way out.

    Attributes:
        stdout, stderr: written to descriptors 1 and 2, as a driver in C does.
        sleep_s: seconds.
        result: a VkResult's name, which the call returns.
        crash: a signal's name; the process dies of it.
        exit: the process ends with this status.
        hang: the call never returns.
    """

    stdout: str = ""
    stderr: str = ""
    sleep_s: float = 0.0
    result: str | None = None
    crash: str | None = None
    exit: int | None = None
    hang: bool = False

    def happen(self, call: str) -> None:
        """Let it happen inside the command `call`.

        Raises:
            DriverError: `result` is an error.
        """
        for descriptor, text in ((1, self.stdout), (2, self.stderr)):
            _write(descriptor, text.encode("utf-8", "surrogateescape"))
        if self.sleep_s:
            time.sleep(self.sleep_s)
        if self.crash is not None:
            _die(self.crash)
        if self.exit is not None:
            os._exit(self.exit)
        if self.hang:
            _wait_for_ever()
        if self.result is not None:
            raise DriverError(call, self.result)


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to the pipelines that it matches.

    Attributes:
        path, stage: globs; a pipeline matches by any of its modules, and by any of its stages.
        create, query, destroy: during vkCreate*Pipelines, vkGetPipelineExecutable* and vkDestroyPipeline.
        executables: the answer; None for the mock's own.
        without: ``statistics`` or ``representations`` that are not answered.
        lost: how many elements at the end of each list the driver counted and then didn't write.
        incomplete: the driver returns VK_INCOMPLETE, however large the array.
        failing: ``statistics`` or ``representations`` → the VkResult that asking for them returns.
        run: during vkQueueSubmit and the waiting for it.
        blocks: what was counted.
        written: what buffers hold after it, by (set, binding).
    """

    path: str = "*"
    stage: str = "*"
    create: Event = Event()
    query: Event = Event()
    destroy: Event = Event()
    executables: tuple[ExecutableAnswer, ...] | None = None
    without: frozenset[str] = frozenset()
    lost: int = 0
    incomplete: bool = False
    failing: Mapping[str, str] = field(default_factory=dict)
    run: Event = Event()
    blocks: tuple[MetricBlock, ...] = ()
    written: Mapping[Slot, bytes] = field(default_factory=dict)

    def matches(self, paths: Sequence[str], stages: Sequence[str]) -> bool:
        """Whether it is for a pipeline of these modules and stages."""
        return any(_matches(self.path, path) for path in paths) and any(_matches(self.stage, stage) for stage in stages)


@dataclass(frozen=True, slots=True)
class Scenario:
    """All of it. `lacks` are globs over extensions, ``Struct.member`` features and formats that the device hasn't got;
    `limits` are properties by their member's name; `missing` is why there is no such device at all; `instrumentation`
    what it offers of VK_ARM_shader_instrumentation."""

    driver: Plain = field(default_factory=dict)
    device: Plain = field(default_factory=dict)
    missing: str | None = None
    lacks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    open: Event = Event()
    rules: tuple[Rule, ...] = ()
    instrumentation: Offer | None = None

    def rule(self, paths: Sequence[str], stages: Sequence[str]) -> Rule:
        """The first rule that matches, else one by which nothing happens."""
        return next((rule for rule in self.rules if rule.matches(paths, stages)), Rule())

    def has(self, kind: str, name: str) -> bool:
        """Whether the device has the extension, feature or format `name`; `kind` is a key of `lacks`."""
        return not any(fnmatchcase(name, glob) for glob in self.lacks.get(kind, ()))


def read(plain: Plain | None) -> Scenario:
    """Make a scenario of plain data.

    Raises:
        NoTarget: the data has not the shape that `shaderstat.config.scenario` describes.
    """
    try:
        given = dict(plain or {})
        given["open"] = Event(**given.get("open", {}))
        given["rules"] = tuple(_rule(rule) for rule in given.get("rules", ()))
        if given.get("instrumentation") is not None:
            metrics = tuple(Metric(**each) for each in given["instrumentation"]["metrics"])
            given["instrumentation"] = Offer(metrics, given["instrumentation"]["per_basic_block"])
        return Scenario(**given)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise NoTarget(f"the mock's scenario is not as it should be: {error}") from None


def _rule(plain: Plain) -> Rule:
    given = dict(plain)
    for moment in ("create", "query", "destroy", "run"):
        given[moment] = Event(**given.get(moment, {}))
    if given.get("executables") is not None:
        given["executables"] = tuple(_executable(each) for each in given["executables"])
    given["without"] = frozenset(given.get("without", ()))
    given["blocks"] = tuple(_block(each) for each in given.get("blocks", ()))
    given["written"] = {(set_, binding): bytes.fromhex(data) for set_, binding, data in given.get("written", ())}
    return Rule(**given)


def _block(plain: Plain) -> MetricBlock:
    return MetricBlock(
        submission=plain["submission"],
        result_index=plain["index"],
        result_sub_index=plain["sub_index"],
        stages=plain["stages"],
        basic_block=plain["basic_block"],
        values=tuple(plain["values"]),
    )


def _executable(plain: Plain) -> ExecutableAnswer:
    return ExecutableAnswer(
        name=plain["name"],
        description=plain["description"],
        stages=plain["stages"],
        subgroup_size=plain["subgroup_size"],
        statistics=tuple(StatisticAnswer(**each) for each in plain["statistics"]),
        representations=tuple(_representation(each) for each in plain["representations"]),
    )


def _representation(plain: Plain) -> RepresentationAnswer:
    """A text ends at its first NUL, wherever that is, as for every reader of what a driver wrote."""
    data, repeat = bytes.fromhex(plain["hex"]), plain["repeat"]
    if len(data) * repeat > MAX_REPRESENTATION:
        raise ValueError(f"a representation of {len(data) * repeat} bytes: at most {MAX_REPRESENTATION}")
    data *= repeat
    if plain["is_text"]:
        data = data.partition(b"\0")[0]
    return RepresentationAnswer(plain["name"], plain["description"], plain["is_text"], data)


def _matches(glob: str, text: str) -> bool:
    """Over the whole path, and over its last part alone."""
    return fnmatchcase(text, glob) or fnmatchcase(text.rpartition("/")[2], glob)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _die(name: str) -> NoReturn:
    """Of a signal that nobody catches, as a driver does: Python's own handlers have no say."""
    number = signal.Signals[name]
    sys.stdout.flush()
    if number != signal.SIGKILL:  # which has no handler to take away
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    _wait_for_ever()


def _wait_for_ever() -> NoReturn:
    while True:
        time.sleep(3600)
