"""One pipeline on several targets: columns are targets, rows the keys that their drivers share.

Each cell is the driver's own number with its unit. Units differ between drivers, so nothing is summed or ranked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shaderstat.model import Executable, Result, Statistic, StatisticInfo, Target
from shaderstat.reporters import _failures, _grid
from shaderstat.reporters._columns import no_room
from shaderstat.reporters._gathered import (
    MISSING,
    UPPER,
    Gathered,
    bound_words,
    cell,
    is_spill,
    pipeline_words,
    short,
    subgroup,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import joined
from shaderstat.reporters.text import Pen, named, printable

# The order of rows; keys that are not here follow in the drivers' order.
KEYS = (
    "registers",
    "registers_scalar",
    "registers_half",
    "spills",
    "fills",
    "scratch_bytes",
    "shared_bytes",
    "code_size",
    "instructions",
    "cycles",
    "occupancy",
)

# Units as a cell has room for; what stands with its key or label needs none.
_UNITS = {
    "bytes": "B",
    "bytes/workgroup": "B",
    "bytes/subgroup": "B/subgroup",
    "bytes/thread": "B/thread",
    "instructions": "",
    "registers": "",
    "registers/thread": "",
    "registers/subgroup": "",
    "vec4 registers": "vec4",
    "16-bit registers": "× 16 b",
}

# Of a device's name, what the target's already says, or what says nothing.
_NAMED_TWICE = re.compile(r"^(?:AMD Radeon|AMD|Turnip|NVIDIA) |\s*\((?:TM|R|RADV [^)]*)\)|^Null hardware")

Pairs = list[tuple[Statistic, StatisticInfo]]


def fits(gathered: Gathered) -> bool:
    """Whether there is one pipeline, on several targets, whose executables pair by their stages."""
    good = [result for result in gathered.results if result.executables]
    return (
        len({result.pipeline for result in gathered.results}) == 1
        and len({result.target for result in good}) == len(good) > 1
        and all(len(_by_place(result)) == len(result.executables) for result in good)
    )


def _by_place(result: Result) -> dict[tuple[tuple[str, ...], str], Executable]:
    """Executables by their stages; a further one of the same stages by its name too (Turnip's binning shader, which it
    makes of the vertex stage beside the other)."""
    found: dict[tuple[tuple[str, ...], str], Executable] = {}
    for each in result.executables:
        found[each.stages, each.name if (each.stages, "") in found else ""] = each
    return found


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write the table. Returns what it can't tell, and the targets that do not fit."""
    good = [result for result in gathered.results if result.executables]
    pipeline = gathered.pipelines.get(good[0].pipeline)
    bound = bound_words(good)
    words = " · ".join([*([pipeline_words(pipeline)] if pipeline else []), *bound])
    name = named(pipeline.name if pipeline else good[0].pipeline)
    rest = f" · {words}" if words else ""
    pen.words(name + rest, options.width, pen.paint(name, "bold") + rest)

    sections = _sections(gathered, good)
    shown = _grid.draw(_heads(gathered, good), sections, pen, options)
    _failures.below(gathered.results, None, pen, options)

    seen = [good[i] for i in shown]
    remarks = [*_notes(gathered, seen), *_meanings(gathered, seen)]
    left_out = [printable(good[i].target or "") for i in range(len(good)) if i not in shown]
    remarks += no_room(left_out)
    if bound:
        remarks.append(UPPER)
    legend = [f"{MISSING} not reported by that driver"] if _has_gaps(sections, shown) else []
    if len(set(_drivers(gathered, good))) > 1:
        legend.append("Units differ: compare along time, not across")
    remarks.append(".  ".join([*legend, "Every name: --raw"]))
    return remarks


def _has_gaps(sections: Sequence[_grid.Section], shown: Sequence[int]) -> bool:
    return any(row.cells[i] == MISSING for section in sections for row in section.rows for i in shown)


def _drivers(gathered: Gathered, results: Sequence[Result]) -> list[int | str | None]:
    """VkDriverId, or what there is in its place, of each result."""
    targets = [gathered.targets.get(result.target or "") for result in results]
    return [(target.driver.id or target.driver.name) if target else None for target in targets]


def _notes(gathered: Gathered, results: Sequence[Result]) -> list[str]:
    """What is odd about single numbers."""
    return [
        printable(f"{result.target}: {info.label or info.name} {cell(statistic, info)}: {statistic.note}")
        for result in results
        for executable in result.executables
        for statistic, info in joined(executable, gathered.infos(result.target))
        if statistic.note is not None and info.key is not None
    ]


def _meanings(gathered: Gathered, results: Sequence[Result]) -> list[str]:
    """What stands behind one key where drivers count different things under it."""
    lines = []
    for key in ("spills", "fills", "cycles"):
        meant: dict[str, dict[str, None]] = {}
        for result in results:
            for executable in result.executables:
                for _, info in _pick(key, joined(executable, gathered.infos(result.target))):
                    note = info.note or ""
                    words = f"{short(info)} ({note})" if key == "cycles" and note else note
                    meant.setdefault(words or (short(info) if key == "cycles" else ""), {})[result.target or ""] = None
        if len(meant) > 1:
            told = [f"{words} on {', '.join(targets)}" for words, targets in meant.items() if words]
            lines.append(printable(f"{key}: {'; '.join(told)}"))
    return lines


def _heads(gathered: Gathered, results: Sequence[Result]) -> list[list[str]]:
    """What stands above each column: the target, its device where the name tells more, its driver's version."""
    heads = [_head(gathered.targets.get(result.target or ""), result) for result in results]
    named = any(device for _, device, _ in heads)
    return [[id, device, version] if named else [id, version] for id, device, version in heads]


def _head(target: Target | None, result: Result) -> tuple[str, str, str]:
    if target is None:
        return printable(result.target or ""), "", ""
    device = target.gpu or _NAMED_TWICE.sub("", target.device.name).strip()
    driver = target.driver
    version = driver.version if target.source == "mock" else driver.info or driver.version
    if version[:1].isdigit():
        version = f"{driver.name} {version}"
    return printable(target.id), printable(device), printable(version)


def _sections(gathered: Gathered, good: Sequence[Result]) -> list[_grid.Section]:
    """One for each set of stages, and for what else a driver makes of one."""
    places = [_by_place(result) for result in good]
    order = {place: None for its in places for place in its}
    drivers = _drivers(gathered, good)
    sections = []
    for stages, name in order:
        executables = [its.get((stages, name)) for its in places]
        pairs = [
            joined(executable, gathered.infos(result.target)) if executable else []
            for executable, result in zip(executables, good, strict=True)
        ]
        rows = (_subgroups(executables), *(row for key in _keys(pairs) for row in _rows(key, pairs, drivers)))
        heading = "+".join(stages) or "(no stage)"
        sections.append(_grid.Section(f"{heading}, {named(name)}" if name else heading, rows))
    return sections


def _subgroups(executables: Sequence[Executable | None]) -> _grid.Row:
    sizes = tuple(map(subgroup, executables))
    return _grid.Row("subgroup", sizes, (False,) * len(sizes))


def _keys(columns: Sequence[Pairs]) -> list[str]:
    found = {info.key: None for pairs in columns for _, info in pairs if info.key and info.role != "identity"}
    return [*(key for key in KEYS if key in found), *(key for key in found if key not in KEYS)]


def _rows(key: str, columns: Sequence[Pairs], drivers: Sequence[int | str | None]) -> list[_grid.Row]:
    """One row of a key; or one for each statistic, where a driver judges its GPUs by different ones: what is given out
    and what is needed are two quantities."""
    picked = [_pick(key, pairs) for pairs in columns]
    label = key.removesuffix("_bytes").replace("_", " ")
    judges = {
        (driver, tuple(info.name for _, info in pairs)): pairs
        for driver, pairs in zip(drivers, picked, strict=True)
        if pairs
    }
    if len(judges) == len({driver for driver, _ in judges}):
        return [_row(label, picked)]
    rows = []
    for (of, names), pairs in judges.items():
        same = [
            [pair for pair in column if pair[1].key == key and pair[1].name in names and driver == of]
            for driver, column in zip(drivers, columns, strict=True)
        ]
        rows.append(_row(f"{label}, {' + '.join(short(info) for _, info in pairs)}", same))
    return rows


def _row(label: str, picked: Sequence[Pairs]) -> _grid.Row:
    more = any(info.better == "more" for pairs in picked for _, info in pairs)
    spills = tuple(any(is_spill(*pair) for pair in pairs) for pairs in picked)
    return _grid.Row(label + (" ↑" if more else ""), tuple(map(_cell, picked)), spills)


def _pick(key: str, pairs: Pairs) -> Pairs:
    """The statistics that judge by a key, or the first that has it."""
    of_key = [pair for pair in pairs if pair[1].key == key]
    return [pair for pair in of_key if pair[1].role == "trigger"] or of_key[:1]


def _cell(pairs: Pairs) -> str:
    """``24 VGPRs``, ``616 B``, ``0 + 12`` where two statistics judge by the key."""
    if not pairs:
        return MISSING
    value = " + ".join(cell(statistic, info) for statistic, info in pairs)
    info = pairs[0][1]
    if info.key in ("spills", "fills"):
        return value
    unit = "" if info.unit == info.key else _UNITS.get(info.unit or "", info.unit or "")
    if not unit and info.key in ("registers", "registers_scalar", "registers_half"):
        unit = info.label or ""
    return printable(f"{value} {unit}".rstrip())
