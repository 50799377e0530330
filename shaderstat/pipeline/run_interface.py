"""What a pipeline binds, from both sides: its layout's descriptors, and what its shaders make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import gcd
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Slot
from shaderstat.pipeline.run_pointers import inside
from shaderstat.pipeline.run_reach import stage_reach
from shaderstat.pipeline.stages import blame
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan
from shaderstat.spirv.bindings import PUSH_CONSTANT, binding, unarrayed
from shaderstat.spirv.comparisons import compared
from shaderstat.spirv.facts import EntryPoint, Type, Variable
from shaderstat.spirv.reach import Reach
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.spec import PipelineSpec, Plain
    from shaderstat.pipeline.stages import StageInput

_PREFIX = "VK_DESCRIPTOR_TYPE_"
# What this version makes no resource for.
_NOT_MADE = ("MUTABLE_EXT", "TENSOR_ARM", "SAMPLE_WEIGHT_IMAGE_QCOM", "BLOCK_MATCH_IMAGE_QCOM")


@dataclass(slots=True)
class Bound:
    """A binding of the layout that shaders use.

    Attributes:
        type: VkDescriptorType's name less its prefix, as the layout has it.
        count: descriptors in the layout; of an inline uniform block, its bytes.
        declared: descriptors that the shaders declare; 0 where none of them says how many.
        types: what the variables are, arrays of descriptors taken apart.
        immutable: the layout has its samplers.
        compares: a shader compares with it (OpImageSampleDref…).
        attachment: InputAttachmentIndex.
        reached: of an array without a length, how many elements shaders reach as far as that can be told.
        is_open: whether that isn't all.
    """

    slot: Slot
    type: str
    count: int
    immutable: bool
    declared: int = 0
    types: list[Type] = field(default_factory=list)
    compares: bool = False
    attachment: int = 0
    reached: int = 0
    is_open: bool = False

    @property
    def where(self) -> str:
        """For people."""
        return f"set {self.slot[0]} binding {self.slot[1]}"

    @property
    def image(self) -> Type | None:
        """The type of the image among `types`."""
        found = (type.element if type.kind == "sampled_image" else type for type in self.types if type.image)
        return next(found, None)


@dataclass(slots=True)
class Interface:
    """All that a run must feed.

    Attributes:
        bound: by slot.
        push: the blocks of push constants.
        pointees: what pointers in blocks lead to that are declared before it, by Python's `id` of the pointer, which
            is in one of the types above or reached from them.
        beyond: by Python's `id` of what pointers lead to, how many bytes from there on shaders reach.
        steps: likewise, by multiples of which distance in bytes shaders move a pointer to it.
        open_pointers: whether they reach through pointers by indices that can't be told.
    """

    bound: dict[Slot, Bound] = field(default_factory=dict)
    push: list[Type] = field(default_factory=list)
    pointees: dict[int, Type] = field(default_factory=dict)
    beyond: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    open_pointers: bool = False


def interface(spec: PipelineSpec, stages: Sequence[StageInput], execution: Execution) -> Interface:
    """What `spec` binds. Descriptors of the layout that no shader uses may be left empty, and are left out.

    Args:
        stages: what the spec was made of; generated stages need not be among them.

    Raises:
        Unsupported: ``run/layout``: the layout lacks what a shader uses; ``run/resource``: of a kind that isn't made;
            ``run/address``: where pointers lead to can't be told.
    """
    places = dict(_places(spec))
    found = Interface()
    _refuse_heaps(spec)
    reaches = {id(stage.entry): _reach(stage, execution) for stage in stages}
    for entry, words, forward in _entries(spec, stages):
        comparing = compared(load(words))
        its = reaches.get(id(entry)) or Reach()
        for variable in entry.resources:
            if variable.storage == PUSH_CONSTANT:
                found.push.append(variable.type)
                continue
            _take(found, variable, places, variable.id in comparing, its)
        if forward or its.pointees:
            blocks = [*(variable.type for variable in entry.resources), *forward.values()]
            pointers = [each for each in inside(blocks) if each.kind == "pointer"]
            found.pointees.update((id(each), forward[each.id]) for each in pointers if each.id in forward)
            for each in pointers:
                pointee = id(each.element or forward.get(each.id))
                found.beyond[pointee] = max(found.beyond.get(pointee, 0), its.pointees.get(each.id, 0))
                if each.id in its.steps:
                    found.steps[pointee] = gcd(found.steps.get(pointee, 0), its.steps[each.id])
            found.open_pointers |= any(each.id in its.open for each in pointers)
    return found


def _reach(stage: StageInput, execution: Execution) -> Reach:
    """How far a stage reaches. Robust access knows nothing of pointers: what lies behind them must be told."""
    has_pointers = _PHYSICAL_ADDRESSES in stage.reflection.capabilities
    if not has_pointers and all(each.kind != "runtime_array" for each in inside(_types(stage.entry))):
        return Reach()
    found = stage_reach(stage, execution)
    with blame(stage.path):
        if found.foreign:
            raise Unsupported(
                "run/address", "takes numbers in its buffers for addresses: which ones they are can't be told"
            )
        if found.adrift:
            raise Unsupported(
                "run/address",
                "adds to a pointer what can't be told, or leads before what it points to: how much memory must lie "
                "there isn't known",
            )
    return found


def _types(entry: EntryPoint) -> Iterator[Type]:
    return (variable.type for variable in entry.resources)


_PHYSICAL_ADDRESSES = 5347  # the capability PhysicalStorageBufferAddresses


def linked(spec: PipelineSpec) -> list[PipelineSpec]:
    """`spec` and the libraries that it is linked from, theirs included."""
    chained = [
        index
        for name, members in spec.create_info.get("pNext") or ()
        if name == "VkPipelineLibraryCreateInfoKHR"
        for index in members.get("pLibraries", ())
    ]
    info = spec.create_info.get("pLibraryInfo") or {}
    indices = [*chained, *info.get("pLibraries", ())]
    return [spec, *(each for index in indices for each in linked(spec.libraries[index]))]


def state(spec: PipelineSpec, member: str) -> Any:
    """A member of the create info, of the pipeline's or of a library's that it is linked from."""
    return next((one.create_info[member] for one in linked(spec) if one.create_info.get(member) is not None), None)


def chained(spec: PipelineSpec, name: str) -> Plain | None:
    """A struct in the create info's ``pNext``, or in that of a library."""
    for one in linked(spec):
        for each, members in one.create_info.get("pNext") or ():
            if each == name:
                its: Plain = members
                return its
    return None


def infos(spec: PipelineSpec) -> Iterator[tuple[Plain, Any]]:
    """VkPipelineShaderStageCreateInfo of every stage, with its module."""
    for one in linked(spec):
        stages = [one.create_info["stage"]] if one.kind == "compute" else one.create_info.get("pStages") or ()
        for info in stages:
            yield info, one.modules[info["module"]]


def number(type: str, value: Any) -> int:
    """An enumeration's value or flags, given as in a spec."""
    return vulkan.value(type, value) if isinstance(value, str) else int(value or 0)


def name(type: str, value: Any) -> str:
    """An enumeration's value as a name; the number as text where it has none."""
    return value if isinstance(value, str) else vulkan.name(type, int(value or 0)) or str(value)


def _refuse_heaps(spec: PipelineSpec) -> None:
    flags = (chained(one, "VkPipelineCreateFlags2CreateInfo") or {} for one in linked(spec))
    if any(number("VkPipelineCreateFlags2", each.get("flags", 0)) & _HEAP for each in flags):
        raise Unsupported("run/resource", "the pipeline takes descriptors out of heaps: nothing is made for it")


_HEAP = vulkan.value("VkPipelineCreateFlags2", "VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT")


def _entries(
    spec: PipelineSpec, stages: Sequence[StageInput]
) -> Iterator[tuple[EntryPoint, bytes, Mapping[int, Type]]]:
    for stage in stages:
        yield stage.entry, stage.words, stage.reflection.pointees
    for module in {module.words: module for _, module in infos(spec)}.values():
        if module.synthetic:
            reflection = reflect(load(module.words))
            for entry in reflection.entries:
                yield entry, module.words, reflection.pointees


def _places(spec: PipelineSpec) -> Iterator[tuple[Slot, tuple[str, int, bool]]]:
    """(type, count, whether its samplers are immutable) of each binding of the layout."""
    for place, index in enumerate(spec.layout.get("pSetLayouts") or ()):
        if index is None:
            continue
        for each in spec.set_layouts[index].get("pBindings") or ():
            type = name("VkDescriptorType", each.get("descriptorType", 0)).removeprefix(_PREFIX)
            samplers = each.get("pImmutableSamplers")
            if samplers and any(_converts(spec.samplers[one]) for one in samplers if isinstance(one, int)):
                type = "YCBCR"
            count = each.get("descriptorCount", len(samplers or ()))
            yield (place, each.get("binding", 0)), (_TODAY.get(type, type), int(count), bool(samplers))


def _converts(sampler: Mapping[str, Any]) -> bool:
    return any(each == "VkSamplerYcbcrConversionInfo" for each, _ in sampler.get("pNext") or ())


_TODAY = {"INLINE_UNIFORM_BLOCK_EXT": "INLINE_UNIFORM_BLOCK", "MUTABLE_VALVE": "MUTABLE_EXT"}


def _take(
    found: Interface,
    variable: Variable,
    places: Mapping[Slot, tuple[str, int, bool]],
    compares: bool,
    reach: Reach,
) -> None:
    descriptor = binding(variable, lambda id: "")
    if descriptor is None:
        return
    slot = descriptor.set, descriptor.binding
    bound = found.bound.get(slot)
    if bound is None:
        if slot not in places or places[slot][1] == 0:
            raise Unsupported(
                "run/layout",
                f"set {slot[0]} binding {slot[1]} ({descriptor.name or 'without a name'}) is used by a shader and not "
                "in the pipeline's layout",
            )
        type, count, immutable = places[slot]
        bound = found.bound[slot] = Bound(slot, type, count, immutable)
        if type in _NOT_MADE or type == "YCBCR":
            what = "sampled through a Y'CbCr conversion" if type == "YCBCR" else f"a {_PREFIX}{type}"
            raise Unsupported("run/resource", f"{bound.where} is {what}: nothing is made for it")
    type_, _ = unarrayed(variable.type)
    bound.types.append(type_)
    bound.compares |= compares
    bound.reached = max(bound.reached, reach.elements.get(variable.id, 0))
    bound.is_open |= variable.id in reach.open
    bound.declared = max(bound.declared, descriptor.count if isinstance(descriptor.count, int) else 0)
    bound.attachment = descriptor.input_attachment_index or bound.attachment
