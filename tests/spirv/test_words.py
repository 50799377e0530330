"""What a file must be before its instructions are looked at."""

from __future__ import annotations

import struct

import pytest

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.words import load, string, text_hint

HEADER = (0x07230203, 0x00010300, 0x0008000B, 10, 0)


def header(**changes: int) -> bytes:
    names = ("magic", "version", "generator", "bound", "schema")
    return struct.pack("<5I", *(changes.get(name, value) for name, value in zip(names, HEADER, strict=True)))


def test_a_header() -> None:
    words = load(header())
    assert (words.version, words.generator, words.bound, words.swapped) == ((1, 3), 0x0008000B, 10, False)
    assert list(words.instructions()) == [] and words.tobytes() == header()


def test_the_other_byte_order_is_put_right() -> None:
    data = header() + struct.pack("<2I", 2 << 16 | 17, 1)
    words = load(struct.pack(">7I", *struct.unpack("<7I", data)))
    assert words.swapped and words.tobytes() == data
    assert list(words.instructions()) == [(17, 5, 2)]


@pytest.mark.parametrize(
    ("data", "code", "offset", "said"),
    [
        (b"", "spirv/empty", 0, "empty file"),
        (b"\x03\x02", "spirv/too-short", 2, "2 bytes"),
        (header()[:4], "spirv/too-short", 4, "4 bytes"),
        (header()[:16], "spirv/too-short", 16, "16 bytes"),
        (header() + b"\n", "spirv/size", 20, "21 bytes"),
        (header(magic=0), "spirv/bad-magic", 0, "00 00 00 00"),
        (header(magic=0x02030723), "spirv/bad-magic", 0, "23 07 03 02"),
        (b"\xef\xbb\xbf" + header(), "spirv/bad-magic", 0, "byte order mark"),
        (b"\x81FOSSILIZEDB\0\0\0\x06", "spirv/bad-magic", 0, "Fossilize"),
        (b"\x7fELF" + bytes(60), "spirv/bad-magic", 0, "ELF"),
        (b"DXBC" + bytes(60), "spirv/bad-magic", 0, "DirectX"),
        (b"#version 450\nvoid main() {}\n", "spirv/text", 0, "text"),
        (header(version=0), "spirv/version", 4, "0.0"),
        (header(version=0x00020000), "spirv/version", 4, "2.0"),
        (header(version=0xFFFFFFFF), "spirv/version", 4, "0xffffffff"),
        (header(bound=0), "spirv/bound", 12, "0"),
        (header(bound=4194304), "spirv/bound", 12, "4194304"),
        (header(schema=1), "spirv/schema", 16, "1"),
    ],
)
def test_what_is_no_module_is_told_apart(data: bytes, code: str, offset: int, said: str) -> None:
    with pytest.raises(InvalidSpirv) as caught:
        load(data)
    assert (caught.value.code, caught.value.offset) == (code, offset)
    assert said in caught.value.message


def test_a_text_decoder_leaves_traces() -> None:
    with pytest.raises(InvalidSpirv) as caught:
        load(header() + b"\xef\xbf\xbd")
    assert caught.value.code == "spirv/size"
    assert "text decoder" in (caught.value.hint or "")


def test_instructions_are_walked_by_their_word_counts() -> None:
    words = load(header() + struct.pack("<4I", 3 << 16 | 60000, 0, 0, 1 << 16))
    assert list(words.instructions()) == [(60000, 5, 3), (0, 8, 1)]
    with pytest.raises(InvalidSpirv) as caught:
        list(load(header() + struct.pack("<3I", 1 << 16, 4 << 16 | 71, 1)).instructions())
    assert caught.value.code == "spirv/truncated"
    assert "OpDecorate, word 6 (byte 24)" in caught.value.message and caught.value.offset == 24


def test_strings_end_at_their_nul() -> None:
    words = load(header() + b"main\0\0\0\0more")
    assert string(words.data, 5, 8) == ("main", 7)
    with pytest.raises(InvalidSpirv) as caught:
        string(words.data, 7, 8)
    assert caught.value.code == "spirv/string"


@pytest.mark.parametrize(
    ("octets", "bad"),
    [(b"\xff", 0), (b"m\xc3\xa9\xfe", 3), (b"ab\xed\xa0\x80", 2), (b"\xc0\xaf", 0), (b"cut\xe2\x82", 3)],
    ids=["no UTF-8", "behind good ones", "a surrogate", "overlong", "cut"],
)
def test_strings_that_are_handed_on_are_utf8(octets: bytes, bad: int) -> None:
    words = load(header() + octets + bytes(4 - len(octets) % 4))
    with pytest.raises(InvalidSpirv) as caught:
        string(words.data, 5, len(words.data), exact=True)
    assert (caught.value.code, caught.value.offset) == ("spirv/string-encoding", 20 + bad)
    assert "\ufffd" in string(words.data, 5, len(words.data))[0]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (b"; SPIR-V\nOpCapability Shader", "spirv-as"),
        (b"#version 450\n", "glslangValidator -V"),
        (b"float4 main() : SV_Target", "glslangValidator"),
    ],
)
def test_text_gets_the_command_that_compiles_it(text: bytes, command: str) -> None:
    assert command in text_hint(text, "a.comp")
