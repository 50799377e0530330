"""Which variables a module compares with: images and samplers of shadow maps.

Compilers mark the type of such an image, or don't (DXC: Depth 2, "no indication"), and a sampler's never says it; the
instructions do.
"""

from __future__ import annotations

from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import Words

_LOAD, _SAMPLED_IMAGE, _IMAGE, _COPY = 61, 86, 100, 83
_CHAINS = frozenset((65, 66, 67, 70))
# OpImage…Dref…, sparse ones and OpImageDrefGather included; the sampled image is their third word.
_COMPARISONS = frozenset((89, 90, 93, 94, 97, 307, 308, 311, 312, 315))
_FUNCTION, _PARAMETER, _CALL = 54, 55, 57


def compared(words: Words) -> frozenset[int]:
    """The variables behind the operands of depth comparisons, through calls as well."""
    module = parse(words)
    code = module.code
    origin: dict[int, set[int]] = {id: {id} for id in module.variables}
    sampled: list[int] = []
    parameters: dict[int, list[int]] = {}
    calls: list[tuple[int, tuple[int, ...]]] = []
    for function in module.functions.values():
        index = function.index
        its = parameters[function.id] = []
        while index < function.end:
            head = code[index]
            opcode, count = head & 0xFFFF, head >> 16
            if opcode == _LOAD or opcode in _CHAINS or opcode in (_IMAGE, _COPY):
                origin.setdefault(code[index + 2], set()).add(code[index + 3])
            elif opcode == _SAMPLED_IMAGE:
                origin.setdefault(code[index + 2], set()).update((code[index + 3], code[index + 4]))
            elif opcode in _COMPARISONS:
                sampled.append(code[index + 3])
            elif opcode == _PARAMETER:
                its.append(code[index + 2])
            elif opcode == _CALL:
                calls.append((code[index + 3], tuple(code[index + 4 : index + count])))
            index += count
    if not sampled:
        return frozenset()
    for callee, arguments in calls:
        for parameter, argument in zip(parameters.get(callee, ()), arguments, strict=False):
            origin.setdefault(parameter, set()).add(argument)
    found: set[int] = set()
    pending, seen = sampled, set(sampled)
    while pending:
        id = pending.pop()
        if id in module.variables:
            found.add(id)
        fresh = origin.get(id, set()) - seen
        seen |= fresh
        pending.extend(fresh)
    return frozenset(found)
