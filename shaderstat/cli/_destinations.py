"""Where an answer goes: standard output, and files that are there whole or not at all.

Everything is opened before work starts, so that a bad path costs nothing.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Protocol, cast

from shaderstat.errors import ShaderstatError
from shaderstat.reporters.base import FORMATS
from shaderstat.reporters.text import printable

# The format that is no report: what was compiled, for other tools to compile again.
ARCHIVE = "foz"
_ENDINGS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".txt": "table",
    ".foz": ARCHIVE,
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
        flush_stdout()
        self.stream = _named(sys.stdout.buffer, None)

    def commit(self) -> None:
        self.stream.flush()

    def discard(self) -> None:
        with contextlib.suppress(OSError, ShaderstatError):
            self.stream.flush()


class FileOutput:
    """A file, written beside its place and renamed at the end. What can't be renamed over (a pipe, ``/dev/stderr``) is
    written as it comes.

    Raises:
        ShaderstatError: it can't be written there. All that can be known before is said before.
    """

    def __init__(self, path: str) -> None:
        self.path: str | None = path
        self._place = os.path.realpath(path)
        self._temporary: str | None = None
        try:
            self._stream = self._open(path)
        except OSError as error:
            raise cannot_write(path, error) from None
        self.stream = _named(self._stream, path)

    def _open(self, path: str) -> BinaryIO:
        try:
            mode = os.stat(path).st_mode  # of a name that is too long, or of links in a circle, it says so
        except FileNotFoundError:
            mode = stat.S_IFREG
        else:
            if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if not stat.S_ISREG(mode):
            return _open_as_it_is(path, mode)
        handle, self._temporary = tempfile.mkstemp(
            prefix=".shaderstat.", suffix=".part", dir=os.path.dirname(self._place)
        )
        return os.fdopen(handle, "wb")

    def commit(self) -> None:
        assert self.path is not None
        try:
            self._stream.close()
            if self._temporary is not None:
                os.chmod(self._temporary, _mode(self._place))
                try:
                    os.replace(self._temporary, self._place)
                except OSError:  # a file that is a mount of its own, or in a folder that others share
                    shutil.copyfile(self._temporary, self._place)
                    os.unlink(self._temporary)
                self._temporary = None
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = None


def _open_as_it_is(path: str, mode: int) -> BinaryIO:
    """What is no regular file. A pipe without a reader would keep us waiting for one."""
    try:
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(mode):
            raise OSError(errno.ENXIO, "a named pipe that nobody reads") from None
        raise
    os.set_blocking(handle, True)
    return os.fdopen(handle, "wb")


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


def path_of(output: str) -> str:
    """The path in ``[FORMAT:]PATH``, whichever command's format it is."""
    head, colon, rest = output.partition(":")
    return rest if colon and (head in FORMATS or head in _ENDINGS.values()) else output


def refuse_to_overwrite(outputs: Sequence[str], read: Iterable[str | None]) -> None:
    """What is named on the command line to be read; what folders and manifests hold is looked at by those who read it.

    Raises:
        ShaderstatError: one of `outputs`, ``[FORMAT:]PATH`` each, is one of the files in `read`, by whatever name.
    """
    files = [path for path in read if path and os.path.isfile(path)]
    for path in map(path_of, outputs):
        if os.path.isfile(path) and any(os.path.samefile(path, each) for each in files):
            raise ShaderstatError(
                f"{printable(path)}: is an input of this run, and would be overwritten",
                hint="name another file with -o",
            )


def is_written(wanted: str, outputs: Sequence[str], format: str, explicit: bool) -> bool:
    """Whether one of the outputs is of the format `wanted`; the others as in `open_destinations`."""
    if not outputs:
        return format == wanted
    prefixed = {output for output in outputs if path_of(output) != output}
    return any(
        output.startswith(f"{wanted}:") if output in prefixed else _by_name(output, format, explicit, FORMATS) == wanted
        for output in outputs
    )


def _split(output: str, format: str, explicit: bool, formats: Collection[str]) -> tuple[str, str]:
    head, colon, rest = output.partition(":")
    if colon and head in formats:
        if not rest:
            raise ShaderstatError(f"-o {output}: no path after the format", hint=f"-o {head}:PATH, or {head}:-")
        return head, rest
    if not output:
        raise ShaderstatError("-o: an empty path")
    if colon and not _is_path(head, output):
        close = difflib.get_close_matches(head.lower(), formats, n=1)
        mean = f"did you mean {close[0]}:{rest}?" if close else f"there are {', '.join(formats)}."
        raise ShaderstatError(
            f"-o {printable(output)}: there is no format {head!r}", hint=f"{mean} ./{output} is a file of that name"
        )
    return _by_name(output, format, explicit, formats), output


def _is_path(head: str, output: str) -> bool:
    """Whether what stands before a colon is part of a path: a drive's letter, or some of a folder's name."""
    return len(head) == 1 or "/" in head or "\\" in head or os.path.isdir(os.path.dirname(output))


def _by_name(path: str, format: str, explicit: bool, formats: Collection[str]) -> str:
    ending = _ENDINGS.get(os.path.splitext(path)[1].lower())
    return format if explicit or ending is None or ending not in formats else ending


# ── Errors that say where ─────────────────────────────────────────────────────────────────────────────────────────


def cannot_write(path: str, error: OSError) -> ShaderstatError:
    """What went wrong, with the file's name."""
    return ShaderstatError(f"{printable(path)}: can't be written: {error.strerror or error}")


def _cannot_write_stdout(error: OSError) -> ShaderstatError:
    return ShaderstatError(f"standard output can't be written: {error.strerror or error}")


def flush_stdout() -> None:
    """Let a reader have what there is, before stderr says what comes after it.

    Raises:
        BrokenPipeError: the reader left.
        ShaderstatError: it can't be written.
    """
    if sys.stdout is not None:
        _named(sys.stdout, None).flush()


def _named(stream: Any, path: str | None) -> BinaryIO:
    return cast(BinaryIO, _Named(stream, path))


class _Named:
    """A stream whose errors say which file they are of; None is standard output, whose reader may leave."""

    def __init__(self, stream: Any, path: str | None) -> None:
        self._stream = stream
        self._path = path

    def write(self, data: bytes) -> int:
        try:
            written: int = self._stream.write(data)
        except OSError as error:
            raise self._error(error) from None
        return written

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError) -> Exception:
        if self._path is None:
            return error if isinstance(error, BrokenPipeError) else _cannot_write_stdout(error)
        return cannot_write(self._path, error)


@contextlib.contextmanager
def patient_stdout() -> Iterator[None]:
    """For a run that writes files as well: they are finished, whatever becomes of standard output meanwhile.

    Raises:
        ShaderstatError: at the end, where it couldn't be written. That its reader left is no error: the files are
            what was asked for.
    """
    replaced = sys.stdout
    try:
        raw = _Patient(replaced.fileno(), "w", closefd=False)
    except (AttributeError, OSError, ValueError):  # closed, or an object without a descriptor
        yield
        return
    flush_stdout()
    terminal = raw.isatty()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=replaced.encoding, errors=replaced.errors, line_buffering=terminal
    )
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stdout = replaced
    if raw.error is not None and not isinstance(raw.error, BrokenPipeError):
        raise _cannot_write_stdout(raw.error)


class _Patient(io.FileIO):
    """A file that takes everything. `error` is what kept it from writing."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        if self.error is None:
            try:
                return super().write(data)
            except OSError as error:
                self.error = error
        return len(data)
