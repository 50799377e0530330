"""What a child makes of a job before a driver sees it, and what it says of the driver's answer."""

from __future__ import annotations

import pytest

from shaderstat.child.loop import _mark, _merged
from shaderstat.child.prepare import prepare
from shaderstat.errors import InvalidSpirv
from shaderstat.model import STAGE_BITS, ExecutableAnswer, Job, JobModule
from tests.spirv.asm import assemble, module

VERTEX, GEOMETRY, FRAGMENT, COMPUTE, RAYGEN = (
    STAGE_BITS[stage] for stage in ("vertex", "geometry", "fragment", "compute", "raygen")
)

BOTH = assemble(
    """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Vertex %vs "main"
    OpEntryPoint GLCompute %cs "main"
    OpExecutionMode %cs LocalSize 4 2 1
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %vs = OpFunction %void None %function
    %l1 = OpLabel
    OpReturn
    OpFunctionEnd
    %cs = OpFunction %void None %function
    %l2 = OpLabel
    OpReturn
    OpFunctionEnd
    """
)


def job(data: bytes, stage: str, name: str = "main") -> Job:
    return Job("", (JobModule("a.spv", data, stage, name),))


def test_one_name_stands_for_several_stages() -> None:
    assert prepare(job(BOTH, "compute")).workgroup == (4, 2, 1)
    assert prepare(job(BOTH, "vertex")).workgroup is None


def test_an_entry_point_that_is_not_there() -> None:
    told = r"no fragment entry point 'main'; there are: 'main' \(vertex\), 'main' \(compute\)"
    with pytest.raises(InvalidSpirv, match=told) as raised:
        prepare(job(BOTH, "fragment"))
    assert (raised.value.code, raised.value.path) == ("spirv/no-entry-point", "a.spv")


def test_one_id_on_constants_of_two_types_is_remarked_on() -> None:
    declared = "%a = OpSpecConstant %uint 1\n%b = OpSpecConstant %float 1.0\n%c = OpSpecConstant %uint 2"
    decorated = "\n".join(f"OpDecorate %{name} SpecId {id}" for name, id in (("a", 3), ("b", 3), ("c", 4)))
    (said,) = prepare(job(module(declared, annotations=decorated), "compute")).remarks
    assert (said.severity, said.code, said.path) == ("warning", "spirv/spec-id-types", "a.spv")
    assert said.message.startswith("specialization constant 3 is uint32 and float32")


@pytest.mark.parametrize(
    ("stages", "generated", "expected"),
    [
        (FRAGMENT, VERTEX, False),
        (VERTEX, VERTEX, True),
        (VERTEX | GEOMETRY, VERTEX | FRAGMENT, False),
        (COMPUTE, RAYGEN, False),
        (0, VERTEX, False),
        (COMPUTE, 0, False),
    ],
)
def test_an_executable_of_generated_stages_alone_is_synthetic(stages: int, generated: int, expected: bool) -> None:
    assert _mark(ExecutableAnswer("x", "", stages, 64), generated, "upper").synthetic is expected


@pytest.mark.parametrize(
    ("stages", "generated", "told"),
    [
        (VERTEX | GEOMETRY, VERTEX, True),  # RADV merges them
        (COMPUTE, RAYGEN, True),  # and makes one shader of all ray tracing stages
        (COMPUTE, 0, False),
        (FRAGMENT, VERTEX, False),
        (VERTEX, VERTEX, False),
    ],
)
def test_numbers_that_hold_generated_stages_too_are_told(stages: int, generated: int, told: bool) -> None:
    one = _mark(ExecutableAnswer("VS", "", stages, 64), generated, "upper" if generated else "exact")
    assert [each.code for each in _merged([one], generated)] == ["driver/merged-stages"] * told
