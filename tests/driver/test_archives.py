"""Archives through the command line, on a real compiler: the same numbers as the files that they were made of."""

from __future__ import annotations

import csv
import json
import shutil
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.archive.test_containers import unpacked, zipped
from tests.conftest import Run
from tests.driver.conftest import NAVI21, Stats, numbers

# Written once: the same in all tests.
_written: list[tuple[bytes, dict[str, Any]]] = []


@pytest.fixture
def archive(shaderstat: Run, samples: Path, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """All samples as an archive, and the report of the run that wrote it."""
    path = tmp_path / "samples.foz"
    if not _written:
        done = shaderstat("stats", samples, "-t", NAVI21, "-o", path, "-o", "json:-")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert f"{len(report['results'])} pipelines in the archive" in done.stderr
        _written.append((path.read_bytes(), report))
    path.write_bytes(_written[0][0])
    return path, _written[0][1]


def by_content(report: Mapping[str, Any]) -> list[Any]:
    """Numbers without names: each pipeline's, in an order that is theirs."""
    found: dict[str, list[Any]] = {}
    for (pipeline, _, executable), one in numbers(dict(report)).items():
        found.setdefault(pipeline, []).append([executable, one])
    return sorted(found.values(), key=str)


def bounds(report: Mapping[str, Any]) -> list[tuple[str, bool]]:
    return sorted((one["bound"], one["synthetic"]) for result in report["results"] for one in result["executables"])


def test_an_archive_gives_the_numbers_of_its_files(archive: tuple[Path, dict[str, Any]], stats: Stats) -> None:
    path, report = archive
    again = stats(path)
    assert by_content(again) == by_content(report)
    assert {one["state"]["source"] for one in again["pipelines"]} == {"archive"}
    for one in again["pipelines"]:
        assert len(one["name"]) == 16 and int(one["name"], 16)
    # a stage alone is an upper bound there, too, and its company generated
    assert bounds(again) == bounds(report) and ("upper", True) in bounds(again)
    # the words are the same, and so is what tells a module
    digests = {module["sha256"] for one in report["pipelines"] for module in one["modules"]}
    assert digests <= {module["sha256"] for one in again["pipelines"] for module in one["modules"]}


def test_an_archive_of_an_archive_is_the_same(
    archive: tuple[Path, dict[str, Any]], shaderstat: Run, tmp_path: Path
) -> None:
    path, _ = archive
    copy = tmp_path / "copy.foz"
    assert shaderstat("stats", path, "-t", NAVI21, "-o", copy).returncode == 0
    assert sorted(entries(copy)) == sorted(entries(path))


def entries(path: Path) -> list[bytes]:
    data, at, found = path.read_bytes(), 16, []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 40)
        found.append(data[at : at + 40] + zlib.decompress(data[at + 56 : at + 56 + size]))
        at += 56 + size
    return found


def test_a_folder_and_a_zip_are_archives_too(
    archive: tuple[Path, dict[str, Any]], stats: Stats, tmp_path: Path
) -> None:
    path, report = archive
    (tmp_path / "unpacked").mkdir()
    unpacked(tmp_path / "unpacked", path.read_bytes())
    zipped(tmp_path / "samples.zip", path.read_bytes())
    for place in ("unpacked", "samples.zip"):
        assert by_content(stats(tmp_path / place)) == by_content(report)
    shutil.copy(path, tmp_path / "of_another_name")
    assert by_content(stats(tmp_path / "of_another_name")) == by_content(report)


def test_pipelines_are_chosen_by_their_hashes(archive: tuple[Path, dict[str, Any]], stats: Stats) -> None:
    path, _ = archive
    name = stats(path)["pipelines"][3]["name"]
    for word in (f"0x{name}", f"0X{name.upper()}", name, f"{name[:8]}*"):
        assert [one["name"] for one in stats(path, "--pipeline", word)["pipelines"]] == [name]


def test_a_second_run_is_remembered(archive: tuple[Path, dict[str, Any]], stats: Stats) -> None:
    path, _ = archive
    first, second = stats(path), stats(path)
    assert second["run"]["counts"]["cached"] == len(first["results"])
    assert numbers(first) == numbers(second)
    assert first["pipelines"] == second["pipelines"]


def test_specialization_over_what_was_captured(shaderstat: Run, samples: Path, stats: Stats, tmp_path: Path) -> None:
    path = tmp_path / "tuned.foz"
    source = samples / "tuned.comp.spv"
    direct = stats(source, "--spec", "0=8,16")
    assert shaderstat("stats", source, "-t", NAVI21, "--spec", "0=8", "-o", path).returncode == 0
    as_captured, other = stats(path), stats(path, "--spec", "0=16")
    assert by_content(as_captured)[0] == [[e, n] for (p, _, e), n in numbers(direct).items() if "8" in p]
    assert by_content(other)[0] == [[e, n] for (p, _, e), n in numbers(direct).items() if "16" in p]
    assert other["pipelines"][0]["workgroup"] != as_captured["pipelines"][0]["workgroup"]


def test_the_table_that_scripts_read(archive: tuple[Path, dict[str, Any]], shaderstat: Run, tmp_path: Path) -> None:
    path, report = archive
    moved = path.rename(tmp_path / "with, comma.foz")
    done = shaderstat("stats", moved, "-t", NAVI21, "-f", "fossilize-csv", "--no-cache")
    header, *rows = csv.reader(done.stdout.splitlines())
    assert header[:8] == [
        "Database", "Pipeline type", "Pipeline hash", "PSO wall duration (ns)", "PSO duration (ns)",
        "Stage duration (ns)", "Executable name", "Subgroup size",
    ]  # fmt: skip
    assert header[8:10] == ["Driver pipeline hash", "SGPRs"]
    assert {len(row) for row in rows} == {len(header)}
    assert {row[0] for row in rows} == {str(moved)} and {row[1] for row in rows} == {"GRAPHICS", "COMPUTE"}
    assert all(len(row[2]) == 16 and int(row[3]) >= int(row[4]) > 0 and row[8].startswith("0x") for row in rows)
    shown = {(row[6], row[header.index("Code size")]) for row in rows}
    sizes = {
        (one["name"], str(statistic["value"]))
        for result in report["results"]
        for one in result["executables"]
        for statistic in one["statistics"]
        if statistic["name"] == "Code size"
    }
    assert shown >= {each for each in sizes if each[0] == "Compute Shader"}


def test_a_cut_archive_loses_its_tail_and_says_so(
    archive: tuple[Path, dict[str, Any]], shaderstat: Run, tmp_path: Path
) -> None:
    path, report = archive
    cut = tmp_path / "cut.foz"
    cut.write_bytes(path.read_bytes()[:-10])
    done = shaderstat("stats", cut, "-t", NAVI21, "--json")
    found = json.loads(done.stdout)
    assert len(found["results"]) == len(report["results"]) - 1
    (remark,) = found["run"]["diagnostics"]
    assert remark["code"] == "archive/truncated" and remark["path"] == str(cut) and remark["offset"] > 16
    assert "cut off" in done.stderr


def test_one_broken_entry_costs_what_needs_it(
    archive: tuple[Path, dict[str, Any]], shaderstat: Run, tmp_path: Path
) -> None:
    path, report = archive
    data = bytearray(path.read_bytes())
    at = next(at for at in range(16, len(data)) if data[at : at + 24] == b"%024x" % 4)  # the first module
    data[at + 60] ^= 0xFF
    bent = tmp_path / "bent.foz"
    bent.write_bytes(data)
    done = shaderstat("stats", bent, "-t", NAVI21, "--json")
    assert done.returncode == 2
    found = json.loads(done.stdout)
    (bad,) = [one for one in found["results"] if one["status"] != "ok"]
    (remark,) = bad["diagnostics"]
    assert bad["status"] == "invalid"
    assert (remark["code"], remark["path"], remark["offset"]) == ("archive/crc", str(bent), at)
    assert len(found["results"]) == len(report["results"])


def test_recordings_of_several_processes_are_one(
    archive: tuple[Path, dict[str, Any]], stats: Stats, tmp_path: Path
) -> None:
    """The base is read only; what a process adds refers to what is in it."""
    path, report = archive
    data, at = path.read_bytes(), 16
    parts: dict[bool, bytes] = {True: data[:16], False: data[:16]}
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 40)
        is_pipeline = int(data[at + 8 : at + 24], 16) in (6, 7, 9)
        parts[is_pipeline] += data[at : at + 56 + size]
        at += 56 + size
    (tmp_path / "game.foz").write_bytes(parts[False])
    (tmp_path / "game.1.foz").write_bytes(parts[True])
    assert by_content(stats(tmp_path / "game.foz", tmp_path / "game.1.foz")) == by_content(report)
    assert by_content(stats(tmp_path / "game.1.foz")) == by_content(report)


def test_the_validation_layer_is_silent(
    archive: tuple[Path, dict[str, Any]], stats: Stats, validation_log: Path
) -> None:
    path, _ = archive
    stats(path, "--no-cache", "-j", "1")  # each child empties the file when it starts
    assert not validation_log.exists() or not validation_log.read_text()


def test_a_manifest_of_an_archive_gives_the_same(
    archive: tuple[Path, dict[str, Any]], shaderstat: Run, stats: Stats, tmp_path: Path
) -> None:
    path, _ = archive
    done = shaderstat("reflect", path, "-t", NAVI21)
    assert done.returncode == 0, done.stderr
    (tmp_path / "all.yaml").write_text(done.stdout)
    assert numbers(stats("--config", tmp_path / "all.yaml")) == numbers(stats(path))
    name = stats(path)["pipelines"][0]["name"]
    one = shaderstat("reflect", path, "-t", NAVI21, "--pipeline", f"0x{name}")
    assert one.stdout.count("modules:") == 1 and f'"{name}":' in one.stdout


def test_a_module_of_an_archive_is_a_path(archive: tuple[Path, dict[str, Any]], stats: Stats) -> None:
    path, _ = archive
    module = stats(path, "--pipeline", "*")["pipelines"][-1]["modules"][0]
    alone = stats(module["path"])
    (found,) = alone["pipelines"]
    assert found["modules"][0]["sha256"] == module["sha256"]
    assert found["state"]["source"] == "inferred"
