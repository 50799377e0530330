"""Entry points: what each uses, its specialization constants, workgroup and fixed-function facts."""

from __future__ import annotations

import pytest

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.spirv.facts import EntryPoint, Reflection
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.spirv.asm import assemble, module


def read(data: bytes, **specialization: float) -> Reflection:
    return reflect(load(data), {int(key[1:]): value for key, value in specialization.items()})


def only(data: bytes, **specialization: float) -> EntryPoint:
    (found,) = read(data, **specialization).entries
    return found


TWO_ENTRIES = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Vertex %vertex "main" %position
    OpEntryPoint Fragment %fragment "main" %colour
    OpExecutionMode %fragment OriginUpperLeft
    OpDecorate %position Location 2
    OpDecorate %colour Location 0
    OpDecorate %a DescriptorSet 0
    OpDecorate %a Binding 1
    OpDecorate %b DescriptorSet 0
    OpDecorate %b Binding 2
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %other 0 Offset 16
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %float = OpTypeFloat 32
    %block = OpTypeStruct %float
    %other = OpTypeStruct %float
    %in = OpTypePointer Input %float
    %out = OpTypePointer Output %float
    %uniform = OpTypePointer Uniform %block
    %push = OpTypePointer PushConstant %block
    %other_push = OpTypePointer PushConstant %other
    %position = OpVariable %in Input
    %colour = OpVariable %out Output
    %a = OpVariable %uniform Uniform
    %b = OpVariable %uniform Uniform
    %p = OpVariable %push PushConstant
    %q = OpVariable %other_push PushConstant
    %vertex = OpFunction %void None %function
    %l1 = OpLabel
    %1 = OpLoad %block %a
    %2 = OpFunctionCall %void %shared
    OpReturn
    OpFunctionEnd
    %fragment = OpFunction %void None %function
    %l2 = OpLabel
    %3 = OpLoad %other %q
    %4 = OpFunctionCall %void %shared
    OpReturn
    OpFunctionEnd
    %shared = OpFunction %void None %function
    %l3 = OpLabel
    %5 = OpLoad %block %b
    %6 = OpFunctionCall %void %deeper
    OpReturn
    OpFunctionEnd
    %deeper = OpFunction %void None %function
    %l4 = OpLabel
    OpReturn
    OpFunctionEnd
"""


def test_each_entry_point_has_its_own() -> None:
    vertex, fragment = read(assemble(TWO_ENTRIES)).entries
    assert (vertex.name, vertex.stage, fragment.name, fragment.stage) == ("main", "vertex", "main", "fragment")
    assert [each.binding for each in vertex.bindings] == [1, 2]
    assert [each.binding for each in fragment.bindings] == [2]
    assert vertex.push_constants is None
    assert fragment.push_constants is not None and fragment.push_constants.offset == 16
    assert [each.location for each in vertex.inputs] == [2] and vertex.outputs == ()
    assert [each.location for each in fragment.outputs] == [0] and fragment.inputs == ()


def test_what_a_lone_entry_point_declares_and_does_not_use() -> None:
    data = module(
        """
        %block = OpTypeStruct %uint
        %p = OpTypePointer Uniform %block
        %a = OpVariable %p Uniform
        %b = OpVariable %p Uniform
        """,
        annotations="""
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 1
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 2
        """,
        body="%1 = OpLoad %block %a",
    )
    assert [each.binding for each in read(data).entries[0].bindings] == [1]
    assert [each.binding for each in read(data).unused_bindings] == [2]
    assert read(assemble(TWO_ENTRIES)).unused_bindings == ()


def test_one_entry_point_can_be_asked_for() -> None:
    words = load(assemble(TWO_ENTRIES))
    assert [entry.stage for entry in reflect(words, only=("fragment", "main")).entries] == ["fragment"]
    assert reflect(words, only=("compute", "main")).entries == ()


def test_functions_that_call_each_other_are_refused() -> None:
    data = assemble(TWO_ENTRIES.replace("%6 = OpFunctionCall %void %deeper", "%6 = OpFunctionCall %void %shared"))
    with pytest.raises(InvalidSpirv) as caught:
        reflect(load(data))
    assert caught.value.code == "spirv/recursive-function"


def test_call_chains_cost_no_stack() -> None:
    count = 3000
    functions = "\n".join(
        f"""
        %f{each} = OpFunction %void None %void_function
        %label{each} = OpLabel
        {f"%call{each} = OpFunctionCall %void %f{each + 1}" if each < count else "%use = OpCopyObject %p %v"}
        OpReturn
        OpFunctionEnd
        """
        for each in range(count + 1)
    )
    data = module(
        "%block = OpTypeStruct %uint\n%p = OpTypePointer Uniform %block\n%v = OpVariable %p Uniform",
        annotations="OpDecorate %v Binding 9",
        body="%call = OpFunctionCall %void %f0",
        functions=functions,
    )
    assert [each.binding for each in only(data).bindings] == [9]


SPEC = """
    %yes = OpSpecConstantTrue %bool
    %n = OpSpecConstant %uint 9
    %again = OpSpecConstant %uint 4
    %as_float = OpSpecConstant %float 1.5
    %long = OpTypeInt 64 0
    %wide = OpSpecConstant %long 8589934592
    %half = OpTypeFloat 16
    %h = OpSpecConstant %half 0.5
    %fixed = OpSpecConstant %uint 1
"""
SPEC_IDS = """
    OpName %n "count"
    OpDecorate %yes SpecId 0
    OpDecorate %n SpecId 4294967295
    OpDecorate %again SpecId 3
    OpDecorate %as_float SpecId 3
    OpDecorate %wide SpecId 5
    OpDecorate %h SpecId 6
"""


def test_specialization_constants_by_id() -> None:
    found = only(module(SPEC, annotations=SPEC_IDS)).spec_constants
    assert [(each.id, each.type, each.default, each.size, each.shared) for each in found] == [
        (0, "bool", True, 4, 1),
        (4294967295, "uint32", 9, 4, 1),
        (3, "uint32", 4, 4, 2),
        (5, "uint64", 8589934592, 8, 1),
        (6, "float16", 0.5, 2, 1),
    ]
    assert found[1].name == "count"
    assert found[2].other_types == ("float32",)


def test_defaults_stay_the_modules_own() -> None:
    found = only(module(SPEC, annotations=SPEC_IDS), _3=7).spec_constants
    assert [each.default for each in found if each.id == 3] == [4]


SIZES = """
    %v3 = OpTypeVector %uint 3
    %x = OpSpecConstant %uint 32
    %one = OpConstant %uint 1
    %two = OpConstant %uint 2
"""


def test_local_size_literal() -> None:
    assert only(module(modes="OpExecutionMode %main LocalSize 8 4 2")).local_size == (8, 4, 2)


def test_local_size_by_ids_follows_specialization() -> None:
    data = module(
        SIZES,
        modes="OpExecutionModeId %main LocalSizeId %x %two %one",
        annotations="OpDecorate %x SpecId 10",
        version=(1, 2),
    )
    assert only(data).local_size == (32, 2, 1)
    assert only(data, _10=64).local_size == (64, 2, 1)
    assert only(data, _10=64).modes == {38: (64, 2, 1)}


def test_the_workgroup_size_object_wins() -> None:
    data = module(
        SIZES + "%size = OpSpecConstantComposite %v3 %x %two %one",
        annotations="OpDecorate %x SpecId 10\nOpDecorate %size BuiltIn WorkgroupSize",
    )
    assert only(data).local_size == (32, 2, 1)
    assert only(data, _10=5).local_size == (5, 2, 1)


@pytest.mark.parametrize("modes", ["", "OpExecutionMode %main LocalSize 0 1 1"])
def test_a_workgroup_has_a_size(modes: str) -> None:
    with pytest.raises(InvalidSpirv) as caught:
        read(module(modes=modes))
    assert caught.value.code == "spirv/local-size"


def test_other_stages_have_no_workgroup() -> None:
    assert only(module(stage="Vertex")).local_size is None


def test_shared_memory_is_packed_and_follows_specialization() -> None:
    text = """
        %n = OpSpecConstant %uint 4
        %array = OpTypeArray %float %n
        %v3 = OpTypeVector %float 3
        %pa = OpTypePointer Workgroup %array
        %pv = OpTypePointer Workgroup %v3
        %a = OpVariable %pa Workgroup
        %v = OpVariable %pv Workgroup
        %unused = OpVariable %pa Workgroup
    """
    data = module(text, annotations="OpDecorate %n SpecId 1", body="%1 = OpCopyObject %pa %a\n%2 = OpCopyObject %pv %v")
    assert only(data).shared_bytes == 28
    assert only(data, _1=100).shared_bytes == 412


def test_shared_blocks_with_a_layout_lie_upon_each_other() -> None:
    text = """
        %small = OpTypeStruct %uint
        %large = OpTypeStruct %uint %uint
        %ps = OpTypePointer Workgroup %small
        %pl = OpTypePointer Workgroup %large
        %a = OpVariable %ps Workgroup
        %b = OpVariable %pl Workgroup
    """
    annotations = """
        OpDecorate %small Block
        OpDecorate %large Block
        OpMemberDecorate %small 0 Offset 0
        OpMemberDecorate %large 0 Offset 0
        OpMemberDecorate %large 1 Offset 12
    """
    body = "%1 = OpCopyObject %ps %a\n%2 = OpCopyObject %pl %b"
    assert only(module(text, annotations=annotations, body=body)).shared_bytes == 16


@pytest.mark.parametrize(
    ("stage", "mode", "topology"),
    [
        ("Geometry", "InputPoints", "points"),
        ("Geometry", "InputLines", "lines"),
        ("Geometry", "InputLinesAdjacency", "lines_adjacency"),
        ("Geometry", "Triangles", "triangles"),
        ("Geometry", "InputTrianglesAdjacency", "triangles_adjacency"),
        ("TessellationEvaluation", "Quads", "quads"),
        ("TessellationControl", "Isolines", "isolines"),
        ("TessellationEvaluation", "Triangles", "triangles"),
        ("Vertex", "Xfb", None),
    ],
)
def test_topologies(stage: str, mode: str, topology: str | None) -> None:
    assert only(module(stage=stage, modes=f"OpExecutionMode %main {mode}")).topology == topology


def test_mesh_output() -> None:
    modes = """
    OpExecutionMode %main LocalSize 4 1 1
    OpExecutionMode %main OutputLinesEXT
    OpExecutionMode %main OutputVertices 64
    OpExecutionMode %main OutputPrimitivesEXT 32
    """
    found = only(module(stage="MeshEXT", modes=modes))
    assert (found.topology, found.local_size, found.patch_control_points) == ("lines", (4, 1, 1), None)
    assert found.modes[26] == (64,) and found.modes[5270] == (32,)


def test_patch_control_points_are_those_of_the_control_stage() -> None:
    modes = "OpExecutionMode %main OutputVertices 4"
    assert only(module(stage="TessellationControl", modes=modes)).patch_control_points == 4
    assert only(module(stage="Geometry", modes=modes)).patch_control_points is None


def test_fragments_that_write_depth() -> None:
    data = module(
        "%p = OpTypePointer Output %float\n%depth = OpVariable %p Output",
        stage="Fragment",
        interface="%depth",
        annotations="OpDecorate %depth BuiltIn FragDepth",
    )
    assert only(data).writes_depth and only(data).outputs == ()


@pytest.mark.parametrize(
    ("model", "stage"),
    [
        ("RayGenerationKHR", "raygen"),
        ("IntersectionKHR", "intersection"),
        ("AnyHitKHR", "any_hit"),
        ("ClosestHitKHR", "closest_hit"),
        ("MissKHR", "miss"),
        ("CallableKHR", "callable"),
    ],
)
def test_ray_tracing_stages_and_their_payloads(model: str, stage: str) -> None:
    data = module(
        """
        %block = OpTypeStruct %uint
        %p = OpTypePointer IncomingRayPayloadKHR %float
        %payload = OpVariable %p IncomingRayPayloadKHR
        %r = OpTypePointer ShaderRecordBufferKHR %block
        %record = OpVariable %r ShaderRecordBufferKHR
        """,
        stage=model,
        interface="%payload %record",
        body="%1 = OpLoad %float %payload\n%2 = OpLoad %block %record",
        version=(1, 4),
    )
    found = only(data)
    assert found.stage == stage and found.bindings == ()
    assert [each.type.kind for each in found.payloads] == ["float"]


def test_what_the_module_as_a_whole_says() -> None:
    found = read(
        module(
            capabilities='OpCapability Shader\nOpCapability Int16\nOpCapability Shader\nOpExtension "SPV_KHR_tomorrow"',
            version=(1, 5),
        )
    )
    assert found.version == (1, 5) and found.capabilities == (1, 22) and found.extensions == ("SPV_KHR_tomorrow",)
    assert (found.addressing, found.memory) == (0, 1) and found.unknown_opcodes == ()


def test_opencl_kernels_are_told() -> None:
    for data in (module(stage="Kernel", modes=""), module(capabilities="OpCapability Shader\nOpCapability Kernel")):
        with pytest.raises(Unsupported) as caught:
            read(data)
        assert caught.value.code == "spirv/opencl-kernel"


@pytest.mark.parametrize(
    ("declarations", "more"),
    [
        ("", {"stage": "Fragment", "modes": "OpExecutionMode %main OriginLowerLeft"}),
        (
            "%p = OpTypePointer Input %int\n%v = OpVariable %p Input",
            {"stage": "Vertex", "interface": "%v", "annotations": "OpDecorate %v BuiltIn VertexId"},
        ),
        (
            "%p = OpTypePointer Input %int\n%v = OpVariable %p Input",
            {"stage": "Vertex", "interface": "%v", "annotations": "OpDecorate %v BuiltIn InstanceId"},
        ),
        (
            "%p = OpTypePointer UniformConstant %float\n%v = OpVariable %p UniformConstant",
            {"annotations": "OpDecorate %v Location 0", "body": "%1 = OpLoad %float %v"},
        ),
        (
            "%p = OpTypePointer AtomicCounter %uint\n%v = OpVariable %p AtomicCounter",
            {"body": "%1 = OpCopyObject %p %v"},
        ),
    ],
)
def test_opengl_modules_are_told(declarations: str, more: dict[str, str]) -> None:
    with pytest.raises(Unsupported) as caught:
        read(module(declarations, **more))  # type: ignore[arg-type]
    assert caught.value.code == "spirv/opengl"


def test_no_entry_point_is_a_library_or_an_error() -> None:
    assert read(assemble("OpCapability Shader\nOpCapability Linkage")).entries == ()
    for text in ("OpCapability Shader", ""):
        with pytest.raises(InvalidSpirv) as caught:
            read(assemble(text))
        assert caught.value.code == "spirv/no-entry-point"


def test_unknown_execution_models() -> None:
    with pytest.raises(Unsupported) as caught:
        read(module(stage="9999", modes=""))
    assert caught.value.code == "spirv/execution-model"


def test_a_file_that_went_through_a_text_decoder_is_told() -> None:
    data = module(annotations='OpName %main "main"') + b"\xef\xbf\xbd\0"
    with pytest.raises(InvalidSpirv) as caught:
        read(data)
    assert caught.value.hint is not None and "text decoder" in caught.value.hint
