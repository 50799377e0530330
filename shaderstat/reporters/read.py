"""Reports read back, as JSON or as JSON lines.

Unknown members are ignored and unknown words accepted, so that a report of a later shaderstat of the same schema
version can be read; a later schema version is refused, since its members may mean something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from shaderstat.errors import ShaderstatError
from shaderstat.model import REPORT_VERSION, Pipeline, Producer, Report, Result, Run, Schema, Target


@dataclass(frozen=True, slots=True)
class _Head:
    schema: Schema
    type: str | None = None


@dataclass(frozen=True, slots=True)
class _Header:
    schema: Schema
    producer: Producer
    run: Run


def read_report(data: bytes, path: str = "the report") -> Report:
    """A report from its bytes. Of JSON lines that were cut off, what is there, with ``run.complete`` False.

    Args:
        path: for messages.

    Raises:
        ShaderstatError: it is no report, a damaged one, or one of a later schema version.
    """
    first, _, rest = data.partition(b"\n")
    try:
        if rest.strip() or first.startswith(b'{"type"'):
            head = _try(first, _Head)
            if head is not None and head.type == "header":
                _check(head.schema, path)
                return _lines(first, rest)
        _check(msgspec.json.decode(data, type=_Head).schema, path)
        return msgspec.json.decode(data, type=Report)
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


def _lines(first: bytes, rest: bytes) -> Report:
    header = msgspec.json.decode(first, type=_Header)
    run = replace(header.run, complete=False)
    targets: dict[str, Target] = {}
    pipelines: dict[str, Pipeline] = {}
    results: list[Result] = []
    lines = rest.split(b"\n")
    for place, line in enumerate(lines):
        item: Any = _try(line, dict) if place == len(lines) - 1 else msgspec.json.decode(line, type=dict)
        if not isinstance(item, dict):
            break  # cut off within this line
        kind = item.get("type")
        if kind == "target":
            target = msgspec.convert(item, Target)
            targets[target.id] = target
        elif kind == "pipeline":
            pipeline = msgspec.convert(item, Pipeline)
            pipelines[pipeline.id] = pipeline
        elif kind == "result":
            results.append(msgspec.convert(item, Result))
        elif kind == "end":
            run = msgspec.convert({**msgspec.to_builtins(run), **item}, Run)
    return Report(
        header.schema, header.producer, run, tuple(targets.values()), tuple(pipelines.values()), tuple(results)
    )


def _try(data: bytes, type: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
