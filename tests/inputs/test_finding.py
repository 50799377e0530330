"""Which files a path leads to."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import ShaderstatError
from shaderstat.inputs import finding
from shaderstat.inputs.files import read
from shaderstat.inputs.finding import find_files


def touch(folder: Path, *names: str) -> None:
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(name.encode())


def names(*paths: str | Path) -> list[str]:
    return [file.name for file in find_files([str(path) for path in paths])]


def test_a_folder_is_searched_in_order_without_what_is_hidden(tmp_path: Path) -> None:
    touch(tmp_path, "b.spv", "a/z.spv", "a/b/c.frag.spv", "B.SPV", "a.spv", "a.comp", ".git/x.spv", "a/.x.spv", "spv")
    assert names(tmp_path) == ["B.SPV", "a/b/c.frag.spv", "a/z.spv", "a.spv", "b.spv"]


def test_a_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "blur.bin", ".hidden")
    assert names(tmp_path / "blur.bin", tmp_path / ".hidden") == ["blur.bin", ".hidden"]


def test_a_file_that_is_met_twice_stands_once_where_it_was_met_first(tmp_path: Path) -> None:
    touch(tmp_path, "a.spv", "b.spv")
    assert names(tmp_path / "b.spv", tmp_path, f"{tmp_path}/./b.spv") == ["b.spv", "a.spv"]


def test_the_folder_one_is_in_leaves_no_trace_in_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "a/x.spv", "y.spv")
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in find_files(["."])] == ["a/x.spv", "y.spv"]
    assert [file.path for file in find_files(["a"])] == ["a/x.spv"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.spv", ["r.spv"]),
        ("*/*.frag.spv", ["a/x.frag.spv"]),
        ("**/*.frag.spv", ["a/b/y.frag.spv", "a/x.frag.spv"]),
        ("**", ["a/b/y.frag.spv", "a/x.frag.spv", "a/x.vert.spv", "r.spv"]),
        ("a/**/b/*.spv", ["b/y.frag.spv"]),
        ("a", ["b/y.frag.spv", "x.frag.spv", "x.vert.spv"]),
        ("[a]", ["a/b/y.frag.spv", "a/x.frag.spv", "a/x.vert.spv"]),
        ("?.txt", ["n.txt"]),
        (".h*/*.spv", [".h/h.spv"]),
    ],
)
def test_globs_are_expanded_as_the_shell_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, expected: list[str]
) -> None:
    touch(tmp_path, "a/x.vert.spv", "a/x.frag.spv", "a/b/y.frag.spv", "r.spv", "n.txt", ".h/h.spv")
    monkeypatch.chdir(tmp_path)
    assert names(pattern) == expected
    assert names(tmp_path / pattern) == expected


def test_names_are_the_same_whether_the_shell_expands_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "s/a/x.spv", "s/b/x.spv")
    monkeypatch.chdir(tmp_path)
    assert names("s/*/*.spv") == names("s/a/x.spv", "s/b/x.spv") == ["a/x.spv", "b/x.spv"]


def test_a_name_with_wildcards_that_is_there_is_no_glob(tmp_path: Path) -> None:
    touch(tmp_path, "a[1].spv", "a1.spv")
    assert names(tmp_path / "a[1].spv") == ["a[1].spv"]


def test_links_that_loop_end_and_a_file_is_named_by_its_own_place(tmp_path: Path) -> None:
    touch(tmp_path, "v2/x.spv", "elsewhere/y.spv")
    shaders = tmp_path / "shaders"
    touch(shaders, "v1/x.spv")
    (shaders / "again").symlink_to(shaders)
    (shaders / "latest").symlink_to(shaders / "v1")
    (shaders / "other").symlink_to(tmp_path / "elsewhere")
    (shaders / "self.spv").symlink_to(shaders / "self.spv")
    assert names(shaders) == ["other/y.spv", "self.spv", "v1/x.spv"]
    assert names(shaders / "**") == ["other/y.spv", "self.spv", "v1/x.spv"]


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("blur.spv", "blur.spv: no such file or folder", "blur.comp.spv"),
        ("watr.vert.spv", "watr.vert.spv: no such file or folder", "water.vert.spv"),
        ("deeep/x.spv", "deeep/x.spv: no such file or folder", "deep"),
        ("water.vert.spv/x", "water.vert.spv/x: no such file or folder", "water.vert.spv is a file"),
        ("*.frag.spv", "*.frag.spv: matches no file", "folder"),
        ("empty", "empty: a folder without any .spv file", "glslangValidator"),
        ("", "an empty path", "."),
        ("a\0b", "is not a path", ""),
    ],
)
def test_a_path_that_leads_nowhere_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str, hint: str
) -> None:
    touch(tmp_path, "blur.comp.spv", "water.vert.spv", "deep/x.spv", "empty/readme")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ShaderstatError) as caught:
        find_files(["blur.comp.spv", path])
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert caught.value.exit_code == 2


def test_what_is_no_file_keeps_its_place_with_the_reason(tmp_path: Path) -> None:
    touch(tmp_path, "a.spv")
    os.mkfifo(tmp_path / "pipe.spv")
    (tmp_path / "gone.spv").symlink_to(tmp_path / "nothing")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.spv"))
        found = {file.name: file.problem and file.problem.code for file in find_files([tmp_path, "/dev/null"])}
    assert found == {
        "a.spv": None,
        "gone.spv": "input/unreadable",
        "pipe.spv": "input/not-a-file",
        "socket.spv": "input/not-a-file",
        "null": "input/not-a-file",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "a.spv", "locked/x.spv")
    (tmp_path / "locked").chmod(0)
    try:
        found = {file.name: file.problem and file.problem.code for file in find_files([tmp_path])}
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert found == {"a.spv": None, "locked": "input/unreadable"}


def test_bytes_of_a_name_that_are_no_unicode_are_shown_and_the_file_is_read(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path) + b"/\xff.spv"
    with open(place, "wb") as stream:
        stream.write(b"x")
    (file,) = find_files([tmp_path])
    assert file.path == f"{tmp_path}/\\xff.spv"
    assert read(file)[1] == b"x"


def test_a_descriptor_of_a_pipe_is_read_once_and_kept(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"words")
    os.close(writing)
    try:
        (file,) = find_files([f"/dev/fd/{reading}"])
    finally:
        os.close(reading)
    source, data = read(file)
    assert data == b"words" == source.read()


def test_standard_input_is_what_was_given(tmp_path: Path) -> None:
    (file,) = find_files(["-", "-"], stdin=b"words")
    assert (file.name, read(file)[1]) == ("stdin", b"words")


@given(st.lists(st.text(st.sampled_from("\\\\xfe9a\udcff\udc80é"), min_size=1, max_size=8), min_size=2, unique=True))
def test_no_two_paths_become_one(paths: list[str]) -> None:
    shown = {finding._unicode(path) for path in paths}
    assert len(shown) == len(paths)
    assert all(path.encode() for path in shown)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("shaders/blur.spv", "shaders/blur.spv"),
        ("odd\\name.spv", "odd\\name.spv"),
        ("w\udcff.spv", "w\\xff.spv"),
        ("w\\xff.spv", "w\\\\xff.spv"),
    ],
)
def test_paths_that_are_no_utf8(path: str, shown: str) -> None:
    assert finding._unicode(path) == shown


@pytest.mark.parametrize("name", [b"\xff.spv", b"a\\xff.spv", b"a\\\\b.spv", b"\xc3\xa9\xff\\x80.spv"])
def test_what_a_report_calls_a_file_finds_it(tmp_path: Path, name: bytes) -> None:
    """Bytes that are no UTF-8 and what looks like them, as they are shown: the command that reproduces can be run."""
    (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    (tmp_path / "other.spv").write_bytes(b"y")
    shown = next(one.path for one in find_files([tmp_path]) if not one.path.endswith("other.spv"))
    (found,) = find_files([shown])
    assert os.fsencode(os.path.basename(found.location)) == name
    assert found.path == shown
