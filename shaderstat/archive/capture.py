"""A captured pipeline, with everything that it refers to, as a PipelineSpec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shaderstat.archive.format import KINDS, NAMES, Tag, name
from shaderstat.archive.layouts import chained
from shaderstat.archive.members import NULL_HASH, bad, hash_of, read
from shaderstat.archive.records import Records
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan

_STRUCTS = {
    Tag.GRAPHICS: "VkGraphicsPipelineCreateInfo",
    Tag.COMPUTE: "VkComputePipelineCreateInfo",
    Tag.RAY_TRACING: "VkRayTracingPipelineCreateInfoKHR",
}
_RENDER_PASSES = {"renderPasses": "VkRenderPassCreateInfo", "renderPasses2": "VkRenderPassCreateInfo2"}
_CONVERSION = "VkSamplerYcbcrConversionCreateInfo"
_DERIVATIVE = vulkan.value("VkPipelineCreateFlags", "VK_PIPELINE_CREATE_DERIVATIVE_BIT")

# Libraries of libraries of libraries: none was ever seen, and a loop has no end. Nor has, nearly, a pipeline of six
# libraries that each are of the same six others, and so on.
_MAX_DEPTH = 8
_MAX_LIBRARIES = 1024


@dataclass(frozen=True, slots=True)
class StageRef:
    """One stage of a captured pipeline: `module` is the hash of its module, `path` what messages call it."""

    stage: str
    entry_point: str
    module: int
    path: str

    @property
    def name(self) -> str:
        """The entry point's, as other things that have one say it."""
        return self.entry_point


@dataclass(frozen=True, slots=True)
class Captured:
    """One pipeline of a set of archives, read when it is asked for."""

    records: Records
    tag: Tag
    hash: int

    @property
    def kind(self) -> str:
        """``graphics``, ``compute`` or ``ray_tracing``."""
        return KINDS[self.tag]

    @property
    def path(self) -> str:
        """The archive's."""
        return self.records.path(self.tag, self.hash)

    def stages(self) -> tuple[StageRef, ...]:
        """Its stages, in the application's order.

        Raises:
            InvalidSpirv: ``archive/…``.
        """
        _, record = self.records.record(self.tag, self.hash)
        found = [record.get("stage")] if self.tag is Tag.COMPUTE else record.get("stages", [])
        try:
            return tuple(
                self._stage(each, f"{name(self.hash)}.stages[{place}]")
                for place, each in enumerate(found if isinstance(found, list) else [None])
            )
        except InvalidSpirv as error:
            error.path = error.path or self.path
            raise

    def _stage(self, record: Any, where: str) -> StageRef:
        if not isinstance(record, dict) or not isinstance(record.get("name"), str):
            raise bad(where, "a stage is wanted")
        stage = next((word for word, bit in STAGE_BITS.items() if bit == record.get("stage")), None)
        if stage is None:
            raise bad(where, f"no stage is numbered {record.get('stage')!r:.40}")
        module = hash_of(record.get("module"), f"{where}.module")
        return StageRef(stage, record["name"], module, f"{self.records.path(Tag.MODULE, module)}:{name(module)}")

    def spec(self) -> PipelineSpec:
        """The whole of it.

        Raises:
            InvalidSpirv: ``archive/…``: something of it is broken or not there.
            Unsupported: ``archive/unknown-structure``, ``…-member`` or ``…-value``: something of it is not known here.
        """
        try:
            return _pipeline(self.records, self.tag, self.hash, (), [])
        except (InvalidSpirv, Unsupported) as error:
            error.path = error.path or self.path
            raise


# ── One pipeline ──────────────────────────────────────────────────────────────────────────────────────────────────


class _Objects:
    """What one pipeline is made of, each once: the lists of a PipelineSpec, and where in them what has which hash."""

    def __init__(self, records: Records, tag: Tag, above: tuple[int, ...], made: list[int]) -> None:
        self._records = records
        self._tag = tag
        self._above = above
        self._made = made
        self._places: dict[tuple[str, int], int] = {}
        self.lists: dict[str, list[Any]] = {
            type: []
            for type in (
                "VkShaderModule",
                "VkSampler",
                "VkSamplerYcbcrConversion",
                "VkDescriptorSetLayout",
                "VkPipelineLayout",
                "VkRenderPass",
                "VkPipeline",
            )
        }
        self.render_pass_type = "VkRenderPassCreateInfo2"

    def index(self, type: str, hash: Any) -> Any:
        """The place of an object in its list, read if it isn't there yet; of an embedded sampler, its create info."""
        if type == "VkSamplerCreateInfo":
            return self._with_conversion(hash)
        place = self._places.get((type, hash))
        if place is None:
            made = self._make(type, hash)
            place = self._places[type, hash] = len(self.lists[type])
            self.lists[type].append(made)
        return place

    def _make(self, type: str, hash: int) -> Any:
        if type == "VkShaderModule":
            path = f"{self._records.path(Tag.MODULE, hash)}:{name(hash)}"
            return SpecModule(self._records.module(hash), path)
        if type == "VkSampler":
            return self._sampler(hash)
        if type == "VkPipeline":
            return _pipeline(self._records, self._tag, hash, self._above, self._made)
        tag, struct = {
            "VkDescriptorSetLayout": (Tag.SET_LAYOUT, "VkDescriptorSetLayoutCreateInfo"),
            "VkPipelineLayout": (Tag.PIPELINE_LAYOUT, "VkPipelineLayoutCreateInfo"),
            "VkRenderPass": (Tag.RENDER_PASS, ""),
        }[type]
        top, record = self._records.record(tag, hash)
        if not struct:
            struct = self.render_pass_type = _RENDER_PASSES[top]
        return read(struct, record, f"{NAMES[tag]} {name(hash)}", self.index)

    def _sampler(self, hash: int) -> dict[str, Any]:
        _, record = self._records.record(Tag.SAMPLER, hash)
        return self._with_conversion(
            read("VkSamplerCreateInfo", record, f"{NAMES[Tag.SAMPLER]} {name(hash)}", self.index)
        )

    def _with_conversion(self, plain: dict[str, Any]) -> dict[str, Any]:
        """A conversion is an object of its own in Vulkan, and part of its sampler in an archive."""
        chain = []
        for struct, members in plain.get("pNext", ()):
            if struct == _CONVERSION:
                conversions = self.lists["VkSamplerYcbcrConversion"]
                if members not in conversions:
                    conversions.append(members)
                struct, members = "VkSamplerYcbcrConversionInfo", {"conversion": conversions.index(members)}
            chain.append([struct, members])
        return {**plain, "pNext": chain} if chain else plain


def _pipeline(records: Records, tag: Tag, hash: int, above: tuple[int, ...], made: list[int]) -> PipelineSpec:
    """The pipeline; `above` are those that it is a library of, `made` all that the outermost of them is made of."""
    where = f"{NAMES[tag]} {name(hash)}"
    if hash in above or len(above) > _MAX_DEPTH:
        raise InvalidSpirv("archive/loop", f"{where} is made of itself, or too deeply nested")
    made.append(hash)
    if len(made) > _MAX_LIBRARIES:
        outermost = f"{NAMES[tag]} {name((*above, hash)[0])}"
        raise InvalidSpirv("limit/libraries", f"{outermost} is made of more than {_MAX_LIBRARIES} libraries")
    objects = _Objects(records, tag, (*above, hash), made)
    _, record = records.record(tag, hash)
    if tag is Tag.COMPUTE:
        if not isinstance(record.get("stage"), dict):
            raise bad(where, "it has no stage")
    if not _is_derivative(record):
        # What is not a derivative has no use for these, and an application may leave in them what it likes.
        record = {key: value for key, value in record.items() if not key.startswith("basePipeline")}
    plain = read(_STRUCTS[tag], record, where, objects.index)
    for stage in [plain["stage"]] if tag is Tag.COMPUTE else plain.get("pStages", ()):
        if stage.get("module") is None or "pName" not in stage:
            raise bad(where, "a stage without a module, or without an entry point")
    if tag is not Tag.COMPUTE and not plain.get("pStages") and not objects.lists["VkPipeline"] and not above:
        raise bad(where, "it has no stage, nor libraries")
    layout = plain.pop("layout", None)
    if layout is None:
        plain["layout"] = None
    render_pass = plain.pop("renderPass", None)
    lists = objects.lists
    generated = _generated(records.generated(tag, hash), record, where)
    return PipelineSpec(
        kind=KINDS[tag],
        modules=tuple(_marked(lists["VkShaderModule"], plain, generated)),
        samplers=tuple(lists["VkSampler"]),
        conversions=tuple(lists["VkSamplerYcbcrConversion"]),
        set_layouts=tuple(lists["VkDescriptorSetLayout"]),
        layout={} if layout is None else lists["VkPipelineLayout"][layout],
        render_pass=None if render_pass is None else lists["VkRenderPass"][render_pass],
        render_pass_type=objects.render_pass_type,
        libraries=tuple(lists["VkPipeline"]),
        create_info=plain,
        synthetic_stages=generated,
        bound="upper" if generated else "exact",
    )


def _generated(said: Any, record: Mapping[str, Any], where: str) -> int:
    """The stages that shaderstat generated, as the archive says: some of those that there are, but not all."""
    if said is None:
        return 0
    stages = 0
    for each in record.get("stages", ()):
        stages |= each.get("stage", 0)
    if not isinstance(said, int) or isinstance(said, bool) or said <= 0 or said & ~stages or said == stages:
        raise bad(where, f"{said!r:.40} as generated stages")
    return said


def _marked(modules: list[SpecModule], plain: Mapping[str, Any], generated: int) -> list[SpecModule]:
    """The modules: those of generated stages alone are marked so."""
    if not generated:
        return modules
    real = set()
    for info in plain.get("pStages", ()):
        bit = info.get("stage", 0)
        if not (vulkan.value("VkShaderStageFlagBits", bit) if isinstance(bit, str) else bit) & generated:
            real.add(info["module"])
    return [replace(module, synthetic=place not in real) for place, module in enumerate(modules)]


def _is_derivative(record: Mapping[str, Any]) -> bool:
    flags = [record.get("flags", 0)]
    chain = record.get("pNext")
    for each in chain if isinstance(chain, list) else ():
        if isinstance(each, dict) and isinstance(each.get("sType"), int):
            if chained(each["sType"]) == "VkPipelineCreateFlags2CreateInfo":
                flags = [each.get("flags", 0)]
    return any(isinstance(one, int) and one & _DERIVATIVE for one in flags) and (
        record.get("basePipelineHandle", NULL_HASH) != NULL_HASH
    )
