"""Which part of an answer is shown, and in which order: the same for every format.

Results that hold no executables (failures, skipped files) are selected away by their status alone: silence would look
like success.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from shaderstat.model import Executable, ResultEvent, Statistic, StatisticInfo, Target, numbered
from shaderstat.plain import dataclass
from shaderstat.reporters.text import printable

if TYPE_CHECKING:
    from shaderstat.instrumentation import CountedBlock, Instrumented

Infos = Mapping[tuple[str, str, int], StatisticInfo]


@dataclass(frozen=True, slots=True)
class Selection:
    """What to show. Empty means all.

    Attributes:
        statistics: globs over a statistic's name, key and label, case folded.
        stages: stage words; an executable of several stages is shown for each of them.
        representations: globs over a representation's name, case folded.
        sort: a statistic's name, label or key: the worst first, that is the largest, or the smallest where more is
            better. A ``-`` before it turns that round.
        top: only so many executables of each target, after sorting.
        statuses: results of these statuses alone.
        synthetic: show executables that shaderstat made up in tables too.
    """

    statistics: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    representations: tuple[str, ...] = ()
    sort: str | None = None
    top: int | None = None
    statuses: tuple[str, ...] = ()
    synthetic: bool = False


def index(infos: Iterable[StatisticInfo]) -> Infos:
    """A target's statistics by what joins them to an executable's (`shaderstat.model.numbered`)."""
    infos = tuple(infos)
    return dict(zip(numbered(infos), infos, strict=True))


def joined(executable: Executable, infos: Infos) -> list[tuple[Statistic, StatisticInfo]]:
    """An executable's statistics, each with what is known of it."""
    return [
        (each, infos.get(key) or StatisticInfo(each.name, each.format, ""))
        for key, each in zip(numbered(executable.statistics), executable.statistics, strict=True)
    ]


def names(info: StatisticInfo) -> tuple[str, ...]:
    """What a statistic may be called on the command line, case folded: name, label, key."""
    return tuple(name.casefold() for name in (info.name, info.label, info.key) if name)


def rank(executable: Executable, infos: Infos, sort: str) -> float | int | None:
    """How bad an executable is by the statistic `sort`, higher being worse; None where it has no number of that name.

    A name goes before a label, a label before a key; a key stands for the sum of the statistics that judge by it
    (spilled scalar and vector registers), or for the first that has it where none judges.
    """
    wanted = sort.removeprefix("-").casefold()
    pairs = [pair for pair in joined(executable, infos) if pair[0].value is not None]
    found = [pair for pair in pairs if pair[1].name.casefold() == wanted][:1]
    found = found or [pair for pair in pairs if (pair[1].label or "").casefold() == wanted][:1]
    if not found:
        of_key = [pair for pair in pairs if (pair[1].key or "").casefold() == wanted]
        found = [pair for pair in of_key if pair[1].role == "trigger"] or of_key[:1]
    if not found:
        return None
    total = sum(each.value for each, _ in found if each.value is not None)
    return -total if (found[0][1].better == "more") != sort.startswith("-") else total


class Selector:
    """A `Selection` at work on the events of one run. It remembers which of its patterns matched something."""

    def __init__(self, selection: Selection, *, keep_synthetic: bool = False) -> None:
        self._selection = selection
        self._keep_synthetic = keep_synthetic or selection.synthetic
        self._infos: dict[str | None, Infos] = {}
        self._globs = tuple((glob, glob.casefold()) for glob in selection.statistics)
        self._representations = tuple((glob, glob.casefold()) for glob in selection.representations)
        self._stages = {stage: stage.casefold() for stage in selection.stages}
        self._open = {("--stat", glob) for glob in selection.statistics}
        self._open |= {("--stage", stage) for stage in selection.stages}
        self._open |= {("--ir", glob) for glob in selection.representations}
        if selection.sort:
            self._open.add(("--sort", selection.sort))
        self._saw_executables = self._saw_statistics = self._saw_representations = False
        self._unsorted: list[str] = []  # targets without the statistic to sort by

    @property
    def is_fruitless(self) -> bool:
        """Whether none of the statistics, or none of the representations, that were asked for has been met so far."""
        asked = (("--stat", self._selection.statistics), ("--ir", self._selection.representations))
        return any(globs and self._open.issuperset((option, glob) for glob in globs) for option, globs in asked)

    @property
    def sorts(self) -> bool:
        """Whether results have to wait for the last one."""
        return self._selection.sort is not None or self._selection.top is not None

    def target(self, target: Target) -> Target:
        """The target with the selected statistics. To be called before the first result that needs it."""
        self._infos[target.id] = index(target.statistics)
        if not self._globs:
            return target
        return replace(target, statistics=tuple(info for info in target.statistics if self._wants(info)))

    def choose(self, event: ResultEvent) -> ResultEvent | None:
        """The result with the selected executables; None if it had some and all of them are selected away, or if its
        status isn't selected."""
        if self._selection.statuses and event.result.status not in self._selection.statuses:
            return None
        result, run = event.result, event.result.instrumentation
        shows_run = False
        if run is not None:
            blocks = self._blocks(run)
            # One that counted nothing is told; one of which nothing is chosen isn't.
            shows_run = bool(blocks) or not run.blocks
            if len(blocks) < len(run.blocks):
                result = replace(result, instrumentation=replace(run, blocks=blocks))
                event = replace(event, result=result)
        kept = [place for place, executable in enumerate(result.executables) if self._wants_executable(executable)]
        if not kept and not shows_run and (result.executables or run is not None):
            return None
        if len(kept) == len(result.executables):
            return event
        return replace(
            event,
            result=replace(result, executables=tuple(result.executables[place] for place in kept)),
            data=tuple(event.data[place] for place in kept) if event.data else (),
        )

    def order(self, events: Sequence[ResultEvent], *, by_row: bool) -> list[ResultEvent]:
        """Sort and cut the executables of each target; what has none comes last. A target on which nothing has the
        statistic to sort by is left out: its first rows would be no answer.

        Args:
            by_row: give one event for each executable, in order; else one for each result, in the order of its worst.
        """
        rows: dict[str | None, list[ResultEvent]] = {}
        rest = [event for event in events if not event.result.executables]
        for event in events:
            rows.setdefault(event.result.target, []).extend(_split(event))
        ordered: list[ResultEvent] = []
        for target, of_target in rows.items():
            ordered += self._sorted(of_target, target)[: self._selection.top]
        return (ordered if by_row else _regroup(ordered)) + rest

    def narrow(self, event: ResultEvent) -> ResultEvent:
        """The result with the selected statistics and representations: after `order`, which may look at others."""
        if not (self._globs or self._representations):
            return event
        infos = self._infos.get(event.result.target, {})
        data = event.data or tuple(() for _ in event.result.executables)
        parts = [self._part(*pair, infos) for pair in zip(event.result.executables, data, strict=True)]
        return replace(
            event,
            result=replace(event.result, executables=tuple(executable for executable, _ in parts)),
            data=tuple(data for _, data in parts) if event.data else (),
        )

    def remarks(self) -> Sequence[str]:
        """One line for each target that is left out while others are sorted."""
        sort = self._selection.sort
        found = sort is not None and ("--sort", sort) not in self._open
        return [f"--sort {sort}: no such statistic on {printable(target)}" for target in self._unsorted if found]

    def unmatched(self) -> Sequence[str]:
        """One line for each pattern that matched nothing, where there was something to match."""
        seen = {
            "--stat": self._saw_statistics,
            "--sort": self._saw_statistics,
            "--stage": self._saw_executables,
            "--ir": self._saw_representations,
        }
        return [f"{option} {word}: matched nothing" for option, word in sorted(self._open) if seen[option]]

    def _sorted(self, rows: list[ResultEvent], target: str | None) -> list[ResultEvent]:
        sort, infos = self._selection.sort, self._infos.get(target, {})
        if sort is None or not any(row.result.executables[0].statistics for row in rows):
            return rows
        ranked = [(rank(row.result.executables[0], infos, sort), row) for row in rows]
        if all(worth is None for worth, _ in ranked):
            self._unsorted.append(target or "")
            return []
        self._open.discard(("--sort", sort))
        ranked.sort(key=lambda pair: (pair[0] is None, -pair[0] if pair[0] is not None else 0))
        return [row for _, row in ranked]

    def _wants(self, info: StatisticInfo) -> bool:
        if not self._globs:
            return True
        matched = [glob for glob, folded in self._globs if any(fnmatchcase(name, folded) for name in names(info))]
        self._open -= {("--stat", glob) for glob in matched}
        return bool(matched)

    def _wants_executable(self, executable: Executable) -> bool:
        if executable.synthetic and not self._keep_synthetic:
            return False
        self._saw_executables = True
        self._saw_statistics = self._saw_statistics or bool(executable.statistics)
        self._saw_representations = self._saw_representations or bool(executable.representations)
        matched = [stage for stage, folded in self._stages.items() if folded in executable.stages]
        self._open -= {("--stage", stage) for stage in matched}
        return bool(matched) or not self._stages

    def _blocks(self, run: Instrumented) -> tuple[CountedBlock, ...]:
        """The selected blocks of a run."""
        blocks = [block for block in run.blocks if self._keep_synthetic or not block.synthetic]
        self._saw_executables = self._saw_executables or bool(blocks)
        if self._stages:
            there = {stage.casefold() for block in blocks for stage in block.stages}
            self._open -= {("--stage", stage) for stage, folded in self._stages.items() if folded in there}
            blocks = [block for block in blocks if not {*self._stages.values()}.isdisjoint(block.stages)]
        return tuple(blocks)

    def _part(
        self, executable: Executable, data: tuple[bytes, ...], infos: Infos
    ) -> tuple[Executable, tuple[bytes, ...]]:
        statistics = executable.statistics
        if self._globs:
            statistics = tuple(each for each, info in joined(executable, infos) if self._wants(info))
        wanted = [
            place for place, each in enumerate(executable.representations) if self._wants_representation(each.name)
        ]
        part = replace(
            executable,
            statistics=statistics,
            representations=tuple(executable.representations[place] for place in wanted),
        )
        return part, tuple(data[place] for place in wanted) if data else ()

    def _wants_representation(self, name: str) -> bool:
        matched = [glob for glob, folded in self._representations if fnmatchcase(name.casefold(), folded)]
        self._open -= {("--ir", glob) for glob in matched}
        return bool(matched) or not self._representations


def _split(event: ResultEvent) -> list[ResultEvent]:
    """One event for each executable."""
    return [
        replace(event, result=replace(event.result, executables=(executable,)), data=event.data[place : place + 1])
        for place, executable in enumerate(event.result.executables)
    ]


def _regroup(rows: Iterable[ResultEvent]) -> list[ResultEvent]:
    """Undo `_split`: one event for each result, where its first row stood; executables in the driver's order."""
    groups: dict[tuple[str, str | None], list[ResultEvent]] = {}
    for row in rows:
        groups.setdefault((row.result.pipeline, row.result.target), []).append(row)
    events = []
    for group in groups.values():
        group.sort(key=lambda row: row.result.executables[0].index)
        result = replace(group[0].result, executables=tuple(row.result.executables[0] for row in group))
        events.append(replace(group[0], result=result, data=tuple(data for row in group for data in row.data)))
    return events
