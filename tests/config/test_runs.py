"""Runs in words: what stands on a command line, laid over a manifest, and said again as options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.config import runs
from shaderstat.config.wishes import Wrong
from shaderstat.errors import ShaderstatError
from shaderstat.instrumentation import Command, Execution, Fill, ImageFill

DISPATCH, DRAW = Command("dispatch", (4, 4, 1)), Command("draw", (3, 1, 1))


@pytest.mark.parametrize(
    ("kind", "text", "size"),
    [
        ("dispatch", "4,2,1", (4, 2, 1)),
        ("dispatch", "4", (4, 1, 1)),
        ("dispatch", " 4 , 2 ", (4, 2, 1)),
        ("draw", "36", (36, 1, 1)),
        ("draw", "36,100", (36, 100, 1)),
        ("draw_mesh_tasks", "1,2,3", (1, 2, 3)),
        ("trace_rays", "640,480", (640, 480, 1)),
        ("dispatch", str(2**32 - 1), (2**32 - 1, 1, 1)),
    ],
)
def test_what_a_command_leaves_out_is_one(kind: str, text: str, size: tuple[int, int, int]) -> None:
    assert runs.command(kind, text) == Command(kind, size)


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("dispatch", "0,1,1", "nothing would run"),
        ("dispatch", "4,4,4,4", "the form is X,Y,Z"),
        ("dispatch", "", "the form is"),
        ("dispatch", "4,,4", "the form is"),
        ("dispatch", "-1", "the form is"),
        ("dispatch", "٤", "the form is"),
        ("dispatch", str(2**32), "beyond 32 bits"),
        ("draw", "3,1,1", r"the form is VERTICES\[,INSTANCES\]"),
    ],
)
def test_commands_that_are_none(kind: str, text: str, says: str) -> None:
    with pytest.raises(Wrong, match=says):
        runs.command(kind, text)


def test_sizes_are_in_powers_of_1024() -> None:
    sizes = ("4096", "4K", "4k", "2M", "1G", "16KiB")
    assert [*map(runs.size, sizes)] == [4096, 4096, 4096, 2 << 20, 1 << 30, 16 << 10]
    for text in ("0", "", "4T", "-4", "5G", "1.5K", "٤"):
        with pytest.raises(Wrong):
            runs.size(text)


def test_fills() -> None:
    assert runs.fill("zeros") == Fill()
    assert runs.fill("zeros:4K") == Fill("zeros", 4096)
    assert runs.fill("iota:16") == Fill("iota", 16)
    assert runs.fill("random") == Fill("random")
    assert runs.fill("random:7") == Fill("random", None, 7)
    assert runs.fill("random:7:64") == Fill("random", 64, 7)
    for text in ("zeros:", "zeros:1:2", "random:x:4", "random:1:2:3", f"random:{2**32}", "iota:"):
        with pytest.raises(Wrong):
            runs.fill(text)


def test_a_fill_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "in.bin"
    path.write_bytes(b"1234")
    assert runs.fill(str(path)) == Fill("data", 4, 0, b"1234", str(path))
    assert runs.image(f"2x1:{path}") == ImageFill((2, 1), Fill("data", 4, 0, b"1234", str(path)))
    assert runs.push(str(path)).data == b"1234"


@pytest.mark.parametrize("name", ["missing", "empty", ".", "a\0b"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(Wrong, match=r"can't be read|empty|not a path"):
        runs.fill(f"{tmp_path}/{name}")


def test_a_file_that_is_written_has_a_path() -> None:
    with pytest.raises(ShaderstatError, match="not a path"):
        runs.said({"read": {(0, 0): "a\0b"}})


def test_images_have_a_size_and_a_fill_without_one() -> None:
    assert runs.image("64x32") == ImageFill((64, 32))
    assert runs.image("64x32:random:7") == ImageFill((64, 32), Fill("random", None, 7))
    for text in ("64", "64x", "0x4", "64x32:zeros:4K", "65537x1", "64x32:random:7:4"):
        with pytest.raises(Wrong):
            runs.image(text)


def test_push_constants_are_hexadecimal() -> None:
    assert runs.push("0000803f") == runs.push("0x0000_803F") == Fill("data", data=bytes.fromhex("0000803f"))
    with pytest.raises(Wrong, match="two a byte"):
        runs.push("123")
    with pytest.raises(Wrong, match="can't be read") as caught:
        runs.push("zeros:12")
    assert caught.value.hint == "push constants are hexadecimal digits, two a byte: 0000803f, for instance"


def test_a_file_whose_name_is_hexadecimal_is_not_taken_for_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b3").write_bytes(b"1234")
    with pytest.raises(Wrong, match="may be bytes, and is a file's name") as caught:
        runs.push("b3")
    assert caught.value.hint == "0xb3 are the bytes, ./b3 is the file"
    assert runs.push("0xb3").data == b"\xb3" and runs.push("./b3").data == b"1234"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (runs.fill, "zeros:SIZE, random:SEED:SIZE and iota:SIZE need no file"),
        (lambda text: runs.image(f"8x8:{text}"), "zeros, random:SEED and iota need no file"),
    ],
)
def test_what_needs_no_file_is_said_in_its_own_words(tmp_path: Path, read: Any, words: str) -> None:
    with pytest.raises(Wrong) as caught:
        read(str(tmp_path / "gone"))
    assert caught.value.hint == words


def test_slots() -> None:
    assert runs.slot("0.10") == (0, 10)
    for text in ("0", "0.1.2", "a.b", f"0.{2**32}", "-1.0"):
        with pytest.raises(Wrong):
            runs.slot(text)


# ── Layers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_later_layers_hold_and_tables_are_laid_over_each_other() -> None:
    below = {"commands": (DRAW, DISPATCH), "repeat": 3, "buffers": {(0, 0): Fill("iota"), (0, 1): Fill()}}
    over = {"commands": (Command("dispatch", (8, 1, 1)),), "buffers": {(0, 1): Fill("random")}, "read": {(0, 1): "x"}}
    found, read = runs.lay([below, over], "dispatch")
    assert found == Execution(
        (Command("dispatch", (8, 1, 1)),),
        repeat=3,
        buffers={(0, 0): Fill("iota"), (0, 1): Fill("random")},
        read=((0, 1),),
    )
    assert read == {(0, 1): "x"}


def test_commands_of_another_kind_take_nothing_away() -> None:
    found, _ = runs.lay([{"commands": (DRAW,)}, {"commands": (DISPATCH,)}], "draw")
    assert found is not None and found.commands == (DRAW,)
    assert runs.lay([{"commands": (DISPATCH,)}], "draw")[0] is None


def test_mesh_pipelines_want_another_draw() -> None:
    assert runs.wanted("compute", ["compute"]) == "dispatch"
    assert runs.wanted("graphics", ["vertex", "fragment"]) == "draw"
    assert runs.wanted("graphics", ["task", "mesh"]) == runs.wanted("graphics", ["task"]) == "draw_mesh_tasks"
    assert runs.wanted("ray_tracing", ["raygen"]) == "trace_rays"


@pytest.mark.parametrize(
    "members",
    [
        {"comands": ()},
        {"commands": (Command("dispatch", (0, 1, 1)),)},
        {"commands": (Command("jump", (1, 1, 1)),)},
        {"extent": (0, 64)},
        {"repeat": 0},
    ],
)
def test_what_a_library_user_says_is_checked(members: dict[str, Any]) -> None:
    with pytest.raises(ShaderstatError):
        runs.said(members)


def test_a_whole_run_says_all_of_its_members() -> None:
    found, read = runs.lay([{"repeat": 5}, runs.said(Execution((DISPATCH,), read=((0, 1),)))], "dispatch")
    assert found == Execution((DISPATCH,), read=((0, 1),))
    assert read == {(0, 1): None}


FILLS = st.one_of(
    st.builds(Fill, st.sampled_from(["zeros", "iota"]), st.none() | st.integers(1, runs.MAX_SIZE)),
    st.builds(Fill, st.just("random"), st.none() | st.integers(1, runs.MAX_SIZE), st.integers(0, 2**32 - 1)),
)
SLOTS = st.tuples(st.integers(0, 9), st.integers(0, 99))
NUMBERS = st.integers(1, 2**32 - 1)


@given(
    commands=st.lists(st.builds(Command, st.just("dispatch"), st.tuples(NUMBERS, NUMBERS, NUMBERS)), min_size=1),
    repeat=st.integers(1, runs.MAX_REPEAT),
    buffers=st.dictionaries(SLOTS, FILLS),
    vertices=st.dictionaries(st.integers(0, 31), FILLS),
    push=st.binary(min_size=1),
    read=st.dictionaries(SLOTS, st.none() | st.sampled_from(["out.bin", "a=b", "in\udcff.bin"])),
)
def test_options_say_what_was_typed(
    commands: Any, repeat: int, buffers: Any, vertices: Any, push: bytes, read: Any
) -> None:
    typed = {
        "commands": commands,
        "repeat": repeat,
        "buffers": buffers,
        "vertices": vertices,
        "push": Fill("data", data=push),
        "read": read,
    }
    words = [*runs.options(typed)]
    pairs = [*zip(words[::2], words[1::2], strict=True)]
    assert [runs.command("dispatch", value) for name, value in pairs if name == "--dispatch"] == commands
    given = [runs.assignment(value) for name, value in pairs if name == "--buffer"]
    assert {runs.slot(place): runs.fill(value) for place, value in given} == buffers
    given = [runs.assignment(value) for name, value in pairs if name == "--vertices"]
    assert {runs.vertex_binding(place): runs.fill(value) for place, value in given} == vertices
    assert [runs.push(value).data for name, value in pairs if name == "--push"] == [push]
    given = [runs.assignment(value) for name, value in pairs if name == "--read"]
    assert {runs.slot(place): value for place, value in given} == {slot: path for slot, path in read.items() if path}
    assert ("--repeat", str(repeat)) in pairs
