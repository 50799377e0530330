"""What every format has in common: how it is opened, what it is fed, what it leaves for standard error.

output = create("table", sys.stdout.buffer, Options(view="stats", width=100, colour=True))
for event in engine.run(request):
    output.feed(event)
output.close()
for line in output.remarks(): …      # for standard error
for line in output.unmatched(): …    # options that matched nothing: exit status 2
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import BinaryIO, Protocol

from shaderstat.errors import ShaderstatError
from shaderstat.model import EndEvent, Event, PipelineEvent, ResultEvent, TargetEvent
from shaderstat.plain import dataclass
from shaderstat.reporters.select import Selection, Selector

# Format → "module:class". The class is called with a binary stream and `Options`.
FORMATS: Mapping[str, str] = {
    "table": "shaderstat.reporters.table:Table",
    "json": "shaderstat.reporters.json:Json",
    "jsonl": "shaderstat.reporters.jsonl:JsonLines",
    "csv": "shaderstat.reporters.csv:Csv",
    "csv-long": "shaderstat.reporters.csv_long:CsvLong",
    "fossilize-csv": "shaderstat.reporters.fossilize_csv:FossilizeCsv",
    "foz": "shaderstat.reporters.foz:Archive",
}

# What a table may show; JSON holds all of it, whatever the view.
# What takes a format's place where something else is asked for than statistics: a row of CSV has room for one thing.
_OF_VIEW: Mapping[str, Mapping[str, str]] = {
    "ir": dict.fromkeys(("csv", "csv-long"), "shaderstat.reporters.csv_ir:CsvIr"),
    "run": {"csv": "shaderstat.reporters.csv_run:CsvRun"},
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to show it.

    Attributes:
        view: ``stats``, ``list``, ``ir`` or ``run``.
        verbosity: 1 adds the driver's own descriptions.
        width: the terminal's columns; None off a terminal, where nothing is wrapped or left out.
        colour: whether to write ANSI colours.
        encoding: the stream's, for tables: what it can't hold is written in ASCII. Data formats are UTF-8, always.
        raw: never set targets side by side by key; each stands for itself with the driver's names.
        selection: which part of the answer, in which order.
    """

    view: str = "stats"
    verbosity: int = 0
    width: int | None = None
    colour: bool = False
    encoding: str = "utf-8"
    raw: bool = False
    selection: Selection = field(default_factory=Selection)


class Reporter(Protocol):
    """A format. It is fed a run's events in order, and closed once, even when the run broke off.

    Attributes:
        by_row: whether it shows executables one by one, so that sorting may pull a pipeline's apart: then it is told
            the pipeline again.
        shows_synthetic: whether it always holds the executables that shaderstat made up, marked as such.
    """

    by_row: bool
    shows_synthetic: bool

    def feed(self, event: Event) -> None:
        """Take the next event, and write what can be written."""

    def close(self) -> None:
        """Write the rest. The stream stays open."""

    def remarks(self) -> Sequence[str]:
        """Lines for standard error, after `close`: what was left out, and how to see it."""


class Output:
    """A format behind a selection: what the commands write to."""

    def __init__(self, reporter: Reporter, selection: Selection) -> None:
        self._reporter = reporter
        self._selector = Selector(selection, keep_synthetic=reporter.shows_synthetic)
        self._waiting: list[ResultEvent] = []  # for the sorting
        self._held: list[ResultEvent] = []  # for a match
        self._pipelines: dict[str, PipelineEvent] = {}
        self._last: str | None = None  # the pipeline that the reporter was told last

    def feed(self, event: Event) -> None:
        """Take the next event of a run."""
        if isinstance(event, TargetEvent):
            self._reporter.feed(TargetEvent(self._selector.target(event.target)))
        elif isinstance(event, PipelineEvent):
            # Held back until a result of it is shown: a pipeline that is selected away is not listed either.
            self._pipelines[event.pipeline.id] = event
        elif isinstance(event, ResultEvent):
            kept = self._selector.choose(event)
            if kept is not None and self._selector.sorts:
                self._waiting.append(kept)
            elif kept is not None:
                self._pass_on(kept)
        else:
            if isinstance(event, EndEvent):
                self._flush()
            self._reporter.feed(event)

    def close(self) -> None:
        """Write what is left. Needed after the last event, also of a run that broke off."""
        self._flush()
        self._reporter.close()

    def remarks(self) -> Sequence[str]:
        """Lines for standard error, after `close`."""
        return [*self._selector.remarks(), *self._reporter.remarks()]

    def unmatched(self) -> Sequence[str]:
        """One line for each option of the selection that matched nothing in any answer."""
        return self._selector.unmatched()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for event in self._selector.order(waiting, by_row=self._reporter.by_row):
            self._pass_on(event)
        if self._selector.is_fruitless and self._selector.unmatched():
            self._held = [event for event in self._held if not event.result.executables]
        self._release()

    def _pass_on(self, event: ResultEvent) -> None:
        """Show it, as soon as anything has been found of what was asked for: nothing else passes for an answer."""
        self._held.append(self._selector.narrow(event))
        if not self._selector.is_fruitless:
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, []
        for event in held:
            id = event.result.pipeline
            if id != self._last and id in self._pipelines:
                self._last = id
                # Rows of one pipeline may stand apart: then it is told again, so that nobody has to hold them all.
                again = self._reporter.by_row and self._selector.sorts
                self._reporter.feed(self._pipelines[id] if again else self._pipelines.pop(id))
            self._reporter.feed(event)


def create(format: str, stream: BinaryIO, options: Options | None = None) -> Output:
    """Open a format on a binary stream.

    Raises:
        ShaderstatError: no such format.
    """
    options = options or Options()
    try:
        place = FORMATS[format]
    except KeyError:
        raise ShaderstatError(f"no format is called {format!r}", hint=f"there are {', '.join(FORMATS)}") from None
    place = _OF_VIEW.get(options.view, {}).get(format, place)
    module, name = place.split(":")
    reporter: Reporter = getattr(importlib.import_module(module), name)(stream, options)
    return Output(reporter, options.selection)
