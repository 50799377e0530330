"""What the numbers of a shader can be, instruction by instruction: `shaderstat.spirv.ranges` along its functions.

Every instruction is looked at in order, a few times over. Variables of functions are what any store leaves in them; a
comparison holds between the label that its branch leads to and the one for the case that it doesn't, as compilers lay
blocks out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from shaderstat.plain import dataclass
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import Type
from shaderstat.spirv.module import Module
from shaderstat.spirv.ranges import UNKNOWN, Number, Range, compared, computed, constant, extended, joined, widened

PHYSICAL = 5349  # StorageClass PhysicalStorageBuffer
_LOCAL = (6, 7)  # StorageClass Private, Function
_BUILTIN = 11
_PASSES, _JOINS, _NARROWINGS = 24, 3, 2
_MOST_AT_ONCE = 64  # comparisons that are joined by "and"


@dataclass(slots=True)
class Chain:
    """What an access chain leads to: `root` is a variable of the module or of a function (or a parameter that points
    to one), 0 where it isn't known; `part` a component of a vector in it, -1 for all."""

    root: int
    type: Type
    part: int = -1


@dataclass(slots=True)
class _Held:
    """A comparison that holds up to word `end`: `id`, or what is loaded from the variable `variable`, lies in it."""

    end: int
    id: int
    variable: int
    range: Range


class Flow:
    """The functions of one module. `chained` and `aimed` are for who wants to know where pointers go."""

    def __init__(self, module: Module, declarations: Declarations, builtins: Mapping[int, Sequence[Range]]) -> None:
        self.module = module
        self.code = module.code
        self.declarations = declarations
        self.builtins = {
            id: Number(tuple(builtins[its[_BUILTIN][0]]))
            for id, its in module.decorations.items()
            if id in module.variables and its.get(_BUILTIN, (-1,))[0] in builtins
        }
        self.physical = {id for id, type in declarations.types.items() if is_physical(type)}
        # What variables, parameters, phis and functions' results are: after the pass before, and so far in this one.
        self.state: dict[int, Number | None] = {}
        self.fresh: dict[int, Number | None] = {}
        self.values: dict[int, Number | None] = {}
        self.chains: dict[int, Chain] = {}
        self.came_from: dict[int, int] = {}  # a number → the variable that it was loaded from
        self.comparisons: dict[int, list[tuple[int, int, int]]] = {}
        self.held: list[_Held] = []
        # Where variables are stored to and loops begin: in the pass before, and so far in this one.
        self.stores: dict[int, list[int]] | None = None
        self.fresh_stores: dict[int, list[int]] = {}
        self.loops_before: list[int] = []
        self.loops: list[int] = []
        self.blind = False  # something was stored nobody knows where

    def settle(self, entry: int) -> bool:
        """Over and over until nothing grows, then back to what loops really leave, and a last time. False where that
        takes too long, or something is stored nobody knows where: nothing can be told then."""
        functions = self._reached(entry)
        steady = False
        for number in range(_PASSES):
            self.pass_over(functions)
            grow = joined if number < _JOINS else widened
            after = {id: grow(self.state.get(id), self.fresh.get(id)) for id in {**self.state, **self.fresh}}
            steady = after == self.state
            self.state = after
            if steady:
                break
        for _ in range(_NARROWINGS if steady else 0):
            self.pass_over(functions)
            self.state = dict(self.fresh)
        self.pass_over(functions)
        return steady and not self.blind

    def chained(self, index: int, after: int, *, elements: bool) -> None:
        """Called for the access chain at word `index`, whose first index counts elements (OpPtrAccessChain) or not."""

    def aimed(self, index: int, opcode: int, number: Number) -> None:
        """Called where a physical pointer is made of `number` by the instruction at word `index`."""

    def _reached(self, entry: int) -> list[int]:
        """Functions, callers before what they call where that is so in the module as well."""
        pending, seen = [entry], {entry}
        while pending:
            for callee in self.module.functions[pending.pop()].calls:
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        return [id for id in self.module.functions if id in seen]

    def pass_over(self, functions: Sequence[int]) -> None:
        """Look at every instruction once."""
        self.fresh, self.values, self.chains = {}, {}, {}
        self.fresh_stores, self.loops = {}, []
        for index in self.module.variables.values():  # module-scope ones may have a value from the start
            self._variable(index, index + (self.code[index] >> 16))
        for id in functions:
            function = self.module.functions[id]
            self.held = []
            index = function.index
            while index < function.end:
                after = index + (self.code[index] >> 16)
                self._instruction(id, index, after)
                index = after
        self.stores, self.loops_before = self.fresh_stores, self.loops

    # ── One instruction ───────────────────────────────────────────────────────────────────────────────────────────

    def _instruction(self, function: int, index: int, after: int) -> None:
        code = self.code
        opcode = code[index] & 0xFFFF
        if self.held:
            self.held = [each for each in self.held if index < each.end]
        if opcode in (65, 66, 67, 70):
            self.chained(index, after, elements=opcode in (67, 70))
        elif opcode == 61:
            self._load(index)
        elif opcode == 62:
            self._store(index)
        elif opcode == 59:
            self._variable(index, after)
        elif opcode == 55:
            self._parameter(index)
        elif opcode == 57:
            self._call(index, after)
        elif opcode == 254:
            self._grow(function, self.get(code[index + 1]))
        elif opcode == 245:
            id = code[index + 2]
            for place in range(index + 3, after, 2):
                self._grow(id, self.get(code[place]))
            self._set(index, self.state.get(id))
        elif opcode in (250, 167) or 170 < opcode < 180:
            self._condition(opcode, index)
        elif opcode in (81, 80, 79, 169, 12) or opcode in _ARITHMETIC:
            self._compute(opcode, index, after)
        elif opcode == 246:
            self.loops.append(index)
        elif opcode not in _FLOW:
            self._escape(index, after)
            if self.module.definitions.get(code[index + 2] if after - index > 2 else 0) == index:
                self._set(index, UNKNOWN)

    def _escape(self, index: int, after: int) -> None:
        """Variables whose pointers an instruction takes that isn't understood may be anything afterwards. A literal
        that is taken for an id does no harm."""
        for id in self.code[index + 1 : after]:
            if id in self.chains or id in self.module.definitions:
                root = self.root(id).root
                if self._is_local(root):
                    self._write(root, UNKNOWN, index)

    def _set(self, index: int, number: Number | None) -> None:
        """The result of the instruction at `index`. A pointer out of memory points to the start of what is there."""
        type, id = self.code[index + 1], self.code[index + 2]
        if type in self.physical and number is not None and not number.bases:
            number = joined(Number(((0, 0),), frozenset((type,))), self.state.get(-type))
        self.values[id] = number

    def _grow(self, id: int, number: Number | None) -> None:
        self.fresh[id] = joined(self.fresh.get(id), number)

    def _write(self, variable: int, number: Number | None, index: int) -> None:
        """A variable of a function may be `number` from word `index` on; what was known of it is over."""
        self._grow(variable, number)
        self.fresh_stores.setdefault(variable, []).append(index)
        self.held = [each for each in self.held if each.variable != variable]

    def get(self, id: int) -> Number | None:
        """What an id can be; None where nothing was said of it yet."""
        if id in self.values:
            number = self.values[id]
        elif id in self.module.variables or id not in self.module.definitions:
            return UNKNOWN
        else:
            number = self.values[id] = constant(self.declarations.value(id, self.module.definitions[id]))
        for each in self.held:
            if each.id == id and number is not None:
                number = _narrowed(number, each.range)
        return number

    def type_at(self, index: int) -> Type | None:
        """The type of the result of the instruction at word `index`."""
        return self.declarations.types.get(self.code[index + 1])

    def _compute(self, opcode: int, index: int, after: int) -> None:
        code = self.code
        if opcode == 12:  # OpExtInst
            is_glsl = self.module.imports.get(code[index + 3]) == "GLSL.std.450"
            numbers = [self.get(id) for id in code[index + 5 : after]] if is_glsl else []
            if is_glsl:
                self._escape(index + 4, after)  # modf and frexp write through pointers
            known = [each for each in numbers if each is not None]
            self._set(index, extended(code[index + 4], known) if is_glsl and len(known) == len(numbers) else UNKNOWN)
            return
        if opcode == 81:  # OpCompositeExtract
            whole = self.get(code[index + 3])
            self._set(index, whole and (whole.part(code[index + 4]) if after - index == 5 else _whole(whole)))
        elif opcode == 80:  # OpCompositeConstruct
            self._set(index, _composed([self.get(id) for id in code[index + 3 : after]]))
        elif opcode == 79:  # OpVectorShuffle
            both = joined(self.get(code[index + 3]), self.get(code[index + 4]))
            one = self.get(code[index + 3])
            if code[index + 3] == code[index + 4] and one is not None:
                self._set(index, _composed([one.part(place) for place in code[index + 5 : after]]))
            else:
                self._set(index, both and _whole(both))
        elif opcode == 169:  # OpSelect
            self._set(index, joined(self.get(code[index + 4]), self.get(code[index + 5])))
        else:
            numbers = [self.get(id) for id in code[index + 3 : after]]
            known = [each for each in numbers if each is not None]
            number = computed(opcode, self._width(index), known) if len(known) == len(numbers) else None
            if opcode in (83, 113, 114, 124) and code[index + 3] in self.came_from:
                self.came_from[code[index + 2]] = self.came_from[code[index + 3]]
            if code[index + 1] in self.physical and number is not None:
                self.aimed(index, opcode, number)
            self._set(index, number)

    def _width(self, index: int) -> int:
        type = self.type_at(index)
        while type is not None and type.element is not None and type.kind == "vector":
            type = type.element
        return type.width if type is not None and type.kind == "int" else 64

    # ── Memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _variable(self, index: int, after: int) -> None:
        if after - index > 4:
            number = self.get(self.code[index + 4])
            is_plain = self.root(self.code[index + 2]).type.kind in _WHOLE
            self._grow(self.code[index + 2], number if number is None or is_plain else _whole(number))

    def _parameter(self, index: int) -> None:
        type = self.type_at(index)
        if type is None or type.kind != "pointer" or type.storage == PHYSICAL:
            self._set(index, self.state.get(self.code[index + 2]))

    def root(self, id: int) -> Chain:
        """What a logical pointer leads to."""
        if id in self.chains:
            return self.chains[id]
        at = self.module.definitions.get(id, 0)
        type = self.declarations.types.get(self.code[at + 1])
        is_root = self.code[at] & 0xFFFF in (59, 55)
        return Chain(id if is_root else 0, type.element if type and type.element else Type(0, "other"))

    def _load(self, index: int) -> None:
        code = self.code
        pointer = self.get(code[index + 3]) if code[index + 3] in self.values else None
        if pointer is not None and pointer.bases:
            self._set(index, UNKNOWN)
            return
        chain = self.root(code[index + 3])
        if chain.root in self.builtins:
            number: Number | None = self.builtins[chain.root]
        elif self._is_local(chain.root):
            number = self.state.get(chain.root)
        else:
            number = UNKNOWN
        if number is not None and chain.part >= 0:
            number = number.part(chain.part)
        if self._is_local(chain.root) and chain.type.kind == "int" and chain.type is self.root(chain.root).type:
            if chain.root not in self.module.variables:
                self.came_from[code[index + 2]] = chain.root
            for each in self.held:
                if number is not None and each.variable == chain.root:
                    number = _narrowed(number, each.range)
        self._set(index, number)

    def _is_local(self, root: int) -> bool:
        return bool(root) and self._points_to_local(root)

    def _points_to_local(self, id: int) -> bool:
        type = self.declarations.types.get(self.code[self.module.definitions.get(id, 0) + 1])
        return type is not None and type.kind == "pointer" and type.storage in _LOCAL

    def _store(self, index: int) -> None:
        pointer, number = self.code[index + 1], self.get(self.code[index + 2])
        chain = self.root(pointer)
        its = self.values.get(pointer)
        if not (its is not None and its.bases) and self._is_local(chain.root):
            is_all = chain.part < 0 and chain.type is self.root(chain.root).type and chain.type.kind in _WHOLE
            self._write(chain.root, number if number is None or is_all else _whole(number), index)
        elif not chain.root and self._points_to_local(pointer):
            self.blind = True
        elif number is not None and number.range != (0, 0):
            for base in number.bases:  # what is loaded as such a pointer may be this one
                self._grow(-base, number)

    # ── Calls, and what holds where ───────────────────────────────────────────────────────────────────────────────

    def _call(self, index: int, after: int) -> None:
        code = self.code
        callee = code[index + 3]
        for parameter, argument in zip(self._parameters(callee), code[index + 4 : after], strict=False):
            if self._is_local(parameter):  # a pointer to a variable: both hold the same
                root = self.root(argument).root
                self._grow(parameter, self.state.get(root) if root else UNKNOWN)
                if self._is_local(root):
                    self._write(root, self.state.get(parameter), index)
            else:
                self._grow(parameter, self.get(argument))
        self._set(index, self.state.get(callee))

    def _parameters(self, function: int) -> Iterator[int]:
        its = self.module.functions[function]
        index = its.index
        while index < its.end and self.code[index] & 0xFFFF in (54, 55, 8, 317):
            if self.code[index] & 0xFFFF == 55:
                yield self.code[index + 2]
            index += self.code[index] >> 16

    def _condition(self, opcode: int, index: int) -> None:
        code = self.code
        if opcode == 250:
            start = self.module.definitions.get(code[index + 2], 0)
            end = self.module.definitions.get(code[index + 3], 0)
            for each, a, b in self.comparisons.get(code[index + 1], ()) if index < start < end else ():
                self._hold(start, end, each, a, b)
        elif opcode == 167:  # OpLogicalAnd
            parts = (self.comparisons.get(code[place], []) for place in (index + 3, index + 4))
            self.comparisons[code[index + 2]] = [each for part in parts for each in part][:_MOST_AT_ONCE]
        else:
            self.comparisons[code[index + 2]] = [(opcode, code[index + 3], code[index + 4])]

    def _hold(self, start: int, end: int, opcode: int, a: int, b: int) -> None:
        left, right = self.get(a), self.get(b)
        if left is None or right is None or len(left.parts) + len(right.parts) != 2 or left.bases or right.bases:
            return
        for id, before, range in zip((a, b), (left, right), compared(opcode, left.range, right.range), strict=True):
            if range != before.range:
                variable = self.came_from.get(id, 0)
                self.held.append(_Held(end, id, variable if self._keeps(variable, start, end) else 0, range))

    def _keeps(self, variable: int, start: int, end: int) -> bool:
        """Whether what is loaded from a variable between two words, before it is stored to there, is what it was at the
        first: not where a loop begins between them and a store comes after that, which may be followed by the load."""
        if self.stores is None:
            return False
        its = self.stores.get(variable, [])
        loop = bisect_left(self.loops_before, start)
        if loop == len(self.loops_before) or self.loops_before[loop] >= end:
            return True
        first = bisect_left(its, self.loops_before[loop])
        return first == len(its) or its[first] >= end


# OpConvertFToU, FToS, UConvert, SConvert, OpConvertPtrToU, OpConvertUToPtr, OpBitcast, OpCopyObject, OpCopyLogical;
# OpSNegate to OpSMod, less those of floats; shifts and the like.
_ARITHMETIC = frozenset(
    (109, 110, 113, 114, 117, 120, 124, 83, 400, 126, 128, 130, 132, 134, 135, 137, 138, 139, *range(194, 200))
)
# OpLine and OpNoLine, OpLoopMerge to OpUnreachable, OpLabel: they hold no pointer.
_FLOW = frozenset((8, 317, *range(246, 256)))
_WHOLE = ("int", "float", "vector", "pointer", "bool")


def is_physical(type: Type) -> bool:
    """Whether it is a pointer into a buffer that has an address."""
    return type.kind == "pointer" and type.storage == PHYSICAL


def inside_of(type: Type, place: int) -> Type | None:
    if type.kind == "struct":
        return type.members[place].type if 0 <= place < len(type.members) else None
    return type.element


def _whole(number: Number) -> Number:
    return Number((number.range,), number.bases, number.multiple)


def _composed(numbers: Sequence[Number | None]) -> Number | None:
    known = [each for each in numbers if each is not None]
    if not known or len(known) < len(numbers):
        return None
    bases = frozenset[int]().union(*(each.bases for each in known))
    return Number(tuple(part for each in known for part in each.parts), bases)


def _narrowed(number: Number, its: Range) -> Number:
    low, high = max(number.range[0], its[0]), min(number.range[1], its[1])
    return Number(((low, max(low, high)),), number.bases, number.multiple)
