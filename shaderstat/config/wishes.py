"""The short ways to say state, from the command line, the library or a manifest: checked, under Vulkan's names.

A value that can't be is told by its nearest neighbours: `Wrong` carries what to say, the caller knows where it stood.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from shaderstat.errors import ShaderstatError
from shaderstat.model import Request
from shaderstat.registry import vulkan

# The words of `shaderstat.pipeline.profiles`.
PROFILES = ("vulkan", "webgpu", "dxvk", "vkd3d")

DYNAMIC_BUFFERS = ("uniform", "storage", "all")

PIPELINE_KINDS = ("graphics", "compute", "ray_tracing")

# Options of the command line, and the kinds of pipelines that have what each is about.
KINDS: Mapping[str, tuple[str, ...]] = {
    "subgroup_size": PIPELINE_KINDS,
    "samples": ("graphics",),
    "color_format": ("graphics",),
    "depth_format": ("graphics",),
    "topology": ("graphics",),
    "optimize": PIPELINE_KINDS,
    "dynamic_buffers": PIPELINE_KINDS,
    "push_descriptors": PIPELINE_KINDS,
    "immutable_samplers": PIPELINE_KINDS,
}

SUBGROUP_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
SAMPLES = (1, 2, 4, 8, 16, 32, 64)


class Wrong(Exception):
    """A value that can't be; `hint` says what could."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def options(request: Request) -> dict[str, Any]:
    """The state that a request says, as `shaderstat.pipeline.shorthand` takes it.

    Raises:
        ShaderstatError: a value that can't be.
    """
    said: dict[str, Any] = {}
    for name, check in (
        ("subgroup_size", subgroup_size),
        ("samples", samples),
        ("color_format", color_format),
        ("depth_format", depth_format),
        ("topology", topology),
        ("profile", profile),
    ):
        value = getattr(request, name)
        if value is not None:
            try:
                said[name] = check(value)
            except Wrong as error:
                raise ShaderstatError(f"--{name.replace('_', '-')} {value}: {error}", hint=error.hint) from None
    if not request.optimize:
        said["optimize"] = False
    return said


def subgroup_size(value: int) -> int:
    """A power of two."""
    return _one_of(value, SUBGROUP_SIZES, "no subgroup has that size")


def samples(value: int) -> int:
    """A VkSampleCountFlagBits as a number."""
    return _one_of(value, SAMPLES, "there are no so many samples")


def profile(value: str) -> str:
    """One of `PROFILES`."""
    if value not in PROFILES:
        raise Wrong("no profile is called so", _near(value, PROFILES))
    return value


def topology(value: str) -> str:
    """``VK_PRIMITIVE_TOPOLOGY_…``; the prefix may be left out."""
    return _name("VkPrimitiveTopology", "VK_PRIMITIVE_TOPOLOGY_", value, "no topology is called so")


def color_format(value: str) -> str:
    """``VK_FORMAT_…`` that can hold a colour; the prefix may be left out."""
    name = _name("VkFormat", "VK_FORMAT_", value, "no format is called so")
    if is_depth(name) or name == "VK_FORMAT_UNDEFINED":
        raise Wrong("is no colour format", "--depth-format takes those of depth" if is_depth(name) else None)
    return name


def depth_format(value: str) -> str:
    """``VK_FORMAT_…`` that holds depth or stencil."""
    name = _name("VkFormat", "VK_FORMAT_", value, "no format is called so")
    if not is_depth(name):
        raise Wrong("is no depth format", "D32_SFLOAT, for instance")
    return name


def is_depth(format_: str) -> bool:
    """Whether a VkFormat holds depth or stencil."""
    word = format_.removeprefix("VK_FORMAT_")
    return word.startswith(("D16_", "D24_", "D32_", "X8_D24_", "S8_"))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The name of `known` that `word` was most likely meant to be: one that ends like it, or one spelt like it."""
    known = list(known)
    upper = word.upper()
    ending = min((name for name in known if name.upper().endswith("_" + upper)), key=len, default=None)
    if ending is not None:
        return ending
    close = difflib.get_close_matches(word, known, n=1) or difflib.get_close_matches(upper, known, n=1)
    return close[0] if close else None


def _name(type_: str, prefix: str, value: str, wrong: str) -> str:
    word = value.strip().upper().replace("-", "_").removeprefix(prefix)
    known = vulkan.values(type_)
    if prefix + word not in known or word.endswith("_MAX_ENUM"):
        near = nearest(prefix + word, known)
        raise Wrong(wrong, f"did you mean {near.removeprefix(prefix)}?" if near else None)
    return vulkan.name(type_, known[prefix + word]) or prefix + word


def _one_of(value: int, known: tuple[int, ...], wrong: str) -> int:
    if value not in known:
        raise Wrong(wrong, f"{', '.join(map(str, known[:-1]))} or {known[-1]}")
    return value


def _near(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
