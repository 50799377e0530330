"""A driver's answer becomes exact values, with what is known of them beside."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.annotate import Annotator, StatisticTable, instrumented
from shaderstat.instrumentation import Instrumentation, Resource
from shaderstat.model import (
    Driver,
    ExecutableAnswer,
    RepresentationAnswer,
    Statistic,
    StatisticAnswer,
    StatisticInfo,
    merge,
    numbered,
)

RADV = Driver(3, "radv", "22.3.6", "Mesa 22.3.6")
NVIDIA = Driver(4, "NVIDIA", "580.159", "580.159")
UNKNOWN = Driver(0, "", "", "")

BOOL32, INT64, UINT64, FLOAT64 = range(4)  # VkPipelineExecutableStatisticFormatKHR


def one(name: str, format: int, bits: int, driver: Driver = UNKNOWN) -> Statistic:
    answer = ExecutableAnswer("x", "", 0x20, 64, (StatisticAnswer(name, "", format, bits),))
    return Annotator(driver).executables([answer])[0].statistics[0]


def double(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


@pytest.mark.parametrize(
    ("format", "bits", "value", "text"),
    [
        (BOOL32, 0, 0, None),
        (BOOL32, 1, 1, None),
        (INT64, 2**64 - 1, -1, None),
        (INT64, 2**63, -(2**63), "-9223372036854775808"),
        (INT64, 2**63 - 1, 2**63 - 1, "9223372036854775807"),
        (UINT64, 0, 0, None),
        (UINT64, 2**53, 2**53, None),
        (UINT64, 2**53 + 1, 2**53 + 1, "9007199254740993"),
        (UINT64, 2**64 - 1, 2**64 - 1, "18446744073709551615"),
        (INT64, 2**64 - 2**53, -(2**53), None),
        (INT64, 2**64 - 2**53 - 1, -(2**53) - 1, "-9007199254740993"),
        (FLOAT64, double(0.1), 0.1, None),
        (FLOAT64, double(-0.0), -0.0, None),
        (FLOAT64, double(5e-324), 5e-324, None),
        (FLOAT64, double(math.inf), None, "Infinity"),
        (FLOAT64, double(-math.inf), None, "-Infinity"),
        (FLOAT64, double(math.nan), None, "NaN"),
        (FLOAT64, 0x7FF8000000000000, None, "NaN"),
        (FLOAT64, 0xFFF8000000000000, None, "NaN(0xfff8000000000000)"),
        (FLOAT64, 0x7FF8000000000123, None, "NaN(0x7ff8000000000123)"),
        (FLOAT64, 0xFFF0000000000001, None, "NaN(0xfff0000000000001)"),
    ],
)
def test_values_are_exact(format: int, bits: int, value: int | float | None, text: str | None) -> None:
    found = one("Some", format, bits)
    assert (found.value, found.text) == (value, text)
    assert type(found.value) is type(value)
    assert found.note is None


@pytest.mark.parametrize("bits", [2, 0xFFFFFFFF])
def test_a_bool_that_is_neither_is_no_number(bits: int) -> None:
    found = one("Early preamble", BOOL32, bits)
    assert (found.value, found.text) == (None, str(bits))
    assert found.note == "neither VK_FALSE nor VK_TRUE"


@pytest.mark.parametrize("format", [4, 1000269000, 0x7FFFFFFF])
def test_an_unknown_format_shows_its_bits(format: int) -> None:
    found = one("Some", format, 5)
    assert (found.format, found.value, found.text) == (str(format), None, "0x0000000000000005")
    assert found.note is not None


@pytest.mark.parametrize(
    ("driver", "name", "bits", "text"),
    [
        (RADV, "Driver pipeline hash", 0xB8C1F0E2775AA04C, "0xb8c1f0e2775aa04c"),
        (RADV, "Hash", 762285896, "0x2d6f8f48"),
        (RADV, "Hash", 5, "0x00000005"),
        (RADV, "hash", 5, "0x00000005"),
        (UNKNOWN, "Shader Hash", 5, "0x0000000000000005"),
        (UNKNOWN, "CODEHASH", 5, "0x0000000000000005"),
    ],
)
def test_hashes_are_numbers_with_hexadecimal_text(driver: Driver, name: str, bits: int, text: str) -> None:
    found = one(name, UINT64, bits, driver)
    assert (found.value, found.text) == (bits, text)


def test_an_unknown_hash_is_an_identity() -> None:
    annotator = Annotator(UNKNOWN)
    annotator.executables([ExecutableAnswer("x", "", 0, 0, (StatisticAnswer("Binary hash", "", UINT64, 1),))])
    assert annotator.statistics[0].role == "identity"


def test_nvidias_local_memory_stays_raw_and_carries_a_note() -> None:
    found = one("Local Memory Size", UINT64, 0x10_0000_0000 + 48, NVIDIA)
    assert found.value == 68719476784
    assert found.text is None
    assert found.note == "the driver writes the low 32 bits alone: they say 48"
    assert one("Local Memory Size", UINT64, 48, NVIDIA).note is None
    assert one("Stack Size", UINT64, 0x10_0000_0000, NVIDIA).note is None


@given(st.integers(0, 2**64 - 1), st.sampled_from([INT64, UINT64, FLOAT64]))
def test_bits_can_be_had_back(bits: int, format: int) -> None:
    found = one("Some", format, bits)
    if isinstance(found.value, float):
        assert double(found.value) == bits
    elif found.value is not None:
        assert found.value % 2**64 == bits
        assert (found.text is not None) == (abs(found.value) > 2**53)
        assert found.text is None or int(found.text) == found.value
    else:
        exact = {"NaN": 0x7FF8 << 48, "Infinity": 0x7FF0 << 48, "-Infinity": 0xFFF0 << 48}
        assert format == FLOAT64 and found.text is not None
        assert exact.get(found.text) == bits or found.text == f"NaN(0x{bits:016x})"


# ── Executables ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "odd"), [(0, False), (1, False), (32, False), (128, False), (256, True), (48, True), (2**32 - 1, True)]
)
def test_a_subgroup_size_is_the_drivers_own_and_remarked_on_where_it_can_be_none(said: int, odd: bool) -> None:
    answers = [ExecutableAnswer("x", "", 0x20, said)]
    annotator = Annotator(UNKNOWN)
    assert annotator.executables(answers)[0].subgroup_size == (said or None)
    codes = [each.code for each in annotator.diagnostics(answers)]
    assert codes == (["driver/subgroup-size"] if odd else [])


def test_amdvlk_says_the_workgroups_size() -> None:
    answers = [ExecutableAnswer("ShaderProperties CS", "", 0x20, 64)]
    annotator = Annotator(Driver(2, "AMD open-source driver", "", ""))
    assert annotator.executables(answers)[0].subgroup_size == 64
    assert [each.code for each in annotator.diagnostics(answers)] == ["driver/subgroup-size"]


def test_executables_keep_order_stages_and_marks() -> None:
    answers = [
        ExecutableAnswer("VS", "vertex", 0x1, 64),
        ExecutableAnswer("Binning VS", "vertex", 0x1, 64, synthetic=True, bound="upper"),
        ExecutableAnswer("", "", 0, 0),
        ExecutableAnswer("both", "", 0x9, 32),
    ]
    found = Annotator(UNKNOWN).executables(answers)
    assert [each.index for each in found] == [0, 1, 2, 3]
    assert [each.stages for each in found] == [("vertex",), ("vertex",), (), ("vertex", "geometry")]
    assert (found[1].synthetic, found[1].bound) == (True, "upper")


def test_a_representation_has_size_and_hashes() -> None:
    text = RepresentationAnswer("IR3 Assembly", "", True, b"; VERT prog 21/1: abc\nnop\n")
    again = RepresentationAnswer("IR3 Assembly", "", True, b"; VERT prog 22/1: abc\nnop\n")
    binary = RepresentationAnswer("ELF", "", False, b"\x7fELF")
    found = Annotator(UNKNOWN).executables([ExecutableAnswer("x", "", 1, 64, (), (text, again, binary))])[0]
    first, second, third = found.representations
    assert first.size == 26
    assert first.sha256 != second.sha256
    assert first.code_sha256 == second.code_sha256
    # printf '\\177ELF' | sha256sum
    assert third.sha256 == third.code_sha256
    assert third.sha256.startswith("3bdbb4fe")


def test_radv_says_when_it_has_no_disassembler() -> None:
    text = b"Shader disassembly is not supported in the current configuration.\n"
    answers = [
        ExecutableAnswer("Compute Shader", "", 0x20, 64, (), (RepresentationAnswer("Assembly", "", True, text),))
    ]
    (found,) = Annotator(RADV).diagnostics(answers)
    assert (found.severity, found.code) == ("warning", "driver/no-disassembly")
    assert "Compute Shader" in found.message


# ── The target's list ─────────────────────────────────────────────────────────────────────────────────────────────


def answer(*names: str) -> ExecutableAnswer:
    return ExecutableAnswer("x", "", 1, 64, tuple(StatisticAnswer(name, "", UINT64, 1) for name in names))


def test_the_list_grows_in_the_drivers_order() -> None:
    annotator = Annotator(NVIDIA)
    annotator.executables([answer("Register Count", "Binary Size", "Input Count", "Output Colors")])
    assert annotator.grew
    annotator.executables([answer("Register Count", "Binary Size", "Shared Memory Size")])
    assert annotator.grew
    assert not annotator.grew
    annotator.executables([answer("Binary Size", "Input Count")])
    assert not annotator.grew
    assert [each.name for each in annotator.statistics] == [
        "Register Count", "Binary Size", "Shared Memory Size", "Input Count", "Output Colors",
    ]  # fmt: skip


def test_two_statistics_of_one_name_stay_two() -> None:
    annotator = Annotator(UNKNOWN)
    found = annotator.executables([answer("Fills", "Fills", "Loops")])[0]
    assert [each.name for each in found.statistics] == ["Fills", "Fills", "Loops"]
    assert [each.name for each in annotator.statistics] == ["Fills", "Fills", "Loops"]
    annotator.executables([answer("Fills")])
    assert len(annotator.statistics) == 3


def test_one_name_in_two_formats_is_two() -> None:
    table = StatisticTable()
    assert table.add([StatisticInfo("Cycles", "uint64", "")])
    assert table.add([StatisticInfo("Cycles", "float64", "")])
    assert not table.add([StatisticInfo("Cycles", "float64", ""), StatisticInfo("Cycles", "uint64", "")])
    assert [each.format for each in table.infos] == ["float64", "uint64"]


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=6))
def test_every_statistic_finds_its_info(executables: list[list[str]]) -> None:
    annotator = Annotator(UNKNOWN)
    known: set[tuple[str, str, int]] = set()
    for found in annotator.executables([answer(*names) for names in executables]):
        known.update(numbered(found.statistics))
    assert sorted(known) == sorted(numbered(annotator.statistics))


def test_merged_lists_read_like_all_of_them() -> None:
    order: list[str] = []
    merge(order, "abd")
    merge(order, "bcd")
    merge(order, "xa")
    assert order == list("xabcd")


@pytest.mark.parametrize(
    ("where", "type", "fill", "invented"),
    [
        ("set 0 binding 0", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "zeros", True),
        ("set 0 binding 0", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "random:7", True),
        ("set 0 binding 0", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "16 bytes given", False),
        ("set 0 binding 0", "VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR", "", True),
        ("set 0 binding 0", "VK_DESCRIPTOR_TYPE_SAMPLER", "", False),
        ("push constants", "", "zeros", True),
        ("attachment 0", "", "zeros", False),
    ],
)
def test_inputs_that_nobody_gave_are_invented(where: str, type: str, fill: str, invented: bool) -> None:
    run = Instrumentation(None, (), resources=(Resource(where, type, "", fill),))
    assert instrumented(run).invented is invented
