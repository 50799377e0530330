"""One target's children and what they have to do: what the pool knows of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import field
from math import ceil, inf

from shaderstat import wire
from shaderstat.errors import NoTarget
from shaderstat.model import Answer, Failure, Job, Launch
from shaderstat.plain import dataclass
from shaderstat.pool.child import ChildProcess


@dataclass
class Lane:
    """One target's children and what is left for them to do.

    Attributes:
        hello: what its first child said, or what is known of old.
        recalled: whether `hello` or `lost` is known of old: then no child is started before there is work.
        lost: why the target can't be had.
        refused: whether it can't be had as long as the drivers there are the same.
        is_dropped: it takes no part in the work.
        is_waiting: it wants its first child, and there were too many of other lanes.
        tasks: what it is to do; those from place `next` on were not loaded yet.
        loaded: jobs that no child had room for.
        again: tasks whose child died for a reason that isn't theirs.
        attempts: children that a task has cost so far.
        done: answers of children.
        kills: of a task whose child was killed from outside, `done` at that time, and how often since.
        opened_s: how long its last child took until it had its device; None before the first has.
        timed, spent_s: how many answers were timed, and what these took together. A child's first one is none of them:
            much is loaded and made only for it.
    """

    launch: Launch
    width: int
    timeout_s: float
    hello: wire.Hello | None = None
    recalled: bool = False
    lost: NoTarget | None = None
    refused: bool = False
    is_dropped: bool = False
    is_waiting: bool = False
    children: list[ChildProcess] = field(default_factory=list)
    tasks: Sequence[int] = ()
    next: int = 0
    loaded: deque[tuple[int, Job]] = field(default_factory=deque)
    again: list[int] = field(default_factory=list)
    attempts: dict[int, int] = field(default_factory=dict)
    done: int = 0
    kills: dict[int, tuple[int, int]] = field(default_factory=dict)
    starts_in_vain: int = 0
    opened_s: float | None = None
    timed: int = 0
    spent_s: float = 0.0

    @property
    def left(self) -> int:
        """How many tasks no child has been handed."""
        return len(self.loaded) + len(self.again) + len(self.tasks) - self.next

    def worthwhile(self, now: float) -> int:
        """How many children it pays to have: one more is worth its start where it would be there before the others are
        done, by what tasks took so far, or where every other has been at its own for as long as a start takes. The
        first tells how long that is, and whether there is any use in it.
        """
        if self.opened_s is None:
            return 1
        if now >= self.look_again_at():
            return len(self.children) + self.left
        return max(1, ceil(self.left * self.spent_s / self.timed / self.opened_s) if self.timed else 1)

    def look_again_at(self) -> float:
        """When every child will have been at its job for as long as a start takes; infinite where one has none."""
        if self.opened_s is None or not self.children or not all(child.jobs for child in self.children):
            return inf
        return max(child.started for child in self.children) + self.opened_s

    @property
    def rests(self) -> bool:
        """Whether its children have nothing to do, now or later, as far as is known."""
        return not (self.left or any(child.hello is None or child.jobs for child in self.children))


def lost(reason: NoTarget) -> Answer:
    """The answer of everything that was left for a target which can't be had any more."""
    return Answer("failed", failure=Failure("start", "target/lost", stderr_tail=reason.message))


def died_idle(launch: Launch, failure: Failure) -> NoTarget:
    """Why there is no target whose driver dies without a job in hand."""
    words = failure.stderr_tail.strip().splitlines()
    said = f": {words[-1]}" if words else ""
    if failure.limit_s is not None:
        return NoTarget(f"{launch.id}: the driver has not opened its device within {failure.limit_s:g} s{said}")
    if failure.code == "driver/garbage":
        hint = "what the prefix starts must write nothing there" if launch.prefix else None
        return NoTarget(f"{launch.id}: {failure.stderr_tail.splitlines()[0]}", hint=hint)
    how = failure.signal or f"exit status {failure.exit_code}"
    return NoTarget(f"{launch.id}: the driver died while its device was opened ({how}){said}")
