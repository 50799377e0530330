"""What the writer writes, the reader reads: every structure, every member of it, and the same names again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from shaderstat.archive.applications import Applications
from shaderstat.archive.capture import Captured
from shaderstat.archive.format import KINDS, Tag
from shaderstat.archive.layouts import FIELDS
from shaderstat.archive.records import Records
from shaderstat.archive.stream import Stream
from shaderstat.archive.writer import Writer
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Setup
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.registry import vulkan
from tests.archive import corpus
from tests.archive.test_containers import MAGIC, entry, stream

USUAL = Setup()
PIPELINES = [*corpus.pipelines()]
IDS = [f"{one.kind}-{place}" for place, one in enumerate(PIPELINES)]


def written(spec: PipelineSpec, setup: Setup = USUAL) -> tuple[Records, int]:
    stream = io.BytesIO()
    hash = Writer(stream).add(spec, setup)
    return Records([Stream(partial(io.BytesIO, stream.getvalue()), "an.foz")]), hash


def captured(records: Records, hash: int) -> Captured:
    tag = next(tag for tag in KINDS if records.has(tag, hash))
    return Captured(records, tag, hash)


def numbers(struct: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """A struct with numbers in place of names, and nothing in it that says nothing: zeros, empty lists, counts."""
    result: dict[str, Any] = {}
    known = vulkan.struct(struct)
    assert known is not None
    counts = {member.length for member in known.members.values()}
    for name, value in plain.items():
        if name == "pNext":
            result[name] = [[each, numbers(each, members)] for each, members in value]
            continue
        type = known.members[name].type
        value = [_number(type, each) for each in value] if isinstance(value, (list, tuple)) else _number(type, value)
        if value or (name in counts and not any(known.members[each].length == name for each in plain)):
            result[name] = value
    return {name: value for name, value in result.items() if value not in ([], {}, 0, None)}


def _number(type: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return numbers(type, value)
    if isinstance(value, str) and value.startswith("VK_"):
        return vulkan.value(type, value)
    return value


STRUCTS = {
    "compute": "VkComputePipelineCreateInfo",
    "graphics": "VkGraphicsPipelineCreateInfo",
    "ray_tracing": "VkRayTracingPipelineCreateInfoKHR",
}


def resolved(spec: PipelineSpec) -> dict[str, Any]:
    """A spec that can be compared: what indices point to stands in their place, since their order is nobody's."""

    def sampler(index: int) -> Any:
        plain = dict(spec.samplers[index])
        chain = []
        for name, members in plain.get("pNext", ()):
            if name == "VkSamplerYcbcrConversionInfo":
                members = {"conversion": 0}
            chain.append([name, members])
        found = numbers("VkSamplerCreateInfo", {**plain, **({"pNext": chain} if chain else {})})
        conversions = [
            numbers(corpus.CONVERSION, spec.conversions[members["conversion"]])
            for name, members in plain.get("pNext", ())
            if name == "VkSamplerYcbcrConversionInfo"
        ]
        return found, conversions

    def set_layout(index: int | None) -> Any:
        if index is None:
            return None
        plain = spec.set_layouts[index]
        samplers = [[sampler(each) for each in one.get("pImmutableSamplers") or ()] for one in plain["pBindings"]]
        bindings = [{**one, "pImmutableSamplers": None} for one in plain["pBindings"]]
        return numbers("VkDescriptorSetLayoutCreateInfo", {**plain, "pBindings": bindings}), samplers

    infos = [spec.create_info["stage"]] if spec.kind == "compute" else spec.create_info.get("pStages", ())
    without = [{**info, "module": None} for info in infos]
    own = {"stage": without[0]} if spec.kind == "compute" else {"pStages": without}
    create_info = {**spec.create_info, **own}
    return {
        "kind": spec.kind,
        "modules": [spec.modules[info["module"]].words for info in infos],
        "create_info": numbers(STRUCTS[spec.kind], create_info),
        "layout": numbers("VkPipelineLayoutCreateInfo", {**spec.layout, "pSetLayouts": None}),
        "has_layout": spec.create_info.get("layout", 0),
        "set_layouts": [set_layout(each) for each in spec.layout.get("pSetLayouts") or ()],
        "render_pass": spec.render_pass and numbers(spec.render_pass_type, spec.render_pass),
        "render_pass_type": spec.render_pass_type,
        "libraries": [resolved(each) for each in spec.libraries],
    }


@pytest.mark.parametrize("spec", PIPELINES, ids=IDS)
def test_a_pipeline_comes_back_with_every_member(spec: PipelineSpec) -> None:
    records, hash = written(spec)
    assert resolved(captured(records, hash).spec()) == resolved(spec)


@pytest.mark.parametrize("spec", PIPELINES, ids=IDS)
def test_what_was_read_is_written_under_the_same_names(spec: PipelineSpec) -> None:
    records, hash = written(spec)
    again, same = written(captured(records, hash).spec())
    assert same == hash
    for tag in Tag:
        assert again.hashes(tag) == records.hashes(tag)
        assert [again.payload(tag, each) for each in again.hashes(tag)] == [
            records.payload(tag, each) for each in records.hashes(tag)
        ]


def test_the_corpus_has_every_structure_of_the_table() -> None:
    def chained(value: Any) -> Iterator[int]:
        if isinstance(value, dict):
            yield from (each["sType"] for each in value.get("pNext", ()))
            for each in value.values():
                yield from chained(each)
        elif isinstance(value, list):
            for each in value:
                yield from chained(each)

    seen: set[int] = set()
    for spec in PIPELINES:
        records, _ = written(spec, corpus.SETUP)
        for tag in Tag:
            for hash in records.hashes(tag):
                text = records.payload(tag, hash).partition(b"\0")[0]
                seen |= set(chained(json.loads(text)))
    known = {name: vulkan.struct(name) for name in FIELDS}
    hosts = {*FIELDS, "VkPhysicalDeviceFeatures2"}
    chainable = {each.s_type: name for name, each in known.items() if each and each.s_type and hosts & {*each.extends}}
    # a sampler's conversion is chained in archives alone, VkSampleLocationsInfoEXT stands within another structure
    assert {name for number, name in chainable.items() if number not in seen} == set()
    conversion = vulkan.struct(corpus.CONVERSION)
    assert conversion is not None and conversion.s_type is not None and conversion.s_type in seen


def test_members_that_dynamic_state_overrides_are_kept_but_not_named_by() -> None:
    spec = corpus.graphics(corpus.DYNAMIC)
    info = dict(spec.create_info)
    info["pRasterizationState"] = {**info["pRasterizationState"], "cullMode": 0}
    _, hash = written(spec)
    _, same = written(replace(spec, create_info=info))
    assert hash == same
    fixed = corpus.graphics()
    info = dict(fixed.create_info)
    info["pRasterizationState"] = {**info["pRasterizationState"], "cullMode": 0}
    assert written(fixed)[1] != written(replace(fixed, create_info=info))[1]


def test_capture_flags_are_no_part_of_a_name() -> None:
    spec = corpus.compute()
    info = {key: value for key, value in spec.create_info.items() if key != "pNext"} | {"flags": 0}
    hashes = {written(replace(spec, create_info={**info, "flags": flags}))[1] for flags in (0, 0x40, 0x80, 0xC0)}
    assert len(hashes) == 1
    assert written(replace(spec, create_info={**info, "flags": 1}))[1] not in hashes


def test_the_application_and_its_device_come_back() -> None:
    spec = corpus.compute()
    records, hash = written(spec, corpus.SETUP)
    (application,) = records.hashes(Tag.APPLICATION)
    setup = Applications(records).setup(Tag.COMPUTE, hash)
    assert dict(setup.application) == dict(corpus.SETUP.application)
    assert set(setup.features) == set(corpus.SETUP.features)
    # and more: a sampler of it has a border colour of its own, so that the device had that feature
    assert set(setup.wished) > set(corpus.SETUP.wished)
    assert ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColors") in setup.wished
    links = [records.document(Tag.LINK, each)["link"] for each in records.hashes(Tag.LINK)]
    assert {each["application"] for each in links} == {f"{application:016x}"}
    linked = {(each["tag"], int(each["hash"], 16)) for each in links}
    objects = {
        (int(tag), each) for tag in Tag if tag not in (Tag.APPLICATION, Tag.LINK) for each in records.hashes(tag)
    }
    assert linked == objects


def test_each_of_several_applications_keeps_its_pipelines() -> None:
    stream = io.BytesIO()
    writer = Writer(stream)
    one, other = (replace(corpus.SETUP, application=(("pApplicationName", name),)) for name in ("one", "other"))
    first, second = writer.add(corpus.compute(), one), writer.add(corpus.graphics(), other)
    applications = Applications(Records([Stream(partial(io.BytesIO, stream.getvalue()), "an.foz")]))
    assert dict(applications.setup(Tag.COMPUTE, first).application)["pApplicationName"] == "one"
    assert dict(applications.setup(Tag.GRAPHICS, second).application)["pApplicationName"] == "other"


def test_everything_is_written_once() -> None:
    stream = io.BytesIO()
    writer = Writer(stream)
    assert writer.add(corpus.compute()) == writer.add(corpus.compute())
    assert writer.pipelines == 1
    size = len(stream.getvalue())
    writer.add(corpus.compute())
    assert len(stream.getvalue()) == size


# ── What was generated ────────────────────────────────────────────────────────────────────────────────────────────


def lone() -> PipelineSpec:
    """A fragment stage with a generated vertex stage before it."""
    spec = corpus.graphics()
    vertex, fragment = ({**info, "module": place} for place, info in enumerate(spec.create_info["pStages"][::3]))
    return replace(
        spec,
        modules=(replace(spec.modules[0], synthetic=True), spec.modules[1]),
        create_info={**spec.create_info, "pStages": [vertex, fragment]},
        synthetic_stages=1,
        bound="upper",
    )


def test_generated_stages_are_still_so_in_an_archive() -> None:
    records, hash = written(lone())
    again = captured(records, hash).spec()
    assert (again.synthetic_stages, again.bound) == (1, "upper")
    assert [module.synthetic for module in again.modules] == [True, False]
    # They are no part of what tells pipelines apart, and nobody else's tools see them.
    assert written(replace(lone(), synthetic_stages=0))[1] == hash
    document = json.loads(records.payload(Tag.GRAPHICS, hash))
    assert document.keys() == {"version", "graphicsPipelines", "shaderstat"}
    assert "shaderstat" not in json.dumps(document["graphicsPipelines"])


def said_so(records: Records, hash: int, own: Any) -> Captured:
    """The pipeline where an archive before says something else beside its record."""
    document = {**json.loads(records.payload(Tag.GRAPHICS, hash)), "shaderstat": own}
    first = stream(MAGIC + entry(Tag.GRAPHICS, hash, json.dumps(document).encode()))
    return captured(Records([first, *records.containers]), hash)


@pytest.mark.parametrize("said", [True, "1", -1, 0, 2, 17, 1 << 40, [1]])
def test_generated_stages_that_can_not_be(said: Any) -> None:
    """More than there are, or all of them."""
    records, hash = written(lone())
    with pytest.raises(InvalidSpirv) as caught:
        said_so(records, hash, {"generatedStages": said}).spec()
    assert caught.value.code == "archive/value"
    assert said_so(records, hash, said).spec().synthetic_stages == 0
