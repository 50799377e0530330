"""Both kinds of CSV, read back by those who read them: Python, pandas and DuckDB."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from shaderstat.model import Diagnostic, PipelineEvent, RepresentationAnswer, Result, ResultEvent
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Selection
from tests.reporters.runs import (
    UNKNOWN,
    answered,
    executable,
    golden,
    pipeline,
    radv,
    statistic,
    target,
    written,
)

LONG = [
    "pipeline", "variant", "target", "executable_index", "executable", "stages", "subgroup_size", "statistic", "key",
    "format", "value", "text", "unit",
]  # fmt: skip

WATER = answered(
    [
        (pipeline("blur"), [radv("compute", 24, spilled=12)]),
        (pipeline("water", "graphics"), [radv("vertex", 64), radv("fragment", 16, hash=2)]),
    ]
)


def asked(query: str) -> list[tuple[Any, ...]]:
    """DuckDB's answer."""
    relation = duckdb.sql(query)
    assert relation is not None
    return relation.fetchall()


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


# ── Long ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_long_columns_are_the_published_ones() -> None:
    assert written("csv-long", WATER).decode().splitlines()[0].split(",") == LONG


def test_long_has_a_row_for_each_statistic() -> None:
    found = rows(written("csv-long", WATER))
    assert len(found) == 3 * 7
    assert found[1] == {
        "pipeline": "blur", "variant": "", "target": "radv:navi21", "executable_index": "0",
        "executable": "Compute Shader", "stages": "compute", "subgroup_size": "64", "statistic": "VGPRs",
        "key": "registers", "format": "uint64", "value": "24", "text": "", "unit": "registers",
    }  # fmt: skip


def test_long_hashes_have_no_value() -> None:
    found = [row for row in rows(written("csv-long", WATER)) if row["statistic"] in ("Hash", "Driver pipeline hash")]
    assert {row["value"] for row in found} == {""}
    assert found[0]["text"] == "'0xb8c1f0e2775aa04c"
    assert found[1]["text"] == "'0x2af4c0be"


def test_pandas_sums_the_long_table(tmp_path: Path) -> None:
    frame = pandas.read_csv(io.BytesIO(written("csv-long", WATER)))
    sums = frame.groupby("statistic")["value"].sum()
    assert sums["VGPRs"] == 24 + 64 + 16
    assert sums["Spilled VGPRs"] == 12
    assert sums["Code size"] == 3 * 616
    assert sums["Hash"] == sums["Driver pipeline hash"] == 0
    assert frame["value"].sum() == (24 + 64 + 16) + 12 + 3 * 616 + (32 + 16 + 32) + 3 * 3


def test_duckdb_sums_the_long_table(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(written("csv-long", WATER))
    sums = dict(asked(f"select statistic, sum(value) from read_csv('{path}') group by all"))
    assert (sums["VGPRs"], sums["Spilled VGPRs"], sums["Hash"]) == (104, 12, None)


def test_hashes_have_one_form_in_both_tables_and_no_reader_makes_numbers_of_them(tmp_path: Path) -> None:
    """DuckDB and pandas as they are called by default, and of hashes alone, where DuckDB guesses worst."""
    hashes = Options(selection=Selection(statistics=("*hash",)))
    for format, column in (("csv", '"Driver pipeline hash"'), ("csv-long", "text")):
        path = tmp_path / f"{format}.csv"
        path.write_bytes(written(format, WATER, hashes))
        assert asked(f"select {column} from '{path}' limit 1") == [("'0xb8c1f0e2775aa04c",)]
        with pytest.raises(duckdb.Error):
            asked(f"select sum({column}) from '{path}'")
        frame = pandas.read_csv(path)
        assert frame[column.strip('"')][0] == "'0xb8c1f0e2775aa04c"
        assert not pandas.api.types.is_numeric_dtype(frame[column.strip('"')])


def test_long_keeps_what_a_double_cannot_hold() -> None:
    found = {(row["statistic"], row["text"]): row for row in rows(written("csv-long", golden()))}
    assert found["Widest", "18446744073709551615"]["value"] == "18446744073709551615"
    assert found["Nothing", "NaN"]["value"] == ""
    assert found["Endless", "-Infinity"]["value"] == ""
    assert found["Share", ""]["value"] == "0.1"
    assert found["Discards", ""]["value"] == "1"
    assert found["Odd", "'0x0000000000000005"]["format"] == "7"


def test_a_pipeline_without_executables_has_a_row_with_its_status() -> None:
    found = rows(written("csv-long", golden()))
    alone = [row for row in found if not row["executable_index"] and not row["format"]]
    assert [(row["pipeline"], row["target"], row["text"]) for row in alone] == [
        ("water", "radv:navi21", "crashed"),
        ("water", "mock", "timeout"),
        ("broken/cut.frag", "", "invalid"),
    ]


def test_a_variant_is_named() -> None:
    assert rows(written("csv-long", golden()))[0]["variant"] == "0=16 1=2.5 2=True"


# ── Wide ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_wide_has_a_row_for_each_executable_and_a_column_for_each_statistic() -> None:
    found = rows(written("csv", WATER))
    assert list(found[0]) == [
        "pipeline", "variant", "target", "status", "executable_index", "executable", "stages", "subgroup_size",
        "Driver pipeline hash", "VGPRs", "Spilled VGPRs", "Code size", "Subgroups per SIMD", "Hash", "Copies",
    ]  # fmt: skip
    assert [(row["pipeline"], row["executable"], row["VGPRs"]) for row in found] == [
        ("blur", "Compute Shader", "24"),
        ("water", "Vertex Shader", "64"),
        ("water", "Fragment Shader", "16"),
    ]


def test_pandas_and_duckdb_sum_the_wide_table(tmp_path: Path) -> None:
    data = written("csv", WATER)
    frame = pandas.read_csv(io.BytesIO(data))
    assert frame["VGPRs"].sum() == 104
    assert not pandas.api.types.is_numeric_dtype(frame["Hash"])
    path = tmp_path / "wide.csv"
    path.write_bytes(data)
    assert asked(f"select sum(VGPRs), any_value(Hash) from '{path}'") == [(104, "'0x2af4c0be")]


def test_wide_is_the_union_and_missing_is_empty() -> None:
    events = answered(
        [
            (pipeline("a"), [executable("compute", statistic("VGPRs", 0), statistic("New", 5))]),
            (pipeline("b"), [executable("compute", statistic("VGPRs", 8), statistic("LDS size", 9))]),
        ]
    )
    found = rows(written("csv", events))
    assert [(row["VGPRs"], row["LDS size"], row["New"]) for row in found] == [("0", "", "5"), ("8", "9", "")]


def test_two_statistics_of_one_name_are_two_columns() -> None:
    events = answered([(pipeline("a"), [executable("compute", statistic("Fills", 1), statistic("Fills", 2))])])
    assert rows(written("csv", events))[0]["Fills (2)"] == "2"


def test_a_statistic_that_is_called_like_a_column_of_ours() -> None:
    events = answered([(pipeline("a"), [executable("compute", statistic("status", 7), statistic("", 8))])])
    found = rows(written("csv", events))[0]
    assert (found["status"], found["status (2)"], found["(unnamed)"]) == ("ok", "7", "8")


def test_wide_names_what_failed() -> None:
    found = rows(written("csv", golden()))
    assert [(row["pipeline"], row["status"]) for row in found if not row["executable_index"]] == [
        ("water", "crashed"),
        ("water", "timeout"),
        ("broken/cut.frag", "invalid"),
    ]


def test_wide_cells_of_every_kind() -> None:
    (found,) = [row for row in rows(written("csv", golden())) if row["target"] == "mock" and row["status"] == "ok"]
    assert {name: cell for name, cell in list(found.items())[8:] if cell} == {
        "Widest": "18446744073709551615",
        "Depth": "-1",
        "Depth (2)": "-9223372036854775808",
        "Share": "0.1",
        "Nothing": "NaN",
        "Endless": "-Infinity",
        "Discards": "1",
        "Odd": "'0x0000000000000005",
    }


def test_an_unusual_nan_is_exact_in_the_long_table_and_a_number_in_the_wide_one() -> None:
    odd = executable("compute", statistic("Share", 0x7FF8_0000_0000_0123, "float64"))
    events = answered([(pipeline("blur"), [odd])])
    (wide,), (long,) = rows(written("csv", events)), rows(written("csv-long", events))
    assert wide["Share"] == "NaN"
    assert (long["value"], long["text"]) == ("", "NaN(0x7ff8000000000123)")


# ── Representations ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", ["csv", "csv-long"])
def test_representations_are_rows_where_they_are_asked_for(format: str) -> None:
    parts = (RepresentationAnswer("NIR", "", True, b"nir"), RepresentationAnswer("=elf", "", False, b"\x7fELF"))
    events = answered(
        [(pipeline("a"), [executable("compute", representations=parts)]), (pipeline("b"), [executable("compute")])],
        more=[PipelineEvent(pipeline("c")), ResultEvent(Result("c", "radv:navi21", "crashed"))],
    )
    found = rows(written(format, events, Options(view="ir")))
    assert list(found[0])[3:9] == ["status", "executable_index", "executable", "stages", "subgroup_size",
                                   "representation_index"]  # fmt: skip
    shown = [(row["pipeline"], row["status"], row["representation_index"], row["representation"]) for row in found]
    assert shown == [("a", "ok", "0", "NIR"), ("a", "ok", "1", "'=elf"), ("b", "ok", "", ""), ("c", "crashed", "", "")]
    assert (found[1]["is_text"], found[1]["size"]) == ("false", "4")
    assert found[1]["sha256"] == hashlib.sha256(b"\x7fELF").hexdigest()


# ── Hostile names ─────────────────────────────────────────────────────────────────────────────────────────────────


HOSTILE = [
    '=HYPERLINK("http://example.com","x")', "+1", "-2+3", "@SUM(A1)", "=1", 'a"b,c', "new\nline", "re\rturn", "nul\0",
    "esc\x1b[31m", "byte\udcff",
]  # fmt: skip


@pytest.mark.parametrize("format", ["csv", "csv-long"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_in_its_cell_and_is_no_formula(format: str, name: str) -> None:
    evil = executable("compute", statistic(name, 5), name=name)
    data = written(format, answered([(pipeline(name), [evil])], target(driver=UNKNOWN)))
    text = data.decode("utf-8")
    assert text.count("\n") == 2
    assert "\r" not in text
    assert all(character.isprintable() or character == "\n" for character in text)
    head, row = csv.reader(io.StringIO(text, newline=""))
    assert len(head) == len(row)
    for cell in (row[0], row[head.index("executable")]):
        assert cell[0] not in "=+-@"
        assert cell.lstrip("'").startswith(name[:2])


def test_a_negative_number_is_no_formula() -> None:
    minus_two = statistic("Offset", 2**64 - 2, "int64")
    assert rows(written("csv", answered([(pipeline("a"), [executable("compute", minus_two)])])))[0]["Offset"] == "-2"


def test_made_up_executables_stay_out_of_sums() -> None:
    made_up = executable("vertex", statistic("VGPRs", 100), synthetic=True)
    found = rows(written("csv", answered([(pipeline("a", "graphics"), [made_up, radv("fragment", 8)])])))
    assert [row["VGPRs"] for row in found] == ["8"]


def test_an_executable_without_statistics_is_there() -> None:
    assert rows(written("csv-long", answered([(pipeline("a"), [executable("compute")])])))[0]["statistic"] == ""


def test_a_failure_before_any_answer() -> None:
    failed = Result("x", None, "invalid", diagnostics=(Diagnostic("error", "spirv/empty", "empty file"),))
    events = answered([], more=[PipelineEvent(pipeline("x", None)), ResultEvent(failed)])
    assert rows(written("csv", events))[0]["status"] == "invalid"
