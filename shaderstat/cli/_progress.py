"""How far a long run is, on one line of the terminal that goes away by itself."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

# Seconds: a short run shows nothing, a long one doesn't spend its time on showing.
_PATIENCE = 1.0
_PAUSE = 0.1


class Progress:
    """Counts on stderr, if that is a terminal and nobody else writes to it meanwhile."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown and sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._drawn = False

    def tell(self, done: int, total: int) -> None:
        """So many of so many are done."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self._drawn = True
            self._write(f"\r{done} of {total} \x1b[K")

    def clear(self) -> None:
        """Before anything else is written."""
        if self._drawn:
            self._drawn = False
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()
