"""From a PipelineSpec to a pipeline and what it was made of, all of it destroyed in reverse order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from shaderstat.backends.base import DeviceFacts, DriverError
from shaderstat.errors import Unsupported
from shaderstat.instrumentation import EXTENSION as INSTRUMENTATION_EXTENSION
from shaderstat.model import STAGE_BITS, Durations, ExecutableAnswer
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import NULL, check
from .builder import Arena
from .executables import Query
from .objects import Objects

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution, Instrumentation
    from shaderstat.pipeline.resources import Resources

    from .device import OpenDevice

CAPTURE_STATISTICS = registry.value("VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR")
CAPTURE_REPRESENTATIONS = registry.value(
    "VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR"
)
INSTRUMENT_SHADERS = registry.value("VkPipelineCreateFlags2", "VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM")
_VALID = registry.value("VkPipelineCreationFeedbackFlags", "VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT")
_FLAGS2 = "VkPipelineCreateFlags2CreateInfo"
_FEEDBACK = "VkPipelineCreationFeedbackCreateInfo"

# kind → (create info, command); ray tracing takes a deferred operation before the cache
_KINDS = {
    "compute": ("VkComputePipelineCreateInfo", "vkCreateComputePipelines"),
    "graphics": ("VkGraphicsPipelineCreateInfo", "vkCreateGraphicsPipelines"),
    "ray_tracing": ("VkRayTracingPipelineCreateInfoKHR", "vkCreateRayTracingPipelinesKHR"),
}


class Pipeline:
    """`shaderstat.backends.base.CompiledPipeline`."""

    def __init__(self, device: OpenDevice, made: Made, durations: Durations, created_ns: int) -> None:
        self.durations = durations
        self.driver_ns = created_ns
        self._device = device
        self._made = made
        self._query = Query(device.functions, made.pipeline)
        self._remarks: list[tuple[str, str]] = []

    def query(self) -> tuple[ExecutableAnswer, ...]:
        """All executables, with what was captured of them.

        Raises:
            DriverError: the executables themselves can't be listed.
        """
        before = self._query.driver_ns
        made = self._made
        try:
            return self._query.executables(statistics=made.statistics, representations=made.representations)
        finally:
            self.driver_ns += self._query.driver_ns - before

    def run(self, execution: Execution, resources: Resources) -> Instrumentation:
        """See `CompiledPipeline.run`.

        Raises:
            DriverError: a VkResult other than success.
            Unsupported: ``run/format``, ``run/resource``, ``run/layout``, ``run/dynamic-state``, ``run/command`` or
                ``vulkan/state``.
        """
        from .run import run  # half of this backend, which few pipelines want

        return run(self._device, self._made, execution, resources, self._remarks)

    def diagnostics(self) -> tuple[tuple[str, str], ...]:
        """(code, message) of each oddity met while querying and running."""
        return (*self._query.remarks, *self._remarks)


@dataclass(frozen=True, slots=True)
class Made:
    """A pipeline and what it was made of.

    Attributes:
        handles: by type, in the order of the spec's lists.
        statistics, representations: whether they were captured.
        instrumented: whether its shaders count.
    """

    spec: PipelineSpec
    pipeline: Any
    handles: Mapping[str, Sequence[Any]]
    statistics: bool
    representations: bool
    instrumented: bool


@contextmanager
def create_pipeline(
    device: OpenDevice, spec: PipelineSpec, *, statistics: bool, representations: bool, instrument: bool = False
) -> Iterator[Pipeline]:
    """The pipeline of `spec`.

    Raises:
        DriverError: a VkResult other than success, or success without a pipeline.
        Unsupported: ``vulkan/state``: the spec says what Vulkan, or this device, has no words for; ``run/flags``: it
            can't be told to count.
    """
    facts = device.facts
    with ExitStack() as stack:
        maker = _Maker(Objects(device.functions, facts, stack))
        handles = maker.objects(spec)
        instrument_flag = 0
        if instrument:
            require_64_bit_flags(facts)
            instrument_flag = INSTRUMENT_SHADERS
        handles["VkPipeline"] = [maker.library(each, instrument_flag) for each in spec.libraries]
        arena = Arena(handles)
        flags = CAPTURE_STATISTICS * statistics | CAPTURE_REPRESENTATIONS * representations | instrument_flag
        plain = with_flags(spec.create_info, flags)
        plain.setdefault("layout", 0)
        if spec.render_pass is not None:
            plain["renderPass"] = 0
        feedback = _Feedback(arena, plain, facts)
        pipeline, created_ns = maker.pipeline(spec.kind, arena, plain)
        made = Made(spec, pipeline, handles, statistics, representations, instrument)
        yield Pipeline(device, made, feedback.durations(created_ns), created_ns)


class _Maker:
    """Creates what a pipeline is made of, and pipelines."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def objects(self, spec: PipelineSpec) -> dict[str, list[Any]]:
        """What the pipeline is made of; the spec's indices point into these lists."""
        handles: dict[str, list[Any]] = {}
        modules = ({"pCode": module.words} for module in spec.modules)
        for type, plains in (
            ("VkShaderModule", modules),
            ("VkSamplerYcbcrConversion", spec.conversions),
            ("VkSampler", spec.samplers),
            ("VkDescriptorSetLayout", spec.set_layouts),
            ("VkPipelineLayout", (spec.layout,)),
        ):
            handles[type] = [self._objects.create(type, each, handles) for each in plains]
        if spec.render_pass is not None:
            struct = spec.render_pass_type
            name = "RenderPass2" if struct == "VkRenderPassCreateInfo2" else "RenderPass"
            created = self._objects.create("VkRenderPass", spec.render_pass, handles, name=name, struct=struct)
            handles["VkRenderPass"] = [created]
        return handles

    def library(self, spec: PipelineSpec, instrument: int) -> Any:
        """A pipeline that others are made of, as it is but for `instrument`, a flag: nothing of it is captured."""
        handles = self.objects(spec)
        handles["VkPipeline"] = [self.library(each, instrument) for each in spec.libraries]
        plain = {"layout": 0, **(with_flags(spec.create_info, instrument) if instrument else spec.create_info)}
        if spec.render_pass is not None:
            plain["renderPass"] = 0
        return self.pipeline(spec.kind, Arena(handles), plain)[0]

    def pipeline(self, kind: str, arena: Arena, plain: dict[str, Any]) -> tuple[Any, int]:
        """The pipeline, and the nanoseconds that its creation took."""
        struct, call = _KINDS[kind]
        function = self._objects.command(call)
        info = arena.build(struct, plain)
        handle = arena.new("VkPipeline *")
        # no deferred operation (ray tracing only), and no pipeline cache: it would hide the compiler
        nulls = (NULL, NULL) if kind == "ray_tracing" else (NULL,)
        start = perf_counter_ns()
        result = function(self._objects.functions.handle, *nulls, 1, info, NULL, handle)
        took = perf_counter_ns() - start
        if handle[0] != NULL:
            self._objects.destroy_later("VkPipeline", handle[0])
        # Positive codes are failures as well: VK_PIPELINE_COMPILE_REQUIRED comes without a pipeline.
        check(call, result)
        if handle[0] == NULL:
            raise DriverError(call, None, "returned VK_SUCCESS and a null pipeline")
        return handle[0], took


class _Feedback:
    """VkPipelineCreationFeedback, where the device has it: how long the driver says that it took."""

    def __init__(self, arena: Arena, plain: dict[str, Any], facts: DeviceFacts) -> None:
        """Chain the struct to the create info `plain`."""
        infos = [plain["stage"]] if "stage" in plain else plain.get("pStages") or ()
        self._stages = [each.get("stage", 0) for each in infos]
        chained = {name for name, _ in plain.get("pNext") or ()}
        core = facts.api_version[:2] >= (1, 3)
        self._whole = self._parts = None
        if (core or facts.has_extension("VK_EXT_pipeline_creation_feedback")) and _FEEDBACK not in chained:
            self._whole = arena.new("VkPipelineCreationFeedback *")
            self._parts = arena.new("VkPipelineCreationFeedback[]", len(self._stages))
            feedback = {
                "pPipelineCreationFeedback": self._whole,
                "pipelineStageCreationFeedbackCount": len(self._stages),
                "pPipelineStageCreationFeedbacks": self._parts,
            }
            plain["pNext"] = [*(plain.get("pNext") or ()), [_FEEDBACK, feedback]]

    def durations(self, wall: int) -> Durations:
        """What the driver filled in; several stages of one kind (hit shaders) are added up."""
        if self._whole is None or self._parts is None:
            return Durations(wall=wall)
        stages: dict[str, int] = {}
        for stage, part in zip(self._stages, self._parts, strict=True):
            if part.flags & _VALID:
                name = _stage_name(stage)
                stages[name] = stages.get(name, 0) + part.duration
        whole = self._whole.duration if self._whole.flags & _VALID else None
        return Durations(pipeline=whole, stages=stages, wall=wall)


def _stage_name(stage: str | int) -> str:
    bit = registry.value("VkShaderStageFlagBits", stage) if isinstance(stage, str) else stage
    return next((name for name, known in STAGE_BITS.items() if known == bit), f"0x{bit:x}")


def with_flags(create_info: Any, flags: int) -> dict[str, Any]:
    """A copy of `create_info` with `flags` set: in VkPipelineCreateFlags2CreateInfo if it has one, for then the 32-bit
    ones are not looked at. Such a struct is added only for flags beyond 32 bits, with all others repeated in it:
    drivers that don't know it skip it silently."""
    plain = dict(create_info)
    chain = []
    found = False
    for name, each in plain.get("pNext") or ():
        struct = registry.struct(name)
        if struct is not None and struct.name == _FLAGS2:
            found = True
            each = {**each, "flags": _number("VkPipelineCreateFlags2", each.get("flags", 0)) | flags}
        chain.append([name, each])
    if not found:
        flags |= _number("VkPipelineCreateFlags", plain.get("flags", 0))
        if flags >> 32:
            chain.append([_FLAGS2, {"flags": flags}])
        else:
            plain["flags"] = flags
    if chain:
        plain["pNext"] = chain
    return plain


def require_64_bit_flags(facts: DeviceFacts) -> None:
    """Refuse a device that would skip them: then nothing would count, and nothing would say so.

    Raises:
        Unsupported: ``run/flags``.
    """
    if (
        facts.api_version < (1, 4, 0)
        and not facts.has_feature("VkPhysicalDeviceMaintenance5Features", "maintenance5")
        and not facts.has_feature("VkPhysicalDeviceExtendedFlagsFeaturesKHR", "extendedFlags")
    ):
        raise Unsupported(
            "run/flags",
            f"{facts.device.name} has {INSTRUMENTATION_EXTENSION} and no way to ask for it: neither Vulkan 1.4 nor "
            "VK_KHR_maintenance5 nor VK_KHR_extended_flags",
        )


def _number(type: str, value: str | int) -> int:
    if isinstance(value, int):
        return value
    try:
        return registry.value(type, value)
    except KeyError as error:
        raise Unsupported("vulkan/state", f"{type} has no {error.args[0]}") from None
