"""The mock's statistics: names, formats and descriptions, in the order in which they are answered.

Each description says exactly what is counted. A statistic that means nothing for a stage is left out, not zero.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from shaderstat.backends.mock.analysis import Analysis
from shaderstat.backends.mock.classes import CLASSES
from shaderstat.model import STATISTIC_FORMATS, StatisticAnswer
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import EntryPoint

_MOST = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Subject:
    """What statistics are of. `size` is the module's, in bytes; `identity` a hash of all that was compiled."""

    analysis: Analysis
    entry: EntryPoint
    size: int
    identity: int


Value = int | float | bool | None


@dataclass(frozen=True, slots=True)
class Definition:
    """A statistic; `value` gives None where it means nothing."""

    name: str
    format: str
    description: str
    value: Callable[[Subject], Value]


def _class(name: str, what: str) -> Definition:
    return Definition(name, "uint64", f"Instructions: {what}", lambda subject: subject.analysis.classes[name])


DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "Hash",
        "uint64",
        "The first 64 bits of the SHA-256 of the module's words, the entry point and the specialization: equal for "
        "equal code",
        lambda subject: subject.identity,
    ),
    Definition(
        "Instructions",
        "uint64",
        "Instructions in the functions that the entry point reaches, each function once; without debug information, "
        "labels, merge instructions, variables and others that do nothing",
        lambda subject: subject.analysis.instructions,
    ),
    *(_class(name, what) for name, what in CLASSES.items()),
    Definition(
        "Load surplus",
        "int64",
        "Loads less Stores: below zero where more is written than read",
        lambda subject: subject.analysis.classes["Loads"] - subject.analysis.classes["Stores"],
    ),
    Definition(
        "Branches",
        "uint64",
        "OpBranchConditional and OpSwitch, which count to Control flow as well",
        lambda subject: subject.analysis.decisions,
    ),
    Definition("Selections", "uint64", "OpSelectionMerge", lambda subject: subject.analysis.selections),
    Definition("Loops", "uint64", "OpLoopMerge", lambda subject: subject.analysis.loops),
    Definition(
        "Loop depth",
        "uint64",
        "The deepest nesting of loops, as if every call were inlined",
        lambda subject: subject.analysis.loop_depth,
    ),
    Definition("Basic blocks", "uint64", "OpLabel", lambda subject: subject.analysis.blocks),
    Definition(
        "Functions",
        "uint64",
        "Functions that the entry point reaches, its own included",
        lambda subject: subject.analysis.functions,
    ),
    Definition(
        "Call depth",
        "uint64",
        "Calls on the longest chain from the entry point",
        lambda subject: subject.analysis.call_depth,
    ),
    Definition(
        "Live values",
        "uint64",
        "Results of instructions that are kept at once, at the worst point: made before and used after. Memory "
        "(variables) and constants are no results; what lives across a call is on top of what lives in it",
        lambda subject: subject.analysis.live.values if subject.analysis.live else None,
    ),
    Definition(
        "Live components",
        "uint64",
        "Scalar components of live values, at their worst point: a vec4 has four, of whatever width; pointers and "
        "handles have one",
        lambda subject: subject.analysis.live.components if subject.analysis.live else None,
    ),
    Definition(
        "Local components",
        "uint64",
        "Scalar components of the Function and Private variables of the functions that the entry point reaches",
        lambda subject: subject.analysis.local_components,
    ),
    Definition(
        "Workgroup invocations",
        "uint64",
        "The product of the workgroup's size, specialization applied",
        lambda subject: _product(subject.entry.local_size) if subject.entry.local_size else None,
    ),
    Definition(
        "Shared memory",
        "uint64",
        "Bytes of the Workgroup variables, tightly packed, specialization applied",
        lambda subject: subject.entry.shared_bytes if subject.entry.local_size else None,
    ),
    Definition(
        "Input components",
        "uint64",
        "Scalar components of the user-defined inputs, built-ins left out",
        lambda subject: sum(each.components for each in subject.entry.inputs) if _has_interface(subject) else None,
    ),
    Definition(
        "Output components",
        "uint64",
        "Scalar components of the user-defined outputs, built-ins left out",
        lambda subject: sum(each.components for each in subject.entry.outputs) if _has_interface(subject) else None,
    ),
    Definition("Bindings", "uint64", "Descriptor bindings in use", lambda subject: len(subject.entry.bindings)),
    Definition(
        "Push constants",
        "uint64",
        "Bytes of the push constant range",
        lambda subject: subject.entry.push_constants.size if subject.entry.push_constants else 0,
    ),
    Definition(
        "Code size",
        "uint64",
        "Bytes of the functions that the entry point reaches, as SPIR-V",
        lambda subject: subject.analysis.code_words * 4,
    ),
    Definition("Module size", "uint64", "Bytes of the whole module", lambda subject: subject.size),
    Definition(
        "Arithmetic share",
        "float64",
        "Arithmetic divided by Instructions",
        lambda subject: _ratio(subject.analysis.classes["Arithmetic"], subject.analysis.instructions),
    ),
    Definition(
        "Instructions per block",
        "float64",
        "Instructions divided by Basic blocks",
        lambda subject: _ratio(subject.analysis.instructions, subject.analysis.blocks),
    ),
    Definition(
        "Discards",
        "bool32",
        "Whether there is an instruction that ends an invocation or makes it a helper",
        lambda subject: subject.analysis.discards,
    ),
    Definition(
        "Derivatives needed",
        "bool32",
        "Whether neighbouring invocations are needed: for a derivative, or for sampling with an implicit one",
        lambda subject: subject.analysis.needs_derivatives,
    ),
    Definition(
        "Writes memory",
        "bool32",
        "Whether there is a store or an atomic to a buffer or an image",
        lambda subject: subject.analysis.writes_memory,
    ),
    Definition(
        "Endless loop",
        "bool32",
        "Whether a block that is reached has no path that leaves its function",
        lambda subject: subject.analysis.endless,
    ),
)


def answers(subject: Subject) -> tuple[StatisticAnswer, ...]:
    """All statistics of one executable."""
    found = []
    for definition in DEFINITIONS:
        value = definition.value(subject)
        if value is not None:
            number = STATISTIC_FORMATS.index(definition.format)
            found.append(
                StatisticAnswer(definition.name, definition.description, number, bits(definition.format, value))
            )
    return tuple(found)


def bits(format: str, value: int | float) -> int:
    """A value as the union's bytes hold it: VkPipelineExecutableStatisticValueKHR."""
    if format == "float64":
        raw: int = struct.unpack("<Q", struct.pack("<d", value))[0]
        return raw
    number = int(value)
    return number & _MOST if number < 0 else min(number, _MOST)


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _has_interface(subject: Subject) -> bool:
    return subject.entry.stage in ("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment")
