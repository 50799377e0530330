"""Images and samplers that are compared with, found by the instructions that do: the sampler's type never says it."""

from __future__ import annotations

import pytest

from shaderstat.spirv.comparisons import compared
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute

_DECLARATIONS = """
    %vec2 = OpTypeVector %float 2
    %uv = OpConstantComposite %vec2 %half %half
    %texture = OpTypeImage %float 2D 2 0 0 1 Unknown
    %sampler = OpTypeSampler
    %both = OpTypeSampledImage %texture
    %to_texture = OpTypePointer UniformConstant %texture
    %to_sampler = OpTypePointer UniformConstant %sampler
    %70 = OpVariable %to_texture UniformConstant
    %71 = OpVariable %to_sampler UniformConstant
    %72 = OpVariable %to_sampler UniformConstant
    %taking = OpTypeFunction %float %texture %to_sampler
"""
_PLACES = "\n".join(f"OpDecorate %{id} DescriptorSet 0\nOpDecorate %{id} Binding {id - 70}" for id in (70, 71, 72))
_PLAIN = "%sample{0} = OpImageSampleExplicitLod %vec4 %joined{0} %uv Lod %half"
_DREF = "%sample{0} = OpImageSampleDrefExplicitLod %float %joined{0} %uv %half Lod %half"
_JOIN = """
    %image{0} = OpLoad %texture %70
    %with{0} = OpLoad %sampler %{1}
    %joined{0} = OpSampledImage %both %image{0} %with{0}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_JOIN.format(0, 71) + _PLAIN.format(0), set()),
        (_JOIN.format(0, 71) + _DREF.format(0), {70, 71}),
        (_JOIN.format(0, 71) + _DREF.format(0) + _JOIN.format(1, 72) + _PLAIN.format(1), {70, 71}),
    ],
)
def test_what_a_comparison_reads(body: str, expected: set[int]) -> None:
    text = compute(f"%entry = OpLabel\n{body}\nOpReturn", declarations=_DECLARATIONS, modes=_PLACES)
    assert compared(load(assemble(text))) == expected


def test_through_a_call() -> None:
    """The sampler is handed on as a pointer, the image as a value."""
    body = """
        %entry = OpLabel
        %image = OpLoad %texture %70
        %result = OpFunctionCall %float %callee %image %72
        OpReturn
        OpFunctionEnd
        %callee = OpFunction %float None %taking
        %first = OpFunctionParameter %texture
        %second = OpFunctionParameter %to_sampler
        %inside = OpLabel
        %with = OpLoad %sampler %second
        %joined = OpSampledImage %both %first %with
        %sample = OpImageSampleDrefExplicitLod %float %joined %uv %half Lod %half
        OpReturnValue %sample
    """
    text = compute(body, declarations=_DECLARATIONS, modes=_PLACES)
    assert compared(load(assemble(text))) == {70, 72}
