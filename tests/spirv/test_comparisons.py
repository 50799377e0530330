"""Which variables a module compares with."""

from __future__ import annotations

import pytest

from shaderstat.spirv.comparisons import compared
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute

_TYPES = """
    %float2 = OpTypeVector %float 2
    %at = OpConstantComposite %float2 %half %half
    %image = OpTypeImage %float 2D 2 0 0 1 Unknown
    %sampler = OpTypeSampler
    %pair = OpTypeSampledImage %image
    %to_image = OpTypePointer UniformConstant %image
    %to_sampler = OpTypePointer UniformConstant %sampler
    %1001 = OpVariable %to_image UniformConstant
    %1002 = OpVariable %to_image UniformConstant
    %1003 = OpVariable %to_sampler UniformConstant
    %1004 = OpVariable %to_sampler UniformConstant
"""
_MODES = "".join(
    f"OpDecorate %{1000 + place} DescriptorSet 0\nOpDecorate %{1000 + place} Binding {place}\n" for place in range(1, 5)
)
COMPARE = "OpImageSampleDrefExplicitLod %float {} %at %half Lod %half"
SAMPLE = "OpImageSampleExplicitLod %vec4 {} %at Lod %half"


def sampling(first: str, second: str) -> bytes:
    """1001 is sampled with 1003 by `first`, 1002 with 1004 by `second`."""
    body = "%entry = OpLabel\n"
    for name, image, sampler, how in (("a", 1001, 1003, first), ("b", 1002, 1004, second)):
        body += f"""
            %image_{name} = OpLoad %image %{image}
            %sampler_{name} = OpLoad %sampler %{sampler}
            %pair_{name} = OpSampledImage %pair %image_{name} %sampler_{name}
            %colour_{name} = {how.format(f"%pair_{name}")}
        """
    return assemble(compute(body + "OpReturn", declarations=_TYPES, modes=_MODES))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (SAMPLE, SAMPLE, set()),
        (COMPARE, SAMPLE, {1001, 1003}),
        (SAMPLE, COMPARE, {1002, 1004}),
        (COMPARE, COMPARE, {1001, 1002, 1003, 1004}),
    ],
)
def test_what_is_compared_with(first: str, second: str, expected: set[int]) -> None:
    assert compared(load(sampling(first, second))) == expected


def test_what_a_function_is_given_is_compared_with_as_well() -> None:
    """A function that compares with its parameter, called with one of two images."""
    body = """
        %entry = OpLabel
        %result = OpFunctionCall %float %shadow %1002
        OpReturn
        OpFunctionEnd
        %shadow = OpFunction %float None %takes_image
        %map = OpFunctionParameter %to_image
        %inner = OpLabel
        %loaded = OpLoad %image %map
        %how = OpLoad %sampler %1003
        %both = OpSampledImage %pair %loaded %how
        %passed = OpImageSampleDrefExplicitLod %float %both %at %half Lod %half
        OpReturnValue %passed
    """
    types = _TYPES + "%takes_image = OpTypeFunction %float %to_image\n"
    assert compared(load(assemble(compute(body, declarations=types, modes=_MODES)))) == {1002, 1003}
