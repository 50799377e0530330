"""What a SPIRV-Tools takes and says, whether it is a library or a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from shaderstat.plain import dataclass

# Vulkan environments of SPIRV-Tools, oldest first, with the newest SPIR-V version that each admits (Vulkan
# specification, appendix "Vulkan Environment for SPIR-V").
ENVIRONMENTS: Mapping[str, tuple[int, int]] = {
    "vulkan1.0": (1, 0),
    "vulkan1.1": (1, 3),
    "vulkan1.1spv1.4": (1, 4),
    "vulkan1.2": (1, 5),
    "vulkan1.3": (1, 6),
    "vulkan1.4": (1, 6),
}

# The result of `Tool.validate` for a good module.
VALID = None

# A module that keeps the validator busy for longer counts as not validated. (40 structs that each hold the former twice
# keep it busy for ever, and 100,000 entry points nearly so.)
LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    """What the device allows beyond the environment: set each when its feature will be enabled, else the validator
    refuses good modules. A tool that has no such option is run without it."""

    scalar_block_layout: bool = False
    uniform_buffer_standard_layout: bool = False
    workgroup_scalar_block_layout: bool = False
    relax_block_layout: bool = False
    local_size_id: bool = False
    offset_texture_operand: bool = False
    bitwise_of_any_width: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a tool says of a module: `instruction` counts from 1, 0 where it isn't about one."""

    instruction: int
    message: str


class ToolFailed(Exception):
    """The tool gave no answer: it is missing, died, took too long, or can't read the module."""


class Tool(Protocol):
    """A SPIRV-Tools of one kind. Every method may raise `ToolFailed`.

    Attributes:
        version: ``v2025.5``.
        environments: those of `ENVIRONMENTS` that it knows, oldest first.
        limit_s: how long it may take over a module.
    """

    version: str
    environments: Sequence[str]
    limit_s: float

    def validate(self, words: bytes, environment: str, options: Options) -> Refusal | None:
        """`VALID`, or what is wrong with the module."""

    def disassemble(self, words: bytes) -> str:
        """The module as text, with friendly names and indented."""

    def knows_extension(self, name: str) -> bool:
        """Whether it was made after ``SPV_…`` was; True where that can't be told."""
