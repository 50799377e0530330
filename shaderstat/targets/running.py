"""Which targets run shaders, and which of them count what is executed.

What stands in for a GPU compiles for it and executes nothing: RADV's null device dies of the first command buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.errors import NoTarget
from shaderstat.instrumentation import EXTENSION
from shaderstat.model import Launch
from shaderstat.targets.places import NULL_DEVICE
from shaderstat.wire import Hello


def executes(launch: Launch) -> bool:
    """Whether there is a device behind a launch, as far as can be told without opening it."""
    shimmed = launch.environment.get("LD_PRELOAD", "") or " ".join(launch.prefix)
    stands_in = launch.source in ("null-device", "shim", "tree") or "drm_shim" in shimmed
    return not stands_in and NULL_DEVICE not in launch.environment


def executing(launches: Sequence[Launch]) -> list[Launch]:
    """Those of one target's launches that may run shaders.

    Raises:
        NoTarget: none of them does.
    """
    found = [launch for launch in launches if executes(launch)]
    if not found:
        raise NoTarget(
            f"{launches[0].id}: it only compiles: there is no GPU behind it that could run shaders",
            hint="-t host:0 is a device of this machine; shaderstat targets lists all",
        )
    return found


def check(target: str, launch: Launch, hello: Hello, *, counts: bool) -> None:
    """Refuse a device that can't do what is asked of it.

    Args:
        target: its name in a report.
        counts: whether runs shall be instrumented.

    Raises:
        NoTarget: one line that says what it lacks.
    """
    if hello.offer is not None:
        return
    if launch.backend == "mock":
        raise NoTarget(
            f"{target}: it executes nothing: {EXTENSION} is offered where a scenario says what it would count",
            hint="--scenario FILE with instrumentation: {metrics: [...]}",
        )
    if counts:
        raise NoTarget(
            lacking(target, hello), hint="--no-metrics runs shaders there without it, and --read tells what they wrote"
        )


def lacking(target: str, hello: Hello) -> str:
    """That a device doesn't count, and what it can be asked instead."""
    if hello.offer_remark:
        return f"{EXTENSION} of {target} ({hello.device.name}) can't be used: {hello.offer_remark}"
    line = f"{EXTENSION} is not offered by {target} ({hello.device.name})"
    return f"{line}; executable statistics are" if hello.tells_executables else line
