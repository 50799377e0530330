"""Hostile files, each made from one good module by one change: ``python tests/malformed/make.py FOLDER``.

The good module is a kernel that drivers compile: ``y[i] = a·y[i] + b`` with a storage buffer, push constants and a
specialization constant. `CASES` is the table: what each file is, the status it gets and its diagnostic code.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = 0x07230203
Operand = int | str
Instruction = tuple[Operand, ...]  # the first is the name

# Opcodes by name (SPIR-V specification, section 3.49): written out, so that our own tables can't be wrong twice.
OPCODES = {
    "Nop": 0, "Name": 5, "MemberName": 6, "MemoryModel": 14, "EntryPoint": 15, "ExecutionMode": 16, "Capability": 17,
    "TypeVoid": 19, "TypeInt": 21, "TypeFloat": 22, "TypeVector": 23, "TypeArray": 28, "TypeRuntimeArray": 29,
    "TypeStruct": 30, "TypePointer": 32, "TypeFunction": 33, "TypeForwardPointer": 39, "Constant": 43,
    "SpecConstant": 50, "SpecConstantOp": 52, "Function": 54, "FunctionEnd": 56, "Variable": 59, "Load": 61,
    "Store": 62, "AccessChain": 65, "Decorate": 71, "MemberDecorate": 72, "DecorationGroup": 73, "GroupDecorate": 74,
    "IAdd": 128, "FAdd": 129, "FMul": 133, "LoopMerge": 246, "Label": 248, "Branch": 249, "Return": 253,
    "Unknown": 0x7FFF,
}  # fmt: skip

# Ids of the good module.
# fmt: off
(VOID, FN, MAIN, LABEL, UINT, UVEC3, FLOAT, PTR_UVEC3, PTR_UINT, GID, ARRAY, BLOCK, PTR_BLOCK, BUFFER, PTR_FLOAT,
 PUSH, PTR_PUSH, PC, PTR_PC_FLOAT, ZERO, ONE, SPEC, P1, INDEX0, INDEX, P2, A, P3, B, P4, Y, AY, SUM) = range(1, 34)
# fmt: on
FREE = 34  # the first id that it doesn't use
BOUND = 64

GOOD: tuple[Instruction, ...] = (
    ("Capability", 1),
    ("MemoryModel", 0, 1),
    ("EntryPoint", 5, MAIN, "main", GID),
    ("ExecutionMode", MAIN, 17, 8, 8, 1),
    ("Name", BUFFER, "buffer"),
    ("Name", PUSH, "Parameters"),
    ("Decorate", GID, 11, 28),  # BuiltIn GlobalInvocationId
    ("Decorate", ARRAY, 6, 4),  # ArrayStride
    ("Decorate", BLOCK, 2),  # Block
    ("MemberDecorate", BLOCK, 0, 35, 0),  # Offset
    ("Decorate", BUFFER, 34, 0),  # DescriptorSet
    ("Decorate", BUFFER, 33, 0),  # Binding
    ("Decorate", PUSH, 2),
    ("MemberDecorate", PUSH, 0, 35, 0),
    ("MemberDecorate", PUSH, 1, 35, 4),
    ("Decorate", SPEC, 1, 7),  # SpecId
    ("TypeVoid", VOID),
    ("TypeFunction", FN, VOID),
    ("TypeInt", UINT, 32, 0),
    ("TypeVector", UVEC3, UINT, 3),
    ("TypeFloat", FLOAT, 32),
    ("TypePointer", PTR_UVEC3, 1, UVEC3),  # Input
    ("TypePointer", PTR_UINT, 1, UINT),
    ("TypeRuntimeArray", ARRAY, FLOAT),
    ("TypeStruct", BLOCK, ARRAY),
    ("TypePointer", PTR_BLOCK, 12, BLOCK),  # StorageBuffer
    ("TypePointer", PTR_FLOAT, 12, FLOAT),
    ("TypeStruct", PUSH, FLOAT, FLOAT),
    ("TypePointer", PTR_PUSH, 9, PUSH),  # PushConstant
    ("TypePointer", PTR_PC_FLOAT, 9, FLOAT),
    ("Constant", UINT, ZERO, 0),
    ("Constant", UINT, ONE, 1),
    ("SpecConstant", UINT, SPEC, 3),
    ("Variable", PTR_UVEC3, GID, 1),
    ("Variable", PTR_BLOCK, BUFFER, 12),
    ("Variable", PTR_PUSH, PC, 9),
    ("Function", VOID, MAIN, 0, FN),
    ("Label", LABEL),
    ("AccessChain", PTR_UINT, P1, GID, ZERO),
    ("Load", UINT, INDEX0, P1),
    ("IAdd", UINT, INDEX, INDEX0, SPEC),
    ("AccessChain", PTR_PC_FLOAT, P2, PC, ZERO),
    ("Load", FLOAT, A, P2),
    ("AccessChain", PTR_PC_FLOAT, P3, PC, ONE),
    ("Load", FLOAT, B, P3),
    ("AccessChain", PTR_FLOAT, P4, BUFFER, ZERO, INDEX),
    ("Load", FLOAT, Y, P4),
    ("FMul", FLOAT, AY, A, Y),
    ("FAdd", FLOAT, SUM, AY, B),
    ("Store", P4, SUM),
    ("Return",),
    ("FunctionEnd",),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One hostile file.

    Attributes:
        status: what its results may be on a real driver: one word, or a tuple where any will do.
        mock: the same on the mock where it is another: it has no limits of a device.
        code: the diagnostic's code; ``""`` where there need be none.
        offset: of the diagnostic, in bytes; None where it isn't told.
        says: words that the message must hold.
    """

    name: str
    what: str
    data: bytes
    status: str | tuple[str, ...]
    code: str = ""
    offset: int | None = None
    says: str = ""
    mock: str = ""


# ── Assembling ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _operand(operand: Operand) -> list[int]:
    if isinstance(operand, int):
        return [operand]
    raw = operand.encode() + b"\0"
    raw += bytes(-len(raw) % 4)
    return list(struct.unpack(f"<{len(raw) // 4}I", raw))


def words(instruction: Instruction) -> list[int]:
    """An instruction's words."""
    name, *operands = instruction
    assert isinstance(name, str)
    body = [word for operand in operands for word in _operand(operand)]
    return [len(body) + 1 << 16 | OPCODES[name], *body]


def module(
    instructions: tuple[Instruction, ...] = GOOD,
    *,
    magic: int = MAGIC,
    version: int = 0x00010300,
    bound: int = BOUND,
    schema: int = 0,
    order: str = "<",
) -> bytes:
    """A whole file, little-endian unless `order` says otherwise."""
    stream = [magic, version, 0, bound, schema]
    for instruction in instructions:
        stream += words(instruction)
    return struct.pack(f"{order}{len(stream)}I", *stream)


def where(name: str, nth: int = 0) -> int:
    """The index in `GOOD` of the `nth` instruction of that name."""
    return [i for i, instruction in enumerate(GOOD) if instruction[0] == name][nth]


def offset(index: int) -> int:
    """The byte at which `GOOD`'s instruction `index` starts."""
    return 20 + 4 * sum(len(words(instruction)) for instruction in GOOD[:index])


def changed(name: str, *operands: Operand, nth: int = 0) -> tuple[Instruction, ...]:
    """The good module with one instruction's operands exchanged."""
    at = where(name, nth)
    return (*GOOD[:at], (name, *operands), *GOOD[at + 1 :])


def with_before(anchor: str, *new: Instruction, nth: int = 0) -> tuple[Instruction, ...]:
    """The good module with instructions put before another."""
    at = where(anchor, nth)
    return (*GOOD[:at], *new, *GOOD[at:])


def without(name: str, nth: int = 0) -> tuple[Instruction, ...]:
    """The good module with one instruction left out."""
    at = where(name, nth)
    return (*GOOD[:at], *GOOD[at + 1 :])


def patched(at: int, word: int) -> bytes:
    """The good file with the word at byte `at` exchanged."""
    data = bytearray(module())
    struct.pack_into("<I", data, at, word)
    return bytes(data)


# ── The table ───────────────────────────────────────────────────────────────────────────────────────────────────────

INVALID = "spirv/invalid"  # the validator's verdict
REFUSED = ("invalid", "unsupported")


def cases() -> Iterator[Case]:
    """All hostile files, the good one first."""
    good = module()
    yield Case("good", "the module that all others come from", good, "ok")
    yield from _not_a_module(good)
    yield from _header(good)
    yield from _stream(good)
    yield from _names(good)
    yield from _meaning()
    yield from _size()
    yield from _noise(good)


def _not_a_module(good: bytes) -> Iterator[Case]:
    yield Case("empty", "no byte at all", b"", "invalid", "spirv/empty", 0, "empty file")
    for size in (2, 4, 8, 16):
        yield Case(
            f"first-{size:02}", f"the first {size} bytes", good[:size], "invalid", "spirv/too-short", size, "too short"
        )
    yield Case("glsl", "GLSL under a .spv name", b"#version 450\nvoid main() {}\n", "invalid", "spirv/text", 0, "text")
    elf = b"\x7fELF\x02\x01\x01" + bytes(57)
    yield Case("elf", "an ELF header", elf, "invalid", "spirv/bad-magic", 0, "ELF")
    archive = b"\x81FOSSILIZEDB" + bytes(4)
    yield Case("archive", "a Fossilize archive", archive, "invalid", "spirv/bad-magic", 0, "Fossilize")
    bom = b"\xef\xbb\xbf" + good
    yield Case("byte-order-mark", "UTF-8's mark before it", bom, "invalid", "spirv/bad-magic", 0, "byte order mark")
    yield Case("tail-2", "two spare bytes", good + b"\0\0", "invalid", "spirv/size", len(good))
    yield Case("tail-newline", "a text tool's newline", good + b"\n", "invalid", "spirv/size", len(good))


def _header(good: bytes) -> Iterator[Case]:
    yield Case("magic-zero", "no magic number", module(magic=0), "invalid", "spirv/bad-magic", 0)
    middle = module(magic=0x02030723)
    yield Case("magic-middle-endian", "halves exchanged", middle, "invalid", "spirv/bad-magic", 0)
    yield Case("big-endian", "the other byte order, strings and all", _big_endian(good), "ok")
    yield Case("big-endian-strings", "words swapped, strings not", _swapped_but_strings(good), "ok")
    for version in (0x00000000, 0x00020000, 0xFFFFFFFF):
        data = module(version=version)
        yield Case(
            f"version-{version:08x}", "no version of SPIR-V", data, "invalid", "spirv/version", 4, f"{version:08x}"
        )
    yield Case("bound-0", "no ids", module(bound=0), "invalid", "spirv/bound", 12)
    yield Case("bound-beyond", "one beyond the universal limit", module(bound=0x400000), "invalid", "spirv/bound", 12)
    yield Case("schema-1", "a schema that is none", module(schema=1), "invalid", "spirv/schema", 16)
    yield Case("header-only", "a header and nothing else", good[:20], "invalid", "spirv/no-entry-point")


def _stream(good: bytes) -> Iterator[Case]:
    decorate, last = offset(where("Decorate")), len(good) - 4
    short = "spirv/short-instruction"
    member, constant, entry = (where(name) for name in ("MemberDecorate", "Constant", "EntryPoint"))
    unclosed = module(changed("Name", BUFFER, 0x41414141))
    # fmt: off
    table: tuple[tuple[str, str, bytes, str, int | None], ...] = (
        ("cut-in-decorate", "ends inside OpDecorate", good[: decorate + 8], "spirv/truncated", decorate),
        ("cut-half", "ends before the types", good[: offset(where("TypeInt"))], "spirv/undefined-id", offset(entry)),
        ("cut-last-word", "OpFunctionEnd is missing", good[:-4], "spirv/truncated", last),
        ("zero-count", "an instruction of no words", patched(decorate, 71), "spirv/zero-word-count", decorate),
        ("count-past-end", "the last claims 64 words", patched(last, 64 << 16 | 56), "spirv/truncated", last),
        ("two-modules", "a second module behind the first", good + good, "spirv/two-modules", len(good)),
        ("zero-word-tail", "a word of zero behind it", good + bytes(4), "spirv/zero-word-count", len(good)),
        ("short-member-decorate", "one operand", module(changed("MemberDecorate", BLOCK)), short, offset(member)),
        ("short-constant", "without a value", module(changed("Constant", UINT, ZERO)), short, offset(constant)),
        ("short-entry-point", "a model alone", module(changed("EntryPoint", 5)), short, offset(entry)),
        ("unclosed-name", "OpName without a NUL", unclosed, "spirv/string", offset(where("Name")) + 8),
        ("unknown-opcode", "opcode 0x7FFF", module(with_before("Return", ("Unknown", 1, 2))), INVALID, None),
        ("nops-behind", "64 OpNop after the last function", module((*GOOD, *[("Nop",)] * 64)), INVALID, None),
    )
    # fmt: on
    for name, what, data, code, at in table:
        yield Case(name, what, data, "invalid", code, at)


def _names(good: bytes) -> Iterator[Case]:
    def named(name: str) -> bytes:
        return module(changed("EntryPoint", 5, MAIN, name, GID))

    yield Case("entry-empty", "an entry point without a name, as the specification allows", named(""), "ok")
    yield Case("entry-upwards", "an entry point called like a path", named("../../../tmp/escape"), "ok")
    yield Case("entry-terminal", "escapes and a newline in its name", named("\x1b[2J\x1b[31mred\nnext"), "ok")
    yield Case("entry-markup", "markup of the terminal library in its name", named("[bold red]main[/]"), "ok")
    yield Case("entry-60000", "a name of 60,000 bytes", named("m" * 60_000), "ok")
    vertex = with_before("ExecutionMode", ("EntryPoint", 0, MAIN, "main", GID))
    yield Case("entry-two-models", "one function as compute and as vertex shader", module(vertex), REFUSED)
    interface = module(changed("EntryPoint", 5, MAIN, "main", *[GID] * 20_000))
    yield Case("interface-20000", "the interface lists one id 20,000 times", interface, ("ok", "invalid"))


def _meaning() -> Iterator[Case]:
    """Whole streams that mean nothing."""

    def typed(*new: Instruction) -> tuple[Instruction, ...]:
        return with_before("Variable", *new)

    cycle = (("TypePointer", FREE, 12, FREE + 1), ("TypePointer", FREE + 1, 12, FREE))
    made_of_itself = ("SpecConstantOp", UINT, FREE, 128, FREE, ONE)
    groups = (
        ("DecorationGroup", FREE), ("DecorationGroup", FREE + 1),
        ("GroupDecorate", FREE, FREE + 1), ("GroupDecorate", FREE + 1, FREE),
    )  # fmt: skip
    stray_mode = (*GOOD[:4], ("ExecutionMode", VOID, 17, 1, 1, 1), *GOOD[4:])
    # fmt: off
    table: tuple[tuple[str, str, tuple[Instruction, ...], str], ...] = (
        ("id-twice", "one id, two types", typed(("TypeInt", FLOAT, 16, 0)), "spirv/duplicate-id"),
        ("entry-nowhere", "no such function", changed("EntryPoint", 5, 60, "main", GID), "spirv/undefined-id"),
        ("no-capability", "no OpCapability", without("Capability"), "spirv/no-capability"),
        ("function-without-block", "no block", GOOD[: where("Label")] + GOOD[-1:], "spirv/no-body"),
        ("length-undefined", "no such length", typed(("TypeArray", FREE, FLOAT, 60)), "spirv/undefined-id"),
        ("struct-of-itself", "a struct that holds itself", typed(("TypeStruct", FREE, FREE)), "spirv/recursive-type"),
        ("array-of-itself", "an array of itself", typed(("TypeArray", FREE, FREE, ONE)), "spirv/recursive-type"),
        ("pointer-cycle", "two pointers at each other", typed(*cycle), "spirv/recursive-type"),
        ("int-7", "an integer of 7 bits", typed(("TypeInt", FREE, 7, 0)), "spirv/bad-width"),
        ("variable-no-pointer", "its type is none", changed("Variable", UINT, GID, 1), "spirv/not-a-pointer"),
        ("storage-class", "class 0x7fffffff", typed(("TypePointer", FREE, 0x7FFFFFFF, FLOAT)), INVALID),
        ("member-9", "member 9 of one", changed("MemberDecorate", BLOCK, 9, 35, 0), "spirv/member-index"),
        ("group-cycle", "groups that decorate each other", with_before("TypeVoid", *groups), "spirv/decoration-group"),
        ("spec-op-of-itself", "a constant made of itself", typed(made_of_itself), "spirv/recursive-constant"),
        ("local-size-0", "a workgroup of none", changed("ExecutionMode", MAIN, 17, 0, 0, 0), "spirv/local-size"),
        ("local-size-missing", "no workgroup size", without("ExecutionMode"), "spirv/local-size"),
        ("mode-of-nobody", "an execution mode for no entry point", stray_mode, INVALID),
    )
    # fmt: on
    for name, what, instructions, code in table:
        yield Case(name, what, module(instructions), "invalid", code)
    kernel = module((("Capability", 6), *GOOD))
    yield Case("kernel", "an OpenCL kernel", kernel, "unsupported", "spirv/opencl-kernel", says="OpenCL")


def _size() -> Iterator[Case]:
    """Whole and well-formed, but large: what is done must not be."""

    def typed(*new: Instruction) -> tuple[Instruction, ...]:
        return with_before("Variable", *new)

    cube = (
        ("Constant", UINT, FREE, 65536), ("TypeArray", FREE + 1, FLOAT, FREE), ("TypeArray", FREE + 2, FREE + 1, FREE),
        ("TypeArray", FREE + 3, FREE + 2, FREE), ("TypePointer", FREE + 4, 6, FREE + 3),
        ("Variable", FREE + 4, FREE + 5, 6),
    )  # fmt: skip
    yield Case("array-2-50", "a private array of 2^50 bytes that nobody uses", module(typed(*cube)), "ok")
    depth = 20_000
    nested = tuple(("TypeStruct", FREE + i, FREE + i - 1 if i else FLOAT) for i in range(depth))
    deep = module(typed(*nested), bound=FREE + depth)
    yield Case("struct-20000-deep", "structs nested 20,000 deep", deep, "invalid", "limit/type-depth")
    doubled = _doubling(40)
    yield Case("struct-2-40", "structs that hold the former twice, 40 times", doubled, "invalid", "limit/type-size")
    far_set = module(changed("Decorate", BUFFER, 34, 1000, nth=3))
    yield Case("set-1000", "descriptor set 1000", far_set, "unsupported", "vulkan/limit", mock="ok")
    far = module(changed("MemberDecorate", PUSH, 1, 35, 0xFFFFFFF0, nth=2))
    yield Case("push-constants-4g", "a push constant at 4 GiB", far, "unsupported", "vulkan/limit", mock="ok")
    second = module(typed(("Variable", PTR_PUSH, FREE, 9)))
    yield Case("push-constants-twice", "a second block that nobody uses", second, "ok")
    many = tuple(("EntryPoint", 5, MAIN, f"main{i}", GID) for i in range(2_000))
    crowd = module((*GOOD[:3], *many, *GOOD[3:]))
    yield Case("entries-2001", "2,001 entry points", crowd, ("ok", "unsupported"), "pipeline/too-many-entry-points")
    loop = (
        ("Branch", FREE), ("Label", FREE),
        ("LoopMerge", FREE + 3, FREE + 2, 0), ("Branch", FREE + 1), ("Label", FREE + 1), ("Branch", FREE + 2),
        ("Label", FREE + 2), ("Branch", FREE), ("Label", FREE + 3),
    )  # fmt: skip
    yield Case("endless-loop", "a loop without an exit, which is valid", module(with_before("Return", *loop)), "ok")


def _noise(good: bytes) -> Iterator[Case]:
    for seed in range(4):
        chance = random.Random(seed)
        data = bytearray(good)
        for _ in range(3):
            data[chance.randrange(20, len(data))] ^= 1 << chance.randrange(8)
        yield Case(f"flipped-{seed}", "three bits flipped", bytes(data), "invalid")
    for seed in range(2):
        shuffled = list(GOOD)
        random.Random(seed).shuffle(shuffled)
        yield Case(f"shuffled-{seed}", "its instructions in another order", module(tuple(shuffled)), "invalid")


def _big_endian(good: bytes) -> bytes:
    """Octets of strings lie little-endian in words (SPIR-V specification 2.2.1): they are swapped with them."""
    return struct.pack(f">{len(good) // 4}I", *struct.unpack(f"<{len(good) // 4}I", good))


def _swapped_but_strings(good: bytes) -> bytes:
    """As some writers do it; the entry point's name is then another one, ``niam`` and the like."""
    data = bytearray(_big_endian(good))
    at = offset(where("EntryPoint")) + 12
    data[at : at + 4] = data[at : at + 4][::-1]
    return bytes(data)


def _doubling(levels: int) -> bytes:
    """A buffer's struct whose leaves are 2^levels."""
    structs = tuple(("TypeStruct", FREE + i, *[FREE + i - 1 if i else FLOAT] * 2) for i in range(levels))
    top = FREE + levels - 1
    offsets = tuple(("MemberDecorate", FREE + i, m, 35, m * 4 * 2 ** min(i, 28)) for i in range(levels) for m in (0, 1))
    extra = (
        ("Decorate", top, 2), ("Decorate", top + 2, 34, 0), ("Decorate", top + 2, 33, 1), *offsets,
    )  # fmt: skip
    used = (*structs, ("TypePointer", top + 1, 12, top), ("Variable", top + 1, top + 2, 12))
    at, types = where("TypeVoid"), where("Variable")
    return module((*GOOD[:at], *extra, *GOOD[at:types], *used, *GOOD[types:]), bound=top + 3)


def write(folder: Path) -> list[Case]:
    """Write every case as ``NAME.spv``; returns the table."""
    table = list(cases())
    for case in table:
        (folder / f"{case.name}.spv").write_bytes(case.data)
    return table


if __name__ == "__main__":
    for made in write(Path(sys.argv[1])):
        print(f"{made.name}.spv\t{len(made.data)}\t{made.what}")
