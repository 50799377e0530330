"""Vulkan's structs in YAML, under Vulkan's own member and enum names, held against the registry.

The result is plain data as JSON can hold it: a struct is a mapping, ``pNext`` a mapping from a struct's name to its
members, flags are names joined by ``|``, truth values 0 and 1. null takes away what was inferred.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from shaderstat.config.reader import Node
from shaderstat.config.wishes import nearest
from shaderstat.registry import vulkan
from shaderstat.registry.vulkan import Member

# Whole numbers: bits, and whether they have a sign.
INTEGERS: Mapping[str, tuple[int, bool]] = {
    "uint8_t": (8, False),
    "uint16_t": (16, False),
    "uint32_t": (32, False),
    "uint64_t": (64, False),
    "int8_t": (8, True),
    "int16_t": (16, True),
    "int32_t": (32, True),
    "int64_t": (64, True),
    "size_t": (64, False),
    "VkDeviceSize": (64, False),
    "VkDeviceAddress": (64, False),
    "VkSampleMask": (32, False),
}
FLOATS = ("float", "double")

# Elements that are known by a number of their own, which each must have.
KEYS: Mapping[str, str] = {
    "pBindings": "binding",
    "pVertexBindingDescriptions": "binding",
    "pVertexAttributeDescriptions": "location",
}

ReadSamplers = Callable[[Node], list[Any]]


def struct_members(name: str, left_out: Collection[str] = ()) -> dict[str, Member]:
    """What can be said of a struct: its members but for ``sType`` and `left_out`."""
    struct = vulkan.struct(name)
    assert struct is not None, name
    return {key: member for key, member in struct.members.items() if key != "sType" and key not in left_out}


def read_struct(node: Node, name: str, samplers: ReadSamplers, left_out: Collection[str] = ()) -> dict[str, Any]:
    """A struct of Vulkan's type `name`.

    Args:
        samplers: reads what stands for VkSampler handles.
        left_out: members that can't be said here.
    """
    known = struct_members(name, left_out)
    members = node.mapping(known)
    found: dict[str, Any] = {}
    for key, value in members.items():
        found[key] = read_member(value, name, key, samplers)
        if key in KEYS and found[key] is not None:
            for element, each in zip(value.items(), found[key], strict=True):
                if KEYS[key] not in each:
                    raise element.error(f"{KEYS[key]} is missing")
    return found


def read_member(node: Node, struct: str, name: str, samplers: ReadSamplers) -> Any:
    """One member of a struct."""
    return (
        read_chain(node, struct, samplers)
        if name == "pNext"
        else _member(node, name, struct_members(struct)[name], samplers)
    )


def read_chain(node: Node, parent: str, samplers: ReadSamplers) -> dict[str, Any] | None:
    """``pNext``: a mapping from a struct's name to its members."""
    if node.is_null:
        return None
    found: dict[str, Any] = {}
    for name, value in node.table().items():
        struct = vulkan.struct(name)
        if struct is None or parent not in struct.extends:
            near = nearest(name, extensions_of(parent))
            raise value.error(f"{name} does not extend {parent}", f"did you mean {near}?" if near else None)
        found[struct.name] = None if value.is_null else read_struct(value, struct.name, samplers)
    return found


def extensions_of(parent: str) -> list[str]:
    """The structs that go into the pNext of `parent`."""
    structs = (vulkan.struct(name) for name in vulkan.struct_names())
    return [struct.name for struct in structs if struct is not None and parent in struct.extends]


def _member(node: Node, name: str, member: Member, samplers: ReadSamplers) -> Any:
    if node.is_null:
        return None
    if member.type == "VkSampler":
        return samplers(node)
    if member.length and not (vulkan.is_flags(member.type) and not node.is_list):
        return [_value(each, name, member, samplers) for each in node.items()]
    value = _value(node, name, member, samplers)
    # A pointer to one number, as a PipelineSpec has it: a list of one.
    return [value] if member.type in INTEGERS and not member.length and re.match("p[A-Z]", name) else value


def _value(node: Node, name: str, member: Member, samplers: ReadSamplers) -> Any:
    type_ = member.type
    if vulkan.struct(type_) is not None:
        return read_struct(node, type_, samplers)
    if type_ == "VkBool32":
        value = node.scalar()
        return int(node.boolean()) if isinstance(value, bool) else node.integer(0, 1)
    if type_ in FLOATS:
        return node.number()
    if type_ in INTEGERS:
        return _integer(node, *INTEGERS[type_])
    if type_ == "char":
        return node.text()
    if vulkan.values(type_) or vulkan.is_flags(type_):
        return read_enum(node, type_)
    raise node.error(f"{name} can't be said here: it is an object of the running program ({type_})")


def _integer(node: Node, bits: int, signed: bool) -> int:
    value = node.scalar()
    if isinstance(value, str):
        try:
            return vulkan.value("", value)  # VK_ATTACHMENT_UNUSED and its like
        except KeyError:
            pass
    return node.integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else node.integer(0, 2**bits - 1)


def read_enum(node: Node, type_: str) -> str | int:
    """An enumeration's name, or names joined by ``|`` or in a list where it is a set of flags, or the number."""
    known = vulkan.values(type_)
    several = vulkan.is_flags(type_) and ("Flags" in type_ or node.is_list)
    names: list[str] = []
    for each in node.one_or_more() if several else [node]:
        value = each.scalar()
        if isinstance(value, int) and not isinstance(value, bool):
            return each.integer(0, 2**64 - 1)
        for text in re.split(r"\s*\|\s*", each.text()) if several else [each.text()]:
            if text not in known:
                near = nearest(text, known)
                raise each.error(f"{type_} has no {text}", f"did you mean {near}?" if near else None)
            names.append(text)
    return "|".join(names) if names else 0
