"""A compute shader that holds as many values at once as it is told to: a few fit the registers, hundreds don't."""

from __future__ import annotations

from tests.assembly import assemble


def holding(values: int) -> bytes:
    """Load `values` floats, wait for the whole workgroup, then use each of them with another one.

    So many invocations have to share a compute unit's registers that RADV gives each wave 128 at most on GFX10.3: three
    hundred values can't stay in them.
    """
    count = range(values)
    constants = "\n".join(f"%n{n} = OpConstant %uint {n * 1024}" for n in range(max(values, 2)))
    loads = "\n".join(
        f"""
        %i{n} = OpIAdd %uint %id %n{n}
        %p{n} = OpAccessChain %pointer %data %n0 %i{n}
        %v{n} = OpLoad %float %p{n}"""
        for n in count
    )
    stores = "\n".join(
        f"""
        %s{n} = OpFMul %float %v{n} %v{(n * 7 + 1) % values}
        OpStore %p{n} %s{n}"""
        for n in count
    )
    return assemble(f"""
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %gid
        OpExecutionMode %main LocalSize 1024 1 1
        OpDecorate %gid BuiltIn GlobalInvocationId
        OpDecorate %array ArrayStride 4
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %block BufferBlock
        OpDecorate %data DescriptorSet 0
        OpDecorate %data Binding 0
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %float = OpTypeFloat 32
        %vec = OpTypeVector %uint 3
        %array = OpTypeRuntimeArray %float
        %block = OpTypeStruct %array
        %blocks = OpTypePointer Uniform %block
        %pointer = OpTypePointer Uniform %float
        %inputs = OpTypePointer Input %vec
        %data = OpVariable %blocks Uniform
        %gid = OpVariable %inputs Input
        {constants}
        %workgroup = OpConstant %uint 2
        %semantics = OpConstant %uint 72
        %main = OpFunction %void None %function
        %entry = OpLabel
        %ids = OpLoad %vec %gid
        %id = OpCompositeExtract %uint %ids 0
        {loads}
        OpControlBarrier %workgroup %workgroup %semantics
        {stores}
        OpReturn
        OpFunctionEnd
    """, "vulkan1.0")  # fmt: skip
