"""`dataclass`, quicker to define and to make.

The standard library's compiles six functions for each frozen class, a third of a millisecond that every start pays
some hundred times, and sets each member of a frozen object by a call, which was half of what reading a module's
declarations took. Here one function is compiled, the rest is shared, and what is frozen is held by the type checker
alone: nothing in this package writes to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
    ) -> Callable[[type], type] | type:
        """As `dataclasses.dataclass`; assigning to what is frozen is no error when the program runs."""

        def decorate(cls: type) -> type:
            made = dataclasses.dataclass(cls, repr=False, eq=False, slots=slots)
            members = dataclasses.fields(made)
            made.__repr__ = _repr
            if eq:
                made.__eq__, made.__hash__ = _comparison([one.name for one in members if one.compare])
                if not frozen:
                    made.__hash__ = None
            return made

        return decorate if cls is None else decorate(cls)


def _comparison(names: list[str]) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    """``__eq__`` and ``__hash__`` of a class by its members."""
    members: Callable[[Any], object] = attrgetter(*names) if names else lambda one: ()

    def equal(self: object, other: object) -> bool:
        return members(self) == members(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(members(self))

    return equal, hashed


def _repr(self: Any) -> str:
    members = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self))
    return f"{self.__class__.__qualname__}({members})"
