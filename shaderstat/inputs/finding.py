"""Paths in, files out: what a person types, made into an ordered list of files.

A path is a file of any name (SPIR-V is told by its magic, not by its name), a folder (every ``*.spv`` and ``*.foz``
below it, hidden ones left out), a module of an archive (``captured.foz:078dec95bfd2d94c``), a glob that the shell did
not expand, or ``-`` for standard input. What can't be read stays in the list with the reason: one bad file never costs
the others their answer. Only a path that leads nowhere stops everything, since that is a slip of the fingers, and
nothing has been done yet.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from shaderstat.errors import InvalidSpirv, ShaderstatError
from shaderstat.inputs.archives import is_unpacked, split_module
from shaderstat.inputs.files import MAX_BYTES, File, not_a_file, unreadable
from shaderstat.model import Diagnostic

STDIN = "-"

# A backslash that was doubled, or an escaped byte.
_LOOKS_ESCAPED = re.compile(rb"\\\\|\\x[89a-f][0-9a-f]")
_ESCAPED = re.compile(rb"\\(?:\\|x([89a-f][0-9a-f]))")


def find_files(paths: Sequence[str | os.PathLike[str]], *, stdin: bytes | None = None) -> list[File]:
    """Expand `paths`, in their order; what a folder or a glob holds is sorted. A file that is met twice stands once.

    Args:
        stdin: the bytes that ``-`` stands for; None to read them from standard input.

    Raises:
        ShaderstatError: a path that leads nowhere, a folder without modules, a glob that matches nothing.
    """
    named = [os.fspath(path) for path in paths]
    shared = _shared_folder(named)
    found: dict[str, File] = {}
    for path in named:
        for file in _expand(path, shared, stdin):
            # An absolute path, not a resolved one: a link of another name was made to be another pipeline.
            found.setdefault(file.place if file.pipeline is None else f"{file.place}:{file.pipeline:016x}", file)
    return list(found.values())


def _expand(path: str, shared: str, stdin: bytes | None) -> Iterator[File]:
    if path == STDIN:
        yield File("stdin", "stdin", STDIN, STDIN, held=_read_stdin() if stdin is None else stdin)
        return
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:
        raise ShaderstatError(f"{_unicode(path)!r} is not a path: {error}") from None
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG) and not os.path.lexists(path):
            inside = split_module(path)
            if inside is not None:
                yield _in_archive(path, *inside)
                return
            shown = _not_unicode(path)
            if shown is not None and os.path.lexists(shown):
                yield from _expand(shown, shared, stdin)
                return
            if not _is_glob(path):
                raise _missing(path) from None
            yield from _glob(path)
            return
        yield _file(path, os.path.basename(path), unreadable(error))
        return
    if stat.S_ISDIR(mode):
        yield from [_file(path, os.path.basename(os.path.abspath(path)))] if _is_unpacked(path) else _folder(path)
    elif stat.S_ISFIFO(mode) and _is_descriptor(path):
        # Process substitution: `shaderstat <(glslangValidator …)`. The writer is there already.
        yield _pipe(path)
    else:
        name = os.path.relpath(os.path.abspath(path), shared)
        yield _file(path, name, None if stat.S_ISREG(mode) else not_a_file(mode))


# ── Folders and globs ─────────────────────────────────────────────────────────────────────────────────────────────


def _folder(path: str) -> Iterator[File]:
    empty = True
    for file in _found(path, ()):
        empty = False
        yield file
    if empty:
        raise ShaderstatError(
            f"{_unicode(path)}: a folder without any .spv file",
            hint="compile the shaders first, for instance: glslangValidator -V blur.comp -o blur.comp.spv",
        )


def _is_glob(path: str) -> bool:
    return any(character in path for character in "*?[")


def _glob(pattern: str) -> Iterator[File]:
    """What the shell would have made of it, with ``**`` for any folders; names are relative to the part without
    wildcards."""
    parts = pattern.split(os.sep)
    fixed = next(index for index, part in enumerate(parts) if _is_glob(part))
    root = os.sep.join(parts[:fixed]) or (os.sep if pattern.startswith(os.sep) else os.curdir)
    empty = True
    for file in _found(root, tuple(part for part in parts[fixed:] if part)):
        empty = False
        yield file
    if empty:
        raise ShaderstatError(
            f"{_unicode(pattern)}: matches no file, and no folder with .spv files",
            hint="a folder is searched with all that is below it: name it alone",
        )


def _walk(root: str, pattern: tuple[str, ...]) -> list[tuple[str, Diagnostic | None]]:
    """Files below `root` that the pattern reaches, with what keeps one from being read; sorted.

    A folder goes with the positions in the pattern that its path may have reached. At the pattern's end the folder is
    taken whole: every ``*.spv`` below it, but no hidden ones. Linked folders are followed after the real ones, and a
    real folder is entered once for each set of positions: a loop ends, and a file is named by its own place where that
    is below the root too.
    """
    found: list[tuple[str, Diagnostic | None]] = []
    entered: set[tuple[int, int, frozenset[int]]] = set()
    real, linked = [(root, _closure({0}, pattern))], list[tuple[str, frozenset[int]]]()
    while real or linked:
        folder, states = real.pop() if real else linked.pop(0)
        whole = len(pattern) in states
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino, states) in entered:
                continue
            entered.add((status.st_dev, status.st_ino, states))
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if whole:
                found.append((folder, unreadable(error)))
            continue
        for entry in entries:
            after, named = _step(entry.name, states, pattern)
            place = entry.name if folder == os.curdir else os.path.join(folder, entry.name)
            if _is_folder(entry):
                if after:
                    (linked if entry.is_symlink() else real).append((place, after))
            elif named or (len(pattern) in after and entry.name.lower().endswith((".spv", ".foz"))):
                found.append((place, None if _is_file(entry) else _problem(place)))
    return sorted(found, key=lambda item: item[0].split(os.sep))


def _step(name: str, states: frozenset[int], pattern: tuple[str, ...]) -> tuple[frozenset[int], bool]:
    """The positions after one more name, and whether the pattern's last part is what matched it."""
    after: set[int] = set()
    named = False
    for state in states:
        part = pattern[state] if state < len(pattern) else "**"
        if name.startswith(".") and not part.startswith("."):
            continue
        if part == "**":
            after.add(state)
        elif fnmatchcase(name, part):
            after.add(state + 1)
            named = named or state + 1 == len(pattern)
    return _closure(after, pattern), named


def _closure(states: set[int], pattern: tuple[str, ...]) -> frozenset[int]:
    """``**`` may also stand for no folder at all."""
    for state in tuple(states):
        while state < len(pattern) and pattern[state] == "**":
            state += 1
            states.add(state)
    return frozenset(states)


def _in_archive(path: str, archive: str, hash: int) -> File:
    """A module or a pipeline of an archive, as reports and manifests name it."""
    from shaderstat.archive.containers import open_container  # late: mostly there is none
    from shaderstat.archive.format import KINDS, Tag
    from shaderstat.archive.records import Records

    name = os.path.basename(path)
    try:
        records = Records([open_container(archive, _unicode(archive))])
        if not records.has(Tag.MODULE, hash) and any(records.has(tag, hash) for tag in KINDS):
            return replace(_file(archive, os.path.basename(archive)), pipeline=hash)
        words = records.module(hash)
    except InvalidSpirv as error:
        remark = Diagnostic("error", error.code, error.message, error.hint, offset=error.offset)
        return _file(path, name, remark)
    return File(_unicode(path), _unicode(name), os.path.abspath(path), path, held=words)


def _is_unpacked(path: str) -> bool:
    try:
        return is_unpacked(path)
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is known to be one, without another look at it."""
    try:
        return entry.is_file()
    except OSError:
        return False


# ── Single files ──────────────────────────────────────────────────────────────────────────────────────────────────


def _shared_folder(paths: list[str]) -> str:
    """The folder that the files named one by one share: names are relative to it, so that a glob gives the same names
    whether the shell expanded it or not."""
    folders = [os.path.dirname(os.path.abspath(path)) for path in paths if "\0" not in path and not os.path.isdir(path)]
    try:
        return os.path.commonpath(folders)
    except ValueError:  # none, or several drives
        return os.curdir


def _file(location: str, name: str, problem: Diagnostic | None = None, place: str | None = None) -> File:
    name = _unicode(name).replace(os.sep, "/")
    return File(_unicode(location), name, place or os.path.abspath(location), location, problem=problem)


def _found(root: str, pattern: tuple[str, ...]) -> Iterator[File]:
    """What `_walk` finds, each file's name being what lies below `root`."""
    top = os.path.abspath(root)
    start = 0 if root == os.curdir else len(root)
    for location, problem in _walk(root, pattern):
        name = location[start:].lstrip(os.sep)
        yield _file(location, name or os.curdir, problem, os.path.join(top, name) if name else top)


def _read_stdin() -> bytes:
    """All of standard input, no more than is needed to see that it is too much.

    Raises:
        ShaderstatError: there is none, or it is a terminal.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise ShaderstatError("standard input is closed")
    if sys.stdin.isatty():
        raise ShaderstatError(
            "standard input is a terminal: there is no module to read",
            hint="glslangValidator -V blur.comp -o /dev/stdout --quiet | shaderstat -",
        )
    try:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        raise ShaderstatError(f"standard input can't be read: {error.strerror or error}") from None


def _is_descriptor(path: str) -> bool:
    return os.path.dirname(path) in ("/dev/fd", "/proc/self/fd") or path == "/dev/stdin"


def _pipe(path: str) -> File:
    name = "stdin" if path == "/dev/stdin" else f"fd{os.path.basename(path)}"
    try:
        with open(path, "rb") as stream:
            return File(path, name, path, path, held=stream.read(MAX_BYTES + 1))
    except OSError as error:
        return _file(path, name, unreadable(error))


def _problem(path: str) -> Diagnostic | None:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return unreadable(error)
    return None if stat.S_ISREG(mode) else not_a_file(mode)


# ── Words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _missing(path: str) -> ShaderstatError:
    """No such path: look where its first missing part should be, and for a name like it."""
    if not path:
        return ShaderstatError("an empty path", hint="the folder you are in is: .")
    shown = _unicode(path)
    known, missing = os.path.split(path.rstrip(os.sep) or path)
    while known and not os.path.isdir(known):
        if os.path.exists(known):
            return ShaderstatError(f"{shown}: no such file or folder", hint=f"{_unicode(known)} is a file")
        known, missing = os.path.split(known)
    try:
        names = [name for name in os.listdir(known or os.curdir) if not name.startswith(".")]
    except OSError:
        names = []
    likely = [name for name in sorted(names) if name in (f"{missing}.spv", f"{missing}.comp.spv")]
    close = likely or difflib.get_close_matches(missing, names[:20_000], n=1, cutoff=0.6)
    hint = f"did you mean {_quoted(os.path.join(known, close[0]))}?" if close else None
    return ShaderstatError(f"{shown}: no such file or folder", hint=hint)


def _unicode(path: str) -> str:
    r"""A path for people and reports: JSON has no word for bytes that are no UTF-8. They become ``\xff``; where there
    are some, or letters that look so, backslashes are doubled, so that no two paths become one."""
    raw = os.fsencode(path)
    if _LOOKS_ESCAPED.search(raw) or not _is_utf8(raw):
        raw = raw.replace(b"\\", b"\\\\")
    return raw.decode("utf-8", "backslashreplace")


def _not_unicode(text: str) -> str | None:
    """The path that `_unicode` shows so, where it shows one otherwise than it is: what reports and messages call a file
    can be typed."""
    raw = os.fsencode(text)
    undone = _ESCAPED.sub(lambda found: b"\\" if found[1] is None else bytes([int(found[1], 16)]), raw)
    return None if undone == raw else os.fsdecode(undone)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _quoted(path: str) -> str:
    return shlex.quote(_unicode(path))
