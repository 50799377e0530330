"""The mock's numbers against modules counted by hand: the counts stand beside the instructions."""

from __future__ import annotations

import pytest

from shaderstat.backends.mock.liveness import Peak
from tests.assembly import assemble, compute
from tests.backends.mock.measure import analysis, counted

# The comment says the class, and what is live just before the instruction.
STRAIGHT = """
    %1 = OpLabel
    %2 = OpIAdd %int %zero %one            ; Arithmetic
    %3 = OpIMul %int %2 %2                 ; Arithmetic     2
    %4 = OpConvertSToF %float %3           ; Conversions    2 3
    %5 = OpFAdd %float %4 %half            ; Arithmetic     2 3 4
    %6 = OpFOrdLessThan %bool %5 %half     ; Comparisons    2 3 4 5
    %7 = OpSelect %int %6 %2 %3            ; Logic          2 3 4 5 6
    %8 = OpBitwiseAnd %int %7 %one         ; Logic          4 5 7
    %9 = OpCompositeConstruct %vec4 %5 %5 %4 %half ; Moves  4 5
    %10 = OpCompositeExtract %float %9 2   ; Moves          9, four components
    OpReturn                               ; Control flow
"""


def test_straight_code() -> None:
    found = analysis(assemble(compute(STRAIGHT)))
    assert counted(found) == {
        "Arithmetic": 3,
        "Logic": 2,
        "Comparisons": 1,
        "Conversions": 1,
        "Moves": 2,
        "Control flow": 1,
    }
    assert found.instructions == 10
    assert (found.functions, found.blocks, found.loops, found.selections, found.decisions) == (1, 1, 0, 0, 0)
    assert found.live == Peak(5, 5)
    # OpFunction 5, OpLabel 2, ten instructions of 5 5 4 5 5 6 5 7 5 1, OpFunctionEnd 1.
    assert found.code_words == 5 + 2 + 48 + 1


def test_components_of_vectors_count() -> None:
    body = """
        %1 = OpLabel
        %2 = OpCompositeConstruct %vec4 %half %half %half %half
        %3 = OpFAdd %vec4 %2 %2            ; 2: 4
        %4 = OpVectorTimesScalar %vec4 %3 %half  ; 2 3: 8
        %5 = OpDot %float %2 %4            ; 2 4: 8
        %6 = OpFAdd %float %5 %half        ; 5: 1
        OpReturn
    """
    # 3 and 2 are there together before 4: %2 is used again by %5.
    assert analysis(assemble(compute(body))).live == Peak(2, 8)


LOOPS = """
    %entry = OpLabel
    OpBranch %h1
    %h1 = OpLabel
    %i = OpPhi %int %zero %entry %i2 %c1
    OpLoopMerge %m1 %c1 None
    OpBranch %b1
    %b1 = OpLabel
    %t = OpSLessThan %bool %i %one
    OpBranchConditional %t %body %m1
    %body = OpLabel
    OpBranch %h2
    %h2 = OpLabel
    %j = OpPhi %int %zero %body %j2 %c2
    OpLoopMerge %m2 %c2 None
    OpBranch %b2
    %b2 = OpLabel
    %t2 = OpSLessThan %bool %j %i
    OpBranchConditional %t2 %in %m2        ; i j t2
    %in = OpLabel
    OpSelectionMerge %s None
    OpBranchConditional %true %yes %s
    %yes = OpLabel
    OpBranch %s
    %s = OpLabel
    OpBranch %c2
    %c2 = OpLabel
    %j2 = OpIAdd %int %j %one
    OpBranch %h2
    %m2 = OpLabel
    OpBranch %c1
    %c1 = OpLabel
    %i2 = OpIAdd %int %i %one
    OpBranch %h1
    %m1 = OpLabel
    OpReturn
"""


def test_loops_within_loops() -> None:
    found = analysis(assemble(compute(LOOPS)))
    assert counted(found) == {"Arithmetic": 2, "Comparisons": 2, "Moves": 2, "Control flow": 13}
    assert (found.blocks, found.loops, found.selections, found.decisions, found.loop_depth) == (13, 2, 1, 3, 2)
    assert found.live == Peak(3, 3)
    assert not found.endless


CALLS = """
    %entry = OpLabel
    %k = OpIAdd %int %one %one
    %k2 = OpIAdd %int %one %zero
    %q = OpFunctionCall %int %g %k         ; across: k2, and three in g
    %w = OpIAdd %int %q %k2
    OpReturn
    OpFunctionEnd

    %g = OpFunction %int None %unary
    %b = OpFunctionParameter %int
    %gl = OpLabel
    OpBranch %gh
    %gh = OpLabel
    OpLoopMerge %gm %gc None
    OpBranch %gb
    %gb = OpLabel
    %x = OpIMul %int %b %b
    %y = OpFunctionCall %int %f %x         ; across: b x, and one in f
    %z = OpIAdd %int %x %y
    %more = OpSGreaterThan %bool %z %b
    OpBranchConditional %more %gc %gm
    %gc = OpLabel
    OpBranch %gh
    %gm = OpLabel
    OpReturnValue %b
    OpFunctionEnd

    %f = OpFunction %int None %unary
    %a = OpFunctionParameter %int
    %fl = OpLabel
    OpBranch %fh
    %fh = OpLabel
    OpLoopMerge %fm %fc None
    OpBranchConditional %true %fc %fm
    %fc = OpLabel
    OpBranch %fh
    %fm = OpLabel
    %r = OpIAdd %int %a %a
    OpReturnValue %r
    OpFunctionEnd

    %nobody = OpFunction %int None %unary
    %n = OpFunctionParameter %int
    %nl = OpLabel
    %n2 = OpIMul %int %n %n
    %n3 = OpFunctionCall %int %f %n2
    OpReturnValue %n3
"""
UNARY = "%unary = OpTypeFunction %int %int"


def test_calls_count_what_they_reach_once() -> None:
    found = analysis(assemble(compute(CALLS, declarations=UNARY)))
    # main 3, g 2, f 1; the function that nobody calls adds nothing.
    assert counted(found) == {"Arithmetic": 6, "Comparisons": 1, "Calls": 2, "Control flow": 1 + 5 + 4}
    assert (found.functions, found.call_depth, found.blocks, found.loops) == (3, 2, 10, 2)
    assert found.loop_depth == 2, "f's loop runs inside of g's"
    assert found.live == Peak(4, 4)


def test_an_unused_result_is_live_nowhere() -> None:
    assert analysis(assemble(compute("%1 = OpLabel\n%2 = OpIAdd %int %one %one\nOpReturn"))).live == Peak(0, 0)


def test_memory_and_constants_are_no_values() -> None:
    body = """
        %1 = OpLabel
        %v = OpVariable %pi Function
        OpStore %v %one
        %2 = OpLoad %int %v
        OpStore %v %2                      ; 2
        OpReturn
    """
    found = analysis(assemble(compute(body, declarations="%pi = OpTypePointer Function %int")))
    assert found.live == Peak(1, 1)
    assert counted(found) == {"Loads": 1, "Stores": 2, "Control flow": 1}
    assert found.local_components == 1


def test_a_pointer_is_one_component() -> None:
    body = """
        %1 = OpLabel
        %v = OpVariable %pa Function
        %p = OpAccessChain %pf %v %one %zero
        %2 = OpLoad %float %p
        OpStore %p %2                      ; p 2
        OpReturn
    """
    declarations = """
        %uint = OpTypeInt 32 0
        %three = OpConstant %uint 3
        %array = OpTypeArray %vec4 %three
        %pa = OpTypePointer Function %array
        %pf = OpTypePointer Function %float
    """
    found = analysis(assemble(compute(body, declarations=declarations)))
    assert found.live == Peak(2, 2)
    assert found.local_components == 12
    assert counted(found)["Addresses"] == 1


def test_a_block_that_nothing_reaches_counts_but_has_no_points() -> None:
    body = """
        %1 = OpLabel
        OpReturn
        %2 = OpLabel
        %3 = OpIAdd %int %one %one
        %4 = OpIAdd %int %3 %3
        OpReturn
    """
    found = analysis(assemble(compute(body)))
    assert found.blocks == 2 and found.instructions == 4
    assert found.live == Peak(0, 0)


def test_debug_information_does_nothing() -> None:
    head = """OpExtension "SPV_KHR_non_semantic_info"
              %print = OpExtInstImport "NonSemantic.DebugPrintf"
              %math = OpExtInstImport "GLSL.std.450" """
    body = """
        %1 = OpLabel
        OpLine %file 3 1
        %2 = OpExtInst %float %math Sqrt %half             ; Arithmetic
        %3 = OpExtInst %void %print 1 %format %2
        %4 = OpExtInst %int %math FindILsb %one            ; Logic
        %5 = OpExtInst %int %math PackUnorm4x8 %white      ; Conversions
        OpNoLine
        OpReturn                                           ; Control flow
    """
    modes = '%file = OpString "a.comp"\n%format = OpString "%f"'
    declarations = "%white = OpConstantComposite %vec4 %half %half %half %half"
    found = analysis(assemble(compute(body, head=head, modes=modes, declarations=declarations)))
    assert counted(found) == {"Arithmetic": 1, "Logic": 1, "Conversions": 1, "Control flow": 1}
    assert found.live == Peak(0, 0), "what is printed for debugging is no use of a value"


FRAGMENT = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Fragment %main "main" %uv %color
    OpExecutionMode %main OriginUpperLeft
    OpDecorate %uv Location 0
    OpDecorate %color Location 0
    OpDecorate %picture DescriptorSet 0
    OpDecorate %picture Binding 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %false = OpConstantFalse %bool
    %float = OpTypeFloat 32
    %zero = OpConstant %float 0
    %vec2 = OpTypeVector %float 2
    %vec4 = OpTypeVector %float 4
    %image = OpTypeImage %float 2D 0 0 0 1 Unknown
    %sampled = OpTypeSampledImage %image
    %pi = OpTypePointer Input %vec2
    %po = OpTypePointer Output %vec4
    %pu = OpTypePointer UniformConstant %sampled
    %uv = OpVariable %pi Input
    %color = OpVariable %po Output
    %picture = OpVariable %pu UniformConstant
    %main = OpFunction %void None %function
    %1 = OpLabel
    %2 = OpLoad %vec2 %uv
    %3 = OpLoad %sampled %picture
    SAMPLE
    OpStore %color %4
    END
    OpFunctionEnd
"""


@pytest.mark.parametrize(
    ("sample", "end", "needs", "discards"),
    [
        ("%4 = OpImageSampleImplicitLod %vec4 %3 %2", "OpReturn", True, False),
        ("%4 = OpImageSampleExplicitLod %vec4 %3 %2 Lod %zero", "OpReturn", False, False),
        ("%4 = OpImageSampleExplicitLod %vec4 %3 %2 Lod %zero", "OpKill", False, True),
        ("%4 = OpImageSampleExplicitLod %vec4 %3 %2 Lod %zero\n%5 = OpDPdx %vec2 %2", "OpReturn", True, False),
    ],
)
def test_what_a_fragment_shader_needs(sample: str, end: str, needs: bool, discards: bool) -> None:
    found = analysis(assemble(FRAGMENT.replace("SAMPLE", sample).replace("END", end)), "fragment")
    assert (found.needs_derivatives, found.discards) == (needs, discards)
    assert counted(found)["Textures"] == 1
    assert not found.writes_memory, "an output is no memory"


ENDLESS = """
    %1 = OpLabel
    OpBranch %2
    %2 = OpLabel
    OpLoopMerge %4 %3 None
    OpBranch %3
    %3 = OpLabel
    OpBranch %2
    %4 = OpLabel
    OpReturn
"""


def test_a_loop_without_a_way_out() -> None:
    assert analysis(assemble(compute(ENDLESS))).endless
    way_out = ENDLESS.replace("%2 = OpLabel\n", "%2 = OpLabel\n%6 = OpIAdd %int %one %one\n", 1)
    way_out = way_out.replace("OpBranch %3\n", "OpBranchConditional %true %3 %4\n", 1)
    assert not analysis(assemble(compute(way_out))).endless


@pytest.mark.parametrize(
    ("storage", "instruction", "writes"),
    [
        ("StorageBuffer", "OpStore %p %one", True),
        ("StorageBuffer", "%x = OpLoad %int %p", False),
        ("StorageBuffer", "%x = OpAtomicIAdd %int %p %one %zero %one", True),
        ("StorageBuffer", "%x = OpAtomicLoad %int %p %one %zero", False),
        ("Workgroup", "OpStore %p %one", False),
        ("Workgroup", "%x = OpAtomicIAdd %int %p %one %zero %one", False),
    ],
)
def test_what_writes_memory(storage: str, instruction: str, writes: bool) -> None:
    declarations = f"""
        %block = OpTypeStruct %int
        %pb = OpTypePointer {storage} %block
        %pi = OpTypePointer {storage} %int
        %buffer = OpVariable %pb {storage}
    """
    body = f"%1 = OpLabel\n%p = OpAccessChain %pi %buffer %zero\n{instruction}\nOpReturn"
    assert analysis(assemble(compute(body, declarations=declarations))).writes_memory is writes


def test_a_switch_of_64_bits_takes_its_labels_from_the_right_words() -> None:
    declarations = """
        %long = OpTypeInt 64 0
        %selector = OpConstant %long 5
    """
    body = """
        %1 = OpLabel
        OpSelectionMerge %9 None
        OpSwitch %selector %9 4 %2 17179869184 %3
        %2 = OpLabel
        OpBranch %9
        %3 = OpLabel
        OpBranch %9
        %9 = OpLabel
        OpReturn
    """
    # The low word of 2**34 is 0 and its high word is 4: taken for labels they would lead nowhere.
    found = analysis(assemble(compute(body, head="OpCapability Int64", declarations=declarations)))
    assert (found.blocks, found.decisions, found.selections) == (4, 1, 1)
    assert not found.endless
