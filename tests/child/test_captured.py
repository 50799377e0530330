"""A captured pipeline's layout, held against what its stages use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shaderstat.child.captured import prepare_state
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Job
from shaderstat.pipeline.spec import PipelineSpec, SpecModule, pack
from tests.conftest import ROOT
from tests.spirv.asm import module

# scale.comp: buffers at set 0, bindings 0 and 1 (spirv-dis).
MODULE = SpecModule((ROOT / "sample_spirv/scale.comp.spv").read_bytes(), "an.foz:1")
STAGE = {"stage": "VK_SHADER_STAGE_COMPUTE_BIT", "pName": "main", "module": 0}


def spec(*bindings: dict[str, Any], **stage: Any) -> PipelineSpec:
    layouts = ({"pBindings": [buffer(binding=1), *bindings]},)
    return PipelineSpec("compute", (MODULE,), layouts, {"pSetLayouts": [0]}, {"stage": {**STAGE, **stage}})


def refusal(one: PipelineSpec) -> tuple[str, str | None, str]:
    with pytest.raises(InvalidSpirv) as caught:
        prepare_state(Job("", (), state=pack(one)))
    return caught.value.code, caught.value.path, caught.value.message


def buffer(count: int = 1, **more: Any) -> dict[str, Any]:
    return {"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "descriptorCount": count, **more}


def test_a_layout_with_what_is_used_is_taken() -> None:
    prepare_state(Job("", (), state=pack(spec(buffer(), buffer(binding=7)))))


@pytest.mark.parametrize(
    "lacking",
    [
        spec(),
        spec(buffer(binding=2)),
        spec(buffer(0)),  # reserved for nothing
        replace(spec(buffer()), layout={}, set_layouts=()),
        replace(spec(buffer()), layout={"pSetLayouts": [None, 0]}),
    ],
)
def test_a_layout_without_it_is_told_before_a_driver_looks_it_up(lacking: PipelineSpec) -> None:
    code, path, message = refusal(lacking)
    assert (code, path) == ("archive/layout", "an.foz:1")
    assert message.startswith("it uses set 0 binding 0") and message.endswith("which its captured layout doesn't have")


def test_what_is_mapped_to_a_descriptor_heap_needs_no_layout() -> None:
    mapping = ["VkShaderDescriptorSetAndBindingMappingInfoEXT", {"pMappings": []}]
    prepare_state(Job("", (), state=pack(spec(pNext=[mapping]))))


def test_an_array_is_no_longer_than_its_binding() -> None:
    types = "%three = OpConstant %uint 3\n%sampler = OpTypeSampler\n%array = OpTypeArray %sampler %three\n"
    declared = "%p = OpTypePointer UniformConstant %array\n%v = OpVariable %p UniformConstant\n"
    decorated = 'OpName %v "v"\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0'
    words = module(types + declared, annotations=decorated, body="%use = OpCopyObject %p %v\n")
    sampler = "VK_DESCRIPTOR_TYPE_SAMPLER"
    one = replace(spec(buffer(2, descriptorType=sampler)), modules=(SpecModule(words, "an.foz:1"),))
    told = "it uses set 0 binding 0 (v) as an array of 3: its captured layout has 2 of it"
    assert refusal(one) == ("archive/layout", "an.foz:1", told)
