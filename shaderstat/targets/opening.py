"""Targets on their way: children start at once, and are waited for when they are needed.

Starting a child is mostly waiting, and a target may have to be tried under several names or be the next best one: all
that can be tried side by side is, while the caller reads its files.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from shaderstat.errors import NoTarget
from shaderstat.model import Diagnostic, Launch, Request, Setup
from shaderstat.plain import dataclass
from shaderstat.pool import Pool
from shaderstat.targets.catalogue import Scenario, automatic, named
from shaderstat.targets.choosing import expand
from shaderstat.targets.running import check, executing
from shaderstat.trees import Tree, installed
from shaderstat.wire import Hello


@dataclass(frozen=True, slots=True)
class Opened:
    """A target whose device is open: the pool's lane, and how it was reached."""

    lane: int
    launch: Launch
    hello: Hello


class Opening:
    """The targets of a request, started, with the devices of one setup.

    Args:
        counts: whether shaders that are run (`Request.execution`) shall be instrumented.

    Raises:
        NoTarget: no target is called so.
        ShaderstatError: a driver manifest can't be read.
    """

    def __init__(
        self, pool: Pool, request: Request, scenario: Scenario | None, setup: Setup, *, counts: bool = True
    ) -> None:
        self._pool = pool
        self._request = request
        self._setup = setup
        self._runs = request.execution is not None
        self._counts = counts
        self._named = [named(name, request, scenario) for name in expand(request.targets, request, counts=counts)]
        self._named = [*{launches[0].id: launches for launches in self._named}.values()]  # one target by two names
        self._automatic = [] if self._named else automatic(request, scenario)
        if self._runs:
            self._named = [executing(launches) for launches in self._named]
            self._automatic = self._automatic[:1]  # the host, or the mock of a scenario: no other executes anything
        self._lanes = {id(launches[0]): self._start(launches[0]) for launches in self._named}
        for launch in self._automatic:
            # A driver tree and the mock come last of the automatic ones, and only when nothing else answers.
            if launch.source in ("tree", "mock") and len(self._automatic) > 1:
                continue
            lane = self._lanes[id(launch)] = self._start(launch)
            if self._pool.lanes[lane].hello is not None:
                break  # known of old to answer: those after it will not be taken

    def wait(self) -> tuple[list[Opened], list[Diagnostic]]:
        """Wait for the devices.

        Returns:
            The targets in the order asked for, and remarks about the choice.

        Raises:
            NoTarget: one that was asked for can't be had; the reason is one line.
        """
        if self._named:
            found, remarks = [self._first(launches) for launches in self._named], []
        else:
            opened, remark = self._best()
            found, remarks = [opened], [remark]
        for one in found if self._runs else ():
            check(target_id(one), one.launch, one.hello, counts=self._counts)
            if one.hello.offer_remark and self._counts:
                remarks.append(Diagnostic("warning", "run/metrics", f"{target_id(one)}: {one.hello.offer_remark}"))
        return found, remarks

    def start_again(self, opened: Opened, setup: Setup) -> int:
        """Start a device of another setup on a target that is open: the lane, not waited for."""
        launch = replace(opened.launch, device=opened.hello.device_index, setup=setup, runs=self._runs)
        return self._pool.add(launch, width=self._width, timeout_s=self._request.timeout_s)

    def _start(self, launch: Launch) -> int:
        launch = replace(launch, setup=self._setup, runs=self._runs)
        return self._pool.add(launch, width=self._width, timeout_s=self._request.timeout_s)

    @property
    def _width(self) -> int:
        """Children per target. Runs are made one at a time unless more are asked for: they share one device, and a
        shader that hangs it takes the others with it."""
        return self._request.jobs or (1 if self._runs else 0)

    def _first(self, launches: list[Launch]) -> Opened:
        """The first launch of one target that answers; the last one's refusal is the target's."""
        lane = self._lanes[id(launches[0])]
        for launch, following in zip(launches, [*launches[1:], None], strict=True):
            try:
                return Opened(lane, launch, self._pool.wait(lane))
            except NoTarget as error:
                if following is None:
                    raise _explained(launch, error) from None
                self._pool.drop(lane)
                lane = self._start(following)
        raise AssertionError("no launches")

    def _best(self) -> tuple[Opened, Diagnostic]:
        """The first of the automatic targets that answers."""
        reasons: list[NoTarget] = []
        for launch in self._automatic:
            lane = self._lanes[id(launch)] if id(launch) in self._lanes else self._start(launch)
            try:
                opened = Opened(lane, launch, self._pool.wait(lane))
            except NoTarget as error:
                self._pool.drop(lane)
                reasons.append(error)
                continue
            for other in self._lanes.values():
                if other != lane:
                    self._pool.drop(other)
            return opened, _chosen(opened, reasons)
        raise reasons[-1]


def target_id(opened: Opened) -> str:
    """The target's name in a report: ``host`` becomes ``host:0``, the device that was taken."""
    return f"host:{opened.hello.device_index}" if opened.launch.id == "host" else opened.launch.id


def _explained(launch: Launch, error: NoTarget) -> NoTarget:
    """A refusal with a hint that fits: where something stands in for the GPU, that it isn't plugged in is no reason."""
    if launch.source not in ("null-device", "shim", "tree"):
        return error
    tree = _tree_of(launch) if launch.source == "tree" else None
    if tree is not None and (_is_damaged(tree, launch) or "SIGBUS" in error.message):
        hint = f"the tree's driver is gone or damaged: shaderstat targets install {tree.name}"
    else:
        hint = "this version of the driver may not know that GPU: shaderstat targets -v lists those that answer"
    return NoTarget(error.message, hint=hint)


def _tree_of(launch: Launch) -> Tree | None:
    manifest = launch.environment.get("VK_DRIVER_FILES", "")
    for tree in installed():
        if isinstance(tree, Tree) and manifest.startswith(f"{tree.folder}/"):
            return tree
    return None


def _is_damaged(tree: Tree, launch: Launch) -> bool:
    """Whether what its driver's manifest names is no shared library."""
    manifest = Path(launch.environment["VK_DRIVER_FILES"])
    try:
        named = json.loads(manifest.read_bytes())["ICD"]["library_path"]
        path = manifest.parent / named if "/" in named else tree.library(named)
        return path is None or not path.read_bytes().startswith(b"\x7fELF")
    except (OSError, ValueError, LookupError, TypeError):
        return True


def _chosen(opened: Opened, reasons: list[NoTarget]) -> Diagnostic:
    if opened.launch.backend == "mock" and reasons:
        return Diagnostic(
            "warning",
            "target/mock",
            f"no GPU compiler can be reached ({reasons[0].message}): these are numbers of the SPIR-V itself",
            hint="for real ones: apt install mesa-vulkan-drivers libvulkan1",
        )
    return Diagnostic("info", "target/chosen", f"target {target_id(opened)}")
