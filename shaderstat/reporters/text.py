"""Text that a terminal or a table can show: what files and drivers say is hostile until it went through here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import BinaryIO

# Select Graphic Rendition, ECMA-48 8.3.117.
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# What we draw ourselves, for streams that can't hold it; one column each.
_ASCII = str.maketrans(dict(zip("·×—–─→←↑…≤│", "-x---><^~<|", strict=True)))

# Prose in fewer columns than this is hard to read; it goes below instead, behind so many blanks.
_NARROW = 24
INDENT = 6

_NEVER_IN_TEXT = re.compile(r"[^\t\n -~]")
# What `_escape` makes, and a doubled backslash.
_LOOKS_ESCAPED = re.compile(r"\\(?:[nrt\\]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
# Letters that show nothing: Hangul fillers and Braille's blank.
_INVISIBLE = "\u115f\u1160\u2800\u3164\uffa0"
# What stands for a name that is empty.
UNNAMED = "(unnamed)"
# Off a terminal nothing is cut: a name beyond so many columns pushes its own line out of the table, not the table.
WIDEST = 100
# Control characters below the blank are escaped in JSON's strings anyhow; those between tokens are ours.
_ODD_IN_JSON = re.compile(r"[^\x00-~]")


def printable(text: str) -> str:
    r"""`text` on one line, with everything that could steer a terminal shown as an escape.

    Control characters (``\n``, ``\x1b``), directional and invisible ones (``\u202e``), unassigned and private ones,
    and the bytes of a path that are no UTF-8 (``\xff``). The rest stays as it is: for prose. For names, see `named`.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def escaped(text: str) -> str:
    r"""`printable`, but no two texts come out alike: backslashes are doubled where anything is escaped, and where
    something looks so (``a\nb`` of four characters is ``a\\nb``). Nearly all texts stay as they are."""
    if text.isprintable() and not _LOOKS_ESCAPED.search(text):
        return text
    return printable(text.replace("\\", "\\\\"))


def named(text: str) -> str:
    """A name for a table: `escaped`, and in quotes where it couldn't be seen (a blank at an end, nothing but blanks) or
    would pass for another. Empty for an empty one."""
    shown = escaped(text)
    invisible = shown != shown.strip() or not width(shown) or any(letter in shown for letter in _INVISIBLE)
    odd = invisible or shown == UNNAMED or (shown[0] == shown[-1] == '"')
    return f'"{shown}"' if shown and odd else shown


def printable_lines(text: str) -> list[str]:
    """The lines of a longer text, each `printable`, with its tabs kept."""
    if text.isascii() and not _NEVER_IN_TEXT.search(text):
        return text.split("\n")
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\t".join(printable(part) for part in line.split("\t")) for line in lines]


def escaped_json(text: str) -> str:
    r"""A JSON document that no terminal, editor or JavaScript takes amiss: whatever isn't printable in its strings is
    written ``\u202e``. It means the same (RFC 8259, section 7)."""
    if not _ODD_IN_JSON.search(text):
        return text
    return _ODD_IN_JSON.sub(lambda found: found[0] if found[0].isprintable() else _in_utf16(found[0]), text)


def _in_utf16(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    # \\x80 and beyond are bytes, as above
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """How many columns `text` takes: East Asian wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def span(texts: Iterable[str]) -> int:
    """The columns that all of `texts` take, less those that are wider than a table can be (`WIDEST`)."""
    widths = [width(text) for text in texts]
    return max((each for each in widths if each <= WIDEST), default=WIDEST if widths else 0)


def left(text: str, columns: int) -> str:
    """`text` padded on its right to so many columns."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """`text` padded on its left to so many columns."""
    return " " * (columns - width(text)) + text


def shorten(text: str, columns: int) -> str:
    """The end of a name that is too long: ``…rrain/terrain``. Never for numbers."""
    if width(text) <= columns:
        return text
    while text and width(text) > columns - 1:
        text = text[1:]
    return "…" + text


def wrap(text: str, columns: int | None) -> list[str]:
    """Prose broken between words into lines of so many columns; one line where there is no limit.

    Only a word that is longer than a whole line overhangs: a path is of no use in two pieces.
    """
    if columns is None or width(text) <= columns:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width(longer) > columns:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def shell_words(words: Sequence[str]) -> str:
    r"""A command that a shell takes as it stands, all of it printable: what isn't is ``$'in\xff.bin'``, which bash,
    zsh, ksh and POSIX.1-2024 take for those bytes."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_in_dollar_quotes, word)) + "'"


def _in_dollar_quotes(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    errors = "surrogateescape" if 0xDC80 <= ord(character) <= 0xDCFF else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", errors))


def wrap_command(start: str, words: Sequence[str], columns: int | None) -> list[str]:
    """A command that a shell takes as it stands, behind `start`; broken lines end in a backslash, as in a shell."""
    line = f"{printable(start)} {shell_words(words)}"
    if columns is None or width(line) <= columns:
        return [line]
    lines = [start]
    for word in words:
        quoted = _quoted(word)
        if lines[-1] != start and width(f"{lines[-1]} {quoted}") > columns - 2:
            lines[-1] += " \\"
            lines.append(f"  {quoted}")
        else:
            lines[-1] += f" {quoted}"
    return lines


class Pen:
    """Writes lines to a binary stream, coloured or not, in an encoding that may lack what we draw."""

    def __init__(self, stream: BinaryIO, *, encoding: str = "utf-8", colour: bool = False) -> None:
        self._stream = stream
        self._encoding = encoding
        self._colour = colour

    def paint(self, text: str, style: str) -> str:
        """`text` in a style, ``dim`` or ``bold red``; as it is where there is no colour."""
        if not self._colour or not text.strip() or not style:
            return text
        codes = ";".join(_STYLES[word] for word in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"

    def words(self, text: str, columns: int | None, painted: str | None = None) -> None:
        """Write a line, as `painted` where it is whole, or several where it is too long for one."""
        lines = wrap(text, columns)
        for line in lines if len(lines) > 1 else [text if painted is None else painted]:
            self.line(line)

    def prose(self, start: str, place: int, text: str, columns: int | None, style: str = "") -> None:
        """Write `text` beside `start`, which takes `place` columns, or below it where there is no room beside it."""
        least = max(_NARROW, *map(width, text.split(" ")))
        if text and columns is not None and columns - place < min(width(text), least):
            self.line(start)
            start, place = " " * INDENT, INDENT
        for line in wrap(text, columns and columns - place):
            self.line(start + self.paint(line, style))
            start = " " * place

    def line(self, text: str = "") -> None:
        """Write one line, without blanks at its end."""
        text = text.rstrip(" ") + "\n"
        try:
            data = text.encode(self._encoding)
        except UnicodeEncodeError:
            data = text.translate(_ASCII).encode(self._encoding, "backslashreplace")
        self._stream.write(data)
