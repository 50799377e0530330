"""The bytes of a stream archive, and the names of what is in it."""

from __future__ import annotations

import re
import struct
from enum import IntEnum
from typing import NamedTuple

MAGIC = b"\x81FOSSILIZEDB"
ZIP_MAGIC = b"PK\x03\x04"
VERSION = 6
READABLE = (5, 6)
FILE_HEADER = 16

# Tag (24 hexadecimal digits, the last 16 of which count), hash (16), stored size, flags, CRC-32, size of the payload.
HEADER = struct.Struct("<40sIIII")

STORED, DEFLATED = 1, 2

# A member of our own beside a pipeline's record, which no hash counts: Fossilize's tools look for those that they know.
OWN, GENERATED = "shaderstat", "generatedStages"

# A module of the greatest size that shaderstat reads, every word of it in five bytes, and then some.
MAX_PAYLOAD = 384 * 1024 * 1024
# What zlib's best case makes of a byte: a size beyond it is a lie, found without unpacking anything.
MAX_RATIO = 1032


class Tag(IntEnum):
    """What an entry is."""

    APPLICATION = 0
    SAMPLER = 1
    SET_LAYOUT = 2
    PIPELINE_LAYOUT = 3
    MODULE = 4
    RENDER_PASS = 5
    GRAPHICS = 6
    COMPUTE = 7
    LINK = 8
    RAY_TRACING = 9
    BUCKET = 10


# For messages, and the top member of a payload that holds objects by their hashes.
NAMES = {
    Tag.APPLICATION: "application info",
    Tag.SAMPLER: "sampler",
    Tag.SET_LAYOUT: "descriptor set layout",
    Tag.PIPELINE_LAYOUT: "pipeline layout",
    Tag.MODULE: "shader module",
    Tag.RENDER_PASS: "render pass",
    Tag.GRAPHICS: "graphics pipeline",
    Tag.COMPUTE: "compute pipeline",
    Tag.LINK: "application link",
    Tag.RAY_TRACING: "ray tracing pipeline",
    Tag.BUCKET: "bucket info",
}
TOPS = {
    Tag.SAMPLER: ("samplers",),
    Tag.SET_LAYOUT: ("setLayouts",),
    Tag.PIPELINE_LAYOUT: ("pipelineLayouts",),
    Tag.MODULE: ("shaderModules",),
    Tag.RENDER_PASS: ("renderPasses", "renderPasses2"),
    Tag.GRAPHICS: ("graphicsPipelines",),
    Tag.COMPUTE: ("computePipelines",),
    Tag.RAY_TRACING: ("raytracingPipelines",),
}
KINDS = {Tag.GRAPHICS: "graphics", Tag.COMPUTE: "compute", Tag.RAY_TRACING: "ray_tracing"}


class Header(NamedTuple):
    """An entry's header: `size` as stored, `plain_size` unpacked."""

    key: bytes
    size: int
    flags: int
    crc: int
    plain_size: int


def name(hash: int) -> str:
    """A hash as Fossilize's tools print it."""
    return f"{hash:016x}"


def base_name(path: str) -> str:
    """What the files of one concurrent recording share: ``base.foz``, ``base.1.foz``, ``base.2.foz``."""
    found = re.fullmatch(r"(.+?)(\.[0-9]+)?\.foz", path, re.DOTALL)
    return found[1] if found else path
