"""What of a difference is shown, and in which order: the same for every format that people read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from fractions import Fraction

from shaderstat.compare.difference import Change, Difference, Place, judged
from shaderstat.compare.pairs import unknown
from shaderstat.model import StatisticInfo
from shaderstat.plain import dataclass

SORTS = ("percent", "absolute", "name")


@dataclass(frozen=True, slots=True)
class View:
    """How to look at a difference.

    Attributes:
        all: show statistics that only inform, hashes, and what changed its code alone, too.
        statistics: globs over a statistic's name, label and key; only those, whatever their role.
        sort: one of `SORTS`, or a statistic's name: the greatest change of that first.
        top: so many executables of each section.
        threshold: leave out changes that are smaller; those from zero and those without a ratio stay.
    """

    all: bool = False
    statistics: tuple[str, ...] = ()
    sort: str = "percent"
    top: int | None = None
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """The smallest change that is shown: so much, or so many percent."""

    amount: Fraction
    percent: bool

    def hides(self, change: Change) -> bool:
        ratio = change.ratio
        if ratio is None:
            return False
        if self.percent:
            return abs(ratio) * 100 < self.amount
        assert isinstance(change.before, int | float) and isinstance(change.after, int | float)
        return abs(change.after - change.before) < self.amount


@dataclass(frozen=True, slots=True)
class Entry:
    """An executable in a section, with those of its changes that belong there."""

    place: Place
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One target's sections, and what they leave out: `small` and `informing` count executables that have nothing to
    show but changes below the threshold, or of statistics that only inform; `cut` those beyond the top."""

    worse: tuple[Entry, ...]
    better: tuple[Entry, ...]
    changed: tuple[Entry, ...]
    small: int
    informing: int
    cut: int


def threshold(text: str) -> Threshold:
    """``5%`` or ``16``.

    Raises:
        ValueError: it is neither.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(%?)", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is neither a number nor a percentage")
    return Threshold(Fraction(found[1]), bool(found[2]))


def names(info: StatisticInfo) -> tuple[str, ...]:
    """What a statistic may be called, case folded: name, label, key."""
    return tuple(name.strip().casefold() for name in (info.name, info.label, info.key) if name)


def wants(view: View, info: StatisticInfo) -> bool:
    """Whether a statistic's changes are shown: those that judge or that nobody knows, or those that are named."""
    if view.statistics:
        return any(fnmatchcase(name, glob.casefold()) for glob in view.statistics for name in names(info))
    return view.all or judged(info) != 0 or unknown(info)


def shown(difference: Difference, view: View, target: int) -> Shown:
    """The sections of one of the difference's targets."""
    sections: dict[str, list[Entry]] = {"worse": [], "better": [], "changed": []}
    small = informing = 0
    for place in difference.affected:
        if place.target != target:
            continue
        wanted = [change for change in place.changes() if wants(view, change.info)]
        limit = view.threshold
        large = [change for change in wanted if limit is None or not limit.hides(change)]
        informing += not wanted
        small += bool(wanted) and not large
        for verdict, entries in sections.items():
            changes = tuple(sorted((one for one in large if one.verdict == verdict), key=lambda one: one.before != 0))
            if changes:
                entries.append(Entry(place, changes))
    cut = 0
    for entries in sections.values():
        _sort(entries, view.sort)
        if view.top is not None:
            cut += len(entries[view.top :])
            del entries[view.top :]
    worse, better, changed = (tuple(entries) for entries in sections.values())
    return Shown(worse, better, changed, small, informing, cut)


def _sort(entries: list[Entry], sort: str) -> None:
    if sort == "name":
        entries.sort(key=lambda entry: entry.place.subject[1].id)
    elif sort == "absolute":
        entries.sort(key=lambda entry: max(map(_absolute, entry.changes)), reverse=True)
    elif sort == "percent":
        entries.sort(key=lambda entry: max(change.size for change in entry.changes), reverse=True)
    else:
        folded = sort.strip().casefold()

        def size(entry: Entry) -> tuple[int, float]:
            found = [change.size for change in entry.changes if folded in names(change.info)]
            return max(found, default=(0, 0.0))

        entries.sort(key=size, reverse=True)


def _absolute(change: Change) -> float:
    """How much a number moved; beyond all of them where one side has none."""
    if isinstance(change.before, int | float) and isinstance(change.after, int | float):
        return abs(change.after - change.before)
    return float("inf")


def unmatched(difference: Difference, view: View) -> Sequence[str]:
    """One line for each glob and sort that no statistic has, where there are statistics."""
    infos = {id(each.info): each.info for kind in difference.kinds for each in kind.statistics}.values()
    known = {name for info in infos for name in names(info)}
    if not known:
        return []
    lines = [
        f"--stat {glob}: matched nothing"
        for glob in view.statistics
        if not any(fnmatchcase(name, glob.casefold()) for name in known)
    ]
    if view.sort not in SORTS and view.sort.strip().casefold() not in known:
        lines.append(f"--sort {view.sort}: matched nothing")
    return lines
