"""Archives among the inputs: told by their beginning or their name, and grouped with what they belong to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from shaderstat import inputs
from shaderstat.archive.writer import Writer
from shaderstat.errors import ShaderstatError
from shaderstat.inputs.archives import names_hash, split_module
from shaderstat.model import Diagnostic
from tests.archive import corpus
from tests.archive.test_containers import unpacked, zipped


def foz(*kinds: str) -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream)
    for kind in kinds:
        writer.add(corpus.compute() if kind == "compute" else corpus.graphics())
    return stream.getvalue()


def test_an_archive_beside_modules(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "b.foz").write_bytes(foz("compute", "graphics"))
    (tmp_path / "a.comp.spv").write_bytes((samples / "scale.comp.spv").read_bytes())
    (tmp_path / "c.comp.spv").write_bytes((samples / "scale.comp.spv").read_bytes())
    found = inputs.find([str(tmp_path)])
    assert [one.kind for one in found] == ["compute", "graphics", "compute", "compute"]
    assert [one.name for one in found][0::3] == ["a", "c"]
    assert all(len(one.name) == 16 and one.archived and one.modules == () for one in found[1:3])


def test_the_same_hash_in_two_archives_has_two_names(tmp_path: Path) -> None:
    for name in ("one.foz", "two.foz"):
        (tmp_path / name).write_bytes(foz("compute"))
    first, second = inputs.find([str(tmp_path)])
    assert first.name.startswith("one:") and second.name.startswith("two:")
    assert first.archived is not None
    hash = first.archived.captured.hash
    assert first.matches(f"0x{hash:x}") and second.matches(f"0x{hash:016X}") and not first.matches("0x1")


def test_one_pipeline_of_an_archive_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "capture.foz"
    path.write_bytes(foz("compute", "graphics"))
    first, second = inputs.find([str(path)])
    assert [one.name for one in inputs.find([f"{path}:{second.name}"])] == [second.name]
    both = inputs.find([f"{path}:{second.name}", f"{path}:{first.name}", f"{path}:{first.name}"])
    assert [one.name for one in both] == [first.name, second.name]
    assert len(inputs.find([f"{path}:{first.name}", str(path)])) == 2
    (missing,) = inputs.find([f"{path}:{'0' * 16}"])
    assert missing.verdict == "invalid" and missing.diagnostics[0].code == "archive/missing"


def test_standard_input_may_be_an_archive() -> None:
    (found,) = inputs.find(["-"], stdin=foz("compute"))
    assert found.archived is not None and found.known_modules()[0].path.startswith("stdin:")


def test_a_name_without_ending_is_told_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(foz("compute"))
    (found,) = inputs.find([str(tmp_path / "capture")])
    assert found.archived is not None


def test_a_zip_is_told_by_its_beginning_too(tmp_path: Path) -> None:
    (tmp_path / "an.foz").write_bytes(foz("compute"))
    zipped(tmp_path / "an.zip", foz("compute"))
    data = (tmp_path / "an.zip").rename(tmp_path / "capture").read_bytes()
    (named,) = inputs.find([str(tmp_path / "capture")])
    (piped,) = inputs.find(["-"], stdin=data)
    assert named.archived is not None and piped.archived is not None


def test_entry_points_choose_pipelines_that_have_them(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "capture.foz"
    path.write_bytes(foz("compute", "graphics"))
    (tmp_path / "a.comp.spv").write_bytes((samples / "scale.comp.spv").read_bytes())
    everything = {one.kind: one for one in inputs.find([str(path)])}
    archived = everything["graphics"].archived
    assert archived is not None
    vertex, *_ = archived.captured.stages()
    assert vertex.stage == "vertex"
    for choice in (vertex.entry_point, f"vert:{vertex.entry_point[:-1]}?"):
        assert [one.kind for one in inputs.find([str(path)], entries=[choice])] == ["graphics"]
    mixed = inputs.find([str(tmp_path)], entries=["compute:*"])
    assert [one.kind for one in mixed] == ["compute", "compute"]
    with pytest.raises(ShaderstatError) as caught:
        inputs.find([str(path)], entries=["compute:nobody"])
    assert "no entry point matches compute:nobody" in caught.value.message
    assert f"{vertex.entry_point} (vertex)" in str(caught.value.hint)


def test_an_unpacked_folder_is_one(tmp_path: Path) -> None:
    unpacked(tmp_path)
    (found,) = inputs.find([str(tmp_path)])
    assert found.kind == "compute" and found.archived is not None


@pytest.mark.parametrize(
    ("data", "code", "verdict"),
    [
        (b"", "archive/empty", "invalid"),
        (b"no archive", "archive/not-an-archive", "invalid"),
        (foz(), "archive/no-pipelines", "skipped"),
    ],
)
def test_a_foz_without_pipelines_is_one_line(tmp_path: Path, data: bytes, code: str, verdict: str) -> None:
    (tmp_path / "a.foz").write_bytes(data)
    (found,) = inputs.find([str(tmp_path / "a.foz")])
    (remark,) = found.diagnostics
    assert (found.kind, found.verdict, remark.code, remark.path) == (None, verdict, code, str(tmp_path / "a.foz"))


def test_what_is_wrong_with_an_archive_is_noted_once(tmp_path: Path) -> None:
    (tmp_path / "a.foz").write_bytes(foz("compute", "graphics")[:-5])
    notes: list[Diagnostic] = []
    found = inputs.find([str(tmp_path / "a.foz")], notes=notes)
    assert [one.kind for one in found] == ["compute"]
    (note,) = notes
    assert (note.severity, note.code, note.path) == ("warning", "archive/truncated", str(tmp_path / "a.foz"))


def test_a_module_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.foz"
    path.write_bytes(foz("compute"))
    (found,) = inputs.find([str(path)])
    (module,) = found.known_modules()
    assert split_module(module.path) == (str(path), int(module.path[-16:], 16))
    assert split_module(f"{path}:12") is None and split_module(f"{path}x:{1:016x}") is None
    (nothing,) = inputs.find([f"{path}:{1:016x}"])
    assert nothing.verdict == "invalid" and nothing.diagnostics[0].code == "archive/missing"


def test_hashes_as_people_type_them() -> None:
    assert names_hash("0xab", 0xAB) and names_hash("0X00AB", 0xAB)
    assert not names_hash("ab", 0xAB) and not names_hash("0xabc", 0xAB) and not names_hash("0x", 0)
