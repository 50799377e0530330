"""What is to be known of pipelines that were answered: said once for all of which it is said, behind the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from shaderstat.model import Diagnostic
from shaderstat.plain import dataclass

# Remarks that are kept, and pipelines that are named with each: a run may have a hundred thousand.
_MOST = 10
_NAMED = 3


@dataclass(slots=True)
class _Names:
    named: dict[str, None] = field(default_factory=dict)
    more: int = 0
    last: str = ""

    def add(self, name: str) -> None:
        if name == self.last or name in self.named:  # on another target
            return
        self.last = name
        if len(self.named) < _NAMED:
            self.named[name] = None
        else:
            self.more += 1

    def __str__(self) -> str:
        words = ", ".join(self.named)
        return f"{words} and {self.more} more" if self.more else words


class Remarks:
    """The remarks of a run. Whatever becomes of the run's size, they are few."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None], _Names] = {}
        self._more = 0

    def add(self, name: str, remark: Diagnostic) -> None:
        """`remark` is of the pipeline of that name."""
        key = (remark.severity, remark.message, remark.hint)
        # An error is part of the exit status: it is not crowded out by what need not be known.
        most = 2 * _MOST if remark.severity == "error" else _MOST
        if key not in self._found and len(self._found) >= most:
            self._more += 1
        else:
            self._found.setdefault(key, _Names()).add(name)

    def lines(self, *, errors: bool = True, others: bool = True) -> Iterator[str]:
        """The lines to be said, with hostile text in them."""
        for (severity, message, hint), names in self._found.items():
            if not (errors if severity == "error" else others):
                continue
            yield f"{'note' if severity == 'info' else severity}: {names}: {message}"
            if hint:
                yield f"hint: {hint}"
        if self._more and others:
            yield f"note: {self._more} more remarks: the report has them"
