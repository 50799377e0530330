"""When it is shown how far a long run is: on a terminal, after a moment, while nobody else writes there.

It is drawn by a thread of its own: what is worth knowing of a run is most of all that it waits, and for what.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaderstat.engine import Watch
    from shaderstat.reporters.progress import State

# Seconds: a short run shows nothing; after other words the line comes back.
_PATIENCE = 1.0
_PAUSE = 0.5


class Progress:
    """A line on stderr that goes away by itself."""

    def __init__(self, watch: Watch | None, *, shown: bool) -> None:
        """Args:
        watch: tells how far the run is; without it nothing is shown.
        """
        self._watch = watch
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self._closed = watch is None or not shown or sys.stderr is None or not sys.stderr.isatty()
        self._in(_PATIENCE)

    def clear(self) -> None:
        """Before anything else is written; the line comes back a moment later."""
        with self._lock:
            if self._hide():
                self._in(_PAUSE)

    def close(self) -> None:
        """The run is over."""
        with self._lock:
            self._closed = True
            self._hide()
            if self._timer is not None:
                self._timer.cancel()

    def _in(self, seconds: float) -> None:
        if not self._closed:
            self._timer = threading.Timer(seconds, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _hide(self) -> bool:
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()
        return stop is not None

    def _show(self) -> None:
        from shaderstat.reporters.progress import draw  # late, and in this thread: nobody waits for rich

        with self._lock:
            if not self._closed and self._stop is None:
                self._stop = draw(self._state)

    def _state(self) -> State:
        from shaderstat.reporters.progress import State

        watch = self._watch
        assert watch is not None
        return State(watch.total, watch.done, watch.failed, time.monotonic() - self._began, watch.longest())
