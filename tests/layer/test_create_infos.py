"""What arrives at a driver of what an archive holds: every structure and member, as a layer written in C sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shaderstat import engine
from shaderstat.archive.layouts import HANDLES
from shaderstat.archive.writer import Writer
from shaderstat.model import Request, ResultEvent, Setup
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.registry import vulkan
from tests.archive import corpus
from tests.archive.test_round_trip import STRUCTS, numbers
from tests.layer.conftest import build

vulkan_object = pytest.importorskip("vulkan_object")

pytestmark = pytest.mark.layer

NAME = "VK_LAYER_SHADERSTAT_dump"

Dump = list[dict[str, Any]]


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the layer, its printers made from vk.xml."""
    from tests.layer.create_infos import Printers

    folder = tmp_path_factory.mktemp("dump")
    (folder / "printers.h").write_text(Printers(vulkan_object.get_vulkan_object()).source())
    build(folder, "dump", NAME, ["-Wall", "-Wno-unused-function", "-Werror", "-I", str(folder)])
    return folder


@pytest.fixture
def arrived(layer: Path, tmp_path: Path) -> Callable[..., Dump]:
    """What a driver is asked to create for a pipeline that went through an archive."""

    def dump(spec: PipelineSpec, setup: Setup = Setup()) -> Dump:  # noqa: B008
        path, said = tmp_path / "an.foz", tmp_path / "dump.jsonl"
        with path.open("wb") as stream:
            hash = Writer(stream).add(spec, setup)
        environment = {"VK_INSTANCE_LAYERS": NAME, "VK_LAYER_PATH": str(layer), "DUMP_FILE": str(said)}
        request = Request(
            (str(path),),
            targets=("radv:navi21",),
            environment=environment,
            pipelines=(f"0x{hash:016x}",),
            validate=False,
            cache=False,
        )
        (result,) = [event.result for event in engine.run(request) if isinstance(event, ResultEvent)]
        assert result.status == "ok", result.diagnostics
        return [json.loads(line) for line in said.read_text().splitlines()]

    return dump


# ── The layer's words, in the form of the corpus' ─────────────────────────────────────────────────────────────────

FEEDBACK = "VkPipelineCreationFeedbackCreateInfo"
CAPTURE = 0xC0


def printed(struct: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """A struct as the layer printed it, with nothing in it that says nothing."""
    known = vulkan.struct(struct)
    assert known is not None
    result: dict[str, Any] = {}
    for name, value in members.items():
        type = known.members[name].type
        if name == "pNext":
            # a chained struct's own pNext is the rest of the chain
            result[name] = [[each, printed(each, {**its, "pNext": []})] for each, its in value if each != FEEDBACK]
        elif name == "pData":
            result[name] = bytes.fromhex(value)
        elif isinstance(value, list):
            result[name] = [printed(type, each) if isinstance(each, dict) else each for each in value]
        else:
            result[name] = printed(type, value) if isinstance(value, dict) else value
    return {name: value for name, value in result.items() if value not in ([], {}, 0, None)}


def without_handles(struct: str, members: Any) -> Any:
    """Handles are compared apart, and counts are what their arrays say."""
    known = vulkan.struct(struct)
    assert known is not None
    found: dict[str, Any] = {}
    for name, value in members.items():
        type = known.members[name].type
        if name == "pNext":
            chain = [[each, without_handles(each, its)] for each, its in value]
            found[name] = chain
        elif type in HANDLES or type == "VkSamplerYcbcrConversion":
            continue
        elif any(other.length == name and each in members for each, other in known.members.items()):
            continue
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            found[name] = [without_handles(type, each) for each in value]
        elif isinstance(value, dict):
            found[name] = without_handles(type, value)
        else:
            found[name] = value
    return found


def compare(struct: str, arrived: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    assert without_handles(struct, printed(struct, arrived)) == without_handles(struct, pointers(struct, wanted))


def pointers(struct: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """`numbers`, with pointers to one number as the layer prints them."""
    return _single(struct, numbers(struct, plain))


def _single(struct: str, members: Mapping[str, Any]) -> dict[str, Any]:
    known = vulkan.struct(struct)
    assert known is not None
    result: dict[str, Any] = {}
    for name, value in members.items():
        type, length = known.members[name]
        if name == "pNext":
            result[name] = [[each, _single(each, its)] for each, its in value]
        elif isinstance(value, dict):
            result[name] = _single(type, value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            result[name] = [_single(type, each) for each in value]
        elif isinstance(value, list) and not length:
            result[name] = value[0]
        else:
            result[name] = value
    return result


def infos(dump: Dump, call: str) -> list[Any]:
    return [each["info"] for each in dump if each["call"] == call]


PIPELINES = [corpus.with_modules(one) for one in corpus.pipelines()]


@pytest.mark.parametrize("spec", PIPELINES, ids=[f"{one.kind}-{place}" for place, one in enumerate(PIPELINES)])
def test_every_member_arrives(spec: PipelineSpec, arrived: Callable[[PipelineSpec], Dump]) -> None:
    dump = arrived(spec)
    calls = {"compute": "ComputePipelines", "graphics": "GraphicsPipelines", "ray_tracing": "RayTracingPipelinesKHR"}
    *libraries, info = infos(dump, f"vkCreate{calls[spec.kind]}")
    chained = dict(info["pNext"])
    flags = chained.get("VkPipelineCreateFlags2CreateInfo", info)
    assert flags["flags"] & CAPTURE == 0x40  # statistics alone
    flags["flags"] &= ~CAPTURE
    wanted = dict(spec.create_info)
    wanted["pNext"] = [
        [name, {**its, "flags": _flags2(its["flags"])} if name == "VkPipelineCreateFlags2CreateInfo" else its]
        for name, its in wanted.get("pNext", ())
    ]
    wanted["flags"] = _flags(wanted.get("flags", 0))
    compare(STRUCTS[spec.kind], info, wanted)
    assert len(libraries) == len(spec.libraries)
    for its, library in zip(libraries, spec.libraries, strict=True):
        compare(STRUCTS[spec.kind], its, library.create_info)
    if spec.libraries:
        # The handles of all else are counted on through the libraries' objects.
        made = [each["handle"] for each in dump if each["call"] == f"vkCreate{calls[spec.kind]}"][:-1]
        chain = dict(info["pNext"]).get("VkPipelineLibraryCreateInfoKHR", info.get("pLibraryInfo"))
        assert chain is not None and chain["pLibraries"] == made
        base = spec.create_info.get("basePipelineHandle")
        assert info["basePipelineHandle"] == (0 if base is None else made[base])
        return
    (layout,) = infos(dump, "vkCreatePipelineLayout")
    compare("VkPipelineLayoutCreateInfo", layout, spec.layout)
    _compare_sets(dump, layout, spec)
    if spec.render_pass is not None:
        call = "vkCreateRenderPass" + ("2" if spec.render_pass_type.endswith("2") else "")
        (render_pass,) = infos(dump, call)
        compare(spec.render_pass_type, render_pass, spec.render_pass)
        assert info["renderPass"] == 1
    samplers = infos(dump, "vkCreateSampler")
    assert len(samplers) == len(spec.samplers)
    for its, plain in zip(samplers, spec.samplers, strict=True):
        compare("VkSamplerCreateInfo", its, plain)
    conversions = infos(dump, "vkCreateSamplerYcbcrConversion")
    assert len(conversions) == len(spec.conversions)
    for its, plain in zip(conversions, spec.conversions, strict=True):
        compare(corpus.CONVERSION, its, plain)


def test_the_application_and_its_features_arrive(arrived: Callable[..., Dump]) -> None:
    dump = arrived(corpus.with_modules(next(corpus.mapping_sources())), corpus.SETUP)
    instances = infos(dump, "vkCreateInstance")
    told = {name: value for name, value in instances[-1].items() if name != "pNext"}
    assert told == dict(corpus.SETUP.application)
    chain = infos(dump, "vkCreateDevice")[-1]
    on = set()
    for struct in (vulkan.struct("VkPhysicalDeviceFeatures2"), *vulkan.feature_structs()):
        assert struct is not None
        its = vulkan.struct("VkPhysicalDeviceFeatures") if "features" in struct.members else struct
        assert its is not None
        members = [name for name in its.members if name not in ("sType", "pNext")]
        on |= {(its.name, members[place]) for place in chain.get(str(struct.s_type), ())}
    asked = {*corpus.SETUP.wished}, {(struct, member) for struct, member, _ in corpus.SETUP.features}
    # Structs that are gathered in Vulkan 1.x's are not chained beside those.
    newer = {
        before: (aggregate, member)
        for aggregate in ("VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceVulkan14Features")
        for member, before in vulkan.promoted(aggregate).items()
    }
    for features, there in zip(asked, (True, False), strict=True):
        for feature in features:
            # Beside VK_AMD_shader_fragment_mask, which this device has too, they may not be: VUID-…-None-08095.
            if "DescriptorBuffer" not in feature[0]:
                assert (feature in on or newer.get(feature) in on) is there, feature


def _flags(value: Any) -> int:
    number = value if isinstance(value, int) else vulkan.value("VkPipelineCreateFlags", value)
    return number & ~CAPTURE


def _flags2(value: Any) -> int:
    number = value if isinstance(value, int) else vulkan.value("VkPipelineCreateFlags2", value)
    return number & ~CAPTURE


def _compare_sets(dump: Dump, layout: Mapping[str, Any], spec: PipelineSpec) -> None:
    """Set layouts may come in any order: those of the pipeline layout point to the right ones, samplers and all."""
    struct = "VkDescriptorSetLayoutCreateInfo"
    created = infos(dump, "vkCreateDescriptorSetLayout")
    numbers = spec.layout.get("pSetLayouts", ())
    handles = layout.get("pSetLayouts", [])
    assert [handle == 0 for handle in handles] == [number is None for number in numbers]
    for handle, number in zip(handles, numbers, strict=True):
        if number is None:
            continue
        its, plain = created[handle - 1], spec.set_layouts[number]
        compare(struct, its, plain)
        for arrived, wanted in zip(its.get("pBindings", ()), plain["pBindings"], strict=True):
            samplers = infos(dump, "vkCreateSampler")
            of_binding = wanted.get("pImmutableSamplers") or []
            assert len(arrived.get("pImmutableSamplers", [])) == len(of_binding)
            for sampler, place in zip(arrived.get("pImmutableSamplers", []), of_binding, strict=True):
                compare("VkSamplerCreateInfo", samplers[sampler - 1], spec.samplers[place])


def test_the_layer_knows_every_structure_of_the_corpus(layer: Path) -> None:
    text = (layer / "printers.h").read_text()
    assert {name for name in _chained(PIPELINES) if f"print_{name}(" not in text} == set()


def _chained(specs: list[PipelineSpec]) -> Iterator[str]:
    def names(value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for name, each in value.items():
                yield from (one for one, _ in each) if name == "pNext" else ()
                yield from names(each)
        elif isinstance(value, (list, tuple)):
            for each in value:
                yield from names(each)

    for spec in specs:
        yield from names([spec.create_info, spec.render_pass, spec.set_layouts, spec.samplers])
