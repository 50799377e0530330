"""Sizes of what shaders reach beyond an element for each invocation, and what is said where they can't be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shaderstat.instrumentation import Command, Execution, Fill
from shaderstat.pipeline.resources import Attachment, Buffer, Resources, Target
from shaderstat.pipeline.run_buffers import buffers
from shaderstat.pipeline.run_interface import Bound, Interface
from shaderstat.pipeline.run_notes import notes, target_notes
from shaderstat.pipeline.run_pointers import REGION_BYTES, Pointers
from shaderstat.pipeline.run_reach import builtins
from shaderstat.pipeline.run_record import record
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.spirv.facts import EntryPoint
from tests.pipeline.paper import PaperDevice
from tests.pipeline.test_run_buffers import FLOAT, UINT, array, block, bound, planned, refused, texels
from tests.pipeline.test_run_pointers import pointer, struct
from tests.pipeline.test_run_pointers import type_ as pointed_type

WORDS = block((0, UINT), (4, array(UINT, 0, 4)))  # four bytes, then the array


def reached(elements: int, *, is_open: bool = False) -> Bound:
    one = bound("STORAGE_BUFFER", WORDS)
    one.reached, one.is_open = elements, is_open
    return one


def noted(
    *bounds: Bound, execution: Execution | None = None, pointers: bool = False, indirect: Buffer | None = None
) -> list[tuple[str, str]]:
    """(code, message) of what is said of them, in slots 0.0, 0.1, …"""
    execution = execution or Execution(())
    found = Interface(open_pointers=pointers)
    made: list[Buffer] = []
    for place, one in enumerate(bounds):
        one.slot = (0, place)
        found.bound[one.slot] = one
        made += buffers(one, execution.buffers.get(one.slot), 1024, Pointers({}, 1024), PaperDevice(limits={}))
    return [(each.code, each.message) for each in notes(found, execution, made, indirect)]


# ── Sizes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("elements", "size"), [(1, 4 + 4096), (1024, 4 + 4096), (1025, 4 + 4100), (65536, 4 + 262144)])
def test_an_array_has_what_shaders_reach(elements: int, size: int) -> None:
    (found,) = planned(reached(elements))
    assert found.size == size


def test_a_guarded_index_asks_for_no_more_than_there_can_be() -> None:
    (found,) = planned(reached(1 << 40))
    assert found.size == 4 + 4096
    (found,) = planned(reached(2000), maxStorageBufferRange=8000)
    assert found.size == 4 + 4096
    (found,) = planned(reached(1999), maxStorageBufferRange=8000)
    assert found.size == 8000


def test_what_pointers_lead_to_has_what_shaders_reach() -> None:
    """A region of 65,536 bytes becomes one of 64 for each of 4,096 invocations; its neighbour stays behind it."""
    leaf, other = struct((0, pointed_type("int", width=32))), struct((0, pointed_type("int", width=32)))
    pointers = Pointers({}, 1024, {id(leaf): 4096 * 64})
    assert pointers.places(struct((0, pointer(leaf)), (8, pointer(other))), 16) == ((0, 0), (8, 262144))
    found = pointers.buffer()
    assert found is not None and found.size == 262144 + REGION_BYTES
    pointers = Pointers({}, 1024, {id(leaf): (1 << 30) + 1})
    pointers.places(struct((0, pointer(leaf))), 8)
    assert str((1 << 30) + 256) in refused("run/too-large", pointers.buffer)


@pytest.mark.parametrize(("steps", "apart"), [(32, 32), (0, 24)])
def test_pointers_in_what_a_moved_pointer_leads_to(steps: int, apart: int) -> None:
    """A node of 20 bytes, its pointer at 8: one behind the other it has 24, aligned as shaders have it perhaps 32."""
    leaf = struct((0, pointed_type("int", width=32)))
    node = struct((8, pointer(leaf)), (16, pointed_type("int", width=32)))
    pointers = Pointers({}, 1024, {id(node): 96}, {id(node): steps} if steps else {})
    pointers.places(struct((0, pointer(node))), 8)
    found = pointers.buffer()
    assert found is not None
    assert [place for place, _ in found.addresses[:3]] == [8, apart + 8, 2 * apart + 8]


def test_pointers_that_would_lie_in_each_other() -> None:
    node = struct((8, pointer(struct((0, pointed_type("int", width=32))))))
    pointers = Pointers({}, 1024, {id(node): 96}, {id(node): 4})
    pointers.places(struct((0, pointer(node))), 8)
    refused("run/address", pointers.buffer)


def test_more_pointers_than_are_written() -> None:
    """A node of 16 bytes for each of 100,000 invocations, of which 65,536 would have their pointer."""
    node = struct((0, pointed_type("int", width=32)), (8, pointer(struct((0, pointed_type("int", width=32))))))
    pointers = Pointers({}, 1024, {id(node): 100_000 * 16})
    pointers.places(struct((0, pointer(node))), 8)
    assert "65536 pointers" in refused("run/too-large", pointers.buffer)


def test_invocations_are_those_of_the_largest_command() -> None:
    entry = EntryPoint(name="main", stage="compute", bindings=(), local_size=(8, 4, 1))
    both = Execution((Command("dispatch", (5, 1, 1)), Command("dispatch", (2, 3, 1))))
    found = builtins(entry, both)
    assert found[28] == [(0, 39), (0, 11), (0, 0)]  # GlobalInvocationId
    assert found[26] == [(0, 4), (0, 2), (0, 0)]  # WorkgroupId
    assert found[29] == [(0, 31)]  # LocalInvocationIndex
    vertex = replace(entry, stage="vertex", local_size=None)
    assert builtins(vertex, Execution((Command("draw", (36, 7, 1)),)))[43] == [(0, 6)]  # InstanceIndex
    pixel = builtins(replace(vertex, stage="fragment"), Execution((Command("draw", (3, 1, 1)),), extent=(16, 9)))
    assert pixel[15][:2] == [(0, 15), (0, 8)]  # FragCoord


# ── Notes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_can_be_told_needs_no_note() -> None:
    assert noted(reached(640)) == noted(reached(65536)) == noted(bound("UNIFORM_BUFFER", block((0, FLOAT)))) == []


def test_guesses_stand_in_one_line() -> None:
    assert noted(reached(1, is_open=True)) == [
        ("run/guessed-size", "the size of 0.0 (1024 elements) is a guess: how far shaders reach there can't be told; "
         "--buffer 0.0=zeros:SIZE says it")
    ]  # fmt: skip
    ((code, said),) = noted(reached(1), reached(1, is_open=True), texels("UNIFORM_TEXEL_BUFFER", FLOAT, 0))
    assert code == "run/guessed-size"
    assert said.startswith("the sizes of 0.1 (1024 elements), 0.2 (1024 texels) are guesses")
    ((_, said),) = noted(*(reached(1, is_open=True) for _ in range(9)))
    assert "0.5 (1024 elements) and 3 more are guesses" in said


def test_a_size_that_was_given_is_no_guess() -> None:
    assert noted(reached(1, is_open=True), execution=Execution((), buffers={(0, 0): Fill(size=64)})) == []


@pytest.mark.parametrize(
    ("size", "elements", "said"),
    [
        (4, 0, "0.0 (0 elements in 4 bytes)"),
        (7, 0, "0.0 (0 elements in 7 bytes)"),
        (8, 0, None),
        (8, 2, "0.0 (1 of 2 elements in 8 bytes)"),
        (11, 2, "0.0 (1 of 2 elements in 11 bytes)"),
        (12, 2, None),
    ],
)
def test_less_than_shaders_reach(size: int, elements: int, said: str | None) -> None:
    found = noted(reached(elements), execution=Execution((), buffers={(0, 0): Fill(size=size)}))
    assert found == ([] if said is None else [("run/small-buffer", f"less is given than shaders reach: {said}")])


def test_nothing_guards_pointers() -> None:
    ((code, said),) = noted(pointers=True, indirect=Buffer((-2, 0), 0, "", 65536, Fill()))
    assert code == "run/open-pointer" and "65536 bytes, a guess" in said


@pytest.mark.parametrize(
    ("layout", "declared", "said"),
    [(16, 0, None), (1024, 0, "0.0 (of 1024 those from 16 on)"), (5000, 5000, "0.0 (of 5000 those from 1024 on)")],
)
def test_descriptors_that_are_the_first_ones_again(layout: int, declared: int, said: str | None) -> None:
    found = noted(bound("STORAGE_BUFFER", block((0, FLOAT)), layout=layout, declared=declared))
    expected = f"not every descriptor of an array has a resource of its own: {said} are the first ones again"
    assert found == ([] if said is None else [("run/descriptors-again", expected)])


def test_of_an_array_the_first_is_read() -> None:
    reads = Execution((), read=((0, 0),))
    ((code, said),) = noted(bound("STORAGE_BUFFER", block((0, FLOAT)), layout=4, declared=4), execution=reads)
    assert (code, said) == ("run/first-read", "0.0 is an array of buffers: the first of them is read")
    assert noted(bound("STORAGE_BUFFER", block((0, FLOAT))), execution=reads) == []


@pytest.mark.parametrize(("samples", "generated", "said"), [(4, 1, True), (1, 1, False), (4, 0, False)])
def test_multisampled_pixels_may_run_twice_where_a_driver_cuts_the_triangle(
    samples: int, generated: int, said: bool
) -> None:
    """Bit 0 is the vertex stage's."""
    spec = PipelineSpec("graphics", (), create_info={}, synthetic_stages=generated)
    target = Target((8, 8), (Attachment("VK_FORMAT_R8G8B8A8_UNORM", samples, 1, "", "", "", (0.0, 0.0, 0.0, 0.0)),))
    assert [each.code for each in target_notes(spec, target)] == ["run/shared-pixels"] * said


# ── The record ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ((), "176 bytes given"),
        ((0, 8), "176 bytes given; bytes 0-15 are addresses"),
        ((0, 16), "176 bytes given; bytes 0-7, 16-23 are addresses"),
        (tuple(range(0, 96, 16)), "176 bytes given; bytes 0-7, 16-23, 32-39, 48-55 and 2 more places are addresses"),
    ],
)
def test_addresses_stand_where_something_else_was_given(places: tuple[int, ...], said: str) -> None:
    at: Any = tuple((place, 0) for place in places)
    buffer = Buffer((0, 0), 0, "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", 176, Fill("data", data=bytes(176)), addresses=at)
    (found,) = record(Resources(buffers=(buffer,)))
    assert found.fill == said
    (found,) = record(Resources(push=bytes(176), push_given=176, push_addresses=at))
    assert found.fill == said
