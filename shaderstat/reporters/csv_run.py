"""The wide table of runs: one row a block, a column for each metric that any target has, by its name.

A result without blocks has one row with its status, so that nothing is missing without a word. Statistics have no room
here: a row is a block, not an executable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.instrumentation import CountedBlock, Instrumented
from shaderstat.model import Event, PipelineEvent, ResultEvent, merge
from shaderstat.reporters import _cells
from shaderstat.reporters._counts import INVENTED
from shaderstat.reporters.base import Options

COLUMNS = (
    "pipeline",
    "variant",
    "target",
    "status",
    "submission",
    "command_index",
    "command",
    "sub_index",
    "stages",
    "basic_block",
)

# A metric's name, and how many of that name came before it on its target.
Key = tuple[str, int]


class CsvRun:
    """Gathers the rows, since the columns are known at the end."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._rows = _cells.Rows(stream)
        self._pipelines: dict[str, PipelineEvent] = {}
        self._columns: list[Key] = []
        self._gathered: list[tuple[list[str], dict[Key, str]]] = []
        self._invented = self._has_statistics = False

    def feed(self, event: Event) -> None:
        if isinstance(event, PipelineEvent):
            self._pipelines[event.pipeline.id] = event
        elif isinstance(event, ResultEvent):
            self._result(event)

    def close(self) -> None:
        self._rows.write([[*COLUMNS, *_cells.unique((name for name, _ in self._columns), COLUMNS)]])
        self._rows.write([*first, *(cells.get(key, "") for key in self._columns)] for first, cells in self._gathered)

    def remarks(self) -> Sequence[str]:
        left_out = ["no room for: statistics  (-f csv-long has all)"] if self._has_statistics else []
        return [*([INVENTED] if self._invented else []), *left_out]

    def _result(self, event: ResultEvent) -> None:
        result, run = event.result, event.result.instrumentation
        self._has_statistics = self._has_statistics or any(one.statistics for one in result.executables)
        known = self._pipelines.get(result.pipeline)
        first = [*_cells.pipeline_cells(result, known.pipeline if known else None), _cells.text(result.status)]
        if run is None or not run.blocks:
            self._gathered.append(([*first, *[""] * (len(COLUMNS) - len(first))], {}))
            return
        self._invented = self._invented or run.invented
        keys: list[Key] = []
        for metric in run.offer.metrics if run.offer is not None else ():
            keys.append((metric.name, sum(name == metric.name for name, _ in keys)))
        merge(self._columns, keys)
        for block in run.blocks:
            cells = dict(zip(keys, map(_cells.number, block.values), strict=True))
            self._gathered.append(([*first, *_place(run, block)], cells))


def _place(run: Instrumented, block: CountedBlock) -> list[str]:
    command = str(run.commands[block.command]) if 0 <= block.command < len(run.commands) else ""
    numbers = [str(block.submission), str(block.command), command, str(block.sub_index)]
    return [*numbers, _cells.text("+".join(block.stages)), str(block.basic_block)]
