"""Pipelines as wholes: what the modules' capabilities say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shaderstat.errors import Unsupported
from shaderstat.pipeline.overrides import overlay
from shaderstat.pipeline.stages import StageInput
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.spirv.facts import Binding
from tests.pipeline.paper import PaperDevice
from tests.pipeline.test_graphics import stage

DESCRIPTOR_HEAP = 5128  # the capability DescriptorHeapEXT
FLAGS2 = "VkPipelineCreateFlags2CreateInfo"
HEAP = "VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT"


def of_heaps(*bindings: Binding) -> StageInput:
    plain = stage("compute", local_size=(8, 8, 1), bindings=bindings)
    return replace(plain, reflection=replace(plain.reflection, capabilities=(DESCRIPTOR_HEAP,)))


def test_what_takes_descriptors_out_of_heaps_has_no_layout() -> None:
    """VUID-VkComputePipelineCreateInfo-flags-11311."""
    spec = synthesise([of_heaps()], PaperDevice())
    assert spec.create_info["layout"] is None and spec.create_info["pNext"] == [[FLAGS2, {"flags": HEAP}]]
    assert (spec.set_layouts, spec.layout) == ((), {})
    assert "layout" not in synthesise([stage("compute", local_size=(8, 8, 1))], PaperDevice()).create_info


def test_bindings_beside_heaps_are_the_applications_business() -> None:
    with pytest.raises(Unsupported) as caught:
        synthesise([of_heaps(Binding(0, 0, "UNIFORM_BUFFER", 1))], PaperDevice())
    assert (caught.value.code, caught.value.path is not None) == ("pipeline/state", True)


def test_optimisation_is_a_flag_of_the_second_kind_where_there_are_such() -> None:
    """The others count for nothing beside them."""
    stages, device = [of_heaps()], PaperDevice()
    off, on = {"options": {"optimize": False}}, {"options": {"optimize": True}}
    plain = synthesise(stages, device)
    without = overlay(plain, [off], stages, device)
    flags = f"{HEAP}|VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT"
    assert without.create_info["pNext"] == [[FLAGS2, {"flags": flags}]]
    assert without.create_info.get("flags", 0) == plain.create_info.get("flags", 0)
    again = overlay(plain, [off, on], stages, device)
    assert again.create_info["pNext"] == [[FLAGS2, {"flags": 1 << 36}]]
