"""The long table, as data frames and databases like it: one row a statistic, written as it comes.

``value`` is a number or empty; ``text`` holds hashes (``'0x…``, as in the wide table) and the exact form of what a
double can't. A pipeline without executables has one row without a statistic, its status in ``text``; an executable
without statistics likewise.

A run's counts follow, a row for each metric of a block: its stages, no executable, the metric's name as statistic, and
as key where it was counted and, since names may repeat, which of the metrics it is:
``submission=0 command=0 sub=0 block=3 metric=0``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from shaderstat.instrumentation import Instrumented
from shaderstat.model import Event, Pipeline, PipelineEvent, ResultEvent, RunEvent, TargetEvent
from shaderstat.reporters import _cells
from shaderstat.reporters._counts import INVENTED
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Infos, index, joined

COLUMNS = (
    "pipeline",
    "variant",
    "target",
    "executable_index",
    "executable",
    "stages",
    "subgroup_size",
    "statistic",
    "key",
    "format",
    "value",
    "text",
    "unit",
)


class CsvLong:
    """Writes each result at once."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        self._rows = _cells.Rows(stream)
        self._infos: dict[str | None, Infos] = {}
        self._pipeline: Pipeline | None = None
        self._invented = False

    def feed(self, event: Event) -> None:
        if isinstance(event, RunEvent):
            self._rows.write([COLUMNS])
        elif isinstance(event, TargetEvent):
            self._infos[event.target.id] = index(event.target.statistics)
        elif isinstance(event, PipelineEvent):
            self._pipeline = event.pipeline
        elif isinstance(event, ResultEvent):
            self._rows.write(self._records(event))

    def close(self) -> None:
        """Everything is written."""

    def remarks(self) -> Sequence[str]:
        return [INVENTED] if self._invented else []

    def _records(self, event: ResultEvent) -> Iterator[list[str]]:
        result = event.result
        known = self._pipeline
        first = _cells.pipeline_cells(result, known if known is not None and known.id == result.pipeline else None)
        if not result.executables and (result.instrumentation is None or not result.instrumentation.blocks):
            yield [*first, *_cells.executable_cells(None), "", "", "", "", _cells.text(result.status), ""]
        for executable in result.executables:
            second = [*first, *_cells.executable_cells(executable)]
            if not executable.statistics:
                yield [*second, "", "", "", "", "", ""]
            for each, info in joined(executable, self._infos.get(result.target, {})):
                # A hash is no quantity: an empty value keeps it out of every sum.
                value = None if info.role == "identity" else each.value
                yield [
                    *second,
                    _cells.text(each.name),
                    info.key or "",
                    each.format,
                    _cells.number(value),
                    _cells.exact(each),
                    info.unit or "",
                ]
        if result.instrumentation is not None:
            run = result.instrumentation
            self._invented = self._invented or (run.invented and bool(run.blocks))
            yield from (first + cells for cells in _counts_cells(result.instrumentation))


def _counts_cells(run: Instrumented) -> Iterator[list[str]]:
    metrics = run.offer.metrics if run.offer is not None else ()
    for block in run.blocks:
        where = f"submission={block.submission} command={block.command} sub={block.sub_index} block={block.basic_block}"
        for place, (metric, value) in enumerate(zip(metrics, block.values, strict=True)):
            text = block.texts[place] if block.texts else None
            key = f"{where} metric={place}"
            second = ["", "", _cells.text("+".join(block.stages)), "", _cells.text(metric.name), key, "uint64"]
            yield [*second, _cells.number(value), text or "", ""]
