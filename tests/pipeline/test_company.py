"""Stages that are lacking are generated; on a driver, each stage compiles alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.stages import StageInput
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.spirv.facts import EntryPoint, InterfaceVariable, Reflection, Type, Variable
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.conftest import ROOT
from tests.pipeline.paper import ANY, LEAST, PaperDevice

DEVICE = PaperDevice(
    features=frozenset((ANY, name) for name in ("dynamicRendering", "meshShader", "taskShader")),
    limits={**LEAST, "maxGeometryInputComponents": 64, "maxTessellationEvaluationInputComponents": 64},
)
NOTHING = Reflection((1, 0), 0, (), (), ())


def sample(folder: Path, name: str) -> StageInput:
    words = load((folder / name).read_bytes())
    reflection = reflect(words)
    return StageInput(words.tobytes(), name, reflection, reflection.entries[0])


def stage(word: str, **more: object) -> StageInput:
    return StageInput(word.encode(), f"a.{word}.spv", NOTHING, EntryPoint("main", word, **more))  # type: ignore[arg-type]


def stages(given: list[StageInput]) -> tuple[list[str], int]:
    """The stages that the driver is given, in order, and which are synthetic."""
    spec = synthesise(given, DEVICE)
    flags = [one["stage"] for one in spec.create_info["pStages"]]
    words = [flag.removeprefix("VK_SHADER_STAGE_").rpartition("_BIT")[0].lower() for flag in flags]
    generated = {words[index] for index, one in enumerate(spec.create_info["pStages"]) if _synthetic(spec, one)}
    assert spec.synthetic_stages == sum(STAGE_BITS[word] for word in generated)
    assert spec.bound == ("upper" if generated else "exact")
    return words, spec.synthetic_stages


def _synthetic(spec: object, info: dict[str, int]) -> bool:
    return bool(spec.modules[info["module"]].synthetic)  # type: ignore[attr-defined]


def test_a_whole_pair_gets_no_company(samples: Path) -> None:
    pair = [sample(samples, "water.frag.spv"), sample(samples, "water.vert.spv")]
    assert stages(pair) == (["vertex", "fragment"], 0)


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        (["fragment"], ["vertex", "fragment"]),
        (["vertex"], ["vertex", "fragment"]),
        (["geometry"], ["vertex", "geometry", "fragment"]),
        (
            ["tessellation_control"],
            ["vertex", "tessellation_control", "tessellation_evaluation", "fragment"],
        ),
        (
            ["tessellation_evaluation", "fragment"],
            ["vertex", "tessellation_control", "tessellation_evaluation", "fragment"],
        ),
        (["mesh"], ["mesh", "fragment"]),
        (["task"], ["task", "mesh", "fragment"]),
        (["raygen", "miss"], ["raygen", "miss"]),
        (["miss"], ["raygen", "miss"]),
        (["intersection"], ["raygen", "closest_hit", "intersection"]),
        (["callable"], ["raygen", "callable"]),
    ],
)
def test_what_is_lacking_is_added(given: list[str], whole: list[str]) -> None:
    more = {"geometry": {"topology": "triangles"}, "tessellation_control": {"patch_control_points": 3}}
    words, synthetic = stages([stage(word, **more.get(word, {})) for word in given])
    assert words == whole
    assert synthetic == sum(STAGE_BITS[word] for word in set(whole) - set(given))


def test_a_fragment_stage_that_reads_what_a_mesh_stage_alone_writes_gets_one() -> None:
    """An input with PerPrimitiveEXT, decoration 5271."""
    inputs = (InterfaceVariable(1, 0, "float", 32, 4, per_primitive=True),)
    variables = (Variable(2, "", 1, Type(1, "float", width=32), {30: (1,), 5271: ()}),)
    reads = stage("fragment", inputs=inputs, input_variables=variables)
    assert stages([reads])[0] == ["mesh", "fragment"]
    # Behind a vertex stage it is the application's own mistake.
    assert stages([stage("vertex"), reads])[0] == ["vertex", "fragment"]


def test_a_generated_mesh_stage_needs_the_feature() -> None:
    without = PaperDevice(features=frozenset({(ANY, "dynamicRendering")}))
    with pytest.raises(Unsupported) as caught:
        synthesise([stage("task")], without)
    assert (caught.value.code, caught.value.path) == ("vulkan/feature-missing", "a.task.spv")


def test_what_a_ray_generation_shader_calls_is_added() -> None:
    """RayPayloadKHR is storage class 5338, CallableDataKHR 5328."""
    float_ = Type(1, "float", width=32)
    sent = (Variable(2, "", 5338, float_), Variable(3, "", 5328, float_))
    assert stages([stage("raygen", payloads=sent)])[0] == ["raygen", "closest_hit", "miss", "callable"]


def test_a_generated_stage_names_the_file_that_it_is_for(samples: Path) -> None:
    spec = synthesise([sample(samples, "water.frag.spv")], DEVICE)
    assert [one.path for one in spec.modules] == ["water.frag.spv (generated vertex stage)", "water.frag.spv"]
    # It feeds the stage from attributes: Position's, and one for each of what water.frag reads.
    found = spec.create_info["pVertexInputState"]["pVertexAttributeDescriptions"]
    assert len(found) == 1 + len(sample(samples, "water.frag.spv").entry.inputs)


LONE_STAGES = """
import json, sys
from pathlib import Path
from shaderstat.backends import vulkan
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.model import Launch
from shaderstat.pipeline.company import complete
from shaderstat.pipeline.requirements import check
from shaderstat.pipeline.synthesis import synthesise
from tests.pipeline.test_company import sample

backend = vulkan.open(Launch("radv:navi21", "vulkan", "null-device"), SpirvTools(None))
answers = {}

def ask(stage):
    check(stage.reflection, stage.entry, backend.facts)
    spec = synthesise([stage], backend.facts)
    with backend.compile(spec, statistics=True, representations=False) as pipeline:
        answers[stage.path] = [one.stages for one in pipeline.query()]
    return complete(spec.kind, [stage], backend.facts)

for path in sorted(Path(sys.argv[1]).glob("*.spv")):
    if path.name.endswith((".vert.spv", ".frag.spv")):
        for partner in ask(sample(path.parent, path.name)):
            ask(partner)  # a generated stage is as good a stage as any
print("ANSWER " + json.dumps(answers))
"""


@pytest.mark.driver
def test_each_stage_compiles_alone(samples: Path, radv_manifest: Path) -> None:
    """And the validation layer has nothing to say."""
    done = subprocess.run(
        [sys.executable, "-c", LONE_STAGES, samples],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            "VK_DRIVER_FILES": str(radv_manifest),
            "VK_ICD_FILENAMES": str(radv_manifest),
            "RADV_FORCE_FAMILY": "navi21",
            "MESA_SHADER_CACHE_DISABLE": "true",
            "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
        },
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert "VUID" not in done.stdout, done.stdout
    answers = json.loads(done.stdout.partition("ANSWER ")[2])
    assert {"water.frag.spv", "water.vert.spv", "leaf.frag.spv"} <= set(answers)
    assert all(flags == [STAGE_BITS["vertex"], STAGE_BITS["fragment"]] for flags in answers.values())
