"""The static analysis of one entry point: plain numbers, exact, from the words alone.

Nothing is folded, unrolled or removed: what stands in the module counts, once for each function that the entry point
reaches, however often it is called and whatever branch it stands on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from shaderstat.backends.mock import graph, liveness
from shaderstat.backends.mock.classes import CLASSES, DECISIONS, DISCARDS, classify, needs_derivatives
from shaderstat.backends.mock.code import OPCODES, Code, Function, Instruction
from shaderstat.plain import dataclass
from shaderstat.registry import spirv as registry

_IMAGE_WRITE, _ATOMIC_LOAD = OPCODES["OpImageWrite"], OPCODES["OpAtomicLoad"]
# Storage classes that outlive the invocation, outputs aside.
_MEMORY = frozenset(
    registry.value("StorageClass", name) for name in ("Uniform", "Image", "StorageBuffer", "PhysicalStorageBuffer")
)
_PRIVATE = registry.value("StorageClass", "Private")


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one entry point is.

    Attributes:
        classes: instructions by class (`shaderstat.backends.mock.classes.CLASSES`); `instructions` is their sum.
        loop_depth, live: as if every call were inlined.
        call_depth: calls on the longest chain.
        live: None where the functions are beyond what is worth the time.
        local_components: scalar components of the Function and Private variables.
        code_words: of the functions that it reaches.
    """

    classes: Mapping[str, int]
    functions: int
    blocks: int
    loops: int
    selections: int
    decisions: int
    loop_depth: int
    call_depth: int
    live: liveness.Peak | None
    local_components: int
    code_words: int
    discards: bool
    needs_derivatives: bool
    writes_memory: bool
    endless: bool

    @property
    def instructions(self) -> int:
        """All of them."""
        return sum(self.classes.values())


def analyse(code: Code) -> Analysis:
    """Look at what an entry point reaches."""
    opcodes: Counter[int] = Counter()
    classes: Counter[str] = Counter(dict.fromkeys(CLASSES, 0))
    writes = False
    for function in code.functions.values():
        for block in function.blocks.values():
            for instruction in block.instructions:
                opcodes[instruction[0]] += 1
                kind = classify(code, instruction)
                if kind is not None:
                    classes[kind] += 1
                    writes = writes or _writes_memory(code, instruction, kind)
    flows = {id: graph.flow(function) for id, function in code.functions.items()}
    order = graph.callees_first(code)
    calls: dict[int, int] = {}
    depths: dict[int, int] = {}
    for function in order:
        calls[function.id] = max((1 + calls[id] for id in function.callees if id in calls), default=0)
        depths[function.id] = _loop_depth(code, flows[function.id], depths)
    every = code.functions.values()
    return Analysis(
        classes=classes,
        functions=len(code.functions),
        blocks=sum(len(function.blocks) for function in every),
        loops=sum(graph.loops(function) for function in every),
        selections=sum(graph.selections(function) for function in every),
        decisions=sum(opcodes[opcode] for opcode in DECISIONS),
        loop_depth=depths[code.entry.id],
        call_depth=calls[code.entry.id],
        live=_live(code, flows, order),
        local_components=_local_components(code),
        code_words=sum(function.words for function in every),
        discards=any(opcodes[opcode] for opcode in DISCARDS),
        needs_derivatives=any(needs_derivatives(opcode) for opcode in opcodes),
        writes_memory=writes,
        endless=any(flow.endless for flow in flows.values()),
    )


def _loop_depth(code: Code, flow: graph.Flow, depths: Mapping[int, int]) -> int:
    """The deepest nesting of loops: a function called in a loop adds its own."""
    deepest = 0
    for block in flow.order:
        here = flow.depths[block.label]
        inner = (depths.get(callee, 0) for each in block.instructions for callee in code.called(each))
        deepest = max(deepest, here + max(inner, default=0))
    return deepest


def _live(code: Code, flows: Mapping[int, graph.Flow], order: list[Function]) -> liveness.Peak | None:
    peaks: dict[int, liveness.Peak] = {}
    try:
        for function in order:
            peaks[function.id] = liveness.peak(code, function, flows[function.id], peaks)
    except liveness.TooLarge:
        return None
    return peaks[code.entry.id]


def _writes_memory(code: Code, instruction: Instruction, kind: str) -> bool:
    opcode = instruction[0]
    if opcode == _IMAGE_WRITE:
        return True
    if kind not in ("Stores", "Atomics") or opcode == _ATOMIC_LOAD:
        return False
    pointer = code.type_of(next(iter(code.used_ids(instruction)), 0))
    return pointer is not None and pointer.storage in _MEMORY


def _local_components(code: Code) -> int:
    total = 0
    private: set[int] = set()
    for function in code.functions.values():
        private |= code.module.functions[function.id].uses
        for id in function.variables:
            pointer = code.type_of(id)
            total += code.components(pointer.element) if pointer else 0
    for id in private:
        variable = code.types.variable(id)
        if variable.storage == _PRIVATE:
            total += code.components(variable.type)
    return total
