"""What stands opposite to what: targets, pipelines, executables, statistics.

Nothing here depends on the order in which a report lists things, and swapping the sides gives the same pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shaderstat.compare.sides import Row, Shape, Side, Subject
from shaderstat.model import StatisticInfo, Target, merge
from shaderstat.plain import dataclass

Key = tuple[str, str | None, bool]  # key, unit, whether it judges
Infos = Mapping[tuple[str, str, int], StatisticInfo]

# Variables that choose a GPU or say where a driver lies, and so differ between two ways to the same compiler.
_PLACES = frozenset(
    "RADV_FORCE_FAMILY AMD_FORCE_FAMILY AMDGPU_GPU_ID AMDGPU_ASIC_ID_TABLE_PATHS FD_GPU_ID FD_CHIP_ID NOUVEAU_CHIPSET"
    " NOUVEAU_DISABLE_FENCES LD_PRELOAD VK_DRIVER_FILES VK_ICD_FILENAMES VK_ADD_DRIVER_FILES VK_LOADER_LAYERS_DISABLE"
    " VK_LOADER_DEBUG MESA_SHADER_CACHE_DIR MESA_SHADER_CACHE_DISABLE MESA_GLSL_CACHE_DISABLE __GL_SHADER_DISK_CACHE"
    " __GL_SHADER_DISK_CACHE_PATH".split()
)
# RADV and others put the chip behind the name that is sold: "AMD Radeon RX 6800 (RADV NAVI21)".
_CHIP = re.compile(r"\(([^()]+)\)\s*$")


class Unlike(Exception):
    """What must not be compared: one line for each reason."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = tuple(reasons)


# ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────────


def targets(before: Side, after: Side) -> tuple[list[tuple[Target, Target]], list[str]]:
    """Pairs of targets, in AFTER's order: by name, else by driver and GPU, else what is left if that is one on each
    side. And one line for each reason why a pair, or a target of one side alone, is not to be compared."""
    left, right = dict(before.targets), dict(after.targets)
    pairs = [(left.pop(id), right.pop(id)) for id in list(right) if id in left]
    for id, target in list(right.items()):
        same = [each for each in left.values() if not unlike(each, target)]
        if len(same) == 1:
            pairs.append((left.pop(same[0].id), right.pop(id)))
    if len(left) == len(right) == 1:
        pairs.append((left.popitem()[1], right.popitem()[1]))
    if not before.targets or not after.targets:  # no file of that side made a pipeline
        return [], []
    reasons = [reason for pair in pairs for reason in unlike(*pair)]
    reasons += [f"only BEFORE has the target {id}" for id in left] + [f"only AFTER has the target {id}" for id in right]
    order = {id: place for place, id in enumerate(after.targets)}
    return sorted(pairs, key=lambda pair: order[pair[1].id]), reasons


def unlike(before: Target, after: Target) -> list[str]:
    """Why the numbers of these two can't be set against each other; two versions of one driver for one GPU can."""
    names = f"{before.id} and {after.id}" if before.id != after.id else before.id
    if (before.backend, before.driver.id) != (after.backend, after.driver.id) or (
        not before.driver.id and before.driver.name != after.driver.name
    ):
        return [f"{names}: another driver: {before.driver.name} and {after.driver.name}"]
    if not _same_gpu(before, after):
        return [f"{names}: another GPU: {before.device.name.strip()} and {after.device.name.strip()}"]
    changed = sorted(
        name
        for name in {*before.environment, *after.environment} - _PLACES
        if before.environment.get(name) != after.environment.get(name)
    )
    changed += sorted(
        path for path in {*before.settings, *after.settings} if before.settings.get(path) != after.settings.get(path)
    )
    return [f"{names}: another environment: {', '.join(changed)}"] if changed else []


def _same_gpu(before: Target, after: Target) -> bool:
    chips = [_CHIP.search(each.device.name) for each in (before, after)]
    if chips[0] and chips[1] and chips[0][1].casefold() == chips[1][1].casefold():
        return True
    named = [_gpu(each) for each in (before, after)]
    if named[0] and named[1]:  # devices of a shim may all call themselves the same
        return named[0] == named[1]
    left, right = before.device, after.device
    return (left.name, left.vendor_id, left.device_id) == (right.name, right.vendor_id, right.device_id)


def _gpu(target: Target) -> str:
    """``navi21`` of ``radv@sid:navi21``; empty for what is chosen by its place (``host:0``) or has its own name."""
    _, colon, gpu = target.id.rpartition(":")
    return gpu.casefold() if colon and target.source in ("null-device", "shim", "tree") else ""


# ── Pipelines ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Subjects:
    """Pipelines on both sides, and those on one of them. `renamed`: pairs of different names, a part of `both`."""

    both: tuple[tuple[Subject, Subject], ...]
    new: tuple[Subject, ...]
    gone: tuple[Subject, ...]
    renamed: tuple[tuple[Subject, Subject], ...]


def subjects(before: Side, after: Side) -> Subjects:
    """Match by content, else by name.

    Of several with one content those of one name go together. A copy doesn't take its original's place: where ``a`` was
    copied to ``b`` and then changed, ``a`` is set against ``a``, for the change would be lost otherwise.
    """
    left, right = dict(before.subjects), dict(after.subjects)
    both: list[tuple[Subject, Subject]] = []

    def pair(one: str, other: str) -> None:
        both.append((left.pop(one), right.pop(other)))

    for id in [id for id, subject in right.items() if subject.content and id in left]:
        if left[id].content == right[id].content:
            pair(id, id)
    contents = ({each.content for each in left.values()}, {each.content for each in right.values()})
    changed = {id for id in left if id in right and right[id].content not in contents[0]}
    changed |= {id for id in right if id in left and left[id].content not in contents[1]}
    groups: dict[bytes, tuple[list[str], list[str]]] = {}
    for place, side in enumerate((left, right)):
        for id, subject in side.items():
            if subject.content and id not in changed:
                groups.setdefault(subject.content, ([], []))[place].append(id)
    for ones, others in groups.values():
        for one, other in zip(sorted(ones), sorted(others), strict=False):
            pair(one, other)
    for id in [id for id in right if id in left]:
        pair(id, id)
    if len(before.subjects) == len(after.subjects) == len(left) == 1:
        one, other = next(iter(left)), next(iter(right))
        if left[one].kind == right[other].kind:
            pair(one, other)
    both.sort(key=lambda each: (each[1].id, each[0].id))
    return Subjects(
        both=tuple(both),
        new=tuple(sorted(right.values(), key=lambda each: each.id)),
        gone=tuple(sorted(left.values(), key=lambda each: each.id)),
        renamed=tuple(each for each in both if each[0].id != each[1].id),
    )


# ── Executables ───────────────────────────────────────────────────────────────────────────────────────────────────


def rows(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    """Pairs of executables by stages and order, whatever the driver calls them. Where one side has more of some stages,
    those of one name go together first. Without stages on a side (a table that lacks them) the order alone counts."""
    if not all(row.heading.stages for row in (*before, *after)):
        return _in_order(before, after)
    pairs: list[tuple[Row | None, Row | None]] = []
    for stages in dict.fromkeys(row.heading.stages for row in (*after, *before)):
        left = [row for row in before if row.heading.stages == stages]
        right = [row for row in after if row.heading.stages == stages]
        if len(left) != len(right):
            for row in list(right):
                same = [each for each in left if each.heading.name == row.heading.name]
                if len(same) == 1 and sum(each.heading.name == row.heading.name for each in right) == 1:
                    pairs.append((same[0], row))
                    left.remove(same[0])
                    right.remove(row)
        pairs += _in_order(left, right)
    return pairs


def _in_order(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    common = min(len(before), len(after))
    pairs: list[tuple[Row | None, Row | None]] = list(zip(before, after, strict=False))
    return pairs + [(row, None) for row in before[common:]] + [(None, row) for row in after[common:]]


# ── Statistics ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Statistics:
    """One statistic of two shapes: where it is in each (None: not there), and what both sides know of it."""

    before: int | None
    after: int | None
    info: StatisticInfo


def statistics(before: Shape, after: Shape, known_before: Infos, known_after: Infos) -> tuple[Statistics, ...]:
    """Pairs of statistics by name, else by key and unit, in the order that both drivers' lists make together."""
    left = {column: place for place, column in enumerate(before.columns)}
    infos = (_infos(before, known_before), _infos(after, known_after))
    opposite: dict[int, int] = {
        place: left.pop(column)
        for place, column in enumerate(after.columns)
        if column in left and _same_unit(infos[0][left[column]], infos[1][place])
    }
    # What a driver has renamed: one side's driver doesn't have the one name, the other side's not the other.
    there, here = _names(known_after), _names(known_before)
    by_key = _by_key((place for place in left.values() if before.columns[place][0] not in there), infos[0])
    for place in (place for place in range(len(after.columns)) if place not in opposite):
        if after.columns[place][0] in here:
            continue
        same = by_key.get(_key(infos[1][place]), [])
        if same:
            opposite[place] = same.pop(0)
    names: dict[int, int] = {other: place for place, other in opposite.items()}
    # Before's places become after's where they have one there, so that both lists can be merged into one.
    order: list[tuple[int | None, int | None]] = []
    merge(order, ((opposite.get(place), place) for place in range(len(after.columns))))
    merge(order, ((place, names.get(place)) for place in range(len(before.columns))))
    return tuple(
        Statistics(
            one,
            other,
            agreed(infos[0][one] if one is not None else None, infos[1][other] if other is not None else None),
        )
        for one, other in order
    )


def _same_unit(before: StatisticInfo, after: StatisticInfo) -> bool:
    """Two drivers may count one name's bytes and dwords."""
    return before.unit == after.unit or unknown(before) or unknown(after)


def _names(known: Infos) -> set[str]:
    return {name.strip().casefold() for name, _, _ in known}


def _infos(shape: Shape, known: Infos) -> list[StatisticInfo]:
    return [known.get(key) or StatisticInfo(key[0], key[1], "") for key in shape.formats]


def _key(info: StatisticInfo) -> Key | None:
    return (info.key, info.unit, info.role == "trigger") if info.key is not None else None


def _by_key(places: Iterable[int], infos: Sequence[StatisticInfo]) -> dict[Key | None, list[int]]:
    found: dict[Key | None, list[int]] = {}
    for place in places:
        key = _key(infos[place])
        if key is not None:
            found.setdefault(key, []).append(place)
    return found


def agreed(before: StatisticInfo | None, after: StatisticInfo | None) -> StatisticInfo:
    """What both sides know, under AFTER's name. A side that knows nothing gives way; what they don't agree on isn't
    judged."""
    if before is None or after is None or unknown(before):
        known = after if after is not None else before
        assert known is not None
        return known
    if unknown(after):
        return replace(before, name=after.name, format=after.format, description=after.description)
    if (before.role, before.better) == (after.role, after.better):
        return after
    role = "identity" if "identity" in (before.role, after.role) else "info"
    return replace(after, role=role, better=after.better if before.better == after.better else None)


def unknown(info: StatisticInfo) -> bool:
    """Whether no dictionary knows this statistic."""
    return info.key is info.unit is info.label is info.better is None and info.role == "info"
