"""Descriptor sets: allocated for the pipeline's own layouts, written with the run's resources, bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Slot
from shaderstat.pipeline.run_interface import name, number
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import NULL, check
from .builder import Arena
from .objects import Objects

if TYPE_CHECKING:
    from shaderstat.pipeline.spec import PipelineSpec, Plain

    from .recording import Recorder

_INLINE = "VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK"
_STRUCTURE = "VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR"
_FLAG = "VkDescriptorSetLayoutCreateFlags"
_PUSH = registry.value(_FLAG, "VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR")
_UPDATE_AFTER = registry.value(_FLAG, "VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT")
_BUFFERS = registry.value(_FLAG, "VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT")
_VARIABLE = registry.value("VkDescriptorBindingFlags", "VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT")
# Of an unused binding; one with more is an array of which parts may be empty.
_MOST_FILLED = 64
_WHOLE_SIZE = (1 << 64) - 1


@dataclass(slots=True)
class Written:
    """What one descriptor of a binding holds: some of VkDescriptorBufferInfo's and VkDescriptorImageInfo's members, a
    VkBufferView, a VkAccelerationStructureKHR, or the bytes of an inline uniform block."""

    buffer: Any = None
    image: dict[str, Any] = field(default_factory=dict)
    texels: Any = None
    structure: Any = None
    inline: bytes | None = None


class DescriptorSets:
    """All sets of a pipeline that its shaders use."""

    def __init__(self, objects: Objects, spec: PipelineSpec, handles: Mapping[str, Sequence[Any]]) -> None:
        """Args:
        handles: of what the pipeline was made of: its set layouts and its layout.
        """
        self._objects = objects
        self._layouts = spec.set_layouts
        self._numbers = [index for index in spec.layout.get("pSetLayouts") or ()]
        self._handles = handles["VkDescriptorSetLayout"]
        self._layout = handles["VkPipelineLayout"][0]
        self._sets: dict[int, Any] = {}
        self._pushed: dict[int, list[Any]] = {}
        self._arena = Arena()

    def write(self, descriptors: Mapping[Slot, Sequence[Written]], filler: Callable[[str], Written | None]) -> None:
        """Allocate the sets of `descriptors` and write them. Where a binding has more descriptors than are given, those
        beyond are the same again; what else a set has is written with what `filler` gives for its type, if it does.

        Raises:
            DriverError: out of memory, and the like.
            Unsupported: ``run/layout``.
        """
        for place in sorted({slot[0] for slot in descriptors}):
            plain = self._layouts[self._numbers[place]]
            flags = number(_FLAG, plain.get("flags", 0))
            if flags & _BUFFERS:
                raise Unsupported("run/layout", f"set {place} lies in a descriptor buffer: nothing is made for it")
            its = {slot[1]: written for slot, written in descriptors.items() if slot[0] == place}
            for each in plain.get("pBindings") or ():
                if each.get("binding", 0) not in its and 0 < each.get("descriptorCount", 0) <= _MOST_FILLED:
                    other = None if each.get("pImmutableSamplers") else filler(_type(each))
                    its[each.get("binding", 0)] = () if other is None else (other,)
            if flags & _PUSH:
                self._pushed[place] = [self._write(NULL, each, its) for each in _bindings(plain, its)]
                continue
            set_ = self._sets[place] = self._allocate(place, plain, flags)
            update = self._objects.functions["vkUpdateDescriptorSets"]
            for each in _bindings(plain, its):
                update(self._objects.functions.handle, 1, self._write(set_, each, its), 0, NULL)

    def bind(self, recorder: Recorder, bind_point: int) -> None:
        """Record what binds the sets; dynamic offsets are 0."""
        functions = recorder.functions
        for place, set_ in sorted(self._sets.items()):
            dynamic = sum(
                each.get("descriptorCount", 0)
                for each in self._layouts[self._numbers[place]].get("pBindings") or ()
                if name("VkDescriptorType", each.get("descriptorType", 0)).endswith("_DYNAMIC")
            )
            sets = self._arena.new("VkDescriptorSet[]", [set_])
            offsets = self._arena.new("uint32_t[]", dynamic) if dynamic else NULL
            functions["vkCmdBindDescriptorSets"](
                recorder.handle, bind_point, self._layout, place, 1, sets, dynamic, offsets
            )
        for place, writes in sorted(self._pushed.items()):
            push = self._objects.command("vkCmdPushDescriptorSet")
            for each in writes:
                push(recorder.handle, bind_point, self._layout, place, 1, each)

    def _allocate(self, place: int, plain: Plain, flags: int) -> Any:
        sizes: dict[str, int] = {}
        inline = 0
        for each in plain.get("pBindings") or ():
            type = _type(each)
            count = each.get("descriptorCount", len(each.get("pImmutableSamplers") or ()))
            inline += type == _INLINE
            sizes[type] = sizes.get(type, 0) + count
        pool_plain: dict[str, Any] = {
            "flags": "VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT" if flags & _UPDATE_AFTER else 0,
            "maxSets": 1,
            "pPoolSizes": [{"type": type, "descriptorCount": count} for type, count in sizes.items() if count],
        }
        if inline:
            chained = {"maxInlineUniformBlockBindings": inline}
            pool_plain["pNext"] = [["VkDescriptorPoolInlineUniformBlockCreateInfo", chained]]
        pool = self._objects.create("VkDescriptorPool", pool_plain)
        set_plain: dict[str, Any] = {"descriptorPool": pool, "pSetLayouts": [self._handles[self._numbers[place]]]}
        variable = _variable_count(plain)
        if variable is not None:
            chained_counts = {"pDescriptorCounts": [variable]}
            set_plain["pNext"] = [["VkDescriptorSetVariableDescriptorCountAllocateInfo", chained_counts]]
        found = self._arena.new("VkDescriptorSet *")
        info = self._arena.build("VkDescriptorSetAllocateInfo", set_plain)
        functions = self._objects.functions
        check("vkAllocateDescriptorSets", functions["vkAllocateDescriptorSets"](functions.handle, info, found))
        return found[0]

    def _write(self, set_: Any, binding: Plain, its: Mapping[int, Sequence[Written]]) -> Any:
        place, type = binding.get("binding", 0), _type(binding)
        given = its[place]
        count = binding.get("descriptorCount", len(binding.get("pImmutableSamplers") or ()))
        plain: dict[str, Any] = {"dstSet": set_, "dstBinding": place, "descriptorType": type, "descriptorCount": count}
        if type == _INLINE:
            data = given[0].inline or b""
            plain["pNext"] = [["VkWriteDescriptorSetInlineUniformBlock", {"pData": data}]]
            plain["descriptorCount"] = len(data)
            return self._arena.build("VkWriteDescriptorSet", plain)
        repeated = [given[element % len(given)] for element in range(count)]
        if type == _STRUCTURE:
            structures = {"pAccelerationStructures": [each.structure for each in repeated]}
            plain["pNext"] = [["VkWriteDescriptorSetAccelerationStructureKHR", structures]]
        elif given[0].texels is not None:
            plain["pTexelBufferView"] = [each.texels for each in repeated]
        elif given[0].buffer is not None:
            plain["pBufferInfo"] = [{"buffer": each.buffer, "range": _WHOLE_SIZE} for each in repeated]
        else:
            plain["pImageInfo"] = [each.image for each in repeated]
        return self._arena.build("VkWriteDescriptorSet", plain)


def _bindings(plain: Plain, its: Mapping[int, Sequence[Written]]) -> list[Plain]:
    """The bindings of a layout that are to be written: samplers that it has itself are not."""
    return [each for each in plain.get("pBindings") or () if its.get(each.get("binding", 0))]


def _type(binding: Plain) -> str:
    type = name("VkDescriptorType", binding.get("descriptorType", 0))
    return type.removesuffix("_EXT") if type == _INLINE + "_EXT" else type


def _variable_count(plain: Plain) -> int | None:
    """The descriptors of a set's last binding, where their number is only chosen now: all of them."""
    for struct, members in plain.get("pNext") or ():
        if struct.startswith("VkDescriptorSetLayoutBindingFlagsCreateInfo"):
            bindings = plain.get("pBindings") or ()
            for binding, flags in zip(bindings, members.get("pBindingFlags") or (), strict=False):
                if number("VkDescriptorBindingFlags", flags) & _VARIABLE:
                    return int(binding.get("descriptorCount", 0))
    return None
