"""From a PipelineSpec to a pipeline and what it was made of, all of it destroyed in reverse order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from shaderstat.backends.base import DeviceFacts, DriverError
from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS, Durations, ExecutableAnswer
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.registry import vulkan as registry

from .binding import NULL, Functions, check
from .builder import Arena
from .executables import Query

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution, Instrumentation
    from shaderstat.pipeline.resources import Resources

CAPTURE_STATISTICS = registry.value("VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR")
CAPTURE_REPRESENTATIONS = registry.value(
    "VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR"
)
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

    def __init__(self, durations: Durations, created_ns: int, query: Query, captured: dict[str, bool]) -> None:
        self.durations = durations
        self.driver_ns = created_ns
        self._query = query
        self._captured = captured

    def query(self) -> tuple[ExecutableAnswer, ...]:
        """All executables, with what was captured of them.

        Raises:
            DriverError: the executables themselves can't be listed.
        """
        before = self._query.driver_ns
        try:
            return self._query.executables(**self._captured)
        finally:
            self.driver_ns += self._query.driver_ns - before

    def run(self, execution: Execution, resources: Resources) -> Instrumentation:
        """See `CompiledPipeline.run`."""
        raise Unsupported("run/vulkan", "shaders can't be run yet")

    def diagnostics(self) -> tuple[tuple[str, str], ...]:
        """(code, message) of each oddity met while querying."""
        return tuple(self._query.remarks)


@contextmanager
def create_pipeline(
    functions: Functions, facts: DeviceFacts, spec: PipelineSpec, *, statistics: bool, representations: bool
) -> Iterator[Pipeline]:
    """The pipeline of `spec`.

    Raises:
        DriverError: a VkResult other than success, or success without a pipeline.
        Unsupported: ``vulkan/state``: the spec says what Vulkan, or this device, has no words for.
    """
    with ExitStack() as stack:
        maker = _Maker(functions, facts, stack)
        handles = maker.objects(spec)
        handles["VkPipeline"] = [maker.library(each) for each in spec.libraries]
        arena = Arena(handles)
        flags = CAPTURE_STATISTICS * statistics | CAPTURE_REPRESENTATIONS * representations
        plain = _with_flags(spec.create_info, flags)
        plain.setdefault("layout", 0)
        if spec.render_pass is not None:
            plain["renderPass"] = 0
        feedback = _Feedback(arena, plain, facts)
        pipeline, created_ns = maker.pipeline(spec.kind, arena, plain)
        query = Query(functions, pipeline)
        captured = {"statistics": statistics, "representations": representations}
        yield Pipeline(feedback.durations(created_ns), created_ns, query, captured)


class _Maker:
    """Creates objects, and has `stack` destroy them."""

    def __init__(self, functions: Functions, facts: DeviceFacts, stack: ExitStack) -> None:
        self._functions = functions
        self._facts = facts
        self._stack = stack

    def objects(self, spec: PipelineSpec) -> dict[str, list[Any]]:
        """What the pipeline is made of; the spec's indices point into these lists."""
        handles: dict[str, list[Any]] = {}
        modules = ({"pCode": module.words} for module in spec.modules)
        for type, name, plains in (
            ("VkShaderModule", "ShaderModule", modules),
            ("VkSamplerYcbcrConversion", "SamplerYcbcrConversion", spec.conversions),
            ("VkSampler", "Sampler", spec.samplers),
            ("VkDescriptorSetLayout", "DescriptorSetLayout", spec.set_layouts),
            ("VkPipelineLayout", "PipelineLayout", (spec.layout,)),
        ):
            handles[type] = [self._create(type, name, f"Vk{name}CreateInfo", each, handles) for each in plains]
        if spec.render_pass is not None:
            name = "RenderPass2" if spec.render_pass_type == "VkRenderPassCreateInfo2" else "RenderPass"
            handles["VkRenderPass"] = [
                self._create("VkRenderPass", name, spec.render_pass_type, spec.render_pass, handles)
            ]
        return handles

    def library(self, spec: PipelineSpec) -> Any:
        """A pipeline that others are made of, as it is: nothing of it is captured."""
        handles = self.objects(spec)
        handles["VkPipeline"] = [self.library(each) for each in spec.libraries]
        plain = {"layout": 0, **spec.create_info}
        if spec.render_pass is not None:
            plain["renderPass"] = 0
        return self.pipeline(spec.kind, Arena(handles), plain)[0]

    def _create(self, type: str, name: str, struct: str, plain: Any, handles: dict[str, list[Any]]) -> Any:
        call = f"vkCreate{name}"
        function = self._functions.find(call) or self._functions.find(call + "KHR")
        if function is None:
            raise Unsupported("vulkan/state", f"{self._facts.device.name} has no {call}")
        arena = Arena(handles)
        handle = arena.new(type + " *")
        check(call, function(self._functions.handle, arena.build(struct, plain), NULL, handle))
        self._destroy_later(type, handle[0])
        return handle[0]

    def _destroy_later(self, type: str, handle: Any) -> None:
        call = "vkDestroy" + type.removeprefix("Vk")
        destroy = self._functions.find(call) or self._functions[call + "KHR"]
        self._stack.callback(destroy, self._functions.handle, handle, NULL)

    def pipeline(self, kind: str, arena: Arena, plain: dict[str, Any]) -> tuple[Any, int]:
        """The pipeline, and the nanoseconds that its creation took."""
        struct, call = _KINDS[kind]
        function = self._functions.find(call)
        if function is None:
            raise Unsupported("vulkan/state", f"{self._facts.device.name} has no {call}")
        info = arena.build(struct, plain)
        handle = arena.new("VkPipeline *")
        # no deferred operation (ray tracing only), and no pipeline cache: it would hide the compiler
        nulls = (NULL, NULL) if kind == "ray_tracing" else (NULL,)
        start = perf_counter_ns()
        result = function(self._functions.handle, *nulls, 1, info, NULL, handle)
        took = perf_counter_ns() - start
        if handle[0] != NULL:
            self._destroy_later("VkPipeline", handle[0])
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


def _with_flags(create_info: Any, flags: int) -> dict[str, Any]:
    """A copy of `create_info` with `flags` set: in VkPipelineCreateFlags2CreateInfo if it has one, for then the 32-bit
    ones are not looked at; such a struct is not added, since drivers without it skip it silently."""
    plain = dict(create_info)
    chain = []
    found = False
    for name, each in plain.get("pNext") or ():
        struct = registry.struct(name)
        if struct is not None and struct.name == _FLAGS2:
            found = True
            each = {**each, "flags": _number("VkPipelineCreateFlags2", each.get("flags", 0)) | flags}
        chain.append([name, each])
    if chain:
        plain["pNext"] = chain
    if not found:
        plain["flags"] = _number("VkPipelineCreateFlags", plain.get("flags", 0)) | flags
    return plain


def _number(type: str, value: str | int) -> int:
    if isinstance(value, int):
        return value
    try:
        return registry.value(type, value)
    except KeyError as error:
        raise Unsupported("vulkan/state", f"{type} has no {error.args[0]}") from None
