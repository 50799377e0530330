"""What was said of the state, laid over what was inferred.

It comes in layers (the manifest's defaults, a pipeline's own, the command line), each a plain mapping that JSON can
hold; every member is optional::

    {"options": {"subgroup_size": 32, …},          the short ways of `shaderstat.pipeline.shorthand`
     "graphics": {…}, "compute": {…}, "ray_tracing": {…},   of that kind's create info
     "stages": [{"stage": "fragment", "entry_point": "main", "flags": …, "pNext": {…}}],
     "layout": {"pSetLayouts": {"0": {…}}, "pPushConstantRanges": […], …},   sets by their number
     "render_pass": {…}}

Within a layer the long form wins over the short one, and a later layer over an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.model import Diagnostic
from shaderstat.pipeline import shorthand
from shaderstat.pipeline.merge import lay
from shaderstat.pipeline.render_passes import second
from shaderstat.pipeline.spec import PipelineSpec, Plain
from shaderstat.pipeline.stages import FLAG_NAMES, StageInput
from shaderstat.registry import vulkan

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

KINDS = ("graphics", "compute", "ray_tracing")
_RENDERING = "VkPipelineRenderingCreateInfo"
_MUTABLE = "VkMutableDescriptorTypeCreateInfoEXT"
_NO_OPTIMIZATION = "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT"

# Drivers that were seen to compile the same with it (VkDriverId's names).
_IGNORE_NO_OPTIMIZATION = ("VK_DRIVER_ID_MESA_TURNIP", "VK_DRIVER_ID_MESA_NVK", "VK_DRIVER_ID_MESA_HONEYKRISP")


def overlay(
    spec: PipelineSpec, layers: Sequence[Plain], stages: Sequence[StageInput], facts: DeviceFacts
) -> PipelineSpec:
    """`spec` with `layers` laid over it, in their order.

    Args:
        stages: what the spec was made of, generated stages left out.

    Raises:
        Unsupported: ``vulkan/feature-missing``, ``vulkan/extension-missing``, ``vulkan/limit`` or ``vulkan/format`` for
            what the device lacks, ``pipeline/state`` for what these stages can't be with.
    """
    remarks: list[Diagnostic] = []
    for layer in layers:
        spec = shorthand.apply(spec, layer.get("options", {}), stages, facts, remarks)
        check_provided(layer, facts)
        spec = _long_form(spec, layer)
    if _has_no_optimization(spec.create_info) and facts.driver.id in _ignorant():
        message = f"{facts.driver.name} ignores DISABLE_OPTIMIZATION: these are the numbers of optimised code"
        remarks.append(Diagnostic("warning", "vulkan/ignored", message))
    return replace(spec, remarks=(*spec.remarks, *remarks))


def _long_form(spec: PipelineSpec, layer: Plain) -> PipelineSpec:
    create_info = lay(layer.get(spec.kind, {}), spec.create_info)
    create_info = _stages(create_info, layer.get("stages", ()))
    spec = replace(spec, create_info=create_info)
    if "layout" in layer:
        spec = _layout(spec, layer["layout"])
    return _rendering(spec, layer) if spec.kind == "graphics" else spec


def _stages(create_info: dict[str, Any], said: Iterable[Plain]) -> dict[str, Any]:
    """VkPipelineShaderStageCreateInfo's flags and pNext, by stage and entry point."""
    for one in said:
        members = {name: one[name] for name in ("flags", "pNext") if name in one}

        def laid(info: Plain, one: Plain = one, members: Plain = members) -> Plain:
            its = (info["stage"], info["pName"]) == (FLAG_NAMES[one["stage"]], one["entry_point"])
            return lay(members, info) if its else info

        if "stage" in create_info:
            create_info["stage"] = laid(create_info["stage"])
        else:
            create_info["pStages"] = [laid(info) for info in create_info["pStages"]]
    return create_info


# ── Set layouts ───────────────────────────────────────────────────────────────────────────────────────────────────


def _layout(spec: PipelineSpec, said: Plain) -> PipelineSpec:
    samplers = list(spec.samplers)
    numbers = spec.layout.get("pSetLayouts", range(len(spec.set_layouts)))
    set_layouts = [None if each is None else spec.set_layouts[each] for each in numbers]
    for number, over in sorted((int(number), over) for number, over in said.get("pSetLayouts", {}).items()):
        set_layouts += [{"pBindings": []}] * (number + 1 - len(set_layouts))
        if over is not None:
            set_layouts[number] = _set_layout(over, set_layouts[number] or {"pBindings": []}, samplers)
    rest = {name: value for name, value in said.items() if name != "pSetLayouts"}
    made = [each for each in set_layouts if each is not None]
    places = iter(range(len(made)))
    layout = lay(rest, spec.layout) | {"pSetLayouts": [None if one is None else next(places) for one in set_layouts]}
    return replace(spec, set_layouts=tuple(made), layout=layout, samplers=tuple(samplers))


def _set_layout(over: Plain, base: Plain, samplers: list[Plain]) -> dict[str, Any]:
    result = lay(_with_samplers(over, base, samplers), base)
    before = [each["binding"] for each in base["pBindings"]]
    after = [each["binding"] for each in result["pBindings"]]
    if before != after and _MUTABLE not in (over.get("pNext") or {}):
        # A list for each binding, in their order: they move with them.
        result["pNext"] = [
            [name, _moved(members, before, after) if name == _MUTABLE else members]
            for name, members in result.get("pNext", [])
        ]
        if not result["pNext"]:
            del result["pNext"]
    return result


def _moved(mutable: Plain, before: list[int], after: list[int]) -> Plain:
    lists = dict(zip(before, mutable["pMutableDescriptorTypeLists"], strict=False))
    return {**mutable, "pMutableDescriptorTypeLists": [lists.get(number, {"pDescriptorTypes": []}) for number in after]}


def _with_samplers(over: Plain, base: Plain, samplers: list[Plain]) -> dict[str, Any]:
    """VkSamplerCreateInfos as indices into `samplers`; a single one stands for all descriptors of its binding."""
    counts = {each["binding"]: each.get("descriptorCount", 1) for each in base["pBindings"]}
    bindings = []
    for each in over.get("pBindings", ()):
        said = each.get("pImmutableSamplers")
        if said:
            count = each.get("descriptorCount", counts.get(each["binding"], 1))
            wanted = said * count if len(said) == 1 else said
            if len(wanted) != count:
                raise Unsupported(
                    "pipeline/state",
                    f"binding {each['binding']} has {count} descriptors and {len(wanted)} immutable samplers",
                )
            each = {**each, "pImmutableSamplers": [shorthand.index(samplers, lay(one, {})) for one in wanted]}
        bindings.append(each)
    return {**over, "pBindings": bindings} if bindings else dict(over)


# ── Render passes ─────────────────────────────────────────────────────────────────────────────────────────────────


def _rendering(spec: PipelineSpec, layer: Plain) -> PipelineSpec:
    """Dynamic rendering or a render pass, as was said last: a pipeline has one of them."""
    if "render_pass" in layer:
        create_info = {**spec.create_info, "renderPass": 0, "subpass": spec.create_info.get("subpass", 0)}
        chain = [each for each in create_info.get("pNext", ()) if each[0] != _RENDERING]
        create_info.pop("pNext", None)
        if chain:
            create_info["pNext"] = chain
        before = spec.render_pass or {}
        if spec.render_pass_type == "VkRenderPassCreateInfo":  # an application's; what is said is of the second kind
            before = second(before)
        render_pass = lay(layer["render_pass"], before)
        return replace(
            spec, create_info=create_info, render_pass=render_pass, render_pass_type="VkRenderPassCreateInfo2"
        )
    if spec.render_pass is not None and _RENDERING in (layer.get("graphics", {}).get("pNext") or {}):
        create_info = {name: value for name, value in spec.create_info.items() if name not in ("renderPass", "subpass")}
        return replace(spec, create_info=create_info, render_pass=None)
    return spec


# ── What the device must have ─────────────────────────────────────────────────────────────────────────────────────


def check_provided(said: Any, facts: DeviceFacts) -> None:
    """Hold every struct and every name in `said` against what the device has: drivers skip what they don't know. pNext
    may be a mapping, or the list that a PipelineSpec has.

    Raises:
        Unsupported: ``vulkan/extension-missing`` or ``vulkan/feature-missing``.
    """
    if isinstance(said, Mapping):
        for name, value in said.items():
            if name == "pNext":
                for each in value or ():
                    _check_struct(each if isinstance(each, str) else each[0], facts)
            check_provided(value, facts)
    elif isinstance(said, (list, tuple)):
        for each in said:
            check_provided(each, facts)
    elif isinstance(said, str) and said.startswith("VK_"):
        for name in said.split("|"):
            _check_name(name.strip(), facts)


def _check_struct(name: str, facts: DeviceFacts) -> None:
    struct = vulkan.struct(name)
    if struct is None:
        return  # the builder says so
    since = () if struct.version is None else ("VK_VERSION_{}_{}".format(*struct.version),)
    _require(name, (*struct.extensions, *since), facts)
    feature = _STRUCT_FEATURES.get(struct.name)
    if feature is not None and not facts.has_feature(*feature):
        raise _lacks(name, ".".join(feature), facts)


def _check_name(name: str, facts: DeviceFacts) -> None:
    providers = vulkan.providers(name)
    if providers:
        _require(name, providers, facts)
    feature = _NAME_FEATURES.get(name) or _dynamic_state_3(name)
    if feature is not None and not facts.has_feature(*feature):
        raise _lacks(name, ".".join(feature), facts)


def _require(name: str, providers: Sequence[str], facts: DeviceFacts) -> None:
    """One of `providers`; an empty list is Vulkan 1.0."""
    for each in providers:
        if each.startswith("VK_VERSION_"):
            major, minor = map(int, each.removeprefix("VK_VERSION_").split("_"))
            if facts.api_version[:2] >= (major, minor):
                return
        elif facts.has_extension(each):
            return
    if providers:
        shown = " or ".join(
            each.replace("VK_VERSION_", "Vulkan ").replace("_", ".") if each.startswith("VK_VERSION_") else each
            for each in providers
        )
        raise Unsupported("vulkan/extension-missing", f"{name}: {facts.device.name} lacks {shown}")


def _lacks(name: str, what: str, facts: DeviceFacts) -> Unsupported:
    return Unsupported("vulkan/feature-missing", f"{name}: {facts.device.name} lacks {what}")


# Features that a struct or a name asks for beyond its extension.
_STRUCT_FEATURES = {
    "VkPipelineRenderingCreateInfo": ("VkPhysicalDeviceDynamicRenderingFeatures", "dynamicRendering"),
    "VkGraphicsPipelineLibraryCreateInfoEXT": (
        "VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT",
        "graphicsPipelineLibrary",
    ),
    "VkPipelineRobustnessCreateInfo": ("VkPhysicalDevicePipelineRobustnessFeatures", "pipelineRobustness"),
    "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo": (
        "VkPhysicalDeviceSubgroupSizeControlFeatures",
        "subgroupSizeControl",
    ),
    "VkSamplerCustomBorderColorCreateInfoEXT": ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColors"),
}
_NAME_FEATURES = {
    "VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT": (
        "VkPhysicalDeviceSubgroupSizeControlFeatures",
        "subgroupSizeControl",
    ),
    "VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT": (
        "VkPhysicalDeviceSubgroupSizeControlFeatures",
        "computeFullSubgroups",
    ),
    "VK_DYNAMIC_STATE_VERTEX_INPUT_EXT": (
        "VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT",
        "vertexInputDynamicState",
    ),
    "VK_DYNAMIC_STATE_PATCH_CONTROL_POINTS_EXT": (
        "VkPhysicalDeviceExtendedDynamicState2FeaturesEXT",
        "extendedDynamicState2PatchControlPoints",
    ),
    "VK_DYNAMIC_STATE_LOGIC_OP_EXT": (
        "VkPhysicalDeviceExtendedDynamicState2FeaturesEXT",
        "extendedDynamicState2LogicOp",
    ),
    "VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT": ("VkPhysicalDeviceColorWriteEnableFeaturesEXT", "colorWriteEnable"),
    "VK_POLYGON_MODE_LINE": ("VkPhysicalDeviceFeatures", "fillModeNonSolid"),
    "VK_POLYGON_MODE_POINT": ("VkPhysicalDeviceFeatures", "fillModeNonSolid"),
}


def _dynamic_state_3(name: str) -> tuple[str, str] | None:
    """VK_EXT_extended_dynamic_state3 has a feature for each of its states, of the same name."""
    if "VK_EXT_extended_dynamic_state3" not in vulkan.providers(name):
        return None
    words = name.removeprefix("VK_DYNAMIC_STATE_").removesuffix("_EXT").removesuffix("_NV").split("_")
    return (
        "VkPhysicalDeviceExtendedDynamicState3FeaturesEXT",
        "extendedDynamicState3" + "".join(word.capitalize() for word in words),
    )


def _has_no_optimization(create_info: Plain) -> bool:
    flags = [create_info.get("flags", 0)]
    flags += [members.get("flags", 0) for name, members in create_info.get("pNext", ()) if "Flags2" in name]
    return any(_NO_OPTIMIZATION in each if isinstance(each, str) else each & 1 for each in flags)


def _ignorant() -> set[int]:
    return {vulkan.value("VkDriverId", name) for name in _IGNORE_NO_OPTIMIZATION}
