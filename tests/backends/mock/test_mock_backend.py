"""The mock as a backend: what it answers of a pipeline, and that it says whose numbers these are."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.backends.base import DriverError
from shaderstat.backends.mock import open
from shaderstat.backends.mock.statistics import DEFINITIONS
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import STAGE_BITS, STATISTIC_FORMATS, Launch
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from tests.assembly import assemble, compute
from tests.backends.mock.measure import NoTools, answer, backend, numbers, spec

SAMPLES = sorted(Path(__file__).parents[3].glob("sample_spirv/*.spv"))
EMPTY = "%1 = OpLabel\nOpReturn"


def test_it_says_that_no_compiler_was_asked() -> None:
    facts = backend().facts
    assert "mock" in facts.driver.name
    assert "no GPU compiler was asked" in facts.driver.info
    assert facts.driver.id == 0 and facts.device.vendor_id == 0
    (executable,) = answer(spec(assemble(compute(EMPTY))))
    assert "no GPU compiler was asked" in executable.description


def test_its_device_has_everything() -> None:
    facts = backend().facts
    assert facts.has_extension("VK_KHR_anything")
    assert facts.has_feature("VkPhysicalDeviceFeatures", "shaderFloat64")
    assert facts.supports_format("VK_FORMAT_R8_UNORM", "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT")
    assert facts.property("VkPhysicalDeviceLimits", "maxPushConstantsSize") is None
    assert facts.property("VkPhysicalDeviceVulkan11Properties", "subgroupSupportedOperations")
    assert facts.api_version == (1, 4, 0)


def test_one_executable_for_each_stage_in_pipeline_order() -> None:
    words = {stage: (SAMPLES[0].parent / f"water.{stage[:4]}.spv").read_bytes() for stage in ("vertex", "fragment")}
    pipeline = PipelineSpec(
        kind="graphics",
        modules=(SpecModule(words["fragment"], "f"), SpecModule(words["vertex"], "v")),
        create_info={
            "pStages": [
                {"stage": "VK_SHADER_STAGE_FRAGMENT_BIT", "module": 0, "pName": "main"},
                {"stage": STAGE_BITS["vertex"], "module": 1, "pName": "main"},
            ]
        },
    )
    executables = answer(pipeline)
    assert [(each.name, each.stages, each.subgroup_size) for each in executables] == [
        ("vertex", 1, 0),
        ("fragment", 16, 0),
    ]


def test_a_generated_stage_has_no_executable() -> None:
    pipeline = spec(assemble(compute(EMPTY)))
    pipeline = replace(pipeline, modules=(replace(pipeline.modules[0], synthetic=True),))
    assert answer(pipeline) == ()


def test_all_four_formats_are_in_use() -> None:
    (executable,) = answer(spec(SAMPLES[0].read_bytes()))
    assert {STATISTIC_FORMATS[each.format] for each in executable.statistics} == set(STATISTIC_FORMATS)
    assert all(each.description for each in executable.statistics)
    assert len({each.name for each in executable.statistics}) == len(executable.statistics)


def test_names_and_descriptions_fit_what_vulkan_gives_them() -> None:
    for each in DEFINITIONS:
        assert len(each.name.encode()) < 256 and len(each.description.encode()) < 256


def test_values_by_format() -> None:
    words = assemble(compute("%1 = OpLabel\n%v = OpVariable %p Function\nOpStore %v %one\nOpReturn",
                             declarations="%p = OpTypePointer Function %int"))  # fmt: skip
    (executable,) = answer(spec(words))
    found = numbers(executable)
    assert found["Instructions"] == 2
    assert found["Load surplus"] == 2**64 - 1, "no load, one store: -1 as 64 bits"
    assert struct.unpack("<d", found["Instructions per block"].to_bytes(8, "little")) == (2.0,)
    assert struct.unpack("<d", found["Arithmetic share"].to_bytes(8, "little")) == (0.0,)
    assert (found["Discards"], found["Endless loop"]) == (0, 0)
    assert found["Module size"] == len(words)


SPECIALIZED = compute(
    "%1 = OpLabel\nOpReturn",
    modes="OpDecorate %width SpecId 7\nOpDecorate %size BuiltIn WorkgroupSize\nOpDecorate %length SpecId 9",
    declarations="""
        %uint = OpTypeInt 32 0
        %uone = OpConstant %uint 1
        %width = OpSpecConstant %uint 8
        %length = OpSpecConstant %uint 16
        %uvec3 = OpTypeVector %uint 3
        %size = OpSpecConstantComposite %uvec3 %width %width %uone
        %twice = OpSpecConstantOp %uint IAdd %length %length
        %array = OpTypeArray %vec4 %twice
        %pw = OpTypePointer Workgroup %array
        %shared = OpVariable %pw Workgroup
    """,
).replace('"main"', '"main" %shared')


def test_specialization_is_applied() -> None:
    words = assemble(SPECIALIZED.replace("%1 = OpLabel\n", "%1 = OpLabel\n%x = OpLoad %array %shared\n"))
    (plain,) = answer(spec(words))
    info = {
        "pMapEntries": [
            {"constantID": 7, "offset": 0, "size": 4},
            {"constantID": 9, "offset": 4, "size": 4},
            {"constantID": 1000, "offset": 0, "size": 4},
        ],
        "pData": struct.pack("=II", 4, 1),
    }
    (specialized,) = answer(spec(words, pSpecializationInfo=info))
    before, after = numbers(plain), numbers(specialized)
    assert (before["Workgroup invocations"], after["Workgroup invocations"]) == (64, 16)
    # 2 × 16 and 2 × 1 vectors of four floats.
    assert (before["Shared memory"], after["Shared memory"]) == (512, 32)
    assert before["Hash"] != after["Hash"]
    assert before["Instructions"] == after["Instructions"]


def test_the_hash_tells_code_and_entry_point() -> None:
    words = assemble(compute(EMPTY))
    first, again = (numbers(answer(spec(words, path=path))[0])["Hash"] for path in ("a.spv", "b.spv"))
    assert first == again
    assert first != numbers(answer(spec(assemble(compute("%1 = OpLabel\nOpUnreachable"))))[0])["Hash"]


def test_what_means_nothing_for_a_stage_is_left_out() -> None:
    compute_names = numbers(answer(spec(SAMPLES[0].read_bytes()))[0]).keys()
    vertex = SAMPLES[0].parent / "water.vert.spv"
    vertex_names = numbers(answer(spec(vertex.read_bytes(), "vertex"))[0]).keys()
    assert compute_names - vertex_names == {"Workgroup invocations", "Shared memory"}
    assert vertex_names - compute_names == {"Input components", "Output components"}


def test_only_what_was_captured_is_answered() -> None:
    pipeline = spec(SAMPLES[0].read_bytes())
    for statistics in (False, True):
        for representations in (False, True):
            with backend().compile(pipeline, statistics=statistics, representations=representations) as compiled:
                (executable,) = compiled.query()
            assert bool(executable.statistics) is statistics
            assert bool(executable.representations) is representations


def test_representations_with_spirv_tools() -> None:
    words = SAMPLES[0].read_bytes()
    tools = SpirvTools.find()
    with open(Launch("mock", "mock", "mock"), tools).compile(
        spec(words), statistics=True, representations=True
    ) as done:
        (executable,) = done.query()
        assert done.diagnostics() == ()
    text, graph, binary = executable.representations
    assert (text.name, text.is_text, text.data.decode()) == ("Disassembly", True, tools.disassemble(words))
    assert (graph.name, graph.is_text) == ("Control-flow graph", True)
    assert (binary.name, binary.is_text, binary.data) == ("Words", False, words)


def test_without_spirv_tools_there_is_no_disassembly_and_that_is_said() -> None:
    with backend().compile(spec(SAMPLES[0].read_bytes()), statistics=True, representations=True) as compiled:
        (executable,) = compiled.query()
        ((code, message),) = compiled.diagnostics()
    assert [each.name for each in executable.representations] == ["Control-flow graph", "Words"]
    assert code == "mock/no-disassembly" and NoTools.problem in message


@pytest.mark.parametrize(("stage", "name"), [("compute", "other"), ("vertex", "main")])
def test_an_unknown_entry_point_is_an_error_of_creation(stage: str, name: str) -> None:
    with (
        pytest.raises(DriverError) as caught,
        backend().compile(spec(assemble(compute(EMPTY)), stage, name), statistics=True, representations=True),
    ):
        pass
    assert caught.value.vk_result == "VK_ERROR_UNKNOWN"
    assert caught.value.call.startswith("vkCreate")


def test_what_is_too_large_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shaderstat.backends.mock.liveness.LIMIT_BITS", 1)
    words = (SAMPLES[0].parent / "sort.comp.spv").read_bytes()
    with backend().compile(spec(words), statistics=True, representations=False) as compiled:
        found = numbers(compiled.query()[0])
        assert [code for code, _ in compiled.diagnostics()] == ["mock/too-large"]
    assert "Live values" not in found and "Instructions" in found


@given(st.data())
@settings(max_examples=200)
def test_damaged_modules_are_refused_or_analysed(data: st.DataObject) -> None:
    """Words changed at random: an answer or one of three errors, never another exception."""
    words = bytearray(data.draw(st.sampled_from([path.read_bytes() for path in SAMPLES])))
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(5, len(words) // 4 - 1)) * 4
        value = data.draw(st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1)))
        struct.pack_into("=I", words, index, value)
    for stage in ("compute", "vertex", "fragment"):
        with suppress(InvalidSpirv, Unsupported, DriverError):
            answer(spec(bytes(words), stage))
