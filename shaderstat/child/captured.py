"""A captured pipeline's state, held against its modules and the device before a driver sees it.

Nothing is inferred here. An archive may come from anywhere: a specialization that doesn't fit its constants, or state
of an extension that the device lacks, would be read past its end or skipped in silence.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.child.prepare import Prepared, choose
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import STAGE_BITS, Diagnostic, Job
from shaderstat.pipeline.given import check_given
from shaderstat.pipeline.layout import specialization
from shaderstat.pipeline.overrides import check_provided, overlay
from shaderstat.pipeline.spec import PipelineSpec, Plain, SpecModule, to_plain, unpack
from shaderstat.pipeline.spec_values import resolve
from shaderstat.pipeline.stages import StageInput, blame, check_stage
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.registry import vulkan
from shaderstat.spirv.facts import SpecConstant
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

_STAGES = {bit: stage for stage, bit in STAGE_BITS.items()}
# Of a graphics pipeline, what synthesis may add.
_STATES = (
    "pVertexInputState", "pInputAssemblyState", "pTessellationState", "pViewportState", "pRasterizationState",
    "pMultisampleState", "pDepthStencilState", "pColorBlendState", "pDynamicState",
)  # fmt: skip
_CODES = {
    "bool": "I", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip


def prepare_state(job: Job) -> tuple[PipelineSpec, Prepared]:
    """The pipeline of ``job.state``, with the job's specialization over its own, and its stages as they are then; those
    of its libraries among them.

    Raises:
        InvalidSpirv: broken words, no such entry point, a specialization that isn't its constant's.
            ``archive/layout``: descriptors that its layout lacks.
        Unsupported: a foreign flavour of SPIR-V, or a value that is none of its constant's type.
    """
    assert job.state is not None
    found: set[int] = set()
    stages: list[StageInput] = []
    spec = _prepared(unpack(job.state), job, stages, found)
    return spec, Prepared(tuple(stages), tuple(sorted(found)))


def check_state(spec: PipelineSpec, stages: tuple[StageInput, ...], facts: DeviceFacts) -> None:
    """Hold everything that a pipeline is made of against what the device has.

    Raises:
        Unsupported: ``vulkan/extension-missing``, ``vulkan/feature-missing``, ``vulkan/limit`` or ``vulkan/format``,
            ``pipeline/state`` where it names what it doesn't have.
        InvalidSpirv: ``spirv/local-size``.
    """
    for stage in stages:
        with blame(stage.path):
            check_stage(stage.entry, facts)
    check_given(spec, stages, facts)
    for said in (spec.create_info, spec.layout, spec.render_pass, *spec.set_layouts, *spec.samplers, *spec.conversions):
        check_provided(said, facts)
    if spec.conversions and not facts.has_feature(
        "VkPhysicalDeviceSamplerYcbcrConversionFeatures", "samplerYcbcrConversion"
    ):
        raise Unsupported("vulkan/feature-missing", f"{facts.device.name} lacks samplerYcbcrConversion")
    for format, feature, what in _formats(spec):
        name = format if isinstance(format, str) else vulkan.name("VkFormat", format) or f"format {format}"
        if name != "VK_FORMAT_UNDEFINED" and not facts.supports_format(name, feature):
            raise Unsupported("vulkan/format", f"{what} of {name}: {facts.device.name} has none")
    for library in spec.libraries:
        check_state(library, (), facts)


def said(
    spec: PipelineSpec, stages: tuple[StageInput, ...], facts: DeviceFacts
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """A captured pipeline's state, as `shaderstat.pipeline.spec.to_plain` has it, with its ``specialization`` as people
    type it; and, where a manifest can't write out all of it, why."""
    plain = to_plain(spec)
    plain["specialization"] = {
        f"{stage.entry.stage}:{number}": _typed(value)
        for stage in stages
        for number, value in stage.specialization.items()
    }
    if spec.kind == "graphics":
        # What the pipeline doesn't have must not be inferred.
        plain["create_info"] = {**dict.fromkeys(_STATES), **plain["create_info"]}
    lacking = [
        what
        for what, is_there in (
            ("pipeline libraries", spec.libraries),
            ("sampler conversions", spec.conversions),
            ("null set layouts", None in spec.layout.get("pSetLayouts", ())),
        )
        if is_there
    ]
    if not lacking and not _is_what_modules_lead_to(spec, plain, stages, facts):
        lacking = ["state that its modules don't lead to"]
    message = f"not written out, but taken from the archive: {' and '.join(lacking)}"
    return plain, [Diagnostic("info", "archive/not-in-manifest", message)] if lacking else []


def _is_what_modules_lead_to(
    spec: PipelineSpec, plain: Plain, stages: tuple[StageInput, ...], facts: DeviceFacts
) -> bool:
    """Whether the state is the one that is inferred of the modules with everything of it said over that: what an
    application didn't have may be inferred all the same. Stages that were generated for it must be so again."""
    if _names_struct(plain, _MAPPING):
        return False
    real = [(one, info) for one, info in zip(stages, plain["stages"], strict=True) if not info["synthetic"]]
    samplers = [_said(each) for each in plain["samplers"]]
    sets = {str(number): _said(each) for number, each in enumerate(plain["set_layouts"])}
    for one in sets.values():
        for binding in one["pBindings"]:
            if "pImmutableSamplers" in binding:
                binding["pImmutableSamplers"] = [samplers[place] for place in binding["pImmutableSamplers"]]
    own = {name: value for name, value in plain["create_info"].items() if name != "renderPass"}
    layer: dict[str, Any] = {
        spec.kind: _said(own),
        "layout": {**_said(plain["layout"]), "pSetLayouts": sets},
        "stages": [
            {"stage": one.entry.stage, **_said({name: info[name] for name in _OF_STAGES if name in info})}
            | {"entry_point": info["entry_point"]}
            for one, info in real
        ],
    }
    if plain["render_pass"] is not None:
        layer["render_pass"] = _said(plain["render_pass"])
    given = [one for one, _ in real]
    try:
        again = overlay(synthesise(given, facts), [layer], given, facts)
    except (Unsupported, InvalidSpirv):
        return False
    return _told(to_plain(again)) == _told(to_plain(spec)) and _generated(again) == _generated(spec)


def _generated(spec: PipelineSpec) -> set[bytes]:
    return {module.words for module in spec.modules if module.synthetic}


_OF_STAGES = ("flags", "pNext")
# Bindings as places of a descriptor heap. It has a union that says itself which of its members counts: there are no
# words for that.
_MAPPING = "VkShaderDescriptorSetAndBindingMappingInfoEXT"


def _names_struct(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return any(_names_struct(each, name) for each in value.values())
    if isinstance(value, (list, tuple)):
        return any(_names_struct(each, name) for each in value)
    return bool(value == name)


def _said(plain: Plain) -> dict[str, Any]:
    """A struct as people say it: pNext as a mapping."""
    result: dict[str, Any] = {}
    for name, value in plain.items():
        if name == "pNext":
            result[name] = {each: _said(members) for each, members in value}
        elif isinstance(value, Mapping):
            result[name] = _said(value)
        elif isinstance(value, (list, tuple)):
            result[name] = [_said(each) if isinstance(each, Mapping) else each for each in value]
        else:
            result[name] = value
    return result


def _told(plain: Plain) -> dict[str, Any]:
    """What of a state counts: samplers where they are used, in place of their numbers; nothing that says nothing."""
    samplers = [_counting(each) for each in plain["samplers"]]

    def set_layout(one: Plain) -> dict[str, Any]:
        bindings = [
            {**each, "pImmutableSamplers": [samplers[place] for place in each.get("pImmutableSamplers") or ()]}
            for each in one["pBindings"]
        ]
        return {**one, "pBindings": sorted(bindings, key=lambda each: each.get("binding", 0))}

    stages = [{**one, "path": ""} for one in plain["stages"]]
    found: dict[str, Any] = _counting(
        {**plain, "samplers": None, "stages": stages, "specialization": None, "set_layouts": []}
    )
    return found | {"sets": [_counting(set_layout(one)) for one in plain["set_layouts"]]}


def _counting(value: Any) -> Any:
    if isinstance(value, Mapping):
        told = {name: _counting(each) for name, each in value.items()}
        return {name: each for name, each in told.items() if each not in (None, 0, {}, [])}
    if isinstance(value, (list, tuple)):
        return [_counting(each) for each in value]
    return value


def _typed(value: int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _prepared(spec: PipelineSpec, job: Job, stages: list[StageInput], found: set[int]) -> PipelineSpec:
    modules = list(spec.modules)
    create_info = dict(spec.create_info)
    infos = [create_info["stage"]] if spec.kind == "compute" else create_info.get("pStages") or []
    changed = []
    for info in infos:
        changed.append(_stage(info, modules, job, stages, found))
        _check_bindings(spec, info, stages[-1])
    if spec.kind == "compute":
        create_info["stage"] = changed[0]
    elif changed:
        create_info["pStages"] = changed
    libraries = tuple(_prepared(library, job, stages, found) for library in spec.libraries)
    return replace(spec, modules=tuple(modules), create_info=create_info, libraries=libraries)


def _stage(
    info: Plain, modules: list[SpecModule], job: Job, stages: list[StageInput], found: set[int]
) -> dict[str, Any]:
    """Add a stage to `stages`, and give its create info with the job's specialization in it."""
    module = modules[info["module"]]
    bit = info.get("stage", 0)
    number = vulkan.value("VkShaderStageFlagBits", bit) if isinstance(bit, str) else bit
    with blame(module.path):
        only = (_STAGES.get(number, f"{number:#x}"), info["pName"])
        words = load(module.words)
        modules[info["module"]] = replace(module, words=words.tobytes())
        reflection = reflect(words, only=only)
        entry = choose(reflection.entries, *only, words)
        own = dict(_values(info.get("pSpecializationInfo"), entry.spec_constants))
        chosen, places = resolve(job.spec, only[0], entry.spec_constants)
        values = {**own, **chosen}
        if values:
            reflection = reflect(words, values, only=only)
            entry = choose(reflection.entries, *only, words)
        stages.append(StageInput(words.tobytes(), module.path, reflection, entry, values))
        found |= places
        if not chosen:
            return dict(info)
        return {**info, "pSpecializationInfo": specialization(entry.spec_constants, values)}


def _check_bindings(spec: PipelineSpec, info: Plain, stage: StageInput) -> None:
    """What a stage uses must be in the layout (VUID-VkGraphicsPipelineCreateInfo-layout-07988, -07991): drivers look it
    up there without asking. Stages that map their bindings to descriptor heaps have none of it."""
    if _MAPPING in (name for name, _ in info.get("pNext") or ()):
        return
    numbers = spec.layout.get("pSetLayouts", range(len(spec.set_layouts)))
    with blame(stage.path):
        for one in stage.entry.bindings:
            place = numbers[one.set] if one.set < len(numbers) else None
            bindings = () if place is None else spec.set_layouts[place].get("pBindings", ())
            given: Plain = next((each for each in bindings if each.get("binding", 0) == one.binding), {})
            count = given.get("descriptorCount", 0)
            name = f" ({one.name})" if one.name else ""
            what = f"it uses set {one.set} binding {one.binding}{name}"
            if not count:
                raise InvalidSpirv("archive/layout", f"{what}, which its captured layout doesn't have")
            is_bytes = given.get("descriptorType") == "VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK"
            if isinstance(one.count, int) and one.count > count and not is_bytes:
                raise InvalidSpirv(
                    "archive/layout", f"{what} as an array of {one.count}: its captured layout has {count} of it"
                )


def _values(info: Plain | None, constants: tuple[SpecConstant, ...]) -> Iterator[tuple[int, int | float | bool]]:
    """What a VkSpecializationInfo says of the module's constants; ids that it doesn't have are passed over."""
    if not info:
        return
    data: bytes = info.get("pData", b"")
    by_id: Mapping[int, SpecConstant] = {constant.id: constant for constant in constants}
    for entry in info.get("pMapEntries", ()):
        constant = by_id.get(entry.get("constantID", 0))
        if constant is None:
            continue
        offset, size = entry.get("offset", 0), entry.get("size", 0)
        if size != constant.size or offset + size > len(data):
            # VUID-VkSpecializationMapEntry-constantID-00776
            raise InvalidSpirv(
                "archive/specialization",
                f"{size} bytes for specialization constant {constant.id}, which is a {constant.type}",
            )
        (value,) = struct.unpack_from(f"={_CODES[constant.type]}", data, offset)
        yield constant.id, bool(value) if constant.type == "bool" else value


def _formats(spec: PipelineSpec) -> Iterator[tuple[str | int, str, str]]:
    """(format, the feature that it needs, what it is for) of all attachments and vertex attributes."""
    attributes = spec.create_info.get("pVertexInputState") or {}
    for each in attributes.get("pVertexAttributeDescriptions", ()):
        yield each.get("format", 0), "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT", "a vertex attribute"
    color, depth = "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT", "VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT"
    for name, members in spec.create_info.get("pNext", ()):
        if name == "VkPipelineRenderingCreateInfo":
            for format in members.get("pColorAttachmentFormats", ()):
                yield format, color, "a colour attachment"
            for member in ("depthAttachmentFormat", "stencilAttachmentFormat"):
                yield members.get(member, 0), depth, "a depth or stencil attachment"
    if spec.render_pass is None:
        return
    attachments = spec.render_pass.get("pAttachments", ())
    for subpass in spec.render_pass.get("pSubpasses", ()):
        for feature, what, references in (
            (color, "a colour attachment", subpass.get("pColorAttachments", ())),
            (depth, "a depth or stencil attachment", [subpass.get("pDepthStencilAttachment") or {"attachment": -1}]),
        ):
            for each in references:
                place = each.get("attachment", 0)
                if isinstance(place, int) and 0 <= place < len(attachments):
                    yield attachments[place].get("format", 0), feature, what
