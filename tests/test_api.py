"""The library: the names that it offers, when they are loaded, and what the two calls ask."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import shaderstat
from shaderstat import api, model
from tests.cli.events import Engine, answered, run
from tests.conftest import ROOT

# What a report's remarks are made of, and what comes before it.
MODEL = {"shaderstat.model", *(f"shaderstat.model.{family}" for family in ("stages", "jobs", "answers"))}


def test_every_name_is_there_and_listed() -> None:
    for name in shaderstat.__all__:
        assert getattr(shaderstat, name) is not None
        assert name in dir(shaderstat)
    assert shaderstat.Report is model.Report
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shaderstat.nothing


@pytest.mark.parametrize(
    ("statement", "loaded"),
    [
        ("import shaderstat", {"shaderstat"}),
        ("import shaderstat; shaderstat.__version__", {"shaderstat", "shaderstat._version"}),
        ("from shaderstat import Diagnostic", {"shaderstat", *MODEL, "shaderstat.plain"}),
        ("import shaderstat.child", {"shaderstat", "shaderstat.child"}),
    ],
)
def test_a_name_loads_what_it_needs_and_no_more(statement: str, loaded: set[str]) -> None:
    code = f"{statement}\nimport sys\nprint(*(name for name in sys.modules if name.startswith('shaderstat')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == loaded


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine(monkeypatch)
    made.answers(*run(answered("x"), answered("y")))
    return made


def test_inspect_gives_the_whole_report(engine: Engine) -> None:
    report = shaderstat.inspect(Path("x.spv"), target="mock", timeout_s=7)
    assert [(result.pipeline, result.status) for result in report.results] == [("x", "ok"), ("y", "ok")]
    assert report.run.complete
    assert engine.request == model.Request(paths=("x.spv",), targets=("mock",), timeout_s=7)


def test_paths_may_be_bytes(engine: Engine) -> None:
    shaderstat.inspect([b"w\xff.spv", "y.spv", Path("z.spv")])
    assert engine.request.paths == ("w\udcff.spv", "y.spv", "z.spv")
    with pytest.raises(TypeError, match="int"):
        shaderstat.inspect([7])  # type: ignore[list-item]


def test_stream_gives_events_as_they_come(engine: Engine) -> None:
    events = shaderstat.stream(["x.spv", Path("y.spv")], target=["mock", "host:0"])
    assert isinstance(events, Iterator)
    assert isinstance(next(events), shaderstat.RunEvent)
    assert engine.request.paths == ("x.spv", "y.spv")
    assert engine.request.targets == ("mock", "host:0")
    result = next(event for event in events if isinstance(event, shaderstat.ResultEvent))
    assert result.data[0][1] == b"s_endpgm ; done\n"


def test_without_a_target_the_best_is_taken(engine: Engine) -> None:
    shaderstat.inspect("x.spv")
    assert engine.request.targets == ()


def test_all_that_can_be_asked_is_typed() -> None:
    members = {field.name for field in dataclasses.fields(model.Request)}
    assert set(api.Options.__annotations__) == members - {"paths", "targets", "outputs", "arguments"}


def test_single_words_and_lists_will_do(engine: Engine) -> None:
    shaderstat.inspect("x.spv", pipelines="blur*", entries=["main"], spec=["0=4,8"], scenario=Path("a.yaml"))
    assert engine.request.pipelines == ("blur*",)
    assert engine.request.entries == ("main",)
    assert engine.request.spec == (model.SpecOption(None, "0", ("4", "8")),)
    assert engine.request.scenario == "a.yaml"
    with pytest.raises(shaderstat.ShaderstatError, match="not of the form"):
        shaderstat.inspect("x.spv", spec="0")


@pytest.mark.parametrize("option", ["tiemout", "arguments", "targets"])
def test_an_unknown_option_is_a_type_error(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        shaderstat.inspect("x.spv", **{option: 7})  # type: ignore[arg-type]


def test_a_path_that_leads_nowhere_raises(tmp_path: Path) -> None:
    with pytest.raises(shaderstat.ShaderstatError, match="no such file"):
        shaderstat.inspect(tmp_path / "nothing.spv", target="mock")
