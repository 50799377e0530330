"""Globs among targets' names: ``radv:*``, ``*:*``, ``all``."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from shaderstat.errors import NoTarget
from shaderstat.instrumentation import EXTENSION
from shaderstat.model import Request

ALL = "all"


def expand(names: Sequence[str], request: Request, *, counts: bool = True) -> list[str]:
    """`names` with each glob replaced by the targets that can be reached and match it, each once, in the order given.

    ``all`` is every compiler that can be reached; the mock is none. Where shaders shall run, these are the devices that
    run them, and with `counts` those of them that count.

    Raises:
        NoTarget: a glob that matches nothing.
    """
    if not any(_is_glob(name) for name in names):
        return list(dict.fromkeys(names))
    from shaderstat.targets.listing import listing

    # One's own have no colon in their names: they are asked only where a glob may mean them.
    own = request.own_targets if any(_is_glob(name) and ":" not in name for name in names) else {}
    found_out = listing(request.environment, own=own)
    if request.execution is None:
        reached = [one.target for one in found_out.reached if one.target != "mock" and one.executables]
    elif counts:
        reached = [one.target for one in found_out.reached if one.metrics is not None]
    else:
        reached = [*found_out.runners]
    chosen: dict[str, None] = {}
    for name in names:
        if not _is_glob(name):
            chosen[name] = None
            continue
        found = reached if name == ALL else [one for one in reached if fnmatchcase(one, name)]
        if not found:
            raise _nothing(name, request, found_out.runners, counts=counts)
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _nothing(name: str, request: Request, runners: Sequence[str], *, counts: bool) -> NoTarget:
    """Why a glob matches nothing, and what would: the listing of compilers says neither who counts nor who runs."""
    if request.execution is None:
        return NoTarget(f"no target that can be reached matches {name!r}", hint="shaderstat targets lists them all")
    if not counts:
        words = f"those that do are {', '.join(runners)}" if runners else "apt install mesa-vulkan-drivers brings one"
        return NoTarget(f"no target that can be reached and runs shaders matches {name!r}", hint=words)
    words = (
        f"--no-metrics runs shaders without it, on {', '.join(runners)}" if runners else "no device runs shaders here"
    )
    return NoTarget(f"{name!r} matches no target that can be reached and offers {EXTENSION}", hint=words)


def _is_glob(name: str) -> bool:
    return name == ALL or any(character in name for character in "*?[")
