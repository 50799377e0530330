"""The vertex input that a vertex shader asks for: one binding, an attribute for each location, by its own type.

The formats decide the code on RADV and AGX, whose vertex shaders fetch and convert by themselves, so each input gets
the format that needs no conversion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.stages import limit
from shaderstat.spirv.facts import EntryPoint, InterfaceVariable

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

_KINDS = {"float": "SFLOAT", "int": "SINT", "uint": "UINT"}
_CHANNELS = "RGBA"


def vertex_input_state(entry: EntryPoint, facts: DeviceFacts) -> dict[str, Any]:
    """VkPipelineVertexInputStateCreateInfo for `entry`, a vertex shader.

    Attributes lie behind each other at the alignment of their components, vertex rate; where all are of 32 bits the
    stride is the sum of their sizes.

    Raises:
        Unsupported: ``vulkan/limit``, or ``vulkan/format`` where the device has no format that an input can be fed by.
    """
    attributes = []
    offset = 0
    alignment = 4
    for location, variable, components in _by_location(entry):
        limit(
            facts,
            "maxVertexInputAttributes",
            location + 1,
            f"reads a vertex attribute at location {location}: {location + 1} are needed",
        )
        format_, size, unit = _format(variable, components, facts)
        offset += -offset % unit
        limit(facts, "maxVertexInputAttributeOffset", offset, f"its vertex attributes reach offset {offset}")
        attributes.append({"location": location, "binding": 0, "format": format_, "offset": offset})
        offset += size
        alignment = max(alignment, unit)
    if not attributes:
        return {}
    stride = offset + -offset % alignment
    limit(facts, "maxVertexInputBindingStride", stride, f"a vertex of it has {stride} bytes")
    binding = {"binding": 0, "stride": stride, "inputRate": "VK_VERTEX_INPUT_RATE_VERTEX"}
    return {"pVertexBindingDescriptions": [binding], "pVertexAttributeDescriptions": attributes}


def _by_location(entry: EntryPoint) -> list[tuple[int, InterfaceVariable, int]]:
    """(location, an input there, components that the attribute must have), ascending.

    Inputs that share a location by Component are one attribute, since a location may be described but once
    (VUID-VkPipelineVertexInputStateCreateInfo-pVertexAttributeDescriptions-00617).
    """
    found: dict[int, tuple[InterfaceVariable, int]] = {}
    for variable in entry.inputs:
        # A Component counts words of 32 bits, of which a 64-bit component takes two.
        first = variable.component // 2 if variable.width == 64 else variable.component
        components = first + variable.components
        known = found.get(variable.location)
        if known is None:
            found[variable.location] = variable, components
        else:
            widest = variable if variable.width > known[0].width else known[0]
            found[variable.location] = widest, max(components, known[1])
    return [(location, *found[location]) for location in sorted(found)]


def _format(variable: InterfaceVariable, components: int, facts: DeviceFacts) -> tuple[str, int, int]:
    """(VkFormat, its bytes, bytes of one component). What the device can't fetch at the input's own width it may fetch
    with a component more, or at 32 bits, which feed a 16-bit input as well; 64-bit inputs need 64-bit formats
    (Vulkan specification, "Vertex Input Extraction")."""
    kind = _KINDS[variable.scalar]
    for width in dict.fromkeys((variable.width, max(variable.width, 32))):
        for count in range(components, 5):
            name = format_name(count, width, kind)
            # 32-bit formats of one to four components are mandatory ("Required Format Support").
            if width == 32 or facts.supports_format(name, "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT"):
                return name, count * width // 8, width // 8
    raise Unsupported(
        "vulkan/format",
        f"vertex input {variable.location} is {components} × {variable.scalar} of {variable.width} bits: "
        f"{facts.device.name} takes no {format_name(components, variable.width, kind)} as a vertex format",
    )


def format_name(components: int, width: int, kind: str) -> str:
    """The VkFormat of that many components of `width` bits: ``VK_FORMAT_R32G32_SFLOAT``."""
    return f"VK_FORMAT_{''.join(f'{channel}{width}' for channel in _CHANNELS[:components])}_{kind}"
