"""Targets that a user describes: a driver just built, other variables, another machine behind a prefix.

{"driver": "build/radeon_icd.x86_64.json", "gpu": "radv:navi31", "environment": {"RADV_DEBUG": "nocache"}}
{"prefix": "ssh box", "device": 0}
{"prefix": ["podman", "run", "-i", "--rm", "mesa"], "python": "python3.12", "gpu": "radv:navi21"}
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import Launch
from shaderstat.targets import chips
from shaderstat.targets.places import NULL_DEVICE

# Variables that choose the GPU that something stands in for.
CHOOSING = frozenset((NULL_DEVICE, "AMDGPU_GPU_ID", "FD_GPU_ID", "FD_CHIP_ID", "NOUVEAU_CHIPSET"))
# Variables of a launch that don't choose the compiler.
_HARMLESS = frozenset(("XDG_RUNTIME_DIR",))

# No name of a target that is built in has such a form: those have a colon, or are one of the reserved words.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*\Z")
RESERVED = ("all", "auto", "host", "mock")

KEYS: Mapping[str, str] = {
    "driver": "a driver's manifest (.json)",
    "gpu": "a target without a GPU, DRIVER:GPU, that this one is otherwise like",
    "device": "the number of a device of the Vulkan loader",
    "environment": "variables for the driver, NAME: VALUE",
    "prefix": "what the child's command is put behind: words, or a list of them",
    "python": "the interpreter behind the prefix",
}


def launches(
    name: str, settings: Mapping[str, Any], built_in: Callable[[str, str | None], list[Launch]]
) -> list[Launch]:
    """The launches of a target that a user described.

    Args:
        name: what it is called.
        settings: as above; paths are relative to the current folder.
        built_in: gives the launches of a built-in target's name, with another driver's manifest or its own.

    Raises:
        ShaderstatError: the description makes no sense; the message names the target and the key.
        NoTarget: what it refers to is not here.
    """
    settings = check(name, settings)
    try:
        return [replace(one, id=name, source="config") for one in _launches(settings, built_in)]
    except (NoTarget, ShaderstatError) as error:
        error.message = f"target {name}: {error.message}"
        raise


def _launches(settings: Mapping[str, Any], built_in: Callable[[str, str | None], list[Launch]]) -> list[Launch]:
    manifest = settings.get("driver")
    prefix, python = settings.get("prefix", ()), settings.get("python")
    if prefix and settings.get("gpu"):
        found = [_elsewhere(str(settings["gpu"]), manifest)]
    elif settings.get("gpu"):
        found = built_in(str(settings["gpu"]), manifest)
    else:
        found = built_in(f"host:{settings.get('device', 0)}", None if prefix else manifest)
    if prefix:
        # Nothing of this machine's can be presumed there: neither its Python nor its files.
        found = [replace(one, prefix=(*prefix, *one.prefix), python=one.python or python or "python3") for one in found]
        if manifest is not None and not settings.get("gpu"):
            found = [replace(one, driver_manifest=manifest, environment=_only(manifest)) for one in found]
    elif python:
        found = [replace(one, python=python) for one in found]
    if settings.get("gpu"):
        for one in found:
            hold(one, str(settings["gpu"]), settings["environment"])
    return [replace(one, environment={**one.environment, **settings["environment"]}) for one in found]


def hold(launch: Launch, name: str, variables: Mapping[str, str]) -> None:
    """Refuse variables that would make another compiler of a launch, under its name.

    Raises:
        ShaderstatError: such a one.
    """
    for variable, value in variables.items():
        own = launch.environment.get(variable)
        if value != (own if own is not None else "" if variable in CHOOSING else value) and variable not in _HARMLESS:
            by = f"by {variable}={own}" if own is not None else f"without {variable}"
            raise ShaderstatError(
                f"{variable}={value}: {name} is what it is {by}", hint="-t and gpu: name the GPU, --driver a driver"
            )


def check(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every value in its one form.

    Raises:
        ShaderstatError: a name or key that can't be, or a value of the wrong kind.
    """
    if not NAME.match(name) or name in RESERVED:
        raise ShaderstatError(f"{name!r} can't be a target's name", hint="letters, digits, '_', '-', '.' and '+'")
    where = f"target {name}"
    for key in settings:
        if key not in KEYS:
            raise ShaderstatError(f"{where}: no key is called {key!r}", hint=f"there are {', '.join(KEYS)}")
    checked = dict(settings)
    for key in ("driver", "gpu", "python"):
        if key in checked and not (isinstance(checked[key], str) and checked[key]):
            raise ShaderstatError(f"{where}: {key} must be {KEYS[key]}")
    device = checked.get("device", 0)
    if not isinstance(device, int) or isinstance(device, bool) or device < 0:
        raise ShaderstatError(f"{where}: device must be {KEYS['device']}")
    if "device" in checked and "gpu" in checked:
        raise ShaderstatError(f"{where}: gpu and device exclude each other")
    checked["prefix"] = _words(checked.get("prefix", ()), where)
    environment = checked.get("environment", {})
    if not isinstance(environment, Mapping) or not all(
        isinstance(variable, str) and variable and "=" not in variable for variable in environment
    ):
        raise ShaderstatError(f"{where}: environment must be {KEYS['environment']}")
    checked["environment"] = {variable: _text(value) for variable, value in environment.items()}
    return checked


def _words(prefix: object, where: str) -> tuple[str, ...]:
    if isinstance(prefix, str):
        try:
            return tuple(shlex.split(prefix))
        except ValueError as error:
            raise ShaderstatError(f"{where}: prefix: {error}") from None
    if isinstance(prefix, Sequence) and all(isinstance(word, str) for word in prefix):
        return tuple(prefix)
    raise ShaderstatError(f"{where}: prefix must be {KEYS['prefix']}")


def _text(value: object) -> str:
    """YAML reads ``1`` and ``true`` as what they look like; a variable is text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _elsewhere(target: str, manifest: str | None) -> Launch:
    """A compiler without a GPU on a machine that can't be looked at: its null device, under the chip's usual name."""
    driver, _, gpu = target.partition(":")
    if driver != "radv":
        raise ShaderstatError(
            f"{target}: behind a prefix only RADV's null device needs no shim", hint="gpu: radv:navi21"
        )
    chip = chips.find(driver, gpu)
    environment = {NULL_DEVICE: chip.spellings[0], **(_only(manifest) if manifest else {})}
    return Launch(target, "vulkan", "config", environment=environment, driver_manifest=manifest)


def _only(manifest: str) -> dict[str, str]:
    return {"VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest}
