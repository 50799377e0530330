"""What targets can count, asked of their devices: nothing is compiled for it."""

from __future__ import annotations

from dataclasses import replace

from shaderstat.instrumentation import Offer
from shaderstat.model import Device, Diagnostic, Driver, Request, Setup
from shaderstat.plain import dataclass
from shaderstat.pool import Pool
from shaderstat.targets.catalogue import Scenario
from shaderstat.targets.opening import Opening, target_id


@dataclass(frozen=True, slots=True)
class Counting:
    """A target that counts."""

    target: str
    driver: Driver
    device: Device
    offer: Offer


def offers(request: Request, scenario: Scenario | None) -> tuple[list[Counting], list[Diagnostic]]:
    """The metrics of a request's targets, and remarks about the choice of them.

    Raises:
        NoTarget: one of them has none, or can't be had.
    """
    with Pool() as pool:
        opened, notes = Opening(pool, replace(request, execution={}), scenario, Setup()).wait()
        found = [
            Counting(target_id(one), one.hello.driver, one.hello.device, one.hello.offer)
            for one in opened
            if one.hello.offer is not None
        ]
        return found, notes
