"""States written by hand for the samples, and what scripts that ask the Vulkan backend alone begin with.

Imported by processes of their own (see test_backend.py): a driver that crashes must not take the tests with it.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

from shaderstat.backends import vulkan
from shaderstat.backends.base import Backend, CompiledPipeline
from shaderstat.model import ExecutableAnswer, Launch
from shaderstat.pipeline.spec import PipelineSpec, SpecModule

SAMPLES = Path(__file__).resolve().parents[2] / "sample_spirv"


def module(name: str) -> SpecModule:
    return SpecModule((SAMPLES / name).read_bytes(), name)


def descriptors(stage: str, *types: str) -> dict[str, Any]:
    """A set layout with one descriptor of each type, in the order of their bindings."""
    return {
        "pBindings": [
            {
                "binding": binding,
                "descriptorType": f"VK_DESCRIPTOR_TYPE_{type}",
                "descriptorCount": 1,
                "stageFlags": f"VK_SHADER_STAGE_{stage}",
            }
            for binding, type in enumerate(types)
        ]
    }


def compute(name: str, layout: dict[str, Any], **stage: Any) -> PipelineSpec:
    """A compute pipeline of one set and `stage`'s specialization, without push constants."""
    return PipelineSpec(
        kind="compute",
        modules=(module(name),),
        set_layouts=(layout,),
        layout={"pSetLayouts": [0]},
        create_info={"stage": {"stage": "VK_SHADER_STAGE_COMPUTE_BIT", "module": 0, "pName": "main", **stage}},
    )


# Two storage buffers; a, b and count are push constants.
SCALE = replace(
    compute("scale.comp.spv", descriptors("COMPUTE_BIT", "STORAGE_BUFFER", "STORAGE_BUFFER")),
    layout={
        "pSetLayouts": [0],
        "pPushConstantRanges": [{"stageFlags": "VK_SHADER_STAGE_COMPUTE_BIT", "offset": 0, "size": 12}],
    },
)


def tuned(taps: int) -> PipelineSpec:
    """Specialization constants 0 to 3: the local size, how many taps, and whether to clamp."""
    return compute(
        "tuned.comp.spv",
        descriptors("COMPUTE_BIT", "STORAGE_BUFFER", "STORAGE_BUFFER", "STORAGE_BUFFER"),
        pSpecializationInfo={
            "pMapEntries": [{"constantID": i, "offset": 4 * i, "size": 4} for i in range(4)],
            "pData": struct.pack("=IIiI", 32, 2, taps, 1),
        },
    )


WATER = PipelineSpec(
    kind="graphics",
    modules=(module("water.vert.spv"), module("water.frag.spv")),
    set_layouts=(
        descriptors("ALL_GRAPHICS", "UNIFORM_BUFFER"),
        descriptors("FRAGMENT_BIT", "COMBINED_IMAGE_SAMPLER", "COMBINED_IMAGE_SAMPLER"),
    ),
    layout={"pSetLayouts": [0, 1]},
    create_info={
        "pStages": [
            {"stage": "VK_SHADER_STAGE_VERTEX_BIT", "module": 0, "pName": "main"},
            {"stage": "VK_SHADER_STAGE_FRAGMENT_BIT", "module": 1, "pName": "main"},
        ],
        "pVertexInputState": {
            "pVertexBindingDescriptions": [{"binding": 0, "stride": 20, "inputRate": "VK_VERTEX_INPUT_RATE_VERTEX"}],
            "pVertexAttributeDescriptions": [
                {"location": 0, "binding": 0, "format": "VK_FORMAT_R32G32B32_SFLOAT", "offset": 0},
                {"location": 1, "binding": 0, "format": "VK_FORMAT_R32G32_SFLOAT", "offset": 12},
            ],
        },
        "pInputAssemblyState": {"topology": "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST"},
        "pViewportState": {"viewportCount": 1, "scissorCount": 1},
        "pRasterizationState": {"lineWidth": 1.0},
        "pMultisampleState": {"rasterizationSamples": "VK_SAMPLE_COUNT_1_BIT"},
        "pColorBlendState": {
            "pAttachments": [
                {"colorWriteMask": "|".join(f"VK_COLOR_COMPONENT_{channel}_BIT" for channel in ("R", "G", "B", "A"))}
            ]
        },
        "pDynamicState": {"pDynamicStates": ["VK_DYNAMIC_STATE_VIEWPORT", "VK_DYNAMIC_STATE_SCISSOR"]},
        "pNext": [["VkPipelineRenderingCreateInfo", {"pColorAttachmentFormats": ["VK_FORMAT_R8G8B8A8_UNORM"]}]],
    },
)

IN_RENDER_PASS = replace(
    WATER,
    create_info={name: value for name, value in WATER.create_info.items() if name != "pNext"},
    render_pass={
        "pAttachments": [
            {
                "format": "VK_FORMAT_R8G8B8A8_UNORM",
                "samples": "VK_SAMPLE_COUNT_1_BIT",
                "loadOp": "VK_ATTACHMENT_LOAD_OP_CLEAR",
                "storeOp": "VK_ATTACHMENT_STORE_OP_STORE",
                "stencilLoadOp": "VK_ATTACHMENT_LOAD_OP_DONT_CARE",
                "stencilStoreOp": "VK_ATTACHMENT_STORE_OP_DONT_CARE",
                "initialLayout": "VK_IMAGE_LAYOUT_UNDEFINED",
                "finalLayout": "VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL",
            }
        ],
        "pSubpasses": [
            {
                "pipelineBindPoint": "VK_PIPELINE_BIND_POINT_GRAPHICS",
                "pColorAttachments": [{"attachment": 0, "layout": "VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL"}],
            }
        ],
    },
)

ALL = {"scale": SCALE, "tuned": tuned(8), "water": WATER, "in_render_pass": IN_RENDER_PASS}


def launch(device: int = 0) -> Launch:
    return Launch(id="radv:navi21", backend="vulkan", source="null-device", device=device)


def open_backend() -> Backend:
    return vulkan.open(launch(), None)  # type: ignore[arg-type]  # it needs no SPIRV-Tools


def ask(
    backend: Backend, spec: PipelineSpec, *, representations: bool = False
) -> tuple[tuple[ExecutableAnswer, ...], CompiledPipeline]:
    """Compile, query, destroy."""
    with backend.compile(spec, statistics=True, representations=representations) as pipeline:
        return pipeline.query(), pipeline


def numbers(found: tuple[ExecutableAnswer, ...]) -> dict[str, dict[str, int]]:
    """Statistics by executable, less the one that depends on the create flags."""
    return {
        one.name: {each.name: each.bits for each in one.statistics if each.name != "Driver pipeline hash"}
        for one in found
    }
