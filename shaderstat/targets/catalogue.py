"""From a target's name to the launches that may reach it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import Launch, Request
from shaderstat.targets import radv

Scenario = Mapping[str, Any]


def named(name: str, request: Request, scenario: Scenario | None = None) -> list[Launch]:
    """The launches of one target's name, to be tried in order until one opens.

    Args:
        scenario: what the mock shall answer.

    Raises:
        NoTarget: no target is called so, or what it needs is not on this machine.
        ShaderstatError: the driver manifest can't be read.
    """
    kind, _, rest = name.partition(":")
    if name == "mock":
        return [_mock(scenario)]
    if kind == "host" and (rest == "" or rest.isdecimal()):
        return [_host(int(rest) if rest else -1, request)]
    if kind == "radv" and rest:
        manifest = _manifest(request)
        return [_with_environment(one, request) for one in radv.launches(rest, {**os.environ}, manifest)]
    raise NoTarget(
        f"no target is called {name!r}",
        hint="host:0 (a device of the Vulkan loader), radv:navi21 (RADV's null device) and mock are",
    )


def automatic(request: Request, scenario: Scenario | None = None) -> list[Launch]:
    """What is tried, in order, when no target is named: host devices, RADV's null device, the mock."""
    if scenario is not None or request.backend == "mock":
        return [_mock(scenario)]
    launches = [_host(-1, request)]
    if request.driver_manifest is None:
        with contextlib.suppress(NoTarget):  # no RADV here: the host's refusal says what to install
            launches += named(f"radv:{radv.DEFAULT}", request)[:1]
    if request.backend == "auto" and request.driver_manifest is None:
        launches.append(_mock(None))
    return launches


def _mock(scenario: Scenario | None) -> Launch:
    return Launch(id="mock", backend="mock", source="mock", scenario=scenario)


def _host(device: int, request: Request) -> Launch:
    manifest = _manifest(request)
    launch = Launch(
        id="host" if device < 0 else f"host:{device}",
        backend="vulkan",
        source="config" if manifest else "host",
        device=device,
        driver_manifest=manifest,
        environment={"VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest} if manifest else {},
    )
    return _with_environment(launch, request)


def _with_environment(launch: Launch, request: Request) -> Launch:
    """The variables of ``--env`` win over the launch's own."""
    return replace(launch, environment={**launch.environment, **request.environment})


def _manifest(request: Request) -> str | None:
    """The manifest of ``--driver``, as an absolute path: the loader resolves relative ones against its own folder."""
    if request.driver_manifest is None:
        return None
    path = os.path.abspath(request.driver_manifest)
    if not os.path.isfile(path):
        raise ShaderstatError(f"{request.driver_manifest}: no such driver manifest", hint="name a driver's .json file")
    return path
