"""The kit behind a prefix: another Python, an empty environment, another user, a shell in between; where it is kept."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat.errors import NoTarget
from shaderstat.model import Job, JobModule, Launch
from shaderstat.pool import Pool, far_side, kit

MOCK = Launch("far", "mock", "config", python=sys.executable)


def ask(launch: Launch, sample: Path) -> tuple[str, int]:
    """The status of one job, and how many statistics it has."""
    job = Job("compute", (JobModule("x", sample.read_bytes(), "compute", "main"),), timeout_s=60)
    with Pool() as pool:
        pool.wait(pool.add(launch))
        (outcome,) = pool.run(1, lambda task, lane: job)
    executables = outcome.answer.executables
    return outcome.answer.status, len(executables[0].statistics) if executables else 0


@pytest.fixture
def expected(samples: Path) -> tuple[str, int]:
    return ask(Launch("near", "mock", "mock"), samples / "blur.comp.spv")


def kits(home: Path) -> list[Path]:
    return sorted((home / "cache" / "shaderstat" / "kit").iterdir())


def test_another_process_of_this_python_is_given_the_kit(
    samples: Path, clean_environment: Path, expected: tuple[str, int]
) -> None:
    assert expected[0] == "ok"
    assert ask(MOCK, samples / "blur.comp.spv") == expected
    (folder,) = kits(clean_environment)
    assert folder.name == kit.pack("mock")[0]
    # What was sent is the kit, and nothing of the host side.
    assert {path.name for path in (folder / "shaderstat").iterdir()} - {"__pycache__"} == set(kit.ROOMS)


def test_the_kit_is_kept_by_content_with_its_byte_code(samples: Path, clean_environment: Path) -> None:
    ask(MOCK, samples / "scale.comp.spv")
    before = {path: path.stat().st_mtime_ns for path in kits(clean_environment)[0].rglob("*.py*")}
    assert any(path.suffix == ".pyc" for path in before)
    ask(MOCK, samples / "scale.comp.spv")
    (folder,) = kits(clean_environment)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.py*")} == before


def test_an_empty_environment_is_enough(samples: Path, expected: tuple[str, int], tmp_path: Path) -> None:
    launch = replace(MOCK, prefix=("env", "-i"), environment={"XDG_CACHE_HOME": str(tmp_path / "over-there")})
    assert ask(launch, samples / "blur.comp.spv") == expected
    # The launch's variables came with the kit: env has thrown away what the process was started with.
    assert (tmp_path / "over-there" / "shaderstat" / "kit").is_dir()


def other_pythons() -> list[str]:
    """Of each minor version one, from PATH or from where pyenv keeps them."""
    folders = [*map(str, Path.home().glob(".pyenv/versions/*/bin")), *os.environ.get("PATH", "").split(os.pathsep)]
    found = []
    for minor in range(10, 16):
        program = shutil.which(f"python3.{minor}", path=os.pathsep.join(folders))
        if program is None or minor == sys.version_info.minor:
            continue
        told = subprocess.run([program, "-I", "-c", "print('works')"], capture_output=True, text=True)
        if told.stdout == "works\n":
            found.append(program)
    return found


@pytest.mark.parametrize("python", other_pythons() or [None])
def test_another_python_runs_the_kit(python: str | None, samples: Path, expected: tuple[str, int]) -> None:
    if python is None:
        pytest.skip("no other Python of 3.10 or newer on PATH")
    assert ask(replace(MOCK, python=python), samples / "blur.comp.spv") == expected


def test_ssh_puts_a_shell_in_between(samples: Path, expected: tuple[str, int], tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nshift\nexec env -i sh -c "$*"\n')  # as sshd does: words joined by blanks, to a shell
    ssh.chmod(0o755)
    python = tmp_path / "py thon"
    python.symlink_to(sys.executable)
    launch = replace(MOCK, prefix=(str(ssh), "box"), python=str(python), environment={"HOME": str(tmp_path)})
    assert ask(launch, samples / "blur.comp.spv") == expected


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user can write to; pytest keeps its own to itself, and says so again in every session."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_another_user_without_a_home(samples: Path, expected: tuple[str, int], open_place: Path) -> None:
    su, python = shutil.which("setpriv"), "/usr/bin/python3"
    if su is None or not os.access(python, os.X_OK):
        pytest.skip("no setpriv or no /usr/bin/python3")
    prefix = (su, "--reuid=65534", "--regid=65534", "--clear-groups", "env", "-i")
    environment = {"HOME": "/nonexistent", "TMPDIR": str(open_place)}
    launch = replace(MOCK, prefix=prefix, python=python, environment=environment)
    assert ask(launch, samples / "blur.comp.spv") == expected
    assert (open_place / "shaderstat-kit-65534").stat().st_uid == 65534


@pytest.mark.driver
def test_a_real_driver_behind_a_prefix(samples: Path, radv_manifest: Path, tmp_path: Path) -> None:
    environment = {"VK_DRIVER_FILES": str(radv_manifest), "RADV_FORCE_FAMILY": "navi21", "HOME": str(tmp_path)}
    here = Launch("here", "vulkan", "null-device", environment=environment)
    there = replace(here, prefix=("env", "-i"), python=sys.executable)
    assert ask(there, samples / "blur.comp.spv") == ask(here, samples / "blur.comp.spv")
    (folder,) = (tmp_path / ".cache" / "shaderstat" / "kit").iterdir()
    assert {path.name for path in folder.iterdir()} == {"shaderstat", "vulkan"}


# ── What can go wrong over there ──────────────────────────────────────────────────────────────────────────────────


def test_a_prefix_that_is_no_program(samples: Path) -> None:
    with pytest.raises((NoTarget, OSError)):
        ask(replace(MOCK, prefix=("/nonexistent/wrapper",)), samples / "scale.comp.spv")


def test_a_variable_that_a_preloaded_library_needs_must_arrive_in_time(samples: Path) -> None:
    launch = replace(MOCK, environment={"NOUVEAU_CHIPSET": "192"})
    assert ask(launch, samples / "scale.comp.spv")[0] == "ok"
    with pytest.raises(NoTarget, match="'env NOUVEAU_CHIPSET=192'"):
        ask(replace(launch, prefix=("env", "-i")), samples / "scale.comp.spv")


def test_no_python_over_there(samples: Path) -> None:
    with pytest.raises(NoTarget) as caught:
        ask(replace(MOCK, prefix=("env", "-i"), python="no-such-python"), samples / "scale.comp.spv")
    assert "no-such-python" in caught.value.message


def test_a_python_that_is_too_old_says_so(samples: Path, tmp_path: Path) -> None:
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\necho 'SyntaxError: invalid syntax' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(NoTarget) as caught:
        ask(replace(MOCK, python=str(program)), samples / "scale.comp.spv")
    assert "SyntaxError" in caught.value.message


def test_input_that_ends_early() -> None:
    """It leaves by itself, and has said nothing that could be taken for an answer."""
    whole = kit.opening(MOCK)
    for cut in (0, 4, 100, len(whole) - 10):
        done = subprocess.run([*kit.command(MOCK)], input=whole[:cut], capture_output=True, timeout=60)
        assert done.stdout == b""


def test_a_folder_that_others_can_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "cache" / "shaderstat" / "kit"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert [*far_side.parents()] == [str(tmp_path / f"shaderstat-kit-{os.getuid()}")]


def test_kits_that_nobody_uses_go_away(tmp_path: Path) -> None:
    for name, days in (("old", 40), ("recent", 2)):
        (tmp_path / name).mkdir()
        then = far_side.time.time() - days * 24 * 3600
        os.utime(tmp_path / name, (then, then))
    far_side.prune(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["recent"]


def test_what_is_packed_is_what_is_unpacked(tmp_path: Path) -> None:
    _, packed = kit.pack("mock")
    far_side.unpack(packed, str(tmp_path))
    package = Path(kit.__file__).parent.parent
    for path in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (package.parent / path.relative_to(tmp_path)).read_bytes()


def test_the_far_side_reads_no_further_than_the_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO(b"kit" + b"frame")
    monkeypatch.setattr(far_side.os, "read", lambda _, count: stream.read(min(count, 2)))
    assert far_side.take(3) == b"kit"
    assert stream.read() == b"frame"
