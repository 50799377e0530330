"""What ``ir`` writes as CSV, of either kind: one row a representation, written as it comes.

A pipeline without executables has one row with its status, an executable without representations one without any.
``path`` is where ``--out`` wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from shaderstat.model import Event, Pipeline, PipelineEvent, ResultEvent, RunEvent
from shaderstat.reporters import _cells
from shaderstat.reporters.base import Options
from shaderstat.reporters.csv import COLUMNS as EXECUTABLE

COLUMNS = (*EXECUTABLE, "representation_index", "representation", "is_text", "size", "sha256", "code_sha256", "path")


class CsvIr:
    """Writes each result at once."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._rows = _cells.Rows(stream)
        self._pipeline: Pipeline | None = None

    def feed(self, event: Event) -> None:
        if isinstance(event, RunEvent):
            self._rows.write([COLUMNS])
        elif isinstance(event, PipelineEvent):
            self._pipeline = event.pipeline
        elif isinstance(event, ResultEvent):
            self._rows.write(self._records(event))

    def close(self) -> None:
        """Everything is written."""

    def remarks(self) -> Sequence[str]:
        return ()

    def _records(self, event: ResultEvent) -> Iterator[list[str]]:
        result, known = event.result, self._pipeline
        cells = _cells.pipeline_cells(result, known if known is not None and known.id == result.pipeline else None)
        first = [*cells, _cells.text(result.status)]
        for executable in result.executables or [None]:
            second = [*first, *_cells.executable_cells(executable)]
            if executable is None or not executable.representations:
                yield [*second, *[""] * (len(COLUMNS) - len(EXECUTABLE))]
                continue
            for one in executable.representations:
                yield [
                    *second,
                    str(one.index),
                    _cells.text(one.name),
                    "true" if one.is_text else "false",
                    str(one.size),
                    one.sha256,
                    one.code_sha256,
                    _cells.text(one.path or ""),
                ]
