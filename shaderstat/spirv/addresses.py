"""Whether a module makes pointers of numbers: addresses that an application wrote into its buffers as such."""

from __future__ import annotations

from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import Words

_TYPE_POINTER, _CONVERT_TO_POINTER, _BITCAST = 32, 120, 124


def makes_addresses(words: Words) -> bool:
    """Whether an instruction of any function turns a number into a pointer."""
    module = parse(words)
    code, definitions = module.code, module.definitions
    for function in module.functions.values():
        index = function.index
        while index < function.end:
            opcode = code[index] & 0xFFFF
            if opcode == _CONVERT_TO_POINTER:
                return True
            if opcode == _BITCAST and code[definitions.get(code[index + 1], 0)] & 0xFFFF == _TYPE_POINTER:
                source = definitions.get(code[index + 3])
                type = definitions.get(code[source + 1]) if source is not None else None
                if type is None or code[type] & 0xFFFF != _TYPE_POINTER:
                    return True
            index += code[index] >> 16
    return False
