"""The analysis of a module from text, and the mock's answers, as tests ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shaderstat.backends.mock import MockBackend, open
from shaderstat.backends.mock.analysis import Analysis, analyse
from shaderstat.backends.mock.code import Code, find_entry
from shaderstat.model import ExecutableAnswer, Launch
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import load


class NoTools:
    """No SPIRV-Tools at all."""

    problem = "no SPIRV-Tools found"

    def disassemble(self, words: bytes) -> str | None:
        return None


def code(words: bytes, stage: str = "compute", name: str = "main") -> Code:
    """What an entry point reaches."""
    module = parse(load(words))
    entry = find_entry(module, stage, name)
    assert entry is not None
    return Code(module, Declarations(module, {}), entry)


def analysis(words: bytes, stage: str = "compute", name: str = "main") -> Analysis:
    """The numbers of an entry point."""
    return analyse(code(words, stage, name))


def counted(found: Analysis) -> dict[str, int]:
    """The classes that have any instruction."""
    return {name: count for name, count in found.classes.items() if count}


def spec(words: bytes, stage: str = "compute", name: str = "main", path: str = "a.spv", **info: Any) -> PipelineSpec:
    """A pipeline of one stage."""
    create = {"stage": f"VK_SHADER_STAGE_{stage.upper()}_BIT", "module": 0, "pName": name, **info}
    kind = "compute" if stage == "compute" else "graphics"
    return PipelineSpec(
        kind=kind,
        modules=(SpecModule(words, path),),
        create_info={"stage": create} if kind == "compute" else {"pStages": [create]},
    )


def backend(scenario: Mapping[str, Any] | None = None) -> MockBackend:
    """An open mock."""
    return open(Launch("mock", "mock", "mock", scenario=scenario), NoTools())


def answer(pipeline: PipelineSpec, scenario: Mapping[str, Any] | None = None) -> tuple[ExecutableAnswer, ...]:
    """What the mock answers, everything captured."""
    with backend(scenario).compile(pipeline, statistics=True, representations=True) as compiled:
        return compiled.query()


def numbers(executable: ExecutableAnswer) -> dict[str, int]:
    """The statistics by name, as bits."""
    return {each.name: each.bits for each in executable.statistics}
