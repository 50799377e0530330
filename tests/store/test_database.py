"""The file: shared, limited, and never worth an error."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shaderstat.store import database
from shaderstat.store.database import NAME, Database
from tests.conftest import ROOT

LIMIT = 1 << 30


def text(data: bytes) -> tuple[bytes, bytes]:
    return hashlib.sha256(data).digest(), data


_OPENED: list[Database] = []


def opened(folder: Path, limit: int = LIMIT) -> Database:
    """The file of a folder, until the test ends."""
    _OPENED.append(Database(str(folder), limit))
    return _OPENED[-1]


@pytest.fixture(autouse=True)
def let_go() -> Iterator[None]:
    """Python 3.13 warns of every database that nobody closed, whenever it comes to collect it."""
    yield
    while _OPENED:
        _OPENED.pop().close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Milliseconds, as a test says."""
    now = [1_000_000]
    monkeypatch.setattr(database, "_now", lambda: now[0])
    yield now


def fill(folder: Path, count: int = 300) -> None:
    """A file of some pages."""
    db = opened(folder)
    db.write([(b"key %d" % n, "answer", os.urandom(200)) for n in range(count)], [text(os.urandom(5000))])
    assert not db.notes
    db.close()


def test_what_was_written_is_found_by_the_next_run(tmp_path: Path) -> None:
    digest, data = text(b"code\n" * 1000)
    first = opened(tmp_path / "new" / "folder")
    first.write([(b"k", "answer", b"v")], [(digest, data)])
    first.close()
    second = opened(tmp_path / "new" / "folder")
    assert (second.entry(b"k"), second.text(digest)) == (b"v", data)
    assert second.entry(b"other") is None
    assert second.contents().entries == {"answer": 1}
    assert (second.contents().texts, second.notes) == (1, [])


def test_what_a_run_writes_itself_it_does_not_find(tmp_path: Path, clock: list[int]) -> None:
    db = opened(tmp_path)
    clock[0] += 1
    db.write([(b"k", "answer", b"v")], [])
    assert db.entry(b"k") is None
    assert opened(tmp_path).entry(b"k") == b"v"


def test_a_later_value_replaces_an_earlier_one(tmp_path: Path) -> None:
    for value in (b"1", b"2"):
        db = opened(tmp_path)
        db.write([(b"k", "answer", value)], [])
        db.close()
    assert opened(tmp_path).entry(b"k") == b"2"


# ── The limit ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_oldest_go_first_when_there_is_too_much(tmp_path: Path, clock: list[int]) -> None:
    limit = 400_000
    for day in range(40):
        clock[0] += 24 * 3600 * 1000 + 1
        db = opened(tmp_path, limit)
        db.entry(b"beloved")  # used every day
        value = [(b"%d" % day, "answer", os.urandom(20_000)), *([(b"beloved", "answer", b"v")] if day == 0 else [])]
        db.write(value, [])
        db.close()
    db = opened(tmp_path, limit)
    there = [day for day in range(40) if db.entry(b"%d" % day) is not None]
    assert there == list(range(40 - len(there), 40))
    assert 8 <= len(there) < 20
    assert db.entry(b"beloved") == b"v"
    assert db.contents().size <= limit * 2  # the file and what was written to it last


def test_one_thing_beyond_the_limit_goes_as_well(tmp_path: Path) -> None:
    db = opened(tmp_path, 50_000)
    db.write([(b"k", "answer", os.urandom(200_000))], [])
    assert (db.contents().entries, db.notes) == ({}, [])


# ── Damage ────────────────────────────────────────────────────────────────────────────────────────────────────────


def damage_head(data: bytearray) -> None:
    data[:100] = b"#" * 100


def damage_pages(data: bytearray) -> None:
    for page in range(4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64


def damage_size(data: bytearray) -> None:
    del data[len(data) // 2 // 4096 * 4096 + 1000 :]


@pytest.mark.parametrize("damage", [damage_head, damage_pages, damage_size])
def test_a_damaged_file_is_set_aside_with_one_line(tmp_path: Path, damage: object) -> None:
    fill(tmp_path)
    data = bytearray((tmp_path / NAME).read_bytes())
    damage(data)  # type: ignore[operator]
    (tmp_path / NAME).write_bytes(data)
    db = opened(tmp_path)
    assert {db.entry(b"key %d" % n) for n in range(300)} == {None}
    db.write([(b"k", "answer", b"v")], [])
    db.close()
    (note,) = db.notes
    assert (note.severity, note.code) == ("warning", "store/unusable")
    assert "damaged" in note.message
    assert (tmp_path / f"{NAME}.damaged").stat().st_size == len(data)
    after = opened(tmp_path)
    assert (after.entry(b"k"), after.notes) == (b"v", [])


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be taken for one" * 100])
def test_a_file_that_never_was_a_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    db = opened(tmp_path)
    db.write([(b"k", "answer", b"v")], [])
    db.close()
    assert len(db.notes) == bool(content)
    assert opened(tmp_path).entry(b"k") == b"v"


def test_a_database_with_other_tables(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / NAME)
    other.execute("CREATE TABLE entries (key, something)")
    other.commit()
    other.close()
    db = opened(tmp_path)
    db.write([(b"k", "answer", b"v")], [])
    db.close()
    assert len(db.notes) == 1
    assert opened(tmp_path).entry(b"k") == b"v"


def test_bytes_that_changed_within_a_value_are_no_value(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    raw = sqlite3.connect(tmp_path / NAME)
    for table in ("entries", "texts"):
        (data,) = raw.execute(f"SELECT data FROM {table}").fetchone()
        raw.execute(f"UPDATE {table} SET data = ?", (data[:50] + bytes([data[50] ^ 1]) + data[51:],))
    (digest,) = raw.execute("SELECT sha256 FROM texts").fetchone()
    raw.commit()
    raw.close()
    db = opened(tmp_path)
    assert (db.entry(b"key 0"), db.text(digest), db.notes) == (None, None, [])


def test_damage_that_comes_while_it_is_open(tmp_path: Path) -> None:
    fill(tmp_path)
    db = opened(tmp_path)
    data = bytearray((tmp_path / NAME).read_bytes())
    damage_pages(data)
    with open(tmp_path / NAME, "r+b") as file:
        file.write(data)
    for n in range(300):
        db.entry(b"key %d" % n)
    db.write([(b"k", "answer", b"v")], [])
    db.close()
    assert len(db.notes) == 1
    assert opened(tmp_path).entry(b"k") == b"v"


# ── No room, no permission ────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    db = opened(tmp_path / "file" / "folder")
    db.write([(b"k", "answer", b"v")], [])
    assert (db.is_open, db.entry(b"k"), db.text(b"d"), db.contents().entries) == (False, None, None, {})
    assert len(db.notes) == 1
    db.close()


def test_a_full_disk_ends_the_writing_and_not_the_reading(tmp_path: Path) -> None:
    fill(tmp_path)
    db = opened(tmp_path)
    assert db._connection is not None
    db._connection.execute("PRAGMA max_page_count = 1")  # SQLITE_FULL, as of a disk
    for n in range(3):
        db.write([(b"new %d" % n, "answer", os.urandom(50_000))], [])
    (note,) = db.notes
    assert "full" in note.message
    assert db.entry(b"key 7") is not None


def test_another_run_that_writes_for_long_costs_what_would_have_been_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    fill(tmp_path)
    other = sqlite3.connect(tmp_path / NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    db = opened(tmp_path)
    db.write([(b"k", "answer", b"v")], [])
    assert (db.entry(b"key 7") is not None, db.notes) == (True, [])
    other.execute("ROLLBACK")
    other.close()
    db.write([(b"k", "answer", b"v")], [])
    db.close()
    assert opened(tmp_path).entry(b"k") == b"v"


# ── Several at once ───────────────────────────────────────────────────────────────────────────────────────────────

WRITER = """
import sys
from shaderstat.store.database import Database
name, count = sys.argv[2], int(sys.argv[3])
db = Database(sys.argv[1], 1 << 30)
for n in range(count):
    db.write([(f"{name} {n}".encode(), "answer", b"v" * 1000)], [])
    if n == 0:
        print("begun", flush=True)
print(len(db.notes))
"""


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_runs_that_begin_one_file_at_the_same_moment(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 100) for name in "abcd"]
    assert [one.communicate(timeout=60)[0].split()[-1] for one in writers] == ["0"] * 4
    db = opened(tmp_path)
    assert all(db.entry(b"%c %d" % (name, n)) for name in b"abcd" for n in range(100))


def test_a_run_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    for _ in range(3):
        one = writer(tmp_path, "x", 1_000_000)
        assert one.stdout is not None
        one.stdout.readline()
        time.sleep(0.05)
        one.send_signal(signal.SIGKILL)
        one.communicate(timeout=60)
        db = opened(tmp_path)
        assert db.entry(b"x 0") == b"v" * 1000
        assert db._connection is not None
        assert db._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.notes == []
        db.close()
