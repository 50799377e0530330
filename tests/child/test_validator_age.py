"""When a refusal is excused: the module declares what this validator can't know, and the tables do know it."""

from __future__ import annotations

import pytest

from shaderstat.child.validator_age import excuse, without_source_languages
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute


def everything(name: str) -> bool:
    """A validator that knows every extension."""
    return True


def nothing(name: str) -> bool:
    """One that knows none."""
    return False


def module(head: str = "") -> bytes:
    return assemble(compute("%1 = OpLabel\nOpReturn", head=head))


@pytest.mark.parametrize(
    ("refusal", "head", "expected"),
    [
        # Source languages grow without versions or extensions.
        ("Invalid source language operand: 11", "", "does not know SourceLanguage Slang"),
        ("Invalid source language operand: 4000", "", None),
        # Declared by its extension.
        (
            "Invalid capability operand: 4212",
            'OpExtension "SPV_EXT_float8"',
            "does not know Capability Float8EXT",
        ),
        ("Invalid capability operand: 4212", "", None),
        ("Invalid capability operand: 31999", 'OpExtension "SPV_EXT_float8"', None),
        # By its capability: 5056 is OpReadClockKHR.
        ("Invalid opcode: 5056", "OpCapability ShaderClockKHR", "does not know OpReadClockKHR"),
        ("Invalid opcode: 5056", "", None),
        ("Invalid opcode: 60000", "OpCapability ShaderClockKHR", None),
        # Of a mask it is the bit that counts, and the tables have no such image operand.
        ("Invalid image operand: 81920 has invalid mask component 65536", "", None),
        # Known since 1.0, and of no extension: not the validator's age.
        ("Invalid storage class operand: 4", "", None),
        # Not about numbers at all.
        ("Block 5 is already a merge block for another header", "", None),
        ("Id is 0", "", None),
    ],
)
def test_named_numbers(refusal: str, head: str, expected: str | None) -> None:
    assert excuse(refusal, module(head), (1, 6), everything) == expected


def test_an_extension_that_only_we_know_excuses_all() -> None:
    words = module('OpExtension "SPV_EXT_float8"')
    assert excuse("a rule of today", words, (1, 6), nothing) == "does not know SPV_EXT_float8"
    assert excuse("a rule of today", words, (1, 6), everything) is None


def test_an_extension_that_nobody_knows_excuses_numbers_that_nobody_knows() -> None:
    words = module('OpExtension "SPV_XYZ_of_tomorrow"')
    assert excuse("Invalid capability operand: 31999", words, (1, 6), nothing) == "does not know SPV_XYZ_of_tomorrow"
    assert excuse("Invalid opcode: 31999", words, (1, 6), nothing) == "does not know SPV_XYZ_of_tomorrow"
    assert excuse("Block 5 is already a merge block", words, (1, 6), nothing) is None


def test_garbage_for_an_extension_excuses_nothing() -> None:
    words = module('OpExtension "SPV_\u00e9\u0001"')
    assert excuse("Invalid opcode: 31999", words, (1, 6), nothing) is None


def test_a_version_that_the_validator_does_not_know() -> None:
    words = module()
    assert excuse("Invalid SPIR-V header.", words, (1, 5), everything) == "ends at SPIR-V 1.5, this is 1.6"


def test_no_words_no_excuse() -> None:
    assert excuse("Invalid capability operand: 4212", b"", (1, 6), nothing) is None


def test_source_languages_are_taken_out_of_a_copy_and_nothing_else() -> None:
    text = compute("%1 = OpLabel\nOpReturn", modes="OpSource Slang 1\nOpSource GLSL 450")
    words = assemble(text)
    patched = without_source_languages("Invalid source language operand: 11", words)
    assert patched is not None
    changed = [index for index in range(0, len(words), 4) if words[index : index + 4] != patched[index : index + 4]]
    sources = [(index + 1) * 4 for opcode, index, _ in load(words).instructions() if opcode == 3]
    assert changed == sources
    assert without_source_languages("Id is 0", words) is None
