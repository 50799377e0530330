"""Answers that no driver should give, and that some do: what is written is kept, and nothing that isn't is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.layer.conftest import Hostile

pytestmark = pytest.mark.layer

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(shaderstat: Run, hostile: Hostile, samples: Path) -> Ask:
    """The one result of a small kernel under a false answer, statistics only."""

    def run(fault: str) -> dict[str, Any]:
        environment = hostile(fault, marker=None)
        done = shaderstat("stats", "--json", "-t", "radv:navi21", samples / "scale.comp.spv", env=environment)
        assert "Traceback" not in done.stderr
        assert "broke a rule" not in done.stdout, done.stdout
        (result,) = json.loads(done.stdout)["results"]
        return dict(result)

    return run


@pytest.fixture
def dump(shaderstat: Run, hostile: Hostile, samples: Path, tmp_path: Path) -> Callable[[str], dict[str, bytes]]:
    """The representations' files that `ir` writes, by their path below the folder."""

    def run(fault: str) -> dict[str, bytes]:
        out = tmp_path / "out"
        done = shaderstat(
            "ir", "-t", "radv:navi21", samples / "scale.comp.spv", "--out", out, env=hostile(fault, marker=None)
        )
        assert "Traceback" not in done.stderr
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "index.json"]
        assert all(out in path.parents for path in files)
        return {str(path.relative_to(out)): path.read_bytes() for path in sorted(files)}

    return run


def codes(result: dict[str, Any]) -> set[str]:
    return {diagnostic["code"] for diagnostic in result["diagnostics"]}


def values(result: dict[str, Any]) -> list[tuple[str, Any]]:
    (executable,) = result["executables"]
    return [(one["name"], one["value"]) for one in executable["statistics"]]


def test_a_count_that_grows_is_asked_for_again(ask: Ask) -> None:
    result = ask("statistics-grow")
    assert values(result) == [(f"Statistic {i}", 11 * i) for i in range(4)]
    assert result["status"] == "ok"


def test_a_count_that_shrinks_keeps_what_was_written(ask: Ask) -> None:
    assert values(ask("statistics-shrink")) == [("Statistic 0", 0), ("Statistic 1", 11)]


def test_executables_grow_and_shrink_likewise(ask: Ask) -> None:
    assert [one["name"] for one in ask("executables-grow")["executables"]] == [f"Executable {i}" for i in range(4)]
    assert [one["name"] for one in ask("executables-shrink")["executables"]] == ["Executable 0", "Executable 1"]


def test_a_count_that_never_settles_keeps_what_there_is_and_says_so(ask: Ask) -> None:
    result = ask("statistics-forever")
    assert values(result)[:2] == [("Statistic 0", 0), ("Statistic 1", 11)]
    assert "vulkan/incomplete" in codes(result)


def test_none_is_asked_for_no_further(ask: Ask) -> None:
    """NVIDIA 580.159 aborts on a second call with an empty array; so does the layer."""
    assert ask("executables-zero")["executables"] == []
    assert values(ask("statistics-zero")) == []
    assert ask("representations-zero")["status"] == "ok"


@pytest.mark.parametrize("kind", ["executables", "statistics"])
def test_an_absurd_count_costs_no_memory(ask: Ask, kind: str) -> None:
    result = ask(f"{kind}-absurd")
    assert result["status"] == ("failed" if kind == "executables" else "ok")
    assert any("elements, which no pipeline has" in one["message"] for one in result["diagnostics"])
    assert result["failure"] is None or result["failure"]["vk_result"] is None


def test_an_error_of_one_query_leaves_the_others(ask: Ask) -> None:
    result = ask("statistics:error")
    assert result["status"] == "ok"
    (executable,) = result["executables"]
    assert executable["statistics"] == []
    assert codes(result)


def test_numbers_are_exact_and_json_stays_json(ask: Ask) -> None:
    result = ask("values")
    (executable,) = result["executables"]
    found = [(one["format"], one["value"], one["text"]) for one in executable["statistics"]]
    assert found[0] == ("uint64", 2**64 - 1, str(2**64 - 1))
    assert found[1] == ("uint64", 2**53 + 1, str(2**53 + 1))
    assert found[2] == ("int64", -(2**63), str(-(2**63)))
    assert found[3][:2] == ("float64", None) and str(found[3][2]).lower() == "nan"
    assert found[4][:2] == ("float64", None) and found[4][2] in ("-inf", "-Infinity")
    assert found[5] == ("float64", 0.1, None)
    assert found[6][:2] == ("bool32", 1)
    assert found[7] == ("bool32", None, "2")  # neither VK_FALSE nor VK_TRUE
    assert found[8] == ("77", None, "0x0000000000000005")  # a format that nobody knows: its bits


def test_names_of_all_kinds(ask: Ask, shaderstat: Run, hostile: Hostile, samples: Path) -> None:
    assert len(ask("names-empty")["executables"]) == 1
    assert [name for name, _ in values(ask("names-unterminated"))] == ["n" * 256]
    twice = ask("names-duplicate")["executables"]
    assert [one["name"] for one in twice] == ["the same"] * 3
    assert [[s["name"] for s in one["statistics"]] for one in twice] == [["the same"] * 3] * 3
    names = [one["name"] for one in ask("names-hostile")["executables"]]
    assert names[:5] == [
        "\x1b[2J\x1b[31mred",
        "two\nlines",
        "../../../etc/passwd",
        "[bold]markup[/bold]",
        '=1+1,"quoted"',
    ]
    assert names[5].startswith("\ufffd\ufffd cut ")


@pytest.mark.parametrize("command", ["stats", "list", "ir"])
def test_hostile_names_do_nothing_to_a_terminal(shaderstat: Run, hostile: Hostile, samples: Path, command: str) -> None:
    environment = hostile("names-hostile", marker=None)
    done = shaderstat(command, "-t", "radv:navi21", samples / "scale.comp.spv", env=environment)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "[bold]markup[/bold]" in done.stdout
    assert not any(line.startswith("lines") for line in done.stdout.splitlines())


def test_what_properties_may_say(ask: Ask) -> None:
    assert ask("stages-none")["executables"][0]["stages"] == []
    assert ask("stages-unknown")["executables"][0]["stages"] == ["compute", "0x40000000"]
    assert ask("stages-merged")["executables"][0]["stages"] == ["vertex", "geometry"]
    assert ask("subgroup-odd")["executables"][0]["subgroup_size"] == 333


# ── Representations ────────────────────────────────────────────────────────────────────────────────────────────────


def test_texts_end_where_the_driver_ended_them(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert list(dump("text-unterminated").values()) == [b"no end"]


def test_text_that_is_none_is_kept_byte_by_byte(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert list(dump("text-invalid").values()) == [b"caf\xe9 \x1b[2J\n"]


def test_a_buffer_is_not_shown_beyond_the_text(dump: Callable[[str], dict[str, bytes]]) -> None:
    """RADV does not lower dataSize to what it wrote: a text ends at its first NUL."""
    assert list(dump("text-nuls").values()) == [b"code"]


def test_binaries_keep_their_zeros(dump: Callable[[str], dict[str, bytes]]) -> None:
    ((name, data),) = dump("binary").items()
    assert name.endswith(".bin")
    assert data == b"\x7fELF\0\0\xff\0"


def test_a_counted_one_that_was_not_written_is_left_out(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert dump("ghost") == {}


def test_sizes_may_change_between_calls(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert list(dump("size-shrink").values()) == [b"short"]


def test_a_text_that_grew_is_asked_for_again(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert list(dump("size-grow").values()) == [b"longer text"]


def test_an_absurd_size_costs_no_memory(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert dump("size-absurd") == {}


def test_counts_of_representations_grow_and_shrink(dump: Callable[[str], dict[str, bytes]]) -> None:
    assert list(dump("representations-grow").values()) == [f"text {i}\n".encode() for i in range(4)]


def test_hostile_names_stay_inside_the_folder(dump: Callable[[str], dict[str, bytes]]) -> None:
    files = dump("names-hostile")
    assert len(files) == 36  # six executables of six representations, each under a name of its own
    for name in files:
        assert name.isascii() and name.isprintable()
        assert ".." not in Path(name).parts and not Path(name).is_absolute()
        assert all(len(part.encode()) <= 255 for part in Path(name).parts)
    assert len(set(map(str.lower, files))) == 36
