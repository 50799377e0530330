"""The instrumentation layer itself, asked by a C program that knows nothing of shaderstat: what it counts is counted by
hand here, and what it makes up is computed."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from tests.assembly import assemble
from tests.conftest import watch
from tests.layer.conftest import HERE, VALIDATION, WARNINGS, Instrumented, rules
from tests.layer.shaders import CORNERS, EIGHT, WHITE

pytestmark = pytest.mark.layer

VERTEX, FRAGMENT, COMPUTE = 0x1, 0x10, 0x20
SUCCESS, NOT_READY, TIMEOUT, INCOMPLETE = 0, 1, 2, 5
OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST, FEATURE_NOT_PRESENT, UNKNOWN = -1, -2, -4, -8, -13

Block = tuple[int, ...]
Done = subprocess.CompletedProcess[str]
Drive = Callable[..., Done]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program and of its shaders.

    It makes the viewport twice as large as the target, so that the triangle covers all of the target and no clipping
    cuts it in two.
    """
    folder = tmp_path_factory.mktemp("drive")
    command: list[str | Path] = ["gcc", "-O1", *WARNINGS, HERE / "drive.c", "-o", folder / "drive", "-lvulkan"]
    subprocess.run(command, check=True, timeout=120)
    for name, text in (("eight", EIGHT), ("corners", CORNERS), ("white", WHITE)):
        (folder / name).write_bytes(assemble(text))
    return folder


@pytest.fixture
def drive(program: Path, instrumented: Instrumented) -> Drive:
    """``drive(script, **settings)``: run a script of ``drive.c`` over the layer."""

    def run(script: str, *, status: int | None = 0, env: Mapping[str, str] | None = None, **settings: object) -> Done:
        environment = {**os.environ, **instrumented(**settings), **(env or {})}
        command: list[str | Path] = [program / "drive", *script.split()]
        done = subprocess.run(command, cwd=program, env=environment, capture_output=True, text=True, timeout=60)
        assert status is None or done.returncode == status, done.stdout + done.stderr
        return done

    return run


def said(done: Done, word: str) -> list[str]:
    """The rest of each line that begins with `word`."""
    return [line[len(word) + 1 :] for line in done.stdout.splitlines() if line.split()[0] == word]


def blocks(done: Done) -> list[Block]:
    """Each (index, sub index, stages, basic block, values…), in the layer's order."""
    return [tuple(int(number, 0) for number in line.split()) for line in said(done, "block")]


def made_up(index: int, sub: int, stage: int, block: int, metric: int) -> int:
    """What ``instrumentation.c`` says of a metric other than the first, for one execution."""
    return (((index + 1) * 10 + sub) * 100 + (stage.bit_length() - 1)) * 1000 + block * 10 + metric


def complaints(done: Done) -> list[str]:
    prefix = "instrumentation-layer: "
    return [
        line.removeprefix(prefix).partition(": ")[0] for line in done.stderr.splitlines() if line.startswith(prefix)
    ]


def ready(pipelines: str = "compute eight") -> str:
    return f"device {pipelines} object record"


# Three dispatches of one workgroup; the blocks of indices 0, 1 and 2.
THREE = f"{ready()} bind-compute 0 begin dispatch 1,1,1 dispatch 2,1,1 dispatch 3,1,1 end finish run"
TRIANGLE = f"{ready('graphics corners white')} pass 8,8 bind-graphics 0 begin draw 3,1 end pass-end finish run values"


# ── What the device says of itself ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("call", ["extensions", "layer"])
def test_the_extension_is_listed_once(drive: Drive, call: str) -> None:
    listed = said(drive(call), "extension")
    assert listed.count("VK_ARM_shader_instrumentation 1") == 1
    assert len(listed) == len(set(listed))


def test_a_driver_has_maintenance5_of_its_own_or_by_the_layer(drive: Drive) -> None:
    assert [line.split()[0] for line in said(drive("extensions"), "extension")].count("VK_KHR_maintenance5") == 1
    assert said(drive("offer"), "feature") == ["1 maintenance5 1 chain whole"]


def test_a_list_of_one_is_incomplete(drive: Drive) -> None:
    assert said(drive("incomplete"), "incomplete") == [f"{INCOMPLETE} 1"]


def test_properties_and_descriptions(drive: Drive) -> None:
    done = drive("offer")
    assert said(done, "properties") == ["1 0"]
    assert said(done, "metric") == ["invocations: how often the shader was executed"]
    done = drive("offer", metrics=6, blocks=3)
    assert said(done, "properties") == ["6 1"]
    assert len(said(done, "metric")) == 6


def test_the_extension_without_its_feature(drive: Drive) -> None:
    done = drive("extensions offer", feature=0)
    assert "VK_ARM_shader_instrumentation 1" in said(done, "extension")
    assert said(done, "feature") == ["0 maintenance5 1 chain whole"]
    assert said(drive("device", feature=0, status=1), "device") == [str(FEATURE_NOT_PRESENT)]


def test_the_commands_are_there_where_the_extension_is_enabled(drive: Drive) -> None:
    assert said(drive("device functions"), "functions") == ["6"]
    assert said(drive("plain device functions"), "functions") == ["0"]


@pytest.mark.parametrize("how", ["", "twelve "])
def test_the_callers_structs_are_as_they_were(drive: Drive, how: str) -> None:
    done = drive(f"{how}{THREE} values")
    assert said(done, "device") == ["chain whole"]
    assert said(done, "pipeline") == ["flags2 0x8000000002"]  # the bit, and one that a driver may see
    assert len(blocks(done)) == 3


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("same", ["the same"] * 3),
        ("empty", [""] * 3),
        ("unterminated", ["n" * 256] * 3),
    ],
)
def test_names(drive: Drive, kind: str, expected: list[str]) -> None:
    assert [line.partition(":")[0] for line in said(drive("offer", metrics=3, names=kind), "metric")] == expected


def test_fewer_descriptions_than_metrics(drive: Drive) -> None:
    done = drive("offer", metrics=3, described=2)
    assert said(done, "properties") == ["3 0"]
    assert len(said(done, "metric")) == 2


# ── The true metric ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "invocations"),
    [
        ("dispatch 4,1,1", 4 * 8),
        ("dispatch 2,3,5", 30 * 8),
        ("base 2,2,2", 8 * 8),
        ("indirect 3,1,1", 3 * 8),
        ("dispatch 0,1,1", 0),
    ],
)
def test_a_dispatch(drive: Drive, command: str, invocations: int) -> None:
    done = drive(f"{ready()} bind-compute 0 begin {command} end finish run values")
    assert blocks(done) == [(0, 0, COMPUTE, 0, invocations)]


def test_a_triangle_over_all_of_the_target(drive: Drive) -> None:
    assert blocks(drive(TRIANGLE)) == [(0, 0, VERTEX, 0, 3), (0, 0, FRAGMENT, 0, 64)]


def test_instances(drive: Drive) -> None:
    done = drive(TRIANGLE.replace("draw 3,1", "draw 3,4"))
    assert blocks(done) == [(0, 0, VERTEX, 0, 12), (0, 0, FRAGMENT, 0, 256)]


def test_views_are_summed(drive: Drive) -> None:
    done = drive(TRIANGLE.replace("graphics corners", "graphics-views corners").replace("pass 8,8", "views 8,8"))
    (vertex, fragment) = blocks(done)
    assert fragment == (0, 0, FRAGMENT, 0, 128)
    assert vertex in [(0, 0, VERTEX, 0, 3), (0, 0, VERTEX, 0, 6)]  # a driver may run it once for all views


# ── Indices ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_command_takes_an_index(drive: Drive) -> None:
    assert blocks(drive(f"{THREE} values")) == [
        (0, 0, COMPUTE, 0, 8),
        (1, 0, COMPUTE, 0, 16),
        (2, 0, COMPUTE, 0, 24),
    ]


def test_a_pipeline_without_the_bit_spends_one(drive: Drive) -> None:
    done = drive(
        f"{ready('compute eight old compute eight')} begin bind-compute 0 dispatch 1,1,1 bind-compute 1 dispatch 1,1,1"
        " bind-compute 0 dispatch 2,1,1 end finish run values"
    )
    assert blocks(done) == [(0, 0, COMPUTE, 0, 8), (2, 0, COMPUTE, 0, 16)]


def test_nothing_is_counted_outside(drive: Drive) -> None:
    done = drive(
        f"{ready()} bind-compute 0 dispatch 9,1,1 begin dispatch 1,1,1 end dispatch 9,1,1 begin dispatch 2,1,1 end"
        " finish run values"
    )
    assert blocks(done) == [(0, 0, COMPUTE, 0, 8), (1, 0, COMPUTE, 0, 16)]


def test_the_index_goes_on_in_the_next_command_buffer(drive: Drive) -> None:
    done = drive(f"{THREE} record bind-compute 0 begin dispatch 5,1,1 end finish run values")
    assert [(block[0], block[-1]) for block in blocks(done)] == [(0, 8), (1, 16), (2, 24), (3, 40)]


def test_objects_have_indices_of_their_own(drive: Drive) -> None:
    done = drive(
        "device compute eight object object record bind-compute 0 use 0 begin dispatch 1,1,1 end use 1 begin"
        " dispatch 2,1,1 dispatch 3,1,1 end use 0 begin dispatch 4,1,1 end finish run use 0 values use 1 values"
    )
    assert [(block[0], block[-1]) for block in blocks(done)] == [(0, 8), (1, 32), (0, 16), (1, 24)]


def test_a_secondary_command_buffer_runs_in_its_primary(drive: Drive) -> None:
    done = drive(
        "device compute eight object secondary bind-compute 0 begin dispatch 2,1,1 end finish"
        " record execute bind-compute 0 begin dispatch 1,1,1 end finish run run values"
    )
    assert blocks(done) == [(0, 0, COMPUTE, 0, 32), (1, 0, COMPUTE, 0, 16)]


# ── Again ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("submit", ["submit", "submit2"])
def test_submissions_add_up(drive: Drive, submit: str) -> None:
    again = f"{submit} wait 10000000000"
    done = drive(f"{THREE} values {again} values {again} {again} values", metrics=2)
    counted = [block[-2:] for block in blocks(done) if block[0] == 1]
    once = made_up(1, 0, COMPUTE, 0, 1)
    assert counted == [(16, once), (32, 2 * once), (64, 4 * once)]


def test_clearing_leaves_the_indices(drive: Drive) -> None:
    done = drive(f"{THREE} clear values run values record bind-compute 0 begin dispatch 1,1,1 end finish run room 9")
    assert [(block[0], block[-1]) for block in blocks(done)] == [
        *[(0, 0), (1, 0), (2, 0)],
        *[(0, 8), (1, 16), (2, 24)],
        *[(0, 8), (1, 16), (2, 24), (3, 8)],
    ]


def test_recorded_but_never_submitted(drive: Drive) -> None:
    done = drive(f"{ready()} bind-compute 0 begin dispatch 1,1,1 end finish values")
    assert blocks(done) == [(0, 0, COMPUTE, 0, 0)]


def test_a_reset_command_buffer_leaves_what_was_counted(drive: Drive) -> None:
    assert len(blocks(drive(f"{THREE} reset values"))) == 3


# ── Blocks, and their order ───────────────────────────────────────────────────────────────────────────────────────


def expected(stages: Iterable[tuple[int, int]], metrics: int, basic_blocks: int = 1, subs: int = 1) -> list[Block]:
    """The blocks of a command with index 0 whose `stages` have (bit, invocations)."""
    return [
        (
            *(0, sub, stage, block, 0 if block or sub else invocations),
            *(made_up(0, sub, stage, block, metric) for metric in range(1, metrics)),
        )
        for sub in range(subs)
        for stage, invocations in stages
        for block in range(basic_blocks)
    ]


@pytest.mark.parametrize(("metrics", "basic_blocks", "subs"), [(1, 1, 1), (6, 1, 1), (6, 3, 1), (2, 2, 2)])
def test_blocks(drive: Drive, metrics: int, basic_blocks: int, subs: int) -> None:
    done = drive(TRIANGLE, metrics=metrics, blocks=basic_blocks, subs=subs)
    assert blocks(done) == expected([(VERTEX, 3), (FRAGMENT, 64)], metrics, basic_blocks, subs)


def test_merged_stages(drive: Drive) -> None:
    both = made_up(0, 0, VERTEX, 0, 1) + made_up(0, 0, FRAGMENT, 0, 1)
    assert blocks(drive(TRIANGLE, metrics=2, stages="merged")) == [(0, 0, VERTEX | FRAGMENT, 0, 67, both)]


def test_orders(drive: Drive) -> None:
    sorted_blocks = expected([(VERTEX, 3), (FRAGMENT, 64)], 2, 2, 2)
    grouped = blocks(drive(TRIANGLE, metrics=2, blocks=2, subs=2, order="stages"))
    assert grouped == expected([(FRAGMENT, 64), (VERTEX, 3)], 2, 2, 2)
    backwards = blocks(drive(TRIANGLE, metrics=2, blocks=2, subs=2, order="reverse"))
    assert backwards == sorted_blocks[::-1]


def test_huge_values(drive: Drive) -> None:
    done = drive(f"{THREE} values run values", metrics=2, blocks=2, huge=1)
    values = [block[-1] for block in blocks(done) if block[0] == 0]
    assert values == [2**64 - 1, 2**64 - 2, 2**64 - 2, 2**64 - 4]  # twice, modulo 2^64


# ── Counting, and short of room ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "count", "two", "nine"),
    [
        ("", f"{SUCCESS} 3", f"{INCOMPLETE} 2", f"{SUCCESS} 3"),
        ("grow", f"{SUCCESS} 2", f"{INCOMPLETE} 2", f"{SUCCESS} 3"),
        ("behind", f"{SUCCESS} 2", f"{INCOMPLETE} 2", f"{SUCCESS} 3"),
        ("short", f"{SUCCESS} 3", f"{SUCCESS} 2", f"{SUCCESS} 2"),
        ("forever", f"{SUCCESS} 3", f"{INCOMPLETE} 2", f"{INCOMPLETE} 3"),
        ("stub", f"{SUCCESS} 12345", f"{SUCCESS} 2", f"{SUCCESS} 9"),
        ("zero", f"{SUCCESS} 0", f"{SUCCESS} 0", f"{SUCCESS} 0"),
        ("absurd", f"{SUCCESS} 4294967280", f"{INCOMPLETE} 2", f"{SUCCESS} 3"),
    ],
)
def test_counts(drive: Drive, kind: str, count: str, two: str, nine: str) -> None:
    done = drive(f"{THREE} count room 2 room 9", values=kind)
    assert said(done, "count") == [count]
    assert said(done, "room") == [two, nine]


def test_a_count_grows_once_or_never(drive: Drive) -> None:
    assert said(drive(f"{THREE} count count", values="grow"), "count") == ["0 2", "0 3"]
    assert said(drive(f"{THREE} count count", values="behind"), "count") == ["0 2", "0 2"]


@pytest.mark.parametrize(
    ("kind", "counted", "described"),
    [("grow", "0 3", f"{INCOMPLETE} 3"), ("short", "0 6", "0 3"), ("stub", "0 0", "0 0"), ("zero", "0 0", "0 0")],
)
def test_descriptions_are_counted_likewise(drive: Drive, kind: str, counted: str, described: str) -> None:
    done = drive("offer", metrics=6, descriptions=kind)
    assert (said(done, "metrics"), said(done, "described")) == ([counted], [described])


# ── Errors, and what never ends ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("vkCreateDevice", "device"),
        ("vkCreateComputePipelines", "pipeline"),
        ("vkBeginCommandBuffer", "record"),
        ("vkEndCommandBuffer", "finish"),
        ("vkWaitForFences", "wait"),
    ],
)
def test_an_error_ends_the_program(drive: Drive, call: str, word: str) -> None:
    done = drive(f"{THREE} values", errors=f"{call}={OUT_OF_DEVICE_MEMORY}", status=1)
    assert said(done, word)[-1] == str(OUT_OF_DEVICE_MEMORY)


def test_an_error_of_a_command_of_the_extension(drive: Drive) -> None:
    enumerate_metrics = "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM"
    assert said(drive("offer", errors=f"{enumerate_metrics}=-3"), "metrics") == ["-3 0"]
    done = drive("device object", errors=f"vkCreateShaderInstrumentationARM={OUT_OF_HOST_MEMORY}")
    assert said(done, "object") == [str(OUT_OF_HOST_MEMORY)]
    done = drive(f"{THREE} room 3 room 3 room 3", errors=f"vkGetShaderInstrumentationValuesARM={UNKNOWN}@2")
    assert said(done, "room") == ["0 3", f"{UNKNOWN} 3", "0 3"]


def test_a_lost_device_stays_lost(drive: Drive) -> None:
    done = drive(f"{THREE} submit wait 1000 submit status values", errors=f"vkQueueSubmit={DEVICE_LOST}@2")
    assert said(done, "submit") == [str(DEVICE_LOST)] * 2
    assert said(done, "wait") == said(done, "status") == [str(DEVICE_LOST)]
    assert [block[-1] for block in blocks(done)] == [8, 16, 24]  # of the first submission alone


def test_a_submission_that_never_finishes(drive: Drive) -> None:
    start = time.monotonic()
    done = drive(f"{THREE} values submit status wait 300000000 status", hang=2)
    assert time.monotonic() - start >= 0.3
    assert len(blocks(done)) == 3
    assert said(done, "status") == [str(NOT_READY)] * 2
    assert said(done, "wait") == [str(TIMEOUT)]


# ── Valid usage ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        (f"{ready()} begin begin end", "VUID-vkCmdBeginShaderInstrumentationARM-commandBuffer-12375"),
        (f"{ready()} end", "VUID-vkCmdEndShaderInstrumentationARM-commandBuffer-12377"),
        (f"{ready()} begin finish", "VUID-vkEndCommandBuffer-12372"),
        ("device object secondary finish record begin execute end", "VUID-vkCmdExecuteCommands-12373"),
        (
            f"{THREE} submit destroy wait 1000000000",
            "VUID-vkDestroyShaderInstrumentationARM-instrumentation-12374",
        ),
        (f"{THREE} submit count wait 1000000000", "RACE"),
        (f"{THREE} submit clear wait 1000000000", "RACE"),
        ("device object leak", "VUID-vkDestroyDevice-device-05137"),
        ("featureless device object", "FEATURE"),
    ],
)
def test_a_broken_rule_is_told(drive: Drive, program: Path, tmp_path: Path, script: str, rule: str) -> None:
    log = tmp_path / "log"
    done = drive(script, log=log)
    assert complaints(done) == [rule]
    assert any(line.startswith(f"{rule}: ") for line in log.read_text().splitlines())
    assert complaints(drive(script, abort=1, status=-6)) == [rule]


def test_no_rule_is_broken_here(drive: Drive) -> None:
    assert complaints(drive(f"{THREE} values submit wait 1000000000 clear values destroy")) == []


def test_the_log_tells_the_calls(drive: Drive, tmp_path: Path) -> None:
    log = tmp_path / "log"
    drive(f"{ready()} bind-compute 0 begin dispatch 1,1,1 end finish run values", log=log)
    assert log.read_text().splitlines() == [
        "device with the extension and its feature",
        "pipeline compute flags2 0x8000000002",
        *["create", "begin", "end", "submit", "values count", "values array", "destroy"],
    ]


# ── With the validation layer ─────────────────────────────────────────────────────────────────────────────────────

ALL = (
    "offer {how} device compute eight graphics corners white object secondary bind-compute 0 begin dispatch 2,1,1 end"
    " finish record execute bind-compute 0 begin dispatch 4,1,1 base 2,2,2 indirect 3,1,1 pass 8,8 bind-graphics 1"
    " draw 3,1 pass-end end finish run values submit2 wait 10000000000 values reset"
)
PLAIN = "plain bitless device compute eight record bind-compute 0 dispatch 4,1,1 finish run"


@pytest.fixture
def watched(drive: Drive, tmp_path: Path) -> Callable[..., list[str]]:
    """``watched(script, below=…)``: run a script with the validation layer in the stack; what that says, by rule."""

    def run(script: str, **settings: object) -> list[str]:
        log = watch(tmp_path)
        drive(script, env={"VK_LAYER_SETTINGS_PATH": str(tmp_path / "vk_layer_settings.txt")}, **settings)
        return rules(log)

    return run


@pytest.mark.parametrize("script", [ALL.format(how=""), ALL.format(how="twelve"), PLAIN])
def test_what_those_below_get_is_valid(watched: Callable[..., list[str]], script: str) -> None:
    assert watched(script, below=(VALIDATION,)) == []


@pytest.mark.parametrize("place", ["above", "below"])
def test_the_stack_catches_an_error(watched: Callable[..., list[str]], place: str) -> None:
    script = f"{ready()} pass 8,8 bind-compute 0 begin dispatch 1,1,1 end pass-end finish"
    assert "VUID-vkCmdDispatch-renderpass" in watched(script, **{place: (VALIDATION,)})


def test_it_counts_below_the_validation_layer(drive: Drive) -> None:
    """What that layer thinks of structures that it doesn't know is its own business. Some versions hand on copies of
    what they do know, and the feature is not among it."""
    done = drive(f"{THREE} values", status=None, above=(VALIDATION,))
    if "VK_ARM_shader_instrumentation is not a known extension" in done.stdout and done.returncode:
        assert "vkCreateShaderInstrumentationARM without the feature enabled" in done.stdout + done.stderr
    else:
        assert [block[-1] for block in blocks(done)] == [8, 16, 24]
