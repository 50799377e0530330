"""What is remembered, on the command line: seen, moved, limited, cleared, and never in the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shaderstat.store.places import size_words
from tests.cli.conftest import Call
from tests.conftest import ROOT, Run

MOCK = ("-t", "mock")


def cached(stdout: str) -> tuple[int, int]:
    report = json.loads(stdout)
    return report["run"]["counts"]["cached"], len(report["results"])


def test_a_second_run_says_how_much_it_knew(shaderstat: Run, samples: Path) -> None:
    first = shaderstat("stats", samples, *MOCK, "--json")
    second = shaderstat("stats", samples, *MOCK, "--json")
    known, count = cached(second.stdout)
    assert (cached(first.stdout), known) == ((0, count), count)
    assert f"({count} from cache)" in second.stderr and "from cache" not in first.stderr
    for option, expected in (("--no-cache", 0), ("--refresh", 0)):
        assert cached(shaderstat("stats", samples, *MOCK, "--json", option).stdout)[0] == expected


def test_info_path_and_clear(call: Call, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "elsewhere"
    monkeypatch.setenv("SHADERSTAT_CACHE_DIR", str(folder))
    assert call("cache", "path").out == f"{folder}\n"
    assert "nothing is remembered yet" in call("cache", "info").out
    call(samples / "blur.comp.spv", *MOCK)
    told = call("cache", "info").out
    assert "holds    1 answer, 1 target, " in told
    assert "1.0 GiB" in told
    other = folder / "note.txt"
    other.write_text("not ours")
    done = call("cache", "clear")
    assert (done.status, done.out) == (0, "")
    assert done.err.startswith("freed ")
    assert [one.name for one in folder.iterdir()] == ["note.txt"]
    assert call("cache", "clear").err == "freed 0 bytes\n"


def test_the_users_cache_folder_is_where_it_lies(call: Call, clean_environment: Path) -> None:
    assert call("cache", "path").out == f"{clean_environment}/cache/shaderstat\n"


def test_a_size_that_is_none(call: Call, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADERSTAT_CACHE_SIZE", "lots")
    done = call(samples / "blur.comp.spv", *MOCK)
    assert done.status == 2
    assert done.err.startswith("error: SHADERSTAT_CACHE_SIZE=lots: not a size\nhint: ")


@pytest.mark.parametrize("size", ["0", "500M", "2G", "1.5GiB", "100000"])
def test_sizes(call: Call, samples: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path, size: str) -> None:
    monkeypatch.setenv("SHADERSTAT_CACHE_SIZE", size)
    assert call(samples / "blur.comp.spv", *MOCK, "-q").status == 0
    assert (clean_environment / "cache" / "shaderstat").exists() == (size != "0")


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB")]
)
def test_words_of_a_size(size: int, words: str) -> None:
    assert size_words(size) == words


def test_a_damaged_store_is_one_line(shaderstat: Run, samples: Path, clean_environment: Path) -> None:
    shaderstat(samples / "blur.comp.spv", *MOCK)
    (file,) = (clean_environment / "cache" / "shaderstat").glob("*.sqlite")
    file.write_bytes(os.urandom(20_000))
    done = shaderstat(samples / "blur.comp.spv", *MOCK, "--json")
    assert (done.returncode, cached(done.stdout)) == (0, (0, 1))
    assert sum("damaged" in line for line in done.stderr.splitlines()) == 1
    again = shaderstat(samples / "blur.comp.spv", *MOCK, "--json")
    assert cached(again.stdout) == (1, 1) and "damaged" not in again.stderr


# ── Folders of their own kind, which take a mount ─────────────────────────────────────────────────────────────────


def mounted(folder: Path, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with a file system of its own at `folder`."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: install util-linux")
    text = f"mount -t tmpfs -o {options} none '{folder}' || exit 99\n{script}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SHADERSTAT_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", text],
        capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120,
    )  # fmt: skip
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("file systems can't be mounted here")
    return done


def test_a_disk_that_is_full(tmp_path: Path, samples: Path) -> None:
    run = f"{sys.executable} -m shaderstat ir {samples} {' '.join(MOCK)} --no-progress"
    done = mounted(tmp_path, "size=160k", f"{run} > /dev/null; echo $?; {run} > /dev/null; echo $?")
    assert done.stdout.split() == ["0", "0"]
    assert 1 <= sum("remembered" in line for line in done.stderr.splitlines()) <= 2


def test_a_folder_that_is_read_only(tmp_path: Path, samples: Path) -> None:
    run = f"{sys.executable} -m shaderstat stats {samples}/blur.comp.spv {' '.join(MOCK)} --json"
    done = mounted(
        tmp_path, "size=10m", f"{run} > /dev/null 2>&1; mount -o remount,ro none '{tmp_path}'; {run}; echo $? >&2"
    )
    assert json.loads(done.stdout)["results"][0]["status"] == "ok"
    *said, status = done.stderr.split("\n")[:-1]
    assert status == "0"
    assert sum("remembered" in line for line in said) <= 1
