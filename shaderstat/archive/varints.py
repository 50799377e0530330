"""SPIR-V words as LEB128 numbers: seven bits a byte, the least significant first, the top bit set when more follow."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable

from shaderstat.errors import InvalidSpirv

# A number is up to four bytes with the top bit and one without. Found by the regular expression engine, since modules
# have a hundred thousand of them; most are met again and again, so that a dictionary does the arithmetic.
_NUMBER = re.compile(rb"[\x80-\xff]{0,4}[\x00-\x7f]")
_TOO_LONG = re.compile(rb"[\x80-\xff]{5}")
_REMEMBERED = 1 << 16
_CHUNK = 1 << 20


class _Values(dict[bytes, int]):
    def __missing__(self, number: bytes) -> int:
        value = 0
        for place, byte in enumerate(number):
            value |= (byte & 0x7F) << 7 * place
        if value > 0xFFFFFFFF:
            raise InvalidSpirv("archive/varint", "a number of more than 32 bits where a SPIR-V word is wanted")
        if len(self) < _REMEMBERED:
            self[number] = value
        return value


_values = _Values()


def decode(data: bytes, words: int) -> bytes:
    """The `words` words in `data`, in this machine's byte order.

    Raises:
        InvalidSpirv: ``archive/varint``: `data` holds more or fewer, or no such numbers.
    """
    if data and (data[-1] & 0x80 or _TOO_LONG.search(data)):
        raise InvalidSpirv("archive/varint", "bytes that are no numbers of 32 bits where SPIR-V words are wanted")
    result = array("I")
    at = 0
    while at < len(data):
        end = min(at + _CHUNK, len(data))
        while data[end - 1] & 0x80:
            end -= 1  # not through the middle of a number
        result.extend(map(_values.__getitem__, _NUMBER.findall(data, at, end)))
        at = end
        if len(result) > words:
            break
    if len(result) != words or at != len(data):
        more = "more" if len(result) > words else "fewer"
        raise InvalidSpirv("archive/varint", f"{more} than the {words} words that are said to be there")
    return result.tobytes()


def encode(words: bytes) -> bytes:
    """The inverse of `decode`."""
    encoded = _Numbers()
    return b"".join(map(encoded.__getitem__, _array(words)))


class _Numbers(dict[int, bytes]):
    def __missing__(self, word: int) -> bytes:
        result = bytearray()
        rest = word
        while rest > 0x7F:
            result.append(rest & 0x7F | 0x80)
            rest >>= 7
        result.append(rest)
        self[word] = bytes(result)
        return self[word]


def _array(words: bytes) -> Iterable[int]:
    assert array("I").itemsize == 4, sys.platform
    return array("I", words)
