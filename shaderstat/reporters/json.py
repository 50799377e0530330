"""The whole report as one JSON document: schema first, then the header, then one line for each target, pipeline and
result, so that it can be grepped, and two of them compared line by line.

Integers of 64 bits are written digit by digit; a reader that has only doubles finds the exact ones in ``text``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import msgspec

from shaderstat.model import EndEvent, Event, PipelineEvent, ResultEvent, Run, RunEvent, Target, TargetEvent
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import escaped_json

_ENCODER = msgspec.json.Encoder()


# Bytes of a list that are held in memory; the rest of it waits in a temporary file.
_HELD = 4 << 20


class Json:
    """Writes at the end, since what comes first in a report is known last."""

    by_row = False
    shows_synthetic = True

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._stream = stream
        self._head: RunEvent | None = None
        self._run: Run | None = None
        self._targets: dict[str, Target] = {}
        self._pipelines = _Lines()
        self._results = _Lines()

    def feed(self, event: Event) -> None:
        if isinstance(event, RunEvent):
            self._head, self._run = event, replace(event.run, complete=False)
        elif isinstance(event, TargetEvent):
            self._targets[event.target.id] = event.target
        elif isinstance(event, PipelineEvent):
            self._pipelines.add(event.pipeline)
        elif isinstance(event, ResultEvent):
            self._results.add(event.result)
        elif isinstance(event, EndEvent):
            self._run = event.run

    def close(self) -> None:
        if self._head is None:
            return
        targets = _Lines()
        for target in self._targets.values():
            targets.add(target)
        head = (encode(self._head.schema), encode(self._head.producer), encode(self._run))
        self._stream.write(b'{"schema": %b,\n "producer": %b,\n "run": %b' % head)
        for name, lines in ((b"targets", targets), (b"pipelines", self._pipelines), (b"results", self._results)):
            self._stream.write(b',\n "%b": [' % name)
            lines.copy_to(self._stream)
            self._stream.write(b"]")
        self._stream.write(b"}\n")

    def remarks(self) -> Sequence[str]:
        return ()


class _Lines:
    """The items of a list in the document, a line each."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_HELD)
        self._any = False

    def add(self, item: object) -> None:
        self._file.write((b",\n  " if self._any else b"\n  ") + encode(item))
        self._any = True

    def copy_to(self, stream: BinaryIO) -> None:
        self._file.seek(0)
        shutil.copyfileobj(self._file, stream)

    def __del__(self) -> None:  # also of a run that broke off, whose reporters nobody closes
        self._file.close()


def encode(item: object) -> bytes:
    """One of the model's things as JSON on one line.

    Paths that are no UTF-8 come from Python with surrogates, which JSON can't hold: their bytes are shown as ``\\xff``.
    """
    try:
        data = _ENCODER.encode(item)
    except UnicodeEncodeError:
        data = _ENCODER.encode(_repaired(msgspec.to_builtins(item)))
    if data.isascii() and b"\x7f" not in data:  # nearly always
        return data
    return escaped_json(data.decode("utf-8")).encode("utf-8")


def _repaired(item: Any) -> Any:
    if isinstance(item, str):
        return item.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(item, dict):
        return {_repaired(key): _repaired(value) for key, value in item.items()}
    if isinstance(item, Iterable) and not isinstance(item, bytes):
        return [_repaired(value) for value in item]
    return item
