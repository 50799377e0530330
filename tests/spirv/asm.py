"""A small assembler for the tests: the text of spirv-as, as much of it as they need, to a module's bytes.

One instruction a line, ``%name`` for ids, enumerants by name, ``;`` for comments. It reads the grammar's tables and
shares no code with what is tested.
"""

from __future__ import annotations

import shlex
import struct
from collections.abc import Iterable

from shaderstat.registry import spirv as registry

MAGIC = 0x07230203


class _Assembler:
    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.floats: set[int] = set()
        self.widths: dict[int, int] = {}

    def id(self, text: str) -> int:
        assert text.startswith("%"), f"{text} is no id"
        return self.ids.setdefault(text, len(self.ids) + 1)

    def line(self, text: str) -> list[int]:
        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split, lexer.commenters, lexer.quotes = True, ";", '"'
        raw = text.split('"')[1] if '"' in text else None
        tokens = list(lexer)
        result = tokens.pop(0) if len(tokens) > 1 and tokens[1] == "=" else None
        if result is not None:
            tokens.pop(0)
        name = tokens.pop(0)
        opcode = registry.opcode(name)
        assert opcode is not None, f"no instruction {name}"
        grammar = registry.instruction(opcode)
        assert grammar is not None
        words: list[int] = []
        pending = list(grammar.operands)
        while pending:
            kind, quantifier = pending[0]
            if quantifier != "*":
                pending.pop(0)
            if kind == "IdResult":
                assert result is not None, text
                words.append(self.id(result))
                continue
            if not tokens:
                assert quantifier, f"{text}: no {kind}"
                break
            token = tokens.pop(0)
            if kind == "LiteralString":
                octets = (raw if raw is not None else token).encode() + b"\0"
                octets += b"\0" * (-len(octets) % 4)
                words += struct.unpack(f"<{len(octets) // 4}I", octets)
            elif kind == "LiteralContextDependentNumber":
                words += self.number(words[0], token)
            elif kind == "LiteralSpecConstantOpInteger":
                inner = registry.opcode("Op" + token)
                assert inner is not None, token
                words.append(inner)
                found = registry.instruction(inner)
                assert found is not None
                pending = [each for each in found.operands if each[0] not in ("IdResultType", "IdResult")]
            elif kind.startswith("PairIdRef"):
                words.append(self.id(token))
                second = tokens.pop(0)
                words.append(self.id(second) if kind == "PairIdRefIdRef" else int(second))
            elif kind == "PairLiteralIntegerIdRef":
                words += [int(token), self.id(tokens.pop(0))]
            elif token.startswith("%"):
                words.append(self.id(token))
            elif token.lstrip("-").isdigit() or token.startswith("0x"):
                words.append(int(token, 0) & 0xFFFFFFFF)
            else:
                value = 0
                for part in token.split("|"):
                    bit = registry.value(kind, part)
                    assert bit is not None, f"{kind} has no {part}"
                    value |= bit
                words.append(value)
                enumerant = registry.enumerant(kind, value)
                if enumerant:
                    pending = [(each, "") for each in enumerant.parameters] + pending
        assert not tokens, f"{text}: {tokens} left over"
        if name in ("OpTypeFloat", "OpTypeInt"):
            self.widths[words[0]] = words[1]
            if name == "OpTypeFloat":
                self.floats.add(words[0])
        return [len(words) + 1 << 16 | opcode, *words]

    def number(self, type: int, text: str) -> list[int]:
        width = self.widths[type]
        if type in self.floats:
            form, size = {16: ("e", 2), 32: ("f", 4), 64: ("d", 8)}[width]
            bits = int.from_bytes(struct.pack("<" + form, float(text)), "little")
        else:
            bits, size = int(text, 0) & (1 << max(width, 32)) - 1, width // 8
        return [bits >> shift & 0xFFFFFFFF for shift in range(0, max(size * 8, 32), 32)]


def assemble(text: str, *, version: tuple[int, int] = (1, 0), extra: Iterable[int] = ()) -> bytes:
    """The bytes of a module, little-endian; `extra` words are put at its end."""
    assembler = _Assembler()
    code: list[int] = []
    for line in text.splitlines():
        if line.split(";")[0].strip():
            code += assembler.line(line.strip())
    code += extra
    header = [MAGIC, version[0] << 16 | version[1] << 8, 0, max(len(assembler.ids) + 1, 64), 0]
    return struct.pack(f"<{len(header) + len(code)}I", *header, *code)


def module(
    declarations: str = "",
    *,
    stage: str = "GLCompute",
    interface: str = "",
    modes: str = "OpExecutionMode %main LocalSize 1 1 1",
    annotations: str = "",
    body: str = "",
    functions: str = "",
    capabilities: str = "OpCapability Shader",
    version: tuple[int, int] = (1, 0),
) -> bytes:
    """A module with one entry point ``main`` whose parts are given as text; %void, %void_function, %float, %int, %uint
    and %bool are there. Without a workgroup size for other stages than compute's."""
    if stage not in ("GLCompute", "MeshEXT", "TaskEXT") and modes == "OpExecutionMode %main LocalSize 1 1 1":
        modes = "OpExecutionMode %main OriginUpperLeft" if stage == "Fragment" else ""
    return assemble(
        f"""
        {capabilities}
        OpMemoryModel Logical GLSL450
        OpEntryPoint {stage} %main "main" {interface}
        {modes}
        {annotations}
        %void = OpTypeVoid
        %void_function = OpTypeFunction %void
        %bool = OpTypeBool
        %float = OpTypeFloat 32
        %int = OpTypeInt 32 1
        %uint = OpTypeInt 32 0
        {declarations}
        %main = OpFunction %void None %void_function
        %main_label = OpLabel
        {body}
        OpReturn
        OpFunctionEnd
        {functions}
        """,
        version=version,
    )
