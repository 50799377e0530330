"""Representations of two sides: which of them are set against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from shaderstat.compare import pairs
from shaderstat.compare.difference import Difference
from shaderstat.compare.sides import Outcome, Row, Subject, Text
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class TextPair:
    """One representation of one executable on both sides; None where a side doesn't have it."""

    subject: tuple[Subject, Subject]
    target: int
    rows: tuple[Row, Row]
    texts: tuple[Text | None, Text | None]

    @property
    def differs(self) -> bool:
        """Whether the code that they tell of is another."""
        before, after = self.texts
        return before is None or after is None or before.code_sha256 != after.code_sha256


def text_pairs(difference: Difference, glob: str) -> Iterator[TextPair]:
    """All of them, by name and order among those of one name; an empty glob means the last one, the assembly."""
    before, after = difference.before.outcomes, difference.after.outcomes
    nothing = Outcome("missing", "", ())
    for subject in difference.both:
        for place, (one, other) in enumerate(difference.targets):
            old = before.get(one.id, {}).get(subject[0].id, nothing)
            new = after.get(other.id, {}).get(subject[1].id, nothing)
            for left, right in pairs.rows(old.rows, new.rows):
                if left is not None and right is not None:
                    for texts in _texts(left.texts, right.texts, glob):
                        yield TextPair(subject, place, (left, right), texts)


def _texts(before: Sequence[Text], after: Sequence[Text], glob: str) -> list[tuple[Text | None, Text | None]]:
    if not glob:
        return [(before[-1] if before else None, after[-1] if after else None)] if before or after else []
    left = [text for text in before if fnmatchcase(text.name.casefold(), glob.casefold())]
    right = [text for text in after if fnmatchcase(text.name.casefold(), glob.casefold())]
    found: list[tuple[Text | None, Text | None]] = []
    for text in right:
        same = next((each for each in left if each.name.casefold() == text.name.casefold()), None)
        if same is not None:
            left.remove(same)
        found.append((same, text))
    return found + [(text, None) for text in left]
