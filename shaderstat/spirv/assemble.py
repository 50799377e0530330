"""A small assembler: one module with one function, written as words in this machine's byte order.

It keeps the sections of a module's logical layout apart, so that a writer may ask for a type or a constant at the
moment it needs one; equal types and constants get one id (the specification forbids to declare a type twice).
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence

from shaderstat.spirv.words import MAGIC

# Opcodes, by their names in the specification less "Op".
EXTENSION, MEMORY_MODEL, ENTRY_POINT, EXECUTION_MODE, CAPABILITY = 10, 14, 15, 16, 17
TYPE_VOID, TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_MATRIX, TYPE_ARRAY = 19, 20, 21, 22, 23, 24, 28
TYPE_STRUCT, TYPE_POINTER, TYPE_FUNCTION = 30, 32, 33
CONSTANT, CONSTANT_COMPOSITE, FUNCTION, FUNCTION_END, VARIABLE = 43, 44, 54, 56, 59
LOAD, STORE, ACCESS_CHAIN, DECORATE, MEMBER_DECORATE = 61, 62, 65, 71, 72
LABEL, RETURN = 248, 253

# Storage classes.
UNIFORM_CONSTANT, INPUT, OUTPUT = 0, 1, 3

# Decorations.
BLOCK, BUILT_IN, FLAT, LOCATION, COMPONENT, BINDING, DESCRIPTOR_SET = 2, 11, 14, 30, 31, 33, 34


class Assembler:
    """A module in the making.

    Instructions of the function go in by `op` and `do`, in order; everything else may come at any time.
    """

    def __init__(self, version: tuple[int, int] = (1, 0)) -> None:
        self.version = version
        self._bound = 1
        self._capabilities: dict[int, None] = {}
        self._extensions: dict[str, None] = {}
        self._annotations = array("I")
        self._globals = array("I")
        self._body = array("I")
        self._known: dict[tuple[int, ...], int] = {}
        self._interface: list[int] = []

    # ── Ids and instructions ──────────────────────────────────────────────────────────────────────────────────────

    def id(self) -> int:
        """A fresh id."""
        self._bound += 1
        return self._bound - 1

    def op(self, opcode: int, type_: int, *operands: int) -> int:
        """An instruction of the function that makes a value of `type_`; its id."""
        result = self.id()
        _put(self._body, opcode, type_, result, *operands)
        return result

    def do(self, opcode: int, *operands: int) -> None:
        """An instruction of the function that makes nothing."""
        _put(self._body, opcode, *operands)

    # ── What the module declares ──────────────────────────────────────────────────────────────────────────────────

    def capability(self, *numbers: int) -> None:
        """Ask for capabilities, each once."""
        self._capabilities.update(dict.fromkeys(numbers))

    def extension(self, name: str) -> None:
        """Ask for a SPIR-V extension."""
        self._extensions[name] = None

    def decorate(self, target: int, decoration: int, *operands: int) -> None:
        """OpDecorate."""
        _put(self._annotations, DECORATE, target, decoration, *operands)

    def decorate_member(self, target: int, member: int, decoration: int, *operands: int) -> None:
        """OpMemberDecorate."""
        _put(self._annotations, MEMBER_DECORATE, target, member, decoration, *operands)

    def type(self, opcode: int, *operands: int) -> int:
        """The one type of that shape."""
        return self._declare(opcode, *operands)

    def distinct_type(self, opcode: int, *operands: int) -> int:
        """A type of its own, to be decorated: a struct, or an array with a stride."""
        result = self.id()
        _put(self._globals, opcode, result, *operands)
        return result

    def scalar(self, kind: str, width: int) -> int:
        """``float``, ``int`` or ``uint`` of that many bits."""
        if kind == "float":
            return self.type(TYPE_FLOAT, width)
        return self.type(TYPE_INT, width, int(kind == "int"))

    def vector(self, element: int, length: int) -> int:
        """A vector of `length` components; of one, the component itself."""
        return element if length == 1 else self.type(TYPE_VECTOR, element, length)

    def pointer(self, storage: int, pointee: int) -> int:
        """OpTypePointer."""
        return self.type(TYPE_POINTER, storage, pointee)

    def constant(self, type_: int, *words: int) -> int:
        """OpConstant of the words of a number, the lowest first."""
        return self._declare_typed(CONSTANT, type_, *words)

    def uint(self, value: int) -> int:
        """A 32-bit unsigned constant."""
        return self.constant(self.scalar("uint", 32), value & 0xFFFFFFFF)

    def float(self, value: float) -> int:
        """A 32-bit float constant."""
        return self.constant(self.scalar("float", 32), struct.unpack("=I", struct.pack("=f", value))[0])

    def composite(self, type_: int, parts: Sequence[int]) -> int:
        """OpConstantComposite."""
        return self._declare_typed(CONSTANT_COMPOSITE, type_, *parts)

    def array(self, element: int, length: int) -> int:
        """An array type of `length` elements."""
        return self.type(TYPE_ARRAY, element, self.uint(length))

    def variable(self, storage: int, type_: int) -> int:
        """A variable of the module; it goes into the entry point's interface as its version wants."""
        result = self.id()
        _put(self._globals, VARIABLE, self.pointer(storage, type_), result, storage)
        if storage in (INPUT, OUTPUT) or self.version >= (1, 4):
            self._interface.append(result)
        return result

    # ── The end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, model: int, modes: Sequence[tuple[int, ...]] = (), *end: int) -> bytes:
        """The module, whose function is the entry point ``main`` of execution model `model`.

        Args:
            modes: execution modes, each with its operands.
            end: opcode and operands of the instruction that ends the function, if not OpReturn.
        """
        void = self.type(TYPE_VOID)
        function, function_type = self.id(), self.type(TYPE_FUNCTION, void)
        out = array("I")
        for number in self._capabilities:
            _put(out, CAPABILITY, number)
        for extension in self._extensions:
            _put(out, EXTENSION, *_string(extension))
        _put(out, MEMORY_MODEL, 0, 1)  # Logical, GLSL450
        _put(out, ENTRY_POINT, model, function, *_string("main"), *self._interface)
        for mode in modes:
            _put(out, EXECUTION_MODE, function, *mode)
        out += self._annotations
        out += self._globals
        _put(out, FUNCTION, void, function, 0, function_type)
        _put(out, LABEL, self.id())
        out += self._body
        _put(out, *(end or (RETURN,)))
        _put(out, FUNCTION_END)
        header = array("I", (MAGIC, self.version[0] << 16 | self.version[1] << 8, 0, self._bound, 0))
        return (header + out).tobytes()

    def _declare(self, opcode: int, *operands: int) -> int:
        key = (opcode, *operands)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.distinct_type(opcode, *operands)
        return found

    def _declare_typed(self, opcode: int, type_: int, *operands: int) -> int:
        key = (opcode, type_, *operands)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.id()
            _put(self._globals, opcode, type_, found, *operands)
        return found


def _put(section: array[int], opcode: int, *operands: int) -> None:
    section.append(len(operands) + 1 << 16 | opcode)
    section.extend(operands)


def _string(text: str) -> array[int]:
    """A literal: NUL-terminated UTF-8, the first octet in the lowest byte of each word."""
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 4)
    return array("I", struct.unpack(f"<{len(data) // 4}I", data))
