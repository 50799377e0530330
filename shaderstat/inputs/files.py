"""Files: as they were found, read for the first time, and read again; and why one can't be."""

from __future__ import annotations

import hashlib
import os
import stat

from shaderstat.archive.format import base_name
from shaderstat.errors import InvalidSpirv
from shaderstat.inputs.archives import is_archive, is_archived
from shaderstat.model import Diagnostic
from shaderstat.plain import dataclass

# The largest published modules have a few megabytes. Beyond this, somebody handed over a disk image.
MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was found, not yet read.

    Attributes:
        path: for people and reports: valid Unicode, bytes that are none as ``\\xNN``.
        name: the part below the root that it was found under, with ``/``: ``bloom/colorpass.frag.spv``.
        place: the absolute path.
        location: what the operating system is asked to open.
        held: the bytes, where they can be read only once (standard input, a pipe).
        problem: why it can't be read, or None.
        pipeline: of an archive, the hash of the one pipeline that is meant, or None.
    """

    path: str
    name: str
    place: str
    location: str
    held: bytes | None = None
    problem: Diagnostic | None = None
    pipeline: int | None = None

    @property
    def folder(self) -> str:
        """Where it lies: files of one folder may belong together."""
        return os.path.dirname(self.place)

    @property
    def is_archive(self) -> bool:
        """Whether it holds captured pipelines, or says so."""
        if self.held is not None:
            return is_archived(self.held)
        return self.problem is None and is_archive(self.location)

    @property
    def recording(self) -> str:
        """What the archives share that several processes wrote together."""
        return base_name(self.location)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read once. The bytes are let go and read again when they are needed, so that a folder of a
    hundred thousand modules fits in memory; `sha256` holds the two readings together."""

    path: str
    location: str
    size: int
    sha256: str
    held: bytes | None = None

    def read(self) -> bytes:
        """The bytes that were scanned.

        Raises:
            InvalidSpirv: ``input/unreadable``, or ``input/changed`` when it is no longer the file that was scanned.
        """
        if self.held is not None:
            return self.held
        data = _read(self.location)
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise InvalidSpirv("input/changed", "changed while shaderstat was running", hint="run it again")
        return data


def read(file: File) -> tuple[Source, bytes]:
    """Read a file for the first time.

    Raises:
        InvalidSpirv: ``input/unreadable``, ``input/not-a-file`` or ``input/too-large``.
    """
    data = _read(file.location) if file.held is None else file.held
    if len(data) > MAX_BYTES:
        raise _too_large(f"more than {MAX_BYTES}")
    return Source(file.path, file.location, len(data), hashlib.sha256(data).hexdigest(), file.held), data


def _read(location: str) -> bytes:
    """Read a regular file, no more than `MAX_BYTES`. Opened without waiting, so that a FIFO put in its place since
    can't hang the run."""
    try:
        descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _raised(not_a_file(status.st_mode))
            if status.st_size > MAX_BYTES:
                raise _too_large(str(status.st_size))
            # All of most files in one call; a file that grows meanwhile, or has no size (in /proc), in more.
            data = os.read(descriptor, status.st_size + 1)
            if len(data) != status.st_size or not data:
                while len(data) <= MAX_BYTES and (more := os.read(descriptor, 1 << 20)):
                    data += more
            return data
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _raised(unreadable(error)) from None


# ── Why one can't be read ─────────────────────────────────────────────────────────────────────────────────────────


def unreadable(error: OSError) -> Diagnostic:
    """The operating system says so."""
    return Diagnostic("error", "input/unreadable", f"can't be read: {error.strerror or error}")


def not_a_file(mode: int) -> Diagnostic:
    """It is of another kind: `mode` as `os.stat` gives it."""
    kinds = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    what = next((word for test, word in kinds if test(mode)), "something else")
    return Diagnostic(
        "error", "input/not-a-file", f"is {what}, not a file", hint="pass its bytes on standard input: shaderstat -"
    )


def _too_large(size: str) -> InvalidSpirv:
    return InvalidSpirv("input/too-large", f"{size} bytes: a module has at most {MAX_BYTES}")


def _raised(diagnostic: Diagnostic) -> InvalidSpirv:
    return InvalidSpirv(diagnostic.code, diagnostic.message, hint=diagnostic.hint)
