"""Live values: how many results of a function must be kept at once, at the worst point.

A value is the result of an instruction in a function's body, or a parameter, that has a type other than void; pointers
and handles count, constants and variables (which are memory) don't. It is live at a point between two instructions if
it is defined on the way there and used on some way from there. OpPhi uses its operands on the edges from their
predecessors and defines its result on entry to its block. A block that isn't reached has no points.

Backward data flow over bit sets, in which only those values have a bit that some other block uses. The number of sets
times their length is bounded: beyond `LIMIT_BITS` there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from shaderstat.backends.mock.code import PHI, VARIABLES, Block, Code, Function
from shaderstat.backends.mock.graph import Flow
from shaderstat.plain import dataclass

# Bits in all sets of one kind of a function: 16 MiB; there are four kinds.
LIMIT_BITS = 1 << 27
# Bits that the data flow may touch altogether: about a second.
LIMIT_WORK = 1 << 36


@dataclass(frozen=True, slots=True)
class Peak:
    """The most values, and the most scalar components of values (which may be at another point)."""

    values: int = 0
    components: int = 0


class TooLarge(Exception):
    """The function is beyond what is worth the time."""


class _Step(NamedTuple):
    """What an instruction does to values; `made` is 0 where it makes none."""

    phi: bool
    made: int
    used: Sequence[int]
    callees: Sequence[int]


def peak(code: Code, function: Function, flow: Flow, callees: Mapping[int, Peak]) -> Peak:
    """The worst point of a function, with what lives in its callees on top of what lives across their calls.

    Args:
        callees: of the functions that it calls; one that is missing (recursion) adds nothing.

    Raises:
        TooLarge: see `LIMIT_BITS`.
    """
    weights = _weights(code, function, flow)
    steps = {block.label: _steps(code, block, weights) for block in flow.order}
    sets = _Sets(_crossing(steps), weights, len(flow.order))
    most_values = most_components = 0
    for label, live in _live_outs(flow, steps, sets).items():
        values, components = sets.measure(live)
        members = sets.members(live)
        here: dict[int, bool] = {}  # values that are no longer as they are at the block's end
        for step in reversed(steps[label]):
            if step.phi:
                break
            if step.made and here.get(step.made, members(step.made)):
                here[step.made] = False
                values -= 1
                components -= weights[step.made]
            for callee in step.callees:
                inner = callees.get(callee, Peak())
                most_values = max(most_values, values + inner.values)
                most_components = max(most_components, components + inner.components)
            for used in step.used:
                if not here.get(used, members(used)):
                    here[used] = True
                    values += 1
                    components += weights[used]
            most_values = max(most_values, values)
            most_components = max(most_components, components)
    return Peak(most_values, most_components)


def _weights(code: Code, function: Function, flow: Flow) -> dict[int, int]:
    """The scalar components of every value of a function."""
    ids = list(function.parameters)
    for block in flow.order:
        ids += [code.result(each) for each in block.instructions if each[0] not in VARIABLES]
    return {id: weight for id in ids if (weight := code.components(code.type_of(id)))}


def _steps(code: Code, block: Block, weights: Mapping[int, int]) -> list[_Step]:
    steps = []
    for instruction in block.instructions:
        if code.is_debug(instruction):
            continue
        phi = instruction[0] == PHI
        made = code.result(instruction)
        used = code.used_ids(instruction)
        if not phi:  # whose operands need the labels beside them
            used = [id for id in used if id in weights]
        steps.append(_Step(phi, made if made in weights else 0, used, code.called(instruction)))
    return steps


def _crossing(steps: Mapping[int, Sequence[_Step]]) -> list[int]:
    """What is used in another block than the one that makes it, or by an OpPhi, in the order of first use."""
    crossing: dict[int, None] = {}
    for block in steps.values():
        made = {step.made for step in block}
        for step in block:
            for used in step.used:
                if step.phi or used not in made:
                    crossing[used] = None
    return list(crossing)


class _Sets:
    """Sets of the values `ids`, as integers with a bit for each; other ids are ignored."""

    def __init__(self, ids: Iterable[int], weights: Mapping[int, int], count: int) -> None:
        self._bits = {id: bit for bit, id in enumerate(id for id in ids if id in weights)}
        self.width = len(self._bits)
        if self.width * count > LIMIT_BITS:
            raise TooLarge(f"{self.width} values cross the borders of {count} blocks")
        # The values whose weight has the bit `power`, for each power of two.
        powers = range(max((weights[id] for id in self._bits), default=0).bit_length())
        planes = [(power, self.of(id for id in self._bits if weights[id] >> power & 1)) for power in powers]
        self._planes = [(power, plane) for power, plane in planes if plane]

    def of(self, ids: Iterable[int]) -> int:
        """Bytes first: setting a bit of a long integer copies all of it."""
        raw = bytearray((self.width + 7) // 8)
        for id in ids:
            bit = self._bits.get(id)
            if bit is not None:
                raw[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(raw, "little")

    def measure(self, live: int) -> tuple[int, int]:
        """How many values and how many components."""
        return live.bit_count(), sum((live & plane).bit_count() << power for power, plane in self._planes)

    def members(self, live: int) -> Callable[[int], bool]:
        """The test of membership."""
        raw, bits = live.to_bytes((self.width + 7) // 8, "little"), self._bits

        def member(id: int) -> bool:
            bit = bits.get(id)
            return bit is not None and bool(raw[bit >> 3] >> (bit & 7) & 1)

        return member


def _live_outs(flow: Flow, steps: Mapping[int, Sequence[_Step]], sets: _Sets) -> dict[int, int]:
    """What is live at the end of each block, by label."""
    on_edge: dict[int, list[int]] = {}
    live_in: dict[int, int] = {}
    passing: dict[int, int] = {}  # all but what the block makes
    everything = (1 << sets.width) - 1
    for label, block in steps.items():
        made = {step.made for step in block}
        live_in[label] = sets.of(used for step in block if not step.phi for used in step.used if used not in made)
        passing[label] = everything & ~sets.of(made)
        for step in block:
            if step.phi:
                for value, parent in zip(step.used[::2], step.used[1::2], strict=False):
                    on_edge.setdefault(parent, []).append(value)
    used = live_in.copy()
    edges = {label: sets.of(on_edge.get(label, ())) for label in steps}
    live_out = edges.copy()
    work = 0
    changed = True
    while changed:
        changed = False
        work += len(steps) * (sets.width + 64)
        if work > LIMIT_WORK:
            raise TooLarge("values live through too many loops within loops")
        for node in reversed(flow.order):
            label = node.label
            out = edges[label]
            for successor in node.successors:
                out |= live_in.get(successor, 0)
            live_out[label] = out
            before = used[label] | (out & passing[label])
            if before != live_in[label]:
                live_in[label] = before
                changed = True
    return live_out
