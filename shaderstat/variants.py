"""``--spec``: what a person says of specialization constants, and the variants that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from shaderstat.errors import ShaderstatError
from shaderstat.model import STAGE_WORDS, SpecOption

# Options multiply; beyond this somebody has made a slip.
MAX_VARIANTS = 1024


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


def variants(options: Sequence[SpecOption]) -> list[Variant]:
    """Every combination of the options' values, the last option's changing fastest.

    Raises:
        ShaderstatError: there are more than `MAX_VARIANTS`.
    """
    count = 1
    for option in options:
        count *= len(option.values)
    if count > MAX_VARIANTS:
        raise ShaderstatError(f"--spec makes {count} variants: at most {MAX_VARIANTS} are compiled")
    return [
        Variant(tuple((option.stage, option.constant, value) for option, value in zip(options, values, strict=True)))
        for values in product(*(option.values for option in options))
    ]
