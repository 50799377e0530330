"""What people read: blocks for few executables, rows for many; side by side one pipeline on several targets, or
several variants of it on one.

Numbers are never cut or rounded. What does not fit a terminal is left out as a whole column and named in the remarks;
off a terminal everything is there, on one line each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.model import Event
from shaderstat.reporters import _across, _blocks, _listing, _rows, _run, _variants
from shaderstat.reporters._gathered import Gathered
from shaderstat.reporters._ir import Texts
from shaderstat.reporters.base import Options, Reporter
from shaderstat.reporters.text import Pen

# Up to so many executables and failures are shown as blocks, every statistic of them.
FEW = 4


class Table:
    """The table of one view."""

    by_row = True
    shows_synthetic = False

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        pen = Pen(stream, encoding=options.encoding, colour=options.colour)
        self._view: Reporter = Texts(pen, options) if options.view == "ir" else _Sheet(pen, options)

    def feed(self, event: Event) -> None:
        self._view.feed(event)

    def close(self) -> None:
        self._view.close()

    def remarks(self) -> Sequence[str]:
        return self._view.remarks()


class _Sheet:
    """``list``, ``stats`` and ``instrument``: laid out when all is known."""

    by_row = True
    shows_synthetic = False

    def __init__(self, pen: Pen, options: Options) -> None:
        self._pen = pen
        self._options = options
        self._gathered = Gathered()
        self._remarks: list[str] = []

    def feed(self, event: Event) -> None:
        self._gathered.feed(event)

    def close(self) -> None:
        gathered = self._gathered
        if self._options.view == "list":
            draw = _listing.draw
        elif self._options.view == "run":
            draw = _run.draw
        elif not self._options.raw and _across.fits(gathered):
            draw = _across.draw
        elif not self._options.raw and _variants.fits(gathered):
            draw = _variants.draw
        elif sum(max(len(result.executables), 1) for result in gathered.results) <= FEW:
            draw = _blocks.draw
        else:
            draw = _rows.draw
        self._remarks = draw(gathered, self._pen, self._options)

    def remarks(self) -> Sequence[str]:
        return self._remarks
