"""The whole report as one JSON document: schema first, then the header, then one line for each target, pipeline and
result, so that it can be grepped, and two of them compared line by line.

Integers of 64 bits are written digit by digit; a reader that has only doubles finds the exact ones in ``text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import msgspec

from shaderstat.model import Event, Report
from shaderstat.reporters.base import Options

_ENCODER = msgspec.json.Encoder()


class Json:
    """Gathers the run, since what comes first in a report is known last."""

    by_row = False
    shows_synthetic = True

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._stream = stream
        self._events: list[Event] = []

    def feed(self, event: Event) -> None:
        self._events.append(event)

    def close(self) -> None:
        if self._events:
            write(Report.collect(self._events), self._stream)

    def remarks(self) -> Sequence[str]:
        return ()


def write(report: Report, stream: BinaryIO) -> None:
    """Write `report` as UTF-8, with a closing newline."""
    stream.write(b'{"schema": %b,\n "producer": %b,\n "run": %b' % _encoded(report.schema, report.producer, report.run))
    for name in ("targets", "pipelines", "results"):
        stream.write(b',\n "%b": [' % name.encode())
        for place, item in enumerate(getattr(report, name)):
            stream.write((b",\n  " if place else b"\n  ") + encode(item))
        stream.write(b"]")
    stream.write(b"}\n")


def encode(item: object) -> bytes:
    """One of the model's things as JSON on one line.

    Paths that are no UTF-8 come from Python with surrogates, which JSON can't hold: their bytes are shown as ``\\xff``.
    """
    try:
        return _ENCODER.encode(item)
    except UnicodeEncodeError:
        return _ENCODER.encode(_repaired(msgspec.to_builtins(item)))


def _encoded(*items: object) -> tuple[bytes, ...]:
    return tuple(encode(item) for item in items)


def _repaired(item: Any) -> Any:
    if isinstance(item, str):
        return item.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(item, dict):
        return {_repaired(key): _repaired(value) for key, value in item.items()}
    if isinstance(item, Iterable) and not isinstance(item, bytes):
        return [_repaired(value) for value in item]
    return item
