"""Small shaders whose invocations can be counted by hand, as SPIR-V text."""

from __future__ import annotations

from tests.assembly import compute

# Eight invocations a workgroup.
EIGHT = compute("%entry = OpLabel\nOpReturn", size="8 1 1")

_BUFFER = """
    %uint = OpTypeInt 32 0
    %three = OpTypeVector %uint 3
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
    %to_three = OpTypePointer Input %three
    %to_uint = OpTypePointer Input %uint
    %n0 = OpConstant %uint 0
    %n3 = OpConstant %uint 3
    %n7 = OpConstant %uint 7
    %data = OpVariable %to_block StorageBuffer
    %id = OpVariable %to_three Input
"""
_DECORATIONS = """
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %data DescriptorSet 0
    OpDecorate %data Binding 0
    OpDecorate %id BuiltIn GlobalInvocationId
"""


def _on_buffer(body: str) -> str:
    text = compute(body, declarations=_BUFFER, modes=_DECORATIONS, size="8 1 1")
    return text.replace('%main "main"', '%main "main" %id %data')


# word[i] = 3 * word[i] + 7, for every invocation i.
TRIPLE = _on_buffer(
    """
    %entry = OpLabel
    %place = OpAccessChain %to_uint %id %n0
    %i = OpLoad %uint %place
    %word = OpAccessChain %to_word %data %n0 %i
    %before = OpLoad %uint %word
    %times = OpIMul %uint %before %n3
    %after = OpIAdd %uint %times %n7
    OpStore %word %after
    OpReturn
    """
)

# A triangle whose corners are three of the viewport's.
CORNERS = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Vertex %main "main" %index %position
    OpDecorate %index BuiltIn VertexIndex
    OpDecorate %position BuiltIn Position
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %int = OpTypeInt 32 1
    %float = OpTypeFloat 32
    %vec4 = OpTypeVector %float 4
    %in = OpTypePointer Input %int
    %out = OpTypePointer Output %vec4
    %one = OpConstant %int 1
    %two = OpConstant %int 2
    %near = OpConstant %float -1
    %far = OpConstant %float 1
    %null = OpConstant %float 0
    %index = OpVariable %in Input
    %position = OpVariable %out Output
    %main = OpFunction %void None %function
    %entry = OpLabel
    %i = OpLoad %int %index
    %second = OpIEqual %bool %i %one
    %third = OpIEqual %bool %i %two
    %x = OpSelect %float %second %far %near
    %y = OpSelect %float %third %far %near
    %place = OpCompositeConstruct %vec4 %x %y %null %far
    OpStore %position %place
    OpReturn
    OpFunctionEnd
"""

WHITE = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Fragment %main "main" %colour
    OpExecutionMode %main OriginUpperLeft
    OpDecorate %colour Location 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %float = OpTypeFloat 32
    %vec4 = OpTypeVector %float 4
    %out = OpTypePointer Output %vec4
    %one = OpConstant %float 1
    %white = OpConstantComposite %vec4 %one %one %one %one
    %colour = OpVariable %out Output
    %main = OpFunction %void None %function
    %entry = OpLabel
    OpStore %colour %white
    OpReturn
    OpFunctionEnd
"""
