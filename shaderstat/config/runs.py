"""Runs in words, from the command line, the library or a manifest: read, laid over each other, checked.

What is said of a run is a mapping from members of `shaderstat.instrumentation.Execution` to their values, but that
``read`` maps slots to files, and ``push`` is a `Fill`. What nobody says is as it is by default; only the size of a
command has none.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from shaderstat.config.wishes import Wrong
from shaderstat.errors import ShaderstatError
from shaderstat.instrumentation import COMMANDS, Command, Execution, Fill, ImageFill, Slot

Said = Mapping[str, Any]
# From a file's name and what to say instead of a file where it isn't there, to what the file holds.
Load = Callable[[str, str], Fill]

# What a buffer may hold, and what is read of a file for one.
MAX_SIZE = 4 << 30
MAX_FILE = 256 << 20
MAX_REPEAT = 1_000_000
# VkPhysicalDeviceLimits may allow less, which the device says itself.
MAX_EXTENT = 1 << 16
_MAX_WORD = 2**32 - 1

# Command → (its option, what stands behind it, the least and the most numbers, and what each counts).
FORMS: Mapping[str, tuple[str, str, int, int, str]] = {
    "dispatch": ("--dispatch", "X,Y,Z", 1, 3, "workgroups"),
    "draw": ("--draw", "VERTICES[,INSTANCES]", 1, 2, "vertices and instances"),
    "draw_mesh_tasks": ("--draw-mesh-tasks", "X,Y,Z", 1, 3, "workgroups"),
    "trace_rays": ("--trace", "W,H,D", 1, 3, "rays"),
}
_FILLS = ("zeros", "random", "iota")
_SUFFIXES = {"": 0, "K": 10, "M": 20, "G": 30}
_NAMES = tuple(field.name for field in fields(Execution))


# ── Words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def command(kind: str, text: str) -> Command:
    """``4,4,1`` or ``4``: what is left out is 1.

    Raises:
        Wrong: another form, or nothing to do.
    """
    _, form, least, most, what = FORMS[kind]
    parts = [part.strip() for part in text.split(",")]
    if not least <= len(parts) <= most or not all(_is_number(part) for part in parts):
        raise Wrong(f"the form is {form}", f"numbers of {what}: {','.join(['64', '4', '1'][:most])}")
    numbers = [int(part) for part in parts]
    if 0 in numbers:
        raise Wrong(f"nothing would run: every number of {what} must be at least 1")
    if max(numbers) > _MAX_WORD:
        raise Wrong(f"{max(numbers)} is beyond 32 bits")
    x, y, z = (*numbers, 1, 1)[:3]
    return Command(kind, (x, y, z))


def extent(text: str) -> tuple[int, int]:
    """``64,64`` or ``64x64``."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*[,x]\s*(\d{1,9})\s*", text, re.ASCII)
    if found is None:
        raise Wrong("the form is W,H", "64,64, for instance")
    return _extent(int(found[1]), int(found[2]))


def repeat(value: int) -> int:
    """How often a command buffer is submitted."""
    if not 1 <= value <= MAX_REPEAT:
        raise Wrong(f"must be 1 to {MAX_REPEAT}")
    return value


def size(text: str) -> int:
    """Bytes: ``4096``, ``4K``, ``2M``."""
    found = re.fullmatch(r"(\d{1,12})([KMG]?)(?:iB|B)?", text, re.ASCII | re.IGNORECASE)
    if found is None:
        raise Wrong(f"{text!r} is no size", "4096, 64K and 2M are such")
    number: int = int(found[1]) << _SUFFIXES[found[2].upper()]
    if not 1 <= number <= MAX_SIZE:
        raise Wrong(f"a size must be 1 byte to 4G, not {text}")
    return number


def slot(text: str) -> Slot:
    """``SET.BINDING``."""
    found = re.fullmatch(r"(\d{1,10})\.(\d{1,10})", text.strip(), re.ASCII)
    if found is None or max(int(found[1]), int(found[2])) > _MAX_WORD:
        raise Wrong(f"{text!r} is no SET.BINDING", "0.1 is binding 1 of set 0")
    return int(found[1]), int(found[2])


def vertex_binding(text: str) -> int:
    """The number of a vertex buffer's binding."""
    if not _is_number(text.strip()):
        raise Wrong(f"{text!r} is no binding's number", "0, for instance")
    return int(text)


def of_file(path: str, hint: str) -> Fill:
    """What a file holds.

    Args:
        hint: what needs no file.

    Raises:
        Wrong: it can't be read, or is empty or too large.
    """
    from shaderstat.config.reader import bytes_of  # with all of YAML

    try:
        data = bytes_of(path, MAX_FILE + 1)
    except OSError as error:
        gone = not os.path.lexists(path)
        raise Wrong(f"{path}: can't be read: {error.strerror}", hint if gone else None) from None
    except ValueError as error:  # a NUL in its name
        raise Wrong(f"{path!r} is not a path: {error}") from None
    except ShaderstatError as error:
        raise Wrong(error.message) from None
    if not data:
        raise Wrong(f"{path}: is empty")
    if len(data) > MAX_FILE:
        raise Wrong(f"{path}: larger than {MAX_FILE >> 20} MiB")
    return Fill("data", len(data), data=data, path=path)


def fill(text: str, load: Load = of_file, *, sized: bool = True) -> Fill:
    """``zeros[:SIZE]``, ``random[:SEED[:SIZE]]``, ``iota[:SIZE]``, or a file.

    Args:
        load: gives what the file of that name holds.
        sized: whether a size may be said; an image has its own.

    Raises:
        Wrong: none of these, or the file can't be read.
    """
    kind, *rest = text.split(":")
    if kind not in _FILLS:
        of_size = ":SIZE" * sized
        return load(text, f"zeros{of_size}, random:SEED{of_size} and iota{of_size} need no file")
    least = 1 if kind == "random" else 0
    if len(rest) > least + sized:
        form = f"{kind}{':SEED' * least}{':SIZE' * sized}"
        raise Wrong(f"the form is {form}", f"a file of that name: ./{text}")
    seed = 0
    if least and rest:
        if not _is_number(rest[0]) or int(rest[0]) > _MAX_WORD:
            raise Wrong(f"the seed must be a number up to {_MAX_WORD}", "random:7:4K, for instance")
        seed = int(rest[0])
    return Fill(kind, size(rest[least]) if len(rest) > least else None, seed)


def image(text: str, load: Load = of_file) -> ImageFill:
    """``WxH[:zeros|random:SEED|iota|FILE]``."""
    head, colon, rest = text.partition(":")
    found = re.fullmatch(r"(\d{1,9})x(\d{1,9})", head, re.ASCII)
    if found is None:
        raise Wrong("the form is WxH[:FILL]", "64x64 and 64x64:random:7 are such")
    content = fill(rest, load, sized=False) if colon else Fill()
    return ImageFill(_extent(int(found[1]), int(found[2])), content)


def push(text: str, load: Load = of_file, there: Callable[[str], bool] = os.path.lexists) -> Fill:
    """Bytes in hexadecimal, or what a file holds.

    Args:
        there: whether there is a file of that name.

    Raises:
        Wrong: neither, or it may be either; the file can't be read.
    """
    digits = re.sub(r"[\s_]", "", text.removeprefix("0x"))
    if not digits or not all(digit in string.hexdigits for digit in digits):
        return load(text, "push constants are hexadecimal digits, two a byte: 0000803f, for instance")
    if len(digits) % 2:
        raise Wrong("hexadecimal digits are wanted, two a byte", f"a file of that name: ./{text}")
    if not text.startswith("0x") and there(text):
        raise Wrong("may be bytes, and is a file's name", f"0x{digits} are the bytes, ./{text} is the file")
    return Fill("data", data=bytes.fromhex(digits))


def assignment(text: str) -> tuple[str, str]:
    """``0.1=…``, at its first ``=``."""
    place, equals, value = text.partition("=")
    if not equals or not value:
        raise Wrong("an = and a value are wanted behind the binding")
    return place, value


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 20


def _extent(width: int, height: int) -> tuple[int, int]:
    if not (1 <= width <= MAX_EXTENT and 1 <= height <= MAX_EXTENT):
        raise Wrong(f"{width}x{height}: 1 to {MAX_EXTENT} texels are wanted each way")
    return width, height


# ── Layers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def said(execution: Execution | Said) -> dict[str, Any]:
    """What a request says of runs, checked.

    Raises:
        ShaderstatError: a member that there is not, or a value that can't be.
    """
    members = (
        {name: getattr(execution, name) for name in _NAMES} if isinstance(execution, Execution) else dict(execution)
    )
    for name in members:
        if name not in _NAMES:
            raise ShaderstatError(f"no member of a run is called {name!r}", hint=f"there are {', '.join(_NAMES)}")
    try:
        _check(members)
    except Wrong as error:
        raise ShaderstatError(f"the run: {error}", hint=error.hint) from None
    if not isinstance(members.get("read", {}), Mapping):
        members["read"] = dict.fromkeys(members["read"])
    if isinstance(members.get("push"), bytes):
        members["push"] = Fill("data", data=members["push"])
    return members


def _check(members: Said) -> None:
    for one in members.get("commands", ()):
        if one.kind not in COMMANDS:
            raise Wrong(f"no command is called {one.kind!r}", f"there are {', '.join(COMMANDS)}")
        most = FORMS[one.kind][3]
        command(one.kind, ",".join(map(str, one.size[:most])))
    if "extent" in members:
        _extent(*members["extent"])
    if "repeat" in members:
        repeat(members["repeat"])
    read = members.get("read", {})
    for path in read.values() if isinstance(read, Mapping) else ():
        if path is not None and "\0" in path:
            raise Wrong(f"{path!r} is not a path: embedded null byte")


def wanted(kind: str, stages: Sequence[str]) -> str:
    """The command that runs such a pipeline."""
    if kind == "compute":
        return "dispatch"
    if kind == "ray_tracing":
        return "trace_rays"
    return "draw_mesh_tasks" if {"mesh", "task"} & {*stages} else "draw"


def merged(layers: Sequence[Said], kind: str) -> dict[str, Any]:
    """What `layers` say, later ones over earlier ones, of a pipeline that takes commands of this kind; no ``commands``
    where no layer has such a one."""
    found: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if name == "commands":
                fitting = tuple(one for one in value if one.kind == kind)
                if fitting:
                    found[name] = fitting
            elif isinstance(value, Mapping):
                found[name] = {**found.get(name, {}), **value}
            else:
                found[name] = value
    return found


def lay(layers: Sequence[Said], kind: str) -> tuple[Execution | None, dict[Slot, str | None]]:
    """The run that `layers` say, as `merged` lays them.

    Returns:
        The run, None where no layer has such a command; and the file for each buffer that is read.
    """
    found = merged(layers, kind)
    read: dict[Slot, str | None] = found.pop("read", {})
    pushed: Fill = found.pop("push", Fill())
    if "commands" not in found:
        return None, read
    return Execution(**found, push=pushed.data, read=tuple(read)), read


def files(layers: Sequence[Said]) -> Iterator[str]:
    """The files that were read for them."""
    for layer in layers:
        fills = [layer.get("push", Fill()), *(image.fill for image in layer.get("images", {}).values())]
        for name in ("buffers", "vertices"):
            fills += layer.get(name, {}).values()
        yield from (one.path for one in fills if one.path)


# ── As options again ──────────────────────────────────────────────────────────────────────────────────────────────


def options(typed: Said) -> Iterator[str]:
    """The words of a command line that says the same. Bytes that no file held stand as ``FILE``."""
    for one in typed.get("commands", ()):
        option, _, _, most, _ = FORMS[one.kind]
        yield from (option, ",".join(map(str, one.size[:most])))
    if "extent" in typed:
        yield from ("--extent", "{},{}".format(*typed["extent"]))
    if "repeat" in typed:
        yield from ("--repeat", str(typed["repeat"]))
    if typed.get("accumulate"):
        yield "--accumulate"
    if typed.get("metrics") is False:
        yield "--no-metrics"
    for (set_, binding), content in typed.get("buffers", {}).items():
        yield from ("--buffer", f"{set_}.{binding}={words(content)}")
    for (set_, binding), pixels in typed.get("images", {}).items():
        yield from ("--image", f"{set_}.{binding}={image_words(pixels)}")
    for binding, content in typed.get("vertices", {}).items():
        yield from ("--vertices", f"{binding}={words(content)}")
    if typed.get("push", Fill()).data:
        yield from ("--push", f"0x{typed['push'].data.hex()}")
    for (set_, binding), path in typed.get("read", {}).items():
        if path is not None:
            yield from ("--read", f"{set_}.{binding}={path}")


def image_words(pixels: ImageFill) -> str:
    """What `image` reads."""
    width, height = pixels.extent or (64, 64)
    return f"{width}x{height}:{words(pixels.fill)}"


def words(content: Fill) -> str:
    """What `fill` reads."""
    if content.kind == "data":
        path = content.path or "FILE"
        return f"./{path}" if path.partition(":")[0] in _FILLS else path
    parts = [content.kind, *([str(content.seed)] if content.kind == "random" else [])]
    return ":".join([*parts, *([str(content.size)] if content.size is not None else [])])
