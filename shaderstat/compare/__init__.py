"""Two reports in, a difference out. No input, no output; `shaderstat.compare.sides` makes sides of events.

    difference = compare(collect(before_events), collect(after_events))

Missing is not zero, and unreadable is neither: such cells are changes of their own kind and enter no sum. A change from
zero is a change like any other.
"""

from __future__ import annotations

from fractions import Fraction

from shaderstat.compare import pairs
from shaderstat.compare.difference import Change, Difference, Kind, Lonely, Place, StatusChange, Total, judged
from shaderstat.compare.pairs import Statistics, Unlike
from shaderstat.compare.sides import Collector, Outcome, Row, Shape, Side, Subject, collect
from shaderstat.model import StatisticInfo

__all__ = [
    "Change",
    "Collector",
    "Difference",
    "Lonely",
    "Place",
    "Side",
    "StatusChange",
    "Total",
    "Unlike",
    "collect",
    "compare",
    "judged",
]


def compare(before: Side, after: Side, *, allow_unlike: bool = False) -> Difference:
    """Compare two sides.

    Args:
        allow_unlike: compare even other drivers, GPUs and environments, and a lone stage with one of a pair.

    Raises:
        Unlike: the targets must not be compared.
    """
    targets, reasons = pairs.targets(before, after)
    if reasons and not allow_unlike:
        raise Unlike(reasons)
    subjects = pairs.subjects(before, after)
    difference = Difference(before, after, tuple(targets), subjects.both, subjects.new, subjects.gone, subjects.renamed)
    work = _Comparison(difference, allow_unlike)
    for pair in subjects.both:
        work.subject(pair)
    difference.affected.sort(key=lambda place: place.worst, reverse=True)
    difference.totals.extend(sorted(work.finished(), key=lambda total: _order(total, difference)))
    return difference


def _order(total: Total, difference: Difference) -> tuple[int, int, str]:
    """Target by target, in the driver's order."""
    name = total.infos[0].name
    names = [info.name for target in reversed(difference.targets[total.target]) for info in target.statistics]
    return (total.target, names.index(name) if name in names else len(names), name)


# A pipeline that was not compiled for a target that others were compiled for.
MISSING = Outcome("missing", "", ())


class _Aligned:
    """How two shapes' statistics stand to each other, and which sums they go into."""

    def __init__(self, statistics: tuple[Statistics, ...], totals: _Totals, target: int) -> None:
        self.statistics = statistics
        self.kind = Kind(target, statistics)
        groups: dict[tuple[str, ...], list[Statistics]] = {}
        self.hash: Statistics | None = None
        for each in statistics:
            if each.info.role == "identity":
                if each.info.key == "hash" and None not in (each.before, each.after):
                    self.hash = each
            elif each.info.role != "equality":
                groups.setdefault(_group(each.info), []).append(each)
        self.quantities = [each for each in statistics if each.info.role != "identity"]
        self.sums = [
            (totals.of(target, group, tuple(each.info for each in members)), [(m.before, m.after) for m in members])
            for group, members in groups.items()
        ]


def _group(info: StatisticInfo) -> tuple[str, ...]:
    if info.key is not None and info.role == "trigger":
        return ("key", info.key, info.unit or "")
    return ("name", info.name.strip().casefold())


class _Totals:
    """Sums by target and group."""

    def __init__(self) -> None:
        self._totals: dict[tuple[int, tuple[str, ...]], Total] = {}

    def of(self, target: int, group: tuple[str, ...], infos: tuple[StatisticInfo, ...]) -> Total:
        total = self._totals.get((target, group))
        if total is None:
            total = self._totals[target, group] = Total(target, infos)
        else:
            known = {info.name.casefold() for info in total.infos}
            total.infos += tuple(info for info in infos if info.name.casefold() not in known)
        return total

    def all(self) -> list[Total]:
        return [*self._totals.values()]


class _Comparison:
    """The work on one difference."""

    def __init__(self, difference: Difference, allow_unlike: bool) -> None:
        self._difference = difference
        self._allow_unlike = allow_unlike
        self._totals = _Totals()
        self._aligned: dict[tuple[int, int, int], _Aligned] = {}
        targets = difference.targets
        self._infos = [(difference.before.infos(one.id), difference.after.infos(other.id)) for one, other in targets]
        # Floats are added exactly: a sum must not depend on the order.
        self._exact: dict[int, list[Fraction]] = {}

    def finished(self) -> list[Total]:
        """The totals."""
        totals = self._totals.all()
        for total in totals:
            exact = self._exact.get(id(total))
            if exact is not None:
                total.before, total.after = _plain(exact[0]), _plain(exact[1])
                total.affected = (_plain(exact[2]), _plain(exact[3]))
        return totals

    def subject(self, subject: tuple[Subject, Subject]) -> None:
        """Compare what became of one pipeline, on every target. A file that makes no pipeline has one outcome, which
        stands for all targets."""
        before, after = self._difference.before.outcomes, self._difference.after.outcomes
        nowhere = before.get(None, {}).get(subject[0].id), after.get(None, {}).get(subject[1].id)
        found = False
        for place, (one, other) in enumerate(self._difference.targets):
            old, new = before.get(one.id, {}).get(subject[0].id), after.get(other.id, {}).get(subject[1].id)
            if old is not None or new is not None:
                found = True
                self._outcomes(subject, place, old or nowhere[0] or MISSING, new or nowhere[1] or MISSING)
        if not found:  # one side may have no target at all
            old = nowhere[0] or _anywhere(before, subject[0].id)
            new = nowhere[1] or _anywhere(after, subject[1].id)
            if old is not None or new is not None:
                self._outcomes(subject, None, old or MISSING, new or MISSING)

    def _outcomes(self, subject: tuple[Subject, Subject], target: int | None, old: Outcome, new: Outcome) -> None:
        if old.status != new.status:
            self._difference.statuses.append(StatusChange(subject, target, old, new))
        elif old.status not in ("ok", "skipped"):
            self._difference.unanswered.append(StatusChange(subject, target, old, new))
        elif target is not None:
            for one, other in pairs.rows(old.rows, new.rows):
                if one is not None and other is not None:
                    siblings = sum(row.heading.stages == other.heading.stages for row in new.rows)
                    self._rows(subject, target, one, other, siblings)
                elif one is not None:
                    self._difference.gone_rows.append(Lonely(subject[0], target, one))
                elif other is not None:
                    self._difference.new_rows.append(Lonely(subject[1], target, other))

    def _rows(self, subject: tuple[Subject, Subject], target: int, before: Row, after: Row, siblings: int) -> None:
        difference = self._difference
        aligned = self._alignment(target, before.shape, after.shape)
        place = Place(subject, target, (before, after), siblings, aligned.statistics)
        if before.heading.bound != after.heading.bound and not self._allow_unlike:
            difference.refused.append(place)
            return
        aligned.kind.executables += 1
        changed = before.held != after.held or before.shape.formats != after.shape.formats
        old, new = before.values, after.values
        if changed:
            changed = any(_cell(old, each.before) != _cell(new, each.after) for each in aligned.quantities)
        recoded = not changed and _recoded(aligned.hash, before, after)
        if changed:
            difference.affected.append(place)
        elif recoded:
            difference.recoded.append(place)
        for total, members in aligned.sums:
            self._add(total, members, old, new, changed or recoded)

    def _alignment(self, target: int, before: Shape, after: Shape) -> _Aligned:
        key = (target, id(before), id(after))
        found = self._aligned.get(key)
        if found is None:
            infos = self._infos[target]
            statistics = pairs.statistics(before, after, *infos)
            found = self._aligned[key] = _Aligned(statistics, self._totals, target)
            self._difference.kinds.append(found.kind)
        return found

    def _add(
        self,
        total: Total,
        members: list[tuple[int | None, int | None]],
        old: tuple[object, ...],
        new: tuple[object, ...],
        affected: bool,
    ) -> None:
        before: int | float | Fraction = 0
        after: int | float | Fraction = 0
        found = False
        for one, other in members:
            left = old[one] if one is not None else None
            right = new[other] if other is not None else None
            if isinstance(left, int) and isinstance(right, int):
                before += left
                after += right
                found = True
            elif isinstance(left, int | float) and isinstance(right, int | float):
                before, after = Fraction(before) + Fraction(left), Fraction(after) + Fraction(right)
                found = True
            elif not (left is None and right is None):
                total.left_out += 1
        if not found:
            return
        if before == after:
            total.same += 1
        elif (after > before) == (judged(total.infos[0]) >= 0):
            total.hurt += 1
        else:
            total.helped += 1
        if id(total) in self._exact or isinstance(before, Fraction) or isinstance(after, Fraction):
            exact = self._exact.setdefault(
                id(total), [Fraction(total.before), Fraction(total.after), *map(Fraction, total.affected)]
            )
            exact[0] += Fraction(before)
            exact[1] += Fraction(after)
            if affected:
                exact[2] += Fraction(before)
                exact[3] += Fraction(after)
            return
        total.before += before
        total.after += after
        if affected:
            total.affected = (total.affected[0] + before, total.affected[1] + after)


def _anywhere(outcomes: dict[str | None, dict[str, Outcome]], id: str) -> Outcome | None:
    return next((of_target[id] for of_target in outcomes.values() if id in of_target), None)


def _cell(values: tuple[object, ...], place: int | None) -> object:
    return values[place] if place is not None else None


def _recoded(hash: Statistics | None, before: Row, after: Row) -> bool:
    """Whether the code is another: by the driver's own hash of it, else by what the assembly says."""
    if hash is not None:
        return _cell(before.values, hash.before) != _cell(after.values, hash.after)
    return before.code is not None and after.code is not None and before.code != after.code


def _plain(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)
