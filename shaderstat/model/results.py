"""What a report holds: who answered, what was compiled, and what came out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from shaderstat.model.answers import Device, Diagnostic, Driver, Durations, Failure
from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.instrumentation import Instrumented

REPORT_VERSION = 1

Key = TypeVar("Key")

# Characters of a driver's line that are shown.
_READABLE = 200


@dataclass(frozen=True, slots=True)
class StatisticInfo:
    """What is known of one statistic on one target; the dictionary's part is None where it knows nothing.

    Attributes:
        name, format, description: the driver's own.
        key: the normalised name shared by drivers, ``registers``.
        unit: ``bytes/workgroup``.
        better: ``less``, ``more`` or None.
        role: ``trigger`` (judges), ``info``, ``identity`` (a hash) or ``equality``.
        label: the short column heading that driver developers know.
        note: a known quirk.
        bits: how many of a value's low bits mean something: 32 where the driver writes only half of it.
    """

    name: str
    format: str
    description: str
    key: str | None = None
    unit: str | None = None
    better: str | None = None
    role: str = "info"
    label: str | None = None
    note: str | None = None
    bits: int = 64


def quantity(statistic: Statistic, info: StatisticInfo | None) -> int | float | None:
    """The number that a statistic stands for when it is compared or judged: of a value that the driver only half
    writes, the half that it writes. None for what is no number."""
    value = statistic.value
    if info is not None and info.bits < 64 and isinstance(value, int) and value >= 0:
        return value & ((1 << info.bits) - 1)
    return value


def is_subgroup_size(size: int) -> bool:
    """Whether a GPU may have subgroups of that size: a power of two up to 128 (VkPhysicalDeviceSubgroupProperties)."""
    return 0 < size <= 128 and size & (size - 1) == 0


def numbered(statistics: Iterable[Statistic | StatisticInfo]) -> list[tuple[str, str, int]]:
    """(name, format, how many of these came before it) of each: what joins an executable's statistic to its target's
    list, where two of one name stay two."""
    seen: dict[tuple[str, str], int] = {}
    keys: list[tuple[str, str, int]] = []
    for each in statistics:
        pair = (each.name, each.format)
        seen[pair] = nth = seen.get(pair, -1) + 1
        keys.append((*pair, nth))
    return keys


def merge(order: list[Key], keys: Iterable[Key]) -> None:
    """Put the `keys` that are new into `order`, each behind the one it followed, so that lists which each lack some
    become one that reads like all of them."""
    place = 0
    for key in keys:
        if key not in order:
            order.insert(place, key)
        place = order.index(key) + 1


@dataclass(frozen=True, slots=True)
class Target:
    """A compiler that answered: never a number without it. `statistics` are in the driver's order and grow as new ones
    are met: a later `TargetEvent` of the same id replaces the earlier. `gpu` is the usual name of a GPU that isn't
    here: what stands in for it hardly has one (NVK's devices are all called ``NVK``). `settings` are the drivers'
    configuration files there, by path, with their SHA-256."""

    id: str
    backend: str
    driver: Driver
    device: Device
    source: str
    packages: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    statistics: tuple[StatisticInfo, ...] = ()
    gpu: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Module:
    """A file of a pipeline. `sha256` is of the file as read, `generator` the header's word: ``0x0008000b``."""

    path: str
    sha256: str
    stage: str | None = None
    entry_point: str | None = None
    spirv_version: str | None = None
    generator: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Where the pipeline state came from: ``inferred``, ``manifest`` or ``archive``; `sha256` is its identity; `given`
    is what was said of it, under the manifest's names: ``{"samples": 4, "profile": "webgpu"}``."""

    source: str
    sha256: str
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is compiled. `id` is unique in a report; `content` is what comparisons match by; `kind` is None for a file
    that makes no pipeline. `workgroup` is (x, y, z) with specialization applied, for compute, mesh and task."""

    id: str
    name: str
    content: str
    kind: str | None
    variant: Mapping[str, Any] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()
    state: State | None = None
    workgroup: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number. `value` is a number or None, always (bool32 as 0 or 1); `text` is the exact form of a hash, of an
    integer beyond ±2**53, of NaN and of the infinities (whose value is None). A NaN that isn't the usual one, by its
    sign or its payload, has its 64 bits: ``NaN(0x7ff8000000000123)``."""

    name: str
    format: str
    value: int | float | None
    text: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Representation:
    """One internal representation: its bytes travel beside the result. `size` in bytes; `code_sha256` is that of the
    text after leaving out what is not code; `path` is where it was written, if it was; `index` is its place among those
    that the driver gave, whichever of them are shown."""

    name: str
    description: str
    is_text: bool
    size: int
    sha256: str
    code_sha256: str
    path: str | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class Executable:
    """One VkPipelineExecutablePropertiesKHR. Executables are not stages: the key is (pipeline, index, stages, name).
    `subgroup_size` is the driver's own number, whatever it is; None where it says 0: not told."""

    index: int
    name: str
    description: str
    stages: tuple[str, ...]
    subgroup_size: int | None
    synthetic: bool = False
    bound: str = "exact"
    statistics: tuple[Statistic, ...] = ()
    representations: tuple[Representation, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One pipeline on one target. `target` is None for a file that makes no pipeline; `instrumentation` where it was
    run."""

    pipeline: str
    target: str | None
    status: str
    cached: bool = False
    attempts: int = 1
    durations_ns: Durations = Durations()
    executables: tuple[Executable, ...] = ()
    failure: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    instrumentation: Instrumented | None = None


def failure_words(failure: Failure) -> str:
    """What befell a pipeline, in the words that every screen has for it: ``SIGSEGV in compile``."""
    if failure.code == "target/lost":
        return f"the target was lost: {failure.stderr_tail}"
    if failure.limit_s is not None:
        return f"over {failure.limit_s:g} s in {failure.phase}"
    exited = failure.code if failure.exit_code is None else f"exit status {failure.exit_code}"
    return f"{failure.signal or failure.vk_result or exited} in {failure.phase}"


def last_words(failure: Failure | None, most: int = 1) -> list[str]:
    """The last lines that a driver wrote before it failed; hostile text, of each what a person reads."""
    if failure is None or failure.code == "target/lost":
        return []
    lines = [line.rstrip() for line in failure.stderr_tail.splitlines() if line.strip()]
    return [line if len(line) <= _READABLE else line[: _READABLE - 1] + "…" for line in lines[-most:]]


def cause(result: Result) -> tuple[str, str | None]:
    """Why there is no answer, and the way out if one is known. Hostile text, as all that drivers and files say."""
    errors = [one for one in result.diagnostics if one.severity == "error"]
    if not errors and result.failure is not None:
        return failure_words(result.failure), None
    for one in errors or result.diagnostics:
        return one.message, one.hint
    return "", None


@dataclass(frozen=True, slots=True)
class Run:
    """`started` is ISO 8601 in UTC; `complete` is False when the run was cut short; `counts` has every status, and
    ``cached``; `diagnostics` are remarks about the run as a whole."""

    started: str
    arguments: tuple[str, ...] = ()
    complete: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """Which schema a report follows."""

    name: str = "shaderstat-report"
    version: int = REPORT_VERSION


@dataclass(frozen=True, slots=True)
class Producer:
    """Which program wrote a report."""

    name: str
    version: str
