"""What a run comes to: the notes on stderr while it goes on, the summary at its end, the exit status."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from shaderstat.cli import say, stderr_columns
from shaderstat.cli._progress import Progress
from shaderstat.cli._remarks import Remarks
from shaderstat.cli._settings import Settings
from shaderstat.model import (
    BAD_STATUSES,
    STATUSES,
    Diagnostic,
    EndEvent,
    Event,
    NoteEvent,
    Pipeline,
    PipelineEvent,
    Result,
    ResultEvent,
    TargetEvent,
    cause,
    last_words,
)

if TYPE_CHECKING:
    from shaderstat.engine import Watch

# Problems told one by one on stderr; the report has all of them.
_TOLD = 10

# VkDriverId of drivers that give no internal representations: NVIDIA's own.
_WITHOUT_CODE = frozenset({4})


class Sink(Protocol):
    """What events are fed to: `shaderstat.reporters.base.Output` is one."""

    def feed(self, event: Event) -> None: ...
    def close(self) -> None: ...
    def remarks(self) -> Sequence[str]: ...
    def unmatched(self) -> Sequence[str]: ...


class Tally:
    """What the events come to: the notes on stderr, the summary, the exit status."""

    def __init__(
        self, given: Settings, watch: Watch | None = None, *, said: set[tuple[str, str]] | None = None
    ) -> None:
        """Args:
        watch: tells how far the run is while no event comes; None to show nothing of that.
        said: notes that a run before this one has told already; this one's are added.
        """
        self._given = given
        self._said = set() if said is None else said
        self._pipeline: Pipeline | None = None  # whose results come now
        self._is_answered = False  # on some target
        self._open: dict[str, tuple[Result, Pipeline | None]] = {}  # unsupported somewhere, answered nowhere so far
        self._counts: Counter[str] = Counter()
        self._bad = 0
        self._wrong = False  # an error that is no result's
        self._executables = 0
        self._groupings: set[str] = set()  # remarks on what is no pair
        self._remarks = Remarks()  # on what was answered
        self._silent: dict[str, bool] = {}  # targets that gave executables, and no representation of any
        self._has_code = False  # some driver gives internal representations, as far as is known
        self._names: dict[str, set[str]] = {}  # option → what it could have matched
        shown = not given.quiet and not given.options.get("no_progress") and given.is_silent_until_the_end
        self.progress = Progress(watch, shown=shown)
        self.ended = False
        self._complete = False

    def feed(self, event: Event) -> None:
        """Take the next event of a run."""
        if isinstance(event, NoteEvent):
            self._note(event.diagnostic)
        elif isinstance(event, PipelineEvent):
            self._pipeline, self._is_answered = event.pipeline, False
        elif isinstance(event, TargetEvent):
            self._has_code = self._has_code or event.target.driver.id not in _WITHOUT_CODE
            for option in ("--stat", "--sort"):
                self._names.setdefault(option, set()).update(info.name for info in event.target.statistics)
        elif isinstance(event, ResultEvent):
            self._result(event.result)
        elif isinstance(event, EndEvent):
            self.progress.close()  # before any sink takes this for its cue
            self.ended, self._complete = True, event.run.complete

    def finish(self, sinks: Sequence[Sink], seconds: float) -> int:
        """Say what is to be said at the end, and decide the status."""
        self.progress.close()
        if len(self._groupings) > _TOLD and not self._given.quiet:
            say(f"warning: {len(self._groupings) - _TOLD} more look like pipelines and are none: the report has them")
        for result, pipeline in islice(self._open.values(), max(_TOLD - self._bad, 0)):
            self._tell(result, pipeline)
        untold = self._bad + len(self._open) - _TOLD
        if untold > 0 and not self._given.shows_problems:
            say(f"error: {untold} more went wrong: the report has them")
        silent = [f"{name}: this driver gives no internal representations" for name, no in self._silent.items() if no]
        wordless = self._given.command == "ir" and bool(silent) and all(self._silent.values())
        for line in self._remarks.lines(errors=not self._given.shows_problems, others=not self._given.quiet):
            say(line)
        if not self._given.quiet:
            for line in _once(line for sink in sinks for line in sink.remarks()):
                if line not in silent:
                    say(line)
            self._say_summary(seconds)
        if self._given.command == "ir" and (wordless or not self._given.quiet):
            for line in silent:
                say(f"error: {line}" if wordless else line)
        unmatched = _once(line for sink in sinks for line in sink.unmatched())
        for line in unmatched:
            say(f"error: {line}")
            there = sorted(self._names.get(line.split(" ")[0], ()))
            if there:
                say(f"hint: there are {', '.join(there)}")
        wrong = self._wrong or self._bad or self._open or unmatched or wordless
        return 2 if wrong or not self._complete else 0

    def _note(self, note: Diagnostic) -> None:
        self._wrong = self._wrong or note.severity == "error"
        if (self._given.quiet and note.severity != "error") or (note.code, note.message) in self._said:
            return
        self._said.add((note.code, note.message))
        self.progress.clear()
        say(note.message if note.severity == "info" else f"{note.severity}: {note.message}")
        if note.hint:
            say(f"hint: {note.hint}")

    def _result(self, result: Result) -> None:
        self._counts[result.status] += 1
        self._counts["cached"] += result.cached
        shown = [each for each in result.executables if self._given.selection.synthetic or not each.synthetic]
        self._executables += len(shown)
        for executable in shown:
            self._names.setdefault("--stage", set()).update(executable.stages)
            self._names.setdefault("--ir", set()).update(one.name for one in executable.representations)
        if result.executables and result.target is not None:
            given = any(executable.representations for executable in result.executables)
            given = given or any(remark.code == "vulkan/representations" for remark in result.diagnostics)  # an error
            self._silent[result.target] = self._silent.get(result.target, True) and not given
        pipeline = self._pipeline
        for remark in result.diagnostics:
            if remark.severity == "warning" and remark.code.startswith("pipeline/"):
                self._grouping(remark, pipeline)
            elif result.status == "ok":
                self._wrong = self._wrong or remark.severity == "error"
                self._remarks.add(pipeline.name if pipeline else result.pipeline, remark)
        if result.status == "ok":
            self._is_answered = True
            self._open.pop(result.pipeline, None)
        elif result.status == "unsupported" and not self._is_answered:
            self._open.setdefault(result.pipeline, (result, pipeline))
        if result.status in BAD_STATUSES:
            code = result.failure.code if result.failure is not None else ""
            lost = code == "target/lost" and any(said == code for said, _ in self._said)  # once is enough
            self._bad += 1
            if self._bad <= _TOLD and not lost:
                self._tell(result, pipeline)

    def _grouping(self, remark: Diagnostic, pipeline: Pipeline | None) -> None:
        """Why files that look like one pipeline are none: said once, not of each of them."""
        folder = os.path.dirname(pipeline.modules[0].path) if pipeline and pipeline.modules else ""
        where = f"{folder}: {remark.message}" if folder else remark.message
        if where not in self._groupings:
            self._groupings.add(where)
            if len(self._groupings) <= _TOLD:
                self._note(replace(remark, message=where))

    def _tell(self, result: Result, pipeline: Pipeline | None) -> None:
        """One bad result: what, which file, why, and the command that shows it again."""
        self.progress.clear()
        paths = [module.path for module in pipeline.modules] if pipeline else []
        # Of what a captured pipeline that can't be read is made nothing is known, but which archive it is in.
        paths = paths or [f"{one.path}:{result.pipeline}" for one in result.diagnostics if one.path is not None]
        where = ", ".join(dict.fromkeys(paths)) or result.pipeline
        message, hint = cause(result)
        failure = result.failure
        if not self._given.shows_problems:
            if failure is None:
                say(f"error: {where}: {message or result.status}")
            else:
                say(f"error: {where} on {result.target}: {result.status}: {message}")
            if hint:
                say(f"hint: {hint}")
            for line in last_words(failure):
                say(f"last words: {line}")
        if failure is not None and failure.reproduce:
            say("again:", failure.reproduce)

    def _say_summary(self, seconds: float) -> None:
        took = f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
        counted = [f"{self._counts[status]} {status}" for status in STATUSES if self._counts[status]]
        if counted == ["1 ok"]:
            self._say_what_next(f"1 pipeline in {took}")
            return
        executables = "1 executable" if self._executables == 1 else f"{self._executables} executables"
        cached = f" ({self._counts['cached']} from cache)" if self._counts["cached"] else ""
        say(f"{' · '.join(counted) or 'nothing'} · {executables} in {took}{cached}")

    def _say_what_next(self, line: str) -> None:
        """The summary, with what a newcomer may want to see after the first table."""
        given = self._given
        if given.command != "stats" or given.format != "table":
            say(line)
            return
        if not given.verbosity:
            line += ".  -v: the driver's descriptions"
        gone = any(path.startswith(("-", "/dev/", "/proc/")) for path in given.request.paths)  # can't be read twice
        if gone or not self._has_code:
            say(line)
            return
        command = ["shaderstat", "ir", *given.subject]
        from shaderstat.reporters.text import shell_words

        columns = stderr_columns()
        whole = f"{line}.  Its code: {shell_words(command)}"
        if columns is None or len(whole) <= columns:
            say(f"{line}.  Its code:", command)
        else:
            say(line)
            say("Its code:", command)


def _once(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))
