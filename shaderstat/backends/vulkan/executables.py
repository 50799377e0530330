"""What a driver tells of a pipeline: its executables, their statistics and internal representations.

Drivers break the protocol of VK_KHR_pipeline_executable_properties in many ways: counts that shrink, VK_INCOMPLETE for
complete answers, missing NULs, sizes that are not lowered. So: the count and the size of the last call hold, outputs
are zeroed and bear their sType, nothing is asked for with an empty array (NVIDIA 580.159 aborts), and what one query
can't tell is a remark that leaves the others alone.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import lru_cache
from time import perf_counter_ns
from typing import Any

from shaderstat.backends.base import DriverError, told_less
from shaderstat.model import ExecutableAnswer, RepresentationAnswer, StatisticAnswer
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import INCOMPLETE, NULL, SUCCESS, Functions, ffi
from .builder import Arena, struct_layout

# How often a count that grew, or a buffer that was too short, is asked for again.
TRIES = 4
# Beyond these an answer is not believed: no pipeline has as many, and no memory is spent on it.
MAX_COUNT = 1 << 17
MAX_BYTES = 1 << 30

# VkPipelineExecutableStatisticFormatKHR: the one format that fills four bytes of the union's eight.
BOOL32 = 0

# The members behind sType and pNext as they lie in memory; a test compares these with the C types.
EXECUTABLE = struct.Struct("=16xI256s256sI")
STATISTIC = struct.Struct("=16x256s256sI4xQ")
REPRESENTATION = struct.Struct("=16x256s256sI4xQQ")

_PROPERTIES_CALL = "vkGetPipelineExecutablePropertiesKHR"
_STATISTICS_CALL = "vkGetPipelineExecutableStatisticsKHR"
_REPRESENTATIONS_CALL = "vkGetPipelineExecutableInternalRepresentationsKHR"


@dataclass(frozen=True, slots=True)
class _Told:
    """An array of `c_type` with what the driver wrote; it `counted` so many elements before, and says that the array
    is `complete`."""

    array: Any
    c_type: str
    written: int
    counted: int
    complete: bool

    @property
    def bytes(self) -> bytes:
        """The elements that were written."""
        return bytes(ffi.buffer(self.array)[: self.written * ffi.sizeof(self.c_type)]) if self.written else b""


class Query:
    """The questions about one pipeline.

    Attributes:
        driver_ns: time spent inside the driver.
        remarks: (code, message) of each oddity.
    """

    def __init__(self, functions: Functions, pipeline: Any) -> None:
        self._functions = functions
        self._pipeline = pipeline
        self.driver_ns = 0
        self.remarks: list[tuple[str, str]] = []

    def executables(self, *, statistics: bool, representations: bool) -> tuple[ExecutableAnswer, ...]:
        """All executables, with what was captured of them.

        Raises:
            DriverError: the executables themselves can't be listed.
        """
        arena = Arena()
        info = arena.build("VkPipelineInfoKHR", {"pipeline": self._pipeline})
        told = self._array(_PROPERTIES_CALL, info, "VkPipelineExecutablePropertiesKHR")
        self._check("executables", told, told.written)
        answers = []
        for index, (stages, name, description, subgroup_size) in enumerate(EXECUTABLE.iter_unpack(told.bytes)):
            where = f"executable {index} ({_text(name)})"
            question = arena.build(
                "VkPipelineExecutableInfoKHR", {"pipeline": self._pipeline, "executableIndex": index}
            )
            answers.append(
                ExecutableAnswer(
                    name=_text(name),
                    description=_text(description),
                    stages=stages,
                    subgroup_size=subgroup_size,
                    statistics=self._statistics(question, where) if statistics else (),
                    representations=self._representations(question, where) if representations else (),
                )
            )
        return tuple(answers)

    def _statistics(self, question: Any, where: str) -> tuple[StatisticAnswer, ...]:
        try:
            told = self._array(_STATISTICS_CALL, question, "VkPipelineExecutableStatisticKHR")
        except DriverError as error:
            self._remark("vulkan/statistics", f"{where}: no statistics: {error}")
            return ()
        found = []
        for name, description, format, bits in STATISTIC.iter_unpack(told.bytes):
            if not (name[0] or description[0] or format or bits):
                continue  # counted, never written
            if format == BOOL32:
                bits = struct.unpack("=I4x", struct.pack("=Q", bits))[0]
            found.append(StatisticAnswer(_text(name), _text(description), format, bits))
        self._check("statistics", told, len(found), where)
        return tuple(found)

    def _representations(self, question: Any, where: str) -> tuple[RepresentationAnswer, ...]:
        try:
            return self._read_representations(question, where)
        except DriverError as error:
            self._remark("vulkan/representations", f"{where}: no internal representations: {error}")
            return ()

    def _read_representations(self, question: Any, where: str) -> tuple[RepresentationAnswer, ...]:
        """Three calls: the count, the sizes, the data; once more from the start where something grew in between."""
        c_type = "VkPipelineExecutableInternalRepresentationKHR"
        for attempt in range(TRIES):
            told = self._array(_REPRESENTATIONS_CALL, question, c_type)
            if not told.written:
                self._check("internal representations", told, 0, where)
                return ()
            buffers = [self._buffer(element, where) for element in told.array[0 : told.written]]
            length = ffi.new("uint32_t *", told.written)
            result = self._timed(_REPRESENTATIONS_CALL, question, length, told.array)
            if result not in (SUCCESS, INCOMPLETE):
                raise DriverError(_REPRESENTATIONS_CALL, registry.result_name(result))
            told = replace(told, written=min(length[0], told.written), complete=told.complete and result == SUCCESS)
            if told.complete or attempt == TRIES - 1:
                break
        self._check("internal representations", told, told.written, where)
        found = []
        for index, fields in enumerate(REPRESENTATION.iter_unpack(told.bytes)):
            name, description, is_text, size, _ = fields
            data = bytes(ffi.buffer(buffers[index])[:size]) if buffers[index] is not None else b""
            if is_text:
                # dataSize may be that of the whole buffer, and the NUL may be missing
                data = data.partition(b"\0")[0]
            label = _text(name)
            if not data and (not label or buffers[index] is None):
                continue  # RADV counts one more than it has; and what was refused
            found.append(RepresentationAnswer(label or f"unnamed-{index}", _text(description), bool(is_text), data))
        return tuple(found)

    def _buffer(self, element: Any, where: str) -> Any:
        """Room for one representation, as large as the driver said; None where that can't be believed."""
        size = element.dataSize
        if size > MAX_BYTES:
            self._remark("vulkan/absurd-size", f"{where}: a representation of {size} bytes is not asked for")
            element.dataSize = 0
            return None
        buffer = ffi.new("char[]", size)
        element.pData = buffer if size else NULL
        return buffer

    # ── The protocol of two calls ─────────────────────────────────────────────────────────────────────────────────

    def _check(self, what: str, told: _Told, count: int, where: str = "") -> None:
        """Remark on a list that isn't whole; `count` of its elements were told."""
        if not told.complete:
            start = f"{where}: " if where else ""
            self._remark("vulkan/incomplete", f"{start}the driver says that there are more {what} than it tells")
        else:
            for code, message in told_less(what, told.counted, count, where):
                self._remark(code, message)

    def _array(self, call: str, info: Any, c_type: str) -> _Told:
        """What `call` filled.

        Raises:
            DriverError: an error, or a count that can't be believed.
        """
        s_type = struct_layout(c_type).s_type
        assert s_type is not None
        count = ffi.new("uint32_t *")
        room = 0
        for _ in range(TRIES):
            count[0] = 0
            result = self._timed(call, info, count, NULL)
            if result not in (SUCCESS, INCOMPLETE):
                raise DriverError(call, registry.result_name(result))
            if count[0] == 0:
                return _Told(NULL, c_type, 0, 0, True)
            if count[0] > MAX_COUNT:
                raise DriverError(call, None, f"told of {count[0]} elements, which no pipeline has")
            counted = count[0]
            # A driver that found the last array too short may have told the wrong count again.
            room = max(count[0], 2 * room)
            array = ffi.new(c_type + "[]", room)
            heads = memoryview(ffi.buffer(array)).cast("I")
            step = ffi.sizeof(c_type) // 4
            for index in range(room):
                heads[index * step] = s_type
            count[0] = room
            result = self._timed(call, info, count, array)
            if result == SUCCESS:
                return _Told(array, c_type, min(count[0], room), counted, True)
            if result != INCOMPLETE:
                raise DriverError(call, registry.result_name(result))
        return _Told(array, c_type, min(count[0], room), counted, False)

    def _timed(self, call: str, info: Any, count: Any, array: Any) -> int:
        function = self._functions[call]
        device = self._functions.handle
        start = perf_counter_ns()
        result: int = function(device, info, count, array)
        self.driver_ns += perf_counter_ns() - start
        return result

    def _remark(self, code: str, message: str) -> None:
        if (code, message) not in self.remarks:
            self.remarks.append((code, message))


@lru_cache(4096)
def _text(field: bytes) -> str:
    """A ``char[256]``: up to the NUL, which may be missing; a name cut inside a character ends in U+FFFD."""
    return field.partition(b"\0")[0].decode("utf-8", "replace")
