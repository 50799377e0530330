"""Columns on a terminal: names give way first, then whole columns, which are named; numbers are never cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from shaderstat.reporters.text import left, right

# No name is shortened below so many columns.
LEAST = 12


def name_room(columns: int | None) -> int | None:
    """What a name in a table may take of a terminal; None off one."""
    return columns and max(columns // 3, LEAST)


def shared(widths: Sequence[int], room: int | None) -> list[int]:
    """The widths of names that stand beside each other, the widest narrowed until `room` holds all of them, if it
    can."""
    narrowed = list(widths)
    while room is not None and sum(narrowed) > room and max(narrowed) > LEAST:
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def fitting(widths: Sequence[int], columns: int | None, dispensable: Iterable[int]) -> list[int]:
    """The places of the columns that have room, two blanks before each; of `dispensable` ones the first goes first."""
    shown = list(range(len(widths)))
    for place in dispensable:
        if columns is not None and sum(widths[each] + 2 for each in shown) > columns:
            shown.remove(place)
    return shown


def joined(cells: Sequence[str], widths: Sequence[int], shown: Iterable[int], numbers: Collection[int] = ()) -> str:
    """The cells that are `shown`, two blanks before each; `numbers` are the places of those that end alike."""
    return "".join("  " + (right if place in numbers else left)(cells[place], widths[place]) for place in shown)


def no_room(headings: Iterable[str]) -> list[str]:
    """What is to be said of columns that were left out."""
    names = [*dict.fromkeys(headings)]
    return ["no room for: " + " · ".join(names)] if names else []
