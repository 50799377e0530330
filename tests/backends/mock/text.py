"""The same numbers by another route: from SPIRV-Tools' text, by regular expressions, and live values by the bare
definition (is there a way from this point to a use that doesn't pass the definition?). Slow, and nothing shared with
the mock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.assembly import tool

LINE = re.compile(r"^\s*(?:%(\w+) = )?(Op\w+)(?: (.*))?$")
ID = re.compile(r"%(\w+)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

IDLE = {"OpLabel", "OpVariable", "OpLoopMerge", "OpSelectionMerge", "OpUndef", "OpNop", "OpLine", "OpNoLine"}
TERMINATORS = r"Branch|BranchConditional|Switch|Return|ReturnValue|Kill|Unreachable|TerminateInvocation"
CLASSES = {
    "Arithmetic": r"[IFSU](Add|Sub|Mul|Div|Rem|Mod|Negate)|(Vector|Matrix)Times\w+|Dot|OuterProduct|[US]MulExtended"
    r"|IAddCarry|ISubBorrow",
    "Logic": r"Shift\w+|Bitwise\w+|Not|Bit(Field|Reverse|Count)\w*|Logical\w+|Select|Any|All",
    "Comparisons": r"(I|S|U|FOrd|FUnord)(Not)?(Equal|(Less|Greater)Than(Equal)?)|Is(Nan|Inf)",
    "Conversions": r"Convert\w+|[FSU]Convert|Bitcast|QuantizeToF16",
    "Moves": r"(Composite|Vector(Extract|Insert|Shuffle))\w*|Transpose|Copy(Object|Logical)|Phi|SampledImage|Image",
    "Loads": r"Load",
    "Stores": r"Store|CopyMemory",
    "Addresses": r"(InBounds|Ptr)*AccessChain|ArrayLength|ImageTexelPointer",
    "Textures": r"Image(Sparse)?(Sample\w+|Fetch|(Dref)?Gather)",
    "Images": r"Image(Sparse)?(Read|Write|Query\w+|TexelsResident)",
    "Atomics": r"Atomic\w+",
    "Barriers": r"(Control|Memory)Barrier",
    "Subgroup": r"(Group|Subgroup)\w+",
    "Derivatives": r"(DPd[xy]|Fwidth)(Fine|Coarse)?",
    "Ray tracing": r"(Trace|RayQuery|ExecuteCallable|ReportIntersection|IgnoreIntersection|TerminateRay)\w*",
    "Calls": r"FunctionCall",
    "Control flow": TERMINATORS,
}
# GLSL.std.450's own.
EXTENDED = {
    "Conversions": r"(Unp|P)ack\w+",
    "Logic": r"Find[ISU]\w+",
    "Loads": r"InterpolateAt\w+",
}


def disassemble(words: bytes) -> str:
    """Raw ids, no indentation: ``spirv-dis --raw-id --no-indent --no-header``."""
    import subprocess

    argv = [tool("spirv-dis"), "--raw-id", "--no-indent", "--no-header", "--no-color", "-"]
    return subprocess.run(argv, input=words, capture_output=True, check=True).stdout.decode()


@dataclass
class Line:
    result: str | None
    opcode: str
    rest: str

    @property
    def ids(self) -> list[str]:
        """Operands, the result type left out."""
        found = ID.findall(STRING.sub("", self.rest))
        return found[1:] if self.result and self.opcode != "OpLabel" else found


@dataclass
class Block:
    label: str
    lines: list[Line] = field(default_factory=list)

    @property
    def successors(self) -> list[str]:
        last = self.lines[-1]
        if last.opcode == "OpBranch":
            return last.ids
        if last.opcode == "OpBranchConditional":
            return last.ids[1:3]
        return last.ids[1:] if last.opcode == "OpSwitch" else []


class Text:
    """A module's text."""

    def __init__(self, words: bytes) -> None:
        self.functions: dict[str, list[Line]] = {}
        self.types: dict[str, Line] = {}
        self.constants: dict[str, int] = {}
        self.sets: dict[str, str] = {}
        self.entries: dict[tuple[str, str], str] = {}
        self.value_types: dict[str, str] = {}
        body: list[Line] | None = None
        for raw in disassemble(words).splitlines():
            match = LINE.match(raw)
            assert match, raw
            line = Line(match[1], match[2], match[3] or "")
            if line.opcode == "OpEntryPoint":
                model, function, name = re.match(r'(\w+) %(\w+) ("(?:[^"\\]|\\.)*")', line.rest).groups()  # type: ignore[union-attr]
                self.entries[model, name[1:-1]] = function
            elif line.opcode == "OpFunction":
                body = self.functions[line.result or ""] = []
            elif line.opcode == "OpFunctionEnd":
                body = None
            elif line.opcode.startswith("OpType"):
                self.types[line.result or ""] = line
            elif line.opcode == "OpConstant":
                number = line.rest.split()[1]
                self.constants[line.result or ""] = int(number) if re.fullmatch(r"-?\d+", number) else 0
            elif line.opcode == "OpExtInstImport":
                self.sets[line.result or ""] = line.rest
            if body is not None and line.opcode != "OpFunction":
                body.append(line)
            if line.result and line.rest.startswith("%") and not line.opcode.startswith("OpType"):
                self.value_types[line.result] = ID.findall(line.rest)[0]

    def reached(self, function: str) -> list[str]:
        """The functions that one reaches, itself first."""
        met = [function]
        for each in met:
            for line in self.functions[each]:
                if line.opcode == "OpFunctionCall" and line.ids[0] not in met:
                    met.append(line.ids[0])
        return met

    def class_of(self, line: Line) -> str | None:
        """By name alone."""
        if line.opcode in IDLE or line.opcode == "OpFunctionParameter":
            return None
        name = line.opcode[2:]
        table = CLASSES
        if name == "ExtInst":
            set_, name = re.match(r"%\w+ %(\w+) (\w+)", line.rest).groups()  # type: ignore[union-attr]
            if "NonSemantic" in self.sets[set_]:
                return None
            if "GLSL.std.450" not in self.sets[set_]:
                return "Other"
            return next((kind for kind, names in EXTENDED.items() if re.fullmatch(names, name)), "Arithmetic")
        return next((kind for kind, names in table.items() if re.fullmatch(names, name)), "Other")

    def components(self, kind: str) -> int:
        """Scalar components of a type."""
        line = self.types[kind]
        words = line.rest.split()
        if line.opcode in ("OpTypeVector", "OpTypeMatrix"):
            return self.components(words[0][1:]) * int(words[1])
        if line.opcode == "OpTypeArray":
            return self.components(words[0][1:]) * self.constants[words[1][1:]]
        if line.opcode == "OpTypeStruct":
            return sum(self.components(each) for each in ID.findall(line.rest))
        return 0 if line.opcode in ("OpTypeVoid", "OpTypeRuntimeArray") else 1

    def blocks(self, function: str) -> dict[str, Block]:
        """The blocks that the first one reaches."""
        every: dict[str, Block] = {}
        for line in self.functions[function]:
            if line.opcode == "OpLabel":
                block = every[line.result or ""] = Block(line.result or "")
            elif line.opcode != "OpFunctionParameter":
                block.lines.append(line)
        met = list(every)[:1]
        for label in met:
            met += [each for each in dict.fromkeys(every[label].successors) if each not in met]
        return {label: every[label] for label in met}

    def peak(self, function: str) -> tuple[int, int]:
        """The most live values and components of a function that calls nothing."""
        blocks = self.blocks(function)
        values = [line.result for line in self.functions[function] if line.opcode == "OpFunctionParameter"]
        values += [
            line.result
            for block in blocks.values()
            for line in block.lines
            if line.result and line.opcode != "OpVariable"
        ]
        weights = {id: self.components(self.value_types[id]) for id in values if id in self.value_types}
        live: dict[tuple[str, int], list[int]] = {}
        for id, weight in weights.items():
            if weight:
                for point in self._points(blocks, id):
                    live.setdefault(point, []).append(weight)
        return max(map(len, live.values()), default=0), max(map(sum, live.values()), default=0)

    def _points(self, blocks: dict[str, Block], id: str) -> Iterator[tuple[str, int]]:
        """The points, (block, index of the line that follows), from which a use is reached before the definition:
        backwards from each use. OpPhi uses its operands at the end of their predecessors and is made at its own."""
        before: dict[str, list[str]] = {label: [] for label in blocks}
        for block in blocks.values():
            for label in set(block.successors):
                before[label].append(block.label)
        seen: set[tuple[str, int]] = set()
        pending: list[tuple[str, int]] = []  # points at which it is live
        for block in blocks.values():
            for at, line in enumerate(block.lines):
                if line.opcode == "OpPhi":
                    pending += [
                        (parent, len(blocks[parent].lines))
                        for value, parent in zip(line.ids[::2], line.ids[1::2], strict=True)
                        if value == id and parent in blocks
                    ]
                elif id in line.ids and self.class_of(line) is not None:
                    pending.append((block.label, at))
        while pending:
            label, at = pending.pop()
            if (label, at) in seen:
                continue
            seen.add((label, at))
            lines = blocks[label].lines
            if at < len(lines) and lines[at].opcode != "OpPhi":
                yield label, at
            if at:
                if lines[at - 1].result != id:
                    pending.append((label, at - 1))
            else:
                pending += [(parent, len(blocks[parent].lines)) for parent in before[label]]
