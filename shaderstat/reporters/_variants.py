"""Variants of one pipeline on one target: columns are the specialization values, rows the driver's own statistics."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import Executable, Pipeline, Result, StatisticInfo, merge, numbered
from shaderstat.reporters import _failures, _grid
from shaderstat.reporters._columns import no_room
from shaderstat.reporters._gathered import (
    MISSING,
    UPPER,
    Gathered,
    bound_words,
    cell,
    is_spill,
    stages,
    subgroup,
    title,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import joined
from shaderstat.reporters.text import UNNAMED, Pen, named, printable


def fits(gathered: Gathered) -> bool:
    """Whether there are several variants of one pipeline, on one target, whose executables pair by their stages."""
    pipelines = [gathered.pipelines.get(result.pipeline) for result in gathered.results]
    good = [result for result in gathered.results if result.executables]
    return (
        len(good) > 1
        and all(pipeline is not None and pipeline.variant for pipeline in pipelines)
        and len({pipeline.name for pipeline in pipelines if pipeline}) == 1
        and len({result.pipeline for result in good}) == len(good)
        and len({result.target for result in good}) == 1
        and all(len({each.stages for each in result.executables}) == len(result.executables) for result in good)
    )


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write the table. Returns the variants that do not fit, and what is odd about single numbers."""
    good = [result for result in gathered.results if result.executables]
    pipelines = [gathered.pipelines[result.pipeline] for result in good]
    first = pipelines[0]
    values = [pipeline.variant for pipeline in map(gathered.pipelines.get, _all(gathered)) if pipeline]
    names = [name for name in first.variant if len({each.get(name) for each in values}) > 1]
    fixed = [f"{name}={value}" for name, value in first.variant.items() if name not in names]
    words = [first.kind.replace("_", " ")] if first.kind else []
    words += [*fixed, *bound_words(good)]
    target = gathered.targets.get(good[0].target or "")
    title(named(first.name), printable(" · ".join(words)), target, pen, options)

    labels = {id: _label(gathered.pipelines[id], names) for id in _all(gathered)}
    heads = [[printable(f"{name}={each.variant.get(name, '')}") for name in names] or [""] for each in pipelines]
    shown = _grid.draw(heads, _sections(gathered, good, pipelines), pen, options)
    _failures.below(gathered.results, labels, pen, options)
    remarks = [
        printable(f"{labels[result.pipeline]}: {statistic.name} {cell(statistic, info)}: {statistic.note}")
        for result in (good[i] for i in shown)
        for executable in result.executables
        for statistic, info in joined(executable, gathered.infos(result.target))
        if statistic.note is not None
    ]
    left_out = [labels[result.pipeline] for i, result in enumerate(good) if i not in shown]
    remarks += no_room(left_out)
    return [*remarks, UPPER] if bound_words(good) else remarks


def _all(gathered: Gathered) -> list[str]:
    return [result.pipeline for result in gathered.results]


def _label(pipeline: Pipeline, names: Sequence[str]) -> str:
    return printable(" ".join(f"{name}={pipeline.variant.get(name, '')}" for name in names) or pipeline.id)


def _sections(gathered: Gathered, good: Sequence[Result], pipelines: Sequence[Pipeline]) -> list[_grid.Section]:
    """One for each set of stages, with all statistics in the driver's order."""
    order: dict[tuple[str, ...], None] = {each.stages: None for result in good for each in result.executables}
    sections = []
    for wanted in order:
        executables = [next((each for each in result.executables if each.stages == wanted), None) for result in good]
        found = next(each for each in executables if each is not None)
        sections.append(_grid.Section(stages(found) or "(no stage)", tuple(_rows(gathered, good, executables))))
    sizes = tuple("×".join(map(str, each.workgroup)) if each.workgroup else MISSING for each in pipelines)
    if any(each.workgroup for each in pipelines):
        row = _grid.Row("workgroup", sizes, (False,) * len(sizes))
        sections[0] = _grid.Section(sections[0].title, (row, *sections[0].rows))
    return sections


def _rows(gathered: Gathered, good: Sequence[Result], executables: Sequence[Executable | None]) -> list[_grid.Row]:
    subgroups = tuple(map(subgroup, executables))
    rows = [_grid.Row("subgroup", subgroups, (False,) * len(subgroups))]
    order: list[tuple[str, str, int]] = []
    columns = []
    infos: dict[tuple[str, str, int], StatisticInfo] = {}
    for executable, result in zip(executables, good, strict=True):
        keys = numbered(executable.statistics) if executable else []
        pairs = joined(executable, gathered.infos(result.target)) if executable else []
        merge(order, keys)
        columns.append(dict(zip(keys, (statistic for statistic, _ in pairs), strict=True)))
        infos.update(zip(keys, (info for _, info in pairs), strict=True))
    for key in order:
        info = infos[key]
        found = [column.get(key) for column in columns]
        cells = tuple(cell(each, info) for each in found)
        spills = tuple(each is not None and is_spill(each, info) for each in found)
        more = ", more is better" if info.better == "more" else ""
        rows.append(_grid.Row(named(info.name) or UNNAMED, cells, spills, printable(f"{info.unit or ''}{more}")))
    return rows
