"""Profiles: what stacks enable, and what is said where a device lacks it."""

from __future__ import annotations

import pytest

from shaderstat.config import wishes
from shaderstat.errors import Unsupported
from shaderstat.model import Setup
from shaderstat.pipeline.profiles import PROFILES, application, check, switched
from shaderstat.registry import vulkan
from tests.pipeline.paper import PaperDevice

CORE = ("VkPhysicalDeviceFeatures", "robustBufferAccess")
ROBUSTNESS2 = "VkPhysicalDeviceRobustness2FeaturesKHR"


@pytest.mark.parametrize("name", PROFILES)
def test_features_are_vulkans(name: str) -> None:
    for struct, member in (*PROFILES[name].needs, *PROFILES[name].where_there):
        found = vulkan.struct(struct)
        assert found is not None and found.name == struct and member in found.members


def test_the_words_are_those_of_the_command_line() -> None:
    assert tuple(PROFILES) == wishes.PROFILES


def test_the_usual_device_has_no_robustness() -> None:
    assert switched(Setup()) == {} and application(Setup()) == {}


def test_a_stack_that_would_not_run() -> None:
    device = PaperDevice(features=frozenset({CORE}))
    with pytest.raises(Unsupported) as caught:
        list(check(Setup("dxvk"), device))
    assert caught.value.code == "vulkan/feature-missing"
    assert "profile dxvk: Paper lacks" in caught.value.message
    assert "robustBufferAccess2 (VK_KHR_robustness2 or VK_EXT_robustness2)" in caught.value.message


def test_a_stack_that_does_without() -> None:
    device = PaperDevice(features=frozenset({CORE, (ROBUSTNESS2, "nullDescriptor")}))
    (remark,) = check(Setup("webgpu"), device)
    assert (remark.severity, remark.code) == ("info", "vulkan/profile")
    assert "without robustBufferAccess2, robustImageAccess2" in remark.message


def test_what_the_manifest_says_goes_over_the_profile() -> None:
    setup = Setup("webgpu", (((*CORE, False)), (ROBUSTNESS2, "nullDescriptor", False)))
    wanted = switched(setup)
    assert wanted[CORE] is False and wanted[ROBUSTNESS2, "nullDescriptor"] is False
    (remark,) = check(setup, PaperDevice(features=frozenset()))
    assert "nullDescriptor" not in remark.message


def test_a_feature_of_its_own_that_is_not_there() -> None:
    with pytest.raises(Unsupported, match=r"Paper lacks VkPhysicalDeviceFeatures\.robustBufferAccess"):
        list(check(Setup(features=((*CORE, True),)), PaperDevice(features=frozenset())))


def test_drivers_know_stacks_by_the_engines_name() -> None:
    assert application(Setup("dxvk")) == {"pEngineName": "DXVK"}
    assert application(Setup("vkd3d", application=(("pEngineName", "mine"),))) == {"pEngineName": "mine"}
