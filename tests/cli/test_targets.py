"""``shaderstat targets``: the table, folded and whole, JSON, and the trees' commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat import trees
from shaderstat.cli import targets
from shaderstat.errors import ShaderstatError
from shaderstat.model import Device, Driver
from shaderstat.targets import listing
from shaderstat.targets.listing import Listing, Reached, Unreached
from shaderstat.trees import HalfBuilt, Plan, Tree
from tests.cli.conftest import Call


def reached(target: str, gpu: str, driver: Driver, api: str, where: str, alike: str = "", ir: bool = True) -> Reached:
    device = Device(gpu, 1, 2, "discrete_gpu", api, "00")
    return Reached(target, gpu, driver, device, "x", where, True, ir, alike)


RADV = Driver(3, "radv", "22.3.6", "Mesa 22.3.6")
TREE = Driver(18, "turnip Mesa driver", "26.2.6", "Mesa 26.2.6-1")
NVIDIA = Driver(4, "NVIDIA", "580.159", "580.159")
SID = Tree(
    Path("/trees/sid"), "sid", "sid", "", "2026-11-30T00:00:00+00:00", "amd64", {"mesa-vulkan-drivers": "26.2.6-1"}
)

FOUND = Listing(
    (
        reached("host:0", "NVIDIA H200", NVIDIA, "1.4.0", "loader", "n", ir=False),
        reached("radv:navi10", "RX 5700", RADV, "1.3.230", "null device", "a"),
        reached("radv:navi12", "Pro 5600M", RADV, "1.3.230", "null device", "a"),
        reached("radv:navi21", "RX 6800", RADV, "1.3.230", "null device", "b"),
        reached("turnip:a610", "Adreno 610", TREE, "1.0.354", "tree sid", "c"),
        reached("turnip:a740", "Adreno 740", TREE, "1.4.354", "tree sid", "d"),
        reached("turnip:a750", "Adreno 750", TREE, "1.4.354", "tree sid", "e"),
        reached("mock", "the SPIR-V itself", Driver(0, "shaderstat", "0.1", ""), "", "built in"),
    ),
    (
        Unreached(("nvk:*", "agx:*"), "Mesa here is without a drm-shim", "shaderstat targets install"),
        Unreached(("llvmpipe",), "has no VK_KHR_pipeline_executable_properties, in any version", ""),
    ),
    (Unreached(("radv@host:phoenix",), "the driver died (SIGABRT): \x1b[31mUnknown family", ""),),
    (SID, HalfBuilt(Path("/trees/half"), "half", "half-built")),
)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """What is listed is FOUND; returns how it was asked for."""
    calls: list[dict[str, object]] = []

    def give(environment: object = None, **options: object) -> Listing:
        calls.append({"environment": environment, **options})
        return FOUND

    monkeypatch.setattr(listing, "listing", give)
    return calls


def test_the_table_folds_the_gpus_of_one_driver(call: Call) -> None:
    done = call("targets")
    assert done.status == 0
    assert [line.rstrip() for line in done.out.splitlines()] == [
        "  target       gpu                driver                 api      stats  ir   from",
        "▸ host:0       NVIDIA H200        NVIDIA 580.159         1.4      yes    no   loader",
        "  radv:navi21  RX 6800            RADV, Mesa 22.3.6      1.3      yes    yes  null device",
        "  radv:*       2 more (-v)        RADV, Mesa 22.3.6      1.3      yes    yes  null device",
        "  turnip:a740  Adreno 740         Turnip, Mesa 26.2.6-1  1.4      yes    yes  tree sid",
        "  turnip:*     2 more (-v)        Turnip, Mesa 26.2.6-1  1.0–1.4  yes    yes  tree sid",
        "  mock         the SPIR-V itself  shaderstat 0.1         –        yes    yes  built in",
        "",
        "  not reachable",
        "  nvk:* agx:*  Mesa here is without a drm-shim  shaderstat targets install",
        "  llvmpipe     has no VK_KHR_pipeline_executable_properties, in any version",
    ]
    assert done.err == "▸ taken when no -t is given\n"


@pytest.mark.parametrize(
    ("columns", "heading", "left_out"),
    [
        (90, "  target       gpu                driver                 api  stats  ir   from", ""),
        (80, "  target       gpu                driver                 stats  ir   from", "api"),
        (60, "  target       driver                stats  ir   from", "gpu · api"),
        (50, "  target       driver            stats  ir", "gpu · api · from"),
    ],
)
def test_a_narrow_terminal(
    call: Call, monkeypatch: pytest.MonkeyPatch, columns: int, heading: str, left_out: str
) -> None:
    """Names give way, then whole columns, which are named; what goes on does so below itself."""
    monkeypatch.setattr(targets, "stdout_columns", lambda: columns)
    done = call("targets", "-v")
    lines = done.out.splitlines()
    assert lines[0].rstrip() == heading
    assert [line for line in lines if len(line) > columns] == []
    assert (f"no room for: {left_out}\n" if left_out else "▸") in done.err
    assert call("targets", "-q").err == ""
    plain = " ".join(done.out.split())
    assert "no VK_KHR_pipeline_executable_properties, in any version" in plain
    assert "1 packages, in /trees/sid" in plain


def test_verbose_shows_every_gpu_and_which_are_alike(call: Call) -> None:
    done = call("targets", "-v")
    assert "radv:navi12 " in done.out and "more (-v)" not in done.out
    alike = "alike in the trial, one compute shader (6 different answers); others may tell them apart"
    assert f"  {alike}\n  radv:navi10 = navi12\n" in done.out
    assert "radv@host:phoenix  the driver died (SIGABRT): \\x1b[31mUnknown family\n" in done.out
    assert "  sid  Mesa 26.2.6-1, of sid, built 2026-11-30, 1 packages, in /trees/sid\n" in done.out


def test_json_has_all_of_it(call: Call) -> None:
    done = call("targets", "--json", "-q")
    assert (done.status, done.err) == (0, "")
    plain = json.loads(done.out)
    assert plain["schema"] == {"name": "shaderstat-targets", "version": 1}
    assert plain["default"] == "host:0"
    assert [one["target"] for one in plain["targets"]] == [one.target for one in FOUND.reached]
    assert plain["targets"][0]["driver"]["version"] == "580.159"
    assert [one["targets"] for one in plain["unreachable"]] == [["nvk:*", "agx:*"], ["llvmpipe"], ["radv@host:phoenix"]]
    assert plain["trees"][0]["packages"] == {"mesa-vulkan-drivers": "26.2.6-1"}
    assert plain["trees"][1] == {"folder": "/trees/half", "name": "half", "reason": "half-built"}


def test_what_counts_has_a_column_where_anything_does(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = replace(FOUND.reached[0], metrics=6, per_basic_block=True)
    other = replace(counting, target="host:1", metrics=1, per_basic_block=False, statistics=False)
    found = replace(FOUND, reached=(counting, other, *FOUND.reached[1:]))
    monkeypatch.setattr(listing, "listing", lambda *_, **__: found)
    done = call("targets")
    ends = [line.rstrip().split("  ")[-1].strip() for line in done.out.splitlines()[:4]]
    assert ends == ["counts", "6 by block", "1 by shader", "null device"]
    assert "shaderstat instrument" in done.err
    plain = json.loads(call("targets", "--json").out)["targets"]
    assert [one["instrumentation"] for one in plain[:3]] == [
        {"metrics": 6, "per_basic_block": True},
        {"metrics": 1, "per_basic_block": False},
        None,
    ]


def test_options_reach_the_listing(call: Call, known: list[dict[str, object]]) -> None:
    call("targets", "--again", "--env", "RADV_PERFTEST=rt")
    assert known[0]["again"] is True
    assert known[0]["environment"] == {"RADV_PERFTEST": "rt"}


def test_installing(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def install(plan: Plan, progress: object) -> Tree:
        plans.append(plan)
        progress("61 packages, 82 MB to fetch")  # type: ignore[operator]
        return SID

    monkeypatch.setattr(trees, "install", install)
    done = call("targets", "install", "mine", "--suite", "sid", "--snapshot", "20260901T000000Z",
                "--mirror", "https://x.invalid/debian", "--apt-option", "A=b", "--apt-option", "C=d")  # fmt: skip
    assert done.status == 0
    assert done.err == "61 packages, 82 MB to fetch\n"
    assert done.out == "sid: Mesa 26.2.6-1, 3 GPUs, in /trees/sid\n"
    (plan,) = plans
    assert (plan.name, plan.suite, plan.snapshot, plan.mirror) == (
        "mine", "sid", "20260901T000000Z", "https://x.invalid/debian",
    )  # fmt: skip
    assert plan.apt_options == ("A=b", "C=d")


def test_what_can_not_be_installed_is_one_line_and_a_hint(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(plan: Plan, progress: object) -> Tree:
        raise ShaderstatError("no apt-get on this machine", hint="copy one")

    monkeypatch.setattr(trees, "install", install)
    done = call("targets", "install", "-q")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: no apt-get on this machine\nhint: copy one\n"


def test_removing(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHADERSTAT_TREES", str(tmp_path))
    (tmp_path / "sid").mkdir()
    done = call("targets", "remove", "sid")
    assert (done.status, done.out) == (0, f"sid: removed {tmp_path / 'sid'}\n")
    assert not (tmp_path / "sid").exists()
    done = call("targets", "remove", "sid")
    assert done.status == 2 and "no driver tree is called 'sid'" in done.err


@pytest.mark.parametrize("arguments", [("remove",), ("install", "a", "b"), ("nonsense",), ("install", "--suite")])
def test_misuse_is_a_usage_error(call: Call, arguments: tuple[str, ...]) -> None:
    done = call("targets", *arguments)
    assert done.status == 2 and done.err.startswith("error: ")
