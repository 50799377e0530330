"""The sides of a comparison: saved reports, the peer's tables, folders of representations, or what is compiled now."""

from __future__ import annotations

import gc
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import BinaryIO

from shaderstat.cli import say
from shaderstat.cli._settings import Settings
from shaderstat.cli._tally import Tally
from shaderstat.cli._texts import Texts, is_folder_of_texts
from shaderstat.compare import Collector, Side
from shaderstat.errors import ShaderstatError
from shaderstat.model import Event, Request, ResultEvent, Target, TargetEvent
from shaderstat.reporters.read import read_events
from shaderstat.reporters.read_fossilize import is_fossilize_csv, read_fossilize
from shaderstat.reporters.text import printable

# Enough of a file to tell what it is.
_HEAD = 4096


class Loader:
    """Makes sides of what stands on the command line.

    Args:
        texts: where the bytes of representations go; None where only numbers are compared.
        paths: whether formats need the names of files.
    """

    def __init__(self, given: Settings, texts: Texts | None, *, paths: bool) -> None:
        self._given = given
        self._texts = texts
        self._paths = paths
        self._said: set[tuple[str, str]] = set()  # of both sides, so that what they have in common is said once

    def is_live(self, path: str) -> bool:
        """Whether a path is compiled, not read."""
        if path == "-":
            return not _is_saved(_peek_stdin())
        if os.path.isdir(path):
            return not (self._texts is not None and is_folder_of_texts(path))
        return not _is_saved(_head(path))

    def saved(self, path: str) -> Side:
        """A side that was written before.

        Raises:
            ShaderstatError: it can't be read, or isn't what it looks like.
        """
        label = printable(path)
        collector = self._collector(label)
        with _quick():
            if self._texts is not None and os.path.isdir(path):
                self._texts.read_folder(path, collector)
                return collector.side
            for event in _events(_stdin(), label) if path == "-" else events_of(path):
                collector.feed(event)
        return collector.side

    def live(self, path: str, targets: tuple[str, ...]) -> Side:
        """A side that is compiled now, on these targets, or on the best one.

        Raises:
            ShaderstatError: nothing could be answered.
        """
        from shaderstat import engine  # late: a slip in the options is told before anything is loaded

        request = self._request(path, targets)
        watch = engine.Watch()
        tally = Tally(replace(self._given, request=request), watch, said=self._said)
        collector = self._collector(printable(path), live=True)
        with closing(tally.progress), closing(engine.run(request, watch)) as events:
            for event in events:
                tally.feed(event)
                self._feed(collector, event)
        return collector.side

    def _request(self, path: str, targets: tuple[str, ...]) -> Request:
        stdin = sys.stdin.buffer.read() if path == "-" and sys.stdin is not None else None
        request = self._given.request
        return replace(request, paths=(path,), targets=targets or request.targets, stdin=stdin)

    def _feed(self, collector: Collector, event: Event) -> None:
        if self._texts is not None and isinstance(event, ResultEvent):
            collector.feed(event, self._texts.keep(event))
        else:
            collector.feed(event)

    def _collector(self, label: str, *, live: bool = False) -> Collector:
        return Collector(label, live=live, texts=self._texts is not None, paths=self._paths)


def alone(side: Side, target: Target, label: str) -> Side:
    """What of a side one target answered."""
    outcomes = {id: of_target for id, of_target in side.outcomes.items() if id in (None, target.id)}
    return replace(side, label=label, targets={target.id: target}, outcomes=outcomes)


def _events(stream: BinaryIO, label: str) -> Iterator[Event]:
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    if is_fossilize_csv(buffered.peek(_HEAD)):
        return _of_somebody(read_fossilize(buffered, label), label)
    return read_events(buffered, label)


def _of_somebody(events: Iterator[Event], label: str) -> Iterator[Event]:
    """The peer's table, which doesn't say whose statistics it holds: they are looked up by their names."""
    from shaderstat.annotate import guessed

    said: set[str] = set()
    for event in events:
        if isinstance(event, TargetEvent):
            target, driver = guessed(event.target)
            event = TargetEvent(target)
            if driver is not None and driver not in said:
                said.add(driver)
                say(f"{label}: does not name its driver; its statistics are called as {driver}'s")
        yield event


def is_report(path: str) -> bool:
    """Whether a path is a saved report, or the peer's table, and not a shader."""
    return path != "-" and not os.path.isdir(path) and _is_saved(_head(path))


def events_of(path: str) -> Iterator[Event]:
    """A saved report's events.

    Raises:
        ShaderstatError: it can't be read, or isn't what it looks like.
    """
    label = printable(path)
    try:
        with open(path, "rb") as stream:
            yield from _events(stream, label)
    except OSError as error:
        raise ShaderstatError(f"{label}: can't be read: {error.strerror or error}") from None


def _is_saved(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or is_fossilize_csv(head)


def _head(path: str) -> bytes:
    """A file's beginning; nothing of what can't be read, or is no plain path, which the engine says better. A pipe is
    not looked into: what was read would be gone, and it may have no writer."""
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        if path.endswith((".json", ".jsonl", ".csv")):
            raise ShaderstatError(f"{printable(path)}: no such report") from None
        return b""


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise ShaderstatError("standard input is closed")
    return sys.stdin.buffer


def _peek_stdin() -> bytes:
    stream = _stdin()
    return stream.peek(_HEAD) if isinstance(stream, io.BufferedReader) else b""


@contextmanager
def _quick() -> Iterator[None]:
    """Millions of small things that hold no cycle: looking for cycles among them takes longer than reading them, and
    would be done again and again while they are compared."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()
