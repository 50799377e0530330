"""Four vendors' compilers on a machine without a GPU."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shaderstat.trees import Tree
from tests.conftest import ROOT, Run, lacking
from tests.tree.conftest import NAME, linked

pytestmark = pytest.mark.tree

Report = dict[str, Any]
Ask = Callable[..., Report]
VENDORS = (f"radv@{NAME}:navi31", f"turnip@{NAME}:a740", f"nvk@{NAME}:ad102", f"agx@{NAME}:g13g")
VENDOR_OPTIONS = [word for target in VENDORS for word in ("-t", target)]

# What every driver tells of a compute shader, by the dictionary's keys (reference of names: Mesa's shader_stats.xml).
KEYS = {
    "radv": {"registers", "spills", "code_size", "instructions", "occupancy"},
    "turnip": {"registers", "spills", "code_size", "instructions", "occupancy"},
    "nvk": {"registers", "spills", "code_size", "instructions", "occupancy"},
    "agx": {"registers", "spills", "code_size", "instructions", "occupancy"},
}


def numbers(report: Report) -> dict[tuple[str, str, int], list[tuple[str, Any]]]:
    return {
        (one["pipeline"], one["target"], executable["index"]): [
            (statistic["name"], statistic["text"] or statistic["value"]) for statistic in executable["statistics"]
        ]
        for one in report["results"]
        for executable in one["executables"]
    }


def test_every_sample_on_four_vendors(report: Ask, samples: Path) -> None:
    found = report(samples, *VENDOR_OPTIONS)
    assert [one["id"] for one in found["targets"]] == list(VENDORS)
    assert {one["source"] for one in found["targets"]} == {"tree"}
    assert all(one["packages"]["mesa-vulkan-drivers"] for one in found["targets"])
    statuses = defaultdict(set)
    for one in found["results"]:
        statuses[one["status"]].add((one["pipeline"], one["target"], str(one["diagnostics"])))
    assert set(statuses) <= {"ok", "unsupported"}, statuses
    # What a driver lacks it says; nothing is lacking in the plain ones.
    plain = {"blur", "scale", "reduce", "histogram", "sort", "julia", "classify", "water", "gbuffer", "leaf"}
    assert not {pipeline for pipeline, _, _ in statuses["unsupported"]} & plain
    for target in found["targets"]:
        keys = {one["key"] for one in target["statistics"]}
        assert KEYS[target["id"].partition("@")[0]] <= keys
        assert all(one["key"] for one in target["statistics"] if one["role"] == "trigger")


def test_two_runs_are_equal_in_whatever_order(report: Ask, samples: Path) -> None:
    """Turnip's text has a counter of the process in it: code is compared without it."""

    def code(found: Report) -> dict[tuple[str, str, int], list[str]]:
        return {
            (one["pipeline"], one["target"], executable["index"]): [
                each["code_sha256"] for each in executable["representations"]
            ]
            for one in found["results"]
            for executable in one["executables"]
        }

    first = report(samples, *VENDOR_OPTIONS, command="ir")
    paths = sorted(samples.glob("*.spv"), reverse=True)
    second = report(*paths, *VENDOR_OPTIONS, "-j", "2", command="ir")
    assert numbers(first) == numbers(second)
    assert code(first) == code(second)
    assert any(code(first).values())


def test_one_table_of_four_vendors(shaderstat: Run, tree: Tree, samples: Path) -> None:
    done = shaderstat("stats", samples / "blur.comp.spv", *VENDOR_OPTIONS)
    assert done.returncode == 0, done.stderr
    head = next(line for line in done.stdout.splitlines() if VENDORS[0] in line)
    assert head.split() == list(VENDORS)
    rows = {line.split("  ")[1]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {"registers", "spills", "code size", "instructions"} <= set(rows)
    assert "Units differ" in done.stderr


def test_the_readmes_command_for_four_vendors(shaderstat: Run, tree: Tree) -> None:
    """The last of its three; the first two are what this test stands on."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = [one for one in text.split("```") if one.startswith("sh\n") and "targets install" in one]
    make, install, ask = block.removeprefix("sh\n").splitlines()
    assert "pip install" in make and install == ".venv/bin/shaderstat targets install"
    program, *arguments = shlex.split(ask)
    done = shaderstat(*arguments, cwd=ROOT)
    assert (program, done.returncode) == (".venv/bin/shaderstat", 0), done.stderr
    wanted = [word for word in arguments if ":" in word]
    assert len({word.partition(":")[0] for word in wanted}) == 4
    heads = done.stdout.splitlines()
    assert heads[2].split() == wanted
    assert re.split("  +", heads[3].strip()) == ["RX 7900 XT/XTX", "Adreno 740", "RTX 4090", "Apple M1"]


def test_two_mesas_beside_each_other(report: Ask, samples: Path, radv_manifest: Path) -> None:
    """Executables and statistics were renamed between them: keys match all the same."""
    found = report(
        samples / "water.vert.spv", samples / "water.frag.spv", "-t", "radv@host:navi21", "-t", f"radv@{NAME}:navi21"
    )
    here, there = found["targets"]
    assert here["driver"]["version"] != there["driver"]["version"] or here["source"] == "shim"
    keys = [{one["key"] for one in target["statistics"] if one["key"]} for target in (here, there)]
    assert {"registers", "spills", "code_size", "instructions", "occupancy", "scratch_bytes"} <= keys[0] & keys[1]
    for result in found["results"]:
        assert result["status"] == "ok"
        assert [one["stages"] for one in result["executables"]] == [["vertex"], ["fragment"]]


def test_every_gpu_that_is_listed_has_answered(shaderstat: Run, tree: Tree) -> None:
    """The listing is made of trials; four vendors, and GPUs whose compilers differ."""
    import json

    done = shaderstat("targets", "--json", timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    here = [one for one in found["targets"] if one["where"] == f"tree {NAME}"]
    drivers = defaultdict(set)
    for one in here:
        drivers[one["target"].partition(":")[0].partition("@")[0]].add(one["alike"])
        assert one["statistics"]
    assert set(drivers) == {"radv", "turnip", "nvk", "agx"}
    assert sum(map(len, drivers.values())) >= 25
    assert len(here) >= 60
    # Remembered: nothing is asked, and the answer is the same.
    again = shaderstat("targets", "--json", timeout=60)
    assert again.stdout == done.stdout


def test_a_shim_that_is_loaded_late_answers_as_one_that_was_preloaded(tree: Tree) -> None:
    """`shaderstat targets` tries several GPUs in forks of one process; a target has a process of its own."""
    from shaderstat.targets.places import tree_places
    from shaderstat.targets.probe import try_all

    for driver, of in (("radv", ("navi10", "navi31")), ("turnip", ("a630", "a740")), ("nvk", ("gk104", "ad102"))):
        place = next(one for one in tree_places(driver, tree) if one.shim)
        chips = [chip for chip in place.chips() if chip.name in of]
        launches = [place.launch(chip, place.target(chip)) for chip in chips]
        together = try_all([one for one in launches if one is not None])
        assert together == [try_all([one])[0] for one in launches if one is not None]
        assert len({trials[0].answers for trials in together}) == 2 and not any(one[0].problem for one in together)


def test_one_gpu_that_ends_its_process_takes_no_other_with_it(tree: Tree) -> None:
    """A shim aborts over a name that it doesn't know; NVK finds no device of a chipset that there never was."""
    from shaderstat.targets.probe import try_all
    from shaderstat.trees import launch

    asked = [
        ("radv", "navi21"),
        ("radv", "nonsense"),
        ("radv", "navi31"),
        ("nvk", "180"),
        ("nvk", "192"),
        ("nvk", "e4"),
    ]
    found = try_all([launch.launch(tree, driver, f"{driver}:{name}", name) for driver, name in asked])
    problems = [trials[0].problem for trials in found]
    assert [bool(one) for one in problems] == [False, True, False, True, False, False]
    assert problems[1].startswith("radv:nonsense: ") and "nonsense" in problems[1][14:]
    assert problems[3].startswith("nvk:180: ") and "no device" in problems[3]


def test_what_one_lacks_others_are_named_for_that_have_it(shaderstat: Run, report: Ask) -> None:
    """Mesh shaders and ray tracing on all GPUs: those that are said to have it, and no others, take the module."""
    assert shaderstat("targets", timeout=600).returncode == 0
    optional = ROOT / "sample_optional"
    found = report(optional, "-t", "all", "--no-validate")  # this machine's own compilers are counted as well
    for pipeline in ("grid", "rays"):
        results = [one for one in found["results"] if one["pipeline"] == pipeline and one["target"] != "mock"]
        able = {one["target"] for one in results if one["status"] == "ok"}
        hints = {one["target"]: one["diagnostics"][-1]["hint"] for one in results if one["status"] == "unsupported"}
        assert able and hints and len(able) + len(hints) == len(results)
        for hint in hints.values():
            names, _, more = re.split(" ha(?:s|ve) it", hint.rpartition("; ")[2])[0].partition(" and ")
            named = names.split(", ")
            assert set(named) <= able, hint
            assert len(named) + int(more.partition(" ")[0] or 0) >= len(able), hint


def test_every_sample_on_every_gpu(report: Ask, samples: Path) -> None:
    found = report(samples, "-t", f"*@{NAME}:*", "-t", "turnip:*", "-t", "nvk:*", "-t", "agx:*", "--no-validate")
    assert len(found["targets"]) >= 55
    assert [one for one in found["results"] if one["status"] not in ("ok", "unsupported")] == []
    answers = defaultdict(list)
    for (pipeline, target, index), statistics in sorted(numbers(found).items()):
        named = [(name, value) for name, value in statistics if name != "Driver pipeline hash"]
        answers[target].append((pipeline, index, named))
    distinct = {(target.partition(":")[0], repr(said)) for target, said in answers.items()}
    assert len(distinct) >= 25
    print(f"{len(answers)} GPUs, {len(distinct)} distinct answers")


# ── What goes wrong ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("target", "said", "hint"),
    [
        (f"nvk@{NAME}:ad101", "nvk knows no GPU called 'ad101'", "nvk:ad10"),
        (f"nvk@{NAME}:nonsense", "nvk knows no GPU called 'nonsense'", "nearest: nvk:"),
        (f"radv@{NAME}:tahiti", "does not know this GPU", "nearest: radv:"),
        ("radv@nowhere:navi31", "no driver tree is called 'nowhere'", "shaderstat targets install"),
    ],
)
def test_unknown_gpus_and_trees(shaderstat: Run, tree: Tree, samples: Path, target: str, said: str, hint: str) -> None:
    done = shaderstat("stats", samples / "scale.comp.spv", "-t", target)
    assert (done.returncode, done.stdout) == (2, "")
    error, hinted = done.stderr.splitlines()
    assert error.startswith("error: ") and said in error
    assert hinted.startswith("hint: ") and hint in hinted


def test_a_chipset_that_the_driver_refuses_is_no_silence(tree: Tree) -> None:
    """NVK over its shim says nothing about a chipset that it does not know (180 is none): there is just no device."""
    from shaderstat.errors import NoTarget
    from shaderstat.pool import Pool
    from shaderstat.trees import launch

    with Pool() as pool, pytest.raises(NoTarget, match=r"nvk:none.*no device"):
        pool.wait(pool.add(launch.launch(tree, "nvk", "nvk:none", "180")))


def test_a_shim_that_vanishes(shaderstat: Run, tree: Tree, samples: Path, tmp_path: Path) -> None:
    """A tree of links to the real one, without one shim."""
    env = {"SHADERSTAT_TREES": str(linked(tree, tmp_path, "*nouveau_noop*"))}
    done = shaderstat("stats", samples / "scale.comp.spv", "-t", f"nvk@{NAME}:ad102", env=env)
    assert done.returncode == 2
    assert "has lost what stands in for the GPU" in done.stderr
    assert f"hint: shaderstat targets install {NAME}" in done.stderr
    # The others of this tree go on, from where it was moved to.
    assert shaderstat("stats", samples / "scale.comp.spv", "-t", f"turnip@{NAME}:a740", env=env).returncode == 0


@pytest.mark.parametrize("content", [None, b"no library"])
def test_a_driver_that_is_gone_or_damaged(
    content: bytes | None, shaderstat: Run, tree: Tree, samples: Path, tmp_path: Path
) -> None:
    trees = linked(tree, tmp_path, "libvulkan_freedreno*")
    if content is not None:
        library = next(tree.root.rglob("libvulkan_freedreno.so"))
        (trees / NAME / "root" / library.relative_to(tree.root)).write_bytes(content)
    done = shaderstat(
        "stats", samples / "scale.comp.spv", "-t", f"turnip@{NAME}:a740", env={"SHADERSTAT_TREES": str(trees)}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"hint: the tree's driver is gone or damaged: shaderstat targets install {NAME}" in done.stderr


def test_nothing_is_written_into_the_tree(shaderstat: Run, tree: Tree, samples: Path) -> None:
    def state() -> dict[str, int]:
        return {str(path): path.lstat().st_mtime_ns for path in tree.root.rglob("*") if path.is_dir()}

    before = state()
    assert shaderstat("ir", samples / "water.frag.spv", *VENDOR_OPTIONS, "-f", "json").returncode == 0
    assert state() == before


# ── Somebody else, somewhere else ─────────────────────────────────────────────────────────────────────────────────


def test_an_ordinary_user_without_a_home_uses_the_tree(
    tree: Tree, samples: Path, open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its compilers are started as `nobody` (where these tests are root's), with nothing in the environment. Root's
    own folders are closed to others, so it is a tree that lies elsewhere."""
    from dataclasses import replace

    from shaderstat.errors import NoTarget
    from shaderstat.model import Job, JobModule
    from shaderstat.pool import Pool
    from shaderstat.trees import find, launch

    place = open_place
    monkeypatch.setenv("SHADERSTAT_TREES", str(linked(tree, place)))
    made = launch.launch(find(NAME), "turnip", "turnip:a740", "740")
    assert made.python is not None and made.python.startswith(str(place))
    becoming = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.getuid() == 0 else ()
    somebody = (*becoming, "env", "-i")
    prefix = (*somebody, "FD_GPU_ID=740", *made.prefix)
    environment = {**made.environment, "HOME": "/nonexistent", "TMPDIR": str(place), "XDG_RUNTIME_DIR": str(place)}
    job = Job("compute", (JobModule("x", (samples / "blur.comp.spv").read_bytes(), "compute", "main"),))
    answers = []
    for one in (made, replace(made, prefix=prefix, environment=environment, spirv_tools=None)):
        with Pool() as pool:
            pool.wait(pool.add(one))
            (outcome,) = pool.run(1, lambda *_: job)
        answers.append([(each.name, each.bits) for each in outcome.answer.executables[0].statistics])
    assert answers[0] == answers[1] != []
    # A prefix that drops what the shim reads at its start would give the numbers of another GPU.
    with Pool() as pool, pytest.raises(NoTarget, match="FD_GPU_ID must be set when the process starts"):
        pool.wait(pool.add(replace(made, prefix=(*somebody, *made.prefix), environment=environment)))


def test_in_a_sandbox_the_numbers_are_the_same(report: Ask, samples: Path) -> None:
    if shutil.which("bwrap") is None:
        lacking("no bubblewrap: install bubblewrap")
    options = [*VENDOR_OPTIONS, samples / "blur.comp.spv", samples / "water.frag.spv", samples / "water.vert.spv"]
    assert numbers(report(*options, "--sandbox")) == numbers(report(*options))
