"""From a target's name to the launches that may reach it.

mock   host   host:N   DRIVER:GPU   DRIVER@host:GPU   DRIVER@TREE:GPU
"""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import Launch, Request
from shaderstat.targets import chips, own, sandbox
from shaderstat.targets.places import Place, host_places, lacking, tree_places
from shaderstat.trees import Tree
from shaderstat.trees import find as find_tree

Scenario = Mapping[str, Any]

# What is taken when nothing is asked for and no device is here: known to every Mesa since 2020, in every kind of place.
DEFAULT = "navi21"

# A GPU of each driver, for people who see how targets are called.
_EXAMPLES: Mapping[str, str] = {"radv": DEFAULT, "turnip": "a740", "nvk": "ad102", "agx": "g13g"}

# Other words for drivers: the file's, the vendor's.
DRIVERS: Mapping[str, str] = {
    **{name: name for name in chips.CHIPS},
    "freedreno": "turnip",
    "nouveau": "nvk",
    "asahi": "agx",
    "honeykrisp": "agx",
}

# Vendors' and products' words, for who names none of a driver's GPUs.
_VENDORS: Mapping[str, str] = {
    **dict.fromkeys(("amd", "radeon", "amdgpu"), "radv"),
    **dict.fromkeys(("nvidia", "geforce"), "nvk"),
    **dict.fromkeys(("qualcomm", "adreno"), "turnip"),
    "apple": "agx",
}
# Compilers in whose GPU's place nothing answers: Mesa has no shim for Vulkan there, or Debian doesn't ship it.
_ALONE: Mapping[str, str] = {
    **dict.fromkeys(("anv", "hasvk", "intel"), "an Intel"),
    **dict.fromkeys(("panvk", "mali", "arm"), "a Mali"),
    **dict.fromkeys(("v3dv", "broadcom"), "a VideoCore"),
    **dict.fromkeys(("pvr", "powervr", "img"), "a PowerVR"),
}


def named(name: str, request: Request, scenario: Scenario | None = None) -> list[Launch]:
    """The launches of one target's name, to be tried in order until one opens. All have the same id, the target's name
    as the report will have it.

    Args:
        scenario: what the mock shall answer.

    Raises:
        NoTarget: no target is called so, or what it needs is not on this machine.
        ShaderstatError: the driver manifest can't be read.
    """
    kind, _, rest = name.partition(":")
    driver, at, where = kind.partition("@")
    if name in request.own_targets:
        return [_finish(one, request) for one in _own(name, request)]
    if name == "mock":
        return [_mock(scenario)]
    if kind == "host" and (rest == "" or rest.isdecimal()):
        return [_finish(_host(int(rest) if rest else -1, request), request)]
    if driver in DRIVERS and rest and bool(at) == bool(where):
        return [_finish(one, request) for one in _without_gpu(DRIVERS[driver], where, rest, request)]
    meant = difflib.get_close_matches(name, request.own_targets, n=1)
    raise NoTarget(f"no target is called {name!r}", hint=_meant(meant[0]) if meant else _explain(driver, rest))


def automatic(request: Request, scenario: Scenario | None = None) -> list[Launch]:
    """What is tried, in order, when no target is named: this machine's devices, compilers without a GPU (this
    machine's, then the driver trees'), the mock."""
    if scenario is not None or request.backend == "mock":
        return [_mock(scenario)]
    launches = [_finish(_host(-1, request), request)]
    if request.driver_manifest is None:
        with contextlib.suppress(NoTarget):  # nothing of the kind here: the host's refusal says what to install
            launches += named(f"radv:{DEFAULT}", request)
    if request.backend == "auto" and request.driver_manifest is None:
        launches.append(_mock(None))
    return launches


def usual_name(name: str, request: Request) -> str | None:
    """What people call the GPU that a target's name stands for, or one's own target is like; None where it is none."""
    name = str(request.own_targets.get(name, {}).get("gpu", name))
    kind, _, gpu = name.partition(":")
    driver = DRIVERS.get(kind.partition("@")[0])
    return chips.find(driver, gpu).usual if driver and gpu else None


def _own(name: str, request: Request) -> list[Launch]:
    """The launches of a target that the configuration describes."""

    def built_in(target: str, manifest: str | None) -> list[Launch]:
        plain = replace(request, own_targets={}, environment={}, sandbox=False)
        return named(target, replace(plain, driver_manifest=manifest or request.driver_manifest))

    return own.launches(name, request.own_targets[name], built_in)


def _mock(scenario: Scenario | None) -> Launch:
    return Launch(id="mock", backend="mock", source="mock", scenario=scenario)


def _host(device: int, request: Request) -> Launch:
    manifest = _manifest(request)
    return Launch(
        id="host" if device < 0 else f"host:{device}",
        backend="vulkan",
        source="config" if manifest else "host",
        device=device,
        driver_manifest=manifest,
        environment={"VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest} if manifest else {},
    )


def _without_gpu(driver: str, where: str, gpu: str, request: Request) -> list[Launch]:
    """Every place's launch of one GPU of one driver."""
    chip = chips.find(driver, gpu)
    target = f"{driver}{'@' + where if where else ''}:{chip.name}"
    places, absent = _places(driver, where, target, request)
    if not places:
        raise NoTarget(f"{target}: {absent[0]}", hint=absent[1])
    launches = [launch for place in places if (launch := place.launch(chip, target)) is not None]
    if not launches:
        versions = " and ".join(place.words for place in places)
        known = {one for place in places for one in place.chips()}
        near = [one for one in chips.nearest(driver, gpu, count=60) if one in known][:3] or sorted(
            known, key=lambda one: one.name
        )[:3]
        raise NoTarget(
            f"{target}: {driver} of {versions} does not know this GPU",
            hint=f"nearest: {', '.join(f'{driver}:{one.name}' for one in near)}; shaderstat targets -v lists all",
        )
    return launches


def _places(driver: str, where: str, target: str, request: Request) -> tuple[list[Place], tuple[str, str]]:
    """The places that a name may mean, and what to say where there are none: a reason and a command."""
    manifest = _manifest(request)
    if where and where != "host":
        if manifest is not None:
            raise NoTarget(f"{target}: a driver tree has its own driver, which --driver can't replace")
        tree = find_tree(where)
        return tree_places(driver, tree), _lacking(tree, driver)
    found, absent = host_places(os.environ, driver, manifest)
    if not where and manifest is None:
        found += tree_places(driver)
        absent = absent and (lacking(driver) or absent)
    return found, (absent.reason, absent.command) if absent else ("it can't be reached", "shaderstat targets")


def _lacking(tree: Tree, driver: str) -> tuple[str, str]:
    """Why a tree has no compiler of a driver: it never had, or it has lost something."""
    lost = lacking(driver, tree)
    if lost is not None:
        return lost.reason, lost.command
    return f"the driver tree {tree.name} (Mesa {tree.mesa}) has no {driver}", "shaderstat targets lists what has it"


def _finish(launch: Launch, request: Request) -> Launch:
    """Add the variables of ``--env``; ``--sandbox`` closes it in.

    Raises:
        ShaderstatError: one of them would make another compiler of it, under this one's name.
    """
    if launch.backend == "vulkan" and launch.source != "host":
        own.hold(launch, launch.id, request.environment)
    launch = replace(launch, environment={**launch.environment, **request.environment})
    return sandbox.enclose(launch) if request.sandbox else launch


def _manifest(request: Request) -> str | None:
    """The manifest of ``--driver``, as an absolute path: the loader resolves relative ones against its own folder."""
    if request.driver_manifest is None:
        return None
    path = os.path.abspath(request.driver_manifest)
    if not os.path.isfile(path):
        raise ShaderstatError(f"{request.driver_manifest}: no such driver manifest", hint="name a driver's .json file")
    return path


def _explain(driver: str, rest: str) -> str:
    """What might have been meant: a driver's name misspelt, or a GPU's without its driver."""
    word = rest or driver
    for name, table in chips.CHIPS.items():
        for chip in table.values():
            if word.lower() in (chip.name, *chip.spellings, *chip.aliases):
                return f"that GPU is {name}:{chip.name}"
    if driver in DRIVERS and not rest:
        known = DRIVERS[driver]
        return f"name a GPU of it: {known}:{_EXAMPLES[known]}, or '{known}:*' for all; shaderstat targets lists them"
    if driver.lower() in _VENDORS:
        known = _VENDORS[driver.lower()]
        return f"Mesa's compiler for it is {known}: {known}:{_EXAMPLES[known]}, say; shaderstat targets lists its GPUs"
    if driver.lower() in _ALONE:
        gpu = _ALONE[driver.lower()]
        return f"nothing stands in for {gpu} GPU: where there is one, its driver is host:0 or one of those after it"
    close = difflib.get_close_matches(driver, [*DRIVERS, "host", "mock"], n=1)
    if close:
        return _meant(close[0] + (f":{rest}" if rest else ""))
    examples = ", ".join(f"{name}:{gpu}" for name, gpu in _EXAMPLES.items())
    return f"{examples}, host:0 and mock are such; shaderstat targets lists them all"


def _meant(name: str) -> str:
    return f"did you mean {name}?  shaderstat targets lists them all"
