"""What a child's environment holds, and what of it is recorded."""

from __future__ import annotations

import pytest

from shaderstat.environment import child_environment, recorded
from shaderstat.model import Launch


def test_caches_and_implicit_layers_are_off_unless_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESA_SHADER_CACHE_DISABLE", raising=False)
    monkeypatch.setenv("VK_LOADER_LAYERS_DISABLE", "")
    environment = child_environment(Launch("host:0", "vulkan", "host", environment={"RADV_DEBUG": "llvm"}))
    assert environment["MESA_SHADER_CACHE_DISABLE"] == "true"
    assert environment["VK_LOADER_LAYERS_DISABLE"] == ""
    assert environment["RADV_DEBUG"] == "llvm"


def test_only_what_shapes_an_answer_is_recorded() -> None:
    environment = {
        "RADV_PERFTEST": "rt",
        "radv_split_fma": "true",  # a drirc option as a variable
        "MESA_SHADER_CACHE_DISABLE": "true",  # our own default
        "SECRET_TOKEN": "x",
        "HOME": "/home/u",
        "LD_PRELOAD": "/secret/place/libshim.so:/b/libother.so",
    }
    assert recorded(environment) == {
        "LD_PRELOAD": "libshim.so:libother.so",
        "RADV_PERFTEST": "rt",
        "radv_split_fma": "true",
    }
