"""The Vulkan backend alone, on RADV's null device, with states written by hand. Each test asks a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

Script = Callable[..., tuple[Any, str]]


@pytest.fixture
def script(radv_manifest: Path, tmp_path: Path) -> Script:
    """Run Python lines in a process that sees navi21 alone; `say(value)` is what comes back, with all that was
    printed: the validation layer's messages among it."""

    def run(lines: str, **environment: str) -> tuple[Any, str]:
        out = tmp_path / "out.json"
        start = "import json, os\nfrom tests.driver.specs import *\n"
        say = f"def say(value): open({str(out)!r}, 'w').write(json.dumps(value))\n"
        done = subprocess.run(
            [sys.executable, "-c", start + say + textwrap.dedent(lines)],
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
                **environment,
            },
            timeout=120,
        )
        assert done.returncode == 0, done.stdout
        return json.loads(out.read_text()), done.stdout

    return run


@pytest.fixture
def validation() -> dict[str, str]:
    """The environment that puts the validation layer in."""
    folders = ("/usr/share/vulkan/explicit_layer.d", "/usr/local/share/vulkan/explicit_layer.d")
    if not any((Path(folder) / "VkLayer_khronos_validation.json").exists() for folder in folders):
        pytest.skip("no validation layer: install vulkan-validationlayers")
    return {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}


def test_a_device_with_everything_that_unlocks_spirv(script: Script) -> None:
    found, _ = script(
        """
        backend = open_backend()
        facts = backend.facts
        say({
            "driver": [facts.driver.id, facts.driver.name, facts.driver.info],
            "type": facts.device.type,
            "vendor": facts.device.vendor_id,
            "uuid": len(facts.device.pipeline_cache_uuid),
            "version": facts.api_version,
            "features": {
                f"{struct}.{member}": facts.has_feature(struct, member)
                for struct, member in [
                    ("VkPhysicalDeviceFeatures", "geometryShader"),
                    ("VkPhysicalDeviceFeatures", "robustBufferAccess"),
                    ("VkPhysicalDeviceVulkan12Features", "shaderFloat16"),
                    ("VkPhysicalDeviceShaderFloat16Int8Features", "shaderFloat16"),
                    ("VkPhysicalDeviceVulkan13Features", "robustImageAccess"),
                    ("VkPhysicalDeviceRayTracingPipelineFeaturesKHR", "rayTracingPipeline"),
                    ("VkPhysicalDeviceRayQueryFeaturesKHR", "rayQuery"),
                ]
            },
            "limits": [
                facts.property("VkPhysicalDeviceLimits", "maxComputeWorkGroupSize[0]"),
                facts.property("VkPhysicalDeviceVulkan11Properties", "subgroupSize"),
                facts.property("VkPhysicalDeviceSubgroupProperties", "subgroupSize"),
                facts.property("VkPhysicalDeviceLimits", "noSuchLimit"),
                facts.property("VkNoSuchProperties", "at all"),
            ],
            "formats": [
                facts.supports_format("VK_FORMAT_R32G32B32_SFLOAT", "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT"),
                facts.supports_format("VK_FORMAT_R32G32B32_SFLOAT", "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT"),
                facts.supports_format("VK_FORMAT_R8G8B8A8_UNORM", "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT"),
                facts.supports_format("VK_FORMAT_NOPE", "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT"),
            ],
            "extensions": [
                facts.has_extension(name)
                for name in ("VK_KHR_pipeline_executable_properties", "VK_KHR_swapchain", "VK_NOPE")
            ],
        })
        backend.close()
        backend.close()
        """
    )
    assert found["driver"][:2] == [3, "radv"] and found["driver"][2].startswith("Mesa ")
    assert (found["type"], found["vendor"], found["uuid"]) == ("discrete_gpu", 0x1002, 32)
    assert found["version"][:2] >= [1, 3]
    assert list(found["features"].values())[:5] == [True, False, True, True, False]
    assert found["limits"][1:] == [64, 64, None, None] and found["limits"][0] >= 1024
    assert found["formats"] == [True, False, True, False]
    assert found["extensions"] == [True, False, False]


def test_features_of_unlisted_extensions_are_not_believed(script: Script) -> None:
    """navi10 says that it supports ray tracing, and lists neither extension."""
    found, _ = script(
        """
        facts = open_backend().facts
        say([
            facts.has_extension("VK_KHR_ray_query"),
            facts.has_feature("VkPhysicalDeviceRayQueryFeaturesKHR", "rayQuery"),
        ])
        """,
        RADV_FORCE_FAMILY="navi10",
    )
    assert found == [False, False]


def test_what_there_is_can_be_listed(script: Script) -> None:
    found, _ = script(
        """
        (entry,) = vulkan.enumerate_devices(launch())
        say([entry.index, entry.name, entry.driver.name, entry.has_extension, entry.has_feature, entry.answers])
        """
    )
    assert found[0] == 0
    assert "NAVI21" in found[1]
    assert found[2:] == ["radv", True, True, True]


def test_answers_of_hand_made_pipelines(script: Script) -> None:
    found, _ = script(
        """
        backend = open_backend()
        answers = {}
        for name, spec in ALL.items():
            executables, pipeline = ask(backend, spec)
            answers[name] = {
                "executables": [[one.name, one.stages, one.subgroup_size, len(one.statistics)] for one in executables],
                "numbers": numbers(executables),
                "representations": sum(len(one.representations) for one in executables),
                "stages": sorted(pipeline.durations.stages),
                "durations": [pipeline.durations.pipeline, pipeline.durations.wall, pipeline.driver_ns],
                "diagnostics": pipeline.diagnostics(),
            }
        say(answers)
        """
    )
    scale = found["scale"]
    ((_, stages, subgroup, count),) = scale["executables"]
    assert (stages, subgroup) == (0x20, 64) and count >= 19
    assert scale["stages"] == ["compute"]
    water = found["water"]
    assert [stages for _, stages, _, _ in water["executables"]] == [0x1, 0x10]
    assert water["stages"] == ["fragment", "vertex"]
    # a fragment shader whose attachments were lost would be a bare export of nothing: 4 or 8 bytes
    assert all(one["Code size"] > 300 for one in water["numbers"].values())
    assert found["in_render_pass"]["numbers"] == water["numbers"]
    for answer in found.values():
        assert answer["diagnostics"] == [] and answer["representations"] == 0
        pipeline, wall, driver_ns = answer["durations"]
        assert 0 < pipeline <= wall <= driver_ns


def test_specialization_reaches_the_compiler(script: Script) -> None:
    found, _ = script(
        """
        backend = open_backend()
        say([list(numbers(ask(backend, tuned(taps))[0]).values())[0]["Code size"] for taps in (1, 8, 8)])
        """
    )
    one, eight, again = found
    assert one < eight == again


def test_representations_leave_the_numbers_alone(script: Script) -> None:
    found, _ = script(
        """
        backend = open_backend()
        plain, _ = ask(backend, WATER)
        executables, pipeline = ask(backend, WATER, representations=True)
        say({
            "equal": numbers(plain) == numbers(executables),
            "texts": [[each.name, each.is_text, each.data.decode()] for each in executables[1].representations],
            "diagnostics": pipeline.diagnostics(),
        })
        """
    )
    assert found["equal"]
    assert found["diagnostics"] == []
    assert len(found["texts"]) == 3
    name, is_text, assembly = found["texts"][-1]
    assert (name, is_text) == ("Assembly", True)
    assert "s_endpgm" in assembly and "exp mrt0" in assembly
    assert not assembly.endswith("\0")


def test_statistics_are_the_same_each_time(script: Script) -> None:
    """A pointer that dangles shows as a number that wanders."""
    found, _ = script(
        """
        backend = open_backend()
        say([[numbers(ask(backend, spec)[0]) for spec in ALL.values()] for _ in range(20)])
        """
    )
    assert all(round == found[0] for round in found)


# ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_state_that_has_no_words_is_unsupported(script: Script) -> None:
    found, _ = script(
        """
        from shaderstat.errors import Unsupported
        backend = open_backend()
        messages = []
        for change in ({"flags": "VK_PIPELINE_CREATE_NOPE"}, {"nope": 1}, {"pNext": [["VkSamplerCreateInfo", {}]]}):
            try:
                ask(backend, replace(SCALE, create_info={**SCALE.create_info, **change}))
            except Unsupported as error:
                messages.append([error.code, error.message])
        ask(backend, SCALE)
        say(messages)
        """
    )
    assert [code for code, _ in found] == ["vulkan/state"] * 3
    assert ["NOPE" in found[0][1], "nope" in found[1][1], "VkSamplerCreateInfo" in found[2][1]] == [True] * 3


def test_a_pipeline_that_may_not_be_compiled_is_an_error(script: Script) -> None:
    """VK_PIPELINE_COMPILE_REQUIRED is positive and comes with a null handle."""
    found, _ = script(
        """
        from shaderstat.backends.base import DriverError
        backend = open_backend()
        flags = "VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT"
        try:
            ask(backend, replace(SCALE, create_info={**SCALE.create_info, "flags": flags}))
        except DriverError as error:
            say([error.call, error.vk_result])
        """
    )
    assert found == ["vkCreateComputePipelines", "VK_PIPELINE_COMPILE_REQUIRED"]


# ── The validation layer ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_validation_layer_is_silent(script: Script, validation: dict[str, str]) -> None:
    """Over instance, device with all its features, pipelines, queries, and the end, where it tells what was leaked."""
    found, printed = script(
        """
        backend = open_backend()
        counts = [len(ask(backend, spec, representations=True)[0]) for spec in ALL.values()]
        backend.close()
        say(counts)
        """,
        **validation,
    )
    assert found == [1, 1, 2, 2]
    # RADV of Mesa 25 says that of its null device.
    assert printed.replace("ac_compute_device_uuid's output is based on invalid pci bus info.\n", "") == ""


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        # two bindings of one number
        (
            "replace(SCALE, set_layouts=({'pBindings': SCALE.set_layouts[0]['pBindings'] * 2},))",
            "VUID-VkDescriptorSetLayoutCreateInfo-binding-00279",
        ),
        # a push constant that the layout does not cover
        ("replace(SCALE, layout={'pSetLayouts': [0]})", "VUID-VkComputePipelineCreateInfo-layout-"),
    ],
)
def test_the_validation_layer_is_not_silent_over_a_planted_error(
    script: Script, validation: dict[str, str], change: str, complaint: str
) -> None:
    _, printed = script(f"backend = open_backend()\nask(backend, {change})\nsay(None)\n", **validation)
    assert complaint in printed


def test_the_validation_layer_sees_what_is_leaked(script: Script, validation: dict[str, str]) -> None:
    """So that its silence above means something."""
    _, printed = script(
        """
        backend = open_backend()
        kept = backend.compile(SCALE, statistics=True, representations=False)
        kept.__enter__()
        backend.close()
        say(None)
        os._exit(0)  # before Python lets go of a pipeline whose device is gone
        """,
        **validation,
    )
    assert "VUID-vkDestroyDevice-device-" in printed


def test_everything_created_is_destroyed_in_reverse(script: Script) -> None:
    found, _ = script(
        """
        from shaderstat.backends.vulkan import binding
        find, log = binding.Functions.find, []

        def watch(self, name):
            function = find(self, name)
            if function is None or not name.startswith(("vkCreate", "vkDestroy")):
                return function
            return lambda *arguments: (log.append(name), function(*arguments))[1]

        binding.Functions.find = watch
        backend = open_backend()
        log.clear()
        for spec in (IN_RENDER_PASS, replace(SCALE, create_info={**SCALE.create_info, "flags": 0x100})):
            try:
                ask(backend, spec)
            except Exception:
                pass
        pipelines = list(log)
        log.clear()
        backend.close()
        say([pipelines, log])
        """
    )
    pipelines, end = found
    made = [
        "ShaderModule",
        "ShaderModule",
        "DescriptorSetLayout",
        "DescriptorSetLayout",
        "PipelineLayout",
        "RenderPass",
    ]
    failed = ["ShaderModule", "DescriptorSetLayout", "PipelineLayout"]
    assert [name.removesuffix("2") for name in pipelines] == [
        *(f"vkCreate{name}" for name in made),
        "vkCreateGraphicsPipelines",
        "vkDestroyPipeline",
        *(f"vkDestroy{name}" for name in reversed(made)),
        *(f"vkCreate{name}" for name in failed),
        "vkCreateComputePipelines",
        *(f"vkDestroy{name}" for name in reversed(failed)),
    ]
    assert end == ["vkDestroyDevice", "vkDestroyInstance"]
