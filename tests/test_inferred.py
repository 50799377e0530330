"""What would be compiled, written down and read again: the same, of whatever kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaderstat import engine, inferred
from shaderstat.archive.writer import Writer
from shaderstat.model import Request, ResultEvent
from shaderstat.pipeline.spec import PipelineSpec, unpack
from tests.archive import corpus

PIPELINES = [corpus.with_modules(one) for one in corpus.pipelines()]


def state(states: inferred.States) -> Any:
    """The one pipeline's, without what is only written differently."""
    (one,) = states.pipelines
    assert one.written is not None, one.diagnostics
    plain = {name: value for name, value in one.written.state.items() if name != "specialization"}
    plain["stages"] = [each | {"path": ""} if each["synthetic"] else each for each in plain["stages"]]
    text = json.dumps(plain, default=bytes.hex, sort_keys=True)
    return without_zeros(json.loads(text.replace(" | ", "|")))


def without_zeros(value: Any) -> Any:
    """What isn't there is 0 to Vulkan, or no pointer."""
    if isinstance(value, list):
        return [without_zeros(each) for each in value]
    if isinstance(value, dict):
        return {name: without_zeros(each) for name, each in value.items() if each not in (None, 0, [], {})}
    return value


@pytest.mark.parametrize("spec", PIPELINES, ids=[f"{one.kind}-{place}" for place, one in enumerate(PIPELINES)])
def test_a_manifest_of_a_captured_pipeline_gives_it_again(
    spec: PipelineSpec, tmp_path: Path, clean_environment: Path
) -> None:
    """Libraries, conversions, sets that are null, structures of every kind: what can't be written out is taken from the
    archive, and said."""
    archive, manifest = tmp_path / "a.foz", tmp_path / "shaderstat.yaml"
    with archive.open("wb") as stream:
        name = f"{Writer(stream).add(spec):016x}"
    first = inferred.infer(Request((str(archive),), pipelines=(f"0x{name}",), validate=False))
    text = "\n".join(inferred.lines(first))
    assert "# not written out, but taken from the archive: " in text and f'files: "{archive}:{name}"' in text
    manifest.write_text(text)
    again = inferred.infer(Request((), config=str(manifest), validate=False))
    assert state(again) == state(first)


def test_what_can_be_written_out_names_its_modules(tmp_path: Path, samples: Path, clean_environment: Path) -> None:
    """So that one of them can be exchanged for another."""
    paths = (str(samples / "water.vert.spv"), str(samples / "water.frag.spv"))
    archive, manifest = tmp_path / "a.foz", tmp_path / "shaderstat.yaml"
    (spec,) = [unpack(one.state["spec"]) for one in results(Request(paths, keep_states=True)) if one.state]
    with archive.open("wb") as stream:
        Writer(stream).add(spec)
    first = inferred.infer(Request((str(archive),)))
    text = "\n".join(inferred.lines(first))
    assert "modules:" in text and "not written out" not in text
    manifest.write_text(text)
    assert state(inferred.infer(Request((), config=str(manifest)))) == state(first)
    # What an application didn't have must not be inferred: here its last vertex attribute.
    short = dict(spec.create_info["pVertexInputState"])
    short["pVertexAttributeDescriptions"] = short["pVertexAttributeDescriptions"][:-1]
    with archive.open("wb") as stream:
        Writer(stream).add(replace(spec, create_info={**spec.create_info, "pVertexInputState": short}))
    first = inferred.infer(Request((str(archive),)))
    text = "\n".join(inferred.lines(first))
    assert "state that its modules don't lead to" in text
    manifest.write_text(text)
    assert state(inferred.infer(Request((), config=str(manifest)))) == state(first)


def compiled(path: Path) -> PipelineSpec:
    """What is compiled of a file, on the mock."""
    (spec,) = [unpack(one.state["spec"]) for one in results(Request((str(path),), keep_states=True)) if one.state]
    return spec


def results(request: Request) -> list[ResultEvent]:
    events = engine.run(replace(request, targets=("mock",), cache=False))
    return [event for event in events if isinstance(event, ResultEvent)]


@pytest.mark.parametrize("name", ["hills.tesc.spv", "plasma.frag.spv", "leaf.vert.spv", "fur.geom.spv"])
def test_what_was_generated_is_not_named_as_a_module(
    name: str, tmp_path: Path, samples: Path, clean_environment: Path
) -> None:
    """A manifest's modules are real ones: with a generated one among them, an upper bound would be told as exact."""
    archive, manifest = tmp_path / "a.foz", tmp_path / "shaderstat.yaml"
    with archive.open("wb") as stream:
        Writer(stream).add(compiled(samples / name))
    first = inferred.infer(Request((str(archive),)))
    (one,) = first.pipelines
    assert one.written is not None and len(one.written.modules) == 1
    manifest.write_text("\n".join(inferred.lines(first)))
    assert state(inferred.infer(Request((), config=str(manifest)))) == state(first)
    (captured,), (again,) = results(Request((str(archive),))), results(Request((), config=str(manifest)))
    assert again.result.executables == captured.result.executables
    assert {(each.synthetic, each.bound) for each in again.result.executables} == {(False, "upper")}


def test_what_would_be_generated_otherwise_is_taken_from_the_archive(
    tmp_path: Path, samples: Path, clean_environment: Path
) -> None:
    """By another shaderstat, or for another device: here under another generator's number."""
    spec = compiled(samples / "plasma.frag.spv")
    changed = [
        replace(one, words=one.words[:8] + b"\1\0\0\0" + one.words[12:]) if one.synthetic else one
        for one in spec.modules
    ]
    archive, manifest = tmp_path / "a.foz", tmp_path / "shaderstat.yaml"
    with archive.open("wb") as stream:
        Writer(stream).add(replace(spec, modules=tuple(changed)))
    first = inferred.infer(Request((str(archive),)))
    text = "\n".join(inferred.lines(first))
    assert "state that its modules don't lead to" in text and "vertex:" not in text
    manifest.write_text(text)
    (captured,), (again,) = results(Request((str(archive),))), results(Request((), config=str(manifest)))
    assert again.result.executables == captured.result.executables
