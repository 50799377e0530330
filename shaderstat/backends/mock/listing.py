"""The control-flow graph as text: one line a block, indented by its loops, and one for where it goes.

The same module gives the same text, whatever its ids are: blocks have numbers of their own.
"""

from __future__ import annotations

from shaderstat.backends.mock import graph
from shaderstat.backends.mock.classes import classify
from shaderstat.backends.mock.code import BRANCH_CONDITIONAL, SWITCH, Block, Code, Function
from shaderstat.registry import spirv as registry


def control_flow_graph(code: Code) -> str:
    """The functions that an entry point reaches, its own first."""
    numbers = {id: number for number, id in enumerate(code.functions)}
    lines = []
    for function in code.functions.values():
        lines += _function(code, function, numbers)
        lines.append("")
    return "\n".join(lines)


def _function(code: Code, function: Function, numbers: dict[int, int]) -> list[str]:
    flow = graph.flow(function)
    name = printable(code.module.name(function.id))
    head = f"function f{numbers[function.id]}" + (f" {name}" if name else "")
    calls = ", ".join(f"f{numbers[callee]}" for callee in function.callees)
    lines = [
        f"{head}: {_count(len(function.blocks), 'block')}, {_count(graph.loops(function), 'loop')}"
        + (f"; calls {calls}" if calls else "")
    ]
    for block in function.blocks.values():
        depth = flow.depths.get(block.label)
        indent = "  " * ((depth or 0) + 1)
        count = sum(1 for each in block.instructions if classify(code, each) is not None)
        line = f"{indent}b{block.number}: {_count(count, 'instruction')}"
        if graph.is_loop(block):
            line += f"; loop, continues at {_name(function, block.continues)}, merges at {_name(function, block.merge)}"
        elif block.merge:
            line += f"; selection, merges at {_name(function, block.merge)}"
        if depth is None:
            line += "; not reached"
        lines += [line, f"{indent}  {_way_on(code, function, block)}"]
    return lines


def _way_on(code: Code, function: Function, block: Block) -> str:
    if not block.instructions:
        return "ends without a terminator"
    opcode, index, count = block.instructions[-1]
    words = code.words
    if opcode == BRANCH_CONDITIONAL:
        return f"if -> {_name(function, words[index + 2])} else -> {_name(function, words[index + 3])}"
    if opcode == SWITCH:
        width = code.literal_words(block.instructions[-1])
        cases = []
        for at in range(index + 3, index + count - width, width + 1):
            literal = sum(words[at + word] << 32 * word for word in range(width))
            cases.append(f"{literal} -> {_name(function, words[at + width])}")
        return "; ".join(["switch", *cases, f"default -> {_name(function, words[index + 2])}"])
    if block.successors:
        return f"-> {_name(function, block.successors[0])}"
    return registry.opcode_name(opcode)


def _name(function: Function, label: int) -> str:
    block = function.blocks.get(label)
    return f"b{block.number}" if block else "nowhere"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """A name from a module, safe in a line of text."""
    return "".join(each if each.isprintable() else f"\\u{{{ord(each):x}}}" for each in text)[:200]
