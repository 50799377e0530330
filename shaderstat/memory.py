"""What rooms may ask of the store without knowing it: things found out about files in earlier runs."""

from __future__ import annotations

from typing import Any, Protocol


class Memory(Protocol):
    """Facts about files. `question` names the asker and the files' SHA-256, and whatever else the answer depends on
    but this program itself: another version of it has other answers."""

    def fact(self, *question: str) -> Any:
        """The answer, as JSON gives it back; None where nothing is known."""

    def note_fact(self, answer: Any, *question: str) -> None:
        """Keep an answer, JSON-able and not None."""
