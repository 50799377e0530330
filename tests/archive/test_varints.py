"""LEB128 words: what the format's description shows, any words there and back, and what is no such number."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.archive import varints
from shaderstat.archive.varints import decode, encode
from shaderstat.errors import InvalidSpirv

EXAMPLE = bytes.fromhex("83848c398086048b80204d00")
WORDS = array("I", [0x07230203, 0x00010300, 0x0008000B, 77, 0]).tobytes()


def test_the_example_of_the_format() -> None:
    assert decode(EXAMPLE, 5) == WORDS
    assert encode(WORDS) == EXAMPLE


@given(st.lists(st.integers(0, 2**32 - 1), max_size=50))
def test_words_there_and_back(words: list[int]) -> None:
    data = array("I", words).tobytes()
    assert decode(encode(data), len(words)) == data


def test_numbers_across_the_pieces_that_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(varints, "_CHUNK", 7)
    words = array("I", [1 << shift for shift in range(32)] * 3).tobytes()
    assert decode(encode(words), 96) == words


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x80", 1),  # cut
        (b"\x00\x80", 2),
        (b"\xff" * 8, 1),
        (b"\xff\xff\xff\xff\x10", 1),  # 33 bits
        (b"\xff\xff\xff\xff\xff\x00", 1),  # six bytes
        (b"\x00", 2),
        (b"\x00\x00", 1),
        (b"", 1),
    ],
)
def test_what_is_no_such_number(data: bytes, words: int) -> None:
    with pytest.raises(InvalidSpirv) as caught:
        decode(data, words)
    assert caught.value.code == "archive/varint"


@given(st.binary(max_size=40), st.integers(0, 40))
def test_noise(data: bytes, words: int) -> None:
    try:
        found = decode(data, words)
    except InvalidSpirv as error:
        assert error.code == "archive/varint"
    else:
        assert len(found) == 4 * words
