"""Plain data in, C structs out. The one place where create infos are made.

The conventions of the plain data are those of `shaderstat.pipeline.spec`. What to do with a value is decided by the C
type of the member; ``sType``, counts and pointers are filled in from the registry. An `Arena` owns every allocation
until the call is over: cffi keeps nothing alive that is merely pointed to, and a dangling pointer shows as a wrong
number, not as an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from shaderstat.errors import Unsupported
from shaderstat.registry import vulkan as registry

from .binding import NULL, extra_ffi, ffi

CData = type(NULL)


class Part(NamedTuple):
    """How one member is set.

    Attributes:
        kind: ``scalar``, ``struct`` (by value), ``array`` (fixed) or a kind of pointer: ``handle``, ``string``,
            ``data`` (void), ``pointed`` (one struct), ``structs``, ``numbers``, ``handles``, ``strings``, ``other``.
        type: vk.xml's base type.
        c_type: the member's own.
        array_type: of arrays behind pointers: what to allocate; `item_size` in bytes.
        counter: the member that holds the array's length, or "".
        in_bytes: whether that counts bytes.
    """

    kind: str
    type: str
    c_type: Any
    array_type: Any = None
    item_size: int = 1
    counter: str = ""
    in_bytes: bool = False


class Layout(NamedTuple):
    """A struct: `ffi` is the one that declares it."""

    name: str
    s_type: int | None
    members: Mapping[str, Part]
    ffi: Any
    c_type: str


class Arena:
    """Keeps allocations alive until it is dropped: after the call that reads them, and no sooner.

    Attributes:
        handles: what an index stands for where a handle is wanted: ``{"VkShaderModule": [...]}``.
    """

    def __init__(self, handles: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.handles = handles or {}
        self._kept: list[Any] = []

    def own(self, value: Any) -> Any:
        """Keep `value` alive and give it back."""
        self._kept.append(value)
        return value

    def new(self, c_type: Any, initial: Any = None) -> Any:
        """``ffi.new``, kept alive."""
        return self.own(ffi.new(c_type, initial))

    def copy(self, data: bytes) -> Any:
        """A copy of `data`, aligned to 8 bytes, never NULL."""
        buffer = self.new("uint64_t[]", (len(data) + 7) // 8 or 1)
        ffi.memmove(buffer, data, len(data))
        return buffer

    def build(self, name: str, plain: Mapping[str, Any]) -> Any:
        """A pointer to a struct of Vulkan's type `name` made of `plain`.

        Raises:
            Unsupported: ``vulkan/state``: an unknown struct, member or name, a value of the wrong kind, arrays that
                disagree about their common count.
        """
        layout = struct_layout(name)
        pointer = self.own(layout.ffi.new(layout.c_type + " *"))
        self._fill(pointer[0], layout, plain, name)
        return pointer

    def _fill(self, target: Any, layout: Layout, plain: Mapping[str, Any], where: str) -> None:
        if not isinstance(plain, Mapping):
            raise _bad(f"{where} wants the members of {layout.name} by name, not {plain!r:.60}")
        if layout.s_type is not None:
            target.sType = layout.s_type
        counts: dict[str, int] = {}
        for key, value in plain.items():
            part = layout.members.get(key)
            if part is None:
                raise _bad(f"{where}: {layout.name} has no member {key!r}", _nearest(key, layout.members))
            try:
                if part.kind == "scalar":
                    setattr(target, key, _scalar(part.type, value))
                elif part.kind == "struct":
                    self._fill(getattr(target, key), struct_layout(part.type, layout.ffi), value, f"{where}.{key}")
                elif part.kind == "array":
                    self._fixed_array(getattr(target, key), part, layout.ffi, value, f"{where}.{key}")
                elif key == "pNext":
                    target.pNext = self._chain(layout, value, f"{where}.pNext")
                else:
                    setattr(target, key, self._pointer(part, layout.ffi, value, counts, f"{where}.{key}"))
            except (TypeError, OverflowError, ValueError) as error:
                raise _bad(f"{where}.{key} can't be {value!r:.60}: {error}") from None
        for count, number in counts.items():
            if plain.get(count, number) != number:
                raise _bad(f"{where}.{count} is {plain[count]}, but its array has {number}")
            setattr(target, count, number)

    def _chain(self, layout: Layout, structs: Iterable[Any] | None, where: str) -> Any:
        """``[[name, dict], …]``, linked in that order."""
        first = NULL
        for name, plain in reversed(list(structs or ())):
            struct = registry.struct(name)
            if struct is None or layout.name not in struct.extends:
                raise _bad(f"{where}: {name} does not extend {layout.name}")
            if "pNext" in plain:
                raise _bad(f"{where}: {name} has a pNext of its own, but a chain is one flat list")
            pointer = self.build(name, plain)
            pointer.pNext = first
            first = pointer
        return first

    def _pointer(self, part: Part, owner: Any, value: Any, counts: dict[str, int], where: str) -> Any:
        """What goes into a pointer or handle; the length of an array goes into `counts`."""
        if value is None:
            return NULL
        if isinstance(value, CData):
            return value
        kind = part.kind
        if kind == "handle":
            return self._handle(part.type, value)
        if kind == "string":
            return self.own(owner.new("char[]", _text(value)))
        if kind == "pointed":
            pointer = self.own(owner.new(part.c_type))
            self._fill(pointer[0], struct_layout(part.type, owner), value, where)
            return pointer
        if isinstance(value, bytes) and kind in ("data", "numbers"):
            array = owner.cast(part.c_type, self.copy(value))
            size = len(value)
        elif isinstance(value, (list, tuple)) and kind in ("structs", "numbers", "handles", "strings"):
            array = self._array(part, owner, value, where) if value else NULL
            size = len(value) * part.item_size
        else:
            raise TypeError(f"{part.type} does not take a {type(value).__name__}")
        if part.counter:
            number = size if part.in_bytes else size // part.item_size
            known = counts.setdefault(part.counter, number)
            if known != number and known and number:  # an empty array is one that is not there
                raise _bad(f"{where} has {number}, another array that shares {part.counter} has {known}")
            counts[part.counter] = max(known, number)
        return array

    def _array(self, part: Part, owner: Any, values: Sequence[Any], where: str) -> Any:
        array = self.own(owner.new(part.array_type, len(values)))
        for index, each in enumerate(values):
            if part.kind == "structs":
                self._fill(array[index], struct_layout(part.type, owner), each, f"{where}[{index}]")
            elif part.kind == "numbers":
                array[index] = _scalar(part.type, each)
            elif part.kind == "handles":
                array[index] = self._handle(part.type, each)
            else:
                array[index] = self.own(owner.new("char[]", _text(each)))
        return array

    def _handle(self, type: str, value: Any) -> Any:
        if value is None or isinstance(value, CData):
            return NULL if value is None else value
        known = self.handles.get(type, ())
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(known):
            raise ValueError(f"there are {len(known)} of {type}")
        return known[value]

    def _fixed_array(self, target: Any, part: Part, owner: Any, value: Any, where: str) -> None:
        """``float blendConstants[4]``, ``uint8_t identifier[32]``, ``float matrix[3][4]``."""
        if isinstance(value, (str, bytes)):
            data = value if isinstance(value, bytes) else value.encode()
            room = owner.buffer(target)
            if len(data) > len(room):
                raise ValueError(f"there is room for {len(room)} bytes")
            room[: len(data)] = data
        elif not isinstance(value, (list, tuple)) or len(value) > len(target):
            raise ValueError(f"a list of at most {len(target)} is wanted")
        else:
            for index, each in enumerate(value):
                if isinstance(each, (list, tuple)):
                    self._fixed_array(target[index], part, owner, each, f"{where}[{index}]")
                elif isinstance(each, Mapping):
                    self._fill(target[index], struct_layout(part.type, owner), each, f"{where}[{index}]")
                else:
                    target[index] = _scalar(part.type, each)


# ── Layouts: what the C types say ─────────────────────────────────────────────────────────────────────────────────


@cache
def struct_layout(name: str, owner: Any = None) -> Layout:
    """The layout of a struct, by today's name or an alias, as `owner` declares it (by default, whichever FFI does).

    Raises:
        Unsupported: ``vulkan/state``: no such struct.
    """
    struct = registry.struct(name)
    if struct is None:
        raise _bad(f"no struct is called {name}", _nearest(name, registry.struct_names()))
    for candidate in (owner,) if owner is not None else (ffi, extra_ffi):
        for c_type in (struct.name, *struct.aliases):
            if _has_type(candidate, c_type):
                fields = candidate.typeof(c_type).fields
                members = {
                    # cffi renames nothing, and vk.xml's members are the C members
                    key: _part(candidate, field.type, struct.members[key])
                    for key, field in fields
                    if key != "sType"
                }
                return Layout(struct.name, struct.s_type, members, candidate, c_type)
    raise _bad(f"{name} has no C type here")


def _has_type(owner: Any, name: str) -> bool:
    try:
        owner.typeof(name)
    except owner.error:
        return False
    return True


def _part(owner: Any, c_type: Any, member: registry.Member) -> Part:
    type = member.type
    if c_type.kind in ("struct", "union"):
        return Part("struct", type, c_type)
    if c_type.kind == "array":
        return Part("array", type, c_type)
    if c_type.kind != "pointer":
        return Part("scalar", type, c_type)
    item = c_type.item
    # "codeSize/4" counts words, and codeSize bytes; "(rasterizationSamples+31)/32" has no member of its own.
    length = re.fullmatch(r"(\w+)(/4)?", member.length)
    known_struct = registry.struct(type) is not None
    if member.length and item.kind == "pointer":
        kind = "strings" if type == "char" else "handles"
    elif type == "char":
        kind = "string"
    elif type == "void":
        kind = "data"
    elif item.kind == "function":
        kind = "other"
    elif known_struct:
        kind = "structs" if member.length else "pointed"
    elif item.kind in ("primitive", "enum"):
        kind = "numbers"
    else:
        kind = "handle"
    if kind not in ("structs", "numbers", "handles", "strings"):
        return Part(kind, type, c_type, counter=length[1] if length else "", in_bytes=True)
    return Part(
        kind,
        type,
        c_type,
        array_type=owner.typeof(owner.getctype(item, "[]")),
        item_size=owner.sizeof(item),
        counter=length[1] if length else "",
        in_bytes=bool(length and length[2]),
    )


# ── Values ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _scalar(type: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return registry.value(type, value)
    except KeyError as error:
        missing = str(error.args[0])
        raise _bad(f"{type} has no {missing}", _nearest(missing, registry.values(type))) from None


def _text(value: Any) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes) or b"\0" in data:
        raise ValueError("text without NUL is wanted")
    return data


def _nearest(name: str, known: Iterable[str]) -> str | None:
    import difflib  # half a millisecond that good states need not spend

    found = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {found[0]}?" if found else None


def _bad(message: str, hint: str | None = None) -> Unsupported:
    return Unsupported("vulkan/state", message, hint=hint)
