"""Files that were found: read for the first time, and once more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shaderstat.errors import InvalidSpirv
from shaderstat.inputs import files
from shaderstat.inputs.files import read
from shaderstat.inputs.finding import find_files


def test_a_source_is_read_again_and_must_be_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.spv").write_bytes(b"a.spv")
    source, data = read(find_files([tmp_path])[0])
    assert source.read() == data == b"a.spv"
    (tmp_path / "a.spv").write_bytes(b"b")
    with pytest.raises(InvalidSpirv) as caught:
        source.read()
    assert caught.value.code == "input/changed"
    (tmp_path / "a.spv").unlink()
    os.mkfifo(tmp_path / "a.spv")
    with pytest.raises(InvalidSpirv) as caught:
        source.read()
    assert caught.value.code == "input/not-a-file"


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 16)
    (tmp_path / "fits.spv").write_bytes(bytes(16))
    (tmp_path / "large.spv").write_bytes(bytes(17))
    fits, large = find_files([tmp_path])
    assert read(fits)[0].size == 16
    for file in (large, *find_files(["-"], stdin=bytes(17))):
        with pytest.raises(InvalidSpirv) as caught:
            read(file)
        assert caught.value.code == "input/too-large"
