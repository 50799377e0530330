"""The file of the store: SQLite in WAL mode, shared by any number of runs, and never worth an error.

Whatever goes wrong with it (no folder, no room, no permission, damage) costs what was remembered, not the answer. A
damaged file is set aside and begun anew. Two tables: `entries`, small values by key, and `texts`, large ones by their
content's SHA-256; both are compressed, and both forget what was not used for longest when the file grows too large.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from shaderstat.model import Diagnostic
from shaderstat.plain import dataclass

# Part of the file's name: another layout is another file, and versions of shaderstat don't fight over one.
LAYOUT = 1
NAME = f"results-{LAYOUT}.sqlite"

# How long to wait for another run that writes; nobody's writing takes longer than a moment.
BUSY_S = 2.0
# What was used is noted once in so many milliseconds: reading should not cost writing.
NOTED_MS = 24 * 3600 * 1000
# So much of the limit is left when old things had to go, so that they don't go one by one.
KEPT = 0.8
# zlib's levels: entries are small and many, texts are large and shrink to a fifth.
ENTRY_LEVEL, TEXT_LEVEL = 1, 3

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, kind TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (sha256 BLOB PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL);
"""
_CHECK = ("SELECT key, kind, used, data FROM entries LIMIT 1", "SELECT sha256, used, data FROM texts LIMIT 1")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store holds: entries by kind, texts, and the bytes that the file takes on disk."""

    entries: dict[str, int]
    texts: int
    size: int


class Database:
    """One connection, for one thread. No method raises for what may happen to a file.

    Attributes:
        notes: what the user should know, each said once.
    """

    def __init__(self, folder: str, limit: int) -> None:
        """Args:
        folder: made if it isn't there.
        limit: how many bytes the file may take.
        """
        self.path = os.path.join(folder, NAME)
        self.notes: list[Diagnostic] = []
        self._folder = folder
        self._limit = limit
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._writable = True
        self._began_anew = False
        self._open()
        self._opened = _now()  # what is newer was written by this very run, or beside it

    @property
    def is_open(self) -> bool:
        """Whether anything can be remembered at all."""
        return self._connection is not None

    # ── Reading ───────────────────────────────────────────────────────────────────────────────────────────────────

    def entry(self, key: bytes) -> bytes | None:
        """The value of a key, or None. What has been written since this store was opened is not found: whether a file
        that is there twice is compiled twice must not depend on which comes first."""
        row = self._try(lambda db: db.execute("SELECT data, used FROM entries WHERE key = ?", (key,)).fetchone())
        return self._unpacked("entries", "key", key, row)

    def text(self, digest: bytes) -> bytes | None:
        """The text with that SHA-256, or None."""
        row = self._try(lambda db: db.execute("SELECT data, used FROM texts WHERE sha256 = ?", (digest,)).fetchone())
        data = self._unpacked("texts", "sha256", digest, row)
        return data if data is not None and hashlib.sha256(data).digest() == digest else None

    def _unpacked(self, table: str, column: str, key: bytes, row: tuple[bytes, int] | None) -> bytes | None:
        if row is None:
            return None
        packed, used = row
        if used > self._opened and table == "entries":
            return None
        try:
            data = zlib.decompress(packed)
        except zlib.error:  # bytes have changed within a cell, which SQLite doesn't notice
            self._write(lambda db: db.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,)))
            return None
        if self._opened - used > NOTED_MS:
            self._write(lambda db: db.execute(f"UPDATE {table} SET used = ? WHERE {column} = ?", (self._opened, key)))
        return data

    def contents(self) -> Contents:
        """What there is."""
        kinds = self._try(lambda db: dict(db.execute("SELECT kind, count(*) FROM entries GROUP BY kind ORDER BY kind")))
        texts = self._try(lambda db: int(db.execute("SELECT count(*) FROM texts").fetchone()[0]))
        return Contents(kinds or {}, texts or 0, sum(map(_size, files(self._folder))))

    # ── Writing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def write(self, entries: Iterable[tuple[bytes, str, bytes]], texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep (key, kind, value) and (SHA-256, text), all of it or nothing."""
        now = _now()
        small = [(key, kind, now, zlib.compress(data, ENTRY_LEVEL)) for key, kind, data in entries]
        large = [(digest, now, zlib.compress(data, TEXT_LEVEL)) for digest, data in texts]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", small)
            db.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", large)

        self._write(write)
        self._shrink()

    def _write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do `work` in a transaction of its own, the shorter the better: others wait for it."""
        if not self._writable:
            return

        def whole(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            try:
                work(db)
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

        self._try(whole, writing=True)

    def _shrink(self) -> None:
        """Forget what was not used for longest, until the rest is well below the limit."""
        size = self._try(_used_bytes)
        if size is None or size <= self._limit:
            return
        for _ in range(64):  # each round takes a tenth, and one that can't (another run is at it) is no reason to stay
            self._write(_forget_oldest)
            size = self._try(_used_bytes)
            if size is None or size <= self._limit * KEPT:
                break
        self._try(lambda db: db.execute("PRAGMA incremental_vacuum").fetchall(), writing=True)

    # ── The file ──────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Let the file go."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> None:
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._connection = self._connect_in_time()
        except sqlite3.Error as error:
            if _is_damage(error):
                self._begin_anew()
            else:
                self._give_up(str(error))
        except OSError as error:
            self._give_up(error.strerror or str(error))

    def _connect_in_time(self) -> sqlite3.Connection:
        """Two runs that begin one file at the same moment get in each other's way: whoever is refused waits a little,
        since SQLite itself doesn't where a wait could be for ever."""
        for _ in range(20):
            try:
                return self._connect()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(0.05)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        try:
            new = db.execute("PRAGMA schema_version").fetchone() == (0,)
            if new:
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes the lock of a writer, and is for empty files
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if new:
                db.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT")
            for query in _CHECK:
                db.execute(query).fetchall()
            self._inode = os.stat(self.path).st_ino
        except BaseException:
            db.close()
            raise
        return db

    def _try(self, work: Callable[[sqlite3.Connection], Value], *, writing: bool = False) -> Value | None:
        """What `work` gives, or None where the file doesn't let it."""
        if self._connection is None:
            return None
        try:
            return work(self._connection)
        except sqlite3.Error as error:
            if _is_damage(error):
                self._begin_anew()
            elif "locked" in str(error) or "busy" in str(error):  # another run writes, for longer than is decent
                pass
            elif writing:
                self._writable = False
                self._note(f"{self.path}: nothing more is remembered: {error}")
            else:
                self._give_up(str(error))
            return None

    def _begin_anew(self) -> None:
        """Set the damaged file aside, once in a run, and begin an empty one."""
        self.close()
        if self._began_anew:
            self._give_up("damaged again")
            return
        self._began_anew = True
        aside = f"{self.path}.damaged"
        try:
            if self._inode in (0, os.stat(self.path).st_ino):  # else another run has done it
                os.replace(self.path, aside)
                for ending in ("-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        os.unlink(self.path + ending)
            self._connection = self._connect()
        except (OSError, sqlite3.Error) as error:
            self._give_up(str(error))
            return
        self._note(f"what was remembered is damaged: it lies in {aside}, and is collected anew")

    def _give_up(self, reason: str) -> None:
        self.close()
        self._note(f"{self.path}: results are not remembered: {reason}")

    def _note(self, message: str) -> None:
        if not self.notes:  # the first is the cause of all others
            self.notes.append(Diagnostic("warning", "store/unusable", message, hint="--no-cache does without"))


def files(folder: str) -> list[str]:
    """Everything in a folder that is a store's, of whatever layout."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.startswith("results-") and ".sqlite" in name]


def _now() -> int:
    return time.time_ns() // 1_000_000


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is no database, is malformed, or has other tables than ours."""
    # Python raises the plain class for SQLITE_CORRUPT and SQLITE_NOTADB alone.
    return type(error) is sqlite3.DatabaseError or str(error).startswith("no such")


def _used_bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _forget_oldest(db: sqlite3.Connection) -> None:
    """Forget a tenth of what there is, and whatever else is as old."""
    for table in ("entries", "texts"):
        db.execute(
            f"DELETE FROM {table} WHERE used <= (SELECT used FROM {table} ORDER BY used"
            f" LIMIT 1 OFFSET (SELECT count(*) / 10 FROM {table}))"
        )
