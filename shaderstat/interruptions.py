"""What Ctrl-C, SIGTERM and SIGHUP do: the run ends in order, and what was answered until then is kept.

Each of them becomes a `KeyboardInterrupt` whose argument is the signal's number, the same for all three: whoever hangs
up or shuts down wants no half-written files either. What must not be cut in two (a file, a line of a report) is done
while they are `held`. The exit status is 128 plus the signal's number, as a shell has it.

Nothing is imported here that takes time: the first hundred milliseconds of a run are imports, and can be interrupted.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

# A second signal of an impatient person isn't held back; one that comes sooner is part of the first (a terminal that
# closes, or systemd, sends several at once).
PATIENCE_S = 1.0


class _State:
    """There is one, as there is one set of signal handlers."""

    def __init__(self) -> None:
        self.starting = True
        self.depth = 0
        self.pending: int | None = None
        self.last: float | None = None


_state = _State()


def install() -> None:
    """Take the signals; those that are ignored (``nohup``) stay so. Until `started`, they end the process at once."""
    for number in _numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _take)


def started() -> None:
    """From here on there may be something to tidy up."""
    _state.starting = False


def finished() -> None:
    """All is done but leaving: nothing may spoil the exit status now."""
    for number in _numbers():
        if signal.getsignal(number) is _take:
            signal.signal(number, signal.SIG_IGN)


def happened() -> bool:
    """Whether one was taken."""
    return _state.last is not None


@contextmanager
def held() -> Iterator[None]:
    """A signal that comes meanwhile takes effect at the end."""
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1
    _let_through()


@contextmanager
def let_through() -> Iterator[None]:
    """The other way round, within `held`: one that waits takes effect now, one that comes meanwhile at once."""
    depth, _state.depth = _state.depth, 0
    try:
        _let_through()
        yield
    finally:
        _state.depth = depth


def exit_status(error: BaseException) -> int:
    """128 plus the number of the signal that `error` stands for."""
    return 128 + (error.args[0] if error.args and isinstance(error.args[0], int) else signal.SIGINT)


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in NAMES if hasattr(signal, name)]


def _let_through() -> None:
    if not _state.depth and _state.pending is not None:
        number, _state.pending = _state.pending, None
        raise KeyboardInterrupt(number)


def _take(number: int, frame: FrameType | None) -> None:
    if _state.starting:
        os._exit(128 + number)
    now = time.monotonic()
    last = _state.last
    if last is not None and now - last < PATIENCE_S:
        return
    _state.last = now
    if _state.depth and last is None:
        _state.pending = number
        return
    _state.pending = None
    raise KeyboardInterrupt(number)
