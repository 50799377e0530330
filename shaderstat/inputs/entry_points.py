"""``--entry``: which entry points are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from shaderstat.errors import ShaderstatError
from shaderstat.model import STAGE_WORDS


class Named(Protocol):
    """An entry point, scanned or reflected."""

    @property
    def name(self) -> str: ...
    @property
    def stage(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)

# Entry points named where none matches.
_TOLD = 12


class EntryChoice:
    """Which entry points are wanted: ``[STAGE:]NAME``, where NAME may be a glob; without any, all are.

    It remembers what there was and which choices matched some of it.

    Attributes:
        most: how many of one module are taken; None where others will choose among them.
    """

    def __init__(self, choices: Sequence[str] = (), most: int | None = None) -> None:
        self.most = most
        self._choices = [(choice, *_stage_and_name(choice)) for choice in choices]
        self._open = dict.fromkeys(choices)
        self._there: dict[str, None] = {}

    @property
    def takes_all(self) -> bool:
        """Whether there is nothing to choose."""
        return not self._choices

    def __call__(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of one module's that are wanted."""
        return [entry for entry in entries if self._wants(entry)]

    def _wants(self, entry: Named) -> bool:
        if not self._choices:
            return True
        if len(self._there) < _TOLD:
            self._there[f"{short(entry.name) or '(no name)'} ({entry.stage.replace('_', ' ')})"] = None
        matched = [
            choice
            for choice, stage, name in self._choices
            if choice == entry.name
            or (stage in (None, entry.stage) and (name == entry.name or fnmatchcase(entry.name, name)))
        ]
        for choice in matched:
            self._open.pop(choice, None)
        return bool(matched)

    def close(self) -> None:
        """All modules have been seen.

        Raises:
            ShaderstatError: a choice matched nothing, though there were entry points.
        """
        if self._open and self._there:
            there = ", ".join(self._there)
            raise ShaderstatError(
                f"no entry point matches {' or '.join(short(choice) for choice in self._open)}",
                hint=f"there are {there}{', …' if len(self._there) == _TOLD else ''}",
            )


def _stage_and_name(choice: str) -> tuple[str | None, str]:
    """Names may have colons themselves: only a stage's word before one makes it a stage."""
    word, colon, rest = choice.partition(":")
    stage = STAGE_WORDS.get(word.lower().replace("-", "_")) if colon else None
    return stage, rest if stage else choice


def short(text: str) -> str:
    """A name that may be endless, for a message."""
    return text if len(text) <= 200 else f"{text[:200]}…"
