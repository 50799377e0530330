"""What resources hold before a run: the same bytes on every machine."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.instrumentation import Fill
from shaderstat.pipeline.fills import fill_bytes, fill_words


def test_zeros_and_the_words_from_zero_on() -> None:
    assert fill_bytes(Fill(), 7) == bytes(7)
    assert fill_bytes(Fill("iota"), 16) == struct.pack("<4I", 0, 1, 2, 3)
    assert fill_bytes(Fill("iota"), 6) == struct.pack("<I", 0) + b"\1\0"


def test_random_bytes_are_those_of_a_published_function() -> None:
    """By OpenSSL: ``printf '\\0\\0\\0\\0\\0\\0\\0\\0' | openssl dgst -shake128 -xoflen 16``, and of 7."""
    assert fill_bytes(Fill("random", seed=0), 16).hex() == SEED_0
    assert fill_bytes(Fill("random", seed=7), 16).hex() == SEED_7


SEED_0 = "7a24b666da345c98c3a400aafd14a51a"
SEED_7 = "48ae968c5173440eb1de3c2c93430af7"


@pytest.mark.parametrize("fill", [Fill("iota", size=5), Fill("random", size=5), Fill("data", data=b"12345")])
def test_what_is_not_covered_is_zero(fill: Fill) -> None:
    assert fill_bytes(fill, 9) == fill_bytes(fill, 5) + bytes(4)


def test_given_data_is_cut_where_the_resource_ends() -> None:
    assert fill_bytes(Fill("data", data=b"12345"), 3) == b"123"


@given(
    st.sampled_from(["zeros", "random", "iota"]), st.integers(0, 2**64 - 1), st.integers(0, 999), st.integers(0, 999)
)
def test_a_longer_resource_begins_alike(kind: str, seed: int, one: int, more: int) -> None:
    fill = Fill(kind, seed=seed)
    assert fill_bytes(fill, one + more)[:one] == fill_bytes(fill, one)


def test_words_for_a_report() -> None:
    assert fill_words(Fill()) == "zeros"
    assert fill_words(Fill("random", seed=7)) == "random:7"
    assert fill_words(Fill("data", data=b"1234")) == "4 bytes given"
    assert fill_words(Fill("data", data=b"1")) == "1 byte given"
