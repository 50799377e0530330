"""The wide table: one row an executable, a column for each statistic that any of them has.

A pipeline without executables has one row, with its status, so that nothing is missing without a word. Empty means
"not reported". Hashes are text (``'0x…``), and no sum takes them in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.model import Event, Executable, PipelineEvent, ResultEvent, TargetEvent, merge, numbered
from shaderstat.reporters import _cells
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Infos, index, joined

COLUMNS = ("pipeline", "variant", "target", "status", "executable_index", "executable", "stages", "subgroup_size")

Key = tuple[str, str, int]


class Csv:
    """Gathers the rows, since the columns are known at the end."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._rows = _cells.Rows(stream)
        self._infos: dict[str | None, Infos] = {}
        self._pipelines: dict[str, PipelineEvent] = {}
        self._columns: list[Key] = []
        self._known: set[Key] = set()
        self._gathered: list[tuple[list[str], dict[Key, str]]] = []

    def feed(self, event: Event) -> None:
        if isinstance(event, TargetEvent):
            self._infos[event.target.id] = index(event.target.statistics)
        elif isinstance(event, PipelineEvent):
            self._pipelines[event.pipeline.id] = event
        elif isinstance(event, ResultEvent):
            self._result(event)

    def close(self) -> None:
        self._rows.write([[*COLUMNS, *_cells.unique((name for name, _, _ in self._columns), COLUMNS)]])
        self._rows.write([*first, *(cells.get(key, "") for key in self._columns)] for first, cells in self._gathered)

    def remarks(self) -> Sequence[str]:
        return ()

    def _result(self, event: ResultEvent) -> None:
        result = event.result
        known = self._pipelines.get(result.pipeline)
        first = [*_cells.pipeline_cells(result, known.pipeline if known else None), _cells.text(result.status)]
        for executable in result.executables:
            cells = self._statistics(executable, self._infos.get(result.target, {}))
            self._gathered.append(([*first, *_cells.executable_cells(executable)], cells))
        if not result.executables:
            self._gathered.append(([*first, *_cells.executable_cells(None)], {}))

    def _statistics(self, executable: Executable, infos: Infos) -> dict[Key, str]:
        keys = numbered(executable.statistics)
        if not self._known.issuperset(keys):
            self._known.update(keys)
            merge(self._columns, keys)
        pairs = joined(executable, infos)
        return {key: _cells.statistic_cell(each, info.role) for key, (each, info) in zip(keys, pairs, strict=True)}
