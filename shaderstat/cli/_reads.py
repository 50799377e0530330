"""Buffers as files after a run: each there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from shaderstat.cli._destinations import FileOutput
from shaderstat.errors import ShaderstatError
from shaderstat.instrumentation import Slot
from shaderstat.model import Event, ResultEvent, RunEvent
from shaderstat.reporters.text import printable


class Reads:
    """Opens every file before anything is run, and writes what a run left in its buffer. A sink of events, and a
    context manager: what was not written by its end is left as it was."""

    def __init__(self, named: Collection[str] = (), *, force: bool = False) -> None:
        """Args:
        named: the files that the command line names itself: they are replaced as those of ``-o`` are.
        force: replace a manifest's files, too.
        """
        self._named = named
        self._force = force
        self._files: dict[tuple[str, Slot], FileOutput] = {}
        self._said: list[str] = []

    def __enter__(self) -> Reads:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.discard()

    def feed(self, event: Event) -> None:
        """Take the next event of a run.

        Raises:
            ShaderstatError: a file can't be written, or is there and nobody said that it may be replaced.
        """
        if isinstance(event, RunEvent):
            for pipeline, slot, path in event.reads:
                if path not in self._named and not self._force and os.path.lexists(path):
                    raise ShaderstatError(
                        f"{printable(path)}: is there already, and a manifest's read: would replace it",
                        hint="--force replaces it, and so does --read SET.BINDING=FILE",
                    )
                self._files[pipeline, slot] = FileOutput(path)
        elif isinstance(event, ResultEvent):
            for slot, data in event.read:
                file = self._files.pop((event.result.pipeline, slot), None)
                if file is not None:
                    try:
                        file.stream.write(data)
                        file.commit()
                    except BaseException:
                        file.discard()
                        raise
                    size = f"{len(data)} byte{'s' * (len(data) != 1)}"
                    self._said.append(f"{printable(file.path or '')}: {size} of set {slot[0]} binding {slot[1]}")

    def close(self) -> None:
        """What there is is written."""

    def remarks(self) -> Sequence[str]:
        """A line for each file."""
        return self._said

    def unmatched(self) -> Sequence[str]:
        """Nothing is selected here."""
        return ()
