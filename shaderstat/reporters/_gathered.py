"""A run's events gathered for a table, and the words that every table says of targets, pipelines and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shaderstat.model import (
    Event,
    Executable,
    Pipeline,
    PipelineEvent,
    Result,
    ResultEvent,
    Statistic,
    StatisticInfo,
    Target,
    TargetEvent,
    is_subgroup_size,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Infos, index
from shaderstat.reporters.text import UNNAMED, Pen, named, printable, shorten, width

# How people call drivers, by VkDriverId, where the driver's own name is another.
_DRIVERS: Mapping[int, str] = {3: "RADV", 6: "ANV", 18: "Turnip", 24: "NVK", 26: "Honeykrisp"}

MISSING = "·"
UPPER = "≤ an upper bound: compiled without its partner stages"


class Gathered:
    """Targets and pipelines by id, results in order."""

    def __init__(self) -> None:
        self.targets: dict[str, Target] = {}
        self.pipelines: dict[str, Pipeline] = {}
        self.results: list[Result] = []

    def feed(self, event: Event) -> None:
        if isinstance(event, TargetEvent):
            self.targets[event.target.id] = event.target
        elif isinstance(event, PipelineEvent):
            self.pipelines[event.pipeline.id] = event.pipeline
        elif isinstance(event, ResultEvent):
            self.results.append(event.result)

    def infos(self, target: str | None) -> Infos:
        known = self.targets.get(target) if target is not None else None
        return index(known.statistics) if known else {}

    def name(self, result: Result) -> str:
        """A pipeline's name and variant, printable."""
        pipeline = self.pipelines.get(result.pipeline)
        if pipeline is None:
            return named(result.pipeline)
        variant = "".join(f" {name}={value}" for name, value in pipeline.variant.items())
        return named(pipeline.name + variant)

    def names(self, room: int | None) -> dict[str, str]:
        """All pipelines' names by id; those wider than `room` columns are shortened from the left."""
        names = {result.pipeline: self.name(result) for result in self.results}
        return names if room is None else {id: shorten(name, room) for id, name in names.items()}

    def by_target(self) -> list[tuple[Target | None, list[Result]]]:
        """Results by target, in the targets' order; those of no target stand with the first."""
        groups: dict[str | None, list[Result]] = {name: [] for name in self.targets} or {None: []}
        first = next(iter(groups))
        for result in self.results:
            groups.setdefault(first if result.target is None else result.target, []).append(result)
        return [(self.targets.get(name or ""), results) for name, results in groups.items() if results]


def driver_words(target: Target) -> str:
    """``RADV, Mesa 22.3.6, null device``; with the device's name where the target's does not tell it."""
    driver = target.driver
    if target.source == "mock":
        return printable(driver.info or driver.name)
    words = [_DRIVERS.get(driver.id, driver.name), driver.info or driver.version]
    if target.source != "host":
        words.append(target.source.replace("-", " "))
    if target.source != "null-device":
        words.insert(0, target.device.name.strip())
    return printable(", ".join(word for word in dict.fromkeys(words) if word))


def target_heading(target: Target | None, pen: Pen, options: Options) -> None:
    """The line above a table, so that no number stands without its compiler."""
    if target is not None:
        pen.words(*_identity(target, pen, options))
        pen.line()


def title(name: str, words: str, target: Target | None, pen: Pen, options: Options) -> None:
    """A pipeline's line, with the compiler at its end where there is room, else below."""
    start = f"{name} · {words}" if words else name
    painted = pen.paint(name, "bold") + start[len(name) :]
    if target is None:
        pen.words(start, options.width, painted)
        return
    end, columns, painted_end = _identity(target, pen, options)
    gap = min(options.width or 100, 100) - width(start) - width(end)
    if gap >= 2 or columns is None:
        pen.line(painted + " " * max(gap, 2) + painted_end)
        return
    pen.words(start, columns, painted)
    if width(end) + 2 <= columns:
        pen.line(f"  {painted_end}")
    else:
        pen.prose("  ", 2, end, columns)


def _identity(target: Target, pen: Pen, options: Options) -> tuple[str, int | None, str]:
    """A compiler's line, the columns that it may take, and the line with its colours."""
    identity, words = printable(target.id), driver_words(target)
    return f"{identity} · {words}", options.width, pen.paint(identity, "cyan") + pen.paint(f" · {words}", "dim")


def bound_words(results: Iterable[Result]) -> list[str]:
    """What a title adds where numbers are those of a stage without its own partners."""
    upper = any(each.bound == "upper" for result in results for each in result.executables)
    return ["≤ an upper bound"] if upper else []


def pipeline_words(pipeline: Pipeline) -> str:
    """What stands behind a pipeline's name: ``compute · workgroup 16×16×1``."""
    words = [pipeline.kind.replace("_", " ")] if pipeline.kind else []
    if pipeline.workgroup:
        words.append("workgroup " + "×".join(str(size) for size in pipeline.workgroup))
    words += _said(pipeline.state.given if pipeline.state is not None else {})
    words += [f"{name}={value}" for name, value in pipeline.variant.items()]
    return printable(" · ".join(words))


def stages(executable: Executable) -> str:
    """``vertex+geometry``."""
    return "+".join(executable.stages)


def executable_words(executables: tuple[Executable, ...], executable: Executable) -> str:
    """An executable's stages if they tell it from the pipeline's others, else the driver's name for it; and what its
    numbers are: an upper bound, or those of a stage that shaderstat made."""
    same = [each for each in executables if each.stages == executable.stages]
    if executable.stages and len(same) == 1:
        words = stages(executable)
    else:
        words = named(executable.name) or f"(unnamed {executable.index})"
    return f"{words}{mark(executable)}"


def subgroup(executable: Executable | None) -> str:
    """The subgroup size as the driver says it; with a ``?`` where it can't be one, which a remark tells."""
    if executable is None or executable.subgroup_size is None:
        return MISSING
    return str(executable.subgroup_size) + ("" if is_subgroup_size(executable.subgroup_size) else "?")


def mark(executable: Executable) -> str:
    """What stands behind an executable's name where it isn't what an application would have."""
    return " (generated)" if executable.synthetic else " ≤" if executable.bound == "upper" else ""


def cell(statistic: Statistic | None, info: StatisticInfo) -> str:
    """A value with all its digits: ``0x…`` for a hash, ``·`` for what the driver did not report."""
    if statistic is None:
        return MISSING
    if statistic.value is None or info.role == "identity":
        return printable(statistic.text or "?")
    return repr(statistic.value)


def is_spill(statistic: Statistic, info: StatisticInfo) -> bool:
    """Whether this number says that registers did not suffice."""
    return info.key == "spills" and info.role == "trigger" and bool(statistic.value)


def short(info: StatisticInfo) -> str:
    """A column's heading: the label, or the driver's name."""
    return named(info.label or info.name) or UNNAMED


def _said(given: Mapping[str, Any]) -> Iterator[str]:
    """What was said of a pipeline's state, in a few words: ``samples 4``; the longer forms are named only."""
    longer = []
    for name, value in given.items():
        if isinstance(value, Mapping):
            longer.append(name)
        elif name == "optimize":
            yield "optimised" if value else "not optimised"
        else:
            word = str(value).removeprefix("VK_FORMAT_").removeprefix("VK_PRIMITIVE_TOPOLOGY_")
            yield f"{name.replace('_', ' ')} {word}"
    if longer:
        yield f"state of {', '.join(longer)}"
