"""Targets of one's own: from YAML to the settings that `shaderstat.targets.own` takes, and what is wrong, by line."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from shaderstat.config import targets
from shaderstat.config.manifest import read_manifest
from shaderstat.errors import ShaderstatError
from shaderstat.model import Request
from shaderstat.targets import own


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, path: str | Path = "shaderstat.yaml") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(textwrap.dedent(text), encoding="utf-8")


def read(text: str) -> targets.Targets:
    write(text)
    return targets.read_targets("shaderstat.yaml", own.check)


def test_the_words_are_those_that_launches_are_made_of() -> None:
    assert set(targets.MEMBERS) == set(own.KEYS) == set(targets._READ)


def test_what_is_read_is_what_stands_there() -> None:
    found = read(
        """
        files: "*.spv"
        targets:
          mine:
            driver: /build/radeon_icd.x86_64.json
            gpu: radv:navi31
            environment: {RADV_DEBUG: nocache, A: 0x10, B: yes, C: 1.50, D: }
          box: {prefix: ssh "my box", device: 1, python: python3.12}
          pod: {prefix: [podman, run, -i, 7]}
        """
    )
    assert found == {
        "mine": {
            "driver": "/build/radeon_icd.x86_64.json",
            "gpu": "radv:navi31",
            "environment": {"RADV_DEBUG": "nocache", "A": "0x10", "B": "yes", "C": "1.50", "D": ""},
        },
        "box": {"prefix": 'ssh "my box"', "device": 1, "python": "python3.12"},
        "pod": {"prefix": ["podman", "run", "-i", "7"]},
    }


def test_paths_are_relative_to_the_file_unless_they_are_another_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    write(
        """
        targets:
          mine: {driver: build/icd.json}
          home: {driver: ~/mesa/icd.json}
          box: {driver: build/icd.json, prefix: ssh box}
        """,
        "sub/shaderstat.yaml",
    )
    found = targets.read_targets("sub/shaderstat.yaml", own.check)
    assert [one["driver"] for one in found.values()] == [
        "sub/build/icd.json",
        "/home/me/mesa/icd.json",
        "build/icd.json",
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("targets:\n  mine:\n    drvier: x", 3, "there is no 'drvier' here"),
        ("targets:\n  mine:\n    device: one", 3, "a whole number is wanted here"),
        ("targets:\n  mine:\n    device: -1", 3, "out of range"),
        ("targets:\n  mine:\n    gpu: 31", 3, "text is wanted here"),
        ("targets:\n  mine:\n    gpu: radv:navi31\n    device: 0", 3, "target mine: gpu and device exclude each other"),
        ("targets:\n  mine:\n    prefix: 'ssh \"box'", 3, "target mine: prefix: No closing quotation"),
        ('targets:\n  mine:\n    environment: {A: "a\\0b"}', 3, "a NUL character"),
        ('targets:\n  mine:\n    prefix: [ssh, "a\\0b"]', 3, "a NUL character"),
        ('targets:\n  mine:\n    driver: "a\\0b"', 3, "a NUL character"),
        ("targets:\n  mine:\n    environment: [A=1]", 3, "a mapping is wanted here"),
        ("targets:\n  mine:\n    environment: {A=B: 1}", 3, "environment must be variables"),
        ("targets:\n  a: {device: 0}\n  a: {device: 1}", 3, "a stands here twice"),
        ("targets:\n  radv:x:\n    device: 0", 3, "'radv:x' can't be a target's name"),
        ("targets: [mine]", 1, "a mapping is wanted here"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ShaderstatError, match=said) as caught:
        read(text)
    assert caught.value.message.startswith(f"shaderstat.yaml:{line}: ")


def test_a_manifest_may_have_them_beside_its_pipelines() -> None:
    write("targets:\n  mine: {device: 0}\nfiles: '*.spv'\n")
    assert len(read_manifest("shaderstat.yaml").entries) == 1


def test_the_projects_own_stand_before_the_users_and_those_of_the_call_before_both(folder: Path) -> None:
    write("targets:\n  a: {device: 1}\n  b: {device: 1}\n  c: {device: 1}\n", targets.user_file())
    write("targets:\n  b: {device: 2}\n  c: {device: 2}\n")
    request = Request(("x",), targets=("a",), own_targets={"c": {"device": 3}})
    assert targets.with_own(request, own.check).own_targets == {
        "a": {"device": 1},
        "b": {"device": 2},
        "c": {"device": 3},
    }


def test_the_users_own_file_is_of_targets_alone() -> None:
    write("files: '*.spv'\n", targets.user_file())
    with pytest.raises(ShaderstatError, match="there is no 'files' here"):
        targets.described(None, own.check)


def test_no_file_is_looked_at_for_names_that_are_built_in() -> None:
    write("this: is: not: YAML")
    request = Request(("x",), targets=("radv:navi21", "mock", "host", "host:0"))
    assert targets.with_own(request, own.check) is request
    assert targets.with_own(Request(("x",)), own.check).own_targets == {}
    with pytest.raises(ShaderstatError, match=r"shaderstat\.yaml:1: is not YAML"):
        targets.with_own(Request(("x",), targets=("mine",)), own.check)
