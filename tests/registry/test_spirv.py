"""The SPIR-V tables against the grammar, and the reading of operands against instructions written by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shaderstat.registry import spirv as registry
from shaderstat.registry import vulkan
from tools import generate_spirv_registry as generator

ROOT = Path(__file__).parents[2]


def test_the_generated_tables_are_those_of_the_installed_grammar() -> None:
    pytest.importorskip("cmeel")
    outcome = subprocess.run([sys.executable, str(ROOT / "tools" / "generate_spirv_registry.py"), "--check"])
    assert outcome.returncode == 0, "run tools/generate_spirv_registry.py"


def test_every_capability_that_vulkan_speaks_of_has_a_number() -> None:
    """A module that asks for one without is refused, whatever the device has."""
    capabilities = {name for name in vulkan.required_names() if not name.startswith("SPV_")}
    without = {name for name in capabilities if registry.value("Capability", name) is None}
    assert without == {"ClusterCullingShadingHUAWEI"}  # the grammar has never had it
    # and by Vulkan's own word for it: what a capability needs is looked up by today's name
    assert all(
        registry.name("Capability", registry.value("Capability", name) or 0) == name for name in capabilities - without
    )


def test_numbers_that_are_newer_than_the_package_with_the_grammar() -> None:
    """SPV_EXT_descriptor_heap, 3.31 "Capability" and 3.49 "Instructions"."""
    heap = registry.enumerant("Capability", 5128)
    assert heap is not None and (heap.name, heap.extensions) == ("DescriptorHeapEXT", ("SPV_EXT_descriptor_heap",))
    assert registry.value("BuiltIn", "ResourceHeapEXT") == 5123
    assert registry.opcode("OpConstantSizeOfEXT") == 5129
    # what was renamed keeps its old name
    assert registry.opcode("OpGroupNonUniformPartitionNV") == registry.opcode("OpGroupNonUniformPartitionEXT") == 5296


def test_a_newer_grammar_is_laid_over_an_older_one() -> None:
    def grammar(revision: int, opcodes: dict[int, str], enumerants: dict[str | int, str]) -> generator.Grammar:
        bits = [{"value": value, "enumerant": name} for value, name in enumerants.items()]
        return {
            "copyright": [], "major_version": 1, "minor_version": 6, "revision": revision,
            "instructions": [{"opcode": opcode, "opname": name} for opcode, name in opcodes.items()],
            "operand_kinds": [{"kind": "Mask", "enumerants": bits}, {"kind": "IdRef"}],
        }  # fmt: skip

    old = grammar(4, {0: "OpNop", 9: "OpOld"}, {"0x0001": "One", 2: "Two"})
    new = grammar(7, {0: "OpNop", 9: "OpNew", 12: "OpMore"}, {"0x0001": "One", 2: "Zwei", 4: "Four"})
    more = generator.beyond(new, old)
    assert [each["opname"] for each in more["instructions"]] == ["OpNew", "OpMore"]
    assert [each["enumerant"] for kind in more["operand_kinds"] for each in kind["enumerants"]] == ["Zwei", "Four"]
    assert generator.overlay(old, more) == new
    assert generator.overlay(new, more) is new  # caught up


def test_names_and_numbers_as_the_specification_prints_them() -> None:
    assert registry.opcode_name(71) == "OpDecorate"
    assert registry.opcode("OpTypeRayQueryKHR") == 4472
    assert registry.name("StorageClass", 5349) == "PhysicalStorageBuffer"
    assert registry.name("Dim", 5) == "Buffer"
    assert registry.value("ExecutionModel", "MeshEXT") == 5365
    assert registry.value("BuiltIn", "FragDepth") == 22
    assert registry.value("ExecutionMode", "LocalSizeId") == 38
    assert registry.value("SourceLanguage", "GLSL") == 2


def test_aliases_lead_to_the_same_number() -> None:
    assert registry.opcode("OpSDotKHR") == registry.opcode("OpSDot") == 4450
    assert registry.value("BuiltIn", "BaryCoordNV") == registry.value("BuiltIn", "BaryCoordKHR") == 5286


def test_unknown_numbers_are_said_not_refused() -> None:
    assert registry.opcode_name(60000) == "opcode 60000"
    assert registry.instruction(60000) is None
    assert registry.name("Capability", 60000) == "Capability 60000"
    assert registry.value("Capability", "Tomorrow") is None
    assert registry.name("NoSuchKind", 1) == "NoSuchKind 1"


def test_masks_are_named_bit_by_bit() -> None:
    assert registry.name("ImageOperands", 0x41) == "Bias|Sample"
    assert registry.name("FunctionControl", 0) == "None"
    assert registry.name("FunctionControl", 0x80000001) == "Inline|0x80000000"


def test_what_an_enumerant_and_an_instruction_need() -> None:
    float16 = registry.enumerant("Capability", 9)
    assert float16 is not None and float16.name == "Float16" and float16.version == (1, 0)
    mesh = registry.enumerant("Capability", 5283)
    assert mesh is not None and mesh.extensions == ("SPV_EXT_mesh_shader",) and mesh.version is None
    dot = registry.instruction(4450)
    assert dot is not None
    assert (dot.group, dot.capabilities, dot.version) == ("Arithmetic", ("DotProduct",), (1, 6))
    location = registry.enumerant("Decoration", 30)
    assert location is not None and location.parameters == ("LiteralInteger",)


def words(opcode: int, *operands: int) -> list[int]:
    return [len(operands) + 1 << 16 | opcode, *operands]


def read(opcode: int, *operands: int, literal_words: int = 1) -> list[tuple[str, int]]:
    code = words(opcode, *operands)
    return [(kind, value) for kind, _, value in registry.operands(code, 0, len(code), literal_words)]


@pytest.mark.parametrize(
    ("code", "ids"),
    [
        (words(61, 1, 2, 3), [3]),  # OpLoad
        (words(61, 1, 2, 3, 2, 16), [3]),  # OpLoad … Aligned 16
        (words(61, 1, 2, 3, 0x20, 9), [3]),  # … NonPrivatePointer, and a word too many
        (words(61, 1, 2, 3, 0x12, 16, 7), [3, 7]),  # … Aligned 16, MakePointerVisible scope
        (words(62, 4, 5), [4, 5]),  # OpStore
        (words(65, 1, 2, 3, 4, 5), [3, 4, 5]),  # OpAccessChain
        (words(65, 1, 2, 3), [3]),  # OpAccessChain without an index
        (words(12, 1, 2, 3, 31, 4, 5), [3, 4, 5]),  # OpExtInst: the number is none
        (words(88, 1, 2, 3, 4, 2, 6), [3, 4, 6]),  # OpImageSampleExplicitLod … Lod
        (words(88, 1, 2, 3, 4, 4, 6, 7), [3, 4, 6, 7]),  # … Grad
        (words(81, 1, 2, 3, 4, 5), [3]),  # OpCompositeExtract
        (words(245, 1, 2, 3, 4, 5, 6), [3, 4, 5, 6]),  # OpPhi
        (words(251, 1, 2, 10, 3, 11, 4), [1, 2, 3, 4]),  # OpSwitch
        (words(52, 1, 2, 128, 3, 4), [3, 4]),  # OpSpecConstantOp IAdd
        (words(52, 1, 2, 81, 3, 0), [3]),  # OpSpecConstantOp CompositeExtract
        (words(43, 1, 2, 5), []),  # OpConstant
        (words(15, 4, 9, 0x6E69616D, 0, 3, 4), [9, 3, 4]),  # OpEntryPoint Fragment %9 "main" %3 %4
        (words(234, 1, 2, 3, 4, 5, 6), [3, 4, 5, 6]),  # OpAtomicIAdd: scope and semantics are ids
    ],
)
def test_used_ids(code: list[int], ids: list[int]) -> None:
    assert registry.used_ids(code, 0, len(code)) == ids


def test_a_switch_on_64_bits_has_literals_of_two_words() -> None:
    code = words(251, 1, 2, 10, 0, 3, 11, 0, 4)
    assert registry.used_ids(code, 0, len(code), literal_words=2) == [1, 2, 3, 4]


def test_operands_have_kinds_and_places() -> None:
    code = [0, *words(71, 8, 30, 5)]  # OpDecorate %8 Location 5, not at the start
    assert list(registry.operands(code, 1, 4)) == [("IdRef", 2, 8), ("Decoration", 3, 30), ("LiteralInteger", 4, 5)]


def test_a_number_takes_all_its_words_lowest_first() -> None:
    assert read(43, 1, 2, 0x89ABCDEF, 0x01234567)[-1] == ("LiteralContextDependentNumber", 0x0123456789ABCDEF)


def test_results() -> None:
    assert registry.result_words(61) == (1, 2)  # OpLoad
    assert registry.result_words(19) == (0, 1)  # OpTypeVoid
    assert registry.result_words(62) == (0, 0)  # OpStore
    assert registry.result_words(60000) == (0, 0)


def test_words_that_the_grammar_does_not_know() -> None:
    assert read(60000, 7, 8) == [(registry.UNKNOWN_KIND, 7), (registry.UNKNOWN_KIND, 8)]
    assert read(62, 1, 2)[-1] == ("IdRef", 2)
    assert read(194, 1, 2, 3, 4, 5)[-1] == (registry.UNKNOWN_KIND, 5)  # OpShiftRightLogical with a word too many
