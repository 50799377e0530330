"""Pipelines that have every structure which an archive can hold, every member of it set to a value of its own.

Values are made from the registry: no zero, no first word of an enumeration, no two numbers alike, so that a member that
goes astray is seen. What hangs on what follows the specification; whether a device would take it does not matter here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from shaderstat.archive.layouts import FIELDS, fields
from shaderstat.model import Setup
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.registry import vulkan
from tests.conftest import ROOT

# In chains of records, but no structure of Vulkan's chains.
CONVERSION = "VkSamplerYcbcrConversionCreateInfo"
# Where it is chained, the flags beside it count for nothing.
FLAGS2 = "VkPipelineCreateFlags2CreateInfo"
UNUSED = 0xFFFFFFFF


def words(*rest: int) -> bytes:
    """A module as far as an archive cares."""
    return struct.pack(f"<{5 + len(rest)}I", 0x07230203, 0x00010300, 0x0008000B, 9, 0, *rest)


class Filler:
    """Makes up structs; what they refer to by hash is `handles`."""

    def __init__(self, handles: Mapping[str, int] | None = None) -> None:
        self._numbers = count(2)
        self._handles = handles or {}

    def struct(self, name: str, **given: Any) -> dict[str, Any]:
        """Every member that records have, `given` ones as they are; None leaves one out."""
        plain: dict[str, Any] = {}
        if name == "VkDescriptorSetAndBindingMappingEXT":
            given = {"source": SOURCES["heapData"], **given}
        for field in fields(name):
            if field.member in given:
                continue
            if field.kind in ("handle", "handles"):
                if field.type in self._handles:
                    index = self._handles[field.type]
                    plain[field.member] = index if field.kind == "handle" else [index]
                continue
            plain[field.member] = self.value(field.type, field.kind, field.member)
        plain |= {member: value for member, value in given.items() if value is not None}
        for member in vulkan.struct(name).members:  # type: ignore[union-attr]
            # a count is as long as its arrays
            arrays = [
                each
                for each, other in vulkan.struct(name).members.items()  # type: ignore[union-attr]
                if other.length == member and each in plain
            ]
            if arrays and member in plain:
                plain[member] = len(plain[arrays[0]])
        return plain

    def value(self, type: str, kind: str, member: str = "") -> Any:
        if type == "VkRect2D":
            offset = {"x": -next(self._numbers), "y": next(self._numbers)}
            extent = {"width": next(self._numbers), "height": next(self._numbers)}
            return [{"offset": offset, "extent": extent}]
        if type == "VkMutableDescriptorTypeListEXT":
            return [{"pDescriptorTypes": ["VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE", "VK_DESCRIPTOR_TYPE_STORAGE_IMAGE"]}]
        if type == "VkClearColorValue":
            return {"uint32": [next(self._numbers) for _ in range(4)]}
        if type == "VkSpecializationInfo":
            entries = [
                {"constantID": next(self._numbers), "offset": 0, "size": 4},
                {"constantID": next(self._numbers), "offset": 4, "size": 8},
            ]
            return {"pMapEntries": entries, "pData": bytes(range(1, 13))}
        if type == "VkDescriptorMappingSourceDataEXT":
            return {"heapData": self.struct("VkDescriptorMappingSourceHeapDataEXT")}
        if kind == "struct":
            return self.struct(type)
        if kind == "structs":
            return [self.struct(type) for _ in range(2)]
        if kind == "numbers":
            return [self.number(type) for _ in range(4 if member == "blendConstants" else 2)]
        if kind == "pointer":
            return [self.number(type)]
        if kind == "text":
            return f"entry{next(self._numbers)}"
        return self.number(type)

    def number(self, type: str) -> Any:
        if type in ("float", "double"):
            return next(self._numbers) + 0.25
        if type == "VkBool32":
            return 1
        known = {name: bit for name, bit in vulkan.values(type).items() if vulkan.name(type, bit) == name}
        if vulkan.is_flags(type):
            bits = [name for name, bit in known.items() if bit and bit & (bit - 1) == 0 and bit < 1 << 31]
            if not bits:
                return 0  # reserved for future use
            if type.endswith(("FlagBits", "FlagBits2", "FlagBitsKHR")) or len(bits) == 1:
                return bits[-1]
            return f"{bits[0]} | {bits[-1]}"
        names = [name for name, number in known.items() if number > 0 and not name.endswith("MAX_ENUM")]
        if names:
            return names[next(self._numbers) % len(names)]
        return next(self._numbers)


# Struct → where it may be chained.
CHAINS: Mapping[str, tuple[str, ...]] = {
    name: found.extends
    for name in FIELDS
    if (found := vulkan.struct(name)) is not None and found.s_type is not None and found.extends
}


def chain(filler: Filler, host: str, *but: str) -> list[list[Any]]:
    """Every structure of the table that may be chained to `host`, less some."""
    names = [name for name, hosts in CHAINS.items() if host in hosts and name not in but]
    return [[name, filler.struct(name)] for name in names]


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
    return chained(
        "VkRenderPassCreateInfo2",
        pAttachments=[chained("VkAttachmentDescription2") for _ in range(3)],
        pDependencies=[chained("VkSubpassDependency2")],
        pSubpasses=[subpass, chained("VkSubpassDescription2", pDepthStencilAttachment=None)],
    )


def render_pass(filler: Filler) -> dict[str, Any]:
    return filler.struct("VkRenderPassCreateInfo", pNext=chain(filler, "VkRenderPassCreateInfo"))


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
        filler.struct("VkRayTracingShaderGroupCreateInfoKHR", generalShader=0, closestHitShader=UNUSED),
        filler.struct("VkRayTracingShaderGroupCreateInfoKHR"),
    ]
    create_info = filler.struct(
        "VkRayTracingPipelineCreateInfoKHR",
        flags=flags,
        pStages=[stage(filler, "RAYGEN_BIT_KHR", 0), stage(filler, "MISS_BIT_KHR", 1)],
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


# Which member of the union VkDescriptorMappingSourceDataEXT counts.
SOURCES = {
    "constantOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT",
    "pushIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_PUSH_INDEX_EXT",
    "indirectIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_EXT",
    "indirectIndexArray": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_ARRAY_EXT",
    "heapData": "VK_DESCRIPTOR_MAPPING_SOURCE_RESOURCE_HEAP_DATA_EXT",
    "pushDataOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_DATA_EXT",
    "pushAddressOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT",
    "indirectAddress": "VK_DESCRIPTOR_MAPPING_SOURCE_INDIRECT_ADDRESS_EXT",
    "shaderRecordIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_SHADER_RECORD_INDEX_EXT",
    "shaderRecordDataOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_DATA_EXT",
    "shaderRecordAddressOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_ADDRESS_EXT",
}


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
