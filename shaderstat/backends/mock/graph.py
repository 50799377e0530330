"""Control flow: the order of blocks, loops and their nesting, calls and their depth. All in linear time, none by
recursion."""

from __future__ import annotations

from collections.abc import Mapping

from shaderstat.backends.mock.code import Block, Code, Function
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class Flow:
    """The control flow of one function.

    Attributes:
        order: the blocks that its first block reaches, in reverse postorder: a block comes before those that follow
            it, but for the back edges of loops.
        depths: in how many loops each of them lies, a loop's header and its continue part included, its merge block
            not.
        endless: whether one of them leads nowhere but to itself and its like: no path from it leaves the function.
    """

    order: tuple[Block, ...]
    depths: Mapping[int, int]
    endless: bool


def is_loop(block: Block) -> bool:
    """Whether the block is a loop's header: it has an OpLoopMerge."""
    return block.continues != 0


def flow(function: Function) -> Flow:
    """Look at one function."""
    order = _reverse_postorder(function)
    return Flow(tuple(order), _loop_depths(order), _is_endless(order))


def _reverse_postorder(function: Function) -> list[Block]:
    blocks = function.blocks
    first = blocks.get(function.entry)
    if first is None:
        return []
    order: list[Block] = []
    seen = {first.label}
    stack = [(first, 0)]
    while stack:
        block, taken = stack.pop()
        # The last successor first, so that the order read backwards has a branch's first side before its second.
        if taken < len(block.successors):
            stack.append((block, taken + 1))
            label = block.successors[-1 - taken]
            if label in blocks and label not in seen:
                seen.add(label)
                stack.append((blocks[label], 0))
        else:
            order.append(block)
    order.reverse()
    return order


def _loop_depths(order: list[Block]) -> dict[int, int]:
    """Structured control flow lets a block lie in the same loops whichever way it is reached (SPIR-V specification,
    2.11 "Structured Control Flow"), so the first way will do: a header enters its loop, the way to a loop's merge block
    leaves it and all within."""
    header_of = {block.merge: block.label for block in order if is_loop(block)}
    around: dict[int, int] = {}  # by header: the depth outside of its loop
    depths: dict[int, int] = {}
    coming: dict[int, int] = {}
    for block in order:
        depth = coming.get(block.label, 0)
        if is_loop(block):
            around[block.label] = depth
            depth += 1
        depths[block.label] = depth
        for label in block.successors:
            coming.setdefault(label, around.get(header_of.get(label, 0), depth))
    return depths


def _is_endless(order: list[Block]) -> bool:
    """Walk back from the blocks that leave the function."""
    reached = {block.label for block in order}
    before: dict[int, list[int]] = {label: [] for label in reached}
    for block in order:
        for label in block.successors:
            if label in before:
                before[label].append(block.label)
    pending = [block.label for block in order if not block.successors]
    leaves = set(pending)
    while pending:
        for label in before[pending.pop()]:
            if label not in leaves:
                leaves.add(label)
                pending.append(label)
    return len(leaves) < len(reached)


def callees_first(code: Code) -> list[Function]:
    """The functions in an order in which each comes after those that it calls; of a circle of calls (which is not
    valid) the one that closes it is left out of account."""
    done: list[Function] = []
    met = {code.entry.id}
    stack = [(code.entry, 0)]
    while stack:
        function, taken = stack.pop()
        if taken == len(function.callees):
            done.append(function)
            continue
        stack.append((function, taken + 1))
        callee = function.callees[taken]
        if callee not in met:
            met.add(callee)
            stack.append((code.functions[callee], 0))
    return done


def selections(function: Function) -> int:
    """OpSelectionMerge in all blocks."""
    return sum(1 for block in function.blocks.values() if block.merge and not is_loop(block))


def loops(function: Function) -> int:
    """OpLoopMerge in all blocks."""
    return sum(1 for block in function.blocks.values() if is_loop(block))
