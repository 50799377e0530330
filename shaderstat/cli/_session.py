"""What the data commands have in common: a request out of options, events into formats, a status out of results.

stdout holds the data; which compiler answered, what was left out and how much there was goes to stderr.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import click
from click.core import ParameterSource

from shaderstat.cli import COMMANDS, say
from shaderstat.cli._destinations import Destination, open_destinations
from shaderstat.model import (
    STATUSES,
    EndEvent,
    Event,
    NoteEvent,
    Pipeline,
    PipelineEvent,
    Request,
    Result,
    ResultEvent,
    TargetEvent,
)
from shaderstat.reporters import base
from shaderstat.reporters.base import Options, Output
from shaderstat.reporters.select import Selection

# Statuses that leave a question without a trustworthy answer, whatever another target says.
_BAD = frozenset({"invalid", "failed", "crashed", "timeout"})

# Problems told one by one on stderr; the report has all of them.
_TOLD = 10


class Sink(Protocol):
    """What events are fed to: `shaderstat.reporters.base.Output` is one."""

    def feed(self, event: Event) -> None: ...
    def close(self) -> None: ...
    def remarks(self) -> Sequence[str]: ...
    def unmatched(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one call, in the forms that are needed.

    Attributes:
        command: its name.
        options: as click parsed them.
        format: that of ``-f`` or ``--json``; `explicit` if it was given on the command line.
        colour: whether standard output gets colours; `width` its columns, None off a terminal.
    """

    command: str
    options: Mapping[str, Any]
    request: Request
    selection: Selection
    format: str
    explicit: bool
    colour: bool
    width: int | None
    quiet: bool
    verbosity: int

    @property
    def shows_problems(self) -> bool:
        """Whether a table on the terminal says itself what went wrong: stderr would only say it again."""
        elsewhere = self.options["outputs"] or self.options.get("out")
        return self.width is not None and self.format == "table" and not elsewhere

    def reporter_options(self, view: str, to_terminal: bool) -> Options:
        """How a format shall look on standard output, or in a file."""
        return Options(
            view=view,
            verbosity=self.verbosity,
            width=self.width if to_terminal else None,
            colour=self.colour if to_terminal else self.options["color"] == "always",
            encoding=(getattr(sys.stdout, "encoding", None) or "utf-8") if to_terminal else "utf-8",
            selection=self.selection,
            raw=bool(self.options.get("raw")),
        )


def settings(
    context: click.Context, options: Mapping[str, Any], *, representations: bool = False, statistics: bool = True
) -> Settings:
    """Make sense of the options.

    Raises:
        click.UsageError: no path, or options that exclude each other.
    """
    _check_paths(context, options["paths"])
    given = context.get_parameter_source("format") is ParameterSource.COMMANDLINE
    json = options["json"]
    if json and given and options["format"] != "json":
        if context.get_parameter_source("json") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--json and -f {options['format']} exclude each other", context)
        json = False  # the variable of the environment gives way
    root = context.find_root().obj
    request = Request(
        paths=options["paths"],
        targets=options["targets"],
        backend=options["backend"],
        statistics=statistics,
        representations=representations,
        validate=not options["no_validate"],
        timeout_s=options["timeout"],
        jobs=options["jobs"],
        pipelines=options["pipelines"],
        driver_manifest=options["driver"],
        environment=dict(options["env"]),
        scenario=options["scenario"],
        arguments=root if isinstance(root, tuple) else (),
    )
    selection = Selection(
        statistics=options.get("statistics", ()),
        stages=options.get("stages", ()),
        representations=options.get("representations", ()),
        sort=options.get("sort"),
        top=options.get("top"),
    )
    terminal = sys.stdout is not None and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Settings(
        command=context.command.name or "",
        options=options,
        request=request,
        selection=selection,
        format="json" if json else options["format"],
        explicit=given or json,
        colour={"always": True, "never": False}.get(options["color"], terminal and not plain),
        width=shutil.get_terminal_size().columns if terminal else None,
        quiet=options["quiet"],
        verbosity=options["verbose"],
    )


def _check_paths(context: click.Context, paths: Sequence[str]) -> None:
    if not paths:
        raise click.UsageError(f"no input. For instance: {context.command_path} blur.comp.spv", context)
    misplaced = next((path for path in paths if path in COMMANDS and not os.path.lexists(path)), None)
    if misplaced is not None:
        raise click.UsageError(f"the command goes first: shaderstat {misplaced} ...", context)


@contextmanager
def destinations(given: Settings, *, silent: bool = False) -> Iterator[list[tuple[str, Destination]]]:
    """The opened outputs; committed at the end, discarded when something goes wrong."""
    opened = open_destinations(
        given.options["outputs"], given.format, explicit=given.explicit, silent=silent and not given.explicit
    )
    try:
        yield opened
        for _, destination in opened:
            destination.commit()
    except BaseException:
        for _, destination in opened:
            destination.discard()
        raise


def create(view: str, given: Settings, opened: Sequence[tuple[str, Destination]]) -> list[Output]:
    """A format on each of the opened outputs."""
    return [
        base.create(name, place.stream, given.reporter_options(view, to_terminal=place.path is None))
        for name, place in opened
    ]


def answer(given: Settings, sinks: Sequence[Sink], *, run: Callable[[Request], Iterator[Event]] | None = None) -> int:
    """Run the request, feed every event to the sinks, tell the rest on stderr.

    Returns:
        The exit status.

    Raises:
        ShaderstatError: nothing could be answered.
        KeyboardInterrupt: in the middle of something, so that what was written may be cut.
    """
    if run is None:
        from shaderstat import engine

        run = engine.run
    tally = Tally(given)
    started = time.monotonic()
    interrupted = False
    with closing(run(given.request)) as events:  # type: ignore[type-var]
        try:
            for event in events:
                tally.feed(event)
                for sink in sinks:
                    sink.feed(event)
        except KeyboardInterrupt:
            if not tally.ended:
                raise
            interrupted = True  # the engine has closed the run: what was answered until then is worth keeping
    for sink in sinks:
        sink.close()
    status = tally.finish(sinks, time.monotonic() - started)
    if interrupted:
        say("interrupted")
        return 130
    return status


class Tally:
    """What the events come to: the notes on stderr, the summary, the exit status."""

    def __init__(self, given: Settings) -> None:
        self._given = given
        self._said: set[tuple[str, str]] = set()
        self._pipelines: dict[str, Pipeline] = {}
        self._open: set[str] = set()  # pipelines that some target doesn't support, and none has answered
        self._answered: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._bad = 0
        self._executables = 0
        self._silent: dict[str, bool] = {}  # targets that gave executables, and no representation of any
        self._names: dict[str, set[str]] = {}  # option → what it could have matched
        self.ended = False
        self._complete = False

    def feed(self, event: Event) -> None:
        """Take the next event of a run."""
        if isinstance(event, NoteEvent):
            self._note(event)
        elif isinstance(event, PipelineEvent):
            self._pipelines = {event.pipeline.id: event.pipeline}
        elif isinstance(event, TargetEvent):
            for option in ("--stat", "--sort"):
                self._names.setdefault(option, set()).update(info.name for info in event.target.statistics)
        elif isinstance(event, ResultEvent):
            self._result(event.result)
        elif isinstance(event, EndEvent):
            self.ended, self._complete = True, event.run.complete

    def finish(self, sinks: Sequence[Sink], seconds: float) -> int:
        """Say what is to be said at the end, and decide the status."""
        if self._bad > _TOLD and not self._given.shows_problems:
            say(f"error: {self._bad - _TOLD} more of this kind: the report has them")
        silent = [f"{name}: this driver gives no internal representations" for name, no in self._silent.items() if no]
        wordless = self._given.command == "ir" and bool(silent) and all(self._silent.values())
        if not self._given.quiet:
            for line in _once(line for sink in sinks for line in sink.remarks()):
                if line not in silent:
                    say(line)
            say(self._summary(seconds))
        if self._given.command == "ir" and (wordless or not self._given.quiet):
            for line in silent:
                say(f"error: {line}" if wordless else line)
        unmatched = _once(line for sink in sinks for line in sink.unmatched())
        for line in unmatched:
            say(f"error: {line}")
            there = sorted(self._names.get(line.split(" ")[0], ()))
            if there:
                say(f"hint: there are {', '.join(there)}")
        unanswered = bool(self._open - self._answered)
        fine = self._complete and not self._bad and not unanswered and not unmatched and not wordless
        return 0 if fine else 2

    def _note(self, event: NoteEvent) -> None:
        note = event.diagnostic
        if (self._given.quiet and note.severity != "error") or (note.code, note.message) in self._said:
            return
        self._said.add((note.code, note.message))
        say(note.message if note.severity == "info" else f"{note.severity}: {note.message}")
        if note.hint:
            say(f"hint: {note.hint}")

    def _result(self, result: Result) -> None:
        self._counts[result.status] += 1
        self._counts["cached"] += result.cached
        self._executables += len(result.executables)
        for executable in result.executables:
            self._names.setdefault("--stage", set()).update(executable.stages)
            self._names.setdefault("--ir", set()).update(one.name for one in executable.representations)
        if result.executables and result.target is not None:
            given = any(executable.representations for executable in result.executables)
            self._silent[result.target] = self._silent.get(result.target, True) and not given
        if result.status == "ok":
            self._answered.add(result.pipeline)
        elif result.status == "unsupported":
            self._open.add(result.pipeline)
        if result.status in _BAD:
            self._bad += 1
            if self._bad <= _TOLD:
                self._tell(result)

    def _tell(self, result: Result) -> None:
        """One bad result: what, which file, why, and the command that shows it again."""
        pipeline = self._pipelines.get(result.pipeline)
        where = ", ".join(dict.fromkeys(module.path for module in pipeline.modules)) if pipeline else result.pipeline
        reason = next((each for each in result.diagnostics if each.severity == "error"), None)
        failure = result.failure
        if failure is not None:
            cause = failure.signal or failure.vk_result or failure.code
            text = f"{result.status} in {failure.phase}: {cause}"
            if failure.limit_s is not None:
                text = f"{result.status} in {failure.phase} after {failure.limit_s:g} s"
        else:
            text = reason.message if reason else result.status
        place = f"{where} on {result.target}" if result.target and failure else where
        if not self._given.shows_problems:
            say(f"error: {place}: {text}")
            if reason is not None and reason.hint and failure is None:
                say(f"hint: {reason.hint}")
        if failure is not None and failure.reproduce:
            say(f"again: {shlex.join(failure.reproduce)}")

    def _summary(self, seconds: float) -> str:
        took = f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
        counted = [f"{self._counts[status]} {status}" for status in STATUSES if self._counts[status]]
        if counted == ["1 ok"]:
            return f"1 pipeline in {took}"
        executables = "1 executable" if self._executables == 1 else f"{self._executables} executables"
        cached = f" ({self._counts['cached']} from cache)" if self._counts["cached"] else ""
        return f"{' · '.join(counted) or 'nothing'} · {executables} in {took}{cached}"


def _once(lines: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(lines))
