"""What a module asks of a device, held against what the device has, before any driver sees the module.

"No error" from a driver proves nothing: several compile modules whose capabilities they lack, others end the process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.registry import vulkan
from shaderstat.registry.vulkan import Requirement
from shaderstat.spirv.words import KNOWN_VERSION

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.spirv.facts import EntryPoint, Reflection

# The Vulkan version that takes each SPIR-V version ("Versions" in appendix A of the Vulkan specification), and the
# extension that brings it to the version before.
_SPIRV_VERSIONS: dict[tuple[int, int], tuple[int, int]] = {
    (1, 0): (1, 0),
    (1, 1): (1, 1),
    (1, 2): (1, 1),
    (1, 3): (1, 1),
    (1, 4): (1, 2),
    (1, 5): (1, 2),
    (1, 6): (1, 3),
}
_SPIRV_1_4 = "VK_KHR_spirv_1_4"

_RADV = 3  # VkDriverId

# MeshShadingEXT asks for the extension alone; each stage has its own bit
# (VUID-VkPipelineShaderStageCreateInfo-stage-02091, -02092).
_STAGE_FEATURES = {
    "task": ("VkPhysicalDeviceMeshShaderFeaturesEXT", "taskShader"),
    "mesh": ("VkPhysicalDeviceMeshShaderFeaturesEXT", "meshShader"),
}


def check(module: Reflection, entry: EntryPoint, facts: DeviceFacts) -> None:
    """Whether the device takes `module`, and `entry` of it.

    Raises:
        Unsupported: ``vulkan/version``, ``vulkan/feature-missing`` or ``vulkan/extension-missing`` for what this device
            lacks; ``spirv/unknown-capability`` for a number that the tables don't know.
    """
    _check_version(module.version, facts)
    for number in module.capabilities:
        _check_capability(number, facts)
    for name in module.extensions:
        _check_extension(name, facts)
    check_stage(entry.stage, facts)


def check_stage(stage: str, facts: DeviceFacts) -> None:
    """Whether the device has such stages.

    Raises:
        Unsupported: ``vulkan/feature-missing``.
    """
    feature = _STAGE_FEATURES.get(stage)
    if feature is not None and not facts.has_feature(*feature):
        raise Unsupported("vulkan/feature-missing", f"{facts.device.name} lacks {'.'.join(feature)}")


def needs(stages: Iterable[tuple[Reflection, EntryPoint]]) -> tuple[str, ...]:
    """Everything that `check` holds against a device, of all stages of a pipeline, less what every device has: words of
    `takes`, sorted. Empty where a stage asks for something that Vulkan does not have: no device takes that."""
    from shaderstat.registry import spirv  # late, twice: what a device takes is told without

    found: set[str] = set()
    for module, entry in stages:
        if module.version not in _SPIRV_VERSIONS:
            return ()
        if module.version != (1, 0):
            found.add(_version_word(module.version))
        if entry.stage in _STAGE_FEATURES:
            found.add(entry.stage)
        for name in (*(spirv.name("Capability", number) for number in module.capabilities), *module.extensions):
            alternatives = vulkan.capability_requirements(name)
            if alternatives is None:
                return ()
            if alternatives:
                found.add(name)
    return tuple(sorted(found))


def takes(facts: DeviceFacts) -> tuple[str, ...]:
    """What this device has of all that modules may ask for, sorted: names of capabilities and of SPIR-V extensions,
    ``SPIR-V-1.3``, and the stages that need a feature. A device takes a pipeline whose `needs` are among them."""
    found = {_version_word(version) for version in _SPIRV_VERSIONS if _takes_version(version, facts)}
    found |= {stage for stage, feature in _STAGE_FEATURES.items() if facts.has_feature(*feature)}
    for name in vulkan.required_names():
        alternatives = vulkan.capability_requirements(name)
        if alternatives and any(_is_met(one, facts) for one in alternatives):
            found.add(name)
    return tuple(sorted(found))


def _version_word(version: tuple[int, int]) -> str:
    return f"SPIR-V-{version[0]}.{version[1]}"


def _takes_version(version: tuple[int, int], facts: DeviceFacts) -> bool:
    if facts.api_version[:2] >= _SPIRV_VERSIONS[version]:
        return True
    return version == (1, 4) and facts.has_extension(_SPIRV_1_4)


def _check_version(version: tuple[int, int], facts: DeviceFacts) -> None:
    needed = _SPIRV_VERSIONS.get(version)
    name = f"SPIR-V {version[0]}.{version[1]}"
    if needed is None:
        newest = f"{KNOWN_VERSION[0]}.{KNOWN_VERSION[1]}"
        raise Unsupported("vulkan/version", f"is {name}: Vulkan takes up to {newest}")
    if _takes_version(version, facts):
        return
    extension = f" or {_SPIRV_1_4}" if version == (1, 4) else ""
    raise Unsupported(
        "vulkan/version",
        f"is {name}, which needs Vulkan {needed[0]}.{needed[1]}{extension}: {facts.device.name} has "
        f"{facts.api_version[0]}.{facts.api_version[1]}",
    )


def _check_capability(number: int, facts: DeviceFacts) -> None:
    from shaderstat.registry import spirv

    if spirv.enumerant("Capability", number) is None:
        raise Unsupported(
            "spirv/unknown-capability",
            f"asks for capability {number}, which this version of shaderstat does not know",
        )
    name = spirv.name("Capability", number)
    alternatives = vulkan.capability_requirements(name)
    if alternatives is None:
        raise Unsupported("vulkan/feature-missing", f"asks for capability {name}, which Vulkan does not have")
    if not alternatives or any(_is_met(one, facts) for one in alternatives):
        return
    raise Unsupported(
        "vulkan/feature-missing",
        f"asks for capability {name}: {facts.device.name} lacks {_or(alternatives)}",
        hint=_hint(alternatives, facts),
    )


def _check_extension(name: str, facts: DeviceFacts) -> None:
    alternatives = vulkan.extension_requirements(name)
    if alternatives is None:
        raise Unsupported("vulkan/extension-missing", f"uses {name}, which Vulkan does not have")
    if not alternatives or any(_is_met(one, facts) for one in alternatives):
        return
    raise Unsupported(
        "vulkan/extension-missing",
        f"uses {name}: {facts.device.name} lacks {_or(alternatives)}",
        hint=_hint(alternatives, facts),
    )


def _is_met(need: Requirement, facts: DeviceFacts) -> bool:
    if need.version is not None:
        return facts.api_version[:2] >= need.version
    if need.extension:
        return facts.has_extension(need.extension)
    # Before the bit: RADV reports features of extensions that it does not list.
    if need.requires and not any(_is_listed(name, facts) for name in need.requires):
        return False
    if need.value:
        value = facts.property(need.struct, need.feature)
        return value is not None and bool(value & need.bits)
    return facts.has_feature(need.struct, need.feature)


def _is_listed(name: str, facts: DeviceFacts) -> bool:
    """Of ``VK_VERSION_1_2`` or ``VK_KHR_…``."""
    if name.startswith("VK_VERSION_"):
        major, minor = name.removeprefix("VK_VERSION_").split("_")
        return facts.api_version[:2] >= (int(major), int(minor))
    return facts.has_extension(name)


def _or(alternatives: tuple[Requirement, ...]) -> str:
    """What would do, each once, with the extension that brings it where there is but that."""
    texts = []
    for one in alternatives:
        extensions = [name for name in one.requires if not name.startswith("VK_VERSION_")]
        with_extension = f" ({extensions[0]})" if len(one.requires) == len(extensions) == 1 else ""
        texts.append(f"{one}{with_extension}")
    return " or ".join(dict.fromkeys(texts))


def _hint(alternatives: tuple[Requirement, ...], facts: DeviceFacts) -> str | None:
    """RADV kept ray tracing pipelines behind a switch until Mesa 23.2; GPUs without instructions for ray queries need
    to emulate those (drivers' environment variables: ``RADV_PERFTEST``)."""
    names = {name for one in alternatives for name in (one.extension, *one.requires)}
    if facts.driver.id != _RADV or "VK_KHR_ray_tracing_pipeline" not in names:
        return None
    switch = "rt" if facts.has_extension("VK_KHR_ray_query") else "rt,emulate_rt"
    return f"this driver has it with --env RADV_PERFTEST={switch}"
