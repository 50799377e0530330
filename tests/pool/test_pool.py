"""Drivers crash, hang, leave and are killed: one pipeline's result each, and the rest goes on.

The mock plays the driver, in real children, by scenario; ``tests/layer`` does the same to a real driver.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaderstat import wire
from shaderstat.errors import NoTarget
from shaderstat.model import Answer, Job, JobModule, Launch
from shaderstat.pool import Outcome, Pool
from shaderstat.pool import pool as pool_module
from shaderstat.pool.child import ChildProcess
from tests.conftest import ROOT

SAMPLE = (Path(__file__).resolve().parents[2] / "sample_spirv" / "scale.comp.spv").read_bytes()


def job(path: str = "good.spv", timeout_s: float = 30.0, data: bytes = SAMPLE) -> Job:
    return Job("compute", (JobModule(path, data, "compute", "main"),), timeout_s=timeout_s, validate=False)


def mock(*rules: Mapping[str, Any], **more: Any) -> Launch:
    return Launch("mock", "mock", "mock", scenario={"rules": list(rules), **more})


def killer(**event: Any) -> Mapping[str, Any]:
    return {"path": "bad*", "create": event}


def run(launch: Launch, jobs: list[Job], width: int = 1) -> list[Outcome]:
    """The outcomes in the order of the jobs."""
    with Pool() as pool:
        pool.wait(pool.add(launch, width=width))
        outcomes = list(pool.run(len(jobs), lambda task, lane: jobs[task]))
    assert sorted(one.task for one in outcomes) == list(range(len(jobs)))
    return sorted(outcomes, key=lambda one: one.task)


MIXED = [job(), job(), job("bad.spv"), job(), job()]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize(
    ("event", "status", "code", "told"),
    [
        ({"crash": "SIGSEGV", "stderr": "ACO ERROR\n"}, "crashed", "driver/crashed", ("SIGSEGV", None)),
        ({"crash": "SIGABRT", "stderr": "ACO ERROR\n"}, "crashed", "driver/crashed", ("SIGABRT", None)),
        ({"exit": 0, "stderr": "ACO ERROR\n"}, "crashed", "driver/exited", (None, 0)),
        ({"exit": 3, "stderr": "ACO ERROR\n"}, "crashed", "driver/exited", (None, 3)),
    ],
)
def test_a_death_costs_the_pipeline_in_hand_alone(
    event: dict[str, Any], status: str, code: str, told: tuple[str | None, int | None], width: int
) -> None:
    outcomes = run(mock(killer(**event)), MIXED, width)
    assert [one.answer.status for one in outcomes] == ["ok", "ok", status, "ok", "ok"]
    failure = outcomes[2].answer.failure
    assert failure is not None
    assert (failure.phase, failure.code) == ("compile", code)
    assert (failure.signal, failure.exit_code) == told
    assert failure.stderr_tail == "ACO ERROR\n"


def test_a_death_is_told_in_the_words_and_the_phase_of_its_own_job() -> None:
    """Two jobs are in a child's hands: the second's phases may be read together with the first's answer."""
    noisy = {"path": "good*", "create": {"stderr": "all is well\n"}}
    dies = {"path": "bad*", "query": {"crash": "SIGSEGV", "stderr": "bad: my last words\n"}}
    jobs = [job("good.spv"), job("bad.spv")] * 5
    for outcome in run(mock(noisy, dies), jobs)[1::2]:
        failure = outcome.answer.failure
        assert failure is not None
        assert (failure.phase, failure.stderr_tail) == ("query", "bad: my last words\n")


def test_a_hang_ends_at_the_limit_and_is_told_from_a_crash() -> None:
    began = time.monotonic()
    outcomes = run(mock(killer(hang=True)), [job(), job("bad.spv", timeout_s=0.5), job()])
    assert [one.answer.status for one in outcomes] == ["ok", "timeout", "ok"]
    failure = outcomes[1].answer.failure
    assert failure is not None
    assert (failure.phase, failure.code, failure.limit_s) == ("compile", "driver/timeout", 0.5)
    assert time.monotonic() - began < 20


def test_a_limit_of_a_thousand_years_is_one() -> None:
    assert [one.answer.status for one in run(mock(), [job(timeout_s=1e300), job(timeout_s=1e9)])] == ["ok", "ok"]


def test_a_query_that_kills_is_told_from_a_compile_that_kills() -> None:
    rule = {"path": "bad*", "query": {"crash": "SIGSEGV"}}
    failure = run(mock(rule), [job("bad.spv")])[0].answer.failure
    assert failure is not None
    assert failure.phase == "query"


def test_what_a_driver_prints_does_not_enter_the_protocol() -> None:
    noise = "noise\n" * 50_000  # more than a pipe holds
    outcomes = run(mock(killer(stdout=noise, stderr=noise)), MIXED)
    assert [one.answer.status for one in outcomes] == ["ok"] * 5


def test_an_error_result_is_the_drivers_word_and_the_child_lives_on() -> None:
    outcomes = run(mock(killer(result="VK_ERROR_UNKNOWN")), MIXED)
    assert [one.answer.status for one in outcomes] == ["ok", "ok", "failed", "ok", "ok"]
    failure = outcomes[2].answer.failure
    assert failure is not None
    assert (failure.code, failure.vk_result) == ("driver/error", "VK_ERROR_UNKNOWN")


def test_a_job_may_be_larger_than_any_pipe() -> None:
    nops = (1 << 16).to_bytes(4, "little") * 500_000  # OpNop, two megabytes of it before the first instruction
    large = SAMPLE[:20] + nops + SAMPLE[20:]
    outcomes = run(mock(), [job(data=large), job(data=large), job()])
    assert [one.answer.status for one in outcomes[2:]] == ["ok"]
    assert all(one.answer.status in ("ok", "invalid") for one in outcomes)


def test_a_child_killed_from_outside_says_nothing_of_its_job() -> None:
    """The kill falls into a compile that takes a second; the job is done again by another child."""
    slow = {"path": "slow*", "create": {"sleep_s": 1.0}}
    jobs = [job("slow.spv"), job()]
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(slow))]
        pool.wait(0)
        child = lane.children[0]
        killed = False

        def load(task: int, lane: int) -> Job | Answer:
            return jobs[task]

        # The second job is handed over while the first is being compiled: a timer kills in the middle of it.
        def kill(*_: object) -> None:
            nonlocal killed
            killed = True
            os.kill(child._process.pid, signal.SIGKILL)

        before = signal.signal(signal.SIGALRM, kill)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            outcomes = sorted(pool.run(2, load), key=lambda one: one.task)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert killed
    assert [one.answer.status for one in outcomes] == ["ok", "ok"]
    assert outcomes[0].attempts == 2


def test_a_device_that_can_not_be_opened_is_one_clear_line() -> None:
    with Pool() as pool, pytest.raises(NoTarget, match="no such GPU here"):
        pool.wait(pool.add(mock(missing="no such GPU here")))


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"crash": "SIGABRT", "stderr": "radv: Unknown family: x\n"}, r"SIGABRT\): radv: Unknown family: x"),
        ({"exit": 7}, "exit status 7"),
    ],
)
def test_a_driver_that_dies_while_it_opens_says_its_last_word(event: dict[str, Any], told: str) -> None:
    with Pool() as pool, pytest.raises(NoTarget, match=told):
        pool.wait(pool.add(mock(open=event)))


def test_a_driver_that_hangs_while_it_opens_is_given_up() -> None:
    with Pool() as pool, pytest.raises(NoTarget, match=r"has not opened its device within 0\.5 s"):
        pool.wait(pool.add(mock(open={"hang": True}), timeout_s=0.5))


def test_several_targets_share_one_pool() -> None:
    jobs = [job(), job("bad.spv"), job()]
    with Pool() as pool:
        for launch in (mock(), mock(killer(crash="SIGSEGV"))):
            pool.wait(pool.add(launch))
        outcomes = list(pool.run(3, lambda task, lane: jobs[task]))
    told = {(one.lane, one.task): one.answer.status for one in outcomes}
    assert told == {(0, 0): "ok", (0, 1): "ok", (0, 2): "ok", (1, 0): "ok", (1, 1): "crashed", (1, 2): "ok"}


def test_no_child_outlives_the_pool() -> None:
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(killer(hang=True)))]
        pool.wait(0)
        process = lane.children[0]._process
        lane.children[0].hand(0, job("bad.spv"))
    assert process.returncode is not None


def test_a_child_leaves_when_its_input_ends_in_the_middle_of_a_compile() -> None:
    """What happens when the parent is killed: nobody closes the child, its input merely ends."""
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(killer(hang=True)))]
        pool.wait(0)
        child = lane.children[0]
        child.hand(0, job("bad.spv"))
        while child.phase != "compile":
            child.read()
            time.sleep(0.01)
        child.stdin.close()
        assert child._process.wait(timeout=10) == 0


def test_each_lane_does_its_share() -> None:
    """A run may need several devices of one target, each for some of the pipelines."""
    with Pool() as pool:
        lanes = [pool.add(mock()) for _ in range(3)]
        for lane in lanes:
            pool.wait(lane)
        shares = {lanes[0]: [0, 3], lanes[2]: [1, 2]}
        outcomes = list(pool.run(4, lambda task, lane: job(), shares))
    assert sorted((one.lane, one.task) for one in outcomes) == [
        (lanes[0], 0), (lanes[0], 3), (lanes[2], 1), (lanes[2], 2),
    ]  # fmt: skip
    assert {one.answer.status for one in outcomes} == {"ok"}


@pytest.mark.parametrize("width", [0, 1, 12])
def test_a_hundred_targets_are_not_a_hundred_processes(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """All are opened and answer, in turn; a child that dies meanwhile costs its own job alone."""
    monkeypatch.setattr("shaderstat.pool.pool.MOST", 3)
    monkeypatch.setattr("shaderstat.pool.pool.cores", lambda: 1)
    alive: list[int] = []
    jobs = [job(), job("bad.spv"), job()]
    with Pool() as pool:

        def load(task: int, lane: int) -> Job:
            alive.append(sum(len(one.children) for one in pool.lanes))
            return jobs[task]

        lanes = [pool.add(mock(killer(crash="SIGSEGV")), width=width) for _ in range(9)]
        for lane in lanes:
            assert pool.wait(lane).device.name
            alive.append(sum(len(one.children) for one in pool.lanes))
        outcomes = list(pool.run(len(jobs), load))
    assert max(alive) <= max(3, width)
    told = {(one.lane, one.task): one.answer.status for one in outcomes}
    assert told == {(lane, task): ("ok", "crashed", "ok")[task] for lane in lanes for task in range(3)}


def test_a_target_that_is_given_up_before_its_turn_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shaderstat.pool.pool.MOST", 1)
    monkeypatch.setattr("shaderstat.pool.pool.cores", lambda: 0)
    with Pool() as pool:
        first, second = pool.add(mock(), width=1), pool.add(mock(), width=1)
        pool.drop(second)
        pool.wait(first)
        outcomes = list(pool.run(2, lambda task, lane: job()))
        assert not pool.lanes[second].children
    assert [(one.lane, one.answer.status) for one in outcomes] == [(first, "ok"), (first, "ok")]


# ── Scarcity ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("most", [1, 2])
def test_the_children_that_there_are_do_the_work_where_no_more_can_be_had(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one target and of several: a process may open so many files, and a user have so many processes."""
    alive: list[ChildProcess] = []

    class Scarce(ChildProcess):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            if sum(not one.stdout.closed for one in alive) >= most:
                raise OSError(errno.EMFILE, "Too many open files")
            super().__init__(*arguments, **more)
            alive.append(self)

    monkeypatch.setattr(pool_module, "ChildProcess", Scarce)
    with Pool() as pool:
        lanes = [pool.add(mock(killer(crash="SIGSEGV")), width=4) for _ in range(3)]
        for lane in lanes:
            pool.wait(lane)
        jobs = [job(), job(), job("bad.spv"), job(), job()]
        outcomes = list(pool.run(len(jobs), lambda task, lane: jobs[task]))
    told = {(one.lane, one.task): one.answer.status for one in outcomes}
    assert told == {(lane, task): "crashed" if task == 2 else "ok" for lane in lanes for task in range(5)}


@pytest.mark.parametrize("others", [0, 1])
def test_a_target_known_of_old_that_can_not_be_started_any_more_fails_its_jobs(others: int) -> None:
    """Nobody waits for its word: that there is no such program shows when the first job is handed out."""
    with Pool() as pool:
        pool.add(mock())
        hello = pool.wait(0)
    gone = replace(mock(), prefix=("no-such-program",))
    with Pool(lambda launch: hello if launch is gone else None) as pool:
        for launch in (gone, *[mock()] * others):
            pool.wait(pool.add(launch))
        outcomes = list(pool.run(3, lambda task, lane: job()))
    told = {(one.lane, one.task): one.answer.failure and one.answer.failure.code for one in outcomes}
    assert told == {(lane, task): None if lane else "target/lost" for lane in range(1 + others) for task in range(3)}


def test_a_target_that_is_known_not_to_be_there_is_not_tried() -> None:
    with Pool(lambda launch: NoTarget("no device here")) as pool:
        lane = pool.add(mock())
        with pytest.raises(NoTarget, match="no device here"):
            pool.wait(lane)
        assert not pool.lanes[lane].children


def test_no_file_to_open_for_the_first_child_is_one_clear_line() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Pool() as pool:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4, limits[1]))
        try:
            pool.add(mock())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        with pytest.raises(NoTarget) as error:
            pool.wait(0)
    assert error.value.message == "mock: can't be started: [Errno 24] Too many open files"
    assert error.value.hint is not None and "ulimit -n" in error.value.hint


# ── Many deaths ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_three_killers_in_a_row_are_three_results() -> None:
    jobs = [job(), *[job("bad.spv")] * 5, job()]
    outcomes = run(mock(killer(crash="SIGSEGV")), jobs)
    assert [one.answer.status for one in outcomes] == ["ok", *["crashed"] * 5, "ok"]


@pytest.mark.parametrize("width", [1, 3])
def test_a_driver_that_never_opens_again_is_given_up(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first child dies of its job, and no other one reaches the device."""
    started = 0

    class Once(ChildProcess):
        def __init__(self, launch: Launch, *arguments: Any, **more: Any) -> None:
            nonlocal started
            started += 1
            again = replace(launch, scenario={"rules": [], "open": {"crash": "SIGABRT", "stderr": "no memory\n"}})
            super().__init__(launch if started == 1 else again, *arguments, **more)

    monkeypatch.setattr(pool_module, "ChildProcess", Once)
    outcomes = run(mock(killer(crash="SIGSEGV")), [job("bad.spv"), *[job()] * 50], width)
    assert outcomes[0].answer.status == "crashed"
    lost = outcomes[-1].answer.failure
    assert lost is not None
    assert (lost.phase, lost.code) == ("start", "target/lost")
    assert "SIGABRT" in lost.stderr_tail and "no memory" in lost.stderr_tail
    assert started <= 1 + 3 + width


def test_children_killed_again_and_again_cost_no_result() -> None:
    """Whoever kills takes any child, at any moment; each job is slow enough to be hit."""
    slow = {"path": "*", "create": {"sleep_s": 0.03}}
    jobs = [job(f"{number}.spv") for number in range(30)]
    kills = 0
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(slow), width=2)]
        pool.wait(0)

        def kill(*_: object) -> None:
            nonlocal kills
            busy = [child for child in lane.children if child.jobs]
            if busy:
                kills += 1
                os.kill(busy[kills % len(busy)]._process.pid, signal.SIGKILL)

        before = signal.signal(signal.SIGALRM, kill)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
            outcomes = list(pool.run(len(jobs), lambda task, lane: jobs[task]))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert kills >= 1
    assert sorted(one.task for one in outcomes) == list(range(30))
    assert {one.answer.status for one in outcomes} == {"ok"}
    assert sum(one.attempts for one in outcomes) >= 30 + kills - 1


def test_a_job_whose_children_are_always_killed_ends() -> None:
    """An out-of-memory killer that this very pipeline calls."""
    outcomes = run(mock(killer(crash="SIGKILL")), [job(), job("bad.spv"), job()])
    assert [one.answer.status for one in outcomes] == ["ok", "crashed", "ok"]
    failure = outcomes[1].answer.failure
    assert failure is not None
    assert (failure.signal, outcomes[1].attempts >= 5) == ("SIGKILL", True)


# ── What else may come out of a child ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "noise",
    [
        b"Hello, I am a driver\n" * 10,
        wire.HEAD.pack(wire.MAGIC, wire.ANSWER, 2, 0) + b"{}",
        wire.HEAD.pack(wire.MAGIC, wire.ANSWER, 2, 0) + b"[]",
        wire.frame(wire.HELLO, {"driver": 1}),
        wire.frame(wire.LAUNCH, {}),
        wire.HEAD.pack(wire.MAGIC, wire.PHASE, 77, 0),
    ],
)
def test_garbage_on_the_protocol_costs_the_job_in_hand(noise: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Noisy(ChildProcess):
        def read(self) -> tuple[bool, list[tuple[int, dict[str, Any], bytes]]]:
            if self.jobs and self.jobs[0][1].modules[0].path == "bad.spv":
                self._frames.feed(noise)
            return super().read()

    monkeypatch.setattr(pool_module, "ChildProcess", Noisy)
    # Long enough that the answer before it is read by itself, however busy the machine is.
    outcomes = run(mock(killer(sleep_s=2.0)), MIXED)
    assert [one.answer.status for one in outcomes] == ["ok", "ok", "crashed", "ok", "ok"]
    failure = outcomes[2].answer.failure
    assert failure is not None
    assert failure.code == "driver/garbage"


def test_another_driver_in_the_middle_of_a_run_gives_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed(ChildProcess):
        count = 0

        def read(self) -> tuple[bool, list[tuple[int, dict[str, Any], bytes]]]:
            alive, frames = super().read()
            for kind, header, _ in frames:
                if kind == wire.HELLO:
                    Changed.count += 1
                    header["driver"][2] = f"version {Changed.count}"
            return alive, frames

    monkeypatch.setattr(pool_module, "ChildProcess", Changed)
    outcomes = run(mock(killer(crash="SIGSEGV")), [job(), job("bad.spv"), job()])
    assert [one.answer.status for one in outcomes] == ["ok", "crashed", "failed"]


def test_no_more_children_are_started_than_there_is_work() -> None:
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(), width=16)]
        pool.wait(0)
        list(pool.run(2, lambda task, lane: job()))
        assert len(lane.children) <= 2


def test_no_child_is_started_that_would_come_too_late() -> None:
    """Forty of the mock's answers take less time than a start of it."""
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(), width=16)]
        pool.wait(0)
        lane.opened_s = 60.0
        assert len(list(pool.run(40, lambda task, lane: job()))) == 40
        assert len(lane.children) == 1


def test_a_long_run_has_as_many_children_as_it_pays_to_have() -> None:
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(), width=4)]
        pool.wait(0)
        lane.opened_s = 1e-6
        assert len(list(pool.run(40, lambda task, lane: job()))) == 40
        assert len(lane.children) == 4


def test_what_waits_behind_a_long_job_gets_children_of_its_own() -> None:
    """Before the first answer nothing is known but how long it is in coming."""
    jobs = [job("bad.spv"), *[job()] * 3]
    with Pool() as pool:
        lane = pool.lanes[pool.add(mock(killer(hang=True)), width=4)]
        pool.wait(0)
        outcomes = pool.run(4, lambda task, lane: jobs[task])
        assert [next(outcomes).answer.status for _ in range(3)] == ["ok"] * 3
        assert 2 <= len(lane.children) <= 4


# ── Orphans ───────────────────────────────────────────────────────────────────────────────────────────────────────

HANGS = """
import sys
from tests.pool.test_pool import job, killer, mock
from shaderstat.pool import Pool
with Pool() as pool:
    pool.wait(pool.add(mock(killer(hang=True)), width=3))
    jobs = [job("bad.spv")] * 3
    outcomes = pool.run(3, lambda task, lane: jobs[task])
    while len(pool.in_hand()) < 3 or any(child.phase != "compile" for child in pool.lanes[0].children):
        pool._pump()
        pool._fill()
    print(*(child._process.pid for child in pool.lanes[0].children), flush=True)
    next(outcomes)
"""


def test_no_child_outlives_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", HANGS], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    children = [int(word) for word in parent.stdout.readline().split()]
    assert len(children) == 3
    assert all(_runs(child) for child in children)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while any(_runs(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_runs(child) for child in children)


def _runs(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
