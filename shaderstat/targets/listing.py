"""Every compiler that can be reached from here, and why others can't.

Each is asked once, and the answer remembered while the driver's files stay the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any

from shaderstat._version import __version__
from shaderstat.environment import layered, recorded, shaping
from shaderstat.errors import ShaderstatError
from shaderstat.model import Device, Driver, Launch, Request
from shaderstat.plain import dataclass
from shaderstat.targets import manifests, memory
from shaderstat.targets.catalogue import DEFAULT, named, usual_name
from shaderstat.targets.chips import CHIPS
from shaderstat.targets.places import Absent, Place, all_places
from shaderstat.targets.probe import Trial, identity, try_all
from shaderstat.targets.running import executes
from shaderstat.trees import HalfBuilt, Tree, installed
from shaderstat.trees.launch import cache_home


@dataclass(frozen=True, slots=True)
class Reached:
    """A compiler that has answered.

    Attributes:
        target: its name; the short one where that means it, ``radv@sid:navi21`` where ``radv:navi21`` is another.
        gpu: the product's usual name, or the device's own.
        where: for people: ``loader``, ``null device``, ``tree sid``, ``built in``, ``described``.
        alike: a hash of its answer to the trial: targets of one driver that share it are one compiler, as far as seen.
        takes: what modules may ask of it, in the words of `Answer.needs`.
        executables: whether it tells any; a device that only runs shaders doesn't.
        metrics: how many VK_ARM_shader_instrumentation has there; None where it isn't offered.
        per_basic_block: whether they are counted for each basic block.
    """

    target: str
    gpu: str
    driver: Driver
    device: Device
    source: str
    where: str
    statistics: bool
    representations: bool
    alike: str
    takes: frozenset[str] = frozenset()
    executables: bool = True
    metrics: int | None = None
    per_basic_block: bool = False


@dataclass(frozen=True, slots=True)
class Unreached:
    """What can't be reached: which targets, why, and the command that would change it ("" where nothing would)."""

    targets: tuple[str, ...]
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class Listing:
    """All of it.

    Attributes:
        refused: GPUs that a driver's files speak of and the driver itself refuses.
        runners: names of the targets that execute shaders. Those that neither tell executables nor count anything are
            no compilers, and not among `reached`.
    """

    reached: tuple[Reached, ...]
    unreached: tuple[Unreached, ...]
    refused: tuple[Unreached, ...]
    trees: tuple[Tree | HalfBuilt, ...]
    runners: tuple[str, ...] = ()

    @property
    def default(self) -> str | None:
        """The target that is taken when none is asked for, as `shaderstat.targets.catalogue.automatic` does."""
        names = [one.target for one in self.reached if one.executables]
        host = next((name for name in names if name.startswith("host:")), None)
        return host or next((name for name in (f"radv:{DEFAULT}", "mock") if name in names), None)


@dataclass(frozen=True, slots=True)
class _Group:
    """What is asked and remembered together: one driver in one place, a target that the user describes, or (neither)
    the loader's devices.

    Attributes:
        own: the name of the user's target; `launches` are the ways to reach it, in order.
        key: what it is remembered by.
        identity: of the files and variables that an outcome depends on; what is remembered under another one is stale.
        keep: the folder to remember it in.
    """

    place: Place | None
    key: str
    identity: str
    keep: Path
    own: str = ""
    launches: tuple[Launch, ...] = ()

    def believes(self, outcomes: memory.Outcomes) -> bool:
        """Whether what is remembered still holds. Of another machine's state no file here tells."""
        elsewhere = any(one.prefix for one in self.launches)
        return not elsewhere or any(not trial.problem for trials in outcomes.values() for trial in trials)


def listing(
    environment: Mapping[str, str] | None = None,
    *,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    again: bool = False,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> Listing:
    """Find out, or remember.

    Args:
        environment: variables of ``--env``: a driver may need them to answer at all.
        own: targets that the user describes, as `Request.own_targets`.
        again: ask even where the answer is remembered.
        progress: told how many of how many compilers have been asked, where any is.
    """
    request = Request((), environment=dict(environment or {}), own_targets=own or {})
    groups, absent, unknown = _groups(request)
    memories, known = _recall(groups)
    if again:
        known = {}
    asked = [group for group in groups if group.key not in known]
    work = [(group, name, launch) for group in asked for name, launch in _launches(group, request.environment)]
    if work:
        found = try_all([launch for _, _, launch in work], lambda done: progress(done, len(work)))
        for (group, name, _), trials in zip(work, found, strict=True):
            known.setdefault(group.key, {})[name] = trials
    for folder in {group.keep for group in asked}:
        fresh = {group.key: (group.identity, known.get(group.key, {})) for group in asked if group.keep == folder}
        memory.remember(folder, {**memories[folder], **fresh})
    found_out = _draw_up(groups, known, absent, request)
    return replace(found_out, unreached=(*found_out.unreached, *unknown))


def remembered(request: Request) -> tuple[Reached, ...]:
    """What `listing` would say can be reached, as far as that needs no asking; without the mock. Empty where nothing
    has been asked yet, or everything is stale."""
    groups, absent, _ = _groups(request)
    _, known = _recall(groups)
    found = _draw_up([group for group in groups if group.key in known], known, absent, request)
    return tuple(one for one in found.reached if one.source != "mock")


def _groups(request: Request) -> tuple[list[_Group], list[Absent], list[Unreached]]:
    """Everything to ask, the drivers that are nowhere, and targets of one's own that make no sense."""
    around = {**os.environ, **request.environment}
    places, absent = all_places(around)
    groups = [_loader(around), *(_without_gpu(place, around) for place in places)]
    unknown: list[Unreached] = []
    for name in request.own_targets:
        try:
            groups.append(_described(name, request, around))
        except ShaderstatError as error:
            unknown.append(Unreached((name,), error.message.removeprefix(f"{name}: "), error.hint or ""))
    return groups, absent, unknown


def _recall(groups: Sequence[_Group]) -> tuple[dict[Path, memory.Memory], dict[str, memory.Outcomes]]:
    """What the groups' folders remember, and what of it still holds, by the groups' keys."""
    memories = {folder: memory.recall(folder) for folder in {group.keep for group in groups}}
    known = {
        group.key: memories[group.keep][group.key][1]
        for group in groups
        if memories[group.keep].get(group.key, ("", {}))[0] == group.identity
        and group.believes(memories[group.keep][group.key][1])
    }
    return memories, known


def _loader(around: Mapping[str, str]) -> _Group:
    """The devices that the Vulkan loader shows by itself. Which there are depends on the machine, too."""
    seen = manifests.visible(around)
    files = [*seen, *(library for one in seen if (library := manifests.library(one)) is not None)]
    files += sorted(glob("/dev/dri/*") + glob("/dev/nvidia*") + glob("/dev/kfd") + glob("/dev/dxg"))
    loader = manifests.shared_library("libvulkan.so.1")
    return _Group(None, "loader", identity([*files, loader or "no loader"], _heard(around)), cache_home())


def _without_gpu(place: Place, around: Mapping[str, str]) -> _Group:
    keep = cache_home() if place.tree is None else place.tree.folder
    key = f"{place.driver} {place.words}{'' if place.shim else ' without a shim'}"
    return _Group(place, key, identity(place.files, recorded(around)), keep)


def _described(name: str, request: Request, around: Mapping[str, str]) -> _Group:
    """A target that the user describes.

    Raises:
        ShaderstatError: what it refers to is not here, or makes no sense.
    """
    launches = tuple(named(name, request))
    seen = dict.fromkeys(one.driver_manifest for one in launches if one.driver_manifest is not None)
    files = [*seen, *(library for one in seen if (library := manifests.library(one)) is not None)]
    shape = {**_heard(around), "": repr([(one.prefix, one.python, one.environment, one.device) for one in launches])}
    return _Group(None, f"own {name}", identity(files, shape), cache_home(), name, launches)


def _heard(around: Mapping[str, str]) -> dict[str, str]:
    """The variables that a device's answer to a trial depends on; with layers these are all, as `shaping` says."""
    return shaping(around) if layered(around) else recorded(around)


def _launches(group: _Group, extra: Mapping[str, str]) -> Iterator[tuple[str, Launch]]:
    """Every launch of a group, and the chip's name."""
    if group.own:
        yield from ((str(place), replace(one, runs=executes(one))) for place, one in enumerate(group.launches))
        return
    if group.place is None:
        yield "", Launch("host", "vulkan", "host", device=-1, environment=extra, runs=True)
        return
    for chip in group.place.chips():
        launch = group.place.launch(chip, group.place.target(chip))
        if launch is not None:
            yield chip.name, replace(launch, environment={**launch.environment, **extra})


# ── Drawing it up ─────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_up(
    groups: Sequence[_Group], known: Mapping[str, memory.Outcomes], absent: Sequence[Absent], request: Request
) -> Listing:
    reached: list[Reached] = []
    unreached: list[Unreached] = []
    refused: list[Unreached] = []
    runners: list[str] = []
    taken: set[str] = set()
    # Where a driver answers: Mesa 26.1's RADV still knows the null device's variable, but only to say that it is gone.
    answering = {_abode(one.place) for one in groups if one.place is not None and _answered(known.get(one.key, {}))}
    for group in groups:
        outcomes = known.get(group.key, {})
        if group.own:
            trials = [found[0] for found in outcomes.values()]
            if any(executes(group.launches[int(place)]) and found[0].answered for place, found in outcomes.items()):
                runners.append(group.own)
            best = next((one for one in trials if not one.problem), trials[-1])
            if best.problem:
                unreached.append(Unreached((group.own,), _without_name(best.problem), ""))
            if not best.problem or best.metrics is not None:
                gpu = usual_name(group.own, request) or best.device.name
                reached.append(_reached(group.own, gpu, "config", "described", best))
            continue
        if group.place is None:
            for trial in outcomes.get("", []):
                if trial.answered:
                    runners.append(f"host:{trial.index}")
                if trial.problem:
                    unreached.append(_not_by_loader(trial.problem))
                if not trial.problem or trial.metrics is not None:
                    reached.append(_reached(f"host:{trial.index}", trial.device.name, "host", "loader", trial))
            continue
        answered = _answered(outcomes)
        for name, trials in outcomes.items():
            chip = CHIPS[group.place.driver].get(name)
            if chip is None:
                continue
            short, long = f"{chip.driver}:{chip.name}", group.place.target(chip)
            if name in answered and long not in taken:  # a tree may have a GPU over its shim and as a null device
                target = short if short not in taken else long
                taken |= {short, long}
                reached.append(_reached(target, chip.usual, group.place.source, group.place.words, trials[0]))
            elif name not in answered:
                refused.append(Unreached((long,), _without_name(trials[0].problem), ""))
        if outcomes and _abode(group.place) not in answering:
            first = next(iter(outcomes.values()))[0]
            again = f"shaderstat targets install {group.place.tree.name}" if group.place.tree else ""
            reason = f"{group.place.words}: {_without_name(first.problem)}"
            unreached.append(Unreached((f"{group.place.driver}:*",), reason, again))
    refused = [one for one in refused if taken.isdisjoint(one.targets)]
    unreached += _missing(absent)
    trees = tuple(installed())
    unreached += [
        Unreached((f"*@{one.name}:*",), one.reason, f"shaderstat targets install {one.name}")
        for one in trees
        if isinstance(one, HalfBuilt)
    ]
    reached.append(_mock())
    return Listing(tuple(reached), tuple(unreached), tuple(refused), trees, tuple(runners))


def _answered(outcomes: memory.Outcomes) -> list[str]:
    """The chips of one place that have answered."""
    return [name for name, trials in outcomes.items() if not trials[0].problem]


def _abode(place: Place) -> tuple[str, str | None]:
    """A driver and the tree that it is in, whatever stands in for its GPUs there; None for this machine."""
    return place.driver, place.tree.name if place.tree else None


def _reached(target: str, gpu: str, source: str, where: str, trial: Trial) -> Reached:
    return Reached(
        target=target,
        gpu=gpu.strip(),
        driver=trial.driver,
        device=trial.device,
        source=source,
        where=where,
        statistics=trial.statistics,
        representations=trial.representations,
        alike=trial.answers,
        takes=trial.takes,
        executables=not trial.problem,
        metrics=trial.metrics,
        per_basic_block=trial.per_basic_block,
    )


def _mock() -> Reached:
    driver = Driver(0, "shaderstat", __version__, "")
    device = Device("the SPIR-V itself", 0, 0, "other", "", "")
    return Reached("mock", device.name, driver, device, "mock", "built in", True, True, "")


def _not_by_loader(problem: str) -> Unreached:
    """A device of the loader that can't answer, or no device at all."""
    said = _without_name(problem)
    if said.startswith("llvmpipe"):  # Mesa's lavapipe never had it, up to 26.2
        return Unreached(("llvmpipe",), "has no VK_KHR_pipeline_executable_properties, in any version", "")
    name, has_no, rest = said.partition(" has no VK_")
    if has_no:
        return Unreached((name,), f"has no VK_{rest.partition(':')[0]}", "")
    command = "apt install libvulkan1" if "no Vulkan loader" in said else ""
    return Unreached(("host:*",), said, command or "apt install mesa-vulkan-drivers")


def _without_name(problem: str) -> str:
    """A launch's problem without the launch's name in front, and without the manifest that it was held to."""
    problem = re.sub(r" in VK_[A-Z_]+=\S+", "", problem)
    head, _, rest = problem.partition(": ")
    return rest if rest and " " not in head else problem


def _missing(absent: Sequence[Absent]) -> list[Unreached]:
    """Drivers that have no place here; those that want the same, together."""
    together: dict[tuple[str, str], list[str]] = {}
    for one in absent:
        together.setdefault((one.reason, one.command), []).append(f"{one.driver}:*")
    return [Unreached(tuple(names), reason, command) for (reason, command), names in together.items()]
