"""What a comparison comes to: plain data, and small enough for two reports of 100,000 results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from shaderstat.compare.pairs import Statistics
from shaderstat.compare.sides import Outcome, Row, Side, Subject, Value
from shaderstat.model import StatisticInfo, Target
from shaderstat.plain import dataclass


def judged(info: StatisticInfo) -> int:
    """1 where less is better, -1 where more is, 0 where a change is neither good nor bad as far as is known."""
    return {"less": 1, "more": -1}.get(info.better or "", 0) if info.role == "trigger" else 0


@dataclass(frozen=True, slots=True)
class Change:
    """A statistic that is not what it was.

    Attributes:
        before, after: a number, text for what is no number, None for what was not reported.
        verdict: ``worse``, ``better``, or ``changed`` where nobody can say.
    """

    info: StatisticInfo
    before: Value
    after: Value

    @property
    def verdict(self) -> str:
        sign = judged(self.info)
        if sign == 0 or isinstance(self.before, str) or isinstance(self.after, str):
            return "changed"
        if self.before is None or self.after is None:
            # What appears can only be bad if less is better and there is some of it: from nothing at all.
            if sign > 0 and (self.before or self.after):
                return "worse" if self.after else "better"
            return "changed"
        return "worse" if (self.after > self.before) == (sign > 0) else "better"

    @property
    def kind(self) -> str:
        """``value``, ``from zero``, ``to zero``, ``reported``, ``not reported`` or ``unreadable``."""
        if isinstance(self.before, str) or isinstance(self.after, str):
            return "unreadable"
        if self.before is None:
            return "reported"
        if self.after is None:
            return "not reported"
        return "from zero" if not self.before else "to zero" if not self.after else "value"

    @property
    def ratio(self) -> float | None:
        """How much it grew, as a part of what it was; None where it wasn't a number, or 0."""
        if isinstance(self.before, int | float) and isinstance(self.after, int | float) and self.before:
            return (self.after - self.before) / abs(self.before)
        return None

    @property
    def size(self) -> tuple[int, float]:
        """How much of a change it is: from zero before all others, then to or from what is no number, then by its
        ratio."""
        if self.before == 0:
            return (3, 0.0)
        ratio = self.ratio
        return (2, 0.0) if ratio is None else (1, abs(ratio))


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An executable on both sides: `target` counts the pairs of `Difference.targets`."""

    subject: tuple[Subject, Subject]
    target: int
    rows: tuple[Row, Row]
    siblings: int  # how many of AFTER's have its stages
    statistics: tuple[Statistics, ...]

    @property
    def worst(self) -> tuple[tuple[int, float], tuple[int, float]]:
        """The size of the greatest change for the worse, and of the greatest at all."""
        worse = other = (0, 0.0)
        for change in self.changes():
            if change.info.role != "identity":
                size = change.size
                other = max(size, other)
                if size > worse and change.verdict == "worse":
                    worse = size
        return worse, other

    def changes(self) -> Iterator[Change]:
        """What changed, in the driver's order."""
        before, after = self.rows[0].values, self.rows[1].values
        for pair in self.statistics:
            old = before[pair.before] if pair.before is not None else None
            new = after[pair.after] if pair.after is not None else None
            if old != new:
                yield Change(pair.info, old, new)


@dataclass(frozen=True, slots=True, eq=False)
class Lonely:
    """An executable that one side has alone."""

    subject: Subject
    target: int
    row: Row


@dataclass(frozen=True, slots=True, eq=False)
class StatusChange:
    """A pipeline that was answered otherwise before. `target` is None for a file that makes no pipeline."""

    subject: tuple[Subject, Subject]
    target: int | None
    before: Outcome
    after: Outcome

    @property
    def verdict(self) -> str:
        if self.before.status == "ok":
            return "worse"
        return "better" if self.after.status == "ok" else "changed"


@dataclass(slots=True, eq=False)
class Total:
    """A quantity summed over the executables that have it on both sides.

    Attributes:
        infos: the statistics in it: one, or all that judge by one key (spilled scalar and vector registers).
        helped, hurt, same: executables by what became of their sum; of an unjudged one `helped` counts those that
            fell, `hurt` those that rose.
        affected: the sums over affected executables only.
        left_out: executables that have a number on one side only.
    """

    target: int
    infos: tuple[StatisticInfo, ...]
    before: int | float = 0
    after: int | float = 0
    helped: int = 0
    hurt: int = 0
    same: int = 0
    affected: tuple[int | float, int | float] = (0, 0)
    left_out: int = 0

    @property
    def name(self) -> str:
        """The key, where it judges; else the statistic's name."""
        info = self.infos[0]
        return info.key.replace("_", " ") if info.key and info.role == "trigger" else info.name

    @property
    def change(self) -> Change:
        """The sums as a change."""
        return Change(self.infos[0], self.before, self.after)


@dataclass(slots=True, eq=False)
class Kind:
    """Statistics that executables of a target have, and how many of them."""

    target: int
    statistics: tuple[Statistics, ...]
    executables: int = 0


@dataclass(slots=True, eq=False)
class Difference:
    """What became of what.

    Attributes:
        targets: BEFORE's and AFTER's, pair by pair.
        both: pipelines on both sides; `new` and `gone` are on one, `renamed` on both under two names.
        affected: executables of which a number changed, the worst first.
        recoded: executables whose code changed and no number.
        statuses: pipelines that were answered otherwise before.
        unanswered: pipelines without an answer on both sides, for the same reason.
        refused: a lone stage against a pair: what is compared there are not the same things.
        kinds: the lists of statistics that were compared; `compared` counts all executables.
        new_rows, gone_rows: executables of one side alone, of pipelines that both have.
    """

    before: Side
    after: Side
    targets: tuple[tuple[Target, Target], ...] = ()
    both: tuple[tuple[Subject, Subject], ...] = ()
    new: tuple[Subject, ...] = ()
    gone: tuple[Subject, ...] = ()
    renamed: tuple[tuple[Subject, Subject], ...] = ()
    affected: list[Place] = field(default_factory=list)
    recoded: list[Place] = field(default_factory=list)
    statuses: list[StatusChange] = field(default_factory=list)
    unanswered: list[StatusChange] = field(default_factory=list)
    refused: list[Place] = field(default_factory=list)
    new_rows: list[Lonely] = field(default_factory=list)
    gone_rows: list[Lonely] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)

    @property
    def compared(self) -> int:
        return sum(kind.executables for kind in self.kinds)

    @property
    def is_empty(self) -> bool:
        """Whether both sides say the same."""
        lists: Sequence[Sequence[object]] = (
            self.new,
            self.gone,
            self.renamed,
            self.affected,
            self.recoded,
            self.statuses,
            self.refused,
            self.new_rows,
            self.gone_rows,
        )
        return not any(lists)
