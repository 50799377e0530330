"""VK_ARM_shader_instrumentation as drivers may answer it: each case is a table of functions that pretends to be one."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from shaderstat.backends.base import DriverError
from shaderstat.backends.vulkan.binding import extra_ffi, ffi
from shaderstat.backends.vulkan.instrumentation import Instrument, enumerate_metrics
from shaderstat.instrumentation import Metric

SUCCESS, INCOMPLETE, OUT_OF_MEMORY, INITIALIZATION_FAILED, UNKNOWN = 0, 5, -1, -3, -13
# What each command may return, by the specification.
ERRORS = {
    OUT_OF_MEMORY: "VK_ERROR_OUT_OF_HOST_MEMORY",
    -2: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
    -1000011001: "VK_ERROR_VALIDATION_FAILED",
    UNKNOWN: "VK_ERROR_UNKNOWN",
}
Block = tuple[int, int, int, int, tuple[int, ...]]


class Driver:
    """A driver with `blocks`; what a case changes are its attributes.

    Attributes:
        grows: how many blocks it has at each call of the values command, as long as there are numbers.
        most: how many it writes at most, whatever it counts.
        always_incomplete: it never says that these were all.
        writes: whether it writes anything.
        promises: how many blocks it counts and then never writes.
        fails: command → VkResult; the first `good` calls of it succeed.
        calls: the commands so far.
    """

    handle = ffi.NULL

    def __init__(self, blocks: Sequence[Block] = (), names: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self.blocks, self.names = list(blocks), list(names)
        self.grows: list[int] = []
        self.most = 1 << 20
        self.always_incomplete = False
        self.writes = True
        self.promises = 0
        self.fails: dict[str, int] = {}
        self.good = 0
        self.calls: list[str] = []

    def __getitem__(self, name: str) -> Callable[..., int]:
        methods: dict[str, Callable[..., int]] = {
            "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM": self._enumerate,
            "vkGetShaderInstrumentationValuesARM": self._values,
            "vkClearShaderInstrumentationMetricsARM": self._clear,
        }
        method = methods.get(name)

        def call(*arguments: Any) -> int:
            self.calls.append(name)
            fails = name in self.fails and self.calls.count(name) > self.good
            if fails:
                return self.fails[name]
            return SUCCESS if method is None else method(*arguments)

        return call

    def _enumerate(self, device: Any, count: Any, array: Any) -> int:
        if not self.writes:
            return SUCCESS
        if array == extra_ffi.NULL:
            count[0] = len(self.names)
            return SUCCESS
        written = min(count[0], len(self.names))
        for index in range(written):
            array[index].name, array[index].description = self.names[index]
        count[0] = written
        return SUCCESS if written == len(self.names) else INCOMPLETE

    def _values(self, device: Any, object: Any, count: Any, values: Any, flags: int) -> int:
        assert flags == 0
        if not self.writes:
            return SUCCESS
        if self.promises:
            count[0] = self.promises
            return SUCCESS
        there = self.blocks[: self.grows.pop(0)] if self.grows else self.blocks
        if values == extra_ffi.NULL:
            count[0] = len(there)
            return SUCCESS
        written = min(count[0], len(there), self.most)
        data = b"".join(struct.pack(f"=4I{len(each[4])}Q", *each[:4], *each[4]) for each in there[:written])
        ffi.memmove(values, data, len(data))
        count[0] = written
        short = written < len(there) and self.most >= len(there)
        return INCOMPLETE if short or self.always_incomplete else SUCCESS

    def submit(self, *counts: Block) -> None:
        """A submission adds to what was counted before."""
        before = {each[:4]: each[4] for each in self.blocks}
        for each in counts:
            sums = zip(before.get(each[:4], (0,) * len(each[4])), each[4], strict=True)
            before[each[:4]] = tuple(one + other for one, other in sums)
        self.blocks = [(*place, values) for place, values in before.items()]

    def _clear(self, device: Any, object: Any) -> int:
        """Of values alone: the indices stay valid."""
        self.blocks = [(*each[:4], (0,) * len(each[4])) for each in self.blocks]
        return SUCCESS


def block(index: int, stages: int, *values: int, sub: int = 0, basic: int = 0) -> Block:
    return (index, sub, stages, basic, values)


def read(driver: Driver, metrics: int = 1) -> tuple[list[Block], list[str]]:
    with Instrument(driver, metrics) as instrument:
        found = instrument.read(0)
        return (
            [(one.result_index, one.result_sub_index, one.stages, one.basic_block, one.values) for one in found],
            [code for code, _ in instrument.remarks],
        )


def test_one_metric_and_one_block() -> None:
    assert read(Driver([block(0, 0x20, 32)])) == ([block(0, 0x20, 32)], [])


def test_many_metrics_up_to_the_largest_count() -> None:
    blocks = [block(index, stages, *range(5), 2**64 - 1) for index in range(3) for stages in (0x1, 0x10)]
    assert read(Driver(blocks), 6) == (blocks, [])


def test_a_count_that_grows_between_the_calls() -> None:
    blocks = [block(index, 0x20, index) for index in range(9)]
    driver = Driver(blocks)
    driver.grows = [4, 5, 9]
    assert read(driver) == ([block(index, 0x20, index) for index in range(9)], [])


def test_incomplete_without_end_ends() -> None:
    driver = Driver([block(0, 0x20, 7)])
    driver.always_incomplete = True
    assert read(driver) == ([block(0, 0x20, 7)], ["run/incomplete"])
    assert driver.calls.count("vkGetShaderInstrumentationValuesARM") < 20


def test_blocks_are_put_in_order() -> None:
    """By command, sub index, stages and basic block: a driver may group stages as it likes."""
    blocks = [
        block(1, 0x1, 1), block(0, 0x10, 2, basic=1), block(0, 0x10, 3), block(0, 0x1, 4, sub=1), block(0, 0x1, 5),
    ]  # fmt: skip
    found, _ = read(Driver(blocks))
    assert [one[4][0] for one in found] == [5, 3, 2, 4, 1]


def test_fewer_blocks_than_were_counted() -> None:
    driver = Driver([block(index, 0x20, index) for index in range(4)])
    driver.most = 2
    assert read(driver) == ([block(0, 0x20, 0), block(1, 0x20, 1)], ["run/lost"])


def test_a_stub_writes_nothing() -> None:
    """Khronos' mock driver returns VK_SUCCESS and leaves the count as it was."""
    driver = Driver()
    driver.writes = False
    assert read(driver) == ([], [])
    unnamed = (Metric("", ""), Metric("", ""))
    assert enumerate_metrics(driver, ffi.NULL, 2) == (unnamed, "the driver counts 2 metrics and names 0")


def test_an_index_that_was_spent_leaves_a_gap() -> None:
    blocks = [block(0, 0x20, 1), block(2, 0x20, 3)]
    assert read(Driver(blocks)) == (blocks, [])


def test_a_block_of_no_stage_is_none() -> None:
    assert read(Driver([block(0, 0, 1), block(0, 0x20, 2)])) == ([block(0, 0x20, 2)], ["run/empty-blocks"])


def test_blocks_that_were_counted_and_not_written() -> None:
    """What was never written is of no stage, and no zeros."""
    driver = Driver()
    driver.promises = 3
    assert read(driver) == ([], ["run/empty-blocks"])


@pytest.mark.parametrize(("metrics", "promised"), [(1, (1 << 22) + 1), (1, 0xFFFFFFFF), (4096, 1 << 22)])
def test_a_count_that_no_run_has_costs_no_memory(metrics: int, promised: int) -> None:
    """4,096 metrics in 2**22 blocks would be 128 GiB."""
    driver = Driver()
    driver.promises = promised
    with pytest.raises(DriverError, match=f"{promised} blocks"):
        read(driver, metrics)
    assert driver.calls.count("vkGetShaderInstrumentationValuesARM") == 1


@pytest.mark.parametrize("result", ERRORS)
@pytest.mark.parametrize(
    ("command", "good"),
    [
        ("vkCreateShaderInstrumentationARM", 0),
        ("vkGetShaderInstrumentationValuesARM", 0),
        ("vkGetShaderInstrumentationValuesARM", 1),
    ],
)
def test_errors_are_told_with_their_call(command: str, good: int, result: int) -> None:
    driver = Driver([block(0, 0x20, 1)])
    driver.fails, driver.good = {command: result}, good
    with pytest.raises(DriverError) as raised:
        read(driver)
    assert (raised.value.call, raised.value.vk_result) == (command, ERRORS[result])
    # what was made is destroyed, and nothing else
    made = command != "vkCreateShaderInstrumentationARM"
    assert driver.calls.count("vkDestroyShaderInstrumentationARM") == made


@pytest.mark.parametrize("good", [0, 1])
@pytest.mark.parametrize("result", [*ERRORS, INITIALIZATION_FAILED])
def test_metrics_that_can_not_be_told(result: int, good: int) -> None:
    command = "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM"
    driver = Driver(names=[(b"fma", b"")])
    driver.fails, driver.good = {command: result}, good
    with pytest.raises(DriverError) as raised:
        enumerate_metrics(driver, ffi.NULL, 1)
    assert raised.value.call == command
    assert raised.value.vk_result == ERRORS.get(result, "VK_ERROR_INITIALIZATION_FAILED")


def test_metrics_in_the_drivers_order() -> None:
    """Names may repeat or be empty: the place counts."""
    names = [(b"fma", b"multiplies"), (b"", b""), (b"fma", b"other")]
    found = enumerate_metrics(Driver(names=names), ffi.NULL, 3)
    assert found == ((Metric("fma", "multiplies"), Metric("", ""), Metric("fma", "other")), "")


def test_metrics_beyond_the_number_that_blocks_are_laid_out_by() -> None:
    driver = Driver(names=[(b"a", b""), (b"b", b"")])
    assert enumerate_metrics(driver, ffi.NULL, 1) == ((Metric("a", ""),), "the driver counts 1 metric and names 2")


@pytest.mark.parametrize(
    ("count", "why"), [(0, "0 metrics: there is at least one"), (20000, "20000 metrics: at most 4096 are believed")]
)
def test_a_number_of_metrics_that_cannot_be(count: int, why: str) -> None:
    """VkPhysicalDeviceShaderInstrumentationPropertiesARM::numMetrics is at least 1 ("Required Limits")."""
    with pytest.raises(DriverError, match=why):
        enumerate_metrics(Driver(names=[(b"a", b"")]), ffi.NULL, count)


def test_end_follows_begin_whatever_happens_between() -> None:
    driver = Driver()
    with Instrument(driver, 1) as instrument:
        with pytest.raises(RuntimeError), instrument.counting(ffi.NULL):
            raise RuntimeError("a draw that can't be recorded")
    begin, end = "vkCmdBeginShaderInstrumentationARM", "vkCmdEndShaderInstrumentationARM"
    assert [name for name in driver.calls if name in (begin, end)] == [begin, end]


def test_counts_add_up_until_they_are_cleared() -> None:
    """And a block stays one, with its index, when its counts are zero."""
    driver = Driver()
    with Instrument(driver, 2) as instrument:
        found = []
        for clear in (False, False, True):
            if clear:
                instrument.clear()
                found.append(instrument.read(1))
            driver.submit(block(0, 0x20, 3, 2**40), block(2, 0x20, 5, 0))
            found.append(instrument.read(0))
    assert [[(one.submission, one.result_index, one.values) for one in each] for each in found] == [
        [(0, 0, (3, 2**40)), (0, 2, (5, 0))],
        [(0, 0, (6, 2**41)), (0, 2, (10, 0))],
        [(1, 0, (0, 0)), (1, 2, (0, 0))],
        [(0, 0, (3, 2**40)), (0, 2, (5, 0))],
    ]
