"""``instrument``: what its options ask for, and what is printed, over the mock and a scenario."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shaderstat.instrumentation import Command, Fill, ImageFill
from tests.cli.conftest import Call
from tests.cli.events import Engine, answered, run
from tests.conftest import ROOT

SAMPLES = ROOT / "sample_spirv"
SCHEMA = json.loads((ROOT / "shaderstat" / "schemas" / "report-1.json").read_bytes())

SCENARIO = """
instrumentation:
  metrics:
  - {name: fma, description: Fused multiply-adds executed}
  - {name: ls, description: Loads and stores}
  per_basic_block: true
rules:
- match: "*scale*"
  blocks:
  - {stages: compute, basic_block: 2, values: [1024, 0]}
  - {stages: compute, basic_block: 0, values: [3072, 18446744073709551615]}
  written: {0.1: 00 00 80 3f}
- match: "*blur*"
- match: "*water*"
  blocks:
  - {stages: fragment, values: [3, 1]}
  - {stages: vertex, values: [1, 1]}
- match: "*sort*"
  run: {result: VK_ERROR_DEVICE_LOST}
- match: "*julia*"
  run: {hang: true}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    for name in (
        "scale.comp.spv",
        "blur.comp.spv",
        "water.vert.spv",
        "water.frag.spv",
        "sort.comp.spv",
        "julia.comp.spv",
    ):
        shutil.copy(SAMPLES / name, tmp_path)
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    return path


# ── Options ───────────────────────────────────────────────────────────────────────────────────────────────────────


def asked(call: Call, engine: Engine, *arguments: str) -> Any:
    """What a command line says of the run."""
    engine.answers(*run(answered("x")))
    done = call("instrument", "x.spv", *arguments)
    assert done.status == 0, done.err
    return engine.request.execution


def test_everything_can_be_said(call: Call, engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(b"1234")
    said = asked(
        call, engine, "--dispatch", "4,4,1", "--dispatch", "8", "--draw", "36,100", "--draw-mesh-tasks", "2",
        "--trace", "64,64", "--extent", "128,64", "--repeat", "3", "--accumulate", "--buffer", "0.0=in.bin",
        "--buffer", "0.10=random:7:4K", "--image", "0.2=64x32:iota", "--vertices", "1=zeros:16", "--push", "0000803f",
        "--read", "0.10=out.bin", "--no-metrics",
    )  # fmt: skip
    assert said == {
        "commands": (
            Command("dispatch", (4, 4, 1)),
            Command("dispatch", (8, 1, 1)),
            Command("draw", (36, 100, 1)),
            Command("draw_mesh_tasks", (2, 1, 1)),
            Command("trace_rays", (64, 64, 1)),
        ),
        "extent": (128, 64),
        "repeat": 3,
        "accumulate": True,
        "metrics": False,
        "buffers": {(0, 0): Fill("data", 4, 0, b"1234", "in.bin"), (0, 10): Fill("random", 4096, 7)},
        "images": {(0, 2): ImageFill((64, 32), Fill("iota"))},
        "vertices": {1: Fill("zeros", 16)},
        "push": Fill("data", data=bytes.fromhex("0000803f")),
        "read": {(0, 10): "out.bin"},
    }


def test_what_is_not_said_is_the_manifests(call: Call, engine: Engine) -> None:
    assert asked(call, engine) == {}
    assert not engine.request.statistics and not engine.request.representations


def test_statistics_and_code_of_the_same_pipelines(call: Call, engine: Engine) -> None:
    asked(call, engine, "--statistics", "--out", "ir")
    assert engine.request.statistics and engine.request.representations
    assert Path("ir/index.json").exists()
    asked(call, engine, "--representations", "--json")
    assert engine.request.representations


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dispatch", "0,1,1"], "--dispatch 0,1,1: nothing would run"),
        (["--dispatch", "4x4"], "--dispatch 4x4: the form is X,Y,Z"),
        (["--draw", "1,2,3"], "--draw 1,2,3: the form is VERTICES[,INSTANCES]"),
        (["--extent", "64"], "--extent 64: the form is W,H"),
        (["--repeat", "0"], "'--repeat'"),
        (["--buffer", "0.0"], "--buffer 0.0: an = and a value are wanted"),
        (["--buffer", "0=zeros"], "--buffer 0=zeros: '0' is no SET.BINDING"),
        (["--buffer", "0.0=zeros:4T"], "'4T' is no size"),
        (["--buffer", "0.0=zeros", "--buffer", "0.0=iota"], "--buffer names 0.0 twice"),
        (["--buffer", "0.0=nowhere.bin"], "nowhere.bin: can't be read: No such file"),
        (["--image", "0.0=64"], "--image 0.0=64: the form is WxH"),
        (["--vertices", "a=zeros"], "'a' is no binding's number"),
        (["--push", "123"], "--push 123: hexadecimal digits are wanted, two a byte"),
        (["--push", ""], "--push: an empty value"),
        (["--read", "0.0=-"], "--read 0.0=-: a file is wanted"),
    ],
)
def test_slips_are_one_line_and_start_nothing(call: Call, engine: Engine, arguments: list[str], says: str) -> None:
    done = call("instrument", "x.spv", *arguments)
    assert (done.status, done.out) == (2, "")
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and says in errors[0]
    assert not hasattr(engine, "request")


# ── Over the mock ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_table_for_a_dispatch(call: Call, scenario: Path) -> None:
    done = call(
        "instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "--buffer", "0.0=random:7:4K"
    )
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[2:7] == [
        "  dispatch 4,1,1",
        "    stage    block   fma        %                    ls        %",
        "    compute      0  3072   75.0 %  18446744073709551615  100.0 %",
        "    compute      2  1024   25.0 %                     0    0.0 %",
        "    compute  total  4096  100.0 %  18446744073709551615  100.0 %",
    ]
    assert "  fma  Fused multiply-adds executed" in lines
    assert any(line.startswith("  run with  set 0 binding 0") and line.endswith("random:7") for line in lines)
    assert lines[-1] == "  these numbers describe one execution with invented inputs"


def test_json_follows_the_schema(call: Call, scenario: Path) -> None:
    done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "--json", "--statistics")
    report = json.loads(done.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    (result,) = report["results"]
    found = result["instrumentation"]
    assert [block["values"] for block in found["blocks"]] == [[3072, 2**64 - 1], [1024, 0]]
    assert found["blocks"][0]["texts"] == [None, str(2**64 - 1)]
    assert found["commands"] == [{"kind": "dispatch", "size": [4, 1, 1]}]
    assert found["invented"] is True and result["executables"][0]["statistics"]
    assert result["cached"] is False


def test_code_of_the_same_run_goes_to_a_folder(call: Call, scenario: Path) -> None:
    run = ("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario)
    done = call(*run, "--out", "ir", "--read", "0.1=out.bin")
    assert done.status == 0, done.err
    assert "dispatch 4,1,1" in done.out and "files of 1 executable in ir/" in done.err
    assert json.loads(Path("ir/index.json").read_bytes())["complete"] is True
    assert Path("out.bin").exists()
    assert "--out DIR writes them" in call(*run, "--representations").err


def test_a_run_is_never_remembered(call: Call, scenario: Path) -> None:
    for _ in range(2):
        done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "--json")
        assert json.loads(done.out)["run"]["counts"]["cached"] == 0


def test_a_draw_of_two_stages(call: Call, scenario: Path) -> None:
    arguments = ("instrument", "water.vert.spv", "water.frag.spv", "--draw", "3", "--scenario", scenario)
    lines = call(*arguments).out.splitlines()
    assert [line.split()[0] for line in lines[4:7]] == ["vertex", "fragment", "total"]
    chosen = call(*arguments, "--stage", "vertex").out
    assert "vertex" in chosen and "fragment" not in chosen
    done = call(*arguments, "--stage", "mesh")
    assert done.status == 2 and "error: --stage mesh: matched nothing" in done.err


def test_several_pipelines_take_the_commands_of_their_kind(call: Call, scenario: Path) -> None:
    files = ("scale.comp.spv", "water.vert.spv", "water.frag.spv")
    done = call("instrument", *files, "--dispatch", "4", "--draw", "3", "--scenario", scenario)
    assert done.status == 0, done.err
    assert "  dispatch 4,1,1\n" in done.out and "  draw 3,1\n" in done.out


@pytest.mark.parametrize(
    ("files", "arguments", "says"),
    [
        (["scale.comp.spv"], [], "scale is a compute pipeline: --dispatch X,Y,Z is needed"),
        (
            ["water.vert.spv"],
            ["--dispatch", "4"],
            "water is a graphics pipeline: --draw VERTICES[,INSTANCES] is needed",
        ),
        (["scale.comp.spv", "water.frag.spv"], ["--dispatch", "4"], "water is a graphics pipeline: --draw"),
    ],
)
def test_the_size_of_a_command_has_no_default(
    call: Call, scenario: Path, files: list[str], arguments: list[str], says: str
) -> None:
    done = call("instrument", *files, *arguments, "--scenario", scenario)
    assert (done.status, done.out) == (2, "")
    assert says in done.err


def test_a_run_that_counted_nothing_is_no_row_of_zeros(call: Call, scenario: Path) -> None:
    done = call("instrument", "blur.comp.spv", "--dispatch", "1", "--scenario", scenario)
    assert "  dispatch 1,1,1  no metric block\n" in done.out
    assert "warning: blur: the driver counted nothing" in done.err


def test_a_buffer_goes_to_a_file(call: Call, scenario: Path) -> None:
    Path("out.bin").write_bytes(b"before")
    run = ("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario)
    done = call(*run, "--read", "0.1=out.bin")
    assert done.status == 0
    assert Path("out.bin").read_bytes() == bytes.fromhex("0000803f")
    assert "out.bin: 4 bytes of set 0 binding 1\n" in done.err
    assert sorted(path.name for path in Path().glob("*.part")) == []


def test_what_was_not_written_is_left_as_it_was(call: Call, scenario: Path) -> None:
    """The scenario doesn't say what that buffer holds."""
    Path("out.bin").write_bytes(b"before")
    done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "--read", "0.0=out.bin")
    assert done.status == 2
    assert "doesn't say what set 0 binding 0 holds" in done.out + done.err
    assert Path("out.bin").read_bytes() == b"before"
    assert not [*Path().glob(".shaderstat*")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--read", "0.1=scale.comp.spv"], "scale.comp.spv: is an input of this run"),
        (["--read", "0.1=in.bin", "--buffer", "0.0=in.bin"], "in.bin: is an input of this run"),
        (["--read", "0.1=in.bin", "--push", "in.bin"], "in.bin: is an input of this run"),
        (["--read", "0.1=scenario.yaml"], "scenario.yaml: is an input of this run"),
        (["--read", "0.1=shaderstat.yaml", "--config", "shaderstat.yaml"], "shaderstat.yaml: is an input of this run"),
        (["-o", "json:in.bin", "--buffer", "0.0=in.bin"], "in.bin: is an input of this run"),
        (["--read", "0.1=folder"], "folder: can't be written: Is a directory"),
        (["--read", "0.1=nowhere/x"], "nowhere/x: can't be written: No such file or directory"),
        (["--read", "0.1=x", "--read", "0.0=x"], "x: scale set 0 binding 0 can't be read into the file of scale set 0"),
        (["--read", "0.1=x", "-o", "json:x"], "x: scale set 0 binding 1 can't be read into the file of -o"),
        (["--read", "0.1=x", "blur.comp.spv"], "can't be read into the file of"),
    ],
)
def test_files_are_never_lost(call: Call, scenario: Path, arguments: list[str], says: str) -> None:
    Path("in.bin").write_bytes(b"1234")
    Path("folder").mkdir()
    Path("shaderstat.yaml").write_text("{}")
    module = Path("scale.comp.spv").read_bytes()
    done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, *arguments)
    assert done.status == 2
    assert says in done.err
    assert Path("scale.comp.spv").read_bytes() == module and Path("in.bin").read_bytes() == b"1234"
    assert not Path("x").exists()


def test_a_lost_device_is_a_result_with_the_command_that_shows_it(call: Call, scenario: Path) -> None:
    done = call("instrument", "sort.comp.spv", "scale.comp.spv", "--dispatch", "4,2", "--buffer", "0.0=iota:4K",
                "--scenario", scenario, "--json")  # fmt: skip
    assert done.status == 2
    scale, sort = sorted(json.loads(done.out)["results"], key=lambda one: str(one["pipeline"]))
    assert (sort["status"], sort["failure"]["phase"]) == ("failed", "run")
    assert sort["failure"]["vk_result"] == "VK_ERROR_DEVICE_LOST"
    again = sort["failure"]["reproduce"]
    assert again[:3] == ["shaderstat", "instrument", "sort.comp.spv"]
    assert " --dispatch 4,2,1 --buffer 0.0=iota:4096" in " ".join(again)
    assert scale["status"] == "ok"


def test_a_shader_that_never_ends_is_a_result(call: Call, scenario: Path) -> None:
    done = call("instrument", "julia.comp.spv", "--dispatch", "4", "--scenario", scenario, "--json", "--timeout", "1")
    (result,) = json.loads(done.out)["results"]
    assert (result["status"], result["failure"]["phase"]) == ("timeout", "run")


def test_a_run_that_never_ends_costs_no_statistics(call: Call, scenario: Path) -> None:
    """They were there before it began."""
    plain = json.loads(call("stats", "julia.comp.spv", "--scenario", scenario, "--json").out)["results"][0]
    asked = ("instrument", "julia.comp.spv", "--dispatch", "4", "--scenario", scenario, "--statistics")
    done = call(*asked, "--json", "--timeout", "1")
    (result,) = json.loads(done.out)["results"]
    assert (done.status, result["status"], result.get("instrumentation")) == (2, "timeout", None)
    assert result["executables"] == plain["executables"] != []
    table = call(*asked, "--timeout", "1").out
    assert "timeout  over 1 s in run" in table
    assert "Instructions" in table


def test_data_formats_say_that_inputs_were_invented(call: Call, scenario: Path) -> None:
    for format in ("csv", "csv-long"):
        done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "-f", format)
        assert done.status == 0
        assert "these numbers describe one execution with invented inputs" in done.err
        assert "18446744073709551615" in done.out


def test_a_report_with_counts_is_compared_and_judged_as_any_other(call: Call, scenario: Path) -> None:
    call("instrument", "scale.comp.spv", "--dispatch", "4", "--scenario", scenario, "--statistics", "-o", "a.json")
    done = call("diff", "a.json", "a.json")
    assert done.status == 0, done.err
    assert call("diff", "a.json", "a.json", "--exit-code", "--json").status == 0


# ── The manifest ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_manifest_says_all_of_it(call: Call, scenario: Path) -> None:
    Path("shaderstat.yaml").write_text(
        "defaults: {run: {repeat: 2}}\n"
        "pipelines:\n"
        "  scale:\n"
        "    modules: scale.comp.spv\n"
        "    run: {dispatch: [4, 2], buffers: {0.0: iota:1K}, read: {0.1: out.bin}}\n"
        "  water: {modules: [water.vert.spv, water.frag.spv], run: {draw: 3}}\n"
    )
    done = call("instrument", "--scenario", scenario, "--json")
    assert done.status == 0, done.err
    scale, water = json.loads(done.out)["results"]
    assert scale["instrumentation"]["commands"] == [{"kind": "dispatch", "size": [4, 2, 1]}]
    assert scale["instrumentation"]["submissions"] == water["instrumentation"]["submissions"] == 2
    assert water["instrumentation"]["commands"] == [{"kind": "draw", "size": [3, 1, 1]}]
    assert Path("out.bin").read_bytes() == bytes.fromhex("0000803f")
    over = call("instrument", "--scenario", scenario, "--json", "--dispatch", "9", "--pipeline", "scale", "--force")
    assert json.loads(over.out)["results"][0]["instrumentation"]["commands"][0]["size"] == [9, 1, 1]
    assert call("stats", "--scenario", scenario).status == 0
    assert call("reflect").status == 0


def test_a_manifest_may_want_no_metrics(call: Call, scenario: Path) -> None:
    Path("shaderstat.yaml").write_text(
        "pipelines:\n  scale: {modules: scale.comp.spv, run: {dispatch: 1, metrics: false}}\n"
    )
    done = call("instrument", "--scenario", scenario)
    assert "  dispatch 1,1,1  ran; nothing was counted\n" in done.out


def test_an_option_that_nothing_takes_is_said(call: Call, scenario: Path) -> None:
    Path("shaderstat.yaml").write_text("pipelines: {scale: {modules: scale.comp.spv, run: {dispatch: 1}}}")
    done = call("instrument", "--draw", "3", "--scenario", scenario)
    assert (done.status, done.out) == (2, ""), "nothing runs before it is said"
    assert "error: --draw: nothing here takes it, but --dispatch" in done.err


def test_a_manifests_command_that_its_pipeline_does_not_take_is_said(call: Call, scenario: Path) -> None:
    """Defaults are of all pipelines, and so is what is said of several at once."""
    Path("shaderstat.yaml").write_text(
        "defaults: {run: {trace: 1}}\n"
        "pipelines:\n"
        "  scale: {modules: scale.comp.spv, run: {dispatch: 1, draw: 3}}\n"
        "  water: {modules: [water.vert.spv, water.frag.spv], run: {draw: 3}}\n"
    )
    done = call("instrument", "--scenario", scenario)
    assert done.status == 0
    warnings = [line for line in done.err.splitlines() if "says nothing here" in line]
    assert warnings == ["warning: scale: the manifest's draw says nothing here: what runs it is dispatch"]


# ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_are_listed(call: Call, scenario: Path) -> None:
    done = call("instrument", "--metrics", "--scenario", scenario)
    assert done.status == 0
    assert done.out.splitlines() == [
        "mock · the SPIR-V itself · counted for each basic block",
        "",
        "  fma  Fused multiply-adds executed",
        "  ls   Loads and stores",
    ]
    (target,) = json.loads(call("instrument", "--metrics", "--scenario", scenario, "--json").out)["targets"]
    assert (target["target"], target["per_basic_block"]) == ("mock", True)
    assert [one["name"] for one in target["metrics"]] == ["fma", "ls"]


def test_metrics_take_no_file(call: Call, scenario: Path) -> None:
    assert "takes no FILE" in call("instrument", "--metrics", "scale.comp.spv", "--scenario", scenario).err
    assert "with --json" in call("instrument", "--metrics", "-f", "csv").err
    assert "exclude each other" in call("instrument", "--metrics", "--no-metrics").err


@pytest.mark.parametrize("arguments", [(), ("--no-metrics",)])
def test_the_mock_alone_counts_nothing(call: Call, scenario: Path, arguments: tuple[str, ...]) -> None:
    done = call("instrument", "scale.comp.spv", "--dispatch", "4", "-t", "mock", *arguments)
    assert (done.status, done.out) == (2, "")
    assert "error: mock: it executes nothing" in done.err


def test_what_stands_in_for_a_gpu_is_refused(call: Call, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "icd.json").write_text("{}")
    (tmp_path / "shaderstat.yaml").write_text("targets: {nodev: {gpu: 'radv:navi21', driver: icd.json}}")
    done = call("instrument", "scale.comp.spv", "--dispatch", "4", "--no-metrics", "-t", "nodev")
    assert done.status == 2
    assert "error: nodev: it only compiles: there is no GPU behind it" in done.err


@pytest.fixture
def reading(scenario: Path) -> Path:
    """A manifest, found in a folder above, which has a buffer read into out/x."""
    Path("shaderstat.yaml").write_text(
        "pipelines: {scale: {modules: scale.comp.spv, run: {dispatch: 4, read: {0.1: out/x}}}}"
    )
    Path("out").mkdir()
    return scenario


def test_a_manifest_replaces_no_file_unless_it_may(call: Call, reading: Path) -> None:
    """As ``--out`` does; what the command line names is replaced, as by ``-o``."""
    run = ("instrument", "--scenario", reading)
    Path("out/x").write_bytes(b"precious")
    done = call(*run)
    assert (done.status, done.out) == (2, "")
    assert "error: out/x: is there already, and a manifest's read: would replace it\n" in done.err
    assert Path("out/x").read_bytes() == b"precious"
    assert call(*run, "--read", "0.1=y").status == 0
    assert Path("out/x").read_bytes() == b"precious" and Path("y").read_bytes() == bytes.fromhex("0000803f")
    assert call(*run, "--force").status == 0
    assert Path("out/x").read_bytes() == bytes.fromhex("0000803f")
    Path("out/x").write_bytes(b"other")
    assert call(*run, "--read", "0.1=out/x").status == 0
    assert Path("out/x").read_bytes() == bytes.fromhex("0000803f")


def test_not_even_where_a_link_leads_nowhere(call: Call, reading: Path) -> None:
    Path("out/x").symlink_to("gone")
    assert "out/x: is there already" in call("instrument", "--scenario", reading).err
    Path("out/x").unlink()
    Path("out/x").symlink_to(Path("..", "..", "gone"))
    done = call("instrument", "--scenario", reading, "--force")
    assert done.status == 2 and "shaderstat.yaml:1: out/x: is not below the manifest's folder" in done.err


def test_a_manifest_replaces_no_input_even_if_it_may(call: Call, reading: Path) -> None:
    Path("shaderstat.yaml").write_text(
        "pipelines: {scale: {modules: scale.comp.spv, run: {dispatch: 4, read: {0.1: scale.comp.spv}}}}"
    )
    module = Path("scale.comp.spv").read_bytes()
    assert "is an input of this run" in call("instrument", "--scenario", reading, "--force").err
    assert Path("scale.comp.spv").read_bytes() == module
