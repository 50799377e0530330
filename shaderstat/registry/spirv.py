"""SPIR-V's names and numbers, as the grammar has them: instructions, operand kinds, enumerants and what they need.

Numbers that the tables don't know are no error: a module may be newer than this package.

>>> opcode_name(71)
'OpDecorate'
>>> name("Capability", 22), value("Capability", "Int16")
('Int16', 22)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from shaderstat.registry import _generated_spirv as tables

# Operand kinds whose word is an <id>. The first two are what an instruction makes, the others what it uses.
ID_KINDS = frozenset({"IdResultType", "IdResult", "IdRef", "IdScope", "IdMemorySemantics"})

# What `operands` says of words that the grammar has no place for.
UNKNOWN_KIND = "Unknown"


class Instruction(NamedTuple):
    """An instruction's grammar.

    Attributes:
        opcode, name: 71, ``OpDecorate``.
        group: the grammar's class: ``Arithmetic``, ``Control-Flow``, ``Image``, …
        operands: (kind, quantifier) of each in words order; the quantifier is ``""``, ``"?"`` or ``"*"``.
        capabilities: one of them is needed (their implied ones aside); empty where none is.
        extensions: one of them is needed below `version`.
        version: the first version that has it without an extension; None where none has.
    """

    opcode: int
    name: str
    group: str
    operands: tuple[tuple[str, str], ...]
    capabilities: tuple[str, ...]
    extensions: tuple[str, ...]
    version: tuple[int, int] | None


class Enumerant(NamedTuple):
    """A value of an enumeration, or a bit of a mask: as `Instruction`; `parameters` are the kinds of the operands that
    follow it."""

    value: int
    name: str
    parameters: tuple[str, ...]
    capabilities: tuple[str, ...]
    extensions: tuple[str, ...]
    version: tuple[int, int] | None
    aliases: tuple[str, ...]


_INSTRUCTIONS = {entry[0]: entry for entry in tables.INSTRUCTIONS}
_KINDS = {entry[0]: entry for entry in tables.KINDS}


def opcode_name(opcode: int) -> str:
    """``OpDecorate``; ``opcode 1234`` where the tables don't know it."""
    entry = _INSTRUCTIONS.get(opcode)
    return entry[1] if entry else f"opcode {opcode}"


@cache
def opcode(name: str) -> int | None:
    """The number of an instruction's name or alias; None where the tables don't know it."""
    for entry in tables.INSTRUCTIONS:
        if entry[1] == name:
            return entry[0]
    return dict(tables.INSTRUCTION_ALIASES).get(name)


@cache
def instruction(opcode: int) -> Instruction | None:
    """The grammar of an instruction; None where the tables don't know it."""
    entry = _INSTRUCTIONS.get(opcode)
    if entry is None:
        return None
    number, name, group, kinds, capabilities, extensions, version = entry
    operands = tuple((kind.rstrip("?*"), kind[-1] if kind[-1] in "?*" else "") for kind in kinds.split())
    return Instruction(
        number, name, group, operands, tuple(capabilities.split()), tuple(extensions.split()), _version(version)
    )


@cache
def enumerants(kind: str) -> dict[int, Enumerant]:
    """All enumerants of an operand kind such as ``Capability``, by value; empty for a kind that has none."""
    entry = _KINDS.get(kind)
    return {
        each[0]: Enumerant(
            each[0],
            each[1],
            tuple(each[2].split()),
            tuple(each[3].split()),
            tuple(each[4].split()),
            _version(each[5]),
            tuple(each[6].split()),
        )
        for each in (entry[3] if entry else ())
    }


def enumerant(kind: str, value: int) -> Enumerant | None:
    """One enumerant; None where the tables don't know it."""
    return enumerants(kind).get(value)


def name(kind: str, value: int) -> str:
    """``name("Dim", 5)`` is ``Buffer``; masks join their bits with ``|``; unknown values are ``Dim 99`` or ``0x80``."""
    entry = _KINDS.get(kind)
    known = enumerants(kind)
    if value in known:
        return known[value].name
    if entry is None or entry[1] != "BitEnum":
        return f"{kind} {value}"
    bits = [known[1 << bit].name if 1 << bit in known else f"0x{1 << bit:x}" for bit in range(32) if value >> bit & 1]
    return "|".join(bits) or "None"


@cache
def _values(kind: str) -> dict[str, int]:
    return {text: each.value for each in enumerants(kind).values() for text in (each.name, *each.aliases)}


def value(kind: str, name: str) -> int | None:
    """The number of an enumerant's name or alias; None where the tables don't know it."""
    return _values(kind).get(name)


@cache
def _extensions() -> frozenset[str]:
    needs = [entry[5] for entry in tables.INSTRUCTIONS]
    needs += [each[4] for entry in tables.KINDS for each in entry[3]]
    return frozenset(name for names in needs for name in names.split())


def knows_extension(name: str) -> bool:
    """Whether the tables hold what an extension brings. Extensions that bring no number (SPV_KHR_non_semantic_info)
    are unknown to them."""
    return name in _extensions()


def _version(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor)


# ── Operands of an instruction in a word stream ───────────────────────────────────────────────────────────────────


@cache
def result_words(opcode: int) -> tuple[int, int]:
    """Where an instruction has its result type and its result: word offsets from its start, 0 for "has none".

    >>> result_words(61), result_words(19), result_words(62)
    ((1, 2), (0, 1), (0, 0))
    """
    entry = _INSTRUCTIONS.get(opcode)
    if entry is None:
        return 0, 0
    if entry[3].startswith("IdResultType"):
        return 1, 2
    return 0, 1 if entry[3].startswith("IdResult") else 0


@cache
def _plain(opcode: int) -> tuple[tuple[int, ...], int] | None:
    """For an instruction of single-word operands at fixed places: the offsets of the ids that it uses (no results),
    and the offset from which all words are such ids (0: none). None where the words must be looked at."""
    entry = instruction(opcode)
    if entry is None:
        return None
    offsets: list[int] = []
    for offset, (kind, quantifier) in enumerate(entry.operands, 1):
        if kind in ("IdResultType", "IdResult"):
            continue
        if quantifier == "*":
            return (tuple(offsets), offset) if kind == "IdRef" and offset == len(entry.operands) else None
        if kind in ID_KINDS:
            offsets.append(offset)
        elif kind in _WIDE_KINDS or any(each.parameters for each in enumerants(kind).values()):
            return None
    return tuple(offsets), 0


# Literals whose size must be read from the words.
_WIDE_KINDS = frozenset(
    {
        "LiteralString",
        "LiteralContextDependentNumber",
        "LiteralSpecConstantOpInteger",
        "PairLiteralIntegerIdRef",
        "PairIdRefLiteralInteger",
        "PairIdRefIdRef",
    }
)


def used_ids(words: Sequence[int], index: int, count: int, literal_words: int = 1) -> list[int]:
    """The ids that the instruction at word `index`, `count` words long, uses, in words order: operands alone, neither
    its result type nor its result. `literal_words` as in `operands`."""
    plain = _plain(words[index] & 0xFFFF)
    if plain is None:
        return [
            value
            for kind, _, value in operands(words, index, count, literal_words)
            if kind in ID_KINDS and kind not in ("IdResultType", "IdResult")
        ]
    offsets, rest = plain
    found = [words[index + offset] for offset in offsets if offset < count]
    if rest:
        found += words[index + rest : index + count]
    return found


def operands(words: Sequence[int], index: int, count: int, literal_words: int = 1) -> Iterator[tuple[str, int, int]]:
    """Every operand of the instruction at word `index`, `count` words long, as (kind, word index, value).

    Pairs come as their two parts. A string is one operand whose value is its first word
    (`shaderstat.spirv.words.string` reads it); so is a number whose size hangs on its type (all its words, lowest
    first). The operands of OpSpecConstantOp are those of the instruction that it names. Words that the grammar doesn't
    know are `UNKNOWN_KIND`.

    Args:
        literal_words: words of a literal of OpSwitch: 2 where its selector has 64 bits.
    """
    end = index + count
    entry = instruction(words[index] & 0xFFFF)
    at = index + 1
    # Kinds to come, last first: enumerants push their parameters.
    pending = list(reversed(entry.operands)) if entry else []
    while at < end:
        if not pending:
            yield UNKNOWN_KIND, at, words[at]
            at += 1
            continue
        kind, quantifier = pending[-1]
        if quantifier != "*":
            pending.pop()
        value = words[at]
        if kind in ID_KINDS:
            yield kind, at, value
            at += 1
        elif kind == "LiteralString":
            yield kind, at, value
            while at < end and not _has_zero_byte(words[at]):
                at += 1
            at += 1
        elif kind == "LiteralContextDependentNumber":
            yield kind, at, sum(words[each] << 32 * (each - at) for each in range(at, end))
            at = end
        elif kind == "LiteralSpecConstantOpInteger":
            yield kind, at, value
            at += 1
            inner = instruction(value)
            if inner:
                pending += [each for each in reversed(inner.operands) if each[0] not in ("IdResultType", "IdResult")]
        elif kind.startswith("Pair"):
            first, second = _PAIRS[kind]
            yield first, at, value
            at += literal_words if first == "LiteralInteger" else 1
            if at < end:
                yield second, at, words[at]
                at += 1
        else:
            yield kind, at, value
            at += 1
            pending += [(parameter, "") for parameter in reversed(_parameters(kind, value))]


_PAIRS = {
    "PairLiteralIntegerIdRef": ("LiteralInteger", "IdRef"),
    "PairIdRefLiteralInteger": ("IdRef", "LiteralInteger"),
    "PairIdRefIdRef": ("IdRef", "IdRef"),
}


def _parameters(kind: str, value: int) -> tuple[str, ...]:
    """The kinds of the operands that an enumeration's value brings: those of each bit, lowest first, for a mask."""
    known = enumerants(kind)
    if value in known:
        return known[value].parameters
    if not known or _KINDS[kind][1] != "BitEnum":
        return ()
    return tuple(
        parameter
        for bit in range(32)
        if value >> bit & 1 and 1 << bit in known
        for parameter in known[1 << bit].parameters
    )


def _has_zero_byte(word: int) -> bool:
    return (word - 0x01010101) & ~word & 0x80808080 != 0
