"""VK_ARM_shader_instrumentation: what a device can count, and what it did count.

The traps that this module minds: counts that a stub never writes, that grow between two calls or that promise more
than comes, VK_INCOMPLETE without end, an End that is missing after an exception. Nothing here knows about resources or
pipelines; functions come from an object, so that a test can pretend to be a driver.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from shaderstat.backends.base import DriverError, told_less
from shaderstat.instrumentation import Metric, MetricBlock
from shaderstat.registry import vulkan as registry

from .binding import INCOMPLETE, NULL, SUCCESS, check, extra_ffi, ffi
from .builder import Arena, struct_layout
from .facts import text

# How often an array that was too short is made twice as long.
TRIES = 8
# Beyond these an answer is not believed, and no memory is spent on it.
MAX_METRICS = 1 << 12
MAX_BLOCKS = 1 << 22
MAX_BYTES = 1 << 30

_ENUMERATE = "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM"
_CREATE = "vkCreateShaderInstrumentationARM"
_VALUES = "vkGetShaderInstrumentationValuesARM"
_DESCRIPTION = "VkShaderInstrumentationMetricDescriptionARM"


class Table(Protocol):
    """Functions by name, as `shaderstat.backends.vulkan.binding.Functions` has them; `handle` is the VkDevice."""

    handle: Any

    def __getitem__(self, name: str) -> Any: ...


Remarks = list[tuple[str, str]]


def enumerate_metrics(functions: Table, physical_device: Any, expected: int) -> tuple[tuple[Metric, ...], str]:
    """The metrics of a device, in its order, and what is odd about them.

    Args:
        functions: of the instance.
        expected: VkPhysicalDeviceShaderInstrumentationPropertiesARM::numMetrics, by which blocks are laid out: as many
            are given, without a name where the device tells of fewer.

    Raises:
        DriverError: an error, or a count that can't be believed.
    """
    call = functions[_ENUMERATE]
    s_type = struct_layout(_DESCRIPTION).s_type
    if not 0 < expected <= MAX_METRICS:
        bound = f"at most {MAX_METRICS} are believed" if expected else "there is at least one where any are counted"
        raise DriverError("vkGetPhysicalDeviceProperties2", None, f"told of {expected} metrics: {bound}")
    count = extra_ffi.new("uint32_t *")
    result = call(physical_device, count, extra_ffi.NULL)
    told, capacity = 0, min(count[0], MAX_METRICS)
    for _ in range(TRIES if result in (SUCCESS, INCOMPLETE) and capacity else 0):
        array = extra_ffi.new(_DESCRIPTION + "[]", capacity)
        for element in array:
            element.sType = s_type
        count[0] = capacity
        result = call(physical_device, count, array)
        told = min(count[0], capacity)
        if result != INCOMPLETE or capacity >= MAX_METRICS:
            break
        capacity *= 2
    if result not in (SUCCESS, INCOMPLETE):
        raise DriverError(_ENUMERATE, registry.result_name(result))
    remark = ""
    if told != expected or result == INCOMPLETE:
        more = " and more" if result == INCOMPLETE else ""
        remark = f"the driver counts {expected} metric{'s' * (expected != 1)} and names {told}{more}"
    metrics = [Metric(text(array[index].name), text(array[index].description)) for index in range(min(told, expected))]
    return (*metrics, *([Metric("", "")] * (expected - len(metrics)))), remark


class Instrument:
    """A VkShaderInstrumentationARM. As a context manager: leaving it destroys it, and must not be before what it
    counts has been waited for.

    Attributes:
        remarks: (code, message) of each oddity.
    """

    def __init__(self, functions: Table, metrics: int) -> None:
        self._functions = functions
        self._metrics = metrics
        self._block = struct.Struct(f"=4I{metrics}Q")
        self.handle: Any = NULL
        self.remarks: Remarks = []

    def __enter__(self) -> Instrument:
        """Raises:
        DriverError: it can't be created.
        """
        arena = Arena()
        handle = arena.own(extra_ffi.new("void **"))
        info = arena.build("VkShaderInstrumentationCreateInfoARM", {})
        check(_CREATE, self._functions[_CREATE](self._functions.handle, info, extra_ffi.NULL, handle))
        self.handle = handle[0]
        return self

    def __exit__(self, *error: object) -> None:
        self._functions["vkDestroyShaderInstrumentationARM"](self._functions.handle, self.handle, extra_ffi.NULL)
        self.handle = NULL

    @contextmanager
    def counting(self, command_buffer: Any) -> Iterator[None]:
        """Count the commands that are recorded meanwhile. End is recorded even where one of them can't be."""
        self._functions["vkCmdBeginShaderInstrumentationARM"](command_buffer, self.handle)
        try:
            yield
        finally:
            self._functions["vkCmdEndShaderInstrumentationARM"](command_buffer)

    def clear(self) -> None:
        """Set all values to zero; indices stay."""
        self._functions["vkClearShaderInstrumentationMetricsARM"](self._functions.handle, self.handle)

    def read(self, submission: int) -> tuple[MetricBlock, ...]:
        """The blocks of a submission that was waited for, sorted; those of no stage are none.

        Raises:
            DriverError: an error, or a count that can't be believed.
        """
        count = extra_ffi.new("uint32_t *")
        result = self._get(count, extra_ffi.NULL)
        counted = capacity = count[0]
        if result not in (SUCCESS, INCOMPLETE):
            raise DriverError(_VALUES, registry.result_name(result))
        size = self._block.size
        most = min(MAX_BLOCKS, MAX_BYTES // size)
        if counted > most:
            raise DriverError(_VALUES, None, f"told of {counted} blocks, which no run has")
        if counted == 0:
            return ()
        for _ in range(TRIES):
            array = ffi.new("uint64_t[]", capacity * size // 8)
            count[0] = capacity
            result = self._get(count, array)
            if result not in (SUCCESS, INCOMPLETE):
                raise DriverError(_VALUES, registry.result_name(result))
            told = min(count[0], capacity)
            if result == SUCCESS or capacity >= most:
                break
            capacity = min(2 * capacity, most)
        if result == INCOMPLETE:
            self._remark("run/incomplete", f"the driver says that there are more blocks than the {told} that it tells")
        else:
            for _, message in told_less("blocks", counted, told):
                self._remark("run/lost", message)
        data = bytes(ffi.buffer(array)[: told * size])
        blocks = [
            MetricBlock(submission, index, sub_index, stages, block, tuple(values))
            for index, sub_index, stages, block, *values in self._block.iter_unpack(data)
        ]
        written = [each for each in blocks if each.stages]
        if len(written) < len(blocks):
            nothing = len(blocks) - len(written)
            self._remark(
                "run/empty-blocks", f"{nothing} of the driver's {len(blocks)} blocks are of no stage: left out"
            )
        return tuple(
            sorted(written, key=lambda one: (one.result_index, one.result_sub_index, one.stages, one.basic_block))
        )

    def _get(self, count: Any, values: Any) -> int:
        result: int = self._functions[_VALUES](self._functions.handle, self.handle, count, values, 0)
        return result

    def _remark(self, code: str, message: str) -> None:
        if (code, message) not in self.remarks:
            self.remarks.append((code, message))
