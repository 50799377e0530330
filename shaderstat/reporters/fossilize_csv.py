"""The wide table of ``fossilize-replay --enable-pipeline-stats``, for scripts that read it: one row an executable.

The columns are that tool's, without its faults: cells are quoted where they must be, an executable has its own numbers
alone, a statistic that is there twice has two columns. What that table has no room for (failures, devices) is in the
others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.errors import ShaderstatError
from shaderstat.model import Event, Executable, Pipeline, PipelineEvent, ResultEvent, Statistic, TargetEvent
from shaderstat.reporters import _cells
from shaderstat.reporters.base import Options
from shaderstat.reporters.read_fossilize import COLUMNS
from shaderstat.reporters.text import printable

# Scripts know two kinds, and the peer calls ray tracing COMPUTE; --raw tells.
_KINDS = {"graphics": "GRAPHICS", "compute": "COMPUTE", "ray_tracing": "COMPUTE"}
_HASH = re.compile(r"(?:^|:)([0-9a-f]{16})(?=\[|$)")
_IN_ARCHIVE = re.compile(r"(.+):[0-9a-f]{16}", re.DOTALL)

# A statistic's name, and how many of that name came before it in its executable.
Key = tuple[str, int]


class FossilizeCsv:
    """Gathers the rows, since the columns are known at the end."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._rows = _cells.Rows(stream)
        self._kinds = {**_KINDS, "ray_tracing": "RAYTRACE"} if options.raw else _KINDS
        self._pipelines: dict[str, Pipeline] = {}
        self._target: str | None = None
        self._columns: dict[Key, None] = {}
        self._gathered: list[tuple[list[str], dict[Key, str]]] = []
        self._without: dict[str, None] = {}

    def feed(self, event: Event) -> None:
        """
        Raises:
            ShaderstatError: a second target: the table has no column for it.
        """
        if isinstance(event, TargetEvent):
            if self._target not in (None, event.target.id):
                raise ShaderstatError(
                    "-f fossilize-csv has no column for the target: one at a time", hint="-f csv has one for all"
                )
            self._target = event.target.id
        elif isinstance(event, PipelineEvent):
            self._pipelines[event.pipeline.id] = event.pipeline
        elif isinstance(event, ResultEvent):
            self._result(event)

    def close(self) -> None:
        self._rows.write([[*COLUMNS, *(_cells.text(name) for name, _ in self._columns)]])
        self._rows.write([*head, *(cells.get(key, "") for key in self._columns)] for head, cells in self._gathered)

    def remarks(self) -> Sequence[str]:
        if not self._without:
            return ()
        count = len(self._without)
        return [f"{count} pipeline{'s' * (count != 1)} without an answer: that table has no rows for them"]

    def _result(self, event: ResultEvent) -> None:
        result, pipeline = event.result, self._pipelines[event.result.pipeline]
        if not result.executables:
            self._without[pipeline.id] = None
        durations = result.durations_ns
        for executable in result.executables:
            stages = sum(durations.stages.get(stage, 0) for stage in executable.stages)
            head = [
                _cells.text(_database(pipeline)),
                self._kinds.get(pipeline.kind or "", ""),
                _hash(pipeline),
                str(durations.wall or 0),
                str(durations.pipeline or 0),
                str(stages),
                _cells.text(executable.name),
                str(executable.subgroup_size or 0),
            ]
            self._gathered.append((head, self._statistics(executable)))

    def _statistics(self, executable: Executable) -> dict[Key, str]:
        cells: dict[Key, str] = {}
        for each in executable.statistics:
            number = sum(name == each.name for name, _ in cells)
            cells[each.name, number] = _cell(each)
        self._columns.update(dict.fromkeys(cells))
        return cells


def _database(pipeline: Pipeline) -> str:
    """The archive, or the file of the first stage."""
    path = pipeline.modules[0].path if pipeline.modules else pipeline.name
    found = _IN_ARCHIVE.fullmatch(path)
    return found[1] if found and pipeline.state is not None and pipeline.state.source == "archive" else path


def _hash(pipeline: Pipeline) -> str:
    """A captured pipeline's own; for others, the beginning of what comparisons match by."""
    found = _HASH.search(pipeline.id)
    captured = pipeline.state is not None and pipeline.state.source == "archive"
    return found[1] if found and captured and pipeline.id == pipeline.name else pipeline.content[:16]


def _cell(statistic: Statistic) -> str:
    value, format = statistic.value, statistic.format
    if value is None:
        exact = statistic.text or ""
        exact = "NaN" if exact.startswith("NaN(") else exact
        return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(exact, printable(exact))
    if format == "bool32":
        return "true" if value else "false"
    if format == "float64":
        return f"{value:.6f}"
    if format == "uint64" and " hash" in statistic.name:
        return f"0x{int(value):016x}"
    return str(int(value))
