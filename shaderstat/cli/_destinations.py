"""Where an answer goes: standard output, and files that are there whole or not at all.

Everything is opened before work starts, so that a bad path costs nothing.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Collection, Sequence
from typing import BinaryIO, Protocol

from shaderstat.errors import ShaderstatError
from shaderstat.reporters.base import FORMATS
from shaderstat.reporters.text import printable

_ENDINGS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".txt": "table",
    ".md": "markdown",
    ".xml": "junit",
    ".sarif": "sarif",
}


class Destination(Protocol):
    """Something to write to, once.

    Attributes:
        stream: binary; buffered.
        path: for messages; None for standard output.
    """

    @property
    def stream(self) -> BinaryIO: ...
    @property
    def path(self) -> str | None: ...

    def commit(self) -> None:
        """All is written: make it visible."""

    def discard(self) -> None:
        """Something went wrong: leave no trace."""


class StandardOutput:
    """Standard output; what is written can't be taken back."""

    path = None

    def __init__(self) -> None:
        if sys.stdout is None:
            raise ShaderstatError("standard output is closed", hint="-o PATH writes to a file")
        sys.stdout.flush()
        self.stream: BinaryIO = sys.stdout.buffer

    def commit(self) -> None:
        self.stream.flush()

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.flush()


class FileOutput:
    """A file, written beside its place and renamed at the end. What can't be renamed over (a pipe, ``/dev/stderr``) is
    written as it comes.

    Raises:
        ShaderstatError: it can't be written there.
    """

    def __init__(self, path: str) -> None:
        self.path: str | None = path
        self._place = os.path.realpath(path)
        self._temporary: str | None = None
        try:
            if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
                self.stream: BinaryIO = open(path, "wb")
                return
            if os.path.exists(path) and not os.access(path, os.W_OK):
                raise PermissionError(13, os.strerror(13))
            folder, name = os.path.split(self._place)
            handle, self._temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".part", dir=folder)
            self.stream = os.fdopen(handle, "wb")
        except OSError as error:
            raise ShaderstatError(f"{printable(path)}: can't be written: {error.strerror or error}") from None

    def commit(self) -> None:
        self.stream.close()
        if self._temporary is not None:
            os.chmod(self._temporary, _mode(self._place))
            os.replace(self._temporary, self._place)
            self._temporary = None

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = None


def _mode(path: str) -> int:
    """The permissions of the file to be replaced, or those of any new file."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


def open_destinations(
    outputs: Sequence[str],
    format: str,
    *,
    explicit: bool,
    silent: bool = False,
    formats: Collection[str] = FORMATS,
) -> list[tuple[str, Destination]]:
    """Open what ``-o`` names, or standard output where it names nothing.

    Args:
        outputs: ``[FORMAT:]PATH`` each.
        format: that of ``-f``; `explicit` if the user gave it, which then goes before a name's ending.
        silent: without ``-o``, write nothing anywhere.
        formats: those that there are.

    Raises:
        ShaderstatError: one of them can't be opened; the others are discarded.
    """
    if not outputs:
        return [] if silent else [(format, StandardOutput())]
    opened: list[tuple[str, Destination]] = []
    seen: set[str] = set()
    try:
        for output in outputs:
            chosen, path = _split(output, format, explicit, formats)
            if path in ("/dev/stdout", "/dev/fd/1"):  # behind it may be a file, which must not be renamed over
                path = "-"
            key = "-" if path == "-" else os.path.realpath(path)
            if key in seen:
                raise ShaderstatError(f"-o names {printable(path)} twice")
            seen.add(key)
            opened.append((chosen, StandardOutput() if path == "-" else FileOutput(path)))
    except ShaderstatError:
        for _, destination in opened:
            destination.discard()
        raise
    return opened


def _split(output: str, format: str, explicit: bool, formats: Collection[str]) -> tuple[str, str]:
    head, colon, rest = output.partition(":")
    if colon and head in formats:
        if not rest:
            raise ShaderstatError(f"-o {output}: no path after the format", hint=f"-o {head}:PATH, or {head}:-")
        return head, rest
    if not output:
        raise ShaderstatError("-o: an empty path")
    ending = _ENDINGS.get(os.path.splitext(output)[1].lower())
    return (format if explicit or ending not in formats else ending), output
