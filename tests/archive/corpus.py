"""Pipelines that have every structure which an archive can hold, every member of it set to a value of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from shaderstat.archive.layouts import FIELDS, fields
from shaderstat.model import Setup
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.registry import vulkan
from tests.archive.filler import SOURCES, Filler, chain
from tests.conftest import ROOT

# In chains of records, but no structure of Vulkan's chains.
CONVERSION = "VkSamplerYcbcrConversionCreateInfo"
# Where it is chained, the flags beside it count for nothing.
FLAGS2 = "VkPipelineCreateFlags2CreateInfo"
UNUSED = 0xFFFFFFFF


def words(*rest: int) -> bytes:
    """A module as far as an archive cares."""
    return struct.pack(f"<{5 + len(rest)}I", 0x07230203, 0x00010300, 0x0008000B, 9, 0, *rest)


def samplers(filler: Filler) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """Samplers with every chained structure, one of them with a conversion; and that."""
    plain = filler.struct("VkSamplerCreateInfo", pNext=chain(filler, "VkSamplerCreateInfo"))
    with_conversion = filler.struct("VkSamplerCreateInfo", pNext=[["VkSamplerYcbcrConversionInfo", {"conversion": 0}]])
    return (plain, with_conversion), (filler.struct(CONVERSION),)


def set_layouts(filler: Filler) -> tuple[dict[str, Any], ...]:
    binding = filler.struct(
        "VkDescriptorSetLayoutBinding",
        descriptorType="VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER",
        descriptorCount=2,
        pImmutableSamplers=[0, 1],
    )
    other = filler.struct("VkDescriptorSetLayoutBinding", pImmutableSamplers=None)
    full = filler.struct(
        "VkDescriptorSetLayoutCreateInfo",
        pBindings=[binding, other],
        pNext=chain(filler, "VkDescriptorSetLayoutCreateInfo"),
    )
    return full, {"flags": 0, "pBindings": []}


def base(filler: Filler, kind: str) -> PipelineSpec:
    """What pipelines of all kinds have."""
    its_samplers, conversions = samplers(filler)
    ranges = [filler.struct("VkPushConstantRange") for _ in range(2)]
    return PipelineSpec(
        kind=kind,
        modules=(SpecModule(words(1), "a"), SpecModule(words(2, 0xFFFFFFFF), "b")),
        samplers=its_samplers,
        conversions=conversions,
        set_layouts=set_layouts(filler),
        layout={"flags": 0, "pPushConstantRanges": ranges, "pSetLayouts": [0, None, 1]},
    )


def stage(filler: Filler, stage: str, module: int, *but: str) -> dict[str, Any]:
    return filler.struct(
        "VkPipelineShaderStageCreateInfo",
        stage=f"VK_SHADER_STAGE_{stage}",
        module=module,
        pNext=chain(filler, "VkPipelineShaderStageCreateInfo", *but),
    )


def compute() -> PipelineSpec:
    filler = Filler()
    return replace(
        base(filler, "compute"),
        create_info=filler.struct(
            "VkComputePipelineCreateInfo",
            flags=0,
            stage=stage(filler, "COMPUTE_BIT", 1),
            basePipelineIndex=None,
            pNext=chain(filler, "VkComputePipelineCreateInfo"),
        ),
    )


def render_pass2(filler: Filler) -> dict[str, Any]:
    """With every structure at every level."""

    def chained(name: str, **given: Any) -> dict[str, Any]:
        return filler.struct(name, pNext=chain(filler, name), **given)

    def reference() -> dict[str, Any]:
        return chained("VkAttachmentReference2")

    subpass = chained(
        "VkSubpassDescription2",
        pInputAttachments=[reference()],
        pColorAttachments=[reference(), reference()],
        pResolveAttachments=[reference(), reference()],
        pDepthStencilAttachment=reference(),
    )
    for name, members in subpass["pNext"]:
        if name == "VkSubpassDescriptionDepthStencilResolve":
            members["pDepthStencilResolveAttachment"] = reference()
    subpasses = [subpass, chained("VkSubpassDescription2", pDepthStencilAttachment=None)]
    return chained(
        "VkRenderPassCreateInfo2",
        pAttachments=[chained("VkAttachmentDescription2") for _ in range(count_attachments(subpasses))],
        pDependencies=[chained("VkSubpassDependency2", srcSubpass=0, dstSubpass=1)],
        pSubpasses=subpasses,
    )


def count_attachments(subpasses: list[dict[str, Any]]) -> int:
    """Have every reference name an attachment of its own; how many these are."""
    number = count()

    def name(value: Any) -> None:
        if isinstance(value, dict):
            if "attachment" in value:
                value["attachment"] = next(number)
            if "pPreserveAttachments" in value:
                value["pPreserveAttachments"] = [next(number) for _ in value["pPreserveAttachments"]]
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            name(each)

    name(subpasses)
    return next(number)


def render_pass(filler: Filler) -> dict[str, Any]:
    plain = filler.struct("VkRenderPassCreateInfo", pNext=chain(filler, "VkRenderPassCreateInfo"))
    number = count_attachments(plain["pSubpasses"])
    plain["pAttachments"] = [filler.struct("VkAttachmentDescription") for _ in range(number)]
    plain["pDependencies"] = [filler.struct("VkSubpassDependency", srcSubpass=0, dstSubpass=1)]
    return plain


STATES = {
    "pTessellationState": "VkPipelineTessellationStateCreateInfo",
    "pVertexInputState": "VkPipelineVertexInputStateCreateInfo",
    "pRasterizationState": "VkPipelineRasterizationStateCreateInfo",
    "pInputAssemblyState": "VkPipelineInputAssemblyStateCreateInfo",
    "pMultisampleState": "VkPipelineMultisampleStateCreateInfo",
    "pColorBlendState": "VkPipelineColorBlendStateCreateInfo",
    "pViewportState": "VkPipelineViewportStateCreateInfo",
    "pDepthStencilState": "VkPipelineDepthStencilStateCreateInfo",
}


def graphics(dynamic: tuple[str, ...] = (), *, second: bool = True) -> PipelineSpec:
    """Every state and structure of a graphics pipeline.

    Args:
        second: with a VkRenderPassCreateInfo2, and flags of the second kind; else with the older ones.
    """
    filler = Filler()
    states = {member: filler.struct(name, pNext=chain(filler, name)) for member, name in STATES.items()}
    states["pMultisampleState"] |= {"rasterizationSamples": "VK_SAMPLE_COUNT_64_BIT"}  # so that the mask has two words
    states["pRasterizationState"] |= {"rasterizerDiscardEnable": 0}
    create_info = filler.struct(
        "VkGraphicsPipelineCreateInfo",
        **states,
        **({"flags": 0} if second else {}),
        subpass=0,
        basePipelineIndex=None,
        pDynamicState={"flags": 0, "pDynamicStates": list(dynamic)} if dynamic else None,
        pStages=[
            stage(filler, "VERTEX_BIT", 0),
            stage(filler, "TESSELLATION_CONTROL_BIT", 1),
            stage(filler, "TESSELLATION_EVALUATION_BIT", 0),
            stage(filler, "FRAGMENT_BIT", 1),
        ],
        pNext=chain(
            filler,
            "VkGraphicsPipelineCreateInfo",
            "VkPipelineLibraryCreateInfoKHR",
            *([] if second else [FLAGS2]),
        ),
    )
    return replace(
        base(filler, "graphics"),
        create_info=create_info,
        render_pass=render_pass2(filler) if second else render_pass(filler),
        render_pass_type="VkRenderPassCreateInfo2" if second else "VkRenderPassCreateInfo",
    )


def ray_tracing(*libraries: PipelineSpec, flags: int = 0) -> PipelineSpec:
    """Args:
    flags: of the first kind; without any there are some of the second.
    """
    filler = Filler()
    groups = [
        filler.struct(
            "VkRayTracingShaderGroupCreateInfoKHR",
            generalShader=1, closestHitShader=UNUSED, anyHitShader=UNUSED, intersectionShader=UNUSED,
        ),
        filler.struct(
            "VkRayTracingShaderGroupCreateInfoKHR",
            generalShader=UNUSED, closestHitShader=2, anyHitShader=3, intersectionShader=4,
        ),
    ]  # fmt: skip
    create_info = filler.struct(
        "VkRayTracingPipelineCreateInfoKHR",
        flags=flags,
        pStages=[
            stage(filler, f"{name}_BIT_KHR", number % 2)
            for number, name in enumerate(("RAYGEN", "MISS", "CLOSEST_HIT", "CLOSEST_HIT", "CLOSEST_HIT"))
        ],
        pGroups=groups,
        pDynamicState={"flags": 0, "pDynamicStates": ["VK_DYNAMIC_STATE_RAY_TRACING_PIPELINE_STACK_SIZE_KHR"]},
        pLibraryInfo={"pLibraries": list(range(len(libraries)))} if libraries else None,
        basePipelineIndex=None,
        pNext=chain(filler, "VkRayTracingPipelineCreateInfoKHR", *([FLAGS2] if flags else [])),
    )
    return replace(base(filler, "ray_tracing"), create_info=create_info, libraries=libraries)


def linked() -> PipelineSpec:
    """A graphics pipeline of two libraries, which is derived from the first."""
    parts = (
        replace(
            base(Filler(), "graphics"),
            modules=(),
            create_info={
                "flags": "VK_PIPELINE_CREATE_LIBRARY_BIT_KHR | VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT",
                "layout": None,
                "pInputAssemblyState": Filler().struct("VkPipelineInputAssemblyStateCreateInfo"),
                "pVertexInputState": Filler().struct("VkPipelineVertexInputStateCreateInfo"),
                "pNext": [["VkGraphicsPipelineLibraryCreateInfoEXT", {"flags": 1}]],
            },
            layout={}, set_layouts=(), samplers=(), conversions=(),
        ),
        replace(
            base(Filler(), "graphics"),
            create_info={
                "flags": "VK_PIPELINE_CREATE_LIBRARY_BIT_KHR",
                "pStages": [stage(Filler(), "FRAGMENT_BIT", 0)],
                "pNext": [["VkGraphicsPipelineLibraryCreateInfoEXT", {"flags": 4}]],
            },
        ),
    )  # fmt: skip
    return replace(
        base(Filler(), "graphics"),
        modules=(),
        create_info={
            "flags": "VK_PIPELINE_CREATE_DERIVATIVE_BIT",
            "basePipelineHandle": 0,
            "basePipelineIndex": -1,
            "pNext": [["VkPipelineLibraryCreateInfoKHR", {"pLibraries": [0, 1]}]],
        },
        libraries=parts,
    )


def mapping_sources() -> Iterator[PipelineSpec]:
    """A compute pipeline for each kind of descriptor mapping, embedded samplers among them."""
    for field in fields("VkDescriptorMappingSourceDataEXT"):
        filler, conversions = Filler(), tuple[dict[str, Any], ...]()
        if field.kind == "struct":
            source = filler.struct(field.type)
            if "pEmbeddedSampler" in vulkan.struct(field.type).members:  # type: ignore[union-attr]
                conversion = ["VkSamplerYcbcrConversionInfo", {"conversion": 0}]
                source["pEmbeddedSampler"] = filler.struct("VkSamplerCreateInfo", pNext=[conversion])
                conversions = (filler.struct(CONVERSION),)
        else:
            source = filler.number(field.type)
        mapping = filler.struct(
            "VkDescriptorSetAndBindingMappingEXT", source=SOURCES[field.member], sourceData={field.member: source}
        )
        info = filler.struct(
            "VkPipelineShaderStageCreateInfo",
            stage="VK_SHADER_STAGE_COMPUTE_BIT",
            module=0,
            pNext=[["VkShaderDescriptorSetAndBindingMappingInfoEXT", {"pMappings": [mapping]}]],
        )
        yield PipelineSpec(
            kind="compute",
            modules=(SpecModule(words(3), "c"),),
            create_info={"flags": "VK_PIPELINE_CREATE_DISPATCH_BASE_BIT", "stage": info},
            conversions=conversions,
        )


def pipelines() -> Iterator[PipelineSpec]:
    """All of them."""
    yield compute()
    yield graphics()
    yield graphics(second=False)
    yield graphics(DYNAMIC)
    yield ray_tracing()
    yield ray_tracing(ray_tracing(flags=0x800), flags=0x1)
    yield linked()
    yield from mapping_sources()


DYNAMIC = tuple(
    name
    for name, number in vulkan.values("VkDynamicState").items()
    if vulkan.name("VkDynamicState", number) == name and "RAY_TRACING" not in name and "MAX_ENUM" not in name
)

FEATURES = tuple(
    (name, member) for name in FIELDS if name.startswith("VkPhysicalDevice") for member in FIELDS[name].split()
)
SETUP = Setup(
    wished=(("VkPhysicalDeviceFeatures", "robustBufferAccess"), *FEATURES[::2]),
    features=tuple((*each, False) for each in FEATURES[1::2]),
    application=(
        ("pApplicationName", "a game"),
        ("pEngineName", "an engine"),
        ("applicationVersion", 7),
        ("engineVersion", 8),
        ("apiVersion", 1 << 22 | 3 << 12),
    ),
)


# ── With real modules ─────────────────────────────────────────────────────────────────────────────────────────────

MODULES = {
    "VERTEX": "sample_spirv/hills.vert.spv",
    "TESSELLATION_CONTROL": "sample_spirv/hills.tesc.spv",
    "TESSELLATION_EVALUATION": "sample_spirv/hills.tese.spv",
    "FRAGMENT": "sample_spirv/hills.frag.spv",
    "COMPUTE": "sample_spirv/scale.comp.spv",
    "RAYGEN": "sample_optional/rays.rgen.spv",
    "MISS": "sample_optional/rays.rmiss.spv",
    "CLOSEST_HIT": "sample_optional/rays.rchit.spv",
}


def with_modules(spec: PipelineSpec) -> PipelineSpec:
    """`spec` with a real module for each stage, under the name of its entry point."""
    infos = [spec.create_info["stage"]] if spec.kind == "compute" else spec.create_info.get("pStages", [])
    modules, changed = [], []
    for info in infos:
        word = info["stage"].removeprefix("VK_SHADER_STAGE_").partition("_BIT")[0]
        modules.append(SpecModule((ROOT / MODULES[word]).read_bytes(), MODULES[word]))
        changed.append({**info, "module": len(modules) - 1, "pName": "main"})
    own: dict[str, Any] = {}
    if changed:
        own = {"stage": changed[0]} if spec.kind == "compute" else {"pStages": changed}
    return replace(
        spec,
        modules=tuple(modules),
        create_info={**spec.create_info, **own},
        libraries=tuple(with_modules(library) for library in spec.libraries),
    )
