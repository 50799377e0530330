"""The loop that keeps children busy. One thread, one selector; a driver's death costs the one job in hand.

A `Lane` is one target's children. Every task goes to every lane; outcomes come as they are ready, and whoever needs
them in order puts them in order.
"""

from __future__ import annotations

import errno
import heapq
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from types import TracebackType
from typing import Any

from shaderstat import wire
from shaderstat.environment import child_environment
from shaderstat.errors import NoTarget
from shaderstat.model import Answer, Job, Launch
from shaderstat.plain import dataclass
from shaderstat.pool.child import ChildProcess
from shaderstat.pool.cores import cores
from shaderstat.pool.lane import Lane, died_idle, lost

# Jobs in a child's hands: one being compiled, one waiting in the pipe, so that no child idles.
DEPTH = 2
# A child killed from outside (an out-of-memory killer, an impatient person) says nothing about its job: try again, and
# give up only where nothing else gets done meanwhile.
OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
KILLS_IN_VAIN = 5
# A driver that dies so often without a job in hand, with no result in between, is given up; where it is killed, more.
STARTS_IN_VAIN = 3
STARTS_KILLED = 10
# No selector takes a wait of a thousand years; waking up once a day for it costs nothing.
LONGEST_WAIT_S = 86_400.0
# Outcomes that wait for the caller; children are looked after in between.
READY = 16
# Children at once, of all targets together: so many, or so many for each core. A hundred targets are done in turn.
MOST = 8
MOST_PER_CORE = 2
# What there may be too little of for one more child, and where it can be had.
SCARCE = {
    errno.EMFILE: "more files may be open after: ulimit -n 1024",
    errno.ENFILE: "the system has too many open files: see /proc/sys/fs/file-max",
    errno.EAGAIN: "this user may have more processes after: ulimit -u unlimited",
    errno.ENOMEM: "there is no memory for another process",
}

Load = Callable[[int, int], Job | Answer]
Recall = Callable[[Launch], wire.Hello | NoTarget | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of task `task` on lane `lane`; `attempts` counts the children it took."""

    lane: int
    task: int
    answer: Answer
    attempts: int


@dataclass(frozen=True, slots=True)
class InHand:
    """What a child is doing now, and since when, by `time.monotonic`."""

    lane: int
    task: int
    since: float


class Pool:
    """All children of a run. Use as a context manager: leaving it ends them, whatever happened."""

    def __init__(self, recall: Recall | None = None) -> None:
        """Args:
        recall: what a launch's child would say, where that is known of old. Children that are started all the same
            tell the files that their driver is made of.
        """
        self.lanes: list[Lane] = []
        self._recall = recall
        self._selector = selectors.DefaultSelector()
        self._load: Load = lambda task, lane: Answer("skipped")
        self._ready: deque[Outcome] = deque()
        self._most = max(MOST, MOST_PER_CORE * cores())
        self._alive = 0
        # Whether there may be something to hand out: most of what children say is but the phase that they are in.
        self._news = True

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        children = [child for lane in self.lanes for child in lane.children]
        for child in children:
            if kind is not None or child.busy:
                child.kill()
            child.stdin.close()
        for child in children:
            child.close()
        self._selector.close()

    # ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, launch: Launch, *, width: int = 1, timeout_s: float = 60.0) -> int:
        """Start the first child of a target, without waiting for it; or none where its word is known of old. Where
        there are too many already it is started as soon as others have nothing to do.

        Args:
            width: how many children it may have; 0 for as many as there are cores.
            timeout_s: the limit for opening the device.

        Returns:
            The lane's number.
        """
        number = len(self.lanes)
        known = self._recall(launch) if self._recall else None
        lane = Lane(launch, width or cores(), timeout_s, recalled=known is not None, is_waiting=known is None)
        if isinstance(known, NoTarget):
            lane.lost = known
        else:
            lane.hello = known
        self.lanes.append(lane)
        self._most = max(self._most, width)
        self._start_waiting()
        return number

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
        this.is_dropped, this.is_waiting = True, False
        self._end_children(this)

    # ── Work ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, tasks: int, load: Load, shares: Mapping[int, Sequence[int]] | None = None) -> Iterator[Outcome]:
        """Do tasks 0 to ``tasks - 1`` on every lane that is not dropped; outcomes come in any order.

        Args:
            load: gives a task's job for a lane when its turn has come, or its answer where nothing is to be compiled.
            shares: the tasks of each lane where it isn't all of them; a lane that is missing has none.
        """
        self._load = load
        for number, lane in enumerate(self.lanes):
            if not lane.is_dropped:
                lane.tasks = range(tasks) if shares is None else shares.get(number, ())
        self._fill()  # now, not when the first outcome is asked for: the caller may have other things to do
        return self._outcomes(sum(len(lane.tasks) for lane in self.lanes))

    def in_hand(self) -> list[InHand]:
        """What children are compiling at this moment; may be called from another thread."""
        return [
            InHand(number, jobs[0][0], child.started)
            for number, lane in enumerate(self.lanes)
            for child in list(lane.children)
            if (jobs := list(child.jobs))
        ]

    def finished(self) -> list[Outcome]:
        """Outcomes that are there and were not handed over, for a caller that stops before the end."""
        outcomes, self._ready = [*self._ready], deque()
        return outcomes

    def _outcomes(self, left: int) -> Iterator[Outcome]:
        while left:
            if self._news:
                self._news = False
                self._fill()
            if self._ready:
                while self._ready:
                    left -= 1
                    yield self._ready.popleft()
                self._news = True  # there is room for more
                self._pump(block=False)
            elif not self._news:
                self._pump()

    def _fill(self) -> None:
        """Hand jobs to children that have room, and start children while there is work for them."""
        for number, lane in enumerate(self.lanes):
            if lane.is_dropped:
                continue
            # No job waits behind another that may hang where there are children enough, or may be.
            most = DEPTH if lane.left > lane.width else 1
            for depth in range(most):
                for child in lane.children:
                    if child.hello is not None and len(child.jobs) == depth and self._load_more(number, lane, 1):
                        task, job = lane.loaded.popleft()
                        child.hand(task, job)
                        self._watch(child, number)
            wanted = lane.width - len(lane.children)
            self._load_more(number, lane, wanted if self._alive < self._most else min(wanted, 1))
            # No job waits behind one that may hang, but a short run isn't worth a start on every core.
            most = min(lane.width, lane.worthwhile(time.monotonic()))
            starting = sum(child.hello is None for child in lane.children)
            while len(lane.children) < most and starting < len(lane.loaded):
                if not self._make_room():
                    break
                self._start(number)
                starting += 1

    def _load_more(self, number: int, lane: Lane, count: int) -> bool:
        """Load tasks until so many jobs wait for a child, or no outcome more should. Returns whether any job waits."""
        while len(lane.loaded) < count and len(self._ready) < READY:
            if lane.again:
                task = heapq.heappop(lane.again)
            elif lane.next < len(lane.tasks):
                task = lane.tasks[lane.next]
                lane.next += 1
            else:
                break
            job = self._load(task, number) if lane.lost is None else lost(lane.lost)
            if isinstance(job, Answer):
                self._ready.append(Outcome(number, task, job, lane.attempts.pop(task, 0) + 1))
            else:
                lane.loaded.append((task, job))
        return bool(lane.loaded)

    # ── Children ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _start_waiting(self) -> None:
        """Start the first children of lanes that wait for room."""
        for number, lane in enumerate(self.lanes):
            if lane.is_waiting:
                if not self._make_room():
                    return
                lane.is_waiting = False
                self._start(number)

    def _make_room(self) -> bool:
        """Whether there may be one more child; those of a lane that rests make way, and are started again at need."""
        if self._alive < self._most:
            return True
        resting = next((lane for lane in self.lanes if lane.children and lane.rests), None)
        if resting is not None:
            self._end_children(resting)
        return resting is not None

    def _start(self, number: int) -> None:
        lane = self.lanes[number]
        try:
            child = ChildProcess(
                lane.launch, lane.timeout_s, child_environment(lane.launch), libraries=self._recall is not None
            )
        except OSError as error:  # no such program as the launch's first word, or no more of what a process takes
            if error.errno in SCARCE and self._alive:
                self._most = self._alive  # those that there are do the work
                lane.is_waiting = not lane.children
                return
            hint = SCARCE.get(error.errno or 0)
            self._lose(lane, NoTarget(f"{lane.launch.id}: can't be started: {error}", hint=hint))
            return
        lane.children.append(child)
        self._alive += 1
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
        self._alive -= 1
        for pipe in (child.stdin, child.stdout, child.stderr):
            if not pipe.closed and pipe in self._selector.get_map():
                self._selector.unregister(pipe)

    def _end_children(self, lane: Lane) -> None:
        for child in list(lane.children):
            self._forget(lane, child)
            child.kill()
            child.close()

    def _pump(self, *, block: bool = True) -> None:
        """Wait for something to happen, and see to it."""
        self._start_waiting()
        children = [child for lane in self.lanes for child in lane.children]
        moments = [child.deadline() for child in children]
        if self._alive < self._most:
            moments += [lane.look_again_at() for lane in self.lanes if lane.left and len(lane.children) < lane.width]
        nearest = min(moments, default=inf) if block else 0.0
        wait = None if nearest == inf else min(max(0.0, nearest - time.monotonic()), LONGEST_WAIT_S)
        heard = set()
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
                heard.add(child)
                self._listen(number, child)
        now = time.monotonic()
        self._news = self._news or now >= nearest
        for child in children:
            # An answer may lie in the pipe if it was this process that had no time.
            if now >= child.deadline() and child not in heard:
                child.overrun()

    def _listen(self, number: int, child: ChildProcess) -> None:
        lane = self.lanes[number]
        alive, frames = child.read()
        for kind, header, blob in frames:
            try:
                self._take(number, child, kind, header, blob)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                child.reject(f"a frame of kind {kind} that can't be read: {error!r}")
                alive = False
            if child not in lane.children:
                return  # the lane was lost
            if child.garbage is not None:
                break
        if not alive:
            self._bury(number, child)

    def _take(self, number: int, child: ChildProcess, kind: int, header: dict[str, Any], blob: bytes) -> None:
        """One frame of a child."""
        self._news = True
        lane = self.lanes[number]
        if kind == wire.ANSWER and child.jobs:
            answer = replace(wire.answer_from_frame(header, blob), state=child.state)
            if child.answers:
                lane.timed += 1
                lane.spent_s += time.monotonic() - child.started
            task = child.finish()
            lane.done += 1
            lane.starts_in_vain = 0
            lane.kills.pop(task, None)
            self._ready.append(Outcome(number, task, answer, lane.attempts.pop(task, 0) + 1))
            if header.get("leaves"):
                self._relieve(lane, child)
        elif kind == wire.STATE and child.jobs:
            child.state = wire.state_from_frame(header, blob)
        elif kind == wire.COMPILED and child.jobs:
            child.compiled = wire.answer_from_frame(header, blob)
        elif kind == wire.HELLO and child.hello is None:
            child.hello = wire.hello_from_plain(header)
            lane.opened_s = time.monotonic() - child.started
            if lane.hello is None:
                lane.hello = child.hello
            elif not lane.hello.same_compiler(child.hello):
                self._lose(
                    lane, NoTarget(f"{lane.launch.id}: another driver or device answers now", hint="run it again")
                )
        elif kind == wire.REFUSED and child.hello is None:
            lane.refused = bool(header.get("lasting"))
            self._lose(lane, NoTarget(header["message"], hint=header["hint"]))
        else:
            raise ValueError("not its turn")

    def _relieve(self, lane: Lane, child: ChildProcess) -> None:
        """A child has given its last answer, since its device is lost: what else it was handed goes back."""
        self._forget(lane, child)
        for waiting, _ in child.jobs:
            heapq.heappush(lane.again, waiting)
        child.close()

    def _bury(self, number: int, child: ChildProcess) -> None:
        """A child has died: its job in hand has a result or another try, the job behind it goes back."""
        self._news = True
        lane = self.lanes[number]
        self._forget(lane, child)
        status, failure = child.post_mortem()
        if not child.jobs:
            lane.starts_in_vain += 1
            killed = failure.signal in OUTSIDE
            first = lane.hello is None and not killed
            if first or lane.starts_in_vain >= (STARTS_KILLED if killed else STARTS_IN_VAIN):
                self._lose(lane, died_idle(lane.launch, failure))
            elif lane.hello is None and not lane.children:
                self._start(number)
            return
        (task, _), *behind = child.jobs
        for waiting, _ in behind:
            heapq.heappush(lane.again, waiting)
        attempts = lane.attempts.get(task, 0) + 1
        if failure.signal in OUTSIDE:
            done, kills = lane.kills.get(task, (lane.done, 0))
            kills = kills + 1 if done == lane.done else 1
            if kills < KILLS_IN_VAIN:
                lane.kills[task] = lane.done, kills
                lane.attempts[task] = attempts
                heapq.heappush(lane.again, task)
                return
        lane.attempts.pop(task, None)
        lane.kills.pop(task, None)
        lane.starts_in_vain = 0
        answer = replace(child.compiled or Answer(status), status=status, failure=failure, state=child.state)
        self._ready.append(Outcome(number, task, answer, attempts))

    def _lose(self, lane: Lane, reason: NoTarget) -> None:
        """The target can't be had any more: everything that is left for it fails with the reason."""
        self._news = True
        lane.lost = reason
        held = [task for child in lane.children for task, _ in child.jobs]
        for task in (*held, *(task for task, _ in lane.loaded)):
            heapq.heappush(lane.again, task)
        lane.loaded.clear()
        self._end_children(lane)
