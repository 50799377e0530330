"""The whole word stream, once: what is declared, decorated and called, with every instruction's shape checked.

No recursion, and no work that grows faster than the file: what a hostile module can ask for is refused by number
(``limit/…``) where the SPIR-V specification or common sense has a limit. What the tables don't know is skipped and
recorded, since a good module may be newer than this package; what the validator alone can tell is left to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from shaderstat.errors import InvalidSpirv
from shaderstat.registry import spirv as registry
from shaderstat.spirv import words as stream
from shaderstat.spirv.module import Entry, Function, Module, invalid
from shaderstat.spirv.words import HEADER_WORDS, KNOWN_VERSION, Words, broken_instruction

# Decorations copied by OpGroupDecorate, in all: a group of thousands for thousands of targets is no shader.
MAX_GROUP_DECORATIONS = 1_000_000


# ── What the loop does with an instruction ────────────────────────────────────────────────────────────────────────

_SKIP, _USES, _DECLARES, _SPECIAL = range(4)
# Groups whose operands are never pointers to module-scope variables.
_WITHOUT_POINTERS = ("Arithmetic", "Bit", "Relational_and_Logical", "Derivative", "Debug")
_SELECT, _UNDEF, _EXTENDED_INSTRUCTION = 169, 1, 12
_LOAD, _STORE, _CALL, _LABEL, _FUNCTION, _FUNCTION_END, _VARIABLE = 61, 62, 57, 248, 54, 56, 59
_UNTYPED_VARIABLE = 4418
_ACCESS_CHAINS = frozenset((65, 66, 67, 70))
_NAME, _MEMBER_NAME, _STRING, _DECORATE, _MEMBER_DECORATE = 5, 6, 7, 71, 72


# Operands that are one word each; masks and enumerations are where none of their values is followed by more.
_ONE_WORD = registry.ID_KINDS | {"LiteralInteger", "LiteralExtInstInteger"}
_ANY = 0xFFFF


def _is_one_word(kind: str) -> bool:
    return kind in _ONE_WORD or (
        bool(registry.enumerants(kind)) and not any(each.parameters for each in registry.enumerants(kind).values())
    )


class _Shapes(dict[int, tuple[int, int, int, int]]):
    """opcode → (words that it needs, words that it may have, offset of its result or 0, what the loop does with it)."""

    def __missing__(self, opcode: int) -> tuple[int, int, int, int]:
        grammar = registry.instruction(opcode)
        if grammar is None:
            shape = (1, _ANY, 0, _SPECIAL)
        else:
            action = _USES
            if grammar.group in ("Type-Declaration", "Constant-Creation") or opcode == _UNDEF:
                action = _DECLARES
            elif opcode in (_FUNCTION, _VARIABLE, _UNTYPED_VARIABLE):
                action = _SPECIAL
            elif opcode == _EXTENDED_INSTRUCTION:
                action = _USES  # modf, frexp and the interpolations take pointers
            elif grammar.group in ("Mode-Setting", "Extension", "Annotation", "Debug"):
                action = _SPECIAL if opcode in _HANDLERS else _SKIP
            elif grammar.group in _WITHOUT_POINTERS and opcode != _SELECT:
                action = _SKIP
            needed = 1 + sum(quantifier == "" for _, quantifier in grammar.operands)
            exact = all(not quantifier and _is_one_word(kind) for kind, quantifier in grammar.operands)
            shape = (needed, needed if exact else _ANY, registry.result_words(opcode)[1], action)
        self[opcode] = shape
        return shape


# Modules that were read last, by their words: one is looked at from several sides, and variants and pipelines that
# share a stage follow each other.
_RECENT: dict[tuple[bool, bytes], Module] = {}
_MOST_RECENT, _MOST_WORDS = 8, 1 << 16


def parse(words: Words, *, functions: bool = True) -> Module:
    """Read all words. Nobody changes what this gives: it is given again.

    Args:
        functions: False to stop where they begin: enough for who asks for types and interfaces alone.

    Raises:
        InvalidSpirv: ``spirv/zero-word-count``, ``spirv/truncated``, ``spirv/two-modules``, ``spirv/string``,
            ``spirv/string-encoding``, ``spirv/short-instruction``, ``spirv/long-instruction``,
            ``spirv/id-out-of-bounds``, ``spirv/duplicate-id``, ``spirv/undefined-id``,
            ``spirv/nested-function``, ``spirv/decoration-group``, ``spirv/no-body`` or
            ``limit/decorations``.
    """
    if not functions or len(words.data) > _MOST_WORDS:
        return _parse(words, functions)
    key = words.swapped, words.tobytes()
    module = _RECENT.get(key)
    if module is None:
        module = _parse(words, functions)
        if len(_RECENT) >= _MOST_RECENT:
            del _RECENT[next(iter(_RECENT))]
        _RECENT[key] = module
    return module


def _parse(words: Words, functions: bool) -> Module:
    code = words.data.tolist()
    module = Module(words, code, stream.little_endian(words.data))
    definitions, decorations, names = module.definitions, module.decorations, module.names
    member_decorations, member_names = module.member_decorations, module.member_names
    declare = module.declarations.append
    shapes, bound, end = _SHAPES, words.bound, len(code)
    groups: list[int] = []
    index = HEADER_WORDS
    while index < end:
        head = code[index]
        opcode = head & 0xFFFF
        after = index + (head >> 16)
        if after == index or after > end:
            raise broken_instruction(words.data, index)
        needed, most, result, action = shapes[opcode]
        if not needed <= after - index <= most:
            _check_length(module, opcode, index, after - index, needed)
        if result:
            id = code[index + result]
            if id in definitions or not 0 < id < bound:
                raise _bad_result(module, id, index, bound)
            definitions[id] = index
        if opcode == _NAME or opcode == _MEMBER_NAME:
            # A closed string's last byte is NUL where the padding is right; else look closer.
            if code[after - 1] >> 24:
                stream.string(words.data, index + (2 if opcode == _NAME else 3), after)
            if opcode == _NAME:
                names[code[index + 1]] = index
            else:
                member_names[code[index + 1], code[index + 2]] = index
        elif opcode == _DECORATE:
            decoration = code[index + 2]
            if after - index == 3 and decoration in _WITH_OPERAND:
                raise _short(opcode, index, 3, 4)
            target = decorations.get(code[index + 1])
            if target is None:
                decorations[code[index + 1]] = {decoration: tuple(code[index + 3 : after])}
            else:
                target[decoration] = tuple(code[index + 3 : after])
        elif opcode == _MEMBER_DECORATE:
            decoration = code[index + 3]
            if after - index == 4 and decoration in _WITH_OPERAND:
                raise _short(opcode, index, 4, 5)
            members = member_decorations.setdefault(code[index + 1], {})
            members.setdefault(code[index + 2], {})[decoration] = tuple(code[index + 4 : after])
        elif action == _DECLARES:
            declare(index)
        elif action == _SPECIAL:
            if opcode == _FUNCTION:
                if not functions:
                    break
                index = _function(module, index)
                continue
            handler = _HANDLERS.get(opcode)
            if handler is None:
                module.unknown_opcodes.setdefault(opcode, index)
            elif handler is _group:
                groups.append(index)
            else:
                handler(module, index, after)
        index = after
    _finish(module, groups)
    if functions and not module.unknown_opcodes:
        _check_functions(module)
    return module


def _function(module: Module, start: int) -> int:
    """Read the function that begins at word `start`; the word after its end."""
    words, code, definitions, variables = module.words, module.code, module.definitions, module.variables
    shapes, bound, end = _SHAPES, words.bound, len(code)
    function = Function(code[start + 2], start)
    uses = function.uses
    without_variables = variables.keys().isdisjoint
    index = start + (code[start] >> 16)
    while index < end:
        head = code[index]
        opcode = head & 0xFFFF
        after = index + (head >> 16)
        if after == index or after > end:
            raise broken_instruction(words.data, index)
        needed, most, result, action = shapes[opcode]
        if not needed <= after - index <= most:
            _check_length(module, opcode, index, after - index, needed)
        if result:
            id = code[index + result]
            if id in definitions or not 0 < id < bound:
                raise _bad_result(module, id, index, bound)
            definitions[id] = index
        # Four instructions make nearly all references; for the rest see whether a variable's number occurs at all.
        if opcode == _LOAD or opcode in _ACCESS_CHAINS:
            if code[index + 3] in variables:
                uses.add(code[index + 3])
        elif opcode == _STORE:
            if code[index + 1] in variables:
                uses.add(code[index + 1])
            if code[index + 2] in variables:
                uses.add(code[index + 2])
        elif action == _USES:
            if opcode == _CALL:
                function.calls.setdefault(code[index + 3], index)
            elif opcode == _LABEL:
                function.has_body = True
            elif opcode == _FUNCTION_END:
                function.end = after
                module.functions[function.id] = function
                return after
            if not without_variables(code[index + 1 : after]):
                uses.update(id for id in registry.used_ids(code, index, after - index) if id in variables)
        elif action == _SPECIAL:
            if opcode == _FUNCTION:
                raise invalid("spirv/nested-function", f"OpFunction inside function %{function.id}", index)
            if opcode == _VARIABLE:
                # An initialiser may be a variable of the module.
                uses.update(word for word in code[index + 4 : after] if word in variables)
            elif registry.instruction(opcode) is None:
                module.unknown_opcodes.setdefault(opcode, index)
                # Which of its words are ids isn't known: a layout may declare too much, never too little.
                uses.update(word for word in code[index + 1 : after] if word in variables)
        index = after
    raise InvalidSpirv(
        "spirv/truncated",
        f"ends inside function %{function.id}, which begins at word {start} (byte {start * 4}): no OpFunctionEnd",
        offset=end * 4,
        hint="the file is cut short or damaged: write it again",
    )


def _finish(module: Module, groups: list[int]) -> None:
    """What can be told only when all has been read."""
    module.newer = _is_newer(module)
    _apply_groups(module, groups)


def _is_newer(module: Module) -> bool:
    return (
        module.words.version > KNOWN_VERSION
        or any(registry.enumerant("Capability", each) is None for each in module.capabilities)
        or any(not registry.knows_extension(each) for each in module.extensions)
    )


def _check_functions(module: Module) -> None:
    """Every call and every entry point leads to a function."""
    for function in module.functions.values():
        for callee, index in function.calls.items():
            if callee not in module.functions:
                raise invalid("spirv/undefined-id", f"a call of %{callee}, which is no function", index)
    for entry in module.entries:
        body = module.functions.get(entry.function)
        if body is None:
            raise invalid(
                "spirv/undefined-id",
                f"entry point {entry.name!r} is function %{entry.function}, which is not there",
                entry.index,
            )
        if not body.has_body:
            raise invalid("spirv/no-body", f"the function of entry point {entry.name!r} has no body", body.index)


def _apply_groups(module: Module, groups: list[int]) -> None:
    """OpGroupDecorate and OpGroupMemberDecorate (deprecated, and still written): copy what the group has."""
    code, copied = module.code, 0
    for index in groups:
        after = index + (code[index] >> 16)
        group = code[index + 1]
        given = module.decorations.get(group, {})
        by_member = code[index] & 0xFFFF == _GROUP_MEMBER_DECORATE
        targets = range(index + 2, after - 1, 2) if by_member else range(index + 2, after)
        copied += len(given) * len(targets)
        if copied > MAX_GROUP_DECORATIONS:
            raise invalid("limit/decorations", "decoration groups of more than 1,000,000 decorations in all", index)
        for at in targets:
            definition = module.definitions.get(code[at], 0)
            if definition and code[definition] & 0xFFFF == _DECORATION_GROUP:
                raise invalid("spirv/decoration-group", f"decoration group %{code[at]} is decorated by a group", index)
            if by_member:
                members = module.member_decorations.setdefault(code[at], {})
                members.setdefault(code[at + 1], {}).update(given)
            else:
                module.decorations.setdefault(code[at], {}).update(given)


# ── Instructions that are met seldom, one function each: (module, first word, word after the last) ────────────────


def _capability(module: Module, index: int, after: int) -> None:
    module.capabilities.append(module.code[index + 1])


def _extension(module: Module, index: int, after: int) -> None:
    module.extensions.append(stream.string(module.words.data, index + 1, after)[0])


def _import(module: Module, index: int, after: int) -> None:
    module.imports[module.code[index + 1]] = stream.string(module.words.data, index + 2, after)[0]


def _string(module: Module, index: int, after: int) -> None:
    stream.string(module.words.data, index + 2, after)  # only to see it closed


def _memory_model(module: Module, index: int, after: int) -> None:
    module.addressing, module.memory = module.code[index + 1], module.code[index + 2]


def _entry_point(module: Module, index: int, after: int) -> None:
    name, first = stream.string(module.words.data, index + 3, after, exact=True)
    interface = tuple(dict.fromkeys(module.code[first:after]))
    module.entries.append(Entry(module.code[index + 1], module.code[index + 2], name, interface, index))


def _execution_mode(module: Module, index: int, after: int) -> None:
    modes = module.modes.setdefault(module.code[index + 1], {})
    modes[module.code[index + 2]] = tuple(module.code[index + 3 : after])


def _execution_mode_id(module: Module, index: int, after: int) -> None:
    modes = module.mode_ids.setdefault(module.code[index + 1], {})
    modes[module.code[index + 2]] = tuple(module.code[index + 3 : after])


def _decorate_id(module: Module, index: int, after: int) -> None:
    module.decorations.setdefault(module.code[index + 1], {})[module.code[index + 2]] = tuple(
        module.code[index + 3 : after]
    )


def _member_decorate_string(module: Module, index: int, after: int) -> None:
    members = module.member_decorations.setdefault(module.code[index + 1], {})
    members.setdefault(module.code[index + 2], {})[module.code[index + 3]] = tuple(module.code[index + 4 : after])


def _variable(module: Module, index: int, after: int) -> None:
    module.variables[module.code[index + 2]] = index


def _group(module: Module, index: int, after: int) -> None:
    """Kept for `_apply_groups`: a group's own decorations may stand anywhere before it."""


_DECORATION_GROUP, _GROUP_MEMBER_DECORATE = 73, 75
_HANDLERS = {
    _STRING: _string,
    10: _extension,
    11: _import,
    14: _memory_model,
    15: _entry_point,
    16: _execution_mode,
    17: _capability,
    _VARIABLE: _variable,
    74: _group,
    _GROUP_MEMBER_DECORATE: _group,
    331: _execution_mode_id,
    332: _decorate_id,
    _UNTYPED_VARIABLE: _variable,
    5632: _decorate_id,  # OpDecorateString: the words of the string are kept as they are
    5633: _member_decorate_string,
}
# Decorations that reflection reads an operand of: SpecId, ArrayStride, MatrixStride, BuiltIn, Location, Component,
# Index, Binding, DescriptorSet, Offset, InputAttachmentIndex.
_WITH_OPERAND: Mapping[int, None] = dict.fromkeys((1, 6, 7, 11, 30, 31, 32, 33, 34, 35, 43))
_SHAPES = _Shapes()


def _check_length(module: Module, opcode: int, index: int, count: int, needed: int) -> None:
    """Refuse an instruction of too few words, or of more than the grammar has a place for: there a damaged file has
    gone out of step. What is newer than the grammar may have been given more."""
    if count < needed:
        raise _short(opcode, index, count, needed)
    if not _is_newer(module):
        name = registry.opcode_name(opcode)
        raise invalid("spirv/long-instruction", f"{name} of {count} words, where it has {needed}", index)


def _short(opcode: int, index: int, count: int, needed: int) -> InvalidSpirv:
    name = registry.opcode_name(opcode)
    return invalid("spirv/short-instruction", f"{name} of {count} words, where it needs {needed}", index)


def _bad_result(module: Module, id: int, index: int, bound: int) -> InvalidSpirv:
    name = registry.opcode_name(module.code[index] & 0xFFFF)
    if not 0 < id < bound:
        return invalid("spirv/id-out-of-bounds", f"{name} makes id {id}: ids are 1 to {bound - 1}", index)
    first = module.definitions[id]
    return invalid("spirv/duplicate-id", f"{name} makes id {id}, which word {first} made already", index)
