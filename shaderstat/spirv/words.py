"""The word stream of a module (SPIR-V specification, section 2.3): header and instruction boundaries, nothing more.

Every reader of SPIR-V in this package goes through `load`, so that a file is classified once and in one way.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator

from shaderstat.errors import InvalidSpirv
from shaderstat.plain import dataclass

MAGIC = 0x07230203
HEADER_WORDS = 5
# SPIR-V specification, section 2.17 "Universal Limits": the result <id> bound.
MAX_BOUND = 0x3FFFFF
# The newest version that this package's tables know; newer ones are tried and reported, not refused.
KNOWN_VERSION = (1, 6)


@dataclass(frozen=True, slots=True)
class Words:
    """A module as words in this machine's byte order.

    Attributes:
        data: all words, header included; ``memoryview`` of format ``I``.
        swapped: whether the file was in the other byte order.
        version: (major, minor) of the header.
        generator: the generator's magic number: tool id in the high half.
        bound: every <id> is below it.
    """

    data: memoryview
    swapped: bool
    version: tuple[int, int]
    generator: int
    bound: int

    def instructions(self) -> Iterator[tuple[int, int, int]]:
        """Yield (opcode, index of its first word, word count) for every instruction.

        Raises:
            InvalidSpirv: ``spirv/zero-word-count``, ``spirv/truncated`` or ``spirv/two-modules``.
        """
        data = self.data
        index, end = HEADER_WORDS, len(data)
        while index < end:
            word = data[index]
            count = word >> 16
            if count == 0 or index + count > end:
                raise broken_instruction(data, index)
            yield word & 0xFFFF, index, count
            index += count

    def tobytes(self) -> bytes:
        """The words in this machine's byte order: what a driver and the validator are given."""
        return self.data.tobytes()


def load(data: bytes) -> Words:
    """Check the size and the header of `data` and give its words, swapped where needed.

    Raises:
        InvalidSpirv: ``spirv/empty``, ``spirv/too-short``, ``spirv/size``, ``spirv/bad-magic``, ``spirv/text``,
            ``spirv/version``, ``spirv/bound`` or ``spirv/schema``.
    """
    size = len(data)
    if size == 0:
        raise InvalidSpirv(
            "spirv/empty", "empty file", offset=0, hint="nothing was written to it: look at the compiler's own messages"
        )
    magic = data[:4]
    little, big = MAGIC.to_bytes(4, "little"), MAGIC.to_bytes(4, "big")
    if magic not in (little, big):
        raise _not_spirv(data)
    if size < HEADER_WORDS * 4:
        raise InvalidSpirv(
            "spirv/too-short",
            f"too short: {size} bytes, a header alone has 20",
            offset=size,
            hint="the file is cut short: write it again",
        )
    if size % 4:
        raise InvalidSpirv(
            "spirv/size",
            f"{size} bytes are not a multiple of 4: {size % 4} spare at byte {size - size % 4}",
            offset=size - size % 4,
            hint=text_round_trip_hint(data)
            or "a text tool or a transfer in text mode changed the file: write it again",
        )
    words = array("I", data)
    swapped = magic != (little if sys.byteorder == "little" else big)
    if swapped:
        words.byteswap()
    view = memoryview(words).toreadonly()
    version_word, generator, bound, schema = view[1], view[2], view[3], view[4]
    major, minor = version_word >> 16 & 0xFF, version_word >> 8 & 0xFF
    if version_word & 0xFF0000FF or major != 1:
        raise InvalidSpirv(
            "spirv/version",
            f"the header's version word is 0x{version_word:08x}: SPIR-V {major}.{minor} is not known",
            offset=4,
        )
    if bound == 0 or bound > MAX_BOUND:
        raise InvalidSpirv("spirv/bound", f"the header's id bound is {bound}: it must be 1 to {MAX_BOUND}", offset=12)
    if schema != 0:
        raise InvalidSpirv("spirv/schema", f"the header's schema word is {schema}: it must be 0", offset=16)
    return Words(view, swapped, (major, minor), generator, bound)


def broken_instruction(data: memoryview, index: int) -> InvalidSpirv:
    """The error for an instruction at word `index` that has no words, or more than are left."""
    word = data[index]
    where = f"word {index} (byte {index * 4})"
    if word >> 16 == 0:
        return InvalidSpirv(
            "spirv/zero-word-count",
            f"an instruction of zero words at {where}",
            offset=index * 4,
            hint=text_round_trip_hint(data),
        )
    if word == MAGIC:
        return InvalidSpirv("spirv/two-modules", f"a second module begins at {where}", offset=index * 4)
    from shaderstat.registry.spirv import opcode_name

    return InvalidSpirv(
        "spirv/truncated",
        f"ends inside {opcode_name(word & 0xFFFF)}, {where}: "
        f"it claims {word >> 16} words, {len(data) - index} are left",
        offset=index * 4,
        hint=text_round_trip_hint(data) or "the file is cut short or damaged: write it again",
    )


def little_endian(data: memoryview) -> bytes:
    """The bytes of words, lowest first: so lie the octets of strings (SPIR-V specification 2.2.1, "Literal")."""
    if sys.byteorder == "little":
        return data.tobytes()
    swapped = array("I", data.tobytes())
    swapped.byteswap()
    return swapped.tobytes()


def string(data: memoryview, index: int, end: int, *, exact: bool = False) -> tuple[str, int]:
    """Read a literal string that starts at word `index` and must close before word `end`.

    Args:
        exact: refuse bytes that are no UTF-8, which SPIR-V asks for (specification 2.2.1, "Literal"): for what is
            handed on, where another name would be another question. Otherwise they become U+FFFD.

    Returns:
        The text and the index of the word after it.

    Raises:
        InvalidSpirv: ``spirv/string`` where no NUL closes it, ``spirv/string-encoding``.
    """
    raw = little_endian(data[index:end])
    length = raw.find(b"\0")
    if length < 0:
        raise InvalidSpirv(
            "spirv/string", f"a string without a closing NUL at word {index} (byte {index * 4})", offset=index * 4
        )
    try:
        text = raw[:length].decode("utf-8", "strict" if exact else "replace")
    except UnicodeDecodeError as error:
        at = index * 4 + error.start
        raise InvalidSpirv(
            "spirv/string-encoding",
            f"a string that is not UTF-8: {raw[error.start]:02x} at byte {at} (word {at // 4})",
            offset=at,
            hint="SPIR-V's strings are UTF-8: give it another name, or mend the tool that wrote it",
        ) from None
    return text, index + length // 4 + 1


def text_round_trip_hint(data: memoryview | bytes) -> str | None:
    """U+FFFD in UTF-8 inside binary words: the file went through a decoder that replaces."""
    if b"\xef\xbf\xbd" in bytes(data):
        return "it holds EF BF BD (U+FFFD): a text decoder replaced what it could not read; copy the file as binary"
    return None


def _not_spirv(data: bytes) -> InvalidSpirv:
    """Say what `data` is instead, as far as that can be told from its first bytes."""
    head = data[:4]
    shown = " ".join(f"{byte:02x}" for byte in head)
    if len(data) < 4:
        return InvalidSpirv(
            "spirv/too-short",
            f"too short: {len(data)} byte{'s' if len(data) > 1 else ''}, a header alone has 20",
            offset=len(data),
            hint="the file is cut short: write it again",
        )
    if data.startswith(b"\xef\xbb\xbf"):
        return InvalidSpirv(
            "spirv/bad-magic",
            "starts with a UTF-8 byte order mark: a text tool changed the file",
            offset=0,
            hint="copy the file as binary",
        )
    if data.startswith(b"\x81FOSSILIZEDB"):
        return InvalidSpirv("spirv/bad-magic", "is a Fossilize archive, not SPIR-V", offset=0, hint="name it .foz")
    if data.startswith(b"\x7fELF"):
        return InvalidSpirv("spirv/bad-magic", "is an ELF file, not SPIR-V", offset=0)
    if data.startswith((b"DXBC", b"BC\xc0\xde")):
        return InvalidSpirv(
            "spirv/bad-magic", "is DirectX byte code, not SPIR-V", offset=0, hint="compile it with -spirv (dxc)"
        )
    text = data[:4096]
    if b"\0" not in text and all(byte >= 0x20 or byte in b"\t\n\r\f\x1b" for byte in text):
        return InvalidSpirv("spirv/text", "is text, not SPIR-V", offset=0, hint=text_hint(data))
    return InvalidSpirv("spirv/bad-magic", f"is not SPIR-V: it starts with {shown}, not with 03 02 23 07", offset=0)


def text_hint(data: bytes, path: str = "FILE") -> str:
    """The command that makes SPIR-V of a text, by what the text looks like."""
    head = data[:4096].decode("utf-8", "replace")
    if "; SPIR-V" in head or "OpCapability" in head:
        return f"assemble it first: spirv-as {path} -o {path}.spv"
    if "#version" in head or "void main" in head:
        return f"compile it first: glslangValidator -V {path} -o {path}.spv"
    return f"compile it first, for instance: glslangValidator -V {path} -o {path}.spv"
