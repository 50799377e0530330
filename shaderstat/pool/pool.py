"""The loop that keeps children busy. One thread, one selector; a driver's death costs the one job in hand.

A `Lane` is one target's children. Every task goes to every lane; outcomes come as they are ready, and whoever needs
them in order puts them in order.
"""

from __future__ import annotations

import heapq
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from shaderstat import wire
from shaderstat.errors import NoTarget
from shaderstat.model import Answer, Failure, Job, Launch
from shaderstat.pool.child import ChildProcess
from shaderstat.pool.environment import child_environment

# Jobs in a child's hands: one being compiled, one waiting in the pipe, so that no child idles.
DEPTH = 2
# A child killed from outside (an out-of-memory killer, an impatient person) says nothing about its job: try again.
OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
MAX_ATTEMPTS = 5
# A driver that dies so often while it opens its device, with no answer in between, is given up.
STARTS_IN_VAIN = 3
# No selector takes a wait of a thousand years; waking up once a day for it costs nothing.
LONGEST_WAIT_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of task `task` on lane `lane`; `attempts` counts the children it took."""

    lane: int
    task: int
    answer: Answer
    attempts: int


@dataclass
class Lane:
    """One target's children and what is left for them to do: `tasks` from place `next` on, and those in `again`."""

    launch: Launch
    width: int
    timeout_s: float
    hello: wire.Hello | None = None
    lost: NoTarget | None = None
    children: list[ChildProcess] = field(default_factory=list)
    tasks: Sequence[int] = ()
    next: int = 0
    again: list[int] = field(default_factory=list)
    attempts: dict[int, int] = field(default_factory=dict)
    vain_starts: int = 0


class Pool:
    """All children of a run. Use as a context manager: leaving it ends them, whatever happened."""

    def __init__(self) -> None:
        self.lanes: list[Lane] = []
        self._selector = selectors.DefaultSelector()
        self._load: Callable[[int], Job | Answer] = lambda task: Answer("skipped")
        self._ready: deque[Outcome] = deque()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        children = [child for lane in self.lanes for child in lane.children]
        for child in children:
            if kind is not None or child.jobs:
                child.kill()
            child.stdin.close()
        for child in children:
            child.close()
        self._selector.close()

    # ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, launch: Launch, *, width: int = 1, timeout_s: float = 60.0) -> int:
        """Start the first child of a target, without waiting for it.

        Args:
            width: how many children it may have.
            timeout_s: the limit for opening the device.

        Returns:
            The lane's number.
        """
        self.lanes.append(Lane(launch, width, timeout_s))
        self._start(len(self.lanes) - 1)
        return len(self.lanes) - 1

    def wait(self, lane: int) -> wire.Hello:
        """Wait until the lane's first child has its device.

        Raises:
            NoTarget: it can't be had; the reason is one line.
        """
        this = self.lanes[lane]
        while this.hello is None and this.lost is None:
            self._pump()
        if this.lost is not None:
            raise this.lost
        assert this.hello is not None
        return this.hello

    def drop(self, lane: int) -> None:
        """Give a lane up: it takes no part in `run`."""
        this = self.lanes[lane]
        this.lost = this.lost or NoTarget(f"{this.launch.id} was not chosen")
        for child in list(this.children):
            self._forget(this, child)
            child.kill()
            child.close()

    # ── Work ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def run(
        self, tasks: int, load: Callable[[int], Job | Answer], shares: Mapping[int, Sequence[int]] | None = None
    ) -> Iterator[Outcome]:
        """Do tasks 0 to ``tasks - 1`` on every lane that is not dropped; outcomes come in any order.

        Args:
            load: gives a task's job when its turn has come, or its answer where nothing is to be compiled.
            shares: the tasks of each lane where it isn't all of them; a lane that is missing has none.
        """
        self._load = load
        for number, lane in enumerate(self.lanes):
            if lane.lost is None:
                lane.tasks = range(tasks) if shares is None else shares.get(number, ())
        self._fill()  # now, not when the first outcome is asked for: the caller may have other things to do
        return self._outcomes(sum(len(lane.tasks) for lane in self.lanes))

    def _outcomes(self, left: int) -> Iterator[Outcome]:
        while left:
            if not self._ready:
                self._pump()
                self._fill()
            while self._ready:
                left -= 1
                yield self._ready.popleft()

    def _fill(self) -> None:
        """Hand tasks to children that have room."""
        for number, lane in enumerate(self.lanes):
            if lane.lost is not None:
                continue
            for child in lane.children:
                while child.hello is not None and len(child.jobs) < DEPTH and self._more(lane):
                    self._hand(number, lane, child)
            waiting = len(lane.again) + len(lane.tasks) - lane.next
            starting = sum(child.hello is None for child in lane.children)
            while len(lane.children) < lane.width and starting < waiting:
                self._start(number)
                starting += 1

    def _more(self, lane: Lane) -> bool:
        return bool(lane.again) or lane.next < len(lane.tasks)

    def _hand(self, number: int, lane: Lane, child: ChildProcess) -> None:
        if lane.again:
            task = heapq.heappop(lane.again)
        else:
            task = lane.tasks[lane.next]
            lane.next += 1
        job = self._load(task)
        if isinstance(job, Answer):
            self._ready.append(Outcome(number, task, job, lane.attempts.pop(task, 0) + 1))
            return
        child.hand(task, job)
        self._watch(child, number)

    # ── Children ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self, number: int) -> None:
        lane = self.lanes[number]
        child = ChildProcess(lane.launch, lane.timeout_s, child_environment(lane.launch))
        lane.children.append(child)
        self._selector.register(child.stdout, selectors.EVENT_READ, (number, child, "stdout"))
        self._selector.register(child.stderr, selectors.EVENT_READ, (number, child, "stderr"))
        self._watch(child, number)

    def _watch(self, child: ChildProcess, number: int) -> None:
        """Look at its input only while something waits for room there."""
        watched = child.stdin in self._selector.get_map()
        if child.wants_to_write and not watched:
            self._selector.register(child.stdin, selectors.EVENT_WRITE, (number, child, "stdin"))
        elif watched and not child.wants_to_write:
            self._selector.unregister(child.stdin)

    def _forget(self, lane: Lane, child: ChildProcess) -> None:
        lane.children.remove(child)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if not pipe.closed and pipe in self._selector.get_map():
                self._selector.unregister(pipe)

    def _pump(self) -> None:
        """Wait for something to happen, and see to it."""
        children = [child for lane in self.lanes for child in lane.children]
        nearest = min((child.deadline() for child in children), default=float("inf"))
        wait = None if nearest == float("inf") else min(max(0.0, nearest - time.monotonic()), LONGEST_WAIT_S)
        # Answers before standard error: an answer's arrival clears the tail, and must not clear the next job's words.
        for key, _ in sorted(self._selector.select(wait), key=lambda event: event[0].data[2] == "stderr"):
            number, child, what = key.data
            if child not in self.lanes[number].children:
                continue  # it died while this list was worked through
            if what == "stdin":
                child.flush()
                self._watch(child, number)
            elif what == "stderr":
                if not child.read_stderr():
                    self._selector.unregister(child.stderr)
            else:
                self._listen(number, child)
        now = time.monotonic()
        for child in children:
            if now >= child.deadline():
                child.overrun()

    def _listen(self, number: int, child: ChildProcess) -> None:
        lane = self.lanes[number]
        alive, frames = child.read()
        for kind, header, blob in frames:
            if kind == wire.HELLO:
                child.hello = wire.hello_from_plain(header)
                lane.hello = lane.hello or child.hello
                lane.vain_starts = 0
            elif kind == wire.REFUSED:
                self._lose(number, NoTarget(header["message"], hint=header["hint"]))
                return
            elif kind == wire.STATE:
                child.state = wire.state_from_frame(header, blob)
            elif kind == wire.ANSWER and child.jobs:
                answer = replace(wire.answer_from_frame(header, blob), state=child.state)
                task = child.finish()
                self._ready.append(Outcome(number, task, answer, lane.attempts.pop(task, 0) + 1))
        if not alive:
            self._bury(number, child)

    def _bury(self, number: int, child: ChildProcess) -> None:
        """A child has died: its job in hand has a result or another try, the job behind it goes back."""
        lane = self.lanes[number]
        self._forget(lane, child)
        status, failure = child.post_mortem()
        if child.hello is None:
            lane.vain_starts += 1
            if lane.hello is None or lane.vain_starts >= STARTS_IN_VAIN:
                self._lose(number, _died_while_opening(lane.launch, failure))
            return
        if not child.jobs:
            return
        (task, _), *behind = child.jobs
        for waiting, _ in behind:
            heapq.heappush(lane.again, waiting)
        attempts = lane.attempts.get(task, 0) + 1
        if failure.signal in OUTSIDE and attempts < MAX_ATTEMPTS:
            lane.attempts[task] = attempts
            heapq.heappush(lane.again, task)
            return
        lane.attempts.pop(task, None)
        self._ready.append(Outcome(number, task, Answer(status, failure=failure, state=child.state), attempts))

    def _lose(self, number: int, reason: NoTarget) -> None:
        """The target can't be had any more: everything that is left for it fails with the reason."""
        lane = self.lanes[number]
        lane.lost = reason
        held = [task for child in lane.children for task, _ in child.jobs]
        for child in list(lane.children):
            self._forget(lane, child)
            child.kill()
            child.close()
        failure = Failure("start", "target/lost", stderr_tail=reason.message)
        for task in sorted([*held, *lane.again, *lane.tasks[lane.next :]]):
            self._ready.append(Outcome(number, task, Answer("failed", failure=failure), 1))
        lane.again.clear()
        lane.next = len(lane.tasks)


def _died_while_opening(launch: Launch, failure: Failure) -> NoTarget:
    words = failure.stderr_tail.strip().splitlines()
    said = f": {words[-1]}" if words else ""
    if failure.limit_s is not None:
        return NoTarget(f"{launch.id}: the driver has not opened its device within {failure.limit_s:g} s{said}")
    how = failure.signal or f"exit status {failure.exit_code}"
    return NoTarget(f"{launch.id}: the driver died while its device was opened ({how}){said}")
