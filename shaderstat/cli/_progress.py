"""How far a long run is, on one line of the terminal that goes away by itself."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from shaderstat.reporters.text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shaderstat.engine import Watch

# Seconds: a short run shows nothing; after other words the line comes back; a pipeline that takes longer is named.
_PATIENCE = 1.0
_PAUSE = 0.5
_LONG = 2.0


class Progress:
    """A bar on stderr, if that is a terminal and nobody else writes to it meanwhile.

    It is drawn by a thread of its own: what is worth knowing of a run is most of all that it waits, and for what.
    """

    def __init__(self, watch: Watch | None, *, shown: bool) -> None:
        """Args:
        watch: tells how far the run is.
        """
        self._watch = watch
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._live: Any = None
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
        live, self._live = self._live, None
        if live is not None:
            live.stop()
        return live is not None

    def _show(self) -> None:
        from rich.console import Console  # late, and in this thread: nobody waits for it
        from rich.live import Live

        with self._lock:
            if self._closed or self._live is not None:
                return
            self._live = Live(
                get_renderable=self._line,
                console=Console(file=sys.stderr),
                transient=True,
                refresh_per_second=5,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)

    def _line(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        assert self._watch is not None
        line = Table.grid(padding=(0, 1))
        words = Text(overflow="ellipsis", no_wrap=True)
        total, done = self._watch.total, self._watch.done
        if not total:
            words.append("opening devices", style="dim")
            line.add_row(words)
            return line
        words.append(f"{done}/{total}")
        seconds = time.monotonic() - self._began
        words.append(f"  {done / seconds:.0f}/s" if done > seconds else f"  {done / seconds * 60:.0f}/min", style="dim")
        if 0 < done < total:
            words.append(f"  {_clock(seconds / done * (total - done))} left", style="dim")
        if self._watch.failed:
            words.append(f"  {self._watch.failed} failed", style="red")
        longest = self._watch.longest()
        if longest is not None and longest[1] > _LONG:
            words.append(f"  {printable(longest[0])} {_clock(longest[1])}", style="dim")
        line.add_row(ProgressBar(total=total, completed=done, width=20), words)
        return line


def _clock(seconds: float) -> str:
    """``12 s``, ``3:05``, ``2:00:00``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
