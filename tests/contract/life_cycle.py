"""A backend through its whole life, in a process of its own: ``python -m tests.contract.life_cycle BACKEND DEVICE``.

Prints one JSON object: what each step gave. Nothing here knows which backend it is.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from shaderstat.backends.base import Backend, open_backend
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.pipeline.stages import StageInput
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load

SAMPLES = Path(__file__).parents[2] / "sample_spirv"


def pipeline(backend: Backend, *names: str) -> PipelineSpec:
    """What synthesis makes of samples for this device."""
    stages = []
    for name in names:
        words = load((SAMPLES / name).read_bytes())
        reflection = reflect(words)
        stages.append(StageInput(words.tobytes(), name, reflection, reflection.entries[0]))
    return synthesise(stages, backend.facts)


def plain(value: Any) -> Any:
    """JSON of dataclasses and bytes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value.hex() if isinstance(value, bytes) else value


def facts(backend: Backend) -> dict[str, Any]:
    """Everything that facts are asked for, with names that exist and names that don't."""
    told = backend.facts
    return {
        "driver": told.driver,
        "device": told.device,
        "api_version": told.api_version,
        "extension": told.has_extension("VK_KHR_pipeline_executable_properties"),
        "feature": told.has_feature("VkPhysicalDeviceFeatures", "shaderInt64"),
        "property": told.property("VkPhysicalDeviceLimits", "maxPushConstantsSize"),
        "unknown_property": told.property("VkPhysicalDeviceNothing", "nothing"),
        "format": told.supports_format("VK_FORMAT_R32_SFLOAT", "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT"),
    }


def live(backend: Backend) -> dict[str, Any]:
    """Steps 2 to 6 of the life cycle."""
    steps: dict[str, Any] = {"facts": facts(backend)}
    compute, graphics = pipeline(backend, "blur.comp.spv"), pipeline(backend, "water.vert.spv", "water.frag.spv")
    for name, spec in (("compute", compute), ("graphics", graphics)):
        with backend.compile(spec, statistics=True, representations=True) as compiled:
            created_ns = compiled.driver_ns
            steps[name] = compiled.query()
            steps[f"{name}_again"] = compiled.query()
            steps[f"{name}_diagnostics"] = compiled.diagnostics()
            steps[f"{name}_durations"] = compiled.durations
            steps[f"{name}_driver_ns"] = [created_ns, compiled.driver_ns]
    for statistics in (False, True):
        for representations in (False, True):
            with backend.compile(compute, statistics=statistics, representations=representations) as compiled:
                steps[f"captured_{statistics}_{representations}"] = compiled.query()
    # One pipeline inside the life of another, and one that is never asked.
    with backend.compile(compute, statistics=True, representations=False) as first:
        with backend.compile(graphics, statistics=True, representations=False) as second:
            steps["inner"] = second.query()
        with backend.compile(graphics, statistics=True, representations=False):
            pass
        steps["outer"] = first.query()
    # Whatever happens inside, the context lets the pipeline go and the exception through.
    try:
        with backend.compile(compute, statistics=True, representations=False):
            raise KeyError("of the caller")
    except KeyError as error:
        steps["exception"] = str(error)
    with backend.compile(compute, statistics=True, representations=True) as compiled:
        steps["after_exception"] = compiled.query()
    backend.close()
    return steps


def main(backend: str, device: int, scenario: Any) -> None:
    """Open, live, print."""
    launch = Launch(id=f"{backend}:{device}", backend=backend, source="host", device=device, scenario=scenario)
    try:
        opened = open_backend(launch, SpirvTools.find())
    except NoTarget as error:
        steps = {"refused": error.message, "hint": error.hint}
    else:
        steps = live(opened)
    print(json.dumps(plain(steps)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]) if len(sys.argv) > 3 else None)
