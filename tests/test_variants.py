"""``--spec``: how it is written, and what variants it makes."""

from __future__ import annotations

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import SpecOption
from shaderstat.variants import MAX_VARIANTS, parse, variants


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("0=4", SpecOption(None, "0", ("4",))),
        ("LIGHTS=1,2,4", SpecOption(None, "LIGHTS", ("1", "2", "4"))),
        ("fragment:0=true", SpecOption("fragment", "0", ("true",))),
        ("frag:0=true", SpecOption("fragment", "0", ("true",))),
        # a colon behind something that is no stage belongs to the name: Slang writes such names
        ("ns::X=1", SpecOption(None, "ns::X", ("1",))),
    ],
)
def test_an_option_names_a_constant_and_its_values(text: str, option: SpecOption) -> None:
    assert parse(text) == option


@pytest.mark.parametrize("text", ["", "0", "=4", "0=", "0=1,,2", "frag:=1"])
def test_what_is_not_of_that_form_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ShaderstatError) as caught:
        parse(text)
    assert "--spec 0=4" in (caught.value.hint or "")


def test_options_multiply_and_the_last_changes_fastest() -> None:
    made = variants([parse("0=1,2"), parse("frag:K=7,8")])
    assert [one.label for one in made] == [
        "[0=1,fragment:K=7]",
        "[0=1,fragment:K=8]",
        "[0=2,fragment:K=7]",
        "[0=2,fragment:K=8]",
    ]
    assert made[1].values == {"0": "1", "fragment:K": "8"}


def test_no_option_makes_the_one_variant_of_the_defaults() -> None:
    (default,) = variants([])
    assert (default.label, default.values) == ("", {})


def test_too_many_variants_are_a_slip() -> None:
    many = ",".join(str(value) for value in range(MAX_VARIANTS + 1))
    with pytest.raises(ShaderstatError, match="variants"):
        variants([parse(f"0={many}")])
