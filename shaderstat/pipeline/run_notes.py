"""What a user should know of what a run is made with, beyond the record of it: guesses, and what is there twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shaderstat.pipeline.resources import Note
from shaderstat.pipeline.run_buffers import TEXEL_BUFFERS, elements_in, given_size, made
from shaderstat.pipeline.run_formats import texel_bytes
from shaderstat.pipeline.run_partners import covers
from shaderstat.pipeline.run_pointers import open_array

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.resources import Buffer, Target
    from shaderstat.pipeline.run_interface import Bound, Interface
    from shaderstat.pipeline.spec import PipelineSpec

# Of more slots one line would be none.
_NAMED = 6


def notes(
    found: Interface, execution: Execution, buffers: Sequence[Buffer], indirect: Buffer | None
) -> tuple[Note, ...]:
    """One line of each kind."""
    sizes = {each.slot: each for each in buffers}
    bounds = [bound for _, bound in sorted(found.bound.items())]
    its = [bound for bound in bounds if bound.slot in sizes]
    return (
        *_guesses([each for each in its if given_size(execution.buffers.get(each.slot)) is None], sizes),
        *_small([each for each in its if given_size(execution.buffers.get(each.slot)) is not None], sizes),
        *_pointers(found, indirect),
        *_again(bounds),
        *_first(its, execution),
    )


def _guesses(bounds: Sequence[Bound], sizes: dict[tuple[int, int], Buffer]) -> Iterator[Note]:
    said = []
    for bound in bounds:
        buffer = sizes[bound.slot]
        if bound.type in TEXEL_BUFFERS:
            said.append(f"{_slot(bound)} ({buffer.size // texel_bytes(buffer.format)} texels)")
        elif any(map(open_array, bound.types)):
            count = elements_in(bound, buffer.size)
            if bound.is_open or bound.reached > count:
                said.append(f"{_slot(bound)} ({count} elements)")
    if said:
        sizes_are = (
            f"the size of {_list(said)} is a guess" if len(said) == 1 else f"the sizes of {_list(said)} are guesses"
        )
        option = f"--buffer {said[0].split(' ', 1)[0]}=zeros:SIZE says it"
        message = f"{sizes_are}: how far shaders reach there can't be told; {option}"
        yield Note("info", "run/guessed-size", message)


def _small(bounds: Sequence[Bound], sizes: dict[tuple[int, int], Buffer]) -> Iterator[Note]:
    said = []
    for bound in bounds:
        if bound.type not in TEXEL_BUFFERS and any(map(open_array, bound.types)):
            size = sizes[bound.slot].size
            count = elements_in(bound, size)
            if count < max(bound.reached, 1):
                reached = f" of {bound.reached}" if bound.reached else ""
                said.append(f"{_slot(bound)} ({count}{reached} elements in {size} byte{'s' * (size != 1)})")
    if said:
        yield Note("warning", "run/small-buffer", f"less is given than shaders reach: {_list(said)}")


def _pointers(found: Interface, indirect: Buffer | None) -> Iterator[Note]:
    if found.open_pointers and indirect is not None:
        yield Note(
            "warning",
            "run/open-pointer",
            "shaders reach through pointers by indices that can't be told: what addresses point to has "
            f"{indirect.size} bytes, a guess, and nothing keeps a shader from what lies beyond",
        )


def _again(bounds: Sequence[Bound]) -> Iterator[Note]:
    said = [
        f"{_slot(bound)} (of {bound.count} those from {made(bound)} on)"
        for bound in bounds
        if bound.type != "INLINE_UNIFORM_BLOCK" and made(bound) < min(bound.count, bound.declared or bound.count)
    ]
    if said:
        yield Note(
            "warning",
            "run/descriptors-again",
            f"not every descriptor of an array has a resource of its own: {_list(said)} are the first ones again",
        )


def _first(bounds: Sequence[Bound], execution: Execution) -> Iterator[Note]:
    said = [_slot(each) for each in bounds if each.slot in execution.read and made(each) > 1]
    if said:
        yield Note("info", "run/first-read", f"{_list(said)} is an array of buffers: the first of them is read")


def target_notes(spec: PipelineSpec, target: Target | None) -> Iterator[Note]:
    """A triangle that covers a rectangle must reach as far again beyond it, and llvmpipe cuts it there into several;
    with several samples a pixel that two of them share is run for each (72 for 8x8 pixels on Mesa 22.3.6)."""
    if target is not None and covers(spec) and max((each.samples for each in target.attachments), default=1) > 1:
        yield Note(
            "info",
            "run/shared-pixels",
            "the generated triangle reaches beyond the target: where a driver cuts it into several, multisampled "
            "pixels along the cut are run once for each",
        )


def _slot(bound: Bound) -> str:
    return f"{bound.slot[0]}.{bound.slot[1]}"


def _list(said: Sequence[str]) -> str:
    more = len(said) - _NAMED
    return ", ".join(said[:_NAMED]) + (f" and {more} more" if more > 0 else "")
