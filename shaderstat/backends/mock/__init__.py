"""The mock: a backend that needs no loader, no driver and no GPU. It takes a pipeline as any driver does, and answers
with a true static analysis of the SPIR-V itself; it says plainly that no GPU compiler was asked.

With a scenario (`shaderstat.backends.mock.scenario`) it answers anything that a driver may.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from shaderstat._version import __version__
from shaderstat.backends.base import DriverError, SpirvTools, told_less
from shaderstat.backends.mock import scenario as scenarios
from shaderstat.backends.mock.analysis import analyse
from shaderstat.backends.mock.code import Code, find_entry
from shaderstat.backends.mock.listing import control_flow_graph
from shaderstat.backends.mock.scenario import Rule, Scenario
from shaderstat.backends.mock.statistics import Subject, answers
from shaderstat.errors import NoTarget, Unsupported
from shaderstat.model import (
    STAGE_BITS,
    Device,
    Driver,
    Durations,
    ExecutableAnswer,
    Launch,
    RepresentationAnswer,
    stage_names,
)
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.plain import dataclass
from shaderstat.registry import _generated_vulkan as tables
from shaderstat.registry import vulkan as registry
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import SpecConstant
from shaderstat.spirv.parse import parse
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.specialize import Scalar
from shaderstat.spirv.words import load

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution, Instrumentation, Offer
    from shaderstat.pipeline.resources import Resources

DRIVER = Driver(0, "shaderstat mock", __version__, "static analysis of the SPIR-V itself: no GPU compiler was asked")
DEVICE = Device("the SPIR-V itself", 0, 0, "other", "1.4.0", "0" * 32)

_CREATE = {
    "compute": "vkCreateComputePipelines",
    "graphics": "vkCreateGraphicsPipelines",
    "ray_tracing": "vkCreateRayTracingPipelinesKHR",
}
_ALL_BITS = 2**32 - 1
_PROPERTIES = "vkGetPipelineExecutablePropertiesKHR"
_CALLS = {
    "statistics": "vkGetPipelineExecutableStatisticsKHR",
    "representations": "vkGetPipelineExecutableInternalRepresentationsKHR",
}
_WORDS = {"statistics": "statistics", "representations": "internal representations"}
_FLOATS = {"float16": "=e", "float32": "=f", "float64": "=d"}


class Facts:
    """A device that has everything, but for what the scenario says it lacks. See `DeviceFacts`."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.driver = replace(DRIVER, **scenario.driver)
        self.device = replace(DEVICE, **scenario.device)
        major, minor, patch = (*map(int, self.device.api_version.split(".")), 0, 0)[:3]
        self.api_version = (major, minor, patch)

    def has_extension(self, name: str) -> bool:
        """See `DeviceFacts.has_extension`."""
        return self._scenario.has("extensions", name)

    def has_feature(self, struct: str, member: str) -> bool:
        """See `DeviceFacts.has_feature`."""
        return self._scenario.has("features", f"{struct}.{member}")

    def property(self, struct: str, member: str) -> int | None:
        """See `DeviceFacts.property`: no limits but those of the scenario; all bits of what unlocks a capability."""
        return self._scenario.limits.get(member, _ALL_BITS if member in _unlocking() else None)

    def supports_format(self, format: str, feature: str) -> bool:
        """See `DeviceFacts.supports_format`."""
        return self._scenario.has("formats", format)


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage of the pipeline that is not generated."""

    stage: str
    words: bytes
    path: str
    entry_point: str
    specialization: Mapping[str, Any]


@dataclass(slots=True)
class Pipeline:
    """See `CompiledPipeline`."""

    durations: Durations
    driver_ns: int
    _executables: tuple[ExecutableAnswer, ...]
    _remarks: list[tuple[str, str]]
    _rule: Rule
    _offer: Offer | None

    def query(self) -> tuple[ExecutableAnswer, ...]:
        """See `CompiledPipeline.query`."""
        started = time.perf_counter_ns()
        self._rule.query.happen(_PROPERTIES)
        self.driver_ns += time.perf_counter_ns() - started
        return self._executables

    def run(self, execution: Execution, resources: Resources) -> Instrumentation:
        """See `CompiledPipeline.run`: nothing is executed, and nothing invented.

        Raises:
            Unsupported: ``run/mock``: the scenario doesn't say what it comes to.
        """
        if self._offer is None:
            raise Unsupported("run/mock", "the mock executes nothing: a scenario can say what would be counted")
        from shaderstat.instrumentation import Instrumentation
        from shaderstat.pipeline.run_record import record

        started = time.perf_counter_ns()
        self._rule.run.happen("vkQueueSubmit")
        for set_, binding in execution.read:
            if (set_, binding) not in self._rule.written:
                what = f"set {set_} binding {binding} holds after the run"
                raise Unsupported("run/mock", f"the mock executes nothing, and its scenario doesn't say what {what}")
        if execution.metrics and not self._rule.blocks:
            self._remarks.append(("run/no-blocks", "the driver counted nothing: it has no block for any command"))
        return Instrumentation(
            offer=self._offer if execution.metrics else None,
            commands=execution.commands,
            submissions=execution.repeat,
            accumulated=execution.accumulate,
            blocks=self._rule.blocks if execution.metrics else (),
            resources=record(resources),
            read=tuple((slot, self._rule.written[slot]) for slot in execution.read),
            run_ns=(time.perf_counter_ns() - started,) * execution.repeat,
        )

    def diagnostics(self) -> tuple[tuple[str, str], ...]:
        """See `CompiledPipeline.diagnostics`."""
        return tuple(self._remarks)


class MockBackend:
    """See `shaderstat.backends.base.Backend`."""

    def __init__(self, scenario: Scenario, tools: SpirvTools, *, runs: bool = False) -> None:
        self._scenario = scenario
        self._tools = tools
        self.facts = Facts(scenario)
        self.offer = scenario.instrumentation if runs else None
        self.offer_remark = ""
        self.tells_executables = True

    @contextmanager
    def compile(
        self, spec: PipelineSpec, *, statistics: bool, representations: bool, instrument: bool = False
    ) -> Iterator[Pipeline]:
        """See `Backend.compile`.

        Raises:
            DriverError: as the scenario says, or there is no such entry point.
            InvalidSpirv: a module that `shaderstat.spirv.parse` refuses.
        """
        started = time.perf_counter_ns()
        stages = _stages(spec)
        rule = self._scenario.rule([stage.path for stage in stages], [stage.stage for stage in stages])
        rule.create.happen(_CREATE[spec.kind])
        remarks: list[tuple[str, str]] = []
        executables = rule.executables
        if executables is None:
            executables = tuple(self._executable(spec.kind, stage, representations, remarks) for stage in stages)
        captured = {"statistics": statistics, "representations": representations}
        executables = _as_answered(executables, captured, rule, remarks)
        wall = time.perf_counter_ns() - started
        try:
            yield Pipeline(Durations(wall=wall), wall, executables, remarks, rule, self.offer)
        finally:
            rule.destroy.happen("vkDestroyPipeline")

    def close(self) -> None:
        """See `Backend.close`: there is nothing to let go."""

    def _executable(
        self, kind: str, stage: _Stage, representations: bool, remarks: list[tuple[str, str]]
    ) -> ExecutableAnswer:
        words = load(stage.words)
        only = (stage.stage, stage.entry_point)
        values: dict[int, Scalar] = {}
        entries = reflect(words, only=only).entries
        if entries and stage.specialization:
            values = _values(entries[0].spec_constants, stage.specialization)
            entries = reflect(words, values, only=only).entries
        module = parse(words)
        start = find_entry(module, *only)
        if not entries or start is None:
            raise DriverError(_CREATE[kind], "VK_ERROR_UNKNOWN")
        code = Code(module, Declarations(module, values), start)
        analysis = analyse(code)
        name = stage.stage.replace("_", " ")
        if analysis.live is None:
            remarks.append(("mock/too-large", f"{name}: too large to count live values"))
        subject = Subject(analysis, entries[0], len(stage.words), _identity(stage, values))
        return ExecutableAnswer(
            name=name,
            description=f"the {name} stage as it stands in its module: no GPU compiler was asked",
            stages=STAGE_BITS[stage.stage],
            subgroup_size=0,
            statistics=answers(subject),
            representations=self._representations(code, stage, remarks) if representations else (),
        )

    def _representations(
        self, code: Code, stage: _Stage, remarks: list[tuple[str, str]]
    ) -> tuple[RepresentationAnswer, ...]:
        found = []
        text = self._tools.disassemble(stage.words)
        if text is None:
            remarks.append(("mock/no-disassembly", f"{stage.stage}: no disassembly: {self._tools.problem}"))
        else:
            found.append(_text("Disassembly", "The module as SPIRV-Tools writes it", text))
        graph = control_flow_graph(code)
        found.append(_text("Control-flow graph", "The functions that the entry point reaches, block by block", graph))
        found.append(RepresentationAnswer("Words", "The module, in this machine's byte order", False, stage.words))
        return tuple(found)


def open(launch: Launch, tools: SpirvTools) -> MockBackend:
    """See `shaderstat.backends.base.Backend`.

    Raises:
        NoTarget: the scenario says that there is none, or isn't one.
    """
    scenario = scenarios.read(launch.scenario)
    try:
        backend = MockBackend(scenario, tools, runs=launch.runs)
    except (TypeError, ValueError) as error:
        raise NoTarget(f"the mock's scenario is not as it should be: {error}") from None
    try:
        scenario.open.happen("vkCreateDevice")
    except DriverError as error:
        raise NoTarget(str(error)) from None
    if scenario.missing is not None:
        raise NoTarget(scenario.missing)
    return backend


@cache
def _unlocking() -> frozenset[str]:
    """The properties that SPIR-V capabilities need: ``subgroupSupportedOperations`` and the like."""
    needs = (need for name, _ in tables.SPIRV for need in registry.capability_requirements(name) or ())
    return frozenset(need.feature for need in needs if need.value)


def _stages(spec: PipelineSpec) -> list[_Stage]:
    """The stages that were not generated, in pipeline order."""
    infos: Sequence[Mapping[str, Any]]
    infos = [spec.create_info["stage"]] if spec.kind == "compute" else spec.create_info["pStages"]
    stages = []
    for info in infos:
        module = spec.modules[info["module"]]
        if not module.synthetic:
            stages.append(
                _Stage(
                    _stage_word(info["stage"]),
                    module.words,
                    module.path,
                    info["pName"],
                    info.get("pSpecializationInfo") or {},
                )
            )
    order = list(STAGE_BITS)
    return sorted(stages, key=lambda stage: order.index(stage.stage))


def _stage_word(flag: str | int) -> str:
    """``VK_SHADER_STAGE_FRAGMENT_BIT``, or its number, as ``fragment``."""
    if isinstance(flag, int):
        return stage_names(flag)[0]
    return flag.removeprefix("VK_SHADER_STAGE_").partition("_BIT")[0].lower()


def _values(constants: Sequence[SpecConstant], info: Mapping[str, Any]) -> dict[int, Scalar]:
    """VkSpecializationInfo as values by SpecId."""
    types = {constant.id: constant.type for constant in constants}
    values: dict[int, Scalar] = {}
    for entry in info["pMapEntries"]:
        raw = bytes(info["pData"][entry["offset"] : entry["offset"] + entry["size"]])
        kind = types.get(entry["constantID"])
        if kind in _FLOATS:
            (values[entry["constantID"]],) = struct.unpack(_FLOATS[kind], raw)
        elif kind is not None:
            number = int.from_bytes(raw, sys.byteorder, signed=kind.startswith("i"))
            values[entry["constantID"]] = number != 0 if kind == "bool" else number
    return values


def _identity(stage: _Stage, values: Mapping[int, Scalar]) -> int:
    digest = hashlib.sha256(stage.words)
    digest.update(repr((stage.stage, stage.entry_point, sorted(values.items()))).encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big")


def _text(name: str, description: str, text: str) -> RepresentationAnswer:
    return RepresentationAnswer(name, description, True, text.encode("utf-8", "replace").partition(b"\0")[0])


def _as_answered(
    executables: Sequence[ExecutableAnswer], captured: Mapping[str, bool], rule: Rule, remarks: list[tuple[str, str]]
) -> tuple[ExecutableAnswer, ...]:
    """What of the answers comes through to a reader who keeps to the protocol."""
    if rule.lost:
        remarks += told_less("executables", len(executables), max(len(executables) - rule.lost, 0))
        executables = executables[: -rule.lost]
    if rule.incomplete:
        remarks.append(("vulkan/incomplete", "the driver says that there are more executables than it tells"))
    for kind, asked in captured.items():
        kept: dict[str, Any] = {kind: ()}
        if not asked or kind in rule.without or kind in rule.failing:
            executables = [replace(each, **kept) for each in executables]
        elif rule.lost:
            for index, each in enumerate(executables):
                counted = len(getattr(each, kind))
                where = f"executable {index} ({each.name})"
                remarks += told_less(_WORDS[kind], counted, max(counted - rule.lost, 0), where)
            executables = [replace(each, **{kind: getattr(each, kind)[: -rule.lost]}) for each in executables]
        if asked and kind in rule.failing:
            words = _WORDS[kind]
            remarks += [
                (f"vulkan/{kind}", f"executable {index} ({each.name}): no {words}: {_CALLS[kind]} returned {error}")
                for error in [rule.failing[kind]]
                for index, each in enumerate(executables)
            ]
    return tuple(executables)
