"""PipelineSpec: everything that a driver is given for one pipeline, as plain data.

Create infos are nested dicts under Vulkan's own member and enum names, for instance
``{"topology": "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST"}``: one builder (`shaderstat.backends.vulkan.builder`) turns them
into C structs. Conventions of that plain data:

- enum and flag members: a name, several names joined by ``|``, or a number;
- ``pNext``: a list of ``[struct name, dict]``; ``sType`` and counts are never given (but a count without its array is);
- handles: an index into this spec's own lists: ``module`` into `modules`, ``pSetLayouts`` into `set_layouts`,
  ``pImmutableSamplers`` into `samplers`, ``conversion`` into `conversions`, ``pLibraries`` and ``basePipelineHandle``
  into `libraries`, ``renderPass`` always 0. ``layout`` is left out: there is one (None where there is none);
- bytes (specialization data): ``bytes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from shaderstat.model import Diagnostic
from shaderstat.pipeline.render_passes import second
from shaderstat.plain import dataclass

# Part of every result's identity: raise it when the same module would get another state.
SYNTHESIS_VERSION = 1

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SpecModule:
    """One shader module: `words` are the bytes handed to the driver, in this machine's byte order. `path` is for
    messages; `synthetic` where shaderstat wrote the module."""

    words: bytes
    path: str
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class PipelineSpec:
    """What is compiled.

    Attributes:
        kind: ``compute``, ``graphics`` or ``ray_tracing``: which vkCreate*Pipelines is called.
        modules: shader modules.
        samplers: VkSamplerCreateInfo each.
        set_layouts: VkDescriptorSetLayoutCreateInfo each.
        layout: VkPipelineLayoutCreateInfo.
        render_pass: of the type `render_pass_type`; None for dynamic rendering.
        render_pass_type: ``VkRenderPassCreateInfo2``, or ``VkRenderPassCreateInfo`` where an application used that.
        create_info: Vk{Compute,Graphics,RayTracing}PipelineCreateInfo{,KHR}; capture flags are the backend's.
        synthetic_stages: VkShaderStageFlags of the stages that shaderstat generated.
        conversions: VkSamplerYcbcrConversionCreateInfo each.
        libraries: the pipelines that this one is linked from or derived from.
        bound: ``exact``, or ``upper`` where a real stage was compiled with generated partners.
        remarks: choices that the user should know of; no part of the pipeline's identity.
    """

    kind: str
    modules: tuple[SpecModule, ...]
    set_layouts: tuple[Plain, ...] = ()
    layout: Plain = field(default_factory=dict)
    create_info: Plain = field(default_factory=dict)
    samplers: tuple[Plain, ...] = ()
    render_pass: Plain | None = None
    render_pass_type: str = "VkRenderPassCreateInfo2"
    conversions: tuple[Plain, ...] = ()
    libraries: tuple[PipelineSpec, ...] = ()
    synthetic_stages: int = 0
    bound: str = "exact"
    remarks: tuple[Diagnostic, ...] = field(default=(), compare=False)


def to_plain(spec: PipelineSpec) -> dict[str, Any]:
    """All of `spec` that JSON can hold: its members but for the modules, whose places are taken by ``stages``
    (``stage``, ``entry_point``, ``path``, ``synthetic`` of each, in their order); specialization values, which are said
    apart from the state, are left out. Set layouts are in the order of their numbers, and a render pass is of the newer
    kind."""
    create_info = dict(spec.create_info)
    single = spec.kind == "compute"
    infos = [create_info.pop("stage")] if single else create_info.pop("pStages", [])
    numbers = spec.layout.get("pSetLayouts", range(len(spec.set_layouts)))
    is_old = spec.render_pass_type == "VkRenderPassCreateInfo"
    return {
        "kind": spec.kind,
        "stages": [
            {
                **{name: value for name, value in info.items() if name in ("stage", "flags", "pNext")},
                "entry_point": info["pName"],
                "path": spec.modules[info["module"]].path,
                "synthetic": spec.modules[info["module"]].synthetic,
            }
            for info in infos
        ],
        "set_layouts": [{"pBindings": []} if each is None else spec.set_layouts[each] for each in numbers],
        "layout": {**spec.layout, **({"pSetLayouts": list(range(len(numbers)))} if numbers else {})},
        "create_info": create_info,
        "samplers": list(spec.samplers),
        "render_pass": second(spec.render_pass) if is_old and spec.render_pass is not None else spec.render_pass,
    }


def pack(spec: PipelineSpec) -> dict[str, Any]:
    """All of `spec` but its remarks, as plain data that holds ``bytes``: for a wire, or to tell specs apart."""
    return {
        "kind": spec.kind,
        "modules": [[module.words, module.path, module.synthetic] for module in spec.modules],
        "set_layouts": list(spec.set_layouts),
        "layout": spec.layout,
        "create_info": spec.create_info,
        "samplers": list(spec.samplers),
        "render_pass": spec.render_pass,
        "render_pass_type": spec.render_pass_type,
        "conversions": list(spec.conversions),
        "libraries": [pack(library) for library in spec.libraries],
        "synthetic_stages": spec.synthetic_stages,
        "bound": spec.bound,
    }


def unpack(packed: Plain) -> PipelineSpec:
    """The inverse of `pack`."""
    return PipelineSpec(
        **{
            **packed,
            "modules": tuple(SpecModule(*module) for module in packed["modules"]),
            "libraries": tuple(unpack(library) for library in packed["libraries"]),
            **{name: tuple(packed[name]) for name in ("set_layouts", "samplers", "conversions")},
        }
    )
