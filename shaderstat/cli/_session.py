"""What the data commands have in common: outputs opened before work starts, events into them, a status out of results.

stdout holds the data; which compiler answered, what was left out and how much there was goes to stderr.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext

from shaderstat import interruptions
from shaderstat.cli import interrupted, say
from shaderstat.cli._destinations import (
    Destination,
    flush_stdout,
    open_destinations,
    path_of,
    patient_stdout,
    refuse_to_overwrite,
)
from shaderstat.cli._settings import Settings
from shaderstat.cli._tally import Sink, Tally
from shaderstat.model import Event
from shaderstat.reporters import base
from shaderstat.reporters.base import Output


@contextmanager
def destinations(
    given: Settings, *, silent: bool = False, formats: Collection[str] = base.FORMATS, read: Sequence[str] = ()
) -> Iterator[list[tuple[str, Destination]]]:
    """The opened outputs; committed at the end, discarded when something goes wrong.

    Args:
        read: files that were read already, and must not be overwritten.
    """
    opened: list[tuple[str, Destination]] = []
    named = (given.options.get(name) for name in ("config", "scenario", "driver", "baseline"))
    refuse_to_overwrite(given.options["outputs"], (*given.options["paths"], given.request.config, *named, *read))
    files = len(given.options["outputs"]) > 1 or given.options.get("out") is not None
    with patient_stdout() if files else nullcontext():
        try:
            with interruptions.held():
                opened += open_destinations(
                    given.options["outputs"],
                    given.format,
                    explicit=given.explicit,
                    silent=silent and not given.explicit,
                    formats=formats,
                )
            yield opened
            with interruptions.held():
                for _, destination in opened:
                    destination.commit()
        except BaseException:
            with interruptions.held():
                for _, destination in opened:
                    destination.discard()
            raise


def create(view: str, given: Settings, opened: Sequence[tuple[str, Destination]]) -> list[Output]:
    """A format on each of the opened outputs."""
    return [
        base.create(name, place.stream, given.reporter_options(view, to_terminal=place.path is None))
        for name, place in opened
    ]


def answer(given: Settings, sinks: Sequence[Sink]) -> int:
    """Run the request, feed every event to the sinks, tell the rest on stderr.

    Returns:
        The exit status.

    Raises:
        ShaderstatError: nothing could be answered.
        KeyboardInterrupt: before anything was answered.
    """
    from shaderstat import engine  # late: a slip in the options is told before anything is loaded

    watch = engine.Watch()
    tally = Tally(given, watch)
    started = time.monotonic()
    interruption: KeyboardInterrupt | None = None
    # What is fed to a sink is fed to it whole: an interruption ends the waiting for the engine, and nothing else.
    with interruptions.held():
        with closing(tally.progress), closing(engine.run(given.request, watch)) as events:
            try:
                while (event := _next(events)) is not None:
                    tally.feed(event)
                    for sink in sinks:
                        sink.feed(event)
                    flush_stdout()
            except KeyboardInterrupt as error:
                if not tally.ended:
                    raise
                interruption = error  # the engine has closed the run: what was answered until then is worth keeping
        for sink in sinks:
            sink.close()
        flush_stdout()
        status = tally.finish(sinks, time.monotonic() - started)
    if interruption is None:
        return status
    _tell_incomplete(given)
    say(interrupted(interruption))
    return interruptions.exit_status(interruption)


def _next(events: Generator[Event, None, None]) -> Event | None:
    """The next event, None behind the last. An interruption reaches the engine wherever it was caught, and the run's
    end comes from there."""
    try:
        with interruptions.let_through():
            return next(events, None)
    except KeyboardInterrupt as interruption:
        return events.throw(interruption)  # it comes back out of an engine that has ended


def _tell_incomplete(given: Settings) -> None:
    """A table can't say itself that it isn't whole."""
    names = [path for path in map(path_of, given.options["outputs"]) if path != "-"]
    if names:
        hold = "hold" if len(names) > 1 else "holds"
        say(f"incomplete: {', '.join(names)} {hold} what was answered until then")
