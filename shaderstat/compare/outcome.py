"""What a comparison comes to in the end: the exit status, and why."""

from __future__ import annotations

from dataclasses import field

from shaderstat.compare.difference import Difference, StatusChange
from shaderstat.compare.gate import Gated
from shaderstat.compare.view import View
from shaderstat.plain import dataclass

# Statuses of pipelines of which nothing is known.
BAD = frozenset({"invalid", "failed", "crashed", "timeout", "missing"})


@dataclass(frozen=True, slots=True)
class DiffOutcome:
    """A difference, how to look at it, and what the gates say of it.

    Attributes:
        strict: any difference is bad (``--exit-code``).
    """

    difference: Difference
    view: View = field(default_factory=View)
    gated: tuple[Gated, ...] = ()
    strict: bool = False
    reproduce: tuple[str, ...] = ()

    @property
    def distrust(self) -> list[str]:
        """Why the answer, or a part of it, can't be relied on: one line each."""
        difference = self.difference
        lines = [
            f"{side.label}: was cut off: what is missing in it is not compared"
            for side in (difference.before, difference.after)
            if not side.complete
        ]
        lines += [
            f"{place.subject[1].id} {'+'.join(place.rows[1].heading.stages)}: a stage that was compiled alone is not"
            " compared with one of a pair: --allow-unlike"
            for place in difference.refused
        ]
        if not difference.both and (difference.new or difference.gone):
            lines.append("no pipeline is on both sides, by content or by name")
        for side in (difference.before, difference.after):
            if side.live:
                bad = sum(each.status in BAD for of_target in side.outcomes.values() for each in of_target.values())
                if bad:
                    lines.append(f"{side.label}: {bad} {'was' if bad == 1 else 'were'} not answered")
        for gated in self.gated:
            if gated.problem is not None:
                lines.append(f"--fail-on {gated.problem}")
            if gated.unjudged:
                place, change = gated.unjudged[0]
                more = f" and {len(gated.unjudged) - 1} more" if len(gated.unjudged) > 1 else ""
                lines.append(
                    f"--fail-on {gated.gate.text}: {place.subject[1].id}: {change.info.name} is no number on both sides"
                    f"{more}"
                )
        if self.gated:
            lines += [
                f"--fail-on can't be answered for {each.subject[1].id}: {each.before.status} became {each.after.status}"
                for each in difference.statuses
                if lost(each)
            ]
            lines += [
                f"--fail-on can't be answered for {subject.id}, which is new: {status}"
                for subject in difference.new
                for status in _bad_statuses(difference, subject.id)
            ]
        return lines

    @property
    def status(self) -> int:
        """0: the difference is told and nothing is wrong with it. 1: it is bad. 2: it can't be relied on."""
        if self.distrust:
            return 2
        broken = any(gated.breaches for gated in self.gated)
        return int(broken or (self.strict and not self.difference.is_empty))


def lost(change: StatusChange) -> bool:
    """Whether what was answered is so no more."""
    return change.before.status == "ok" and change.after.status != "ok"


def _bad_statuses(difference: Difference, id: str) -> list[str]:
    found = [of_target[id].status for of_target in difference.after.outcomes.values() if id in of_target]
    return sorted({status for status in found if status in BAD})
