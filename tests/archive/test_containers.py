"""Archives as files: whatever their bytes say, there is an index or one clear error, and payloads that check out."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import zipfile
import zlib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.archive.capture import Captured
from shaderstat.archive.containers import open_container
from shaderstat.archive.format import KINDS, TOPS, Tag, base_name
from shaderstat.archive.records import Records
from shaderstat.archive.stream import Stream
from shaderstat.archive.unpacked import Folder, ZipFile
from shaderstat.archive.writer import Writer
from shaderstat.errors import InvalidSpirv, Unsupported
from tests.archive import corpus

MAGIC = b"\x81FOSSILIZEDB\0\0\0\x06"


def entry(
    tag: int = 7,
    hash: int = 1,
    payload: bytes = b"{}",
    *,
    flags: int = 2,
    crc: int | None = None,
    size: int | None = None,
) -> bytes:
    """An entry, honest unless told otherwise."""
    stored = zlib.compress(payload) if flags == 2 else payload
    crc = zlib.crc32(stored) if crc is None else crc
    size = len(payload) if size is None else size
    return f"{tag:024x}{hash:016x}".encode() + struct.pack("<IIII", len(stored), flags, crc, size) + stored


def stream(data: bytes) -> Stream:
    return Stream(partial(io.BytesIO, data), "an.foz")


def refused(data: bytes) -> InvalidSpirv:
    with pytest.raises(InvalidSpirv) as caught:
        stream(data)
    return caught.value


@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"", "archive/empty", 0),
        (b"not an archive at all", "archive/not-an-archive", 0),
        (MAGIC[:15], "archive/truncated", 15),
        (MAGIC[:15] + b"\x07", "archive/version", 12),
        (MAGIC[:12] + b"\1\0\0\6", "archive/version", 12),
    ],
)
def test_what_is_no_archive_is_refused(data: bytes, code: str, offset: int) -> None:
    error = refused(data)
    assert (error.code, error.offset, error.path) == (code, offset, "an.foz")


def test_versions_5_and_6_are_read() -> None:
    for version in (5, 6):
        assert stream(MAGIC[:15] + bytes([version]) + entry()).payload(Tag.COMPUTE, 1) == b"{}"


def test_every_way_of_storing_is_read() -> None:
    found = stream(MAGIC + entry(hash=1) + entry(hash=2, flags=1) + entry(hash=3, flags=1, crc=0))
    assert [found.payload(Tag.COMPUTE, hash) for hash in (1, 2, 3)] == [b"{}"] * 3


def test_only_the_last_16_digits_of_a_tag_count() -> None:
    data = bytearray(MAGIC + entry())
    data[16:24] = b"deadbeef"
    assert stream(bytes(data)).has(Tag.COMPUTE, 1)


def test_unknown_tags_are_passed_over_and_the_first_of_two_wins() -> None:
    found = stream(MAGIC + entry(tag=11) + entry(payload=b'{"a":1}') + entry(payload=b'{"a":2}'))
    assert found.payload(Tag.COMPUTE, 1) == b'{"a":1}'
    assert not found.remarks


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (entry(crc=1), "archive/crc"),
        (entry(size=3), "archive/size"),
        (entry(size=1), "archive/size"),
        (entry(size=2**32 - 1), "archive/too-large"),
        (entry(size=100 * 2**20), "archive/size"),  # ten bytes never become a hundred million
        (entry(flags=1, size=3), "archive/size"),
        (entry(flags=3), "archive/flags"),
    ],
)
def test_an_entry_that_lies_costs_itself_alone(one: bytes, code: str) -> None:
    found = stream(MAGIC + one + entry(hash=2))
    with pytest.raises(InvalidSpirv) as caught:
        found.payload(Tag.COMPUTE, 1)
    assert (caught.value.code, caught.value.offset) == (code, 16)
    assert found.payload(Tag.COMPUTE, 2) == b"{}"


def test_a_bomb_is_not_unpacked() -> None:
    packed = zlib.compress(bytes(50_000_000))
    header = f"{7:024x}{1:016x}".encode() + struct.pack("<IIII", len(packed), 2, zlib.crc32(packed), 1000)
    with pytest.raises(InvalidSpirv, match="1000"):
        stream(MAGIC + header + packed).payload(Tag.COMPUTE, 1)


def test_a_stream_out_of_step_is_told_with_its_place() -> None:
    good = MAGIC + entry()
    found = stream(good + b"x" * 80 + entry(hash=2))
    (remark,) = found.remarks
    assert (remark.code, remark.offset) == ("archive/bad-entry", len(good))
    assert [*found.hashes(Tag.COMPUTE)] == [1]


# ── Cut and bent archives ─────────────────────────────────────────────────────────────────────────────────────────


def small() -> bytes:
    out = io.BytesIO()
    Writer(out).add(corpus.compute(), corpus.SETUP)
    return out.getvalue()


SMALL = small()


def boundaries() -> list[int]:
    """Where entries begin, and the end."""
    at, found = 16, []
    while at < len(SMALL):
        found.append(at)
        (size,) = struct.unpack_from("<I", SMALL, at + 40)
        at += 56 + size
    assert at == len(SMALL)
    return [*found, at]


def test_every_place_to_cut_an_archive() -> None:
    starts = boundaries()
    for cut in range(len(SMALL)):
        data = SMALL[:cut]
        if cut < 16:
            assert refused(data).code in ("archive/empty", "archive/not-an-archive", "archive/truncated")
            continue
        found = stream(data)
        whole = sum(start <= cut for start in starts) - 1
        assert sum(len([*found.hashes(tag)]) for tag in Tag) == whole
        if cut in starts:
            assert found.remarks == ()
        else:
            (remark,) = found.remarks
            assert (remark.code, remark.offset) == ("archive/truncated", starts[whole])


def read_all(data: bytes) -> None:
    """Read everything that there is; nothing but our own errors may come of it."""
    try:
        found = stream(data)
    except InvalidSpirv as error:
        assert error.code.startswith("archive/")
        return
    records = Records([found])
    for tag in KINDS:
        for hash in records.hashes(tag):
            try:
                records.fingerprint(tag, hash)
                captured = Captured(records, tag, hash)
                captured.stages()
                captured.spec()
            except (InvalidSpirv, Unsupported) as error:
                assert error.code.startswith("archive/") and error.path
    for tag in Tag:
        for hash in found.hashes(tag):
            try:
                found.payload(tag, hash)
            except InvalidSpirv as error:
                assert error.code.startswith("archive/") and error.offset is not None


@given(st.integers(0, len(SMALL) * 8 - 1))
def test_a_flipped_bit(place: int) -> None:
    data = bytearray(SMALL)
    data[place // 8] ^= 1 << place % 8
    read_all(bytes(data))


@given(st.integers(0, len(SMALL) - 4), st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]))
def test_a_number_that_lies(place: int, number: int) -> None:
    read_all(SMALL[:place] + struct.pack("<I", number) + SMALL[place + 4 :])


@given(st.binary(max_size=300))
def test_noise_behind_the_head(noise: bytes) -> None:
    read_all(MAGIC + noise)


MEMBERS = (
    "flags stage stages module name layout pNext sType setLayouts renderPass groups pushConstantRanges dynamicState"
    " libraries specializationInfo data mapEntries offset size"
).split()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(f"{1:016x}"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=200)
@given(st.sampled_from([Tag.COMPUTE, Tag.GRAPHICS, Tag.RAY_TRACING]), json_values)
def test_any_record(tag: Tag, record: object) -> None:
    text = json.dumps({"version": 6, TOPS[tag][0]: {f"{1:016x}": record}}).encode()
    read_all(MAGIC + entry(tag, 1, text))


@pytest.mark.parametrize("nesting", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "9" * 100_000])
def test_nesting_and_numbers_without_end(nesting: str) -> None:
    found = stream(MAGIC + entry(7, 1, f'{{"computePipelines":{{"{1:016x}":{nesting}}}}}'.encode()))
    with pytest.raises(InvalidSpirv) as caught:
        Captured(Records([found]), Tag.COMPUTE, 1).spec()
    assert caught.value.code in ("archive/json", "archive/value")


def test_a_library_that_is_made_of_itself() -> None:
    own = f"{1:016x}"
    text = f'{{"raytracingPipelines":{{"{own}":{{"libraryInfo":{{"libraries":["{own}"]}}}}}}}}'.encode()
    with pytest.raises(InvalidSpirv) as caught:
        Captured(Records([stream(MAGIC + entry(9, 1, text))]), Tag.RAY_TRACING, 1).spec()
    assert caught.value.code == "archive/loop"


def test_what_is_not_there_is_named() -> None:
    text = f'{{"computePipelines":{{"{1:016x}":{{"stage":{{"name":"main","module":"{2:016x}"}}}}}}}}'.encode()
    with pytest.raises(InvalidSpirv) as caught:
        Captured(Records([stream(MAGIC + entry(7, 1, text))]), Tag.COMPUTE, 1).spec()
    assert (caught.value.code, caught.value.path) == ("archive/missing", "an.foz")
    assert "shader module 0000000000000002" in caught.value.message


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"pNext": [{"sType": 1999999999}]}, "archive/unknown-structure"),
        ({"somethingNew": 1}, "archive/unknown-member"),
    ],
)
def test_what_is_not_known_costs_its_pipeline_and_is_said(more: dict[str, object], code: str) -> None:
    record = {**more, "stage": {"name": "main", "module": f"{2:016x}"}}
    text = json.dumps({"computePipelines": {f"{1:016x}": record}}).encode()
    with pytest.raises(Unsupported) as caught:
        Captured(Records([stream(MAGIC + entry(7, 1, text))]), Tag.COMPUTE, 1).spec()
    assert caught.value.code == code
    assert "1999999999" in caught.value.message or "somethingNew" in caught.value.message


# ── Other containers ──────────────────────────────────────────────────────────────────────────────────────────────


def unpacked(folder: Path, data: bytes = SMALL) -> Path:
    found = stream(data)
    for tag in Tag:
        for hash in found.hashes(tag):
            (folder / f"{tag:02x}.{hash:016x}.json").write_bytes(found.payload(tag, hash))
    return folder


def zipped(path: Path, data: bytes = SMALL) -> Path:
    found = stream(data)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for tag in Tag:
            for hash in found.hashes(tag):
                archive.writestr(f"{tag:024x}{hash:016x}", found.payload(tag, hash))
    return path


def test_a_folder_and_a_zip_hold_the_same(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "an.foz").write_bytes(SMALL)
    places = [tmp_path / "an.foz", unpacked(tmp_path / "folder"), zipped(tmp_path / "an.zip")]
    kinds = [type(open_container(str(place), "x")) for place in places]
    assert kinds == [Stream, Folder, ZipFile]
    specs = []
    for place in places:
        records = Records([open_container(str(place), "x")])
        (hash,) = records.hashes(Tag.COMPUTE)
        specs.append(Captured(records, Tag.COMPUTE, hash).spec())
    assert specs[0] == specs[1] == specs[2]


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x03\x04" + bytes(100)])
def test_a_broken_zip(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "an.zip").write_bytes(data)
    with pytest.raises(InvalidSpirv) as caught:
        open_container(str(tmp_path / "an.zip"), "an.zip")
    assert caught.value.code == "archive/zip"


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "an.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InvalidSpirv, match="without any entry"):
        open_container(str(tmp_path / "an.zip"), "an.zip")


def test_a_file_that_shrinks_while_it_is_in_use(tmp_path: Path) -> None:
    path = tmp_path / "an.foz"
    path.write_bytes(SMALL)
    found = open_container(str(path), "an.foz")
    os.truncate(path, 20)
    (hash,) = found.hashes(Tag.COMPUTE)
    with pytest.raises(InvalidSpirv) as caught:
        found.payload(Tag.COMPUTE, hash)
    assert caught.value.code == "input/changed"


def test_the_files_of_one_recording_share_a_name() -> None:
    assert base_name("a/base.foz") == base_name("a/base.1.foz") == base_name("a/base.22.foz") == "a/base"
    assert base_name("a/base.x.foz") == "a/base.x"


def test_hashes_are_in_the_order_of_their_numbers() -> None:
    numbers = random.Random(1)
    hashes = [numbers.getrandbits(64) for _ in range(1000)]
    found = stream(MAGIC + b"".join(entry(7, hash) for hash in hashes))
    assert Records([found]).hashes(Tag.COMPUTE) == sorted(set(hashes))


# ── Sizes that files claim and haven't got ────────────────────────────────────────────────────────────────────────


def test_no_more_of_an_entry_is_read_than_one_may_have(tmp_path: Path) -> None:
    """A sparse file of three gigabytes takes four kilobytes of a disk."""
    path, size = tmp_path / "sparse.foz", 3 * 10**9
    head = f"{7:024x}{1:016x}".encode() + struct.pack("<IIII", size, 2, 0, 500)
    path.write_bytes(MAGIC + head)
    os.truncate(path, len(MAGIC) + len(head) + size)
    with pytest.raises(InvalidSpirv) as caught:
        open_container(str(path), "sparse.foz").payload(Tag.COMPUTE, 1)
    assert (caught.value.code, caught.value.offset) == ("archive/too-large", 16)


def test_a_zip_that_claims_more_than_an_entry_may_have_is_told(tmp_path: Path) -> None:
    path = tmp_path / "an.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{7:024x}{1:016x}", b"{}" * 50)
    found = open_container(str(path), "an.zip")
    assert isinstance(found, ZipFile)
    found._index[Tag.COMPUTE][1].compress_size = 2**62  # as a directory with ZIP64 fields may say
    with pytest.raises(InvalidSpirv) as caught:
        found.payload(Tag.COMPUTE, 1)
    assert caught.value.code == "archive/too-large"
