"""Outcomes that came before their turn, in memory and beyond."""

from __future__ import annotations

import pytest

from shaderstat.model import Answer, ExecutableAnswer, Failure, RepresentationAnswer
from shaderstat.pool import Outcome
from shaderstat.pool.order import Reorder


def outcome(task: int, lane: int = 0, size: int = 0) -> Outcome:
    text = RepresentationAnswer("Assembly", "", True, bytes([task % 256]) * size)
    failure = Failure("compile", "driver/crashed", signal="SIGSEGV", stderr_tail="last words")
    return Outcome(lane, task, Answer("crashed", (ExecutableAnswer("x", "", 1, 0, (), (text,)),), failure=failure), 3)


@pytest.mark.parametrize(("most", "most_bytes"), [(1, 10**9), (3, 10**9), (1000, 1), (1000, 10**9)])
def test_each_comes_back_as_it_was(most: int, most_bytes: int) -> None:
    waiting = Reorder(most, most_bytes)
    outcomes = [outcome(task, lane, 1000) for task in range(20) for lane in range(2)]
    for one in reversed(outcomes):
        waiting.put(one)
    assert waiting.take(20, 0) is None
    assert [waiting.take(one.task, one.lane) for one in outcomes] == outcomes
    assert waiting.take(0, 0) is None
    assert list(waiting.rest()) == []


def test_the_rest_is_in_order() -> None:
    waiting = Reorder(2)
    for task in (5, 3, 9, 1):
        waiting.put(outcome(task, 1))
        waiting.put(outcome(task, 0))
    waiting.take(3, 0)
    assert [(one.task, one.lane) for one in waiting.rest()] == [(1, 0), (1, 1), (3, 1), (5, 0), (5, 1), (9, 0), (9, 1)]


def test_memory_holds_no_more_than_it_may() -> None:
    waiting = Reorder(10, 10_000)
    for task in range(100):
        waiting.put(outcome(task, size=5_000))
    assert len(waiting._held) <= 2
    for task in range(100):
        waiting.take(task, 0)
    assert waiting._file is not None and waiting._file.seek(0, 2) == 0  # the room is given back
