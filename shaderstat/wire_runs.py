"""The part of `shaderstat.wire` that is about runs: what is asked of one, and what it gave, as JSON can hold it.

Bytes go into the frame's blob: of an execution in the way of a job's state, of an answer in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from shaderstat.instrumentation import (
    Command,
    Execution,
    Fill,
    ImageFill,
    Instrumentation,
    Metric,
    MetricBlock,
    Offer,
    Resource,
)


def execution_to_plain(execution: Execution) -> dict[str, Any]:
    """All of it; still with ``bytes``."""
    return {
        "commands": [[command.kind, command.size] for command in execution.commands],
        "extent": execution.extent,
        "repeat": execution.repeat,
        "accumulate": execution.accumulate,
        "metrics": execution.metrics,
        "buffers": [[slot, _fill_to_plain(fill)] for slot, fill in execution.buffers.items()],
        "images": [[slot, its.extent, _fill_to_plain(its.fill)] for slot, its in execution.images.items()],
        "vertices": [[binding, _fill_to_plain(fill)] for binding, fill in execution.vertices.items()],
        "push": execution.push,
        "read": execution.read,
    }


def execution_from_plain(plain: Mapping[str, Any]) -> Execution:
    """The inverse of `execution_to_plain`."""
    width, height = plain["extent"]
    return Execution(
        commands=_commands(plain["commands"]),
        extent=(width, height),
        repeat=plain["repeat"],
        accumulate=plain["accumulate"],
        metrics=plain["metrics"],
        buffers={(set_, binding): Fill(*fill) for (set_, binding), fill in plain["buffers"]},
        images={
            (set_, binding): ImageFill(None if extent is None else (extent[0], extent[1]), Fill(*fill))
            for (set_, binding), extent, fill in plain["images"]
        },
        vertices={binding: Fill(*fill) for binding, fill in plain["vertices"]},
        push=plain["push"],
        read=tuple((set_, binding) for set_, binding in plain["read"]),
    )


def _fill_to_plain(fill: Fill) -> list[Any]:
    return [fill.kind, fill.size, fill.seed, fill.data, fill.path]


def _commands(plain: Sequence[Any]) -> tuple[Command, ...]:
    return tuple(Command(kind, (x, y, z)) for kind, (x, y, z) in plain)


def offer_from_plain(plain: Sequence[Any] | None) -> Offer | None:
    """The inverse of ``astuple``, of an offer or of None."""
    if plain is None:
        return None
    metrics, per_basic_block = plain
    return Offer(tuple(Metric(*one) for one in metrics), per_basic_block)


def instrumentation_to_plain(found: Instrumentation, blobs: list[bytes]) -> dict[str, Any]:
    """All of it; what was read goes into `blobs`."""
    blobs += (data for _, data in found.read)
    return {
        "offer": None if found.offer is None else astuple(found.offer),
        "commands": [[command.kind, command.size] for command in found.commands],
        "submissions": found.submissions,
        "accumulated": found.accumulated,
        "blocks": [astuple(block) for block in found.blocks],
        "resources": [astuple(resource) for resource in found.resources],
        "read": [[slot, len(data)] for slot, data in found.read],
        "run_ns": found.run_ns,
    }


def instrumentation_from_plain(plain: Mapping[str, Any], blob: bytes, at: int) -> Instrumentation:
    """The inverse of `instrumentation_to_plain`; what was read begins at offset `at` of the blob."""
    read = []
    for (set_, binding), size in plain["read"]:
        read.append(((set_, binding), blob[at : at + size]))
        at += size
    return Instrumentation(
        offer=offer_from_plain(plain["offer"]),
        commands=_commands(plain["commands"]),
        submissions=plain["submissions"],
        accumulated=plain["accumulated"],
        blocks=tuple(
            MetricBlock(submission, index, sub_index, stages, block, tuple(values), synthetic)
            for submission, index, sub_index, stages, block, values, synthetic in plain["blocks"]
        ),
        resources=tuple(Resource(*each) for each in plain["resources"]),
        read=tuple(read),
        run_ns=tuple(plain["run_ns"]),
    )
