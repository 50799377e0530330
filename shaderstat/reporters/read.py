"""Reports read back, as JSON or as JSON lines, whole or as the events that they were written from.

Unknown members are ignored and unknown words accepted, so that a report of a later shaderstat of the same schema
version can be read; a later schema version is refused, since its members may mean something else.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import msgspec

from shaderstat import instrumentation
from shaderstat.errors import ShaderstatError
from shaderstat.model import (
    REPORT_VERSION,
    EndEvent,
    Event,
    Pipeline,
    PipelineEvent,
    Producer,
    Report,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    Target,
    TargetEvent,
    results,
)
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class _Head:
    schema: Schema
    type: str | None = None


@dataclass(frozen=True, slots=True)
class _Header:
    schema: Schema
    producer: Producer
    run: Run


@dataclass(frozen=True, slots=True)
class _Type:
    type: str = ""


@dataclass(frozen=True, slots=True)
class _Document:
    """A report whose results stay as they are written until they are needed: they are nearly all of it."""

    schema: Schema
    producer: Producer
    run: Run
    targets: tuple[Target, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    results: tuple[msgspec.Raw, ...] = ()


# What a result's annotation names is not loaded with it: what runs nothing starts without.
vars(results).setdefault("Instrumented", instrumentation.Instrumented)

_RESULT = msgspec.json.Decoder(Result)
_PIPELINE = msgspec.json.Decoder(Pipeline)
_TARGET = msgspec.json.Decoder(Target)
_TYPE = msgspec.json.Decoder(_Type)


def read_report(data: bytes, path: str = "the report") -> Report:
    """A report from its bytes. Of JSON lines that were cut off, what is there, with ``run.complete`` False.

    Args:
        path: for messages.

    Raises:
        ShaderstatError: it is no report, a damaged one, or one of a later schema version.
    """
    return Report.collect(read_events(io.BytesIO(data), path))


def read_events(stream: BinaryIO, path: str = "the report") -> Iterator[Event]:
    """A report as events; JSON lines are read one by one, so that they may be longer than the memory holds.

    Of lines that were cut off what is there is given, and no `EndEvent`. Numbers that stand in a report are not checked
    against what the driver could have said.

    Raises:
        ShaderstatError: it is no report, a damaged one, or one of a later schema version.
    """
    first = stream.readline()
    try:
        head = _try(first, _Head)
        if head is not None and head.type == "header":
            _check(head.schema, path)
            yield from _lines(msgspec.json.decode(first, type=_Header), stream, path)
        else:
            data = first + stream.read()
            _check(msgspec.json.decode(data, type=_Head).schema, path)
            yield from _document(msgspec.json.decode(data, type=_Document))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ShaderstatError(
            f"{path}: is not a report: {error}", hint="one is written by: shaderstat stats PATH --json"
        ) from None


def _check(schema: Schema, path: str) -> None:
    if schema.name != Schema().name:
        raise ShaderstatError(f"{path}: follows the schema {schema.name!r}, not {Schema().name!r}")
    if schema.version > REPORT_VERSION:
        raise ShaderstatError(
            f"{path}: is in version {schema.version} of the report; this shaderstat reads up to {REPORT_VERSION}",
            hint="pip install --upgrade shaderstat",
        )


def _document(document: _Document) -> Iterator[Event]:
    yield RunEvent(document.schema, document.producer, document.run, len(document.results))
    yield from map(TargetEvent, document.targets)
    yield from map(PipelineEvent, document.pipelines)
    for raw in document.results:
        yield ResultEvent(_RESULT.decode(raw))
    yield EndEvent(document.run)


def _lines(header: _Header, stream: BinaryIO, path: str) -> Iterator[Event]:
    run = replace(header.run, complete=False)
    yield RunEvent(header.schema, header.producer, run, 0)
    number = 1
    for line in stream:
        number += 1
        try:
            if line.startswith(b'{"type":"result",'):  # as we write it, which spares a look at the whole line
                yield ResultEvent(_RESULT.decode(line))
            elif line.strip():
                yield from _line(line, run)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n") and _try(line, dict) is None:
                return  # cut off within this line
            raise ShaderstatError(f"{path}:{number}: is no line of a report: {error}") from None


def _line(line: bytes, run: Run) -> Iterator[Event]:
    kind = _TYPE.decode(line).type
    if kind == "result":
        yield ResultEvent(_RESULT.decode(line))
    elif kind == "pipeline":
        yield PipelineEvent(_PIPELINE.decode(line))
    elif kind == "target":
        yield TargetEvent(_TARGET.decode(line))
    elif kind == "end":
        item = msgspec.json.decode(line, type=dict[str, Any])
        yield EndEvent(msgspec.convert({**msgspec.to_builtins(run), **item}, Run))


def _try(data: bytes, type: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
