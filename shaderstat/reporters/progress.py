"""How a run that goes on is drawn: one line, by rich, until something else is to be said."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shaderstat.plain import dataclass
from shaderstat.reporters.text import printable

# Seconds: a pipeline that takes longer is named.
_LONG = 2.0


@dataclass(frozen=True, slots=True)
class State:
    """How far it is.

    Attributes:
        total: results that there will be; 0 while that isn't known.
        done, failed: those that there are, and the bad ones of them.
        seconds: since it began.
        longest: the pipeline that has been compiling for the longest time, and since how many seconds.
    """

    total: int
    done: int
    failed: int
    seconds: float
    longest: tuple[str, float] | None


def draw(state: Callable[[], State]) -> Callable[[], None]:
    """Draw on standard error what `state` says, again and again, from a thread. Returns what ends and removes it."""
    live = Live(
        get_renderable=lambda: line(state()),
        console=Console(file=sys.stderr),
        transient=True,
        refresh_per_second=5,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    live.start(refresh=True)
    return live.stop


def line(state: State) -> RenderableType:
    """The bar, and what stands beside it."""
    if not state.total:
        return Text("opening devices", style="dim")
    words = Text(f"{state.done}/{state.total}", overflow="ellipsis", no_wrap=True)
    rate = state.done / state.seconds if state.seconds else 0.0
    words.append(f"  {rate:.0f}/s" if rate >= 1 else f"  {rate * 60:.0f}/min", style="dim")
    if 0 < state.done < state.total:
        words.append(f"  {clock((state.total - state.done) / rate)} left", style="dim")
    if state.failed:
        words.append(f"  {state.failed} failed", style="red")
    if state.longest is not None and state.longest[1] > _LONG:
        words.append(f"  {printable(state.longest[0])} {clock(state.longest[1])}", style="dim")
    grid = Table.grid(padding=(0, 1))
    grid.add_row(ProgressBar(total=state.total, completed=state.done, width=20), words)
    return grid


def clock(seconds: float) -> str:
    """``12 s``, ``3:05``, ``2:00:00``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
