"""Shader binding tables of a ray tracing pipeline: all of its groups, each in the table of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shaderstat.backends.base import DriverError
from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.run_interface import linked, name, number

from .binding import check, ffi
from .memory import Memory

if TYPE_CHECKING:
    from shaderstat.pipeline.spec import PipelineSpec

    from .device import OpenDevice
    from .pipelines import Made
    from .recording import Recorder

_USAGE = "VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR|VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"
_PROPERTIES = "VkPhysicalDeviceRayTracingPipelinePropertiesKHR"
_TABLES = ("raygen", "miss", "hit", "callable")


class ShaderTables:
    """What vkCmdTraceRaysKHR is given: one ray generation shader, and all others by kind."""

    def __init__(self, device: OpenDevice, memory: Memory, made: Made) -> None:
        """Raises:
        DriverError: no handles, or out of memory.
        Unsupported: ``run/command``: no ray generation shader.
        """
        self._functions = device.functions
        size = device.facts.property(_PROPERTIES, "shaderGroupHandleSize") or 32
        alignment = device.facts.property(_PROPERTIES, "shaderGroupHandleAlignment") or size
        base = device.facts.property(_PROPERTIES, "shaderGroupBaseAlignment") or 64
        kinds = group_kinds(made.spec)
        if "raygen" not in kinds:
            raise Unsupported("run/command", "the pipeline has no ray generation shader to trace rays with")
        handles = self._handles(made.pipeline, len(kinds), size)
        stride = size + -size % alignment
        # Room for one more, so that a table begins where it must.
        buffer = memory.buffer(sum(len(kinds) * stride + base for _ in _TABLES), _USAGE, base)
        self._regions = []
        at = 0
        for table in _TABLES:
            groups = [index for index, kind in enumerate(kinds) if kind == table]
            if table == "raygen":
                groups = groups[:1]
            at += -(buffer.address + at) % base
            for place, group in enumerate(groups):
                start = at + place * stride
                buffer.window[start : start + size] = handles[group * size : group * size + size]
            # Of the ray generation table, size and stride are equal (VUID-vkCmdTraceRaysKHR-size-04023).
            its_stride = stride + -stride % base if table == "raygen" else stride
            length = its_stride if table == "raygen" else stride * len(groups)
            self._regions.append((buffer.address + at, its_stride, length) if groups else (0, 0, 0))
            at += max(length, stride * len(groups))

    def trace(self, recorder: Recorder, width: int, height: int, depth: int) -> None:
        """Record vkCmdTraceRaysKHR."""
        regions = [
            recorder.build(
                "VkStridedDeviceAddressRegionKHR", {"deviceAddress": address, "stride": stride, "size": size}
            )
            for address, stride, size in self._regions
        ]
        self._functions["vkCmdTraceRaysKHR"](recorder.handle, *regions, width, height, depth)

    def _handles(self, pipeline: Any, count: int, size: int) -> bytes:
        call = "vkGetRayTracingShaderGroupHandlesKHR"
        if not count:
            raise DriverError(call, None, "has no shader group to tell of")
        data = ffi.new("char[]", count * size)
        check(call, self._functions[call](self._functions.handle, pipeline, 0, count, count * size, data))
        return bytes(ffi.buffer(data))


def group_kinds(spec: PipelineSpec) -> list[str]:
    """The table that each of a pipeline's groups goes into, those of its libraries behind its own (Vulkan
    specification, VkRayTracingPipelineCreateInfoKHR)."""
    kinds = []
    for one in linked(spec):
        stages = one.create_info.get("pStages") or ()
        for group in one.create_info.get("pGroups") or ():
            general = name("VkRayTracingShaderGroupTypeKHR", group.get("type", 0)).endswith("_GENERAL_KHR")
            if not general:
                kinds.append("hit")
                continue
            bit = number("VkShaderStageFlagBits", stages[group.get("generalShader", 0)].get("stage", 0))
            kinds.append(next(word for word in ("raygen", "miss", "callable") if STAGE_BITS[word] == bit))
    return kinds
