"""A request in, events out: in input order, each thing before the first result that needs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat import engine
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import (
    EndEvent,
    Event,
    NoteEvent,
    PipelineEvent,
    Report,
    Request,
    ResultEvent,
    RunEvent,
    TargetEvent,
)
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
