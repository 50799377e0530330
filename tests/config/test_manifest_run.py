"""``run:`` in ``shaderstat.yaml``: from YAML to what is said of a run, and what is wrong with it, by line."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from shaderstat.config import manifest_run, runs
from shaderstat.config.manifest import read_manifest
from shaderstat.errors import ShaderstatError
from shaderstat.instrumentation import Command, Fill, ImageFill
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "shaderstat" / "schemas" / "config-1.json").read_bytes())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.bin").write_bytes(b"abcd")
    return tmp_path


def read(text: str, *, runs: bool = True) -> dict[str, Any]:
    """What the defaults say of runs."""
    Path("shaderstat.yaml").write_text("defaults:\n" + textwrap.indent(textwrap.dedent(text), "  "))
    return dict(read_manifest("shaderstat.yaml", runs=runs).defaults.run)


def test_the_documented_example() -> None:
    match = re.search(r"::\n\n(.*)\n\nPaths", manifest_run.__doc__ or "", re.DOTALL)
    assert match is not None
    text = textwrap.dedent(match[1])
    assert read(text) == {
        "commands": (Command("dispatch", (4, 4, 1)),),
        "extent": (256, 256),
        "repeat": 3,
        "accumulate": True,
        "metrics": False,
        "buffers": {(0, 1): Fill("zeros", 64 << 10), (0, 2): Fill("data", 4, 0, b"abcd", "input.bin")},
        "images": {(0, 3): ImageFill((64, 64), Fill("random", None, 7))},
        "vertices": {0: Fill("iota")},
        "push": Fill("data", data=bytes.fromhex("0000803f")),
        "read": {(0, 1): "out.bin"},
    }
    plain = json.loads(json.dumps(yaml.safe_load(text)))
    jsonschema.Draft202012Validator(SCHEMA).validate({"defaults": plain})


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("dispatch: 4", [("dispatch", (4, 1, 1))]),
        ("dispatch: 4,2", [("dispatch", (4, 2, 1))]),
        ("dispatch: [4, 2]", [("dispatch", (4, 2, 1))]),
        ("dispatch: [[4, 2], 8, '1,1,3']", [("dispatch", (4, 2, 1)), ("dispatch", (8, 1, 1)), ("dispatch", (1, 1, 3))]),
        ("draw: [36, 100]\ntrace: [64, 64]", [("draw", (36, 100, 1)), ("trace_rays", (64, 64, 1))]),
        ('dispatch: [4, "2"]', [("dispatch", (4, 2, 1))]),
        ('dispatch: ["4", "2"]', [("dispatch", (4, 2, 1))]),
        ("dispatch: [4, '2,1']", [("dispatch", (4, 1, 1)), ("dispatch", (2, 1, 1))]),
        ("draw_mesh_tasks: 2", [("draw_mesh_tasks", (2, 1, 1))]),
    ],
)
def test_one_command_or_several(text: str, commands: list[tuple[str, tuple[int, int, int]]]) -> None:
    said = read("run:\n" + textwrap.indent(text, "  "))
    assert [(one.kind, one.size) for one in said["commands"]] == commands


def test_a_binding_of_two_digits_is_no_number() -> None:
    """YAML's 0.10 is 0.1."""
    assert read("run: {buffers: {0.10: zeros, 0.1: iota}}")["buffers"] == {(0, 10): Fill(), (0, 1): Fill("iota")}


def test_push_constants_of_digits_are_bytes() -> None:
    assert read("run: {push: 00000010}")["push"].data == bytes.fromhex("00000010")


def test_what_is_not_run_needs_no_files() -> None:
    said = read("run: {buffers: {0.0: nowhere.bin}, push: gone.bin}", runs=False)
    assert said["buffers"] == {(0, 0): Fill("data", path="nowhere.bin")}


def test_paths_are_relative_to_the_file(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "in.bin").write_bytes(b"x")
    (folder / "sub" / "shaderstat.yaml").write_text("defaults: {run: {buffers: {0.0: in.bin}, read: {0.0: out.bin}}}")
    said = read_manifest("sub/shaderstat.yaml", runs=True).defaults.run
    assert said["buffers"][0, 0].path == "sub/in.bin"
    assert said["read"] == {(0, 0): "sub/out.bin"}


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("dispatch", "dispatch: 4", {"dispatch": [4, 1, 1]}),
        ("dispatch", "dispatch: [[4, 4, 1], [8]]", {"dispatch": [[4, 4, 1], [8, 1, 1]]}),
        ("draw", "draw: 36", {"draw": [36, 1]}),
        ("draw", "{draw: 36, trace: 4}", {"draw": [36, 1]}),
        (
            "draw_mesh_tasks",
            "{draw_mesh_tasks: [2, 3], extent: 32x16}",
            {"draw_mesh_tasks": [2, 3, 1], "extent": [32, 16]},
        ),
        (
            "trace_rays",
            "{trace: 64, repeat: 3, accumulate: true}",
            {"trace": [64, 1, 1], "repeat": 3, "accumulate": True},
        ),
        ("draw", "dispatch: 4", {}),
        ("draw", "metrics: false", {"metrics": False}),
        ("draw", "{push: 00_00 803f, vertices: {0: iota}}", {"push": "0000803f", "vertices": {0: "iota"}}),
        ("draw", "{push: ./beef, vertices: {1: in.bin}}", {"push": "./beef", "vertices": {1: "in.bin"}}),
        (
            "draw",
            "{buffers: {0.10: zeros:64K, 0.1: random:7}, images: {0.3: 8x8, 1.0: 8x4:random}, read: {0.1: out.bin}}",
            {
                "buffers": {"0.10": "zeros:65536", "0.1": "random:7"},
                "images": {"0.3": "8x8:zeros", "1.0": "8x4:random:0"},
                "read": {"0.1": "out.bin"},
            },
        ),
    ],
)
def test_in_words_again(kind: str, text: str, words: dict[str, Any]) -> None:
    """What a pipeline of one kind takes of it, in the words of the file; read once more, that is the same."""
    said = read(f"run:\n  {text}", runs=False)
    assert manifest_run.words([said], kind) == words
    again = read(yaml.safe_dump({"run": words}), runs=False)
    assert runs.merged([again], kind) == runs.merged([said], kind)


def test_a_later_layer_lies_over_an_earlier_one() -> None:
    layers = [
        read("run: {dispatch: 4, repeat: 2, buffers: {0.0: iota}}"),
        read("run: {repeat: 3, buffers: {0.1: zeros}}"),
    ]
    words = {"dispatch": [4, 1, 1], "repeat": 3, "buffers": {"0.0": "iota", "0.1": "zeros"}}
    assert manifest_run.words(layers, "dispatch") == words


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ("run: {dispach: 4}", 2, "'dispach'", "dispatch"),
        ("run:\n  dispatch: [0, 1]", 3, "nothing would run", None),
        ("run:\n  draw: [1, 2, 3]", 3, "VERTICES[,INSTANCES]", None),
        ("run: {extent: 64}", 2, "64: the form is W,H", None),
        ("run: {repeat: 0}", 2, "0: must be 1", None),
        ("run: {accumulate: 1}", 2, "true or false", None),
        ("run: {buffers: {1: zeros}}", 2, "1: '1' is no SET.BINDING", "binding 1 of set 0"),
        ("run:\n  buffers:\n    0.0: zeros:4T", 4, "'4T' is no size", None),
        ("run:\n  buffers:\n    0.0: zeros\n    0.0: iota", 5, "0.0 stands here twice", None),
        ("run: {buffers: {0.0: gone.bin}}", 2, "gone.bin: can't be read", "zeros:SIZE"),
        ("run: {images: {0.0: 64}}", 2, "WxH", None),
        ("run: {push: 123}", 2, "two a byte", None),
        ("run: {push: b3}", 2, "b3: may be bytes, and is a file's name", "0xb3 are the bytes"),
        ("run: {push: zeros}", 2, "zeros: can't be read", "hexadecimal digits"),
        ("run: {read: {0.0: ''}}", 2, "an empty value", None),
        ("run: {read: {0.0: ../out.bin}}", 2, "../out.bin: is not below the manifest's folder", "--read"),
        ("run: {read: {0.0: a/../../out.bin}}", 2, "is not below the manifest's folder", "--read"),
        ("run: {read: {0.0: /tmp/out.bin}}", 2, "is not below the manifest's folder", "--read"),
        ("run: {read: {0.0: out/out.bin}}", 2, "is not below the manifest's folder", "--read"),
        ("run: {read: {0.0: .}}", 2, "is not below the manifest's folder", "--read"),
        ('run: {read: {0.0: "a\\0b"}}', 2, "a file's name that can be printed is wanted", None),
        ('run: {read: {0.0: "a\\e[31m"}}', 2, "a file's name that can be printed is wanted", None),
        ('run: {buffers: {0.0: "a\\0b"}}', 2, "is not a path", None),
        ("run: 4", 2, "a mapping is wanted here", None),
    ],
)
def test_what_is_wrong_with_it(text: str, line: int, says: str, hint: str | None) -> None:
    Path("out").symlink_to("..")
    Path("b3").write_bytes(b"1234")
    with pytest.raises(ShaderstatError) as caught:
        read(text)
    assert caught.value.message.startswith(f"shaderstat.yaml:{line}: ")
    assert says in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")
