"""Two texts that differ only in what is not code are one code; two that differ in code never are."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat import representations
from shaderstat.representations import code_sha256, normalise, sha256, without_places

# Heads as Turnip writes them; the rest is made up.
TURNIP = b"; VERT prog 21/1: sha1 0000\n@attribute(r0.x)\nmov.f32f32 r0.x, c0.x\nend\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TURNIP, TURNIP.replace(b"21/1", b"7/3")),
        (b"source_sha1: {0x1, 0x2}\nblock b0:\n", b"source_sha1: {0x3, 0x4}\nblock b0:\n"),
        (b"source_blake3: {0x1, 0x2}\nblock b0:\n", b"source_blake3: {0x3, 0x4}\nblock b0:\n"),
        (b"nop ; at 0x7f12ab34cd56\n", b"nop ; at 0x7ffe00112233\n"),
        (b"nop // 0x55d0c0ffee00\n", b"nop // 0x5600c0ffee10\n"),
        (b"nop\t \r\nend\r\n", b"nop\nend\n"),
        (b"nop\n\0", b"nop\n"),
        (b"nop", b"nop\n\n"),
    ],
)
def test_what_is_not_code_is_left_out(one: bytes, other: bytes) -> None:
    assert one != other
    assert code_sha256(one, True) == code_sha256(other, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"v_mov_b32 v0, 1\n", b"v_mov_b32 v0, 2\n"),
        (b"nop\nend\n", b"end\nnop\n"),
        (b"s_mov s0, 0x7f12ab34cd56\n", b"s_mov s0, 0x7f12ab34cd57\n"),
        (b"s_mov_b64 s[4:5], exec ; be84047e\n", b"s_mov_b64 s[4:5], exec ; be84047f\n"),
        (b"  nop\n", b"nop\n"),
        (b"mov r0.x, c21/1\n", b"mov r0.x, c22/1\n"),
    ],
)
def test_what_may_be_code_is_kept(one: bytes, other: bytes) -> None:
    assert code_sha256(one, True) != code_sha256(other, True)


def test_a_binary_is_its_bytes() -> None:
    data = b"\x7fELF; prog 1/2 \0"
    assert code_sha256(data, False) == sha256(data) == hashlib.sha256(data).hexdigest()


LINES = st.lists(
    st.sampled_from([b"", b" ", b"nop", b"\r", b"prog 1/2", b"; prog 1/2", b"; 0x7f12ab34cd56", b"source_sha1: {0x1}"])
)


@given(LINES, st.binary(max_size=3), st.integers(1, 40))
def test_long_texts_are_normalised_in_pieces(lines: list[bytes], end: bytes, size: int) -> None:
    text = b"\n".join(lines) + end
    whole = normalise(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(representations, "_BLOCK", size)
        pieces = [*representations.blocks(text)]
        assert b"".join(pieces) == text
        assert all(piece.endswith(b"\n") and len(piece) >= size for piece in pieces[:-1])
        assert normalise(text) == whole
        assert code_sha256(text, True) == sha256(whole)


def test_a_long_text_is_not_held_again() -> None:
    text = b"\tv_mov_b32 v0, 1\n" * 1_000_000
    tracemalloc.start()
    try:
        code_sha256(text, True)
        assert tracemalloc.get_traced_memory()[1] < len(text) // 2
    finally:
        tracemalloc.stop()


@given(st.binary())
def test_normalising_twice_is_normalising_once(data: bytes) -> None:
    assert normalise(normalise(data)) == normalise(data)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        (b"\ts_mov_b64 s[4:5], exec                          ; be84047e", b"\ts_mov_b64 s[4:5], exec"),
        (b"\tv_lshl_add_u32 v0, s6, 6, v0   ; d7460000 04010c06", b"\tv_lshl_add_u32 v0, s6, 6, v0"),
        (b":2:0003:0007[20244000x_00000020x] (nop3) mov.u32u32 r0.x, 0x20", b"(nop3) mov.u32u32 r0.x, 0x20"),
        (b"0040: add r0, r1", b"add r0, r1"),
        (b"  /*0040*/ IADD R0, R1", b"  IADD R0, R1"),
        # no places
        (b"\tv_mov_b32 v0, 0x12345678", b"\tv_mov_b32 v0, 0x12345678"),
        (b"BB12:", b"BB12:"),
        (b"beef:", b"beef:"),
        (b"\ts_nop 0 ; wait for the cafe", b"\ts_nop 0 ; wait for the cafe"),
    ],
)
def test_without_addresses_and_encodings(line: bytes, plain: bytes) -> None:
    assert without_places(line) == plain + b"\n"
