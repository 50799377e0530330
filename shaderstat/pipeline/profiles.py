"""What other stacks enable on a device: features that change code although no shader asks for them.

Real programs run with robustness: WebGPU and the Direct3D layers promise that what is out of bounds does no harm. The
numbers of their shaders are those with the same features. A profile *needs* what its stack refuses to run without, and
takes the rest *where it is there*, as that stack does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.model import Diagnostic, Setup
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

Feature = tuple[str, str]

_CORE = "VkPhysicalDeviceFeatures"
_ROBUSTNESS2 = "VkPhysicalDeviceRobustness2FeaturesKHR"
_BORDER = "VkPhysicalDeviceCustomBorderColorFeaturesEXT"


@dataclass(frozen=True, slots=True)
class Profile:
    """A stack, as far as a compiler sees it. `engine` is VkApplicationInfo::pEngineName: drivers have workarounds that
    go by it (RADV's drirc knows DXVK and vkd3d)."""

    needs: tuple[Feature, ...] = ()
    where_there: tuple[Feature, ...] = ()
    engine: str | None = None


PROFILES: Mapping[str, Profile] = {
    # A Vulkan application that asks for what its shaders need: no robustness.
    "vulkan": Profile(),
    # Dawn, src/dawn/native/vulkan/DeviceVk.cpp, Device::CreateDevice: robustBufferAccess, and VK_EXT_robustness2 as
    # the device has it.
    "webgpu": Profile(
        needs=((_CORE, "robustBufferAccess"),),
        where_there=(
            (_ROBUSTNESS2, "robustBufferAccess2"),
            (_ROBUSTNESS2, "robustImageAccess2"),
            (_ROBUSTNESS2, "nullDescriptor"),
        ),
    ),
    # DXVK, src/dxvk/dxvk_device_info.cpp, getFeatureList (true: required); robustImageAccess gives way to
    # robustImageAccess2 there.
    "dxvk": Profile(
        needs=(
            (_CORE, "robustBufferAccess"),
            (_ROBUSTNESS2, "robustBufferAccess2"),
            (_ROBUSTNESS2, "nullDescriptor"),
        ),
        where_there=(
            (_ROBUSTNESS2, "robustImageAccess2"),
            (_BORDER, "customBorderColors"),
            (_BORDER, "customBorderColorWithoutFormat"),
        ),
        engine="DXVK",
    ),
    # vkd3d-proton, libs/vkd3d/device.c, vkd3d_init_device_caps: no device without both accesses of robustness2 and its
    # null descriptors; everything else that the device supports is left enabled.
    "vkd3d": Profile(
        needs=(
            (_CORE, "robustBufferAccess"),
            (_ROBUSTNESS2, "robustBufferAccess2"),
            (_ROBUSTNESS2, "robustImageAccess2"),
            (_ROBUSTNESS2, "nullDescriptor"),
        ),
        where_there=(
            (_BORDER, "customBorderColors"),
            (_BORDER, "customBorderColorWithoutFormat"),
        ),
        engine="vkd3d",
    ),
}


def switched(setup: Setup) -> dict[Feature, bool]:
    """The features that a device of this setup is made with, or without, whatever else it has."""
    profile = PROFILES[setup.profile]
    return {
        **dict.fromkeys((*profile.needs, *profile.where_there, *setup.wished), True),
        **{(struct, member): on for struct, member, on in setup.features},
    }


def application(setup: Setup) -> dict[str, str | int]:
    """VkApplicationInfo's members that the setup says."""
    engine = PROFILES[setup.profile].engine
    return {**({"pEngineName": engine} if engine else {}), **dict(setup.application)}


def check(setup: Setup, facts: DeviceFacts) -> Iterator[Diagnostic]:
    """Hold a setup against the device that was made for it.

    Yields:
        A note for features that are taken where they are there, and that are not there.

    Raises:
        Unsupported: ``vulkan/feature-missing``.
    """
    profile = PROFILES[setup.profile]
    given = {(struct, member): on for struct, member, on in setup.features}
    for feature, on in given.items():
        if on and not facts.has_feature(*feature):
            raise Unsupported("vulkan/feature-missing", f"{facts.device.name} lacks {_named(feature)}")
    for feature in profile.needs:
        if given.get(feature, True) and not facts.has_feature(*feature):
            raise Unsupported(
                "vulkan/feature-missing",
                f"profile {setup.profile}: {facts.device.name} lacks {_named(feature)}",
                hint="that stack does not run on this driver either",
            )
    lacking = [each for each in profile.where_there if given.get(each, True) and not facts.has_feature(*each)]
    if lacking:
        names = ", ".join(member for _, member in lacking)
        message = f"profile {setup.profile} without {names}: {facts.device.name} lacks it, and that stack does without"
        yield Diagnostic("info", "vulkan/profile", message)
    yield from _without(setup, facts)


def _without(setup: Setup, facts: DeviceFacts) -> Iterator[Diagnostic]:
    """What the application had, and this device hasn't."""
    lacking = [each for each in setup.wished if not facts.has_feature(*each)]
    if lacking:
        names = ", ".join(member for _, member in lacking)
        message = f"the application had {names}; {facts.device.name} lacks it"
        yield Diagnostic("info", "archive/feature-missing", message)


def _named(feature: Feature) -> str:
    struct = vulkan.struct(feature[0])
    extensions = struct.extensions if struct is not None and struct.version is None else ()
    return ".".join(feature) + (f" ({' or '.join(extensions)})" if extensions else "")
