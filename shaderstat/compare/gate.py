"""``--fail-on``: how much worse a statistic may become.

    registers:+5%      may rise by 5 %
    spills:+0          may not rise
    occupancy:-1       may fall by 1
    code_size:64       may get worse by 64, whichever way that is

A name is a statistic's own, or its short one, or a key, which stands for those statistics that judge by it. Globs work.
"""

from __future__ import annotations

import re
from dataclasses import field
from fnmatch import fnmatchcase
from fractions import Fraction

from shaderstat.compare.difference import Change, Difference, Place, judged
from shaderstat.compare.pairs import Statistics
from shaderstat.model import StatisticInfo
from shaderstat.plain import dataclass

_FORM = re.compile(r"(?P<sign>[+-]?)(?P<amount>\d+(?:\.\d+)?)(?P<percent> ?%)?")


@dataclass(frozen=True, slots=True)
class Gate:
    """One ``--fail-on``. `sign` is 1 where a rise is the regression, -1 where a fall is, 0 for what is known."""

    text: str
    statistic: str
    sign: int
    amount: Fraction
    percent: bool


@dataclass(slots=True)
class Gated:
    """What a gate came to.

    Attributes:
        checked: how many statistics of executables it looked at.
        breaches: where more changed for the worse than it allows.
        unjudged: where one side has no number, or a half of one.
        problem: why it can't be applied at all, as a sentence.
    """

    gate: Gate
    checked: int = 0
    breaches: list[tuple[Place, Change]] = field(default_factory=list)
    unjudged: list[tuple[Place, Change]] = field(default_factory=list)
    problem: str | None = None


def parse(text: str) -> Gate:
    """``STATISTIC:[+-]NUMBER[%]``.

    Raises:
        ValueError: it is not of that form.
    """
    statistic, colon, rest = text.rpartition(":")
    found = _FORM.fullmatch(rest.strip())
    if not colon or not statistic.strip() or found is None:
        raise ValueError(f"{text!r} is not of the form STATISTIC:+NUMBER or STATISTIC:+NUMBER%")
    sign = {"+": 1, "-": -1, "": 0}[found["sign"]]
    return Gate(text, statistic.strip(), sign, Fraction(found["amount"]), found["percent"] is not None)


def matching(statistics: tuple[Statistics, ...], name: str) -> list[Statistics]:
    """The statistics that `name` stands for: by their own names, else by short ones, else those that judge by a key."""
    folded = name.strip().casefold()
    found = [each for each in statistics if fnmatchcase(each.info.name.strip().casefold(), folded)]
    found = found or [each for each in statistics if fnmatchcase((each.info.label or "").casefold(), folded)]
    return found or [each for each in statistics if judged(each.info) and _has_key(each.info, folded)]


def _has_key(info: StatisticInfo, folded: str) -> bool:
    return fnmatchcase((info.key or "").casefold(), folded.replace(" ", "_"))


def judge(difference: Difference, gates: list[Gate]) -> list[Gated]:
    """Hold a difference against the gates, in their order."""
    return [_judge(difference, gate) for gate in gates]


def _judge(difference: Difference, gate: Gate) -> Gated:
    gated = Gated(gate)
    chosen: dict[int, frozenset[int]] = {}
    for kind in difference.kinds:
        found = [each for each in matching(kind.statistics, gate.statistic) if each.info.role != "identity"]
        for each in found:
            gated.problem = gated.problem or _contradiction(gate, each.info)
        chosen[id(kind.statistics)] = frozenset(id(each.info) for each in found)
        gated.checked += len(found) * kind.executables
    if not gated.checked and difference.compared:
        gated.problem = _nothing(difference, gate)
    if gated.problem is not None:
        return gated
    for place in difference.affected:
        infos = chosen[id(place.statistics)]
        for change in place.changes() if infos else ():
            if id(change.info) in infos:
                breach = _breaks(gate, change)
                if breach is None:
                    gated.unjudged.append((place, change))
                elif breach:
                    gated.breaches.append((place, change))
    return gated


def _breaks(gate: Gate, change: Change) -> bool | None:
    """Whether a change is worse than a gate allows; None where that can't be told."""
    before, after = change.before, change.after
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return None
    sign = gate.sign or judged(change.info)
    if (after > before) != (sign > 0):
        return False
    allowed = abs(Fraction(before)) * gate.amount / 100 if gate.percent else gate.amount
    return abs(Fraction(after) - Fraction(before)) > allowed


def _contradiction(gate: Gate, info: StatisticInfo) -> str | None:
    direction = judged(info)
    if gate.sign and direction and gate.sign != direction:
        less = direction > 0
        other = gate.text.replace(":-", ":+") if less else gate.text.replace(":+", ":-")
        return f"{gate.text}: {'less' if less else 'more'} of {info.name} is better: {other}"
    if not gate.sign and not direction:
        return f"{gate.text}: nobody knows whether more or less of {info.name} is better: say :+ or :-"
    return None


def _nothing(difference: Difference, gate: Gate) -> str:
    """Why a gate has nothing to look at."""
    folded = gate.statistic.casefold()
    infos = [each.info for kind in difference.kinds for each in kind.statistics]
    informs = sorted({info.name for info in infos if info.key is not None and _has_key(info, folded)})
    if informs:
        return f"{gate.text}: what has this key only informs; {' or '.join(informs)} can be named instead"
    there = sorted({info.key or info.name for info in infos if judged(info)})
    return f"{gate.text}: matched nothing; there are {', '.join(there)}" if there else f"{gate.text}: matched nothing"
