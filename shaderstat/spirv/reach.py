"""How far a shader reaches: into arrays without a length, and from where its pointers point to.

A run has to make buffers that are large enough, and nobody says how large that is; indices do, where they are simple
arithmetic of what is known: constants, invocation ids, counters of loops. Every instruction is looked at in order, a
few times over, with `shaderstat.spirv.ranges` for numbers. Variables of functions are what any store leaves in them;
a comparison holds between the label that its branch leads to and the one for the case that it doesn't, as compilers
lay blocks out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import gcd

from shaderstat.plain import dataclass
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import Type
from shaderstat.spirv.layout import Sizes
from shaderstat.spirv.parse import Module, parse
from shaderstat.spirv.ranges import (
    NEVER,
    UNKNOWN,
    Number,
    Range,
    compared,
    computed,
    constant,
    extended,
    joined,
    widened,
)
from shaderstat.spirv.specialize import Scalar
from shaderstat.spirv.words import Words

# Larger modules aren't looked at: nothing can be told of them.
MOST_WORDS = 1 << 18
_PASSES, _JOINS, _NARROWINGS = 24, 3, 2
_MOST_AT_ONCE = 64  # comparisons that are joined by "and"

_PHYSICAL = 5349
_LOCAL = (6, 7)  # StorageClass Private, Function
_BUILTIN, _OFFSET = 11, 35
_WIDTH = 32


@dataclass(slots=True)
class Reach:
    """What was found.

    Attributes:
        elements: of the array without a length at the end of a variable's block, by the variable's id, how many are
            reached; of a variable that isn't here none of it is.
        pointees: by the id of a pointer's type, how many bytes from where it points to on are reached, by arithmetic
            and in arrays without a length.
        steps: by the same, which distances in bytes a pointer is moved by: multiples of this.
        open: variables and types of pointers of which that isn't all: some index can't be told.
        adrift: a pointer has a number added that can't be told, or that leads before it.
        foreign: a pointer is made of numbers that no pointer gave.
    """

    elements: dict[int, int] = field(default_factory=dict)
    pointees: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    adrift: bool = False
    foreign: bool = False


def reach(
    words: Words, function: int, builtins: Mapping[int, Sequence[Range]], specialization: Mapping[int, Scalar]
) -> Reach:
    """How far the entry point whose function is `function` reaches.

    Args:
        builtins: what BuiltIn variables can be, by number, of each component.

    Raises:
        InvalidSpirv: as `shaderstat.spirv.declare.Declarations`.
    """
    module = parse(words)
    walk = _Walk(module, Declarations(module, specialization), builtins)
    return walk.all(function)


@dataclass(slots=True)
class _Chain:
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


class _Walk:
    def __init__(self, module: Module, declarations: Declarations, builtins: Mapping[int, Sequence[Range]]) -> None:
        self.module = module
        self.code = module.code
        self.declarations = declarations
        self.sizes = Sizes()
        self.found = Reach()
        self.builtins = {
            id: Number(tuple(builtins[its[_BUILTIN][0]]))
            for id, its in module.decorations.items()
            if id in module.variables and its.get(_BUILTIN, (-1,))[0] in builtins
        }
        self.parameters: dict[int, list[int]] = {}
        self.physical = {id for id, type in declarations.types.items() if _is_physical(type)}
        # What variables, parameters, phis and functions' results are: after the pass before, and so far in this one.
        self.state: dict[int, Number | None] = {}
        self.fresh: dict[int, Number | None] = {}
        self.values: dict[int, Number | None] = {}
        self.chains: dict[int, _Chain] = {}
        self.came_from: dict[int, int] = {}  # a number → the variable that it was loaded from
        self.comparisons: dict[int, list[tuple[int, int, int]]] = {}
        self.held: list[_Held] = []
        self.blind = False  # something was stored nobody knows where

    def all(self, entry: int) -> Reach:
        """Over and over until nothing grows, then back to what loops really leave."""
        functions = self._reached(entry)
        untyped = any(type.opcode == 4417 for type in self.declarations.types.values())  # OpTypeUntypedPointerKHR
        if len(self.code) > MOST_WORDS or untyped:
            return self._give_up()
        steady = False
        for number in range(_PASSES):
            self._pass(functions)
            grow = joined if number < _JOINS else widened
            after = {id: grow(self.state.get(id), self.fresh.get(id)) for id in {**self.state, **self.fresh}}
            steady = after == self.state
            self.state = after
            if steady:
                break
        if not steady or self.blind:
            return self._give_up()
        for _ in range(_NARROWINGS):
            self._pass(functions)
            self.state = dict(self.fresh)
        self._pass(functions)
        return self.found

    def _give_up(self) -> Reach:
        return Reach(open={*self.module.variables, *self.physical}, adrift=bool(self.physical))

    def _reached(self, entry: int) -> list[int]:
        """Functions, callers before what they call where that is so in the module as well."""
        pending, seen = [entry], {entry}
        while pending:
            for callee in self.module.functions[pending.pop()].calls:
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        return [id for id in self.module.functions if id in seen]

    def _pass(self, functions: Sequence[int]) -> None:
        self.found = Reach()
        self.fresh, self.values, self.chains = {}, {}, {}
        for id in functions:
            self.parameters[id] = []
        for id in functions:
            function = self.module.functions[id]
            self.held = []
            index = function.index
            while index < function.end:
                after = index + (self.code[index] >> 16)
                self._instruction(id, index, after)
                index = after

    # ── One instruction ───────────────────────────────────────────────────────────────────────────────────────────

    def _instruction(self, function: int, index: int, after: int) -> None:
        code = self.code
        opcode = code[index] & 0xFFFF
        if self.held:
            self.held = [each for each in self.held if index < each.end]
        if opcode in (65, 66, 67, 70):
            self._chain(index, after, elements=opcode in (67, 70))
        elif opcode == 61:
            self._load(index)
        elif opcode == 62:
            self._store(code[index + 1], self._get(code[index + 2]))
        elif opcode == 59:
            self._variable(index, after)
        elif opcode == 55:
            self.parameters[function].append(code[index + 2])
            self._parameter(index)
        elif opcode == 57:
            self._call(index, after)
        elif opcode == 254:
            self._grow(function, self._get(code[index + 1]))
        elif opcode == 245:
            id = code[index + 2]
            for place in range(index + 3, after, 2):
                self._grow(id, self._get(code[place]))
            self._set(index, self.state.get(id))
        elif opcode in (250, 167) or 170 < opcode < 180:
            self._condition(opcode, index)
        elif opcode in (81, 80, 79, 169, 12) or opcode in _ARITHMETIC:
            self._compute(opcode, index, after)
        elif opcode not in _FLOW:
            self._escape(index, after)
            if self.module.definitions.get(code[index + 2] if after - index > 2 else 0) == index:
                self._set(index, UNKNOWN)

    def _escape(self, index: int, after: int) -> None:
        """Variables whose pointers an instruction takes that isn't understood may be anything afterwards. A literal
        that is taken for an id does no harm."""
        for id in self.code[index + 1 : after]:
            if id in self.chains or id in self.module.definitions:
                root = self._root(id).root
                if self._is_local(root):
                    self._grow(root, UNKNOWN)

    def _set(self, index: int, number: Number | None) -> None:
        """The result of the instruction at `index`. A pointer out of memory points to the start of what is there."""
        type, id = self.code[index + 1], self.code[index + 2]
        if type in self.physical and number is not None and not number.bases:
            number = joined(Number(((0, 0),), frozenset((type,))), self.state.get(-type))
        self.values[id] = number

    def _grow(self, id: int, number: Number | None) -> None:
        self.fresh[id] = joined(self.fresh.get(id), number)

    def _get(self, id: int) -> Number | None:
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

    def _type(self, index: int) -> Type | None:
        return self.declarations.types.get(self.code[index + 1])

    def _compute(self, opcode: int, index: int, after: int) -> None:
        code = self.code
        if opcode == 12:  # OpExtInst
            is_glsl = self.module.imports.get(code[index + 3]) == "GLSL.std.450"
            numbers = [self._get(id) for id in code[index + 5 : after]] if is_glsl else []
            if is_glsl:
                self._escape(index + 4, after)  # modf and frexp write through pointers
            known = [each for each in numbers if each is not None]
            self._set(index, extended(code[index + 4], known) if is_glsl and len(known) == len(numbers) else UNKNOWN)
            return
        if opcode == 81:  # OpCompositeExtract
            whole = self._get(code[index + 3])
            self._set(index, whole and (whole.part(code[index + 4]) if after - index == 5 else _whole(whole)))
        elif opcode == 80:  # OpCompositeConstruct
            self._set(index, _composed([self._get(id) for id in code[index + 3 : after]]))
        elif opcode == 79:  # OpVectorShuffle
            both = joined(self._get(code[index + 3]), self._get(code[index + 4]))
            one = self._get(code[index + 3])
            if code[index + 3] == code[index + 4] and one is not None:
                self._set(index, _composed([one.part(place) for place in code[index + 5 : after]]))
            else:
                self._set(index, both and _whole(both))
        elif opcode == 169:  # OpSelect
            self._set(index, joined(self._get(code[index + 4]), self._get(code[index + 5])))
        else:
            numbers = [self._get(id) for id in code[index + 3 : after]]
            known = [each for each in numbers if each is not None]
            number = computed(opcode, self._width(index), known) if len(known) == len(numbers) else None
            if opcode in (83, 113, 114, 124) and code[index + 3] in self.came_from:
                self.came_from[code[index + 2]] = self.came_from[code[index + 3]]
            if code[index + 1] in self.physical and number is not None:
                self._aim(index, opcode, number)
            self._set(index, number)

    def _width(self, index: int) -> int:
        type = self._type(index)
        while type is not None and type.element is not None and type.kind == "vector":
            type = type.element
        return type.width if type is not None and type.kind == "int" else 64

    # ── Memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _variable(self, index: int, after: int) -> None:
        if after - index > 4:
            self._grow(self.code[index + 2], self._get(self.code[index + 4]))

    def _parameter(self, index: int) -> None:
        type = self._type(index)
        if type is None or type.kind != "pointer" or type.storage == _PHYSICAL:
            self._set(index, self.state.get(self.code[index + 2]))

    def _root(self, id: int) -> _Chain:
        """What a logical pointer leads to."""
        if id in self.chains:
            return self.chains[id]
        at = self.module.definitions.get(id, 0)
        type = self.declarations.types.get(self.code[at + 1])
        is_root = self.code[at] & 0xFFFF in (59, 55)
        return _Chain(id if is_root else 0, type.element if type and type.element else Type(0, "other"))

    def _load(self, index: int) -> None:
        code = self.code
        pointer = self._get(code[index + 3]) if code[index + 3] in self.values else None
        if pointer is not None and pointer.bases:
            self._set(index, UNKNOWN)
            return
        chain = self._root(code[index + 3])
        if chain.root in self.builtins:
            number: Number | None = self.builtins[chain.root]
        elif self._is_local(chain.root):
            number = self.state.get(chain.root)
            if chain.root not in self.module.variables:
                self.came_from[code[index + 2]] = chain.root
        else:
            number = UNKNOWN
        if number is not None and chain.part >= 0:
            number = number.part(chain.part)
        for each in self.held:
            if number is not None and each.variable == chain.root and chain.root and len(number.parts) == 1:
                number = _narrowed(number, each.range)
        self._set(index, number)

    def _is_local(self, root: int) -> bool:
        return bool(root) and self._points_to_local(root)

    def _points_to_local(self, id: int) -> bool:
        type = self.declarations.types.get(self.code[self.module.definitions.get(id, 0) + 1])
        return type is not None and type.kind == "pointer" and type.storage in _LOCAL

    def _store(self, pointer: int, number: Number | None) -> None:
        if number is None:
            return
        chain = self._root(pointer)
        its = self.values.get(pointer)
        if not (its is not None and its.bases) and self._is_local(chain.root):
            if chain.type.kind not in _WHOLE:
                number = _whole(number)
            self._grow(chain.root, _whole(number) if chain.part >= 0 else number)
            self.held = [each for each in self.held if each.variable != chain.root]
        elif not chain.root and self._points_to_local(pointer):
            self.blind = True
        elif number.range != (0, 0):
            for base in number.bases:  # what is loaded as such a pointer may be this one
                self._grow(-base, number)

    def _chain(self, index: int, after: int, *, elements: bool) -> None:
        code = self.code
        base = code[index + 3]
        its = self._get(base) if base in self.values else None
        type = self.declarations.types.get(code[self.module.definitions.get(base, 0) + 1])
        places = code[index + 4 : after]
        if its is not None and its.bases and type is not None:
            self._pointed(index, its, type, places, elements)
            return
        chain = self._root(base)
        root, at, part = chain.root, chain.type, chain.part
        for place in places[1:] if elements else places:
            number = self._get(place) or UNKNOWN
            low, high = number.range
            if at.kind == "vector" and part < 0:
                part = low if low == high and at is self._root(root).type else -1
            if at.kind == "runtime_array" and not self._is_array_of_descriptors(root, at):
                self._reached_element(root, high)
            at = _inside(at, low) or at
        self.chains[code[index + 2]] = _Chain(root, at, part)

    def _is_array_of_descriptors(self, root: int, at: Type) -> bool:
        return self._root(root).type is at

    def _reached_element(self, root: int, high: int) -> None:
        found = self.found
        if root not in self.module.variables:
            found.open.update(self.module.variables)
        elif high >= NEVER:
            found.open.add(root)
        else:
            found.elements[root] = max(found.elements.get(root, 0), high + 1)

    # ── Pointers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _pointed(self, index: int, its: Number, pointer: Type, places: Sequence[int], elements: bool) -> None:
        """An access chain from a physical pointer."""
        at = pointer.element or self.declarations.forward_pointees().get(pointer.id)
        low, high = its.range
        is_open = False
        for position, place in enumerate(places):
            if at is None:
                break
            first, last = (self._get(place) or UNKNOWN).range
            if elements and position == 0:
                stride = pointer.array_stride or self.sizes.size(at) or 1
                low, high = low + first * stride, high + last * stride
                if first < 0 or last >= NEVER:
                    self.found.adrift = True
                self._move(its.bases, gcd(its.multiple, stride))
                continue
            if at.kind == "struct" and 0 <= first < len(at.members):
                offset = at.members[first].decorations.get(_OFFSET, (0,))[0]
                low, high = low + offset, high + offset
            elif at.kind in ("array", "runtime_array", "vector", "matrix"):
                if at.kind != "runtime_array":  # beyond its length nobody may go
                    last = min(last, max(at.length - 1, 0))
                elif last >= NEVER:
                    is_open, last = True, 0
                stride = at.array_stride or (self.sizes.size(at.element) if at.element else None) or 1
                low, high = low + max(first, 0) * stride, high + max(last, 0) * stride
            at = _inside(at, first)
        size = (self.sizes.size(at) if at is not None else None) or 0
        self._touch(its.bases, high + size, is_open)
        self.values[self.code[index + 2]] = Number(((low, high),), its.bases)

    def _aim(self, index: int, opcode: int, number: Number) -> None:
        """A pointer that is made of a number, or of another pointer."""
        if not number.bases:
            if number.range == (0, 0):  # the null pointer
                return
            source = self.declarations.types.get(self.code[self.module.definitions.get(self.code[index + 3], 0) + 1])
            self.found.foreign |= opcode in (120, 124) and not (source is not None and _is_physical(source))
            return
        low, high = number.range
        type = self._type(index)
        pointee = None if type is None else type.element or self.declarations.forward_pointees().get(type.id)
        if low < 0 or high >= NEVER:
            self.found.adrift = True
        elif high:
            self._touch(number.bases, high + ((self.sizes.size(pointee) if pointee is not None else None) or 0), False)
            self._move(number.bases, number.multiple)

    def _move(self, bases: frozenset[int], step: int) -> None:
        for base in bases:
            self.found.steps[base] = gcd(self.found.steps.get(base, 0), step)

    def _touch(self, bases: frozenset[int], end: int, is_open: bool) -> None:
        for base in bases:
            self.found.pointees[base] = max(self.found.pointees.get(base, 0), end)
            if is_open:
                self.found.open.add(base)

    # ── Calls, and what holds where ───────────────────────────────────────────────────────────────────────────────

    def _call(self, index: int, after: int) -> None:
        code = self.code
        callee = code[index + 3]
        for parameter, argument in zip(self._parameters(callee), code[index + 4 : after], strict=False):
            if self._is_local(parameter):  # a pointer to a variable: both hold the same
                root = self._root(argument).root
                self._grow(parameter, self.state.get(root))
                if self._is_local(root):
                    self._grow(root, self.state.get(parameter))
            else:
                self._grow(parameter, self._get(argument))
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
                self._hold(end, each, a, b)
        elif opcode == 167:  # OpLogicalAnd
            parts = (self.comparisons.get(code[place], []) for place in (index + 3, index + 4))
            self.comparisons[code[index + 2]] = [each for part in parts for each in part][:_MOST_AT_ONCE]
        else:
            self.comparisons[code[index + 2]] = [(opcode, code[index + 3], code[index + 4])]

    def _hold(self, end: int, opcode: int, a: int, b: int) -> None:
        left, right = self._get(a), self._get(b)
        if left is None or right is None or len(left.parts) + len(right.parts) != 2 or left.bases or right.bases:
            return
        for id, before, range in zip((a, b), (left, right), compared(opcode, left.range, right.range), strict=True):
            if range != before.range:
                self.held.append(_Held(end, id, self.came_from.get(id, 0), range))


# OpConvertFToU, FToS, UConvert, SConvert, OpConvertPtrToU, OpConvertUToPtr, OpBitcast, OpCopyObject, OpCopyLogical;
# OpSNegate to OpSMod, less those of floats; shifts and the like.
_ARITHMETIC = frozenset(
    (109, 110, 113, 114, 117, 120, 124, 83, 400, 126, 128, 130, 132, 134, 135, 137, 138, 139, *range(194, 200))
)
# OpLine and OpNoLine, OpLoopMerge to OpUnreachable, OpLabel: they hold no pointer.
_FLOW = frozenset((8, 317, *range(246, 256)))
_WHOLE = ("int", "float", "vector", "pointer", "bool")


def _is_physical(type: Type) -> bool:
    return type.kind == "pointer" and type.storage == _PHYSICAL


def _inside(type: Type, place: int) -> Type | None:
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
