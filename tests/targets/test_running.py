"""Which targets run shaders: what only compiles is refused before it is started, what doesn't count in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shaderstat.errors import NoTarget
from shaderstat.instrumentation import Metric, Offer
from shaderstat.model import Device, Driver, Launch, Request
from shaderstat.targets.catalogue import named
from shaderstat.targets.running import check, executes, executing
from shaderstat.trees.launch import SHIMS
from shaderstat.wire import Hello

HOST = Launch("host:0", "vulkan", "host")
DRIVER, DEVICE = Driver(4, "NVIDIA", "580.159", ""), Device("NVIDIA H200", 0x10DE, 1, "discrete_gpu", "1.4.0", "00")


def hello(offer: Offer | None = None, *, tells: bool = True) -> Hello:
    return Hello(DRIVER, DEVICE, 0, None, (), offer, tells)


@pytest.mark.parametrize(
    ("launch", "runs"),
    [
        (HOST, True),
        (Launch("mock", "mock", "mock"), True),
        (Launch("box", "vulkan", "config", prefix=("ssh", "box")), True),
        (Launch("radv:navi21", "vulkan", "null-device"), False),
        (Launch("turnip:a740", "vulkan", "shim"), False),
        (Launch("turnip@sid:a740", "vulkan", "tree"), False),
        (Launch("mine", "vulkan", "config", environment={"RADV_FORCE_FAMILY": "navi21"}), False),
        (Launch("mine", "vulkan", "config", environment={"LD_PRELOAD": "/usr/lib/libamdgpu_noop_drm_shim.so"}), False),
        (Launch("mine", "vulkan", "config", prefix=("ld.so", "--preload", "libmsm_noop_drm_shim.so")), False),
    ],
)
def test_what_stands_in_for_a_gpu_executes_nothing(launch: Launch, runs: bool) -> None:
    assert executes(launch) is runs
    if runs:
        assert executing([launch]) == [launch]
    else:
        with pytest.raises(NoTarget, match=f"{launch.id}: it only compiles"):
            executing([launch])


def test_shims_of_mesa_are_known_by_their_names() -> None:
    assert all("drm_shim" in shim.library for shim in SHIMS.values())


def test_what_a_user_describes_may_be_a_device() -> None:
    own = {"mine": {"device": 1}}
    assert executing(named("mine", Request((), own_targets=own)))


def test_a_device_that_does_not_count_is_told_in_one_line() -> None:
    with pytest.raises(NoTarget) as caught:
        check("host:0", HOST, hello(), counts=True)
    assert caught.value.message == (
        "VK_ARM_shader_instrumentation is not offered by host:0 (NVIDIA H200); executable statistics are"
    )
    assert "--no-metrics" in (caught.value.hint or "")
    with pytest.raises(NoTarget, match=r"of host:0 \(NVIDIA H200\) can't be used: told of 0 metrics$") as caught:
        check("host:0", HOST, replace(hello(), offer_remark="told of 0 metrics"), counts=True)
    assert "--no-metrics" in (caught.value.hint or "")
    with pytest.raises(NoTarget, match=r"by host:0 \(NVIDIA H200\)$"):
        check("host:0", HOST, hello(tells=False), counts=True)


def test_without_counting_it_runs_all_the_same() -> None:
    check("host:0", HOST, hello(), counts=False)
    check("host:0", HOST, hello(Offer((Metric("fma", ""),), False)), counts=True)


def test_the_mock_runs_what_a_scenario_says_alone() -> None:
    mock = Launch("mock", "mock", "mock")
    for counts in (True, False):
        with pytest.raises(NoTarget, match="it executes nothing"):
            check("mock", mock, hello(), counts=counts)
    check("mock", mock, hello(Offer((Metric("fma", ""),), False)), counts=True)
