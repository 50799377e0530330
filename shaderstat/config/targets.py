"""``targets``: compilers under names of one's own, in ``shaderstat.yaml`` or in the user's own ``config.yaml``.

targets:
  mine:
    driver: build/radeon_icd.x86_64.json   # its manifest, relative to this file
    gpu: radv:navi31                       # what it is otherwise like; or, of the Vulkan loader, device: 0
    environment: {RADV_DEBUG: nocache}
  box:
    prefix: ssh box                        # as in a shell, or a list of words; paths are that machine's from here on,
                                           # but a program's, ./run, which is relative to this file
    python: python3.12
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.config.said import find
from shaderstat.errors import ShaderstatError
from shaderstat.model import Request

if TYPE_CHECKING:  # read where there is a file to read
    from shaderstat.config.reader import Node

# What may be said of a target: the words of `shaderstat.targets.own`, which also says what fits together.
MEMBERS = ("driver", "gpu", "device", "environment", "prefix", "python")

# Names without a colon that are nobody's own.
_BUILT_IN = ("host", "mock")

Targets = dict[str, dict[str, Any]]
Check = Callable[[str, Mapping[str, Any]], object]


def with_own(request: Request, check: Check) -> Request:
    """A request that knows the targets which files describe, where one of the names it asks for may be such.

    Raises:
        ShaderstatError: as `read_targets`.
    """
    if not any(":" not in name and name not in _BUILT_IN for name in request.targets):
        return request
    return replace(request, own_targets={**described(request.config, check), **request.own_targets})


def described(manifest: str | None, check: Check) -> Targets:
    """The user's targets, and over them those of the manifest: that one, or the nearest.

    Raises:
        ShaderstatError: as `read_targets`.
    """
    found: Targets = {}
    mine = user_file()
    if os.path.lexists(mine):
        found.update(read_targets(mine, check, only=True))
    manifest = manifest or find()
    if manifest is not None:
        found.update(read_targets(manifest, check))
    return found


def user_file() -> str:
    """Where the user's own configuration is, or would be: ``~/.config/shaderstat/config.yaml``."""
    import platformdirs

    return os.path.join(platformdirs.user_config_dir("shaderstat", appauthor=False), "config.yaml")


def read_targets(path: str, check: Check, *, only: bool = False) -> Targets:
    """The targets that a file describes, as `Request.own_targets` has them; its other parts are not looked at.

    Args:
        check: raises `ShaderstatError` where a name can't be, or settings don't fit together.
        only: the file may say nothing else.

    Raises:
        ShaderstatError: the file can't be read, or says what isn't known here; with its line.
    """
    from shaderstat.config.reader import read

    root = read(path)
    if root is None:
        return {}
    top = root.mapping(("version", "targets")) if only else root.table()
    if only and "version" in top:
        top["version"].integer(1, 1)
    if "targets" not in top:
        return {}
    folder = os.path.dirname(path)
    return {name: _target(name, node, folder, check) for name, node in top["targets"].table().items()}


def _target(name: str, node: Node, folder: str, check: Check) -> dict[str, Any]:
    members = node.mapping(MEMBERS)
    settings = {key: _READ[key](each) for key, each in members.items()}
    if "driver" in settings and "prefix" not in settings:  # behind a prefix it is a path of another machine
        settings["driver"] = os.path.join(folder, os.path.expanduser(settings["driver"]))
    prefix: str | list[str] = settings.get("prefix") or ""
    first = prefix.split()[0] if isinstance(prefix, str) and prefix.strip() else prefix[0] if prefix else ""
    if first.startswith(("./", "../")):  # a program beside this file
        place = os.path.join(folder, first)
        settings["prefix"] = (
            shlex.quote(place) + prefix.lstrip()[len(first) :] if isinstance(prefix, str) else [place, *prefix[1:]]
        )
    try:
        check(name, settings)
    except ShaderstatError as error:
        raise node.error(error.message, error.hint) from None
    return settings


def _words(node: Node) -> str | list[str]:
    return [_handed(each, each.source()) for each in node.items()] if node.is_list else _text(node)


def _variables(node: Node) -> dict[str, str]:
    """Their values as they stand in the file: ``0x10`` and ``yes`` are text to a driver."""
    return {_handed(each, name): _handed(each, each.source()) for name, each in node.table().items()}


def _text(node: Node) -> str:
    return _handed(node, node.text())


def _handed(node: Node, text: str) -> str:
    """What goes to a program or the system."""
    if "\0" in text:
        raise node.error("a NUL character can't be in this text")
    return text


_READ: Mapping[str, Callable[[Node], Any]] = {
    "driver": _text,
    "gpu": _text,
    "device": lambda node: node.integer(),
    "environment": _variables,
    "prefix": _words,
    "python": _text,
}
