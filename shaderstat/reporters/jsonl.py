"""The report as it comes: one JSON object a line, each with a ``type``.

``header`` once; ``target`` before the first result that needs it, and again when its list of statistics has grown (the
later one holds); ``pipeline`` before its first result; ``result``; ``end`` with counts. Without it the run broke off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from shaderstat.model import EndEvent, Event, PipelineEvent, ResultEvent, RunEvent, TargetEvent
from shaderstat.reporters.base import Options
from shaderstat.reporters.json import encode


class JsonLines:
    """Writes each event at once."""

    by_row = False
    shows_synthetic = True

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._stream = stream

    def feed(self, event: Event) -> None:
        if isinstance(event, RunEvent):
            run = replace(event.run, complete=False)
            self._write(
                b'"header","schema":%b,"producer":%b,"run":%b'
                % (encode(event.schema), encode(event.producer), encode(run))
            )
        elif isinstance(event, TargetEvent):
            self._write(b'"target",' + _members(event.target))
        elif isinstance(event, PipelineEvent):
            self._write(b'"pipeline",' + _members(event.pipeline))
        elif isinstance(event, ResultEvent):
            self._write(b'"result",' + _members(event.result))
        elif isinstance(event, EndEvent):
            self._write(b'"end",' + _members(event.run))

    def close(self) -> None:
        self._stream.flush()

    def remarks(self) -> Sequence[str]:
        return ()

    def _write(self, rest: bytes) -> None:
        self._stream.write(b'{"type":' + rest + b"}\n")
        self._stream.flush()


def _members(item: object) -> bytes:
    """An object's members without its braces."""
    return encode(item)[1:-1]
