"""Modules for tests, just enough to be scanned: capabilities, entry points, interface locations."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

# Execution models, SPIR-V specification 3.3.
VERTEX, TESC, TESE, GEOMETRY, FRAGMENT, COMPUTE, KERNEL = range(7)
TASK, MESH, RAYGEN, MISS = 5364, 5365, 5313, 5317
SHADER, LINKAGE, OPENCL = 1, 5, 6

_INPUT, _OUTPUT = 1, 3
_LOCATION = 30

# (execution model, name, locations of its inputs, locations of its outputs)
Entry = tuple[int, str, Sequence[int], Sequence[int]]


def entry(model: int, name: str = "main", inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> Entry:
    return model, name, inputs, outputs


def module(*entries: Entry, capabilities: Iterable[int] = (SHADER,)) -> bytes:
    """A module of these entry points; their functions are empty."""
    capable = [word for capability in capabilities for word in _instruction(17, capability)]
    heads: list[int] = []
    locations: list[int] = []
    variables: list[int] = []
    functions: list[int] = []
    void, function_type, number, pointer_in, pointer_out = 1, 2, 3, 4, 5
    next_id = 6
    for model, name, inputs, outputs in entries:
        interface = []
        for storage, pointer, used in ((_INPUT, pointer_in, inputs), (_OUTPUT, pointer_out, outputs)):
            for location in used:
                interface.append(next_id)
                locations += _instruction(71, next_id, _LOCATION, location)
                variables += _instruction(59, pointer, next_id, storage)
                next_id += 1
        heads += _instruction(15, model, next_id, *_string(name), *interface)
        functions += _instruction(54, void, next_id, 0, function_type) + _instruction(248, next_id + 1)
        functions += _instruction(253) + _instruction(56)
        next_id += 2
    types = _instruction(19, void) + _instruction(33, function_type, void) + _instruction(22, number, 32)
    types += _instruction(32, pointer_in, _INPUT, number) + _instruction(32, pointer_out, _OUTPUT, number)
    body = [*capable, *_instruction(14, 0, 1), *heads, *locations, *types, *variables, *functions]
    words = [0x07230203, 0x00010300, 0x00080001, next_id, 0, *body]
    return struct.pack(f"<{len(words)}I", *words)


def write(folder: Path, **files: bytes) -> Path:
    """Write ``water_vert=…`` as ``water.vert.spv``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / f"{name.replace('_', '.')}.spv").write_bytes(data)
    return folder


def _instruction(opcode: int, *operands: int) -> list[int]:
    return [len(operands) + 1 << 16 | opcode, *operands]


def _string(text: str) -> list[int]:
    raw = text.encode() + b"\0"
    raw += bytes(-len(raw) % 4)
    return list(struct.unpack(f"<{len(raw) // 4}I", raw))


COMPUTE_MODULE = module(entry(COMPUTE))
VERTEX_MODULE = module(entry(VERTEX, outputs=[0, 1]))
FRAGMENT_MODULE = module(entry(FRAGMENT, inputs=[0, 1], outputs=[0]))
