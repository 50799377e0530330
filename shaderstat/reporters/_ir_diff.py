"""``diff --ir``: two texts, line by line, one below the other or, where there is room, side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable_lines, width
from shaderstat.representations import without_places

# Columns from which a terminal shows both sides beside each other.
WIDE = 160

# Lines beyond which the quick and coarse way of matching is taken: difflib's own takes the square of them.
MOST = 20_000

CONTEXT = 3

_COLOURS = {"-": "red", "+": "green", "@": "cyan"}


def draw(
    title: str, names: tuple[str, str], texts: tuple[bytes, bytes], pen: Pen, options: Options, *, plain: bool = False
) -> bool:
    """Write how the second text differs from the first; nothing where it doesn't. Returns whether it does.

    Args:
        plain: leave addresses and encodings out.
    """
    old, new = (_lines(without_places(text) if plain else text) for text in texts)
    if old == new:
        return False
    pen.line(pen.paint(f"── {title} ", "bold") + pen.paint("─" * 2, "bold"))
    if options.width is not None and options.width >= WIDE:
        _beside(old, new, names, pen, options.width)
    else:
        for line in _unified(old, new, names):
            pen.line(pen.paint(line, _COLOURS.get(line[:1], "")))
    return True


def _lines(text: bytes) -> list[str]:
    lines = printable_lines(text.decode("utf-8", "replace"))
    return lines[:-1] if lines and not lines[-1] else lines


def _matcher(old: Sequence[str], new: Sequence[str]) -> difflib.SequenceMatcher[str]:
    return difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > MOST)


def _unified(old: Sequence[str], new: Sequence[str], names: tuple[str, str]) -> Iterator[str]:
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for group in _matcher(old, new).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, one, other, third, fourth in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[one:other])
                continue
            yield from (f"-{line}" for line in old[one:other])
            yield from (f"+{line}" for line in new[third:fourth])


def _range(start: int, stop: int) -> str:
    """A range as ``diff -u`` writes it."""
    length = stop - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _beside(old: Sequence[str], new: Sequence[str], names: tuple[str, str], pen: Pen, columns: int) -> None:
    half = (columns - 3) // 2
    pen.line(pen.paint(f"{left(_fit(names[0], half), half)} │ {_fit(names[1], half)}", "dim"))
    for group in _matcher(old, new).get_grouped_opcodes(CONTEXT):
        pen.line(pen.paint("─" * half + "─┼─" + "─" * half, "dim"))
        for tag, one, other, third, fourth in group:
            lines = max(other - one, fourth - third)
            for place in range(lines):
                before = _fit(old[one + place], half) if one + place < other else ""
                after = _fit(new[third + place], half) if third + place < fourth else ""
                styles = ("", "") if tag == "equal" else ("red", "green")
                pen.line(f"{pen.paint(left(before, half), styles[0])} │ {pen.paint(after, styles[1])}")


def _fit(text: str, columns: int) -> str:
    """The beginning of a line, so that two stand beside each other; the unified form has all of it."""
    text = text.expandtabs(4)
    if width(text) <= columns:
        return text
    while width(text) > columns - 1:
        text = text[:-1]
    return text + "…"
