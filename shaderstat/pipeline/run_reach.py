"""How far the shaders of a pipeline reach in a run: `shaderstat.spirv.reach` with what the run's commands say."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from shaderstat.spirv.facts import EXECUTION_MODELS
from shaderstat.spirv.parse import parse
from shaderstat.spirv.ranges import Range
from shaderstat.spirv.reach import Reach, reach
from shaderstat.spirv.words import load

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.stages import StageInput
    from shaderstat.spirv.facts import EntryPoint

# BuiltIn variables that are the same whatever is run: SubgroupSize, SubgroupLocalInvocationId, InvocationId, SampleId,
# ViewIndex, and what no command of ours has: BaseVertex, BaseInstance, DrawIndex.
_ALWAYS: dict[int, Sequence[Range]] = {
    36: [(1, 128)], 41: [(0, 127)], 8: [(0, 127)], 18: [(0, 63)], 4440: [(0, 31)],
    4424: [(0, 0)], 4425: [(0, 0)], 4426: [(0, 0)],
}  # fmt: skip


def stage_reach(stage: StageInput, execution: Execution) -> Reach:
    """How far one stage reaches.

    Raises:
        InvalidSpirv: as `shaderstat.spirv.reach.reach`.
    """
    words = load(stage.words)
    for each in parse(words).entries:
        if each.name == stage.entry.name and EXECUTION_MODELS.get(each.model) == stage.entry.stage:
            return reach(words, each.function, builtins(stage.entry, execution), stage.specialization)
    return Reach()


def builtins(entry: EntryPoint, execution: Execution) -> dict[int, Sequence[Range]]:
    """What an entry point's BuiltIn variables can be, by number, of each component: in the largest of the commands."""
    sizes = [command.size for command in execution.commands] or [(1, 1, 1)]
    x, y, z = (max(size[axis] for size in sizes) for axis in range(3))
    found = dict(_ALWAYS)
    if execution.commands and execution.commands[0].kind == "draw":
        found[42] = found[5] = [(0, x - 1)]  # VertexIndex
        found[43] = found[6] = [(0, y - 1)]  # InstanceIndex
        found[7] = [(0, x * y - 1)]  # PrimitiveId
    elif execution.commands and execution.commands[0].kind == "trace_rays":
        found[5319] = [(0, x - 1), (0, y - 1), (0, z - 1)]  # LaunchIdKHR
        found[5320] = [(1, x), (1, y), (1, z)]
    if entry.stage == "fragment":
        # FragCoord, cut off to whole numbers: of floats nothing else is known
        found[15] = [(0, execution.extent[0] - 1), (0, execution.extent[1] - 1), (0, 1), (0, 1)]
    if entry.local_size is not None:
        local = entry.local_size
        groups = (x, y, z)
        found[24] = [(1, count) for count in groups]  # NumWorkgroups
        found[26] = [(0, count - 1) for count in groups]  # WorkgroupId
        found[27] = [(0, side - 1) for side in local]  # LocalInvocationId
        found[28] = [(0, count * side - 1) for count, side in zip(groups, local, strict=True)]  # GlobalInvocationId
        found[29] = [(0, prod(local) - 1)]  # LocalInvocationIndex
        found[38] = [(1, prod(local))]  # NumSubgroups
        found[40] = [(0, prod(local) - 1)]  # SubgroupId
    return found
