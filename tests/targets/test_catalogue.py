"""From a target's name to launches, to be tried in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import Launch, Request
from shaderstat.targets import catalogue, choosing, places
from shaderstat.targets.catalogue import automatic, named
from shaderstat.targets.places import Absent, Place
from tests.trees.conftest import make

REQUEST = Request(("x.spv",))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with RADV's null device, which knows two GPUs, and nothing else."""
    names = tmp_path / "radeon.so"
    names.write_bytes(b"\0NAVI21\0GFX1100\0")
    place = Place("radv", "null-device", "/icd/radeon.json", ("/icd/radeon.json",), str(names))
    here = {"radv": ([place], None)}
    nothing = ([], Absent("x", "Mesa here is without a drm-shim", "shaderstat targets install"))
    monkeypatch.setattr(catalogue, "host_places", lambda environment, driver, manifest: here.get(driver, nothing))
    places._words.cache_clear()
    return tmp_path


def add_tree(home: Path, name: str = "sid") -> None:
    tree = make(home, name, packages={"mesa-vulkan-drivers": "26.2.6-1"})
    icd = tree.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    for driver, shim in (("radeon", "amdgpu"), ("nouveau", "nouveau")):
        (icd / f"{driver}_icd.json").write_text("{}")
        (tree.root / f"usr/lib/x/lib{shim}_noop_drm_shim.so").write_bytes(b"\0navi21\0navi33\0")


def words(launches: list[Launch]) -> list[tuple[str, str]]:
    return [(one.id, one.source) for one in launches]


def test_the_machine_comes_before_the_trees(machine: Path, home: Path) -> None:
    add_tree(home)
    assert words(named("radv:navi21", REQUEST)) == [("radv:navi21", "null-device"), ("radv:navi21", "tree")]


def test_a_place_may_be_named(machine: Path, home: Path) -> None:
    add_tree(home)
    assert words(named("radv@sid:navi21", REQUEST)) == [("radv@sid:navi21", "tree")]
    assert words(named("radv@host:navi21", REQUEST)) == [("radv@host:navi21", "null-device")]


def test_places_that_do_not_know_a_chip_are_not_tried(machine: Path, home: Path) -> None:
    add_tree(home)
    assert words(named("radv:navi31", REQUEST)) == [("radv:navi31", "null-device")]
    assert words(named("radv@sid:navi33", REQUEST)) == [("radv@sid:navi33", "tree")]
    with pytest.raises(NoTarget, match="radv of tree sid does not know this GPU") as caught:
        named("radv@sid:navi31", REQUEST)
    assert "radv:navi33" in (caught.value.hint or "")


def test_one_target_has_one_name_in_reports(machine: Path) -> None:
    assert {one.id for word in ("navi31", "gfx1100", "NAVI31") for one in named(f"radv:{word}", REQUEST)} == {
        "radv:navi31"
    }


def test_other_words_for_drivers(machine: Path, home: Path) -> None:
    add_tree(home)
    assert words(named("nouveau:0x192", REQUEST)) == [("nvk:ad102", "tree")]


def test_nothing_here_says_what_to_do(machine: Path, home: Path) -> None:
    with pytest.raises(NoTarget, match="turnip:a740: Mesa here is without a drm-shim") as caught:
        named("turnip:740", REQUEST)
    assert caught.value.hint == "shaderstat targets install"


def test_a_tree_that_lacks_the_driver(machine: Path, home: Path) -> None:
    add_tree(home)
    with pytest.raises(NoTarget, match=r"the driver tree sid \(Mesa 26\.2\.6-1\) has no turnip"):
        named("turnip@sid:a740", REQUEST)
    (home / "sid/root/usr/lib/x/libnouveau_noop_drm_shim.so").unlink()
    with pytest.raises(NoTarget, match="has lost what stands in for the GPU") as caught:
        named("nvk@sid:ad102", REQUEST)
    assert caught.value.hint == "shaderstat targets install sid"
    with pytest.raises(
        NoTarget, match=r"nvk:ad102: the driver tree sid .* has lost what stands in for the GPU"
    ) as caught:
        named("nvk:ad102", REQUEST)
    assert caught.value.hint == "shaderstat targets install sid"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a740", "that GPU is turnip:a740"),
        ("navi21", "that GPU is radv:navi21"),
        ("rdav:navi99", "did you mean radv:navi99"),
        ("tulip:a740", "that GPU is turnip:a740"),
        ("moc", "did you mean mock"),
        ("host:x", "did you mean host"),
        ("radv", "name a GPU of it: radv:navi21"),
        ("nouveau:", "name a GPU of it: nvk:ad102"),
        ("radv@:navi21", "that GPU is radv:navi21"),
        ("AMD", "Mesa's compiler for it is radv: radv:navi21, say"),
        ("nvidia:rtx", "Mesa's compiler for it is nvk: nvk:ad102, say"),
        ("anv:dg2", "nothing stands in for an Intel GPU: where there is one, its driver is host:0"),
        ("mali", "nothing stands in for a Mali GPU"),
        ("", "shaderstat targets lists them all"),
        ("xyzzy", "shaderstat targets lists them all"),
    ],
)
def test_names_that_are_none(machine: Path, name: str, hint: str) -> None:
    with pytest.raises(NoTarget) as caught:
        named(name, REQUEST)
    assert hint in (caught.value.hint or "")


def test_variables_of_the_moment(machine: Path) -> None:
    (launch,) = named("radv:navi21", Request(("x",), environment={"RADV_DEBUG": "x"}))
    assert (launch.environment["RADV_FORCE_FAMILY"], launch.environment["RADV_DEBUG"]) == ("navi21", "x")


def test_a_driver_of_the_moment(machine: Path, home: Path, tmp_path: Path) -> None:
    add_tree(home)
    manifest = tmp_path / "my.json"
    manifest.write_text("{}")
    request = Request(("x",), driver_manifest=str(manifest))
    assert words(named("host:0", request)) == [("host:0", "config")]
    assert words(named("radv:navi21", request)) == [("radv:navi21", "null-device")], "no tree: it has its own driver"
    with pytest.raises(NoTarget, match="--driver can't replace"):
        named("radv@sid:navi21", request)
    with pytest.raises(ShaderstatError, match="no such driver manifest"):
        named("host:0", Request(("x",), driver_manifest=str(tmp_path / "none.json")))


def test_what_is_taken_by_itself(machine: Path, home: Path) -> None:
    add_tree(home)
    assert words(automatic(REQUEST)) == [
        ("host", "host"), ("radv:navi21", "null-device"), ("radv:navi21", "tree"), ("mock", "mock"),
    ]  # fmt: skip
    assert words(automatic(Request(("x",), backend="vulkan")))[-1] == ("radv:navi21", "tree")
    assert words(automatic(Request(("x",), backend="mock"))) == [("mock", "mock")]


# ── Globs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from shaderstat.targets import listing

    names = ["host:0", "radv:navi21", "radv:navi31", "radv@sid:navi21", "turnip:a740", "mock"]

    def listed(environment: object, own: dict[str, object]) -> SimpleNamespace:
        reached = [SimpleNamespace(target=name, executables=True) for name in (*names, *own)]
        return SimpleNamespace(reached=reached, runners=())

    monkeypatch.setattr(listing, "listing", listed)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["mock"], ["mock"]),
        (["radv:*"], ["radv:navi21", "radv:navi31"]),
        (["*:navi21"], ["radv:navi21", "radv@sid:navi21"]),
        (["radv:navi31", "radv:*", "mock"], ["radv:navi31", "radv:navi21", "mock"]),
        (["all"], ["host:0", "radv:navi21", "radv:navi31", "radv@sid:navi21", "turnip:a740", "mine"]),
        (["turnip:a7[0-9]0", "turnip:a740"], ["turnip:a740"]),
        (["min?", "radv:navi?1"], ["mine", "radv:navi21", "radv:navi31"]),
    ],
)
def test_globs_stand_for_what_can_be_reached(reachable: None, given: list[str], expected: list[str]) -> None:
    assert choosing.expand(given, Request(("x",), own_targets={"mine": {}})) == expected


@pytest.mark.parametrize(("counts", "expected"), [(True, ["host:1"]), (False, ["host:0", "host:1", "host:2"])])
def test_globs_for_runs_are_of_devices_that_run(
    monkeypatch: pytest.MonkeyPatch, counts: bool, expected: list[str]
) -> None:
    from types import SimpleNamespace

    from shaderstat.targets import listing

    reached = [
        SimpleNamespace(target="host:0", executables=True, metrics=None),
        SimpleNamespace(target="host:1", executables=False, metrics=6),
        SimpleNamespace(target="radv:navi21", executables=True, metrics=None),
        SimpleNamespace(target="mock", executables=True, metrics=None),
    ]
    runners = ("host:0", "host:1", "host:2")
    monkeypatch.setattr(listing, "listing", lambda *_, **__: SimpleNamespace(reached=reached, runners=runners))
    assert choosing.expand(["*:*"], Request(("x",), execution={}), counts=counts) == expected
    assert choosing.expand(["all"], Request(("x",), execution={}), counts=counts) == expected
    assert choosing.expand(["*:*"], Request(("x",))) == ["host:0", "radv:navi21"]


@pytest.mark.parametrize(
    ("counts", "message", "hint"),
    [
        (True, "'all' matches no target that can be reached and offers VK_ARM", "without it, on host:0, host:1"),
        (
            False,
            "no target that can be reached and runs shaders matches 'radv:\\*'",
            "those that do are host:0, host:1",
        ),
    ],
)
def test_that_nothing_runs_is_said_with_what_does(
    monkeypatch: pytest.MonkeyPatch, counts: bool, message: str, hint: str
) -> None:
    from types import SimpleNamespace

    from shaderstat.targets import listing

    found = SimpleNamespace(reached=[SimpleNamespace(target="host:0", metrics=None)], runners=("host:0", "host:1"))
    monkeypatch.setattr(listing, "listing", lambda *_, **__: found)
    with pytest.raises(NoTarget, match=message) as caught:
        choosing.expand(["all" if counts else "radv:*"], Request(("x",), execution={}), counts=counts)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("glob", ["nvk:*", "moc*", "ALL*"])
def test_a_glob_that_matches_nothing(reachable: None, glob: str) -> None:
    with pytest.raises(NoTarget, match="no target that can be reached matches"):
        choosing.expand([glob], REQUEST)


def test_without_a_glob_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from shaderstat.targets import listing

    monkeypatch.setattr(listing, "listing", lambda environment, own: pytest.fail("asked"))
    assert choosing.expand(["radv:navi21", "mock", "mock"], REQUEST) == ["radv:navi21", "mock"]


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("radv:navi31", "RX 7900 XT/XTX"),
        ("nvk@sid:ad102", "RTX 4090"),
        ("agx@host:g13g", "Apple M1"),
        ("mine", "Adreno 740"),
        ("box", None),
        ("host:0", None),
        ("host", None),
        ("mock", None),
    ],
)
def test_a_gpu_that_is_stood_in_for_has_its_usual_name(name: str, usual: str | None) -> None:
    """NVK calls every one of its devices "NVK"."""
    own: dict[str, dict[str, Any]] = {"mine": {"gpu": "freedreno:740"}, "box": {"prefix": "ssh box"}}
    assert catalogue.usual_name(name, Request(("x",), own_targets=own)) == usual
