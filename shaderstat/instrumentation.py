"""The words of a run: what is recorded and with which inputs, and what VK_ARM_shader_instrumentation counted in it.

Plain frozen data, as `shaderstat.model`, which speaks of it; what a driver answers comes first, what a report holds
last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EXTENSION = "VK_ARM_shader_instrumentation"

# The commands that can be recorded: vkCmdDispatch, vkCmdDraw, vkCmdDrawMeshTasksEXT, vkCmdTraceRaysKHR.
COMMANDS = ("dispatch", "draw", "draw_mesh_tasks", "trace_rays")

# Where a resource is bound: (set, binding).
Slot = tuple[int, int]


# ── What is asked ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Command:
    """One command between Begin and End; each takes a result index.

    Attributes:
        kind: one of `COMMANDS`.
        size: workgroups (x, y, z); (vertices, instances, 1) of a draw; (width, height, depth) of a trace.
    """

    kind: str
    size: tuple[int, int, int]

    def __str__(self) -> str:
        numbers = self.size[:2] if self.kind == "draw" else self.size
        return f"{self.kind} {','.join(map(str, numbers))}"


@dataclass(frozen=True, slots=True)
class Fill:
    """What a resource holds before the run.

    Attributes:
        kind: ``zeros``; ``random`` (32-bit words of a generator that `seed` starts, the same on every machine);
            ``iota`` (the 32-bit words 0, 1, 2, …); ``data``, its bytes.
        size: in bytes, where it was given; None for as many as the interface needs.
    """

    kind: str = "zeros"
    size: int | None = None
    seed: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class ImageFill:
    """An image's size, where it was given, and what it holds: (width, height) in texels."""

    extent: tuple[int, int] | None = None
    fill: Fill = Fill()


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a pipeline.

    Attributes:
        commands: what is recorded between Begin and End, in order.
        extent: of the off-screen target, (width, height) in pixels.
        repeat: how often the command buffer is submitted.
        accumulate: leave the counts of the submissions before; otherwise they are cleared before each.
        metrics: False to run without instrumentation: what a shader writes can be read on every device.
        buffers, images: by slot; what isn't named holds zeros.
        vertices: by the number of the vertex buffer's binding.
        push: push constants from byte 0 on; what is missing is zero.
        read: buffers whose bytes are wanted after the last submission.
    """

    commands: tuple[Command, ...]
    extent: tuple[int, int] = (64, 64)
    repeat: int = 1
    accumulate: bool = False
    metrics: bool = True
    buffers: Mapping[Slot, Fill] = field(default_factory=dict)
    images: Mapping[Slot, ImageFill] = field(default_factory=dict)
    vertices: Mapping[int, Fill] = field(default_factory=dict)
    push: bytes = b""
    read: tuple[Slot, ...] = ()


# ── What is answered, and told ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Metric:
    """A VkShaderInstrumentationMetricDescriptionARM; hostile text. Names may repeat or be empty: the place counts."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a device has of it (VkPhysicalDeviceShaderInstrumentationPropertiesARM). `metrics` are in the driver's
    order; `per_basic_block` whether there is a block for each basic block rather than one for the whole shader."""

    metrics: tuple[Metric, ...]
    per_basic_block: bool


@dataclass(frozen=True, slots=True)
class MetricBlock:
    """One block that vkGetShaderInstrumentationValuesARM returned.

    Attributes:
        submission: which of `Execution.repeat` it was read after, from 0; with `Execution.accumulate` the last alone
            is read.
        result_index: the command that it was counted in, as VkShaderInstrumentationMetricDataHeaderARM has it.
        result_sub_index: the driver's finer division; opaque.
        stages: VkShaderStageFlags that the numbers were summed over.
        basic_block: the driver's own number; 0 without `Offer.per_basic_block`.
        values: one 64-bit count for each metric.
    """

    submission: int
    result_index: int
    result_sub_index: int
    stages: int
    basic_block: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that was made for the run, for the record: counts without their inputs mean little.

    Attributes:
        where: ``set 0 binding 1``, ``set 0 binding 2[3]``, ``push constants``, ``vertex buffer 0``, ``attachment 0``.
        type: VkDescriptorType's name, or empty for what is no descriptor.
        what: ``4096 bytes``, ``64x64 VK_FORMAT_R8G8B8A8_UNORM``.
        fill: ``zeros``, ``random:7``, ``iota``, ``16 bytes given``.
    """

    where: str
    type: str
    what: str
    fill: str


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """What a run gave. As the driver said it in an answer; sorted by (submission, index, sub index, stages, block) in a
    report.

    Attributes:
        offer: None where it ran without instrumentation.
        commands: those recorded, in order: the i-th has result index i.
        submissions: how many were made.
        accumulated: whether counts add up over the submissions.
        blocks: what was counted.
        resources: what the shaders were run with.
        read: (slot, bytes) of each buffer that was asked for; never part of a report.
        run_ns: wall time of each submission, from vkQueueSubmit to its fence.
    """

    offer: Offer | None
    commands: tuple[Command, ...]
    submissions: int = 1
    accumulated: bool = False
    blocks: tuple[MetricBlock, ...] = ()
    resources: tuple[Resource, ...] = ()
    read: tuple[tuple[Slot, bytes], ...] = ()
    run_ns: tuple[int, ...] = ()
