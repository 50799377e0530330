"""From a driver's answer to a report's executables: exact values, and beside them what is known of each.

The parent does this, after the store, so that a better dictionary needs no new compilation.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shaderstat import dictionary
from shaderstat.dictionary import Entry
from shaderstat.memory import Memory
from shaderstat.model import (
    STATISTIC_FORMATS,
    Device,
    Diagnostic,
    Driver,
    Executable,
    ExecutableAnswer,
    Representation,
    RepresentationAnswer,
    Statistic,
    StatisticAnswer,
    StatisticInfo,
    Target,
    is_subgroup_size,
    merge,
    numbered,
    stage_names,
)
from shaderstat.representations import code_sha256, sha256

if TYPE_CHECKING:
    from shaderstat.instrumentation import Instrumentation, Instrumented, Resource

# Integers up to here pass through any reader of JSON unharmed (RFC 8259, section 6).
EXACT = 2**53

# IEEE 754-2019, 6.2.1: quiet, positive, no payload.
QUIET_NAN = 0x7FF8_0000_0000_0000

# RADV on GFX6 and GFX7 answers so in place of an assembly: 22.3.6 with this text alone, 25.0.7 with more after it.
NO_DISASSEMBLY = b"Shader disassembly is not supported in the current configuration."

# VkDriverId of AMDVLK: its subgroupSize is the workgroup's size in compute and unset in graphics.
AMDVLK = 2

# How the fill of a resource ends whose content was said (`shaderstat.instrumentation.Resource`).
GIVEN = " given"

# Statistics of which a run knows already what they are.
_HELD = 4096


def guessed(target: Target) -> tuple[Target, str | None]:
    """A target of which nobody said what driver it is, with what is known of its statistics if only one driver has
    such; and the name of that driver's dictionary."""
    stem = dictionary.whose([info.name for info in target.statistics])
    if stem is None:
        return target, None
    known = dictionary.by_name(stem)
    infos = tuple(_told(info, known.lookup(info.name)) for info in target.statistics)
    return replace(target, statistics=infos), stem


def _told(info: StatisticInfo, entry: Entry) -> StatisticInfo:
    return StatisticInfo(
        name=info.name,
        format=info.format,
        description=info.description,
        key=entry.key,
        unit=entry.unit,
        better=entry.better,
        role=entry.role,
        label=entry.label,
        note=entry.note,
        bits=entry.bits,
    )


class StatisticTable:
    """The statistics met so far on one target, in the driver's order.

    Executables have different sets. One that is new goes behind the one it followed in its executable, so that the
    whole list reads like the driver's own.
    """

    def __init__(self) -> None:
        self._infos: dict[tuple[str, str, int], StatisticInfo] = {}
        self._order: list[tuple[str, str, int]] = []

    def add(self, infos: Iterable[StatisticInfo]) -> bool:
        """Take in one executable's statistics, in its order. Returns whether any was new."""
        infos = tuple(infos)
        new = {key: info for key, info in zip(numbered(infos), infos, strict=True) if key not in self._infos}
        if new:
            self._infos.update(new)
            merge(self._order, numbered(infos))
        return bool(new)

    @property
    def infos(self) -> tuple[StatisticInfo, ...]:
        return tuple(self._infos[key] for key in self._order)


class Annotator:
    """What one target's answers become. `device` settles what a dictionary says of some of a driver's GPUs."""

    def __init__(self, driver: Driver, device: Device | None = None, memory: Memory | None = None) -> None:
        self._driver = driver
        self._dictionary = dictionary.load(driver, device, memory)
        self._entries: dict[str, Entry] = {}
        self._statistics: dict[tuple[str, int, int], Statistic] = {}
        self._shapes: set[tuple[tuple[str, int], ...]] = set()
        self._table = StatisticTable()
        self._grew = False

    @property
    def statistics(self) -> tuple[StatisticInfo, ...]:
        """All statistics met so far, in the driver's order: `Target.statistics`."""
        return self._table.infos

    @property
    def grew(self) -> bool:
        """Whether `statistics` has grown since this was last read."""
        grew, self._grew = self._grew, False
        return grew

    def executables(self, answers: Sequence[ExecutableAnswer]) -> tuple[Executable, ...]:
        """One pipeline's executables, in the driver's order."""
        return tuple(self._executable(index, answer) for index, answer in enumerate(answers))

    def diagnostics(self, answers: Sequence[ExecutableAnswer]) -> tuple[Diagnostic, ...]:
        """What a reader of these answers should be told."""
        found: list[Diagnostic] = []
        for index, answer in enumerate(answers):
            where = f"executable {index}, {answer.name or '(unnamed)'}"
            if answer.subgroup_size and not self._is_subgroup_size(answer.subgroup_size):
                found.append(
                    Diagnostic(
                        "info",
                        "driver/subgroup-size",
                        f"{where}: the driver says {answer.subgroup_size}, which is no subgroup size",
                    )
                )
            found.extend(
                Diagnostic(
                    "warning",
                    "driver/no-disassembly",
                    f"{where}: this driver has no disassembler for this GPU: {each.name} holds its message alone",
                )
                for each in answer.representations
                if each.is_text and each.data.startswith(NO_DISASSEMBLY)
            )
        return tuple(found)

    def _is_subgroup_size(self, size: int) -> bool:
        return is_subgroup_size(size) and self._driver.id != AMDVLK

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = self._dictionary.lookup(name)
        return entry

    def _statistic(self, answer: StatisticAnswer) -> Statistic:
        key = answer.name, answer.format, answer.bits
        found = self._statistics.get(key)
        if found is None:  # most numbers of a run were there before: zeros, and what is constant on a GPU
            if len(self._statistics) >= _HELD:
                self._statistics.clear()
            found = self._statistics[key] = statistic(answer, self._entry(answer.name))
        return found

    def _executable(self, index: int, answer: ExecutableAnswer) -> Executable:
        shape = tuple((each.name, each.format) for each in answer.statistics)
        if shape not in self._shapes:  # nearly all executables of a run have one of a few sets of statistics
            self._shapes.add(shape)
            infos = [_info(each, self._entry(each.name)) for each in answer.statistics]
            self._grew = self._table.add(infos) or self._grew
        return Executable(
            index=index,
            name=answer.name,
            description=answer.description,
            stages=stage_names(answer.stages),
            subgroup_size=answer.subgroup_size or None,
            synthetic=answer.synthetic,
            bound=answer.bound,
            statistics=tuple(map(self._statistic, answer.statistics)),
            representations=tuple(_representation(*each) for each in enumerate(answer.representations)),
        )


def instrumented(answer: Instrumentation) -> Instrumented:
    """What a report holds of a run: blocks in a fixed order, since a driver's is only partly one."""
    from shaderstat.instrumentation import CountedBlock, Instrumented  # of runs alone

    blocks = sorted(
        answer.blocks,
        key=lambda one: (one.submission, one.result_index, one.result_sub_index, one.stages, one.basic_block),
    )
    return Instrumented(
        offer=answer.offer,
        commands=answer.commands,
        submissions=answer.submissions,
        accumulated=answer.accumulated,
        blocks=tuple(
            CountedBlock(
                submission=one.submission,
                command=one.result_index,
                sub_index=one.result_sub_index,
                stages=stage_names(one.stages),
                basic_block=one.basic_block,
                values=one.values,
                texts=_texts(one.values),
                synthetic=one.synthetic,
            )
            for one in blocks
        ),
        resources=answer.resources,
        invented=any(map(_is_made_up, answer.resources)),
        run_ns=answer.run_ns,
    )


def _is_made_up(resource: Resource) -> bool:
    """Whether shaders read something there that nobody gave. What is drawn into is no input."""
    if resource.where.startswith("attachment") or resource.type.endswith("INPUT_ATTACHMENT"):
        return False
    if "ACCELERATION_STRUCTURE" in resource.type:
        return True
    return bool(resource.fill) and not resource.fill.endswith(GIVEN)


def _texts(values: Sequence[int]) -> tuple[str | None, ...]:
    if all(value <= EXACT for value in values):
        return ()
    return tuple(str(value) if value > EXACT else None for value in values)


def statistic(answer: StatisticAnswer, entry: Entry) -> Statistic:
    """The exact value of a statistic, by its format (VkPipelineExecutableStatisticFormatKHR).

    A value that is no number of its format has `value` None and its exact form in `text`.
    """
    name, bits, form = answer.name, answer.bits, format_name(answer.format)
    if form == "float64":
        number: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        if math.isfinite(number):
            return Statistic(name, form, number)
        if math.isnan(number):
            return Statistic(name, form, None, nan_text(bits))
        return Statistic(name, form, None, "Infinity" if number > 0 else "-Infinity")
    if form == "bool32":
        if bits in (0, 1):
            return Statistic(name, form, bits)
        return Statistic(name, form, None, str(bits), "neither VK_FALSE nor VK_TRUE")
    if form in ("int64", "uint64"):
        value = bits - 2**64 if form == "int64" and bits >= 2**63 else bits
        if entry.role == "identity":
            return Statistic(name, form, value, f"0x{bits:0{entry.bits // 4}x}")
        text = str(value) if abs(value) > EXACT else None
        return Statistic(name, form, value, text, _half_written(bits, entry))
    return Statistic(name, form, None, f"0x{bits:016x}", "a statistic format that shaderstat does not know")


def nan_text(bits: int) -> str:
    """``NaN`` for the one that computations give; any other one, sign and payload, with its 64 bits."""
    return "NaN" if bits == QUIET_NAN else f"NaN(0x{bits:016x})"


def format_name(number: int) -> str:
    """A statistic format's word; the number as text where it is unknown."""
    return STATISTIC_FORMATS[number] if 0 <= number < len(STATISTIC_FORMATS) else str(number)


def _half_written(bits: int, entry: Entry) -> str | None:
    if bits >> entry.bits == 0:
        return None
    return f"the driver writes the low {entry.bits} bits alone: they say {bits & (2**entry.bits - 1)}"


def _info(answer: StatisticAnswer, entry: Entry) -> StatisticInfo:
    return _told(StatisticInfo(answer.name, format_name(answer.format), answer.description), entry)


def _representation(index: int, answer: RepresentationAnswer) -> Representation:
    return Representation(
        name=answer.name,
        description=answer.description,
        is_text=answer.is_text,
        size=len(answer.data),
        sha256=sha256(answer.data),
        code_sha256=code_sha256(answer.data, answer.is_text),
        index=index,
    )
