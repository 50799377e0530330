"""The first look at a module: entry points and the locations of their interfaces, enough to name, pair and count.

It stops as soon as every interface variable has been met, long before the functions, and looks at nothing else; what
is wrong beyond that place is found by `shaderstat.spirv.parse`.
"""

from __future__ import annotations

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.facts import EXECUTION_MODELS, Scan, ScannedEntry
from shaderstat.spirv.words import HEADER_WORDS, broken_instruction, load, string

# Opcodes by their SPIR-V names, less "Op"; the ones that the scan looks at, each with the words that it needs.
_CAPABILITY, _ENTRY_POINT, _DECORATE, _MEMBER_DECORATE = 17, 15, 71, 72
_TYPE_ARRAY, _TYPE_POINTER, _VARIABLE, _FUNCTION = 28, 32, 59, 54
_MINIMUM = {
    _CAPABILITY: 2,
    _ENTRY_POINT: 4,
    _DECORATE: 3,
    _MEMBER_DECORATE: 4,
    _TYPE_ARRAY: 4,
    _TYPE_POINTER: 4,
    _VARIABLE: 4,
    _FUNCTION: 5,
}
_LOCATION = 30
_KERNEL = 6
_STORAGE_INPUT, _STORAGE_OUTPUT = 1, 3
_SMALL = 8192  # words


def scan(data: bytes) -> Scan:
    """Entry points, capabilities and interface locations of the module in `data`, a file as read.

    Raises:
        InvalidSpirv: with the codes of `shaderstat.spirv.words.load`, ``spirv/zero-word-count``, ``spirv/truncated``,
            ``spirv/two-modules``, ``spirv/short-instruction``, ``spirv/string`` or ``spirv/string-encoding``.
    """
    words = load(data)
    # A list is read twice as fast, but made of all words: of a large module only the beginning is looked at.
    code = words.data.tolist() if len(words.data) < _SMALL else words.data
    capabilities: list[int] = []
    entries: list[tuple[int, str, int, int]] = []  # model, name, first and last word of the interface's ids
    locations: dict[int, list[int]] = {}
    element: dict[int, int] = {}  # pointee or array element, by type
    variables: dict[int, tuple[int, int]] = {}  # type, storage class
    awaited: set[int] = set()  # interface variables not met so far
    index, end = HEADER_WORDS, len(code)
    minimum = _MINIMUM
    while index < end:
        head = code[index]
        opcode = head & 0xFFFF
        after = index + (head >> 16)
        if after == index or after > end:
            raise broken_instruction(words.data, index)
        if opcode in minimum:
            if after - index < minimum[opcode]:
                raise _short(opcode, index, after - index)
            if opcode == _DECORATE:
                if code[index + 2] == _LOCATION and after - index > 3:
                    locations.setdefault(code[index + 1], []).append(code[index + 3])
            elif opcode == _MEMBER_DECORATE:
                if code[index + 3] == _LOCATION and after - index > 4:
                    locations.setdefault(code[index + 1], []).append(code[index + 4])
            elif opcode == _TYPE_POINTER:
                element[code[index + 1]] = code[index + 3]
            elif opcode == _TYPE_ARRAY:
                element[code[index + 1]] = code[index + 2]
            elif opcode == _VARIABLE:
                variables[code[index + 2]] = code[index + 1], code[index + 3]
                awaited.discard(code[index + 2])
                if not awaited:
                    break
            elif opcode == _CAPABILITY:
                capabilities.append(code[index + 1])
            elif opcode == _ENTRY_POINT:
                name, first = string(words.data, index + 3, after, exact=True)
                entries.append((code[index + 1], name, first, after))
                awaited.update(code[first:after])
            else:
                break
        index = after

    def located(first: int, last: int) -> tuple[frozenset[int], frozenset[int]]:
        found: dict[int, set[int]] = {_STORAGE_INPUT: set(), _STORAGE_OUTPUT: set()}
        for variable in code[first:last]:
            type_id, storage_class = variables.get(variable, (0, -1))
            its = found.get(storage_class)
            if its is None:
                continue
            # the variable itself; pointer → array (per vertex) → block; an array of itself must not keep us here
            for id in (variable, one := element.get(type_id, 0), two := element.get(one, 0), element.get(two, 0)):
                if id in locations:
                    its.update(locations[id])
        return frozenset(found[_STORAGE_INPUT]), frozenset(found[_STORAGE_OUTPUT])

    return Scan(
        version=words.version,
        generator=words.generator,
        entries=tuple(ScannedEntry(name, _stage(model), *located(first, last)) for model, name, first, last in entries),
        capabilities=tuple(capabilities),
    )


def _stage(model: int) -> str:
    return "kernel" if model == _KERNEL else EXECUTION_MODELS.get(model, f"model {model}")


def _short(opcode: int, index: int, count: int) -> InvalidSpirv:
    from shaderstat.registry.spirv import opcode_name

    return InvalidSpirv(
        "spirv/short-instruction",
        f"{opcode_name(opcode)} of {count} words at word {index} (byte {index * 4}): it needs {_MINIMUM[opcode]}",
        offset=index * 4,
    )
