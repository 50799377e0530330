"""Types, constants and variables of a parsed module, with specialization applied.

Types are built in the order in which they stand, from types that stand before them: nothing recurses, a type stands
once, and one that holds itself can't come about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shaderstat.registry import spirv as registry
from shaderstat.spirv.facts import Member, Type, Variable
from shaderstat.spirv.module import Module, invalid
from shaderstat.spirv.specialize import Scalar, Value, convert, from_words, operate, zero

# SPIR-V specification, section 2.17 "Universal Limits": structure nesting depth. Held for arrays as well.
MAX_DEPTH = 255
# What all structs of a module may hold, down to scalars and vectors, an array counted once: SPIRV-Tools' validator
# looks at each, at 3 µs apiece, and forty structs that each hold the former twice keep it busy for days.
MAX_LEAVES = 250_000

_NONE: Mapping[int, tuple[int, ...]] = {}
_SPEC_ID, _ARRAY_STRIDE, _BUILT_IN = 1, 6, 11
_INT_WIDTHS, _FLOAT_WIDTHS = (8, 16, 32, 64), (8, 16, 32, 64)
# Capabilities that allow other widths: Int4TypeINTEL, ArbitraryPrecisionIntegersALTERA.
_ODD_WIDTHS = {5112, 5844}
_UNTYPED_VARIABLE = 4418


class Declarations:
    """What a module declares outside its functions.

    Attributes:
        module: where it is from.
        types: by id.
        spec_constants: ids of the constants that carry a SpecId, in order.

    Raises:
        InvalidSpirv: ``spirv/undefined-id``, ``spirv/recursive-type``, ``spirv/recursive-constant``,
            ``spirv/bad-width``, ``spirv/array-length``, ``spirv/not-a-type``, ``spirv/not-a-pointer``,
            ``spirv/storage-class``, ``spirv/member-index``, ``limit/type-depth`` or ``limit/type-size``.
    """

    def __init__(self, module: Module, specialization: Mapping[int, Scalar]) -> None:
        self.module = module
        self.types: dict[int, Type] = {}
        self.spec_constants: list[int] = []
        self._specialization = specialization
        self._values: dict[int, Value] = {}
        self._variables: dict[int, Variable] = {}
        self._depths: dict[int, int] = {}
        self._forward: list[int] = []
        self._leaves: dict[int, int] = {}
        self._all_leaves = 0
        code, types = module.code, self.types
        for index in module.declarations:
            opcode = code[index] & 0xFFFF
            build = _TYPES.get(opcode)
            if build is not None:
                type = build(self, code[index + 1], index, index + (code[index] >> 16))
                types[type.id] = type
            elif opcode in _OTHER_TYPES:
                types[code[index + 1]] = Type(code[index + 1], _OTHER_TYPES[opcode], opcode)
            elif opcode not in _CONSTANTS:
                self._other(opcode, index)
            else:
                if code[index + 1] not in types:
                    self.type(code[index + 1], index)
                if opcode in _SPEC_SCALARS:
                    if _SPEC_ID in module.decorations.get(code[index + 2], _NONE):
                        self.spec_constants.append(code[index + 2])
                elif opcode in _COMPOSED:
                    self._check_order(index)
        for id, index in module.variables.items():
            self._check_variable(id, index)

    # ── Types ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def type(self, id: int, index: int) -> Type:
        """The type that the instruction at word `index` refers to."""
        found = self.types.get(id)
        if found is not None:
            return found
        if self.module.unknown_opcodes:
            # One of them may be what makes it.
            return Type(id, "other")
        definition = self.module.definitions.get(id)
        name = registry.opcode_name(self.module.code[index] & 0xFFFF)
        if definition is None:
            raise invalid("spirv/undefined-id", f"{name} refers to %{id}, which nothing defines", index)
        if definition == index or self._leads_back(id, index):
            raise invalid("spirv/recursive-type", f"{name} makes a type that holds itself", index)
        if definition > index:
            raise invalid("spirv/undefined-id", f"{name} refers to %{id}, which is defined only after it", index)
        other = registry.opcode_name(self.module.code[definition] & 0xFFFF)
        raise invalid("spirv/not-a-type", f"{name} takes %{id} for a type, which is {other}", index)

    def _leads_back(self, id: int, index: int) -> bool:
        """Whether the type `id`, not built yet, refers to the one at word `index`, at whatever distance."""
        code, definitions = self.module.code, self.module.definitions
        goal = code[index + registry.result_words(code[index] & 0xFFFF)[1]]
        seen, pending = {id}, [id]
        while pending:
            at = definitions.get(pending.pop())
            if at is None or code[at] & 0xFFFF not in _TYPES:
                continue
            for each in registry.used_ids(code, at, code[at] >> 16):
                if each == goal:
                    return True
                if each not in seen:
                    seen.add(each)
                    pending.append(each)
        return False

    def _int(self, id: int, index: int, after: int) -> Type:
        code = self.module.code
        width = code[index + 2]
        if width not in _INT_WIDTHS and not self.module.newer and _ODD_WIDTHS.isdisjoint(self.module.capabilities):
            raise invalid("spirv/bad-width", f"an integer type of {width} bits", index)
        return Type(id, "int", width=min(width, 1 << 12), signed=code[index + 3] == 1)

    def _float(self, id: int, index: int, after: int) -> Type:
        width = self.module.code[index + 2]
        if width not in _FLOAT_WIDTHS and not self.module.newer:
            raise invalid("spirv/bad-width", f"a floating-point type of {width} bits", index)
        # An encoding (bfloat16, the 8-bit ones) is no IEEE float: opcode tells them apart.
        return Type(id, "float" if after - index == 3 else "other", 22, width=width)

    def _vector(self, id: int, index: int, after: int) -> Type:
        code = self.module.code
        kind = "vector" if code[index] & 0xFFFF == 23 else "matrix"
        return Type(id, kind, element=self.type(code[index + 2], index), length=code[index + 3])

    def _array(self, id: int, index: int, after: int) -> Type:
        code, decorations = self.module.code, self.module.decorations.get(id, _NONE)
        element = self.type(code[index + 2], index)
        length = self.value(code[index + 3], index)
        if length is None:
            length = 0  # not known: see Type
        elif not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise invalid("spirv/array-length", f"an array of length {length}", index)
        self._nest(id, index, (element,))
        stride = decorations.get(_ARRAY_STRIDE, (0,))[0]
        return Type(id, "array", element=element, length=length, array_stride=stride, decorations=decorations)

    def _runtime_array(self, id: int, index: int, after: int) -> Type:
        decorations = self.module.decorations.get(id, _NONE)
        element = self.type(self.module.code[index + 2], index)
        self._nest(id, index, (element,))
        stride = decorations.get(_ARRAY_STRIDE, (0,))[0]
        return Type(id, "runtime_array", element=element, array_stride=stride, decorations=decorations)

    def _struct(self, id: int, index: int, after: int) -> Type:
        module = self.module
        given: Mapping[int, Mapping[int, tuple[int, ...]]] = module.member_decorations.get(id, {})
        count = after - index - 2
        if given and max(given) >= count:
            raise invalid("spirv/member-index", f"member {max(given)} of a struct of {count} is decorated", index)
        types = [self.type(each, index) for each in module.code[index + 2 : after]]
        self._nest(id, index, types)
        members = tuple(
            Member(type, module.member_name(id, position), given.get(position, _NONE))
            for position, type in enumerate(types)
        )
        return Type(id, "struct", members=members, decorations=module.decorations.get(id, _NONE))

    def _nest(self, id: int, index: int, inner: list[Type] | tuple[Type]) -> None:
        """Note depth and leaves of an aggregate, and hold them within limits."""
        depth, leaves = 0, 0
        for type in inner:
            depth = max(depth, self._depths.get(type.id, 0))
            leaves += self._leaves.get(type.id, 1)
        if depth >= MAX_DEPTH:
            raise invalid("limit/type-depth", f"types nested more than {MAX_DEPTH} deep", index)
        self._all_leaves += leaves
        if self._all_leaves > MAX_LEAVES:
            raise invalid("limit/type-size", f"types that hold more than {MAX_LEAVES} values, written out", index)
        self._depths[id], self._leaves[id] = depth + 1, leaves

    def _pointer(self, id: int, index: int, after: int) -> Type:
        code = self.module.code
        return Type(id, "pointer", element=self.type(code[index + 3], index), storage=code[index + 2])

    def _forward_pointer(self, id: int, index: int, after: int) -> Type:
        self._forward.append(id)
        return self.types.get(id) or Type(id, "pointer", storage=self.module.code[index + 2])

    def forward_pointees(self) -> dict[int, Type]:
        """What pointers lead to that were declared before it, by the pointer's id."""
        found = ((id, self.types[id].element) for id in self._forward)
        return {id: pointee for id, pointee in found if pointee is not None}

    def _untyped_pointer(self, id: int, index: int, after: int) -> Type:
        return Type(id, "pointer", 4417, storage=self.module.code[index + 2])

    def _image(self, id: int, index: int, after: int) -> Type:
        dim, depth, arrayed, multisampled, sampled, format = self.module.code[index + 3 : index + 9]
        return Type(
            id,
            "image",
            element=self.type(self.module.code[index + 2], index),
            image=(dim, depth, arrayed, multisampled, sampled, format),
        )

    def _sampled_image(self, id: int, index: int, after: int) -> Type:
        image = self.type(self.module.code[index + 2], index)
        return Type(id, "sampled_image", element=image, image=image.image)

    def _other(self, opcode: int, index: int) -> None:
        """A type that has no kind of its own, or a constant of a sort that nothing here depends on."""
        grammar = registry.instruction(opcode)
        offset = registry.result_words(opcode)[1]
        if grammar and grammar.group == "Type-Declaration" and offset:
            id = self.module.code[index + offset]
            self.types[id] = Type(id, "other", opcode)

    # ── Constants ─────────────────────────────────────────────────────────────────────────────────────────────────

    def value(self, id: int, index: int) -> Value:
        """The value of the constant that the instruction at word `index` refers to; None where it can't be told.

        Raises:
            InvalidSpirv: ``spirv/undefined-id``.
        """
        values, definitions, code = self._values, self.module.definitions, self.module.code
        if id in values:
            return values[id]
        if id not in definitions and not self.module.unknown_opcodes:
            name = registry.opcode_name(code[index] & 0xFFFF)
            raise invalid("spirv/undefined-id", f"{name} refers to %{id}, which nothing defines", index)
        pending = [id]
        while pending:
            current = pending[-1]
            at = definitions.get(current, 0)
            opcode = code[at] & 0xFFFF if at else 0
            if opcode in _COMPOSED and current not in values:
                # Always further to the front, so that this ends.
                needed = [
                    each for each in self._operands(at) if each not in values and 0 < definitions.get(each, 0) < at
                ]
                if needed:
                    pending += needed
                    continue
            if current not in values:
                values[current] = self._evaluate(opcode, current, at)
            pending.pop()
        return values[id]

    def default(self, id: int) -> Value:
        """The value of a specialization constant as the module has it."""
        at = self.module.definitions[id]
        opcode = self.module.code[at] & 0xFFFF
        return opcode == 48 if opcode in (48, 49) else from_words(self._result_type(at), self._bits(at))

    def _evaluate(self, opcode: int, id: int, index: int) -> Value:
        code = self.module.code
        if opcode not in _CONSTANTS:
            return None
        if opcode in _SPEC_SCALARS:
            spec_id = self.module.decorations.get(id, _NONE).get(_SPEC_ID)
            if spec_id and spec_id[0] in self._specialization:
                return convert(self._result_type(index), self._specialization[spec_id[0]])
            return self.default(id)
        if opcode == 43:
            return from_words(self._result_type(index), self._bits(index))
        if opcode in (41, 42):
            return opcode == 41
        if opcode == 46:
            return zero(self._result_type(index))
        if opcode in (44, 51):
            return tuple(self._values.get(each) for each in self._operands(index))
        if opcode == 52:
            operands = list(registry.operands(code, index, code[index] >> 16))[3:]
            ids = [value for kind, _, value in operands if kind in registry.ID_KINDS]
            literals = [value for kind, _, value in operands if kind not in registry.ID_KINDS]
            types = [self._result_type(self.module.definitions.get(each, index)) for each in ids]
            values = [self._values.get(each) for each in ids]
            return operate(code[index + 3], self._result_type(index), values, types, literals)
        return None

    def _bits(self, index: int) -> int:
        code = self.module.code
        return sum(code[at] << 32 * place for place, at in enumerate(range(index + 3, index + (code[index] >> 16))))

    def _result_type(self, index: int) -> Type:
        return self.types.get(self.module.code[index + 1]) or Type(0, "other")

    def _operands(self, index: int) -> list[int]:
        return registry.used_ids(self.module.code, index, self.module.code[index] >> 16)

    def _check_order(self, index: int) -> None:
        """Operands of a constant stand before it (SPIR-V specification 2.4): else it could be made of itself."""
        code, definitions = self.module.code, self.module.definitions
        for each in self._operands(index):
            at = definitions.get(each, -1)
            if at < 0 and self.module.unknown_opcodes:
                continue
            if not 0 <= at < index:
                name = registry.opcode_name(code[index] & 0xFFFF)
                if each == code[index + 2]:
                    raise invalid("spirv/recursive-constant", f"{name} %{each} is made of itself", index)
                raise invalid("spirv/undefined-id", f"{name} refers to %{each}, which nothing before it defines", index)

    # ── Variables ─────────────────────────────────────────────────────────────────────────────────────────────────

    def variable(self, id: int) -> Variable:
        """The module-scope variable `id` of `Module.variables`."""
        found = self._variables.get(id)
        if found is None:
            module, index = self.module, self.module.variables[id]
            code, pointer = module.code, self.types[module.code[index + 1]]
            if code[index] & 0xFFFF != _UNTYPED_VARIABLE:
                type = pointer.element or Type(0, "other")
            else:
                type = self.types.get(code[index + 4], Type(0, "other")) if code[index] >> 16 > 4 else Type(0, "other")
            decorations = module.decorations.get(id, _NONE)
            builtin = decorations.get(_BUILT_IN)
            found = Variable(
                id, module.name(id), code[index + 3], type, decorations, builtin[0] if builtin is not None else None
            )
            self._variables[id] = found
        return found

    def _check_variable(self, id: int, index: int) -> None:
        code, module = self.module.code, self.module
        pointer = self.types.get(code[index + 1]) or self.type(code[index + 1], index)
        if pointer.kind != "pointer" and not (pointer.kind == "other" and (module.newer or module.unknown_opcodes)):
            raise invalid("spirv/not-a-pointer", f"variable %{id} has a type that is no pointer", index)
        self.types.setdefault(code[index + 1], pointer)
        if registry.enumerant("StorageClass", code[index + 3]) is None and not module.newer:
            raise invalid("spirv/storage-class", f"variable %{id} has storage class {code[index + 3]}", index)


_Builder = Callable[[Declarations, int, int, int], Type]
_TYPES: Mapping[int, _Builder] = {
    21: Declarations._int,
    22: Declarations._float,
    23: Declarations._vector,
    24: Declarations._vector,
    25: Declarations._image,
    27: Declarations._sampled_image,
    28: Declarations._array,
    29: Declarations._runtime_array,
    30: Declarations._struct,
    32: Declarations._pointer,
    39: Declarations._forward_pointer,
    4417: Declarations._untyped_pointer,
}
_OTHER_TYPES = {
    19: "void",
    20: "bool",
    26: "sampler",
    33: "function",
    4472: "ray_query",
    5341: "acceleration_structure",
}
# Constants whose values are evaluated: True, False, Constant, Composite, Null, SpecConstantTrue, SpecConstantFalse,
# SpecConstant, SpecConstantComposite, SpecConstantOp.
_CONSTANTS = frozenset((41, 42, 43, 44, 46, 48, 49, 50, 51, 52))
_SPEC_SCALARS = frozenset((48, 49, 50))
_COMPOSED = frozenset((44, 51, 52))
