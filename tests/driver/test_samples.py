"""Every sample on RADV: numbers that can be known beforehand, equal in every run, with the validation layer silent."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from shaderstat import engine
from shaderstat.model import STAGE_WORDS, Request, ResultEvent
from shaderstat.pool import pool
from shaderstat.store import identity
from tests.conftest import ROOT, Run
from tests.driver.conftest import NAVI21, Stats, numbers
from tests.malformed.make import GOOD, module, where

COMPUTE = (
    "blur", "classify", "exact", "histogram", "julia", "pick", "reduce", "scale", "sort", "tuned", "unpack",
)  # fmt: skip
# What RADV makes of the graphics pipelines on GFX10.3: it merges a stage into the one behind it.
PAIR = [["vertex"], ["fragment"]]
GRAPHICS = {
    "fur": [["vertex", "geometry"], ["fragment"]],
    "gbuffer": PAIR,
    "hills": [["vertex", "tessellation_control"], ["tessellation_evaluation"], ["fragment"]],
    "leaf": PAIR,
    "plasma": PAIR,  # the vertex stage is generated
    "water": PAIR,
}


def test_every_sample_has_numbers(stats: Stats, samples: Path) -> None:
    report = stats(samples)
    assert [one["name"] for one in report["pipelines"]] == sorted([*COMPUTE, *GRAPHICS])
    for result in report["results"]:
        assert result["status"] == "ok", result
        codes = [one["code"] for one in result["diagnostics"]]
        assert codes == (["vulkan/runtime-array"] if result["pipeline"] == "pick" else [])
        stages = [one["stages"] for one in result["executables"]]
        assert stages == GRAPHICS.get(result["pipeline"], [["compute"]])
        lone = result["pipeline"] == "plasma"
        for one in result["executables"]:
            assert one["subgroup_size"] in (32, 64)
            assert one["bound"] == ("upper" if lone else "exact")
            assert one["synthetic"] == (lone and one["stages"] == ["vertex"])
            names = [statistic["name"] for statistic in one["statistics"]]
            assert len(names) >= 9 and {"SGPRs", "VGPRs", "Code size", "Scratch size"} <= set(names)
            assert all(type(statistic["value"]) is int for statistic in one["statistics"])


def test_numbers_that_the_source_tells(stats: Stats, samples: Path) -> None:
    """Shared memory is what the shader declares, rounded up to the hardware's granule (1024 bytes on GFX10.3 in RADV's
    count); scratch memory is used by the one sample with a private array; nothing here spills."""
    found = {key: dict(value) for key, value in numbers(stats(samples)).items()}
    for (pipeline, _, executable), one in found.items():
        if pipeline in COMPUTE:  # vertex shaders use some of their own, to cull
            declared = {"blur": 20 * 20 * 12, "histogram": 256 * 4, "reduce": 256 * 4}.get(pipeline, 0)
            assert declared <= one["LDS size"] < declared + 1024, (pipeline, executable)
        # 256 words for each of 64 invocations.
        assert one["Scratch size"] == (256 * 4 * 64 if pipeline == "sort" else 0)
        assert one["Spilled SGPRs"] == one["Spilled VGPRs"] == 0
        assert one["Code size"] % 4 == 0 and one["Code size"] >= 4 * one["Instructions"] > 0


def test_separate_runs_agree(stats: Stats, samples: Path, tmp_path: Path) -> None:
    first = numbers(stats(samples, env={"PYTHONHASHSEED": "0"}))
    paths = sorted(samples.glob("*.spv"), reverse=True)
    assert numbers(stats(*paths, env={"PYTHONHASHSEED": "4711"})) == first
    assert numbers(stats("--no-validate", samples)) == first
    assert numbers(stats(samples / "blur.comp.spv")).items() <= first.items()


def test_text_representations_of_every_sample(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = shaderstat("ir", "-t", NAVI21, samples, "--out", out)
    assert done.returncode == 0, done.stderr
    written = [Path(line) for line in done.stdout.splitlines()]
    assert {path.resolve() for path in written} | {out / "index.json"} == {p for p in out.rglob("*") if p.is_file()} | {
        out / "index.json"
    }
    executables = len(COMPUTE) + sum(map(len, GRAPHICS.values())) - 1  # without the generated one
    texts = [path.read_text() for path in written if path.suffix == ".txt"]
    assert len(texts) == 3 * executables  # NIR, ACO's own, assembly
    assert sum("s_endpgm" in text for text in texts) >= executables
    assert sum("impl main" in text for text in texts) == executables


def test_capturing_representations_changes_no_number(shaderstat: Run, stats: Stats, samples: Path) -> None:
    import shaderstat as library

    plain = numbers(stats(samples))
    report = library.inspect(samples, target=NAVI21, representations=True)
    for result in report.results:
        for one in result.executables:
            found = {s.name: s.text or s.value for s in one.statistics}
            known = dict(plain[result.pipeline, one.index, one.name])
            # That hash depends on the capture flags; the code's own does not.
            assert {**found, "Driver pipeline hash": 0} == {**known, "Driver pipeline hash": 0}


def test_ray_tracing_is_offered_and_mesh_shaders_are_named(stats: Stats, samples: Path) -> None:
    """What RADV of Mesa 22.3 lacks, or has behind a switch; Mesa 23.2 and later have both."""
    folder = ROOT / "sample_optional"
    version = re.match(r"Mesa (\d+)\.(\d+)", stats(samples / "scale.comp.spv")["targets"][0]["driver"]["info"])
    assert version
    if (int(version[1]), int(version[2])) >= (23, 2):
        stages = {
            one["pipeline"]: {stage for each in one["executables"] for stage in each["stages"]}
            for one in stats(folder)["results"]
        }
        assert stages == {"grid": {"mesh", "fragment"}, "rays": {"raygen"}}
        return
    report = stats(folder, status=2)
    said = {one["pipeline"]: one["diagnostics"][-1] for one in report["results"]}
    assert said["grid"]["message"].startswith("asks for capability MeshShadingEXT: ")
    assert said["rays"]["message"].startswith("asks for capability RayTracingKHR: ")
    found_out = "shaderstat targets finds out which compilers here have it"
    assert said["grid"]["hint"] == found_out
    assert said["rays"]["hint"] == f"this driver has it with --env RADV_PERFTEST=rt; {found_out}"
    with_it = stats(folder, "--env", "RADV_PERFTEST=rt", status=2)
    rays = next(one for one in with_it["results"] if one["pipeline"] == "rays")
    assert rays["status"] == "ok"
    # RADV makes one compute shader of them all.
    assert [(one["stages"], one["bound"]) for one in rays["executables"]] == [(["compute"], "exact")]


def test_a_stage_alone_is_compiled_with_company(stats: Stats, samples: Path) -> None:
    """Each of the samples' graphics stages by itself, hidden company and all. The fragment shader's code may be its
    pair's: what is left out when stages are linked shows where the vertex shader says more than values."""
    pairs = {one["pipeline"]: one for one in stats(samples)["results"]}
    for path in sorted(samples.glob("*.spv")):
        stage = path.suffixes[0][1:]
        if stage == "comp":
            continue
        (result,) = stats(path)["results"]
        assert result["status"] == "ok", path.name
        assert all(one["bound"] == "upper" for one in result["executables"])
        real = [one for one in result["executables"] if not one["synthetic"]]
        assert real and any(STAGE_WORDS[stage] in one["stages"] for one in real), path.name
        if path.name in ("leaf.frag.spv", "water.frag.spv"):
            (alone,) = real
            together = next(one for one in pairs[result["pipeline"]]["executables"] if "fragment" in one["stages"])
            known = ("Instructions", "VGPRs", "Code size", "Branches")
            assert by_name(alone, known) == by_name(together, known)


def by_name(executable: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in executable["statistics"] if one["name"] in names}


def test_the_validation_layer_is_silent_but_for_a_planted_error(
    stats: Stats, samples: Path, tmp_path: Path, validation_log: Path
) -> None:
    folder = tmp_path / "shaders"
    shutil.copytree(samples, folder)
    # Two push constants at one offset break the layout rules and hurt nobody: drivers read what is there.
    at = where("MemberDecorate", 2)
    overlapping = (*GOOD[at][:-1], 0)
    (folder / "planted.comp.spv").write_bytes(module((*GOOD[:at], overlapping, *GOOD[at + 1 :])))
    # One child: each empties the file when it starts.
    report = stats("--no-validate", "-j", "1", folder)
    assert {one["status"] for one in report["results"]} == {"ok"}
    log = validation_log.read_text()
    # each begins with such a line
    said = re.split("^(?=.*Validation (?:Error|Warning): )", log, flags=re.MULTILINE)[1:]
    # Once when the module is made, and in some versions once more when the pipeline is; nothing else.
    assert any("overlaps" in one for one in said), f"the layer did not look: {log}"
    others = [one for one in said if "overlaps" not in one]
    assert len(others) <= 1 and all("pSpecializationInfo-06849" in one for one in others), log


def test_a_second_run_starts_nothing_whoever_chose_the_target(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the host's own devices don't answer is remembered like what the null device says."""
    monkeypatch.setenv("SHADERSTAT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(identity, "_devices", lambda: iter(()))
    request = Request((str(samples / "scale.comp.spv"),))
    first = [event.result for event in engine.run(request) if isinstance(event, ResultEvent)]
    monkeypatch.setattr(pool, "ChildProcess", None)
    second = [event.result for event in engine.run(request) if isinstance(event, ResultEvent)]
    assert [one.executables for one in second] == [one.executables for one in first]
    assert [(one.target, one.cached) for one in second] == [(one.target, True) for one in first]
