"""What Fossilize's hashes are made with."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from shaderstat.archive.members import hash_of
from shaderstat.registry import vulkan

Record = Mapping[str, Any]

# Capturing doesn't change what is compiled: statistics, representations, early return, fail on compile, binaries' data.
NO_MATTER = vulkan.value(
    "VkPipelineCreateFlags2",
    "VK_PIPELINE_CREATE_2_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_2_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR"
    " | VK_PIPELINE_CREATE_2_EARLY_RETURN_ON_FAILURE_BIT"
    " | VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT | VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR",
)
# The parts of a graphics pipeline: VkGraphicsPipelineLibraryFlagBitsEXT.
VERTEX_INPUT, PRE_RASTERIZATION, FRAGMENT_SHADER, FRAGMENT_OUTPUT = 1, 2, 4, 8

_START, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


class Hasher:
    """FNV over 32-bit words."""

    def __init__(self) -> None:
        self.value = _START

    def u32(self, *words: int) -> None:
        """Words; negative ones in two's complement."""
        value = self.value
        for word in words:
            value = value * _PRIME & _MASK ^ word & 0xFFFFFFFF
        self.value = value

    def u64(self, value: int) -> None:
        """The low word, then the high one."""
        self.u32(value & 0xFFFFFFFF, value >> 32)

    def f32(self, *numbers: float) -> None:
        """Floats as their bits."""
        self.u32(*struct.unpack(f"={len(numbers)}I", struct.pack(f"={len(numbers)}f", *numbers)))

    def string(self, text: str) -> None:
        """0xff, then each byte."""
        self.u32(0xFF, *text.encode())

    def reference(self, text: Any) -> None:
        """Another object's hash."""
        self.u64(hash_of(text, "a reference"))

    def of(self, record: Record, names: str) -> None:
        """Members, in that order."""
        self.u32(*(record.get(name, 0) for name in names.split()))


class Dynamic:
    """A pipeline's dynamic states, by VkDynamicState's names less ``VK_DYNAMIC_STATE_`` and vendors.

    Attributes:
        has_render_pass: whether the pipeline is for one.
    """

    def __init__(self, record: Record) -> None:
        numbers = (record.get("dynamicState") or {}).get("dynamicState", ())
        names = [vulkan.name("VkDynamicState", number) or "" for number in numbers]
        self._names = {name.removeprefix("VK_DYNAMIC_STATE_").removesuffix("_EXT") for name in names}
        for each in ("SCISSOR", "VIEWPORT"):
            if f"{each}_WITH_COUNT" in self._names:
                self._names.add(each)
        self.has_render_pass = hash_of(record.get("renderPass", "0"), "a reference") != 0

    def __contains__(self, name: str) -> bool:
        return name.removesuffix("_EXT") in self._names

    def fixed(self, record: Record, **states: str) -> tuple[int, ...]:
        """Members, with 0 for those whose dynamic state is there."""
        return tuple(0 if state in self else record.get(member, 0) for member, state in states.items())


NO_DYNAMIC = Dynamic({})
