"""Outcomes that came before their turn.

One slow pipeline holds back all that come after it, with the code that they were compiled to: what would take much
memory goes to a temporary file, which has no name and is gone with the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from shaderstat.pool.pool import Outcome

# Outcomes, and bytes of their representations, that are held in memory.
MOST = 256
MOST_BYTES = 32 << 20


class Reorder:
    """Takes outcomes in any order, gives each when it is asked for."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._held: dict[tuple[int, int], tuple[Outcome, int]] = {}
        self._bytes = 0
        self._spilled: dict[tuple[int, int], int] = {}  # place in the file
        self._file: BinaryIO | None = None

    def __del__(self) -> None:  # also of a run that broke off
        if self._file is not None:
            self._file.close()

    def put(self, outcome: Outcome) -> None:
        """Keep it until it is asked for."""
        key = outcome.task, outcome.lane
        size = sum(len(one.data) for each in outcome.answer.executables for one in each.representations)
        # An empty buffer takes anything: what is next in turn is never written to a disk.
        if not self._held or (len(self._held) < self._most and self._bytes + size <= self._most_bytes):
            self._held[key] = outcome, size
            self._bytes += size
            return
        import pickle  # rare: most runs hold all that waits

        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="shaderstat-")
        self._spilled[key] = self._file.seek(0, 2)
        pickle.dump(outcome, self._file, pickle.HIGHEST_PROTOCOL)

    def take(self, task: int, lane: int) -> Outcome | None:
        """The outcome of a task on a lane, which is forgotten here; None where it has not come."""
        key = task, lane
        if key in self._held:
            outcome, size = self._held.pop(key)
            self._bytes -= size
            return outcome
        place = self._spilled.pop(key, None)
        if place is None or self._file is None:
            return None
        import pickle

        self._file.seek(place)
        found: Outcome = pickle.load(self._file)
        if not self._spilled:
            self._file.truncate(0)
        return found

    def rest(self) -> Iterator[Outcome]:
        """Everything that was not asked for, by task and lane."""
        for task, lane in sorted([*self._held, *self._spilled]):
            outcome = self.take(task, lane)
            assert outcome is not None
            yield outcome
