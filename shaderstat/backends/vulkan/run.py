"""One run of a pipeline: make what its shaders use, record, submit, wait, read. Everything made goes at the end."""

from __future__ import annotations

import sys
from contextlib import ExitStack, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shaderstat.instrumentation import Instrumentation, MetricBlock, Slot
from shaderstat.pipeline.fills import fill_bytes
from shaderstat.pipeline.run_interface import number
from shaderstat.pipeline.run_record import record

from .acceleration import Scene
from .binding import NULL, ffi
from .descriptors import DescriptorSets, Written
from .dynamic_state import command, dynamic_strides
from .fillers import Fillers
from .images import Images
from .instrumentation import Instrument
from .memory import MadeBuffer, Memory
from .objects import Objects
from .recording import Recorder
from .rendering import Rendering
from .shader_tables import ShaderTables

if TYPE_CHECKING:
    from shaderstat.backends.vulkan.device import OpenDevice
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.resources import Buffer, Resources, Sampler
    from shaderstat.pipeline.run_pointers import Places

    from .pipelines import Made

_ADDRESS = "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"
_BIND_POINTS = {"graphics": 0, "compute": 1, "ray_tracing": 1000165000}
_NEAREST = {
    "magFilter": "VK_FILTER_NEAREST",
    "minFilter": "VK_FILTER_NEAREST",
    "mipmapMode": "VK_SAMPLER_MIPMAP_MODE_NEAREST",
    "maxLod": 1000.0,  # VK_LOD_CLAMP_NONE
}


def run(
    device: OpenDevice, made: Made, execution: Execution, resources: Resources, remarks: list[tuple[str, str]]
) -> Instrumentation:
    """See `shaderstat.backends.base.CompiledPipeline.run`."""
    with ExitStack() as stack:
        offer = device.offer if execution.metrics and made.instrumented else None
        objects = Objects(device.functions, device.facts, stack)
        memory = Memory(objects, device.memory_types)
        world = _World(device, objects, memory, made, resources, again=execution.repeat > 1)
        instrument = None
        if offer is not None:
            instrument = stack.enter_context(Instrument(device.functions, len(offer.metrics)))
        recorder = Recorder(objects, device.queue, device.queue_family)
        world.record(recorder, execution, instrument)
        blocks: list[MetricBlock] = []
        run_ns = []
        for submission in range(execution.repeat):
            if submission:
                world.fill()
            if instrument is not None and not execution.accumulate:
                instrument.clear()
            run_ns.append(recorder.submit())
            if instrument is not None and (not execution.accumulate or submission + 1 == execution.repeat):
                blocks += instrument.read(submission)
        if instrument is not None:
            remarks += instrument.remarks
            if not blocks:
                remarks.append(("run/no-blocks", "the driver counted nothing: it has no block for any command"))
        return Instrumentation(
            offer=offer,
            commands=execution.commands,
            submissions=execution.repeat,
            accumulated=execution.accumulate,
            blocks=tuple(blocks),
            resources=record(resources),
            read=tuple((slot, world.read(slot)) for slot in execution.read),
            run_ns=tuple(run_ns),
        )


class _World:
    """What a run's shaders see."""

    def __init__(
        self,
        device: OpenDevice,
        objects: Objects,
        memory: Memory,
        made: Made,
        resources: Resources,
        *,
        again: bool,
    ) -> None:
        """Make and fill all of it; `again` where it will be filled once more."""
        self._again = again
        self._objects = objects
        self._memory = memory
        self._made = made
        self._resources = resources
        self._buffers: dict[Slot, list[MadeBuffer]] = {}
        self._contents: list[tuple[MadeBuffer, bytes]] = []
        self._samplers: dict[bool, Any] = {}
        setup = self._setup = Recorder(objects, device.queue, device.queue_family)
        images = Images(objects, memory, device.physical_device, device.instance_functions)
        self._rendering = None
        if resources.target is not None:
            self._rendering = Rendering(objects, images, made, resources.target)
        indirect = 0
        if resources.indirect is not None:
            indirect = self._buffer(resources.indirect, f"VK_BUFFER_USAGE_STORAGE_BUFFER_BIT|{_ADDRESS}", 0).address
        self._push = _with_addresses(resources.push, resources.push_addresses, indirect)
        self._sets = DescriptorSets(objects, made.spec, made.handles)
        fillers = Fillers(objects, memory, images, setup)
        self._sets.write(self._descriptors(images, setup, indirect), fillers.get)
        self._vertices = [
            self._buffer(each, "VK_BUFFER_USAGE_VERTEX_BUFFER_BIT", indirect) for each in resources.vertices
        ]
        self._tables = None
        if made.spec.kind == "ray_tracing":
            self._tables = ShaderTables(device, memory, made)
        setup.barrier()
        setup.end()
        setup.submit()

    def fill(self) -> None:
        """Bring what is said of every resource into it again, whatever a submission before left there: what shaders
        read is the same in each.

        Raises:
            DriverError: VK_ERROR_DEVICE_LOST, and the like.
        """
        for made, data in self._contents:
            made.window[:] = data
        self._setup.submit()  # images; attachments are cleared in the run itself

    def read(self, slot: Slot) -> bytes:
        """What a buffer holds now; of an array of descriptors the first."""
        return bytes(self._buffers[slot][0].window)

    # ── Making ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _descriptors(self, images: Images, setup: Recorder, indirect: int) -> dict[Slot, list[Written]]:
        found: dict[Slot, list[Written]] = {}
        for buffer in self._resources.buffers:
            found.setdefault(buffer.slot, []).append(self._buffer_descriptor(buffer, indirect))
        for image in self._resources.images:
            if image.type.endswith("INPUT_ATTACHMENT"):
                assert self._rendering is not None
                its = self._rendering.input(image.attachment, image.view)
            else:
                made = images.make(image, setup)
                its = {"imageView": made.view, "imageLayout": made.layout}
            found.setdefault(image.slot, []).append(Written(image=its))
        for sampler in self._resources.samplers:
            its_sampler = {"sampler": self._sampler(sampler)}
            those = found.setdefault(sampler.slot, [])
            if sampler.element < len(those):
                those[sampler.element].image.update(its_sampler)
            else:
                those.append(Written(image=its_sampler))
        if self._resources.structures:
            scene = Scene(self._objects, self._memory, setup)
            for structure in self._resources.structures:
                found.setdefault(structure.slot, []).append(Written(structure=scene.handle))
        return found

    def _buffer_descriptor(self, buffer: Buffer, indirect: int) -> Written:
        type = buffer.type.removeprefix("VK_DESCRIPTOR_TYPE_").removesuffix("_DYNAMIC")
        if type == "INLINE_UNIFORM_BLOCK":
            return Written(inline=_with_addresses(fill_bytes(buffer.fill, buffer.size), buffer.addresses, indirect))
        made = self._buffer(buffer, f"VK_BUFFER_USAGE_{type}_BIT", indirect)
        if not buffer.format:
            return Written(buffer=made.handle)
        plain = {"buffer": made.handle, "format": buffer.format, "range": (1 << 64) - 1}
        return Written(texels=self._objects.create("VkBufferView", plain))

    def _buffer(self, buffer: Buffer, usage: str, indirect: int) -> MadeBuffer:
        made = self._memory.buffer(buffer.size, usage)
        data = fill_bytes(buffer.fill, buffer.size)
        data = _with_addresses(data, buffer.addresses, indirect or made.address)
        made.window[:] = data
        if self._again:
            self._contents.append((made, data))
        self._buffers.setdefault(buffer.slot, []).append(made)
        return made

    def _sampler(self, sampler: Sampler) -> Any:
        compare = {"compareEnable": 1, "compareOp": "VK_COMPARE_OP_LESS_OR_EQUAL"} if sampler.compare else {}
        if sampler.compare not in self._samplers:
            self._samplers[sampler.compare] = self._objects.create("VkSampler", {**_NEAREST, **compare})
        return self._samplers[sampler.compare]

    # ── Recording ─────────────────────────────────────────────────────────────────────────────────────────────────

    def record(self, recorder: Recorder, execution: Execution, instrument: Instrument | None) -> None:
        """Record the whole command buffer."""
        functions, kind = recorder.functions, self._made.spec.kind
        bind_point = _BIND_POINTS[kind]
        if self._rendering is not None:
            self._rendering.prepare(recorder)
        with instrument.counting(recorder.handle) if instrument is not None else nullcontext():
            with self._rendering.begun(recorder) if self._rendering is not None else nullcontext():
                functions["vkCmdBindPipeline"](recorder.handle, bind_point, self._made.pipeline)
                self._sets.bind(recorder, bind_point)
                self._push_constants(recorder)
                self._bind_vertices(recorder)
                for place, command in enumerate(execution.commands):
                    if place and kind != "graphics":  # inside a render pass there may be none
                        recorder.barrier()
                    x, y, z = command.size
                    if command.kind == "dispatch":
                        functions["vkCmdDispatch"](recorder.handle, x, y, z)
                    elif command.kind == "draw":
                        functions["vkCmdDraw"](recorder.handle, x, y, 0, 0)
                    elif command.kind == "draw_mesh_tasks":
                        functions["vkCmdDrawMeshTasksEXT"](recorder.handle, x, y, z)
                    else:
                        assert self._tables is not None
                        self._tables.trace(recorder, x, y, z)
        recorder.host_barrier()
        recorder.end()

    def _push_constants(self, recorder: Recorder) -> None:
        """Each byte goes to all stages whose ranges hold it (VUID-vkCmdPushConstants-offset-01795 and -01796)."""
        ranges = [
            (each.get("offset", 0), each.get("size", 0), number("VkShaderStageFlags", each.get("stageFlags", 0)))
            for each in self._made.spec.layout.get("pPushConstantRanges") or ()
        ]
        edges = sorted({edge for offset, size, _ in ranges for edge in (offset, offset + size)})
        layout = self._made.handles["VkPipelineLayout"][0]
        for first, end in pairwise(edges):
            stages = 0
            for offset, size, flags in ranges:
                if offset <= first and end <= offset + size:
                    stages |= flags
            if stages:
                data = ffi.new("char[]", self._push[first:end])
                recorder.functions["vkCmdPushConstants"](recorder.handle, layout, stages, first, end - first, data)

    def _bind_vertices(self, recorder: Recorder) -> None:
        strides = dynamic_strides(self._made.spec)
        for buffer, made in zip(self._resources.vertices, self._vertices, strict=True):
            handle, offset, binding = (
                ffi.new("VkBuffer[]", [made.handle]),
                ffi.new("VkDeviceSize[]", [0]),
                buffer.slot[1],
            )
            if strides is None:
                recorder.functions["vkCmdBindVertexBuffers"](recorder.handle, binding, 1, handle, offset)
            else:  # VUID-vkCmdDraw-pStrides-04884
                stride = ffi.new("VkDeviceSize[]", [strides[binding]])
                bind = command(self._objects, "vkCmdBindVertexBuffers2")
                bind(recorder.handle, binding, 1, handle, offset, NULL, stride)


def _with_addresses(data: bytes, places: Places, address: int) -> bytes:
    """`data` with pointers at `places` into the buffer that lies at `address`."""
    if not places:
        return data
    changed = bytearray(data)
    for place, target in places:
        changed[place : place + 8] = (address + target).to_bytes(8, sys.byteorder)
    return bytes(changed)
