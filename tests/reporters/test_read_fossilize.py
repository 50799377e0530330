"""The peer's table read back, faults of its writer included."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import ShaderstatError
from shaderstat.model import Report, Statistic
from shaderstat.reporters.read_fossilize import is_fossilize_csv, read_fossilize
from tests.compare.reports import HASH, SPILLED_VGPRS, VGPRS, executable, pipeline, run
from tests.reporters.runs import written

FIXED = (
    "Database,Pipeline type,Pipeline hash,PSO wall duration (ns),PSO duration (ns),Stage duration (ns),Executable name,"
    "Subgroup size"
)
HEAD = f"{FIXED},Driver pipeline hash,VGPRs,Share,Early\n"
ROW = (
    "all.foz,GRAPHICS,b74b4d54d3c0efa2,6136967,6073482,2028350,Vertex Shader,64,0x978ec5a32c470ac2,128,0.500000,true\n"
)
SECOND = "all.foz,GRAPHICS,b74b4d54d3c0efa2,6136967,6073482,99,Fragment Shader,64,0x978ec5a32c470ac2,24,,false\n"


def read(text: str) -> Report:
    return Report.collect(read_fossilize(io.BytesIO(text.encode()), "stats.csv"))


def test_a_pipeline_is_the_rows_that_stand_together() -> None:
    report = read(HEAD + ROW + SECOND)
    (made,) = report.pipelines
    assert (made.id, made.kind, made.modules[0].path) == ("b74b4d54d3c0efa2", "graphics", "all.foz")
    (result,) = report.results
    assert (result.durations_ns.wall, result.durations_ns.pipeline) == (6136967, 6073482)
    first, second = result.executables
    assert (first.name, first.subgroup_size, first.stages) == ("Vertex Shader", 64, ())
    assert first.statistics == (
        Statistic("Driver pipeline hash", "uint64", 0x978EC5A32C470AC2, "0x978ec5a32c470ac2"),
        Statistic("VGPRs", "uint64", 128),
        Statistic("Share", "float64", 0.5),
        Statistic("Early", "bool32", 1),
    )
    assert [one.name for one in second.statistics] == ["Driver pipeline hash", "VGPRs", "Early"]  # empty: not reported
    assert report.run.complete


def test_headers_anywhere_and_either_quoting() -> None:
    quoted = ",".join(f'"{cell}"' for cell in f"{FIXED},VGPRs".split(",")) + "\n"
    row = '"other, one.foz","COMPUTE","00000000000000aa","1","1","1","Compute Shader","64","32"\r\n'
    report = read(HEAD + ROW + quoted + row + HEAD + ROW.replace("b74b", "c74b"))
    assert [(one.id, one.kind) for one in report.pipelines] == [
        ("b74b4d54d3c0efa2", "graphics"), ("00000000000000aa", "compute"), ("c74b4d54d3c0efa2", "graphics"),
    ]  # fmt: skip
    assert report.pipelines[1].modules[0].path == "other, one.foz"


def test_a_comma_in_the_database_s_path_is_mended() -> None:
    (made,) = read(HEAD + "a,b," + ROW).pipelines
    assert made.modules[0].path == "a,b,all.foz"


def test_one_hash_in_two_databases_is_two_pipelines() -> None:
    other = ROW.replace("all.foz", "dir/b.foz")
    assert [one.id for one in read(HEAD + ROW + other).pipelines] == ["b74b4d54d3c0efa2", "b.foz/b74b4d54d3c0efa2"]


@pytest.mark.parametrize(
    ("text", "line"),
    [(HEAD + ROW.replace(",true", ""), 2), (HEAD + ROW.replace(",true", ",true,7"), 2), (HEAD + ROW + "x\n", 3)],
)
def test_a_row_that_does_not_fit_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ShaderstatError, match=rf"stats\.csv:{line}: \d+ cells? where the header has 12"):
        read(text)


def test_numbers_that_are_none() -> None:
    report = read(f"{FIXED},A,B,C,D\n" + "x.foz,COMPUTE,aa,1,1,1,CS,64,nan,inf,18446744073709551615,-5\n")
    assert report.results[0].executables[0].statistics == (
        Statistic("A", "float64", None, "nan"),
        Statistic("B", "float64", None, "inf"),
        Statistic("C", "uint64", 2**64 - 1, "18446744073709551615"),
        Statistic("D", "int64", -5),
    )


def test_what_we_write_in_that_form_is_read_back() -> None:
    rows = executable((VGPRS, 24), (SPILLED_VGPRS, 0), (HASH, 7)), executable((VGPRS, 8), index=1)
    report = read(written("fossilize-csv", run(pipeline("a", *rows, content="ab" * 32))).decode())
    assert [[(one.name, one.value) for one in each.statistics] for each in report.results[0].executables] == [
        [("VGPRs", 24), ("Spilled VGPRs", 0), ("Hash", 7)],
        [("VGPRs", 8)],
    ]
    assert report.pipelines[0].id == "ab" * 8


def test_no_cell_is_a_formula() -> None:
    named = replace(executable((VGPRS, 24), (SPILLED_VGPRS, 0)), name="=cmd|' /c x'!A0")
    text = written("fossilize-csv", run(pipeline("a", named)))
    cells = [cell for row in csv.reader(io.StringIO(text.decode())) for cell in row]
    assert "'=cmd|' /c x'!A0" in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_the_users_scripts_read_it(tmp_path: Path) -> None:
    """As report-fossil's users do, by pandas and by SQL: a statistic's sum is right, a hash is not part of it."""
    import duckdb
    import pandas

    rows = executable((VGPRS, 24), (SPILLED_VGPRS, 3), (HASH, 7)), executable((VGPRS, 8), index=1)
    path = tmp_path / "stats.csv"
    path.write_bytes(written("fossilize-csv", run(pipeline("a,b", *rows, content="ab" * 32))))
    frame = pandas.read_csv(path)
    assert len(frame) == 2
    assert (frame["VGPRs"].sum(), frame["Spilled VGPRs"].sum()) == (32, 3)
    query = f"""SELECT sum("VGPRs"), sum("Spilled VGPRs") FROM '{path}'"""
    assert duckdb.connect().execute(query).fetchall() == [(32, 3)]


@pytest.mark.parametrize(
    ("head", "is_one"),
    [(HEAD.encode(), True), (b"\xef\xbb\xbf" + HEAD.encode(), True), (b"pipeline,variant", False), (b"", False)],
)
def test_it_is_known_by_its_header(head: bytes, is_one: bool) -> None:
    assert is_fossilize_csv(head) is is_one


@given(st.text(alphabet='a,"\n\r0x.nG', max_size=60))
def test_whatever_follows_a_header_is_read_or_refused(text: str) -> None:
    try:
        read(HEAD + text)
    except ShaderstatError as error:
        assert error.message.startswith("stats.csv:")
