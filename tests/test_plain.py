"""`shaderstat.plain.dataclass` against the standard library's: what programs see of both is the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from shaderstat import plain
from shaderstat.pipeline.spec import PipelineSpec


def make(decorate: Callable[..., Any], **options: bool) -> Any:
    class Sample:
        number: int
        names: tuple[str, ...] = ()
        aside: list[int] = dataclasses.field(default_factory=list, compare=False)

    return decorate(Sample, **options) if not options else decorate(**options)(Sample)


OPTIONS = [{}, {"slots": True}, {"frozen": True, "slots": True}, {"frozen": True, "slots": True, "eq": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_the_standard_librarys_dataclass(options: dict[str, bool]) -> None:
    ours, theirs = make(plain.dataclass, **options), make(dataclasses.dataclass, **options)
    for sample in (ours, theirs):
        one = sample(1, names=("a",))
        assert repr(one).endswith("Sample(number=1, names=('a',), aside=[])")
        assert dataclasses.replace(one, number=2).number == 2 and dataclasses.asdict(one)["names"] == ("a",)
        assert (one == sample(1, ("a",), [7])) is options.get("eq", True) and one != sample(2, ("a",))
        assert hasattr(one, "__dict__") is not options.get("slots", False)
        assert copy.copy(one).names == ("a",) and one != (1, ("a",), [])
        with pytest.raises(TypeError):
            sample()
    assert [each.name for each in dataclasses.fields(ours)] == [each.name for each in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if ours.__hash__ is not None:
        assert (hash(ours(1)) == hash(ours(1))) == (hash(theirs(1)) == hash(theirs(1)))


def test_two_classes_with_the_same_members_are_two() -> None:
    assert make(plain.dataclass)(1) != make(plain.dataclass)(1)


def test_a_class_without_members_is_equal_to_itself() -> None:
    @plain.dataclass(frozen=True)
    class Nothing:
        pass

    assert Nothing() == Nothing() and hash(Nothing()) == hash(Nothing()) and repr(Nothing()).endswith("Nothing()")


def test_they_go_through_pickle() -> None:
    """As outcomes do that wait for their turn in a file."""
    spec = PipelineSpec("compute", (), (), {}, {})
    assert pickle.loads(pickle.dumps(spec, pickle.HIGHEST_PROTOCOL)) == spec
