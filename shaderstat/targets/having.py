"""Which other compilers have what one lacks, out of what is remembered: nothing is asked for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from shaderstat.model import Request
from shaderstat.targets.listing import Reached, remembered

# Targets that are named; of the others their number is told.
_NAMED = 2


class Having:
    """Looks once, when it is first needed.

    Args:
        request: its variables and its own targets are part of what can be reached.
    """

    def __init__(self, request: Request) -> None:
        self._request = request

    @cached_property
    def _reached(self) -> Sequence[Reached]:
        # What was asked without the variables of --env tells of the targets as they are without them.
        return remembered(self._request) or remembered(replace(self._request, environment={}))

    def hint(self, needs: Collection[str], target: str) -> str:
        """What to say to whoever has asked `target` for more than it has.

        Args:
            needs: as `Answer.needs`: all of it must be there.
        """
        if not self._reached:
            return "shaderstat targets finds out which compilers here have it"
        others = [one for one in self._reached if one.target != target and one.executables]
        found = [one.target for one in others if one.takes.issuperset(needs)]
        if not found:
            return f"none of the {len(others)} other compilers that shaderstat targets lists has it" if others else ""
        chosen = _nearest(found, target)
        more = len(found) - len(chosen)
        names = ", ".join(chosen) + (f" and {more} more" if more else "")
        return f"{names} {'has' if len(found) == 1 else 'have'} it (-t {chosen[0]})"


def _nearest(found: Sequence[str], target: str) -> list[str]:
    """Those to be named: the same GPU before others, then the same driver; the second one of another driver."""
    driver, gpu = _parts(target)
    ranked = sorted(found, key=lambda one: (_parts(one)[1] != gpu, _parts(one)[0] != driver))
    others = [one for one in ranked[1:] if _parts(one)[0] != _parts(ranked[0])[0]]
    return [*ranked[:1], *(others or ranked[1:])][:_NAMED]


def _parts(target: str) -> tuple[str, str]:
    """Driver and GPU of ``radv@sid:navi21``."""
    kind, _, gpu = target.partition(":")
    return kind.partition("@")[0], gpu
