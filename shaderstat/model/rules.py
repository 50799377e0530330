"""What budgets say: rules, and the numbers that were accepted once."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from shaderstat.plain import dataclass

if TYPE_CHECKING:  # 3 ms, which most commands need for other things
    from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Limit:
    """What a statistic may be at most, or must be at least.

    Attributes:
        statistic: the driver's name, the short one, or a key, which stands for the sum of what judges by it.
        most: whether it is a maximum.
        amount: the number; where `relative`, what may be added to the baseline's (in percent of it, where `percent`).
        text: as it was written.
        line: in the rule's file.
    """

    statistic: str
    most: bool
    amount: Fraction
    relative: bool
    percent: bool
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A budget: limits, and what they are for. Globs over a pipeline's name, its executables' stages and names, and
    targets; none means all.

    Attributes:
        compile_time: seconds that a pipeline may take.
        allow: statuses of pipelines that need no answer.
        severity: ``error`` or ``warning``.
        path, line: where it stands; None for one of the command line.
    """

    name: str
    limits: tuple[Limit, ...] = ()
    pipelines: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    executables: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    compile_time: Limit | None = None
    allow: tuple[str, ...] = ()
    severity: str = "error"
    path: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """``shaderstat.yaml:12``, or the option."""
        return f"{self.path}:{self.line}" if self.path is not None else self.name


@dataclass(slots=True)
class Baseline:
    """Numbers that were accepted once: target → pipeline → executable → statistic → number. `compilers` says of each
    target which driver gave them."""

    compilers: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[str, dict[str, dict[str, int | float]]]] = field(default_factory=dict)
