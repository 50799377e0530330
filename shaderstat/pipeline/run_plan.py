"""From what a pipeline is made of and what was said of its run to everything that must be made for it. Pure.

Arrays without a length get an element for every invocation, and as many as shaders reach by indices that can be told
(`shaderstat.spirv.reach`); images get a texel. Where an index can't be told that is a guess: robust access, which runs
ask for, keeps shaders inside, and a note says so. Nothing guards pointers, so that these must be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.fills import in_bytes
from shaderstat.pipeline.resources import AccelerationStructure, Buffer, Image, Resources, Sampler
from shaderstat.pipeline.run_buffers import (
    BUFFERS,
    RUNTIME_ELEMENTS,
    TEXEL_BUFFERS,
    buffers,
    check_given,
    limit,
    made,
    vertex_buffers,
)
from shaderstat.pipeline.run_images import IMAGES, image_bytes, image_shape, images
from shaderstat.pipeline.run_interface import Interface, infos, interface, number
from shaderstat.pipeline.run_notes import notes, target_notes
from shaderstat.pipeline.run_partners import check_partners
from shaderstat.pipeline.run_pointers import Places, Pointers
from shaderstat.pipeline.run_target import plan_target

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.instrumentation import Command, Execution, Slot
    from shaderstat.pipeline.spec import PipelineSpec
    from shaderstat.pipeline.stages import StageInput

# All resources together; drivers take longer to refuse more than we do.
MOST_BYTES_IN_ALL = 4 << 30

_OPTIONS = {"dispatch": "--dispatch", "draw": "--draw", "draw_mesh_tasks": "--draw-mesh-tasks", "trace_rays": "--trace"}


def plan_resources(
    spec: PipelineSpec, stages: Sequence[StageInput], execution: Execution, facts: DeviceFacts
) -> Resources:
    """Every resource that the shaders of `spec` bind, and the target that it draws to.

    Args:
        stages: what the spec was made of, with their specialization; generated stages need not be among them.

    Raises:
        Unsupported: ``run/command``, ``run/lone-stage``, ``run/limit``, ``run/too-small``, ``run/too-large``,
            ``run/slot``, ``run/layout``, ``run/resource``, ``run/format``, ``run/push``, ``run/address`` or
            ``run/attachment``.
    """
    _check_commands(spec, stages, execution, facts)
    check_partners(spec, execution)
    found = interface(spec, stages, execution)
    _check_slots(found, execution)
    elements = max(RUNTIME_ELEMENTS, *(invocations(each, stages, execution) for each in execution.commands))
    target = plan_target(spec, execution, facts) if spec.kind == "graphics" else None
    pointers = Pointers(found.pointees, elements, found.beyond, found.steps)
    shape = image_shape(execution, stages, facts)
    its_buffers: list[Buffer] = []
    its_images: list[Image] = []
    samplers: list[Sampler] = []
    structures: list[AccelerationStructure] = []
    for slot, bound in sorted(found.bound.items()):
        if bound.type in BUFFERS or bound.type in TEXEL_BUFFERS:
            its_buffers += buffers(bound, execution.buffers.get(slot), elements, pointers, facts)
        elif bound.type in IMAGES:
            its_images += images(bound, execution.images.get(slot), shape, spec, target, facts)
        elif bound.type == "ACCELERATION_STRUCTURE_KHR":
            structures += (AccelerationStructure(slot, element) for element in range(made(bound)))
        elif bound.type != "SAMPLER":
            raise Unsupported("run/resource", f"{bound.where} is a {bound.type}: nothing is made for it")
        if bound.type in ("SAMPLER", "COMBINED_IMAGE_SAMPLER") and not bound.immutable:
            samplers += (Sampler(slot, element, bound.compares) for element in range(made(bound)))
    push, push_addresses = _push(spec, found, execution, pointers)
    its_indirect = pointers.buffer()
    result = Resources(
        buffers=tuple(its_buffers),
        images=tuple(its_images),
        samplers=tuple(samplers),
        structures=tuple(structures),
        vertices=tuple(vertex_buffers(spec, execution)),
        push=push,
        push_given=len(execution.push),
        push_addresses=push_addresses,
        indirect=its_indirect,
        target=target,
        notes=(*notes(found, execution, its_buffers, its_indirect), *target_notes(spec, target)),
    )
    _check_sum(result)
    return result


def invocations(command: Command, stages: Sequence[StageInput], execution: Execution) -> int:
    """How many invocations of one stage `command` starts, at most."""
    if command.kind == "draw":
        return max(command.size[0] * command.size[1], prod(execution.extent))
    local = max((prod(stage.entry.local_size) for stage in stages if stage.entry.local_size is not None), default=1)
    return prod(command.size) * (local if command.kind != "trace_rays" else 1)


def fitting_command(spec: PipelineSpec, stages: Sequence[StageInput]) -> str:
    """The kind of command that runs such a pipeline."""
    if spec.kind == "graphics":
        mesh = any(stage.entry.stage in ("task", "mesh") for stage in stages)
        return "draw_mesh_tasks" if mesh or _has_mesh(spec) else "draw"
    return "dispatch" if spec.kind == "compute" else "trace_rays"


def _has_mesh(spec: PipelineSpec) -> bool:
    return any(number("VkShaderStageFlagBits", info.get("stage", 0)) == STAGE_BITS["mesh"] for info, _ in infos(spec))


# ── Commands against limits ───────────────────────────────────────────────────────────────────────────────────────


def _check_commands(spec: PipelineSpec, stages: Sequence[StageInput], execution: Execution, facts: DeviceFacts) -> None:
    fits = fitting_command(spec, stages)
    article = "a mesh" if fits == "draw_mesh_tasks" else f"a {spec.kind.replace('_', ' ')}"
    if not execution.commands:
        raise Unsupported("run/command", f"nothing to run: {article} pipeline wants {_OPTIONS[fits]}")
    for command in execution.commands:
        if command.kind != fits:
            message = (
                f"{article} pipeline is run by {_OPTIONS[fits]}, not by {_OPTIONS.get(command.kind, command.kind)}"
            )
            raise Unsupported("run/command", message)
        if not all(command.size):
            raise Unsupported("run/limit", f"{command}: no number may be 0")
        check = {"dispatch": _check_dispatch, "draw_mesh_tasks": _check_mesh, "trace_rays": _check_trace}.get(fits)
        if check is not None:
            check(command, stages, facts)
    if execution.repeat < 1:
        raise Unsupported("run/limit", f"{execution.repeat} submissions: at least one is wanted")


def _check_dispatch(command: Command, stages: Sequence[StageInput], facts: DeviceFacts) -> None:
    for axis, (count, name) in enumerate(zip(command.size, "xyz", strict=True)):
        limit(facts, f"maxComputeWorkGroupCount[{axis}]", count, f"{command}: {count} workgroups in {name}")


def _check_mesh(command: Command, stages: Sequence[StageInput], facts: DeviceFacts) -> None:
    stem = "Task" if any(stage.entry.stage == "task" for stage in stages) else "Mesh"
    struct = "VkPhysicalDeviceMeshShaderPropertiesEXT"
    for axis, (count, name) in enumerate(zip(command.size, "xyz", strict=True)):
        limit(facts, f"max{stem}WorkGroupCount[{axis}]", count, f"{command}: {count} workgroups in {name}", struct)
    total = prod(command.size)
    limit(facts, f"max{stem}WorkGroupTotalCount", total, f"{command}: {total} workgroups", struct)


def _check_trace(command: Command, stages: Sequence[StageInput], facts: DeviceFacts) -> None:
    for axis, (count, name) in enumerate(zip(command.size, "xyz", strict=True)):
        groups = facts.property("VkPhysicalDeviceLimits", f"maxComputeWorkGroupCount[{axis}]")
        side = facts.property("VkPhysicalDeviceLimits", f"maxComputeWorkGroupSize[{axis}]")
        if groups is not None and side is not None and count > groups * side:
            message = f"{command}: {count} rays in {name}, {facts.device.name} traces at most {groups * side}"
            raise Unsupported("run/limit", message)
    total, struct = prod(command.size), "VkPhysicalDeviceRayTracingPipelinePropertiesKHR"
    limit(facts, "maxRayDispatchInvocationCount", total, f"{command}: {total} rays", struct)


# ── What was given ────────────────────────────────────────────────────────────────────────────────────────────────


def _check_slots(found: Interface, execution: Execution) -> None:
    """Whatever was said of a slot is said of one that shaders bind, and of the right kind."""

    def slots(*groups: Sequence[str]) -> list[Slot]:
        types = {type for group in groups for type in group}
        return sorted(slot for slot, bound in found.bound.items() if bound.type in types)

    all_buffers = slots(BUFFERS, TEXEL_BUFFERS)
    check_given(execution.buffers, all_buffers, "a buffer at", _slot)
    # what is in a command buffer itself can't be read back
    readable = [slot for slot in all_buffers if found.bound[slot].type != "INLINE_UNIFORM_BLOCK"]
    check_given(execution.read, readable, "a buffer at", _slot)
    check_given(execution.images, slots([type for type in IMAGES if type != "INPUT_ATTACHMENT"]), "an image at", _slot)


def _slot(slot: Slot) -> str:
    return f"{slot[0]}.{slot[1]}"


def _push(spec: PipelineSpec, found: Interface, execution: Execution, pointers: Pointers) -> tuple[bytes, Places]:
    ranges = spec.layout.get("pPushConstantRanges") or ()
    size = max((each.get("offset", 0) + each.get("size", 0) for each in ranges), default=0)
    given = len(execution.push)
    if given > size:
        its = f"the layout has {in_bytes(size)} of them" if size else "the layout has none"
        raise Unsupported(
            "run/push", f"{in_bytes(given)} of push constants {'is' if given == 1 else 'are'} given: {its}"
        )
    places = dict(place for type in found.push for place in pointers.places(type, size))
    return execution.push.ljust(size, b"\0"), tuple(sorted(places.items()))


def _check_sum(resources: Resources) -> None:
    total = sum(each.size for each in (*resources.buffers, *resources.vertices))
    total += sum(map(image_bytes, resources.images))
    if total > MOST_BYTES_IN_ALL:
        raise Unsupported("run/too-large", f"the resources have {total} bytes in all: over {MOST_BYTES_IN_ALL}")
