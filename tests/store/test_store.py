"""Answers in and out: what is kept is what a driver said, and only what stays true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat.errors import NoTarget
from shaderstat.model import (
    Answer,
    Diagnostic,
    Durations,
    ExecutableAnswer,
    Failure,
    Job,
    JobModule,
    Launch,
    RepresentationAnswer,
    StatisticAnswer,
)
from shaderstat.store import Store

LIMIT = 1 << 30
ANSWER = Answer(
    "ok",
    (
        ExecutableAnswer(
            "Vertex Shader",
            "what it is",
            1,
            64,
            (StatisticAnswer("Hash", "a hash", 2, 2**64 - 1), StatisticAnswer("Code size", "", 2, 616)),
            (
                RepresentationAnswer("Assembly", "", True, b"s_endpgm\n"),
                RepresentationAnswer("ELF", "", False, b"\0\1"),
            ),
        ),
        ExecutableAnswer("Fragment Shader", "", 16, 32, (StatisticAnswer("Hash", "a hash", 2, 7),), (), True, "upper"),
    ),
    (8, 8, 1),
    Durations(5, {"vertex": 3}, 9),
    (Diagnostic("warning", "x/y", "of one file", path="b.spv", offset=4), Diagnostic("info", "x/z", "of none")),
    spec_found=(0,),
    driver_ns=77,
)
JOB = Job("graphics", (JobModule("a.spv", b"aa", "vertex", "main"), JobModule("b.spv", b"bb", "fragment", "main")))
PATHS = ["a.spv", "b.spv"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path / "cache")


def kept(folder: str, answer: Answer, paths: list[str] = PATHS) -> Answer | None:
    """What the next run finds."""
    with Store(folder, LIMIT) as store:
        key = store.key(b"target", JOB, ["a" * 64, "b" * 64])
        store.put(key, PATHS, answer)
    with Store(folder, LIMIT) as store:
        assert not store.notes
        return store.get(key, paths)


def test_an_answer_comes_back_without_its_times(folder: str) -> None:
    expected = replace(ANSWER, durations=Durations(), driver_ns=0, cached=True)
    assert kept(folder, ANSWER) == expected


def test_remarks_are_about_the_files_of_now(folder: str) -> None:
    found = kept(folder, ANSWER, ["new/a.spv", "new/b.spv"])
    assert found is not None
    assert [one.path for one in found.diagnostics] == ["new/b.spv", None]


@pytest.mark.parametrize(
    "answer",
    [
        Answer("crashed", failure=Failure("compile", "driver/crashed", signal="SIGSEGV")),
        Answer("timeout", failure=Failure("compile", "driver/timeout", limit_s=1.0)),
        Answer("failed", failure=Failure("compile", "driver/error", vk_result="VK_ERROR_OUT_OF_HOST_MEMORY")),
        replace(ANSWER, diagnostics=(Diagnostic("warning", "vulkan/statistics", "no statistics: out of memory"),)),
        replace(ANSWER, diagnostics=(Diagnostic("warning", "spirv/not-validated", "the tool died"),)),
        replace(ANSWER, state={"kind": "graphics"}),
    ],
)
def test_what_may_be_otherwise_the_next_time_is_not_kept(folder: str, answer: Answer) -> None:
    assert kept(folder, answer) is None


@pytest.mark.parametrize("status", ["invalid", "unsupported"])
def test_a_refusal_is_kept(folder: str, status: str) -> None:
    found = kept(folder, Answer(status, diagnostics=(Diagnostic("error", "spirv/invalid", "no", path="a.spv"),)))
    assert found is not None
    assert (found.status, found.diagnostics[0].message) == (status, "no")


def test_all_of_a_question_counts_but_names_and_time_limits(folder: str) -> None:
    digests = ["a" * 64, "b" * 64]
    with Store(folder, LIMIT) as store:
        key = store.key(b"target", JOB, digests)
        same = replace(JOB, timeout_s=1.0, modules=tuple(replace(one, path="x", data=b"") for one in JOB.modules))
        assert store.key(b"target", same, digests) == key
        others = [
            store.key(b"other", JOB, digests),
            store.key(b"target", JOB, digests[::-1]),
            *(
                store.key(b"target", other, digests)
                for other in (
                    replace(JOB, kind="ray_tracing"),
                    replace(JOB, statistics=False),
                    replace(JOB, representations=True),
                    replace(JOB, validate=False),
                    replace(JOB, spec=((None, "0", "4"),)),
                    replace(JOB, layers=({"samples": 4},)),
                    replace(JOB, state={"code": b"1"}),
                    replace(JOB, state={"code": b"2"}),
                    replace(JOB, modules=tuple(replace(one, entry_point="other") for one in JOB.modules)),
                )
            ),
        ]
    assert len({key, *others}) == len(others) + 1


def test_refreshing_finds_nothing_and_keeps(folder: str) -> None:
    kept(folder, ANSWER)
    newer = replace(ANSWER, workgroup=(4, 4, 4))
    with Store(folder, LIMIT, refresh=True) as store:
        key = store.key(b"target", JOB, ["a" * 64, "b" * 64])
        assert store.get(key, PATHS) is None
        store.put(key, PATHS, newer)
    with Store(folder, LIMIT) as store:
        found = store.get(key, PATHS)
        assert found is not None and found.workgroup == (4, 4, 4)


def test_code_that_was_forgotten_makes_the_answer_unknown(folder: str) -> None:
    kept(folder, ANSWER)
    with Store(folder, LIMIT) as store:
        database = store._database
        assert database._connection is not None
        database._connection.execute("DELETE FROM texts WHERE length(data) < 30")
        assert store.get(store.key(b"target", JOB, ["a" * 64, "b" * 64]), PATHS) is None


def test_a_fact_is_remembered(folder: str) -> None:
    with Store(folder, LIMIT) as store:
        store.note_fact([1, "two"], "asker", "a" * 64)
        store.note_fact([], "asker", "b" * 64)
    with Store(folder, LIMIT) as store:
        assert store.fact("asker", "a" * 64) == [1, "two"]
        assert store.fact("asker", "b" * 64) == []
        assert store.fact("asker", "c" * 64) is None
        assert store.contents.entries == {"fact": 2}


def test_that_no_device_answers_is_recalled_and_asked_anew_at_will(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shaderstat.store.identity._devices", lambda: iter(()))
    host = Launch("host", "vulkan", "host", device=-1)
    with Store(folder, LIMIT) as store:
        assert store.recall(host) is None
        store.learn_refusal(host, NoTarget("no device here"))
    with Store(folder, LIMIT) as store:
        found = store.recall(host)
        assert isinstance(found, NoTarget) and found.message == "no device here"
        assert store.recall(replace(host, device=0)) is None
    with Store(folder, LIMIT, refresh=True) as store:
        assert store.recall(host) is None
