"""A module as code: the functions that one entry point reaches, as blocks of instructions.

`shaderstat.spirv.parse` has checked the shape of every instruction. What only the validator checks is not relied upon:
a branch to nowhere leads nowhere, a value that nobody defines is none. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from shaderstat.plain import dataclass
from shaderstat.registry import _generated_spirv as tables
from shaderstat.registry import spirv as registry
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import EXECUTION_MODELS, Type
from shaderstat.spirv.module import Entry, Module
from shaderstat.spirv.module import Function as ParsedFunction

# (opcode, index of the first word, word count)
Instruction = tuple[int, int, int]

OPCODES: Mapping[str, int] = {entry[1]: entry[0] for entry in tables.INSTRUCTIONS}

FUNCTION, FUNCTION_END = OPCODES["OpFunction"], OPCODES["OpFunctionEnd"]
PARAMETER = OPCODES["OpFunctionParameter"]
VARIABLES = frozenset({OPCODES["OpVariable"], OPCODES["OpUntypedVariableKHR"]})
CALL = OPCODES["OpFunctionCall"]
# Cooperative matrices call a function for each element.
TAKES_FUNCTION = frozenset(
    OPCODES[name]
    for name in (
        "OpCooperativeMatrixPerElementOpEXT",
        "OpCooperativeMatrixReduceEXT",
        "OpCooperativeMatrixLoadTensorNV",
    )
)
LABEL, PHI = OPCODES["OpLabel"], OPCODES["OpPhi"]
LOOP_MERGE, SELECTION_MERGE = OPCODES["OpLoopMerge"], OPCODES["OpSelectionMerge"]
BRANCH, BRANCH_CONDITIONAL = OPCODES["OpBranch"], OPCODES["OpBranchConditional"]
SWITCH = OPCODES["OpSwitch"]
EXT_INSTS = frozenset({OPCODES["OpExtInst"], OPCODES["OpExtInstWithForwardRefsKHR"]})
LINES = frozenset({OPCODES["OpLine"], OPCODES["OpNoLine"]})

# Sizes of types grow by multiplication: beyond what a statistic can say, no more.
_MOST = 2**64 - 1


@dataclass(slots=True)
class Block:
    """A basic block: its instructions after OpLabel, and where it may go next, in the order of its terminator.

    `merge` and `continues` are the labels of its merge instruction, 0 where it has none; `number` is its place in the
    function, from 0.
    """

    label: int
    number: int
    instructions: list[Instruction] = field(default_factory=list)
    successors: tuple[int, ...] = ()
    merge: int = 0
    continues: int = 0


@dataclass(slots=True)
class Function:
    """A function: `blocks` by label, in the module's order; `callees` each once, in the order of the first call."""

    id: int
    words: int
    parameters: list[int] = field(default_factory=list)
    variables: list[int] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    callees: list[int] = field(default_factory=list)

    @property
    def entry(self) -> int:
        """The label of the first block, 0 where there is none."""
        return next(iter(self.blocks), 0)


class Code:
    """What an entry point reaches.

    Attributes:
        module, types: the module that it stands in, and what that declares.
        words: of the module.
        entry: the entry point's function.
        functions: by id, `entry` first, in the order in which they are met.
    """

    def __init__(self, module: Module, types: Declarations, entry: Entry) -> None:
        self.module = module
        self.types = types
        self.words = module.code
        self.functions: dict[int, Function] = {}
        self._components: dict[int, int] = {}
        for kind in types.types.values():  # the types that it is made of stand before it
            self._components[kind.id] = self._measure(kind)
        self._debug = {id for id, name in module.imports.items() if name.startswith("NonSemantic.") or "Debug" in name}
        pending = [entry.function]
        while pending:
            id = pending.pop()
            if id not in self.functions:
                function = self.functions[id] = self._read(module.functions[id])
                pending += reversed(function.callees)
        self.entry = self.functions[entry.function]

    def type_of(self, id: int) -> Type | None:
        """The type of a value; None for what has none."""
        index = self.module.definitions.get(id)
        if index is None or not registry.result_words(self.words[index] & 0xFFFF)[0]:
            return None
        return self.types.types.get(self.words[index + 1]) or Type(self.words[index + 1], "other")

    def components(self, kind: Type | None) -> int:
        """The scalar components of a type: a vector's length, those of all elements of an array; one for a pointer, an
        image and the like; none for void and for arrays without a length."""
        return 0 if kind is None else self._components.get(kind.id, 1)

    def _measure(self, kind: Type) -> int:
        if kind.kind in ("vector", "matrix", "array"):
            return min(kind.length * self.components(kind.element), _MOST)
        if kind.kind == "struct":
            return min(sum(self.components(member.type) for member in kind.members), _MOST)
        return 0 if kind.kind in ("void", "runtime_array") else 1

    def is_debug(self, instruction: Instruction) -> bool:
        """Whether an instruction is debug information: OpLine, or of a set that says so."""
        opcode, index, _ = instruction
        if opcode in EXT_INSTS:
            return self.words[index + 3] in self._debug
        return opcode in LINES

    def result(self, instruction: Instruction) -> int:
        """The id that an instruction makes; 0 where it makes none."""
        place = registry.result_words(instruction[0])[1]
        return self.words[instruction[1] + place] if place else 0

    def used_ids(self, instruction: Instruction) -> list[int]:
        """The ids that an instruction uses: neither its result nor its result type."""
        opcode, index, count = instruction
        if opcode == PHI:
            return self.words[index + 3 : index + count]
        return registry.used_ids(self.words, index, count, self.literal_words(instruction))

    def called(self, instruction: Instruction) -> list[int]:
        """The functions that an instruction calls."""
        opcode, index, _ = instruction
        if opcode == CALL:
            return [self.words[index + 3]]
        return [id for id in self.used_ids(instruction) if id in self.functions] if opcode in TAKES_FUNCTION else []

    def literal_words(self, instruction: Instruction) -> int:
        """How many words each literal of an OpSwitch has; 1 for all others."""
        opcode, index, _ = instruction
        if opcode != SWITCH:
            return 1
        selector = self.type_of(self.words[index + 1])
        return 2 if selector is not None and selector.width > 32 else 1

    def _read(self, source: ParsedFunction) -> Function:
        """Cut a function into blocks."""
        words, function = self.words, Function(source.id, source.end - source.index)
        block: Block | None = None
        callees = dict.fromkeys(source.calls)
        index = source.index
        while index < source.end:
            opcode, count = words[index] & 0xFFFF, words[index] >> 16
            if opcode == LABEL:
                block = function.blocks[words[index + 1]] = Block(words[index + 1], len(function.blocks))
            elif opcode == PARAMETER:
                function.parameters.append(words[index + 2])
            elif block is not None and opcode != FUNCTION_END:
                block.instructions.append((opcode, index, count))
                if opcode in VARIABLES:
                    function.variables.append(words[index + 2])
                elif opcode == LOOP_MERGE:
                    block.merge, block.continues = words[index + 1], words[index + 2]
                elif opcode == SELECTION_MERGE:
                    block.merge = words[index + 1]
                elif opcode in TAKES_FUNCTION:
                    callees.update(dict.fromkeys(registry.used_ids(words, index, count)))
            index += count
        function.callees = [id for id in callees if id in self.module.functions]
        for each in function.blocks.values():
            each.successors = self._successors(each)
        return function

    def _successors(self, block: Block) -> tuple[int, ...]:
        """The labels in a block's terminator, each once."""
        if not block.instructions:
            return ()
        opcode, index, count = block.instructions[-1]
        words = self.words
        if opcode == BRANCH:
            found = [words[index + 1]]
        elif opcode == BRANCH_CONDITIONAL:
            found = words[index + 2 : index + 4]
        elif opcode == SWITCH:
            step = self.literal_words(block.instructions[-1]) + 1
            found = [words[index + 2], *words[index + 2 + step : index + count : step]]
        else:
            found = []
        return tuple(dict.fromkeys(found))


def find_entry(module: Module, stage: str, name: str) -> Entry | None:
    """The entry point of that stage and name, with a function."""
    for entry in module.entries:
        if EXECUTION_MODELS.get(entry.model) == stage and entry.name == name and entry.function in module.functions:
            return entry
    return None
