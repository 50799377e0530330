"""To which class an instruction counts. Every instruction that does something counts to exactly one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from shaderstat.backends.mock.code import EXT_INSTS, OPCODES, Code, Instruction
from shaderstat.registry import spirv as registry

# Class → what counts to it, for the statistic's description, in the order in which they are shown.
CLASSES: Mapping[str, str] = {
    "Arithmetic": "additions, multiplications, dot products, matrix products and the like, and those of GLSL.std.450",
    "Logic": "bitwise and logical operations, shifts, bit fields and OpSelect",
    "Comparisons": "comparisons, and tests such as OpIsNan",
    "Conversions": "conversions between types, OpBitcast, and GLSL.std.450's packing and unpacking",
    "Moves": "taking apart and putting together of composites, copies, OpPhi, and making of combined images",
    "Loads": "OpLoad, loads of cooperative matrices and vectors, and GLSL.std.450's interpolation",
    "Stores": "OpStore, OpCopyMemory, and stores of cooperative matrices and vectors",
    "Addresses": "access chains, OpArrayLength and OpImageTexelPointer",
    "Textures": "sampling, gathering and fetching from images",
    "Images": "reads, writes and queries of images",
    "Atomics": "atomic operations",
    "Barriers": "control and memory barriers, and interlocks",
    "Subgroup": "operations among the invocations of a group or a subgroup",
    "Derivatives": "explicit derivatives",
    "Ray tracing": "tracing of rays, ray queries, hit objects and callable shaders",
    "Calls": "calls of functions",
    "Control flow": "branches, switches, and ways out of a function",
    "Other": "all else",
}

# Instructions that structure the code and do nothing themselves; OpVariable is memory, not an operation.
_STRUCTURE = frozenset(
    OPCODES[name]
    for name in (
        "OpNop",
        "OpUndef",
        "OpLine",
        "OpNoLine",
        "OpFunction",
        "OpFunctionParameter",
        "OpFunctionEnd",
        "OpLabel",
        "OpVariable",
        "OpUntypedVariableKHR",
        "OpLoopMerge",
        "OpSelectionMerge",
        "OpLifetimeStart",
        "OpLifetimeStop",
        "OpLoopControlINTEL",
    )
)
# The grammar's classes (spirv.core.grammar.json) where they are ours.
_GROUPS = {
    "Arithmetic": "Arithmetic",
    "Bit": "Logic",
    "Relational_and_Logical": "Comparisons",
    "Conversion": "Conversions",
    "Composite": "Moves",
    "Image": "Images",
    "Atomic": "Atomics",
    "Barrier": "Barriers",
    "Group": "Subgroup",
    "Non-Uniform": "Subgroup",
    "Derivative": "Derivatives",
    "Control-Flow": "Control flow",
}
# What the grammar's classes have elsewhere.
_EXCEPTIONS = {
    "OpPhi": "Moves",
    "OpAny": "Logic",
    "OpAll": "Logic",
    "OpLogicalEqual": "Logic",
    "OpLogicalNotEqual": "Logic",
    "OpLogicalOr": "Logic",
    "OpLogicalAnd": "Logic",
    "OpLogicalNot": "Logic",
    "OpSelect": "Logic",
    "OpPtrEqual": "Comparisons",
    "OpPtrNotEqual": "Comparisons",
    "OpPtrDiff": "Arithmetic",
    "OpSampledImage": "Moves",
    "OpImage": "Moves",
    "OpCopyMemory": "Stores",
    "OpCopyMemorySized": "Stores",
    "OpArrayLength": "Addresses",
    "OpUntypedArrayLengthKHR": "Addresses",
    "OpImageTexelPointer": "Addresses",
    "OpUntypedImageTexelPointerEXT": "Addresses",
    "OpBufferPointerEXT": "Addresses",
    "OpFunctionCall": "Calls",
    "OpCooperativeMatrixPerElementOpEXT": "Arithmetic",
    "OpCooperativeMatrixReduceEXT": "Arithmetic",
    "OpCooperativeVectorMatrixMulNV": "Arithmetic",
    "OpCooperativeVectorMatrixMulAddNV": "Arithmetic",
    "OpCooperativeVectorOuterProductAccumulateNV": "Atomics",
    "OpCooperativeVectorReduceSumAccumulateNV": "Atomics",
    "OpCooperativeMatrixLoadNV": "Loads",
    "OpCooperativeMatrixStoreNV": "Stores",
    "OpCooperativeMatrixMulAddNV": "Arithmetic",
    "OpFragmentFetchAMD": "Textures",
    "OpFragmentMaskFetchAMD": "Textures",
    "OpBeginInvocationInterlockEXT": "Barriers",
    "OpEndInvocationInterlockEXT": "Barriers",
}
_TEXTURES = (
    "OpImageSample",
    "OpImageSparseSample",
    "OpImageFetch",
    "OpImageSparseFetch",
    "OpImageGather",
    "OpImageSparseGather",
    "OpImageDrefGather",
    "OpImageSparseDrefGather",
    "OpImageBoxFilter",
    "OpImageBlockMatch",
)
_RAYS = (
    "OpTrace",
    "OpExecuteCallable",
    "OpIgnoreIntersection",
    "OpTerminateRay",
    "OpReportIntersection",
    "OpRayQuery",
    "OpHitObject",
    "OpReorderThread",
    "OpConvertUToAccelerationStructure",
    "OpFetchMicroTriangle",
)
# GLSL.std.450 instructions that are no arithmetic (GLSL.std.450 specification, section 2).
_GLSL_CONVERSIONS = frozenset(range(54, 66))  # PackSnorm4x8 … UnpackDouble2x32
_GLSL_LOGIC = frozenset({73, 74, 75})  # FindILsb, FindSMsb, FindUMsb
_GLSL_LOADS = frozenset({76, 77, 78})  # InterpolateAtCentroid, …Sample, …Offset
_GLSL = "GLSL.std.450"

DISCARDS = frozenset(OPCODES[name] for name in ("OpKill", "OpTerminateInvocation", "OpDemoteToHelperInvocation"))
DECISIONS = frozenset({OPCODES["OpBranchConditional"], OPCODES["OpSwitch"]})


def classify(code: Code, instruction: Instruction) -> str | None:
    """The class of an instruction in a block; None for debug information and for what does nothing."""
    opcode, index, _ = instruction
    if opcode not in EXT_INSTS:
        return class_of(opcode)
    if code.is_debug(instruction):
        return None
    if code.module.imports.get(code.words[index + 3]) != _GLSL:
        return "Other"
    number = code.words[index + 4]
    if number in _GLSL_CONVERSIONS:
        return "Conversions"
    if number in _GLSL_LOGIC:
        return "Logic"
    return "Loads" if number in _GLSL_LOADS else "Arithmetic"


@cache
def class_of(opcode: int) -> str | None:
    """The class of an opcode; opcodes that the tables don't know are "Other"."""
    if opcode in _STRUCTURE:
        return None
    entry = registry.instruction(opcode)
    if entry is None:
        return "Other"
    name = entry.name
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    if name.startswith(_TEXTURES):
        return "Textures"
    if name.startswith(_RAYS):
        return "Ray tracing"
    if entry.group == "Memory":
        if "AccessChain" in name:
            return "Addresses"
        return "Loads" if "Load" in name else "Stores" if "Store" in name else "Other"
    return _GROUPS.get(entry.group, "Other")


def needs_derivatives(opcode: int) -> bool:
    """Whether neighbouring invocations are needed: a derivative, or sampling that takes one by itself."""
    if class_of(opcode) == "Derivatives":
        return True
    name = registry.opcode_name(opcode)
    return name == "OpImageQueryLod" or (name.startswith("OpImage") and name.endswith("ImplicitLod"))
