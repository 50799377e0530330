"""``--spec``: what a person says of specialization constants, and the variants that it makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

from shaderstat.errors import ShaderstatError
from shaderstat.model import STAGE_WORDS, SpecOption
from shaderstat.plain import dataclass

# Options multiply; beyond this somebody has made a slip.
MAX_VARIANTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Variant:
    """One value for each option: `choices` are (stage or None, SpecId or name, value)."""

    choices: tuple[tuple[str | None, str, str], ...] = ()

    @property
    def label(self) -> str:
        """What goes behind a pipeline's name: ``[0=4,fragment:KIND=1]``; empty for the defaults."""
        return f"[{','.join(f'{name}={value}' for name, value in self.values.items())}]" if self.choices else ""

    @property
    def values(self) -> dict[str, str]:
        """The report's form: option → value, as they were typed."""
        return {f"{stage}:{name}" if stage else name: value for stage, name, value in self.choices}


def parse(text: str) -> SpecOption:
    """``[STAGE:]ID=VALUE[,VALUE…]`` or ``[STAGE:]NAME=VALUE[,VALUE…]``.

    Raises:
        ShaderstatError: it is not of that form.
    """
    left, equals, right = text.partition("=")
    word, colon, rest = left.partition(":")
    stage = STAGE_WORDS.get(word.strip().lower().replace("-", "_")) if colon else None
    constant = (rest if stage else left).strip()
    values = tuple(value.strip() for value in right.split(","))
    if not equals or not constant or not all(values):
        raise ShaderstatError(
            f"--spec {text}: not of the form [STAGE:]ID=VALUE[,VALUE…]",
            hint="for instance --spec 0=4, --spec LIGHTS=1,2,4 or --spec fragment:0=true",
        )
    return SpecOption(stage, constant, values)


class Variants(Sequence[Variant]):
    """Every combination of the options' different values, the last option's changing fastest. They are made when they
    are asked for: there may be a hundred thousand of them."""

    def __init__(self, options: Sequence[SpecOption]) -> None:
        """Raises:
        ShaderstatError: there are more than `MAX_VARIANTS`.
        """
        self._options = options
        self._values = [tuple(dict.fromkeys(option.values)) for option in options]
        self._count = math.prod(map(len, self._values))
        if self._count > MAX_VARIANTS:
            raise ShaderstatError(f"--spec makes {self._count} variants: at most {MAX_VARIANTS} are compiled")

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Variant: ...
    @overload
    def __getitem__(self, place: slice) -> list[Variant]: ...
    def __getitem__(self, place: int | slice) -> Variant | list[Variant]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        rest, choices = place % self._count, []
        for option, values in zip(reversed(self._options), reversed(self._values), strict=True):
            rest, value = divmod(rest, len(values))
            choices.append((option.stage, option.constant, values[value]))
        return Variant(tuple(reversed(choices)))


def variants(options: Sequence[SpecOption]) -> Variants:
    """Every combination of the options' values.

    Raises:
        ShaderstatError: there are more than `MAX_VARIANTS`.
    """
    return Variants(options)
