"""A record's JSON as create infos under Vulkan's names, and back: one table for both ways.

Fossilize writes numbers where Vulkan has names, and names for members that are nearly Vulkan's: ``viewports`` for
``pViewports``. What differs more stands in `FIELDS`; what each member is (a number, structs, a handle) the registry
knows.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shaderstat.archive.layouts import FIELDS, Field, arrays, chained, counter, fields, fields_by_json
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.registry import vulkan

# What a handle is in a create info: given Vulkan's type and the hash, an index; and back. Of a sampler that stands
# where it is used, given VkSamplerCreateInfo and its members, those as a spec has them; and back.
FromHash = Callable[[str, Any], Any]
ToHash = Callable[[str, Any], Any]

NULL_HASH = "0000000000000000"
_HASH = re.compile(r"[0-9a-fA-F]{1,16}")
_SIGNED = {"int32_t": 32, "int64_t": 64, "int": 32}
_FLOATS = {"float", "double"}
_FIXED = {"blendConstants": 4, "combinerOps": 2}  # arrays in the struct itself
_WIDE = {"size_t", "uint64_t", "VkDeviceSize", "VkDeviceAddress"}


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def read(struct: str, record: Any, where: str, from_hash: FromHash) -> dict[str, Any]:
    """A record as the members of `struct`.

    Args:
        where: the place in the payload, for messages: ``graphicsPipelines.….stages[0]``.
        from_hash: gives what stands for a handle; it may raise.

    Raises:
        InvalidSpirv: ``archive/value``: not of the kind that it must be.
        Unsupported: ``archive/unknown-structure``, ``archive/unknown-member`` or ``archive/unknown-value``.
    """
    if not isinstance(record, dict):
        raise bad(where, "an object is wanted")
    known = fields_by_json(struct)
    plain: dict[str, Any] = {}
    for json, value in record.items():
        field = known.get(json)
        if field is None:
            if json == "pNext":
                chain = _read_chain(value, f"{where}.pNext", from_hash)
                if chain:
                    plain["pNext"] = chain
            elif json != "sType":
                raise Unsupported(
                    "archive/unknown-member",
                    f"{where}: {json!r:.60} is not known; the pipeline would not be what was captured without it",
                )
        elif json == "flags" and value == 0:
            pass  # says nothing, and nearly all are so
        elif field.kind == "number" and type(value) is int and (field.type, value) in _known:
            plain[field.member] = _known[field.type, value]  # nearly all that there is, so that a place would be wasted
        else:
            special = _SPECIAL.get((struct, json)) or _SPECIAL.get((field.type, ""))
            its_read = special[0] if special is not None else partial(_read, field)
            plain[field.member] = its_read(value, f"{where}.{json}", from_hash)
    return plain


def _read_chain(value: Any, where: str, from_hash: FromHash) -> list[list[Any]]:
    chain: list[list[Any]] = []
    for place, each in enumerate(listed(value, where)):
        at = f"{where}[{place}]"
        s_type = each.get("sType") if isinstance(each, dict) else None
        if not isinstance(s_type, int):
            raise bad(at, "an object with an sType is wanted")
        name = chained(s_type)
        if name is None:
            raise Unsupported(
                "archive/unknown-structure",
                f"{at}: no structure with sType {s_type} is known; the pipeline would not be what was captured"
                " without it",
            )
        if any(name == other for other, _ in chain):  # VUID-…-sType-unique
            raise bad(at, f"a second {name}")
        chain.append([name, read(name, each, at, from_hash)])
    return chain


def _read(field: Field, value: Any, where: str, from_hash: FromHash) -> Any:
    kind, type = field.kind, field.type
    if kind == "number":
        return number(type, value, where)
    if kind == "numbers":
        return [number(type, each, f"{where}[{place}]") for place, each in enumerate(listed(value, where))]
    if kind == "pointer":
        return [number(type, value, where)]
    if kind == "struct":
        return read(type, value, where, from_hash)
    if kind == "structs":
        return [read(type, each, f"{where}[{place}]", from_hash) for place, each in enumerate(listed(value, where))]
    if kind == "handle":
        return _read_handle(type, value, where, from_hash)
    if kind == "handles":
        return [_read_handle(type, each, f"{where}[{n}]", from_hash) for n, each in enumerate(listed(value, where))]
    if not isinstance(value, str):
        raise bad(where, "text is wanted")
    if kind == "data":
        return _data(value, where)
    if "\0" in value:
        raise bad(where, "text without NUL is wanted")
    return value


def _read_handle(type: str, value: Any, where: str, from_hash: FromHash) -> Any:
    number = hash_of(value, where)
    return from_hash(type, number) if number else None


def hash_of(value: Any, where: str) -> int:
    """The number behind a reference; 0 stands for none.

    Raises:
        InvalidSpirv: ``archive/value``.
    """
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise bad(where, f"a hash of 16 hexadecimal digits is wanted, not {value!r:.60}")
    return int(value, 16)


def _data(value: str, where: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise bad(where, f"no base64: {error}") from None


def number(type: str, value: Any, where: str) -> Any:
    """A JSON number as a value of Vulkan's `type`: under its name where it has one.

    Raises:
        InvalidSpirv: ``archive/value``.
        Unsupported: ``archive/unknown-value``: an enumeration's, newer than the tables or none at all.
    """
    found = _known.get((type, value)) if isinstance(value, int) else None
    if found is not None:
        return found
    if type in _FLOATS:
        try:
            if not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value):
                return float(value)
        except OverflowError:
            pass  # a whole number that no float holds
        raise bad(where, f"a number is wanted, not {value!r:.60}")
    if isinstance(value, bool):  # VkBool32 is a number here, but who knows
        value = int(value)
    if not isinstance(value, int):
        raise bad(where, f"a whole number is wanted, not {value!r:.60}")
    try:
        found = _named(type, value)
    except OverflowError:
        raise bad(where, f"{value} is out of range for {type}") from None
    if found is value and vulkan.values(type) and not vulkan.is_flags(type):
        raise Unsupported("archive/unknown-value", f"{where}: no {type} that is known here is {value}")
    if len(_known) < _REMEMBERED:
        _known[type, value] = found
    return found


# (type, number) → the number's name, or the number itself.
_known: dict[tuple[str, int], int | float | str] = {}
_REMEMBERED = 1 << 14


def _named(type: str, value: int) -> int | str:
    bits = 64 if type in _WIDE or _is_wide(type) else 32
    low, high = (-(1 << _SIGNED[type] - 1), (1 << _SIGNED[type] - 1) - 1) if type in _SIGNED else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise OverflowError
    if not value and vulkan.is_flags(type):
        return 0
    name = vulkan.name(type, value)
    if name is not None:
        return name
    if vulkan.is_flags(type) and vulkan.values(type):
        names, rest = [], value
        for name, bit in vulkan.values(type).items():
            if bit and bit & (bit - 1) == 0 and rest & bit:
                names.append(name)
                rest &= ~bit
        if not rest:
            return " | ".join(names)
    return value


def _is_wide(type: str) -> bool:
    """The second generation of flags has 64 bits."""
    return re.search(r"(Flags|FlagBits)[2-9]", type) is not None


def listed(value: Any, where: str) -> list[Any]:
    """A list, as it must be.

    Raises:
        InvalidSpirv: ``archive/value``.
    """
    if not isinstance(value, list):
        raise bad(where, "a list is wanted")
    return value


def bad(where: str, what: str) -> InvalidSpirv:
    """``archive/value`` at that place of a payload."""
    return InvalidSpirv("archive/value", f"{where}: {what}")


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def write(struct: str, plain: Mapping[str, Any], to_hash: ToHash) -> dict[str, Any]:
    """The inverse of `read`: every member that Fossilize's own reader insists on is there.

    Raises:
        Unsupported: ``archive/unknown-structure`` or ``archive/unknown-member``: Fossilize has no word for it.
    """
    record: dict[str, Any] = {}
    counts = arrays(struct)
    for field in fields(struct):
        value = plain.get(field.member)
        if value is None and field.member in counts:
            value = max((len(plain.get(each) or ()) for each in counts[field.member]), default=0)
        elif value is None and field.kind == "structs" and not field.optional:
            value = [{}] * plain.get(counter(struct, field.member), 0)
        if value is None and field.optional and field.kind != "handle":
            continue
        special = _SPECIAL.get((struct, field.json)) or _SPECIAL.get((field.type, ""))
        if special is not None:
            record[field.json] = special[1](value, to_hash)
        else:
            record[field.json] = _write(field, value, to_hash)
    own = {field.member for field in fields(struct)}
    for member, value in plain.items():
        if member not in own and member != "pNext" and member not in counts and value is not None:
            raise Unsupported("archive/unknown-member", f"Fossilize's records have no {struct}.{member}")
    chain = [_write_chained(name, members, to_hash) for name, members in plain.get("pNext") or ()]
    if chain:
        record["pNext"] = chain
    return record


def _write_chained(name: str, members: Mapping[str, Any], to_hash: ToHash) -> dict[str, Any]:
    struct = vulkan.struct(name)
    if struct is None or struct.name not in FIELDS:
        raise Unsupported("archive/unknown-structure", f"Fossilize's records have no {name}")
    return {"sType": struct.s_type, **write(struct.name, members, to_hash)}


def _write(field: Field, value: Any, to_hash: ToHash) -> Any:
    kind, type = field.kind, field.type
    if kind == "number":
        return plain_number(type, 0 if value is None else value)
    if kind == "numbers":
        given = list(value or ())
        given += [0] * (_FIXED.get(field.member, 0) - len(given))
        return [plain_number(type, each) for each in given]
    if kind == "pointer":
        return plain_number(type, value[0])
    if kind == "struct":
        return write(type, value or {}, to_hash)
    if kind == "structs":
        return [write(type, each, to_hash) for each in value or ()]
    if kind == "handle":
        return NULL_HASH if value is None else f"{to_hash(type, value):016x}"
    if kind == "handles":
        return [NULL_HASH if each is None else f"{to_hash(type, each):016x}" for each in value or ()]
    if kind == "data":
        return base64.b64encode(value or b"").decode()
    return value.decode() if isinstance(value, bytes) else value or ""


def plain_number(type: str, value: Any) -> Any:
    """A value that may be a name as its number.

    Raises:
        Unsupported: ``archive/value``: no such name.
    """
    if type in _FLOATS:
        return float(value)
    if isinstance(value, str):
        try:
            return vulkan.value(type, value)
        except KeyError as error:
            raise Unsupported("archive/value", f"{type} has no {error.args[0]}") from None
    return int(value)


# ── What the rules do not cover ───────────────────────────────────────────────────────────────────────────────────

_Special = tuple[Callable[[Any, str, FromHash], Any], Callable[[Any, ToHash], Any]]


def _read_rectangles(value: Any, where: str, from_hash: FromHash) -> list[dict[str, Any]]:
    result = []
    for place, each in enumerate(listed(value, where)):
        at = f"{where}[{place}]"
        if not isinstance(each, dict) or not each.keys() <= {"x", "y", "width", "height"}:
            raise bad(at, "x, y, width and height are wanted")
        x, y = (number("int32_t", each.get(side, 0), f"{at}.{side}") for side in ("x", "y"))
        width, height = (number("uint32_t", each.get(side, 0), f"{at}.{side}") for side in ("width", "height"))
        result.append({"offset": {"x": x, "y": y}, "extent": {"width": width, "height": height}})
    return result


def _write_rectangles(value: Any, to_hash: ToHash) -> list[dict[str, Any]]:
    return [
        {side: int(each.get("offset", {}).get(side, 0)) for side in ("x", "y")}
        | {side: int(each.get("extent", {}).get(side, 0)) for side in ("width", "height")}
        for each in value or ()
    ]


def _read_type_lists(value: Any, where: str, from_hash: FromHash) -> list[dict[str, Any]]:
    return [
        {
            "pDescriptorTypes": [
                number("VkDescriptorType", each, f"{where}[{place}]") for each in listed(types, f"{where}[{place}]")
            ]
        }
        for place, types in enumerate(listed(value, where))
    ]


def _write_type_lists(value: Any, to_hash: ToHash) -> list[list[int]]:
    return [[plain_number("VkDescriptorType", one) for one in each.get("pDescriptorTypes") or ()] for each in value]


def _read_colour(value: Any, where: str, from_hash: FromHash) -> dict[str, Any]:
    return {"uint32": [number("uint32_t", each, where) for each in listed(value, where)]}


def _write_colour(value: Any, to_hash: ToHash) -> list[int]:
    """A union of four numbers: as what bits they are."""
    import struct

    for member, code in (("uint32", "I"), ("int32", "i"), ("float32", "f")):
        if (value or {}).get(member) is not None:
            given = list(value[member])
            return list(struct.unpack("=4I", struct.pack(f"=4{code}", *given, *[0] * (4 - len(given)))))
    return [0, 0, 0, 0]


def _read_swizzle(value: Any, where: str, from_hash: FromHash) -> dict[str, Any]:
    given = [number("VkComponentSwizzle", each, where) for each in listed(value, where)]
    if len(given) != 4:
        raise bad(where, "four components are wanted")
    return dict(zip("rgba", given, strict=True))


def _write_swizzle(value: Any, to_hash: ToHash) -> list[int]:
    return [plain_number("VkComponentSwizzle", (value or {}).get(each, 0)) for each in "rgba"]


def _read_embedded(value: Any, where: str, from_hash: FromHash) -> Any:
    return from_hash("VkSamplerCreateInfo", read("VkSamplerCreateInfo", value, where, from_hash))


def _write_embedded(value: Any, to_hash: ToHash) -> Any:
    return write("VkSamplerCreateInfo", to_hash("VkSamplerCreateInfo", value), to_hash)


def _read_specialization(value: Any, where: str, from_hash: FromHash) -> dict[str, Any]:
    plain = read("VkSpecializationInfo", value, where, from_hash)
    data, size = plain.setdefault("pData", b""), plain.pop("dataSize", None)
    if size is not None and size != len(data):
        raise bad(where, f"{len(data)} bytes of data, said to be {size}")
    for entry in plain.get("pMapEntries", ()):
        if entry.get("offset", 0) + entry.get("size", 0) > len(data):
            # a driver would read past it
            raise bad(where, f"constant {entry.get('constantID', 0)} lies beyond the {len(data)} bytes of data")
    return plain


def _write_specialization(value: Any, to_hash: ToHash) -> dict[str, Any]:
    plain = {**value, "dataSize": len(value.get("pData") or b"")}
    return write("VkSpecializationInfo", plain, to_hash)


# (struct, name in JSON), or (type, "") for every member of that type
_SPECIAL: Mapping[tuple[str, str], _Special] = {
    ("VkPipelineShaderStageCreateInfo", "specializationInfo"): (_read_specialization, _write_specialization),
    ("VkRect2D", ""): (_read_rectangles, _write_rectangles),
    ("VkMutableDescriptorTypeListEXT", ""): (_read_type_lists, _write_type_lists),
    ("VkClearColorValue", ""): (_read_colour, _write_colour),
    ("VkSamplerYcbcrConversionCreateInfo", "components"): (_read_swizzle, _write_swizzle),
    **{
        (f"VkDescriptorMappingSource{each}EXT", "embeddedSampler"): (_read_embedded, _write_embedded)
        for each in ("ConstantOffset", "PushIndex", "IndirectIndex", "IndirectIndexArray", "ShaderRecordIndex")
    },
}
