"""A request in, events out: in input order, each thing before the first result that needs it."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaderstat import engine
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.inputs import InputModule
from shaderstat.model import (
    Answer,
    Device,
    Diagnostic,
    Driver,
    Durations,
    EndEvent,
    Event,
    Launch,
    NoteEvent,
    PipelineEvent,
    Report,
    Request,
    Result,
    ResultEvent,
    RunEvent,
    TargetEvent,
)
from shaderstat.pool import Outcome
from shaderstat.pool import pool as pool_module
from shaderstat.pool.child import ChildProcess
from shaderstat.targets import having
from shaderstat.targets.listing import Reached
from shaderstat.variants import parse

SAMPLES = Path(__file__).resolve().parents[1] / "sample_spirv"
MOCK = Request((str(SAMPLES),), targets=("mock",), cache=False)


def scenario(folder: Path, text: str) -> str:
    path = folder / "scenario.yaml"
    path.write_text(text)
    return str(path)


def results(events: list[Event]) -> list[ResultEvent]:
    return [event for event in events if isinstance(event, ResultEvent)]


def test_every_result_comes_after_its_target_and_its_pipeline() -> None:
    events = list(engine.run(MOCK))
    assert isinstance(events[0], RunEvent)
    assert isinstance(events[-1], EndEvent)
    seen: set[str] = set()
    statistics: set[str] = set()
    for event in events:
        if isinstance(event, TargetEvent):
            seen.add(event.target.id)
            statistics = {info.name for info in event.target.statistics}
        elif isinstance(event, PipelineEvent):
            seen.add(event.pipeline.id)
        elif isinstance(event, ResultEvent):
            assert {event.result.pipeline, event.result.target} <= seen
            for executable in event.result.executables:
                assert {one.name for one in executable.statistics} <= statistics


def test_results_are_in_input_order_whatever_finishes_first(tmp_path: Path) -> None:
    slow_first = scenario(tmp_path, "rules:\n- match: '*blur*'\n  create: {sleep: 0.5}\n")
    quiet = [event.result.pipeline for event in results(list(engine.run(MOCK)))]
    mixed = [event.result.pipeline for event in results(list(engine.run(replace(MOCK, scenario=slow_first, jobs=3))))]
    assert mixed == quiet
    assert quiet == sorted(quiet)


def test_counts_add_up_to_the_results() -> None:
    report = Report.collect(engine.run(MOCK))
    counts = dict(report.run.counts)
    assert counts.pop("cached") == 0
    assert sum(counts.values()) == len(report.results) > 10
    assert report.run.complete


def test_two_runs_give_the_same_answers() -> None:
    first, second = (
        [replace(one, durations_ns=None) for one in Report.collect(engine.run(MOCK)).results]  # type: ignore[arg-type]
        for _ in range(2)
    )
    assert first == second


def test_several_targets_answer_pipeline_by_pipeline(tmp_path: Path) -> None:
    request = replace(MOCK, paths=(str(SAMPLES / "blur.comp.spv"), str(SAMPLES / "scale.comp.spv")))
    told = [(one.result.pipeline, one.result.target) for one in results(list(engine.run(request)))]
    assert told == [("blur", "mock"), ("scale", "mock")]


def test_a_file_that_makes_no_pipeline_has_a_result_without_a_target(tmp_path: Path) -> None:
    (tmp_path / "cut.spv").write_bytes(b"\x03\x02\x23\x07")
    events = list(engine.run(replace(MOCK, paths=(str(tmp_path),), targets=())))
    (only,) = results(events)
    assert (only.result.status, only.result.target) == ("invalid", None)
    # nothing was to be compiled: no target is opened, none is complained of
    assert not any(isinstance(event, TargetEvent | NoteEvent) for event in events)


def test_content_is_the_words_and_the_variant_not_the_name(tmp_path: Path) -> None:
    data = (SAMPLES / "scale.comp.spv").read_bytes()
    (tmp_path / "a.spv").write_bytes(data)
    (tmp_path / "b.spv").write_bytes(data)
    request = replace(MOCK, paths=(str(tmp_path),))
    plain = Report.collect(engine.run(request)).pipelines
    assert len({one.content for one in plain}) == 1
    assert len({one.id for one in plain}) == 2


def test_each_combination_of_values_is_a_pipeline_of_its_own() -> None:
    request = Request((str(SAMPLES / "tuned.comp.spv"),), targets=("mock",))
    plain = Report.collect(engine.run(request)).pipelines[0]
    assert (plain.variant, plain.workgroup) == ({}, (1, 1, 1))  # GLSL: 1 where only the id is given
    report = Report.collect(engine.run(replace(request, spec=(parse("0=32,128"),))))
    assert [one.id for one in report.pipelines] == ["tuned[0=32]", "tuned[0=128]"]
    assert [one.workgroup for one in report.pipelines] == [(32, 1, 1), (128, 1, 1)]
    assert len({one.content for one in report.pipelines} | {plain.content}) == 3
    assert report.run.diagnostics == ()


def test_a_constant_that_no_module_has_is_said_at_the_end() -> None:
    request = Request((str(SAMPLES / "scale.comp.spv"),), targets=("mock",), spec=(parse("NOWHERE=1"),))
    *_, note, end = engine.run(request)
    assert isinstance(note, NoteEvent)
    assert (note.diagnostic.severity, note.diagnostic.code) == ("error", "spec/unmatched")
    assert isinstance(end, EndEvent)
    assert end.run.diagnostics[-1] == note.diagnostic


def test_what_could_not_be_read_may_have_had_the_constant(tmp_path: Path) -> None:
    """tuned.comp's workgroup is constant 0: with 0 it is no module, and what is wrong with it has been said."""
    tuned = str(SAMPLES / "tuned.comp.spv")
    wrong = replace(MOCK, paths=(tuned,), spec=(parse("0=0"),))
    report = Report.collect(engine.run(wrong))
    assert [one.status for one in report.results] == ["invalid"]
    assert report.run.diagnostics == ()
    beside = replace(wrong, paths=(tuned, str(SAMPLES / "scale.comp.spv")))
    (note,) = Report.collect(engine.run(beside)).run.diagnostics
    assert note.message == "--spec 0: no module that could be read has this constant"


def test_a_glob_that_matches_no_pipeline_is_an_error_that_lists_some() -> None:
    with pytest.raises(ShaderstatError, match="no pipeline matches") as caught:
        list(engine.run(replace(MOCK, pipelines=("nothing*",))))
    assert "blur" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["nonsense", "radv:", "host:x", "radv:nosuchchip"])
def test_an_unknown_target_is_an_error_that_says_what_there_is(name: str) -> None:
    with pytest.raises(NoTarget) as caught:
        list(engine.run(replace(MOCK, targets=(name,))))
    assert caught.value.hint


@pytest.mark.driver
def test_a_variable_that_would_make_another_gpu_of_the_target_is_refused() -> None:
    request = replace(MOCK, targets=("radv:navi21",), environment={"RADV_FORCE_FAMILY": "navi10"})
    with pytest.raises(ShaderstatError, match="RADV_FORCE_FAMILY=navi10"):
        list(engine.run(request))


def test_the_same_words_in_the_other_byte_order_are_the_same_content(tmp_path: Path) -> None:
    data = (SAMPLES / "scale.comp.spv").read_bytes()
    (tmp_path / "little.spv").write_bytes(data)
    (tmp_path / "big.spv").write_bytes(b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4)))
    pipelines = Report.collect(engine.run(replace(MOCK, paths=(str(tmp_path),)))).pipelines
    assert len({one.content for one in pipelines}) == 1
    assert len({one.modules[0].sha256 for one in pipelines}) == 2


@pytest.mark.parametrize(
    ("more", "told"),
    [({"representations": True}, "ir"), ({"timeout_s": 7.5}, "--timeout 7.5"), ({"validate": False}, "--no-validate")],
)
def test_what_shows_it_again_asks_the_same_question(tmp_path: Path, more: dict[str, object], told: str) -> None:
    path = scenario(tmp_path, "rules:\n- create: {crash: SIGSEGV}\n")
    request = Request((str(SAMPLES / "scale.comp.spv"),), targets=("mock",), scenario=path)
    (only,) = results(list(engine.run(replace(request, **more))))  # type: ignore[arg-type]
    assert only.result.failure is not None
    assert told in " ".join(only.result.failure.reproduce)


def test_a_failure_carries_the_command_that_shows_it_again(tmp_path: Path) -> None:
    path = scenario(tmp_path, "rules:\n- match: '*blur*'\n  create: {crash: SIGSEGV}\n")
    request = Request((str(SAMPLES),), targets=("mock",), scenario=path, validate=False)
    failed = [one.result for one in results(list(engine.run(request))) if one.result.status == "crashed"]
    assert [one.pipeline for one in failed] == ["blur"]
    failure = failed[0].failure
    assert failure is not None
    assert failure.reproduce == (
        "shaderstat",
        "stats",
        str(SAMPLES / "blur.comp.spv"),
        "-t",
        "mock",
        "--scenario",
        path,
        "--no-validate",
    )


# ── What is remembered ────────────────────────────────────────────────────────────────────────────────────────────


def plain(report: Report) -> list[Result]:
    """The results, less what may differ between two runs of the same question."""
    return [replace(one, durations_ns=Durations(), cached=False) for one in report.results]


def test_a_second_run_starts_no_child_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    request = replace(MOCK, cache=True, representations=True)
    first = Report.collect(engine.run(request))

    def no_child(*arguments: object, **more: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(pool_module, "ChildProcess", no_child)
    second = Report.collect(engine.run(request))
    assert first.run.counts["cached"] == 0
    assert second.run.counts["cached"] == len(second.results) == len(first.results)
    assert all(one.cached and one.durations_ns == Durations() for one in second.results)
    assert plain(second) == plain(first)
    assert (second.targets, second.pipelines) == (first.targets, first.pipelines)


def test_only_what_is_new_is_compiled(tmp_path: Path) -> None:
    for name in ("blur", "scale"):
        shutil.copy(SAMPLES / f"{name}.comp.spv", tmp_path)
    request = replace(MOCK, paths=(str(tmp_path),), cache=True)
    Report.collect(engine.run(request))
    (tmp_path / "blur.comp.spv").rename(tmp_path / "renamed.comp.spv")
    shutil.copy(SAMPLES / "leaf.vert.spv", tmp_path)
    shutil.copy(SAMPLES / "leaf.frag.spv", tmp_path)
    report = Report.collect(engine.run(request))
    assert {one.pipeline: one.cached for one in report.results} == {"leaf": False, "renamed": True, "scale": True}
    assert report.run.counts["cached"] == 2


@pytest.mark.parametrize(
    "change",
    [{"validate": False}, {"representations": True}, {"spec": (parse("0=16"),)}],
)
def test_another_question_has_another_answer(change: dict[str, Any]) -> None:
    request = replace(MOCK, paths=(str(SAMPLES / "tuned.comp.spv"),), cache=True)
    Report.collect(engine.run(request))
    assert Report.collect(engine.run(replace(request, **change))).run.counts["cached"] == 0
    assert Report.collect(engine.run(request)).run.counts["cached"] == 1


def test_without_the_cache_and_against_it() -> None:
    request = replace(MOCK, paths=(str(SAMPLES / "blur.comp.spv"),), cache=True)
    for change, cached in (
        ({"cache": False}, 0),
        ({}, 0),  # nothing was kept by the one before
        ({"cache": False}, 0),
        ({"refresh": True}, 0),
        ({}, 1),
    ):
        assert Report.collect(engine.run(replace(request, **change))).run.counts["cached"] == cached


def test_a_store_that_can_not_be_had_costs_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SHADERSTAT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    report = Report.collect(engine.run(replace(MOCK, cache=True)))
    assert report.run.complete
    assert [one.code for one in report.run.diagnostics] == ["store/unusable"]
    assert report.run.counts["ok"] == len(report.results)


def test_a_file_that_changes_under_way_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(SAMPLES / "blur.comp.spv", tmp_path)
    request = replace(MOCK, paths=(str(tmp_path),), cache=True)
    events = engine.run(request)
    original = InputModule.read

    def changed(module: InputModule) -> bytes:
        (tmp_path / "blur.comp.spv").write_bytes((SAMPLES / "scale.comp.spv").read_bytes())
        return original(module)

    with monkeypatch.context() as patch:
        patch.setattr(InputModule, "read", changed)
        (result,) = Report.collect(events).results
    assert (result.status, result.diagnostics[0].code) == ("invalid", "input/changed")
    (result,) = Report.collect(engine.run(request)).results
    assert (result.status, result.cached) == ("ok", False)


# ── Ends before the end ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_failure_ends_a_run_that_shall_fail_fast(tmp_path: Path) -> None:
    path = scenario(
        tmp_path,
        "rules:\n- match: '*leaf*'\n  create: {crash: SIGSEGV}\n- match: '*'\n  create: {sleep: 0.05}\n",
    )
    report = Report.collect(engine.run(replace(MOCK, scenario=path, fail_fast=True, jobs=1)))
    assert not report.run.complete
    assert [one.status for one in report.results if one.status != "ok"] == ["crashed"]
    assert len(report.results) < len(Report.collect(engine.run(MOCK)).results)


def test_what_is_finished_is_kept_when_a_run_is_interrupted(tmp_path: Path) -> None:
    """The first pipeline takes long; those behind it are done when the interruption comes."""
    slow = scenario(tmp_path, "rules:\n- match: '*blur*'\n  create: {hang: true}\n")
    request = replace(MOCK, scenario=slow, jobs=2)
    watch = engine.Watch()
    events = engine.run(request, watch)
    timer = threading.Timer(0.0, lambda: None)

    def interrupt() -> None:
        while watch.done < 5:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.0, interrupt)
    timer.start()
    seen: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(events)
    timer.join()
    report = Report.collect(seen)
    assert not report.run.complete
    assert len(report.results) >= 5
    assert all(one.status == "ok" and one.pipeline != "blur" for one in report.results)


def test_a_target_that_is_lost_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device opens once and never again."""
    path = scenario(tmp_path, "rules:\n- match: '*'\n  create: {crash: SIGSEGV}\n")
    first = ChildProcess

    def once(launch: Launch, *arguments: Any, **more: Any) -> ChildProcess:
        child = first(launch, *arguments, **more)
        monkeypatch.setattr(pool_module, "ChildProcess", never)
        return child

    def never(launch: Launch, *arguments: Any, **more: Any) -> ChildProcess:
        return first(replace(launch, scenario={"rules": [], "open": {"crash": "SIGABRT"}}), *arguments, **more)

    monkeypatch.setattr(pool_module, "ChildProcess", once)
    report = Report.collect(engine.run(replace(MOCK, scenario=path, jobs=1)))
    statuses = Counter(one.status for one in report.results)
    assert statuses["crashed"] == 1
    assert statuses["failed"] == len(report.results) - 1
    assert [one.code for one in report.run.diagnostics] == ["target/lost"]
    assert "SIGABRT" in report.run.diagnostics[0].message


def test_many_variants_are_made_one_by_one() -> None:
    values = ",".join(str(number) for number in range(300))
    request = Request((str(SAMPLES / "tuned.comp.spv"),), spec=(parse(f"1={values}"), parse(f"2={values}")))
    work = engine.Work(request, engine.Outline(request).plan(), None)
    assert len(work) == 90_000
    assert work.pipeline(0).id == "tuned[1=0,2=0]"
    assert work.pipeline(89_999).id == "tuned[1=299,2=299]"
    assert work.variant(301).values == {"1": "1", "2": "1"}


# ── Who has what a device lacks ───────────────────────────────────────────────────────────────────────────────────


def test_what_a_device_lacks_is_said_with_the_targets_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of what is remembered, which is looked at once, and where something is lacking alone."""
    looked: list[Request] = []

    def remembered(request: Request) -> tuple[Reached, ...]:
        looked.append(request)
        nobody = Driver(0, "", "", ""), Device("", 0, 0, "", "", "")
        both, one = frozenset({"RayTracingKHR", "SPIR-V-1.4"}), frozenset({"RayTracingKHR"})
        return tuple(
            Reached(name, "", *nobody, "tree", "tree sid", True, True, "", takes)
            for name, takes in (("mock", both), ("radv@sid:navi31", both), ("nvk@sid:ad102", one))
        )

    def answers(pool: object, tasks: int, load: object, shares: object) -> Iterator[Outcome]:
        remark = Diagnostic("error", "vulkan/feature-missing", "asks for capability RayTracingKHR")
        lacking = Answer("unsupported", diagnostics=(remark,), needs=("RayTracingKHR", "SPIR-V-1.4"))
        other = replace(lacking, diagnostics=(replace(remark, hint="--env A=b has it"),))
        return iter([Outcome(0, 0, lacking, 1), Outcome(0, 1, Answer("ok"), 1), Outcome(0, 2, other, 1)])

    monkeypatch.setattr(having, "remembered", remembered)
    monkeypatch.setattr(engine.Pool, "run", answers)
    files = tuple(str(SAMPLES / f"{name}.comp.spv") for name in ("blur", "julia", "sort"))
    told = [event.result.diagnostics for event in results(list(engine.run(replace(MOCK, paths=files))))]
    assert [[one.hint for one in each] for each in told] == [
        ["radv@sid:navi31 has it (-t radv@sid:navi31)"],
        [],
        ["--env A=b has it; radv@sid:navi31 has it (-t radv@sid:navi31)"],
    ]
    assert len(looked) == 1
