"""Tell a refusal by a validator that is too old for a module from the refusal of a broken module.

Distributions ship validators that are years behind the compilers: Debian 12's 2023.1 refuses every module of Slang,
because OpSource says "language 11". A refusal is excused when the module *declares* something that this validator can't
know, and our own tables, which are newer, do know it:

- its header has a SPIR-V version beyond the validator's newest;
- the refusal names a number (``Invalid capability operand: 4212``) which the tables have under an extension or a
  capability that the module declares, or in a version beyond the validator's;
- the refusal names a source language that the tables have (that enumeration grows without versions or extensions);
- it declares an extension which the tables know and the validator doesn't. Where neither knows the extension, only the
  refusal of a number that neither knows is excused.

All else stands: a number out of thin air in a module of today is a broken module, whoever looks at it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import cache

from shaderstat.errors import InvalidSpirv
from shaderstat.registry import _generated_spirv as tables
from shaderstat.registry import spirv as registry
from shaderstat.spirv import words as spirv_words

_OPERAND = re.compile(r"Invalid ([\w .-]+?) operand: (\d+)(?: has invalid mask component (\d+))?")
_OPCODE = re.compile(r"Invalid opcode: (\d+)")
_EXTENSION = re.compile(r"SPV_[A-Z0-9]+_\w+\Z")

# SPIRV-Tools' words for operand kinds where they aren't the grammar's own (spvOperandTypeStr, source/operand.cpp).
_KINDS = {
    "dimensionality": "Dim",
    "image": "ImageOperands",
    "floatingpointfastmathmode": "FPFastMathMode",
    "floatingpointroundingmode": "FPRoundingMode",
    "kernelenqueueflags": "KernelEnqueueFlags",
}


def excuse(refusal: str, words: bytes, newest: tuple[int, int], knows_extension: Callable[[str], bool]) -> str | None:
    """What the validator doesn't know, as the end of "it …"; None where the refusal stands.

    Args:
        refusal: the validator's message.
        newest: the newest SPIR-V version that it knows.
        knows_extension: whether it knows an ``SPV_…``.
    """
    try:
        module = spirv_words.load(words)
        extensions, capabilities = _declared(module)
    except InvalidSpirv:
        return None
    if module.version > newest:
        return f"ends at SPIR-V {newest[0]}.{newest[1]}, this is {module.version[0]}.{module.version[1]}"
    named, entry = _named(refusal)
    if entry is not None:
        language = named.startswith("SourceLanguage")
        later = entry.version is not None and entry.version > newest
        declares = extensions & set(entry.extensions) or (
            capabilities & set(entry.capabilities) and not named.startswith("Capability")
        )
        if language or later or declares:
            return f"does not know {named}"
    for extension in sorted(extensions):
        if not knows_extension(extension) and (extension in _our_extensions() or (named and entry is None)):
            return f"does not know {extension}"
    return None


def without_source_languages(refusal: str, words: bytes) -> bytes | None:
    """The module with every OpSource's language set to "unknown", where a language is what was refused."""
    if not refusal.startswith("Invalid source language operand"):
        return None
    patched = bytearray(words)
    try:
        for opcode, index, count in spirv_words.load(words).instructions():
            if opcode == 3 and count > 1:  # OpSource
                struct.pack_into("=I", patched, (index + 1) * 4, 0)
    except InvalidSpirv:
        return None
    return bytes(patched)


def _named(refusal: str) -> tuple[str, registry.Enumerant | registry.Instruction | None]:
    """What a refusal calls unknown, and our tables' entry of it; "" where it names nothing of the kind."""
    if match := _OPCODE.match(refusal):
        number = int(match[1])
        return registry.opcode_name(number), registry.instruction(number)
    if match := _OPERAND.match(refusal):
        number = int(match[3] or match[2])
        words = re.sub(r"[^a-z]", "", match[1].lower())
        kind = _KINDS.get(words) or _grammar_kinds().get(words)
        if kind is None:
            return f"{match[1]} {number}", None
        return f"{kind} {registry.name(kind, number)}", registry.enumerant(kind, number)
    return "", None


@cache
def _grammar_kinds() -> dict[str, str]:
    return {re.sub(r"[^a-z]", "", kind[0].lower()): kind[0] for kind in tables.KINDS}


@cache
def _our_extensions() -> frozenset[str]:
    entries = [entry for kind in tables.KINDS for entry in kind[3]]
    columns = [entry[4] for entry in entries] + [entry[5] for entry in tables.INSTRUCTIONS]
    return frozenset(name for column in columns for name in column.split())


def _declared(module: spirv_words.Words) -> tuple[set[str], set[str]]:
    """The extensions and capabilities that a module declares, by name."""
    extensions: set[str] = set()
    capabilities: set[str] = set()
    for opcode, index, count in module.instructions():
        if opcode == 17 and count > 1:  # OpCapability
            capabilities.add(registry.name("Capability", module.data[index + 1]))
        elif opcode == 10:  # OpExtension
            name, _ = spirv_words.string(module.data, index + 1, index + count)
            if _EXTENSION.match(name):
                extensions.add(name)
        elif opcode == 14:  # OpMemoryModel: what is declared comes before it
            break
    return extensions, capabilities
