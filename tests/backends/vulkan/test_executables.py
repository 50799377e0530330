"""The protocols of VK_KHR_pipeline_executable_properties, against a driver of paper that plays drivers' tricks."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from shaderstat.backends.base import QUERY_ERRORS, DriverError
from shaderstat.backends.vulkan import executables
from shaderstat.backends.vulkan.binding import NULL, ffi
from shaderstat.backends.vulkan.executables import Query
from shaderstat.model import ExecutableAnswer

SUCCESS, INCOMPLETE, OUT_OF_MEMORY = 0, 5, -1
KINDS = {
    "vkGetPipelineExecutablePropertiesKHR": ("VkPipelineExecutablePropertiesKHR", 1000269002),
    "vkGetPipelineExecutableStatisticsKHR": ("VkPipelineExecutableStatisticKHR", 1000269004),
    "vkGetPipelineExecutableInternalRepresentationsKHR": ("VkPipelineExecutableInternalRepresentationKHR", 1000269005),
}
PROPERTIES, STATISTICS, REPRESENTATIONS = KINDS

# What a call answers: (result, count when asked for it, elements written).
Reply = tuple[int, int, list[dict[str, Any]]]


class PaperDriver:
    """Answers from a script: `script[call]` gives the replies of that call's array calls in turn, the last for ever;
    a count call tells the count of the reply that comes next."""

    handle = NULL

    def __init__(self, **script: list[Reply]) -> None:
        self.script = {name: script.get(kind, [(SUCCESS, 0, [])]) for name, kind in zip(KINDS, "psr", strict=True)}
        self.turn = dict.fromkeys(KINDS, 0)
        self.sizes_told = False
        self.calls: list[str] = []

    def __getitem__(self, call: str) -> Callable[..., int]:
        def function(device: Any, info: Any, count: Any, array: Any) -> int:
            self.calls.append(call)
            replies = self.script[call]
            result, told, elements = replies[min(self.turn[call], len(replies) - 1)]
            if array == NULL:
                count[0] = told
                return result if result < 0 else SUCCESS
            c_type, s_type = KINDS[call]
            assert count[0] > 0, "an empty array"
            assert ffi.typeof(array).item is ffi.typeof(c_type)
            assert all(array[i].sType == s_type and array[i].pNext == NULL for i in range(count[0]))
            if call != REPRESENTATIONS or array[0].pData != NULL or array[0].dataSize:
                self.turn[call] += 1
            for element, fields in zip(array[0 : count[0]], elements, strict=False):
                write(element, fields)
            count[0] = min(count[0], len(elements))
            return result

        return function


def write(element: Any, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if name == "data":
            told, data = value if isinstance(value, tuple) else (len(value), value)
            if element.pData == NULL:
                element.dataSize = told
            else:
                size = min(element.dataSize, len(data))
                ffi.memmove(element.pData, data, size)
                element.dataSize = told if isinstance(value, tuple) else size
        elif name in ("name", "description"):
            ffi.buffer(getattr(element, name))[: len(value)] = value
        elif name == "bits":
            element.value.u64 = value
        else:
            setattr(element, name, value)


def ask(driver: PaperDriver, *, representations: bool = False) -> tuple[tuple[ExecutableAnswer, ...], Query]:
    query = Query(driver, ffi.cast("VkPipeline", 0x1234))  # type: ignore[arg-type]
    return query.executables(statistics=True, representations=representations), query


def statistic(name: str, format: int = 2, bits: int = 1) -> dict[str, Any]:
    return {"name": name.encode(), "description": b"what it is", "format": format, "bits": bits}


ONE: list[Reply] = [(SUCCESS, 1, [{"name": b"CS", "description": b"compute", "stages": 0x20, "subgroupSize": 32}])]
FOUR = [statistic(f"s{i}", bits=i) for i in range(4)]


def codes(query: Query) -> set[str]:
    return {code for code, _ in query.remarks}


def names(found: tuple[ExecutableAnswer, ...]) -> list[str]:
    return [each.name for each in found[0].statistics]


def test_what_is_said_comes_through() -> None:
    found, query = ask(
        PaperDriver(p=ONE, s=[(SUCCESS, 2, [statistic("VGPRs", bits=24), statistic("Hash", bits=2**63)])])
    )
    (executable,) = found
    assert (executable.name, executable.description) == ("CS", "compute")
    assert (executable.stages, executable.subgroup_size) == (0x20, 32)
    assert [(s.name, s.description, s.format, s.bits) for s in executable.statistics] == [
        ("VGPRs", "what it is", 2, 24),
        ("Hash", "what it is", 2, 2**63),
    ]
    assert query.remarks == []
    assert query.driver_ns > 0


def test_none_is_asked_for_no_further() -> None:
    driver = PaperDriver()
    assert ask(driver)[0] == ()
    assert driver.calls == [PROPERTIES]
    driver = PaperDriver(p=ONE)
    assert ask(driver, representations=True)[0][0].statistics == ()
    assert driver.calls == [PROPERTIES, PROPERTIES, STATISTICS, REPRESENTATIONS]


def test_a_count_that_grows_is_asked_for_again() -> None:
    found, query = ask(PaperDriver(p=ONE, s=[(INCOMPLETE, 2, FOUR[:2]), (SUCCESS, 4, FOUR)]))
    assert names(found) == ["s0", "s1", "s2", "s3"]
    assert query.remarks == []


def test_a_count_that_shrinks_keeps_what_was_written_and_is_said() -> None:
    found, query = ask(PaperDriver(p=ONE, s=[(SUCCESS, 5, FOUR[:2])]))
    assert names(found) == ["s0", "s1"]
    assert query.remarks == [("vulkan/lost", "executable 0 (CS): the driver counts 5 statistics and tells of 2")]


def test_executables_that_are_counted_and_not_told() -> None:
    found, query = ask(PaperDriver(p=[(SUCCESS, 3, [{"name": b"VS"}])]))
    assert [each.name for each in found] == ["VS"]
    assert query.remarks == [("vulkan/lost", "the driver counts 3 executables and tells of 1")]
    found, query = ask(PaperDriver(p=[(SUCCESS, 1, [])]))
    assert found == ()
    assert query.remarks == [("vulkan/nothing-told", "the driver counts 1 executable and tells of none")]
    assert query.remarks[0][0] in QUERY_ERRORS


def test_incomplete_although_all_was_written() -> None:
    """AMDVLK: a larger array is tried a few times, then what there is is kept and it is said."""
    driver = PaperDriver(p=ONE, s=[(INCOMPLETE, 4, FOUR)])
    found, query = ask(driver)
    assert names(found) == ["s0", "s1", "s2", "s3"]
    assert codes(query) == {"vulkan/incomplete"}
    assert driver.calls.count(STATISTICS) == 2 * executables.TRIES


@pytest.mark.parametrize("count", [executables.MAX_COUNT + 1, 2**32 - 1])
def test_an_absurd_count_is_refused_before_any_memory_is_taken(count: int) -> None:
    driver = PaperDriver(p=ONE, s=[(SUCCESS, count, FOUR)])
    found, query = ask(driver)
    assert found[0].statistics == ()
    assert codes(query) == {"vulkan/statistics"}
    assert driver.calls.count(STATISTICS) == 1
    with pytest.raises(DriverError, match=f"told of {count} elements") as caught:
        ask(PaperDriver(p=[(SUCCESS, count, [])]))
    assert caught.value.vk_result is None  # the call itself succeeded


def test_an_error_of_one_query_leaves_the_others() -> None:
    two: list[Reply] = [(SUCCESS, 2, [{"name": b"VS"}, {"name": b"FS"}])]
    driver = PaperDriver(
        p=two, s=[(OUT_OF_MEMORY, 0, [])], r=[(SUCCESS, 1, [{"name": b"asm", "data": b"x\0", "isText": 1}])]
    )
    found, query = ask(driver, representations=True)
    assert [each.name for each in found] == ["VS", "FS"]
    assert [each.statistics for each in found] == [(), ()]
    assert found[1].representations[0].data == b"x"
    assert codes(query) == {"vulkan/statistics"}
    assert "VK_ERROR_OUT_OF_HOST_MEMORY" in query.remarks[0][1]


def test_executables_that_cannot_be_listed() -> None:
    with pytest.raises(DriverError) as caught:
        ask(PaperDriver(p=[(OUT_OF_MEMORY, 0, [])]))
    assert (caught.value.call, caught.value.vk_result) == (PROPERTIES, "VK_ERROR_OUT_OF_HOST_MEMORY")


def test_bits_are_the_unions_own() -> None:
    replies = [
        statistic("minus", 1, struct.unpack("=Q", struct.pack("=q", -1))[0]),
        statistic("most", 2, 2**64 - 1),
        statistic("nan", 3, 0x7FF8000000000001),
        statistic("true", 0, 0xAAAAAAAA00000001),  # a VkBool32 fills four bytes: the rest is nobody's
        statistic("new", 4711, 2**63),
    ]
    found, _ = ask(PaperDriver(p=ONE, s=[(SUCCESS, 5, replies)]))
    assert [(s.format, s.bits) for s in found[0].statistics] == [
        (1, 2**64 - 1),
        (2, 2**64 - 1),
        (3, 0x7FF8000000000001),
        (0, 1),
        (4711, 2**63),
    ]


def test_an_element_that_was_counted_and_never_written_is_missing() -> None:
    found, query = ask(PaperDriver(p=ONE, s=[(SUCCESS, 3, [statistic("a"), {}, statistic("", bits=7)])]))
    assert [(s.name, s.bits) for s in found[0].statistics] == [("a", 1), ("", 7)]
    assert query.remarks == [("vulkan/lost", "executable 0 (CS): the driver counts 3 statistics and tells of 2")]


def test_names_may_lack_their_nul_or_be_cut_inside_a_character() -> None:
    long = b"n" * 256
    cut = b"x" * 254 + "é".encode()[:1] + b"\0"
    found, _ = ask(PaperDriver(p=ONE, s=[(SUCCESS, 2, [{"name": long, "bits": 1}, {"name": cut, "bits": 1}])]))
    assert names(found) == ["n" * 256, "x" * 254 + "\ufffd"]


# ── Representations ───────────────────────────────────────────────────────────────────────────────────────────────


def text(*replies: Reply) -> tuple[tuple[tuple[str, bool, bytes], ...], Query]:
    found, query = ask(PaperDriver(p=ONE, r=list(replies)), representations=True)
    return tuple((each.name, each.is_text, each.data) for each in found[0].representations), query


def asm(data: Any, name: bytes = b"asm", is_text: int = 1) -> dict[str, Any]:
    return {"name": name, "isText": is_text, "data": data}


def test_three_calls() -> None:
    driver = PaperDriver(p=ONE, r=[(SUCCESS, 1, [asm(b"v_mov\0")])])
    found, query = ask(driver, representations=True)
    assert found[0].representations[0].data == b"v_mov"
    assert driver.calls.count(REPRESENTATIONS) == 3
    assert query.remarks == []


def test_text_ends_at_its_first_nul_or_where_the_driver_ended() -> None:
    assert text((SUCCESS, 1, [asm((8, b"abc\0"))]))[0] == (("asm", True, b"abc"),)  # RADV does not lower dataSize
    assert text((SUCCESS, 1, [asm(b"no end")]))[0] == (("asm", True, b"no end"),)


def test_binaries_keep_every_byte() -> None:
    assert text((SUCCESS, 1, [asm(b"\x7fELF\0\0\xff\0", is_text=0)]))[0] == (("asm", False, b"\x7fELF\0\0\xff\0"),)


def test_one_more_than_there_is() -> None:
    """RADV counts three and leaves the third unnamed and empty where it has no disassembly."""
    assert text((SUCCESS, 2, [asm(b"nir\0"), {}]))[0] == (("asm", True, b"nir"),)
    assert text((SUCCESS, 2, [asm(b"nir\0"), asm(b"more\0", name=b"")]))[0][1] == ("unnamed-1", True, b"more")
    assert text((SUCCESS, 1, [asm(b"\0")]))[0] == (("asm", True, b""),)


def test_a_text_that_never_settles_keeps_what_there_is() -> None:
    found, query = text((INCOMPLETE, 1, [asm(b"part")]))
    assert found == (("asm", True, b"part"),)
    assert codes(query) == {"vulkan/incomplete"}


def test_texts_that_are_counted_and_not_told() -> None:
    found, query = text((SUCCESS, 3, [asm(b"nir\0"), asm(b"aco\0", name=b"aco")]))
    assert [name for name, _, _ in found] == ["asm", "aco"]
    assert codes(query) == {"vulkan/lost"}
    found, query = text((SUCCESS, 2, []))
    assert (found, codes(query)) == ((), {"vulkan/lost"})


def test_an_absurd_size_is_refused() -> None:
    found, query = text((SUCCESS, 2, [asm((2**40, b"")), asm(b"good\0", name=b"nir")]))
    assert found == (("nir", True, b"good"),)
    assert codes(query) == {"vulkan/absurd-size"}
