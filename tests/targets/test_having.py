"""Which compilers have what another lacks: all of it, remembered and never asked for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shaderstat.model import Device, Driver, Request
from shaderstat.targets import having
from shaderstat.targets.having import Having
from shaderstat.targets.listing import Reached

DEVICE = Device("Navi", 0x1002, 1, "discrete_gpu", "1.3.230", "00")
RADV = Driver(3, "radv", "22.3.6", "Mesa 22.3.6")


def reached(target: str, *takes: str) -> Reached:
    return Reached(target, "", RADV, DEVICE, "tree", "tree sid", True, True, "", frozenset(takes))


def having_of(
    monkeypatch: pytest.MonkeyPatch,
    remembered: Mapping[str, tuple[str, ...]],
    environment: Mapping[str, str] | None = None,
) -> Having:
    found = tuple(reached(target, *takes) for target, takes in remembered.items())
    monkeypatch.setattr(having, "remembered", lambda request: () if request.environment else found)
    return Having(Request((), environment=environment or {}))


def test_one_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    its = having_of(monkeypatch, {"radv:navi21": (), "radv@sid:navi21": ("mesh", "MeshShadingEXT")})
    assert its.hint(("MeshShadingEXT", "mesh"), "radv:navi21") == "radv@sid:navi21 has it (-t radv@sid:navi21)"


def test_one_that_lacks_any_of_it_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    its = having_of(monkeypatch, {"radv:navi21": (), "nvk:ad102": ("MeshShadingEXT",), "nvk:tu102": ("mesh",)})
    assert its.hint(("MeshShadingEXT", "mesh"), "radv:navi21") == (
        "none of the 2 other compilers that shaderstat targets lists has it"
    )


def test_the_same_gpu_comes_first_then_another_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("nvk:tu102", "radv@sid:vangogh", "radv@sid:navi21", "nvk:ad102")
    its = having_of(monkeypatch, {"radv:navi21": (), **dict.fromkeys(names, ("RayQueryKHR",))})
    assert its.hint(("RayQueryKHR",), "radv:navi21") == (
        "radv@sid:navi21, nvk:tu102 and 2 more have it (-t radv@sid:navi21)"
    )
    assert its.hint(("RayQueryKHR",), "agx:g13g") == "nvk:tu102, radv@sid:vangogh and 2 more have it (-t nvk:tu102)"


def test_two_of_one_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    its = having_of(monkeypatch, {"nvk:tu102": ("Int64Atomics",), "nvk:ad102": ("Int64Atomics",)})
    assert its.hint(("Int64Atomics",), "host:0") == "nvk:tu102, nvk:ad102 have it (-t nvk:tu102)"


def test_nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    its = having_of(monkeypatch, {})
    assert its.hint(("Geometry",), "host:0") == "shaderstat targets finds out which compilers here have it"


def test_alone_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert having_of(monkeypatch, {"host:0": ()}).hint(("Geometry",), "host:0") == ""


def test_variables_of_this_run_say_nothing_of_other_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    its = having_of(monkeypatch, {"nvk:tu102": ("Geometry",)}, {"RADV_DEBUG": "llvm"})
    assert its.hint(("Geometry",), "host:0") == "nvk:tu102 has it (-t nvk:tu102)"
