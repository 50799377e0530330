"""Vulkan's names and numbers, as vk.xml has them: enumerations, structs, features, and what SPIR-V needs of a device.

No cffi here: the synthesis, the mock and the host side may import it. Names are today's; an older name of a type or
of a value (an alias) is understood everywhere.

>>> value("VkFormat", "VK_FORMAT_R8G8B8A8_UNORM"), name("VkResult", -13)
(37, 'VK_ERROR_UNKNOWN')
>>> value("VkColorComponentFlags", "VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_A_BIT")
9
>>> [str(each) for each in capability_requirements("Geometry")]
['VkPhysicalDeviceFeatures.geometryShader']
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from shaderstat.registry import _generated_vulkan as tables

# The newest version that the tables know: (major, minor, patch).
VERSION: tuple[int, int, int] = tables.VERSION


# ── Enumerations and flags ────────────────────────────────────────────────────────────────────────────────────────


@cache
def values(type: str) -> Mapping[str, int]:
    """All names of an enumeration or of flag bits, aliases last. `type` may be the flags' type or that of its bits;
    empty for a type that the tables don't hold."""
    text = _ENUMS.get(_bits(type), "")
    return {name: int(number) for name, _, number in (pair.partition("=") for pair in text.split())}


def value(type: str, text: str) -> int:
    """The number behind a name; behind several, joined by ``|``, for flags.

    Raises:
        KeyError: `type` has no such name; the name is the error's argument.
    """
    known = values(type)
    if "|" not in text:
        number = known.get(text)
        return _constant(text) if number is None else number
    result = 0
    for part in text.split("|"):
        result |= known[part.strip()]
    return result


def name(type: str, number: int) -> str | None:
    """Today's name of an enumeration's value or of one flag bit; None where the tables don't know it."""
    return _names(type).get(number)


def result_name(number: int) -> str:
    """A VkResult's name, or the number as text."""
    return name("VkResult", number) or str(number)


@cache
def providers(name: str) -> tuple[str, ...]:
    """What brings an enumeration's value or a flag bit that pipelines are made of, any of them: ``VK_EXT_…``,
    ``VK_VERSION_1_3``. Empty where Vulkan 1.0 has it. An alias is brought by what brings today's name."""
    return _provided().get(name, ())


@cache
def _provided() -> Mapping[str, tuple[str, ...]]:
    by_name = {name: tuple(text.split()) for name, text in tables.PROVIDED}
    for type in _ENUMS:
        for each, number in values(type).items():
            today = _names(type)[number]
            if today in by_name:
                by_name.setdefault(each, by_name[today])
    return by_name


def is_flags(type: str) -> bool:
    """Whether `type` is a set of bits: several names may be joined."""
    return "Flags" in type or "FlagBits" in type


@cache
def _names(type: str) -> Mapping[int, str]:
    return {number: name for name, number in reversed(tuple(values(type).items()))}


def _bits(type: str) -> str:
    """``VkAccessFlags2`` → ``VkAccessFlagBits2``."""
    return re.sub(r"Flags(\d*)", r"FlagBits\1", type)


def _constant(text: str) -> int:
    number = _constants()[text]
    return int(number)


@cache
def _constants() -> Mapping[str, str]:
    pairs = (pair.partition("=") for pair in tables.CONSTANTS.split())
    return {name: number for name, _, number in pairs if "." not in number}


_ENUMS = dict(tables.ENUMS)


# ── Structs ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Member(NamedTuple):
    """`type` is vk.xml's base type, without pointers; `length` its ``len`` of a pointer: a member's name, an
    expression, ``null-terminated`` left out; of an array in the struct itself ``[4]``; "" where there is none."""

    type: str
    length: str = ""


class Struct(NamedTuple):
    """A struct or union.

    Attributes:
        name: today's.
        s_type: VkStructureType, or None.
        version: the core version that has it, (1, 2); None where only extensions do.
        extensions: those that have it.
        aliases: older names.
        extends: the structs into whose ``pNext`` it goes.
        members: by name, in order, ``sType`` and ``pNext`` included.
    """

    name: str
    s_type: int | None
    version: tuple[int, int] | None
    extensions: tuple[str, ...]
    aliases: tuple[str, ...]
    extends: tuple[str, ...]
    members: Mapping[str, Member]

    def is_provided(self, version: tuple[int, int], extensions: frozenset[str]) -> bool:
        """Whether a device of this core version with these extensions knows it."""
        return (self.version is not None and self.version <= version) or not extensions.isdisjoint(self.extensions)


@cache
def struct(name: str) -> Struct | None:
    """A struct by today's name or an alias; None where the tables don't hold it."""
    row = _STRUCTS.get(name)
    if row is None:
        alias = _aliases().get(name)
        return struct(alias) if alias else None
    _, s_type, version, extensions, aliases, extends, members = row
    return Struct(
        name,
        s_type if s_type >= 0 else None,
        _version(version),
        tuple(extensions.split()),
        tuple(aliases.split()),
        tuple(extends.split()),
        {member: Member(*rest) for member, *rest in (text.split(":") for text in members.split())},
    )


def struct_names() -> tuple[str, ...]:
    """All structs of the tables, by today's names."""
    return tuple(_STRUCTS)


@cache
def feature_structs() -> tuple[Struct, ...]:
    """The structs that go into VkPhysicalDeviceFeatures2 (it and VkPhysicalDeviceFeatures themselves not among them):
    ``sType``, ``pNext``, then VkBool32 members, all of them."""
    found = (struct(row[0]) for row in tables.STRUCTS if "VkPhysicalDeviceFeatures2" in row[5].split())
    return tuple(each for each in found if each is not None)


@cache
def promoted(struct: str) -> Mapping[str, tuple[str, str]]:
    """Of VkPhysicalDeviceVulkan1x{Features,Properties}: member → (struct, member) where it stood before, or
    (extension, "") where an extension stood for the feature. Empty for other structs."""
    text = dict(tables.PROMOTED).get(struct, "")
    pairs = (pair.partition("=") for pair in text.split())
    found = {}
    for member, _, before in pairs:
        owner, _, old = before.partition(".")
        found[member] = (owner, old)
    return found


@cache
def _aliases() -> Mapping[str, str]:
    return {alias: row[0] for row in tables.STRUCTS for alias in row[4].split()}


_STRUCTS = {row[0]: row for row in tables.STRUCTS}


# ── Extensions, and what SPIR-V needs ─────────────────────────────────────────────────────────────────────────────


@cache
def device_extensions() -> Mapping[str, tuple[frozenset[str], ...]]:
    """The device extensions that unlock SPIR-V or pipeline state, with what each depends on: alternatives of names
    (extensions, ``VK_VERSION_1_1``) that are all needed; empty where it depends on nothing."""
    return {name: tuple(frozenset(each.split("+")) for each in depends.split()) for name, depends in tables.EXTENSIONS}


class Requirement(NamedTuple):
    """One way to have a SPIR-V capability or extension. Exactly one of four things is asked for: a core `version`,
    an `extension`, the feature `struct`.`feature`, or that the property `struct`.`feature` holds `value`.

    Attributes:
        version: (1, 1), or None.
        extension: ``VK_…``, or "".
        struct, feature: of a feature; of a property, when `value` is set.
        requires: of a feature or property: what it comes with, one of them: ``VK_VERSION_1_2``, ``VK_KHR_…``.
        value: of a property: ``VK_TRUE`` (the property must be non-zero) or the name of a bit that must be set.
        bits: `value` as a number.
    """

    version: tuple[int, int] | None
    extension: str
    struct: str
    feature: str
    requires: tuple[str, ...]
    value: str
    bits: int

    def __str__(self) -> str:
        """What to say is missing: ``Vulkan 1.1``, ``VK_KHR_…``, ``VkPhysicalDeviceFeatures.geometryShader``."""
        if self.version is not None:
            return f"Vulkan {self.version[0]}.{self.version[1]}"
        if self.extension:
            return self.extension
        text = f"{self.struct}.{self.feature}"
        return f"{text} & {self.value}" if self.value not in ("", "VK_TRUE") else text


@cache
def capability_requirements(name: str) -> tuple[Requirement, ...] | None:
    """What a capability (``Int64Atomics``) needs: any one is enough; an empty tuple where every device has it. None
    where vk.xml doesn't know the capability: Vulkan has no use for it, or it is newer than the tables."""
    return _requirements(name)


@cache
def extension_requirements(name: str) -> tuple[Requirement, ...] | None:
    """The same for a SPIR-V extension (``SPV_KHR_…``)."""
    return _requirements(name)


def required_names() -> tuple[str, ...]:
    """Every capability and SPIR-V extension that vk.xml knows."""
    return tuple(_SPIRV)


def _requirements(name: str) -> tuple[Requirement, ...] | None:
    row = _SPIRV.get(name)
    if row is None:
        return None
    found = []
    for version, extension, struct, feature, requires, property, member, text in row:
        if version == "1.0":
            return ()
        found.append(
            Requirement(
                _version(version),
                extension,
                struct or property,
                feature or member,
                tuple(requires.split(",")) if requires else (),
                text,
                0 if not text else 1 if text == "VK_TRUE" else value("VkSubgroupFeatureFlags", text),
            )
        )
    return tuple(found)


_SPIRV = dict(tables.SPIRV)


def _version(text: str) -> tuple[int, int] | None:
    major, _, minor = text.partition(".")
    return (int(major), int(minor)) if text else None
