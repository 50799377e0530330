"""The formats of a run's images and texel buffers: what shaders ask for, and what every device has of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.spirv.facts import Type

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

# VkFormat by SPIR-V's Image Format (section 3.11), less the prefix.
_DECLARED = (
    "", "R32G32B32A32_SFLOAT", "R16G16B16A16_SFLOAT", "R32_SFLOAT", "R8G8B8A8_UNORM", "R8G8B8A8_SNORM",
    "R32G32_SFLOAT", "R16G16_SFLOAT", "B10G11R11_UFLOAT_PACK32", "R16_SFLOAT", "R16G16B16A16_UNORM",
    "A2B10G10R10_UNORM_PACK32", "R16G16_UNORM", "R8G8_UNORM", "R16_UNORM", "R8_UNORM", "R16G16B16A16_SNORM",
    "R16G16_SNORM", "R8G8_SNORM", "R16_SNORM", "R8_SNORM", "R32G32B32A32_SINT", "R16G16B16A16_SINT",
    "R8G8B8A8_SINT", "R32_SINT", "R32G32_SINT", "R16G16_SINT", "R8G8_SINT", "R16_SINT", "R8_SINT",
    "R32G32B32A32_UINT", "R16G16B16A16_UINT", "R8G8B8A8_UINT", "R32_UINT", "A2B10G10R10_UINT_PACK32", "R32G32_UINT",
    "R16G16_UINT", "R8G8_UINT", "R16_UINT", "R8_UINT", "R64_UINT", "R64_SINT",
)  # fmt: skip
# Of 32 bits a component, which every device reads and writes ("Required Format Support").
_WIDE = {"float": "R32G32B32A32_SFLOAT", "int": "R32G32B32A32_SINT", "uint": "R32G32B32A32_UINT"}
# Sampled as floats: any bits are a colour, and none is a NaN.
_COLOUR, _DEPTH = "VK_FORMAT_R8G8B8A8_UNORM", "VK_FORMAT_D16_UNORM"


def storage_format(image: Type, where: str, facts: DeviceFacts) -> str:
    """The VkFormat of a storage image.

    Raises:
        Unsupported: ``run/format``.
    """
    return _checked(_declared(image), "VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT", where, facts)


def sampled_format(image: Type, compares: bool, where: str, facts: DeviceFacts) -> str:
    """The VkFormat of an image that is sampled or fetched from; 16 bits of depth where shaders compare with it.

    Raises:
        Unsupported: ``run/format``.
    """
    if compares or (image.image is not None and image.image[1] == 1):
        format = _DEPTH
    else:
        format = _COLOUR if _scalar(image) == "float" else _declared(image)
    return _checked(format, "VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT", where, facts)


def texel_buffer_format(image: Type, type: str, where: str, facts: DeviceFacts) -> str:
    """The VkFormat of a texel buffer's view; `type` is the descriptor's.

    Raises:
        Unsupported: ``run/format``.
    """
    return _checked(_declared(image), f"VK_FORMAT_FEATURE_{type}_BIT", where, facts)


def texel_bytes(format: str) -> int:
    """Bytes of a texel, or of a vertex attribute: ``VK_FORMAT_B10G11R11_UFLOAT_PACK32`` has 4. 0 for what is in no
    table (compressed blocks, planes)."""
    bits = re.match(r"VK_FORMAT_((?:[A-Z]\d+)+)_", format)
    stencil = 8 if "_S8_UINT" in format and "VK_FORMAT_S8" not in format else 0
    return (sum(map(int, re.findall(r"\d+", bits[1]))) + stencil) // 8 if bits else 0


def _declared(image: Type) -> str:
    assert image.image is not None
    format = image.image[5]
    if 0 < format < len(_DECLARED):
        return "VK_FORMAT_" + _DECLARED[format]
    if image.element is not None and image.element.width == 64:
        return f"VK_FORMAT_R64_{'S' if image.element.signed else 'U'}INT"
    return "VK_FORMAT_" + _WIDE[_scalar(image)]


def _scalar(image: Type) -> str:
    element = image.element
    if element is None or element.kind != "int":
        return "float"
    return "int" if element.signed else "uint"


def _checked(format: str, feature: str, where: str, facts: DeviceFacts) -> str:
    if not facts.supports_format(format, feature):
        raise Unsupported("run/format", f"{where} wants {format}: {facts.device.name} has no {feature} of it")
    return format
