"""Targets that a user describes: what may be said, and the launches that come of it."""

from __future__ import annotations

from typing import Any

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import Launch
from shaderstat.targets import own

asked: list[tuple[str, str | None]] = []


def built_in(target: str, manifest: str | None) -> list[Launch]:
    asked.append((target, manifest))
    environment = {"RADV_FORCE_FAMILY": "navi21"} if target.startswith("radv") else {}
    return [Launch(target, "vulkan", "x", environment=environment, driver_manifest=manifest)]


def launch(**settings: Any) -> Launch:
    asked.clear()
    (made,) = own.launches("mine", settings, built_in)
    return made


def test_a_driver_just_built() -> None:
    made = launch(driver="build/radeon_icd.x86_64.json", environment={"RADV_DEBUG": "nocache", "X": 1, "Y": True})
    assert asked == [("host:0", "build/radeon_icd.x86_64.json")]
    assert (made.id, made.source) == ("mine", "config")
    assert made.environment == {"RADV_DEBUG": "nocache", "X": "1", "Y": "true"}


def test_a_driver_just_built_without_its_gpu() -> None:
    made = launch(driver="b.json", gpu="radv:navi31")
    assert asked == [("radv:navi31", "b.json")]
    assert made.id == "mine"


def test_another_machine_is_given_the_kit() -> None:
    made = launch(prefix="ssh box", device=1)
    assert (made.prefix, made.python) == (("ssh", "box"), "python3")
    assert asked == [("host:1", None)]


def test_another_machine_has_files_of_its_own() -> None:
    made = launch(prefix=["podman", "run", "-i", "my image"], driver="/over/there.json", python="python3.12")
    assert asked == [("host:0", None)], "a manifest over there can't be looked for here"
    assert made.prefix == ("podman", "run", "-i", "my image")
    assert made.python == "python3.12"
    assert made.driver_manifest == made.environment["VK_DRIVER_FILES"] == "/over/there.json"


def test_a_null_device_on_another_machine() -> None:
    made = launch(prefix="ssh box", gpu="radv:navi21")
    assert asked == []
    assert made.environment == {"RADV_FORCE_FAMILY": "navi21"}
    with pytest.raises(ShaderstatError, match="needs no shim"):
        launch(prefix="ssh box", gpu="nvk:ad102")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"drvier": "x"}, "no key is called 'drvier'"),
        ({"driver": 1}, "driver must be"),
        ({"driver": ""}, "driver must be"),
        ({"device": -1}, "device must be"),
        ({"device": True}, "device must be"),
        ({"device": "0"}, "device must be"),
        ({"device": 0, "gpu": "radv:navi21"}, "exclude each other"),
        ({"environment": ["A=1"]}, "environment must be"),
        ({"environment": {"A=B": "1"}}, "environment must be"),
        ({"prefix": 'ssh "box'}, "prefix: No closing quotation"),
        ({"prefix": ["ssh", 1]}, "prefix must be"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_key(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ShaderstatError, match=said) as caught:
        own.check("mine", settings)
    assert "target mine" in caught.value.message


@pytest.mark.parametrize("name", ["all", "host", "mock", "radv:x", "", "a b", "*", "@x"])
def test_names_that_mean_something_else(name: str) -> None:
    with pytest.raises(ShaderstatError, match="can't be a target's name"):
        own.check(name, {})
