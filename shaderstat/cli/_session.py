"""What the data commands have in common: outputs opened before work starts, events into them, a status out of results.

stdout holds the data; which compiler answered, what was left out and how much there was goes to stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from shaderstat.cli import say
from shaderstat.cli._destinations import Destination, open_destinations
from shaderstat.cli._settings import Settings
from shaderstat.cli._tally import Sink, Tally
from shaderstat.reporters import base
from shaderstat.reporters.base import Output


@contextmanager
def destinations(
    given: Settings, *, silent: bool = False, formats: Collection[str] = base.FORMATS
) -> Iterator[list[tuple[str, Destination]]]:
    """The opened outputs; committed at the end, discarded when something goes wrong."""
    opened = open_destinations(
        given.options["outputs"],
        given.format,
        explicit=given.explicit,
        silent=silent and not given.explicit,
        formats=formats,
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


def answer(given: Settings, sinks: Sequence[Sink]) -> int:
    """Run the request, feed every event to the sinks, tell the rest on stderr.

    Returns:
        The exit status.

    Raises:
        ShaderstatError: nothing could be answered.
        KeyboardInterrupt: in the middle of something, so that what was written may be cut.
    """
    from shaderstat import engine  # late: a slip in the options is told before anything is loaded

    tally = Tally(given)
    started = time.monotonic()
    interrupted = False
    with closing(engine.run(given.request)) as events:  # type: ignore[type-var]  # it is a generator
        try:
            for event in events:
                tally.feed(event)
                for sink in sinks:
                    sink.feed(event)
                _flush()
        except KeyboardInterrupt:
            if not tally.ended:
                raise
            interrupted = True  # the engine has closed the run: what was answered until then is worth keeping
    for sink in sinks:
        sink.close()
    _flush()
    status = tally.finish(sinks, time.monotonic() - started)
    if interrupted:
        say("interrupted")
        return 130
    return status


def _flush() -> None:
    """Let a reader have what there is, before stderr says what comes after it; and notice a reader that left."""
    if sys.stdout is not None:
        sys.stdout.flush()
