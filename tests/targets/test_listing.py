"""What can be reached: asked once, remembered until a file changes, drawn up with short names where they suffice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat.model import Device, Driver, Launch, Request
from shaderstat.targets import listing, memory, places
from shaderstat.targets.places import Absent, Place
from shaderstat.targets.probe import Trial, identity
from tests.trees.conftest import make

RADV = Driver(3, "radv", "22.3.6", "Mesa 22.3.6")
NO_DRIVER, NO_DEVICE = Driver(0, "", "", ""), Device("", 0, 0, "", "", "")


def good(answers: str = "a", index: int = 0) -> Trial:
    return Trial("", index, RADV, Device("Navi", 0x1002, 1, "discrete_gpu", "1.3.230", "00"), True, True, answers)


def bad(problem: str) -> Trial:
    return Trial(problem, -1, NO_DRIVER, NO_DEVICE)


class Machine:
    """What trials will say, and which were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.driver = folder / "radeon.so"
        self.driver.write_bytes(b"\0NAVI21\0NAVI10\0NAVI31\0")
        self.asked: list[str] = []
        self.loader = [bad("host: no device")]
        self.answers: dict[str, Trial] = {}
        self.absent = [
            Absent("turnip", "no shim", "install"),
            Absent("nvk", "no shim", "install"),
            Absent("agx", "other", ""),
        ]
        self.places = [self.null_device()]

    def null_device(self) -> Place:
        return Place("radv", "null-device", "/icd.json", (str(self.driver),), str(self.driver))

    def try_all(self, launches: Sequence[Launch], progress: Callable[[int], None]) -> list[list[Trial]]:
        self.asked += [one.id for one in launches]
        progress(len(launches))
        return [self.loader if one.device < 0 else [self.answers.get(one.id, good())] for one in launches]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Machine:
    made = Machine(tmp_path)
    places._words.cache_clear()
    monkeypatch.setattr(listing, "all_places", lambda around: (made.places, made.absent))
    monkeypatch.setattr(listing, "try_all", made.try_all)
    monkeypatch.setattr(listing.manifests, "visible", lambda around: [])
    return made


def names(found: listing.Listing) -> list[str]:
    return [one.target for one in found.reached]


def test_what_has_answered_is_listed(machine: Machine) -> None:
    found = listing.listing()
    assert names(found) == ["radv:navi10", "radv:navi21", "radv:navi31", "mock"]
    navi21 = found.reached[1]
    assert (navi21.gpu, navi21.driver, navi21.where) == ("RX 6800/6900 XT", RADV, "null device")
    assert found.default == "radv:navi21"


def test_the_second_time_nothing_is_asked(machine: Machine) -> None:
    first = listing.listing()
    assert machine.asked == ["host", "radv@host:navi10", "radv@host:navi21", "radv@host:navi31"]
    machine.asked.clear()
    assert listing.listing() == first
    assert machine.asked == []


def test_what_is_remembered_is_told_without_asking(machine: Machine) -> None:
    assert listing.remembered(Request(())) == ()
    machine.answers["radv@host:navi21"] = replace(good(), takes=frozenset({"Geometry", "RayTracingKHR"}))
    machine.answers["radv@host:navi31"] = bad("radv@host:navi31: the driver died (SIGABRT): radv: Unknown family")
    listing.listing()
    machine.asked.clear()
    assert [(one.target, sorted(one.takes)) for one in listing.remembered(Request(()))] == [
        ("radv:navi10", []),
        ("radv:navi21", ["Geometry", "RayTracingKHR"]),
    ]
    os.utime(machine.driver, ns=(1, 1))
    assert listing.remembered(Request(())) == ()
    assert machine.asked == []


def test_a_changed_driver_is_asked_again_and_nothing_else(machine: Machine) -> None:
    listing.listing()
    machine.asked.clear()
    os.utime(machine.driver, ns=(1, 1))
    listing.listing()
    assert machine.asked == ["radv@host:navi10", "radv@host:navi21", "radv@host:navi31"]


def test_variables_that_shape_answers_are_part_of_what_is_remembered(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing.listing()
    machine.asked.clear()
    listing.listing({"RADV_PERFTEST": "rt"})
    assert len(machine.asked) == 4
    machine.asked.clear()
    monkeypatch.setenv("EDITOR", "vi")
    listing.listing({"RADV_PERFTEST": "rt"})
    assert machine.asked == []


def test_again_means_again(machine: Machine) -> None:
    listing.listing()
    machine.asked.clear()
    told: list[tuple[int, int]] = []
    listing.listing(again=True, progress=lambda done, all_: told.append((done, all_)))
    assert len(machine.asked) == 4 and told == [(4, 4)]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 99}', '{"format": 1, "groups": {"loader": 1}}'])
def test_a_damaged_memory_is_no_memory(machine: Machine, clean_environment: Path, damage: str) -> None:
    first = listing.listing()
    file = clean_environment / "cache" / "shaderstat" / memory.FILE
    assert json.loads(file.read_text())["format"] == memory.FORMAT
    file.write_text(damage)
    assert listing.listing() == first


def test_a_cache_that_can_not_be_written_costs_time_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine.driver / "no-folder"))
    assert names(listing.listing()) == names(listing.listing())
    assert len(machine.asked) == 8


def test_devices_of_the_loader_come_first(machine: Machine) -> None:
    machine.loader = [
        bad("host:0: llvmpipe (LLVM 15.0.6, 256 bits) has no VK_KHR_pipeline_executable_properties: it can't tell"),
        good(index=1),
        bad("host:2: Old GPU has no VK_KHR_pipeline_executable_properties: it can't tell what its compiler made"),
    ]
    found = listing.listing()
    assert names(found)[0] == found.default == "host:1"
    assert [(one.targets, one.reason) for one in found.unreached[:2]] == [
        (("llvmpipe",), "has no VK_KHR_pipeline_executable_properties, in any version"),
        (("Old GPU",), "has no VK_KHR_pipeline_executable_properties"),
    ]


def test_a_device_that_only_counts_is_listed_and_not_taken_for_a_compiler(machine: Machine) -> None:
    lacks = "llvmpipe (LLVM 15.0.6) has no VK_KHR_pipeline_executable_properties"
    device = Device("llvmpipe (LLVM 15.0.6)", 0x10005, 0, "cpu", "1.3.230", "00")
    lavapipe = Trial(lacks, 0, RADV, device, metrics=6, per_basic_block=True)
    machine.loader = [lavapipe, good(index=1)]
    found = listing.listing()
    first = found.reached[0]
    assert (first.target, first.metrics, first.per_basic_block, first.executables) == ("host:0", 6, True, False)
    assert found.default == "host:1"
    assert ("llvmpipe",) in [one.targets for one in found.unreached]
    assert found.runners == ("host:0", "host:1")
    assert listing.listing().reached[0] == first, "and so it is remembered"
    machine.loader = [replace(lavapipe, metrics=None)]
    neither = listing.listing(again=True)
    assert names(neither)[0] != "host:0"
    assert neither.runners == ("host:0",), "it runs shaders all the same"


def test_who_runs_shaders_among_targets_of_ones_own(machine: Machine) -> None:
    machine.answers["box"] = bad("box: ssh: no route to host")
    machine.answers["mine"] = replace(good(), problem="llvmpipe has no VK_KHR_pipeline_executable_properties")
    own = {"mine": {"device": 0}, "box": {"prefix": "ssh box"}, "null": {"gpu": "radv:navi21"}}
    assert listing.listing(own=own).runners == ("mine",)


def test_where_layers_are_every_variable_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """One may look at any."""
    monkeypatch.setenv("ANYTHING", "1")
    listing.listing()
    monkeypatch.setenv("ANYTHING", "2")
    machine.asked.clear()
    listing.listing()
    assert machine.asked == []
    monkeypatch.setenv("VK_INSTANCE_LAYERS", "VK_LAYER_any")
    listing.listing()
    machine.asked.clear()
    monkeypatch.setenv("ANYTHING", "3")
    listing.listing()
    assert machine.asked == ["host"]


def test_only_devices_are_asked_what_they_count(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Launch] = []

    def try_all(launches: Sequence[Launch], progress: Callable[[int], None]) -> list[list[Trial]]:
        asked.extend(launches)
        return [[good()]] * len(launches)

    monkeypatch.setattr(listing, "try_all", try_all)
    listing.listing(own={"mine": {"device": 0}, "null": {"gpu": "radv:navi21"}})
    assert {one.id for one in asked if one.runs} == {"host", "mine"}


def test_without_any_compiler_the_mock_is_left(machine: Machine) -> None:
    machine.places = []
    assert listing.listing().default == "mock"


def test_what_a_driver_refuses_is_said_apart(machine: Machine) -> None:
    machine.answers["radv@host:navi31"] = bad("radv@host:navi31: the driver died (SIGABRT): radv: Unknown family")
    found = listing.listing()
    assert "radv:navi31" not in names(found)
    (one,) = found.refused
    assert (one.targets, one.reason) == (("radv@host:navi31",), "the driver died (SIGABRT): radv: Unknown family")


def test_a_place_where_nothing_answers_is_not_reachable(machine: Machine) -> None:
    for name in ("navi10", "navi21", "navi31"):
        machine.answers[f"radv@host:{name}"] = bad(f"radv@host:{name}: no Vulkan loader here")
    found = listing.listing()
    assert names(found) == ["mock"]
    assert ("radv:*",) in [one.targets for one in found.unreached]


def test_a_null_device_that_is_gone_where_a_shim_answers_is_not_missed(machine: Machine, home: Path) -> None:
    """RADV of Mesa 26.1 has the null device's variable in it, and says that it has been removed."""
    tree = make(home, "testing")
    (tree.root / "usr/share/vulkan/icd.d").mkdir(parents=True)
    (tree.root / "usr/share/vulkan/icd.d/radeon_icd.json").write_text("{}")
    shim = str(machine.driver)
    with_shim = Place("radv", "tree", "/icd.json", (shim,), shim, shim, tree)
    machine.places = [replace(with_shim, shim=None), with_shim]

    def try_all(launches: Sequence[Launch], progress: Callable[[int], None]) -> list[list[Trial]]:
        gone = bad("radv: RADV_FORCE_FAMILY=<family> has been removed. Please use AMDGPU drm-shim now.")
        null_device = ["RADV_FORCE_FAMILY" in one.environment for one in launches]
        return [
            machine.loader if one.device < 0 else [gone if null else good()]
            for one, null in zip(launches, null_device, strict=True)
        ]

    machine.try_all = try_all  # type: ignore[method-assign]
    found = listing.listing()
    assert names(found) == ["radv:navi10", "radv:navi21", "radv:navi31", "mock"]
    assert not found.refused
    assert not any("radv:*" in one.targets for one in found.unreached)


def test_drivers_that_lack_the_same_stand_together(machine: Machine) -> None:
    found = listing.listing()
    assert [(one.targets, one.command) for one in found.unreached if one.targets[0] != "host:*"] == [
        (("turnip:*", "nvk:*"), "install"),
        (("agx:*",), ""),
    ]


def test_a_tree_has_short_names_for_what_is_not_here_and_long_ones_for_the_rest(machine: Machine, home: Path) -> None:
    tree = make(home, "sid")
    machine.driver.write_bytes(b"\0NAVI21\0")
    shim = tree.root / "shim.so"
    shim.write_bytes(b"\0navi21\0navi33\0")
    machine.places.append(Place("radv", "tree", "/icd.json", (str(shim),), str(shim), str(shim), tree))
    icd = tree.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    (icd / "radeon_icd.json").write_text("{}")
    found = listing.listing()
    assert names(found) == ["radv:navi21", "radv@sid:navi21", "radv:navi33", "mock"]
    # What a tree's compilers said lies beside the tree, for everybody who uses it.
    assert json.loads((tree.folder / memory.FILE).read_text())["groups"].keys() == {"radv tree sid"}


def test_half_built_trees_are_named(machine: Machine, home: Path) -> None:
    (home / "broken").mkdir()
    last = listing.listing().unreached[-1]
    assert last.targets == ("*@broken:*",)
    assert "half-built" in last.reason
    assert last.command == "shaderstat targets install broken"


def test_identity_is_of_files_and_variables(tmp_path: Path) -> None:
    file = tmp_path / "driver.so"
    file.write_bytes(b"1")
    os.utime(file, ns=(1, 1))
    first = identity([str(file)], {})
    assert identity([str(file)], {}) == first
    assert identity([str(file)], {"RADV_DEBUG": "x"}) != first
    file.write_bytes(b"22")
    os.utime(file, ns=(1, 1))
    assert identity([str(file)], {}) != first
    assert identity([str(tmp_path / "gone")], {}) != identity([], {})


# ── Targets that the user describes ───────────────────────────────────────────────────────────────────────────────


OWN = {"mine": {"device": 0}, "box": {"prefix": "ssh box"}, "lost": {"gpu": "radv@nowhere:navi31"}}


def test_targets_of_ones_own_are_listed_when_they_have_answered(machine: Machine) -> None:
    machine.answers["box"] = bad("box: ssh: no route to host")
    found = listing.listing(own=OWN)
    assert names(found) == ["radv:navi10", "radv:navi21", "radv:navi31", "mine", "mock"]
    mine = found.reached[3]
    assert (mine.gpu, mine.source, mine.where) == ("Navi", "config", "described")
    told = {one.targets[0]: one.reason for one in found.unreached}
    assert told["box"] == "ssh: no route to host"
    assert "no driver tree is called 'nowhere'" in told["lost"]


def test_another_machine_that_was_away_is_asked_again(machine: Machine) -> None:
    machine.answers["box"] = bad("box: ssh: no route to host")
    listing.listing(own=OWN)
    machine.asked.clear()
    machine.answers.clear()
    assert "box" in names(listing.listing(own=OWN))
    assert machine.asked == ["box"]
    machine.asked.clear()
    assert "box" in names(listing.listing(own=OWN))
    assert machine.asked == []


def test_a_target_described_anew_is_asked_anew(machine: Machine) -> None:
    listing.listing(own=OWN)
    machine.asked.clear()
    listing.listing(own={**OWN, "mine": {"device": 0, "environment": {"RADV_DEBUG": "nocache"}}})
    assert machine.asked == ["mine"]
