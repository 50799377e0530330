"""``shaderstat instrument`` over the instrumentation layer and lavapipe: what ran is what is printed, and nothing that
a driver may answer is lost, or taken for a zero."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.assembly import assemble
from tests.conftest import Run, watch
from tests.layer.conftest import VALIDATION, Instrumented, rules
from tests.layer.shaders import CORNERS, EIGHT, TRIPLE, WHITE
from tests.layer.test_instrumentation_layer import COMPUTE, FRAGMENT, VERTEX, made_up

pytestmark = pytest.mark.layer

ENUMERATE = "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM"
DEVICE_LOST, OUT_OF_DEVICE_MEMORY, INITIALIZATION_FAILED = -4, -2, -3
Report = dict[str, Any]
Block = tuple[Any, ...]
Count = Callable[..., Report]


@pytest.fixture(scope="module")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of modules: corners.vert and white.frag, and two compute shaders."""
    folder = tmp_path_factory.mktemp("shaders")
    texts = {
        "eight.comp": EIGHT,
        "triple.comp": TRIPLE,
        "flat.vert": CORNERS,
        "flat.frag": WHITE,
    }
    for name, text in texts.items():
        (folder / f"{name}.spv").write_bytes(assemble(text))
    return folder


@pytest.fixture
def instrument(shaderstat: Run, instrumented: Instrumented, shaders: Path) -> Run:
    """``instrument(arguments, **settings)`` over the layer; arguments that name a module of `shaders` may be bare."""

    def run(arguments: str, *, env: dict[str, str] | None = None, **settings: Any) -> Any:
        words = [str(shaders / word) if (shaders / word).is_file() else word for word in arguments.split()]
        return shaderstat("instrument", *words, env={**instrumented(**settings), **(env or {})})

    return run  # type: ignore[return-value]


@pytest.fixture
def count(instrument: Callable[..., Any]) -> Count:
    """The JSON report of such a run, and its standard error as ``stderr``."""

    def run(arguments: str, *, status: int = 0, **settings: Any) -> Report:
        done = instrument(f"{arguments} --json", **settings)
        assert done.returncode == status, done.stdout + done.stderr
        report: Report = json.loads(done.stdout)
        return {**report, "stderr": done.stderr}

    return run


def only(report: Report) -> Report:
    """The report's one result."""
    (result,) = report["results"]
    return result  # type: ignore[no-any-return]


def blocks(report: Report) -> list[Block]:
    """Each (submission, command, sub index, stages, basic block, values…) of the one result."""
    return [
        (
            *(one["submission"], one["command"], one["sub_index"], "+".join(one["stages"]), one["basic_block"]),
            *one["values"],
        )
        for one in only(report)["instrumentation"]["blocks"]
    ]


def codes(report: Report) -> set[str]:
    return {one["code"] for one in only(report)["diagnostics"]}


def error(report: Report) -> tuple[str, str | None, str]:
    """The phase, the VkResult and the message of the one result's failure."""
    result = only(report)
    assert result["status"] == "failed"
    (message,) = [one["message"] for one in result["diagnostics"] if one["severity"] == "error"]
    return result["failure"]["phase"], result["failure"]["vk_result"], message


FLAT = "flat.vert.spv flat.frag.spv"


# ── What ran ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("size", "invocations"), [("1", 8), ("4,1,1", 32), ("2,3,5", 240)])
def test_a_dispatch(count: Count, size: str, invocations: int) -> None:
    assert blocks(count(f"eight.comp.spv --dispatch {size}")) == [(0, 0, 0, "compute", 0, invocations)]


# Half of a target of 8x8 pixels is inside: three of its four blocks of 4x4, as llvmpipe counts up to some version
# between Mesa 22.3 and 25.0, or the pixels themselves without those on the edge.
FRAGMENTS = (48, 28)


def test_a_draw(count: Count) -> None:
    vertex, fragment = blocks(count(f"{FLAT} --draw 3,1 --extent 8,8"))
    assert vertex == (0, 0, 0, "vertex", 0, 3)
    assert fragment in [(0, 0, 0, "fragment", 0, some) for some in FRAGMENTS]


def test_samples_run_as_many_invocations_as_their_source_says(count: Count, samples: Path) -> None:
    """Workgroups of which the source says the size in plain numbers, four of each."""
    sizes = {}
    for path in sorted(samples.glob("*.comp")):
        found = re.search(r"^layout\((local_size_[^)]*)\) in;", path.read_text(), re.MULTILINE)
        if found and "_id" not in found[1] and path.stem != "pick":  # which 22.3 doesn't take
            sizes[path.stem] = math.prod(int(number) for number in re.findall(r"= (\d+)", found[1]))
    report = count(f"{' '.join(str(samples / f'{name}.comp.spv') for name in sizes)} --dispatch 2,2")
    ran = {one["pipeline"]: one["instrumentation"]["blocks"][0]["values"] for one in report["results"]}
    assert len(sizes) > 5
    assert ran == {name: [4 * size] for name, size in sizes.items()}


def test_several_commands(count: Count) -> None:
    report = count("eight.comp.spv --dispatch 1 --dispatch 2 --dispatch 3")
    assert [(block[1], block[-1]) for block in blocks(report)] == [(0, 8), (1, 16), (2, 24)]
    assert [one["size"] for one in only(report)["instrumentation"]["commands"]] == [[1, 1, 1], [2, 1, 1], [3, 1, 1]]


def test_submissions_apart_and_added_up(count: Count) -> None:
    apart = count("eight.comp.spv --dispatch 4 --repeat 3")
    assert blocks(apart) == [(number, 0, 0, "compute", 0, 32) for number in range(3)]
    added = count("eight.comp.spv --dispatch 4 --repeat 3 --accumulate")
    assert blocks(added) == [(2, 0, 0, "compute", 0, 96)]


def test_what_a_shader_wrote(count: Count, tmp_path: Path) -> None:
    report = count("triple.comp.spv --dispatch 4 --buffer 0.0=iota:256 --read 0.0=out.bin")
    assert blocks(report) == [(0, 0, 0, "compute", 0, 32)]
    found = struct.unpack("<64I", (tmp_path / "out.bin").read_bytes())
    assert found == tuple(3 * number + 7 if number < 32 else number for number in range(64))


def test_without_metrics_it_runs_all_the_same(count: Count, tmp_path: Path) -> None:
    report = count("triple.comp.spv --dispatch 1 --no-metrics --buffer 0.0=iota:32 --read 0.0=out.bin --repeat 2")
    found = only(report)["instrumentation"]
    assert (found["offer"], found["blocks"], found["submissions"]) == (None, [], 2)
    assert struct.unpack("<8I", (tmp_path / "out.bin").read_bytes()) == tuple(3 * number + 7 for number in range(8))


@pytest.mark.parametrize("options", ["", "--repeat 3", "--repeat 3 --accumulate"])
def test_every_submission_finds_what_was_said(count: Count, tmp_path: Path, options: str) -> None:
    """Its commands find what those before them left: 3(3n + 7) + 7 after two."""
    two = "--dispatch 1 --dispatch 1 --buffer 0.0=iota:32 --read 0.0=out.bin"
    count(f"triple.comp.spv {two} {options}")
    found = struct.unpack("<8I", (tmp_path / "out.bin").read_bytes())
    assert found == tuple(9 * number + 28 for number in range(8))


def test_tessellation(count: Count, samples: Path) -> None:
    """Two patches of four vertices; the control stage is counted by patches, and levels of 1 leave each its corners."""
    modules = " ".join(str(samples / f"hills.{stage}.spv") for stage in ("vert", "tesc", "tese", "frag"))
    found = {block[3]: block[-1] for block in blocks(count(f"{modules} --draw 8"))}
    assert (found["vertex"], found["tessellation_control"], found["tessellation_evaluation"]) == (8, 2, 8)


def test_geometry(count: Count, samples: Path) -> None:
    modules = " ".join(str(samples / f"fur.{stage}.spv") for stage in ("vert", "geom", "frag"))
    found = {block[3]: block[-1] for block in blocks(count(f"{modules} --draw 6,2"))}
    assert (found["vertex"], found["geometry"]) == (12, 4)


def test_a_lone_fragment_shader_covers_the_target(count: Count) -> None:
    report = count("flat.frag.spv --draw 3 --extent 8,8")
    by_stage = {block[3]: block[-1] for block in blocks(report)}
    assert by_stage["fragment"] >= 64 and by_stage["fragment"] % 16 == 0
    synthetic = {"+".join(one["stages"]): one["synthetic"] for one in only(report)["instrumentation"]["blocks"]}
    assert synthetic == {"vertex": True, "fragment": False}


def test_the_layer_found_nothing_to_complain_of(count: Count, tmp_path: Path) -> None:
    log = tmp_path / "log"
    count("eight.comp.spv --dispatch 1 --repeat 2", log=log, abort=1)
    said = log.read_text().splitlines()
    assert [line for line in said if re.match(r"VUID|RACE|FEATURE", line)] == []
    assert said.count("create") == said.count("begin") == said.count("end") == said.count("destroy") == 1
    assert said.count("submit") == said.count("clear") == 2
    flags = [line for line in said if line.startswith("pipeline compute flags2 ")]
    assert flags and all(int(line.split()[-1], 0) & 1 << 39 for line in flags)


# ── Metrics and blocks ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_value_of_every_block(count: Count) -> None:
    report = count(f"{FLAT} --draw 3 --extent 8,8", metrics=6, blocks=3, subs=2)
    fragments = next(one[5] for one in blocks(report) if one[3:5] == ("fragment", 0))
    assert fragments in FRAGMENTS
    expected = [
        (
            0,
            0,
            sub,
            name,
            block,
            *(0 if block or sub else first,),
            *(made_up(0, sub, bit, block, m) for m in range(1, 6)),
        )
        for sub in range(2)
        for name, bit, first in (("vertex", VERTEX, 3), ("fragment", FRAGMENT, fragments))
        for block in range(3)
    ]
    assert blocks(report) == expected
    assert only(report)["instrumentation"]["offer"]["per_basic_block"] is True


@pytest.mark.parametrize("order", ["stages", "reverse"])
def test_blocks_in_any_order_are_sorted(count: Count, order: str) -> None:
    arguments = f"{FLAT} --draw 3 --draw 6 --extent 8,8"
    assert blocks(count(arguments, metrics=2, blocks=2, order=order)) == blocks(count(arguments, metrics=2, blocks=2))


def test_a_block_of_several_stages(count: Count) -> None:
    report = count(f"{FLAT} --draw 3 --extent 8,8", stages="merged")
    assert "driver/merged-stages" not in codes(report)
    (block,) = blocks(report)
    assert block in [(0, 0, 0, "vertex+fragment", 0, 3 + some) for some in FRAGMENTS]


def test_merged_stages_of_which_one_is_generated(count: Count) -> None:
    """The generated vertex stage runs three times; what is counted with it is not the fragment stage's alone."""
    apart = {block[3]: block[-1] for block in blocks(count("flat.frag.spv --draw 3 --extent 8,8 --synthetic"))}
    assert apart["vertex"] == 3
    report = count("flat.frag.spv --draw 3 --extent 8,8", stages="merged")
    (block,) = blocks(report)
    assert (block[3], block[-1]) == ("vertex+fragment", apart["fragment"] + 3)
    (said,) = [one["message"] for one in only(report)["diagnostics"] if one["code"] == "driver/merged-stages"]
    assert said == "blocks of vertex+fragment: the generated vertex stage is in their numbers too"


def test_values_up_to_the_last_bit(count: Count) -> None:
    report = count("eight.comp.spv --dispatch 1", metrics=2, blocks=2, huge=1)
    assert [block[-1] for block in blocks(report)] == [2**64 - 1, 2**64 - 2]
    assert only(report)["instrumentation"]["blocks"][0]["texts"] == [None, str(2**64 - 1)]


def test_csv_has_a_row_for_each_count(instrument: Callable[..., Any]) -> None:
    done = instrument("eight.comp.spv --dispatch 4 -f csv-long", metrics=2)
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["format"]]
    assert [(row["statistic"], row["value"]) for row in rows] == [
        ("invocations", "32"),
        ("made up 1", str(made_up(0, 0, COMPUTE, 0, 1))),
    ]


def test_a_table(instrument: Callable[..., Any]) -> None:
    done = instrument("eight.comp.spv --dispatch 4", metrics=2)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["dispatch", "4,1,1"] in lines
    assert ["stage", "invocations", "made", "up", "1"] in lines
    assert ["compute", "32", str(made_up(0, 0, COMPUTE, 0, 1))] in lines


@pytest.mark.parametrize("kind", ["same", "empty", "hostile", "unterminated"])
def test_names_are_told_apart_by_their_place(count: Count, instrument: Callable[..., Any], kind: str) -> None:
    report = count("eight.comp.spv --dispatch 1", metrics=3, names=kind)
    assert [len(block) for block in blocks(report)] == [5 + 3]
    done = instrument("eight.comp.spv --dispatch 1", metrics=3, names=kind)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


# ── What can be counted ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_metrics_are_listed(instrument: Callable[..., Any]) -> None:
    done = instrument("--metrics", metrics=2, blocks=3)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["invocations", *"how often the shader was executed".split()] in lines
    assert ["made", "up", "1", *"a function of the block and of 1".split()] in lines
    done = instrument("--metrics --json", metrics=2, blocks=3)
    (target,) = json.loads(done.stdout)["targets"]
    assert [metric["name"] for metric in target["metrics"]] == ["invocations", "made up 1"]
    assert (target["target"], target["per_basic_block"]) == ("host:0", True)


def test_targets_tell_which_has_it(shaderstat: Run, instrumented: Instrumented) -> None:
    done = shaderstat("targets", "--json", env=instrumented(metrics=6, blocks=2))
    found = {one["target"]: one["instrumentation"] for one in json.loads(done.stdout)["targets"]}
    assert found["host:0"] == {"metrics": 6, "per_basic_block": True}
    assert found["mock"] is None


def test_fewer_names_than_metrics(count: Count) -> None:
    report = count("eight.comp.spv --dispatch 1", metrics=3, described=2)
    assert [metric["name"] for metric in only(report)["instrumentation"]["offer"]["metrics"]][2:] == [""]
    assert len(blocks(report)[0]) == 5 + 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"metrics": 6, "described": 2}, "the driver counts 6 metrics and names 2"),
        ({"metrics": 2, "described": 6}, "the driver counts 2 metrics and names 6"),
        ({"metrics": 2, "described": 0}, "the driver counts 2 metrics and names 0"),
        ({"metrics": 2, "descriptions": "zero"}, "the driver counts 2 metrics and names 0"),
        ({"metrics": 2, "descriptions": "stub"}, "the driver counts 2 metrics and names 0"),
        ({"metrics": 2, "descriptions": "forever"}, "the driver counts 2 metrics and names 2 and more"),
    ],
)
def test_other_descriptions_than_metrics_are_warned_of(
    count: Count, instrument: Callable[..., Any], settings: dict[str, Any], says: str
) -> None:
    report = count("eight.comp.spv --dispatch 1", **settings)
    assert f"warning: host:0: {says}\n" in report["stderr"]
    assert ("run/metrics", f"host:0: {says}") in {(one["code"], one["message"]) for one in report["run"]["diagnostics"]}
    assert f"warning: host:0: {says}\n" in instrument("--metrics", **settings).stderr


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"metrics": 0}, "told of 0 metrics: there is at least one"),
        ({"metrics": 20000}, "told of 20000 metrics: at most 4096 are believed"),
        ({"errors": f"{ENUMERATE}={INITIALIZATION_FAILED}"}, "returned VK_ERROR_INITIALIZATION_FAILED"),
    ],
)
def test_metrics_that_cannot_be_had_keep_nobody_from_running(
    instrument: Callable[..., Any], count: Count, shaderstat: Run, instrumented: Instrumented,
    settings: dict[str, Any], says: str
) -> None:  # fmt: skip
    done = instrument("eight.comp.spv --dispatch 1", **settings)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: VK_ARM_shader_instrumentation of host:0 (llvmpipe") and says in error
    assert hint.startswith("hint: --no-metrics runs shaders there")
    report = count("eight.comp.spv --dispatch 1 --no-metrics", **settings)
    assert only(report)["status"] == "ok" and says not in report["stderr"]
    listed = json.loads(shaderstat("targets", "--json", env=instrumented(**settings)).stdout)
    assert "host:0" not in {one["target"] for one in listed["targets"] if one["instrumentation"]}


def test_a_feature_that_is_off_is_one_line(instrument: Callable[..., Any]) -> None:
    done = instrument("eight.comp.spv --dispatch 1", feature=0)
    assert (done.returncode, done.stdout) == (2, "")
    assert "VK_ARM_shader_instrumentation is not offered by host:0 (llvmpipe" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_metrics_that_cannot_be_told_are_one_line(instrument: Callable[..., Any]) -> None:
    done = instrument("eight.comp.spv --dispatch 1", errors=f"{ENUMERATE}={INITIALIZATION_FAILED}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{ENUMERATE} returned VK_ERROR_INITIALIZATION_FAILED" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_bit_that_cannot_be_said_is_never_left_out(count: Count) -> None:
    plain = count("eight.comp.spv --dispatch 1")
    version = [int(part) for part in plain["targets"][0]["device"]["api_version"].split(".")]
    if version >= [1, 4]:  # it is said in the core
        assert blocks(count("eight.comp.spv --dispatch 1", maintenance5=0)) == blocks(plain)
        return
    report = count("eight.comp.spv --dispatch 1", maintenance5=0, status=2)
    assert only(report)["status"] == "unsupported"
    (message,) = [one["message"] for one in only(report)["diagnostics"]]
    assert "VK_KHR_maintenance5" in message


def test_a_driver_without_it_names_it(shaderstat: Run, shaders: Path, lavapipe: Path) -> None:
    done = shaderstat(
        "instrument", shaders / "eight.comp.spv", "--dispatch", "1", env={"VK_DRIVER_FILES": str(lavapipe)}
    )
    assert done.returncode == 2
    assert "VK_ARM_shader_instrumentation is not offered by host:0 (llvmpipe" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


# ── Answers that lack something ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["grow", "behind"])
def test_a_count_that_grows_is_followed(count: Count, kind: str) -> None:
    arguments = "eight.comp.spv " + "--dispatch 1 " * 9
    report = count(arguments, values=kind)
    assert len(blocks(report)) == 9


def test_a_driver_that_never_says_that_it_is_all(count: Count) -> None:
    report = count("eight.comp.spv --dispatch 1 --dispatch 2", values="forever")
    assert [block[-1] for block in blocks(report)] == [8, 16]
    assert "run/incomplete" in codes(report)


def test_blocks_that_were_promised_and_did_not_come(count: Count) -> None:
    report = count("eight.comp.spv --dispatch 1 --dispatch 2 --dispatch 3", values="short")
    assert [block[-1] for block in blocks(report)] == [8, 16]
    assert "run/lost" in codes(report)


@pytest.mark.parametrize("kind", ["stub", "zero"])
def test_no_blocks_are_no_zeros(count: Count, kind: str) -> None:
    report = count("eight.comp.spv --dispatch 1", values=kind)
    assert blocks(report) == []
    assert "run/no-blocks" in codes(report)


def test_a_count_that_nothing_can_have(count: Count) -> None:
    phase, _, message = error(count("eight.comp.spv --dispatch 1", values="absurd", status=2))
    assert phase == "run" and "4294967280" in message


# ── Errors, and what never ends ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "call",
    [
        "vkCreateShaderInstrumentationARM",
        "vkGetShaderInstrumentationValuesARM",
        "vkGetShaderInstrumentationValuesARM@2",
        "vkBeginCommandBuffer",
        "vkEndCommandBuffer",
    ],
)
def test_an_error_is_the_results(count: Count, call: str) -> None:
    name, at, number = call.partition("@")
    report = count("eight.comp.spv --dispatch 1", errors=f"{name}={OUT_OF_DEVICE_MEMORY}{at}{number}", status=2)
    message = f"{name} returned VK_ERROR_OUT_OF_DEVICE_MEMORY"
    assert error(report) == ("run", "VK_ERROR_OUT_OF_DEVICE_MEMORY", message)


@pytest.mark.parametrize("call", ["vkQueueSubmit", "vkWaitForFences"])
@pytest.mark.parametrize("when", ["", "@2"])
def test_a_lost_device_is_a_result(count: Count, call: str, when: str) -> None:
    report = count("eight.comp.spv --dispatch 1 --repeat 3", errors=f"{call}={DEVICE_LOST}{when}", status=2)
    assert error(report)[:2] == ("run", "VK_ERROR_DEVICE_LOST")


def test_the_child_of_a_lost_device_is_not_used_again(count: Count) -> None:
    """The second call of a child would find the device lost: the layer never gives it back."""
    arguments = "eight.comp.spv triple.comp.spv --dispatch 1 -j 1"
    report = count(arguments, errors=f"vkWaitForFences={DEVICE_LOST}", status=2)
    assert [one["failure"]["vk_result"] for one in report["results"]] == ["VK_ERROR_DEVICE_LOST"] * 2
    messages = [one["message"] for each in report["results"] for one in each["diagnostics"]]
    assert all(message.startswith("vkWaitForFences ") for message in messages), messages


def test_a_submission_that_never_finishes(count: Count) -> None:
    start = time.monotonic()
    report = count("eight.comp.spv --dispatch 1 --timeout 2", hang=1, status=2)
    assert time.monotonic() - start < 30
    result = only(report)
    assert result["status"] == "timeout"
    assert result["failure"]["phase"] == "run"


def test_work_that_never_ends(count: Count) -> None:
    """In workgroups: llvmpipe leaves every loop after 65,536 rounds."""
    report = count("eight.comp.spv --dispatch 65535,32767 --timeout 3", status=2)
    assert only(report)["status"] == "timeout"
    assert (only(report)["failure"]["phase"], only(report)["failure"]["limit_s"]) == ("run", 3.0)


# ── Bad use ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("eight.comp.spv --dispatch 0", "nothing would run"),
        ("eight.comp.spv --dispatch 1,1,1048576", "maxComputeWorkGroupCount[2]"),
        ("eight.comp.spv --draw 3", "--dispatch X,Y,Z is needed"),
        (f"{FLAT} --draw 3 --extent 40000,1", "maxFramebufferWidth"),
        ("hills --draw 4 --buffer 0.0=small.bin", "set 0 binding 0 is given 3 bytes: its shaders need 80"),
        ("triple.comp.spv --dispatch 1 --read 0.1=out.bin", "0.1"),
    ],
)
def test_bad_use_is_said(
    instrument: Callable[..., Any], samples: Path, tmp_path: Path, arguments: str, message: str
) -> None:
    (tmp_path / "small.bin").write_bytes(b"abc")
    hills = " ".join(str(samples / f"hills.{stage}.spv") for stage in ("vert", "tesc", "tese", "frag"))
    done = instrument(arguments.replace("hills", hills))
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert message in line
    assert not (tmp_path / "out.bin").exists()


# ── With the validation layer ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def watched(count: Count, tmp_path: Path) -> Callable[..., list[str]]:
    """``watched(arguments)``: what the validation layer says of a run, by rule. It stands below: of the extension's
    structures it may know nothing."""

    def run(arguments: str, **settings: Any) -> list[str]:
        log = watch(tmp_path)
        env = {"VK_LAYER_SETTINGS_PATH": str(tmp_path / "vk_layer_settings.txt")}
        count(f"{arguments} -j 1", below=(VALIDATION,), env=env, **settings)  # each child empties the log
        return rules(log)

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        "triple.comp.spv --dispatch 4 --dispatch 2 --repeat 2 --buffer 0.0=iota:256 --read 0.0=out.bin",
        "triple.comp.spv --dispatch 4 --no-metrics --read 0.0=out.bin",
        f"{FLAT} --draw 3 --draw 3,2 --extent 16,16 --repeat 2",
        "flat.frag.spv --draw 3",
    ],
)
def test_the_validation_layer_is_silent(watched: Callable[..., list[str]], arguments: str) -> None:
    assert watched(arguments) == []


def test_the_validation_layer_is_silent_over_all_samples(watched: Callable[..., list[str]], samples: Path) -> None:
    """Buffers, images of several kinds, samplers, push constants, vertex buffers, every graphics stage."""
    modules = [path for path in samples.glob("*.spv") if not path.name.startswith("pick.")]  # unsized: not in 22.3
    assert watched(f"{' '.join(map(str, sorted(modules)))} --dispatch 2,2 --draw 12,2 --repeat 2") == []


def test_the_validation_layer_catches_a_forgotten_barrier(watched: Callable[..., list[str]]) -> None:
    assert watched(f"{FLAT} --draw 3", drop="barriers") != []
