"""``diff`` and ``check`` on terminals of any width: names give way, then whole columns; no number is ever cut."""

from __future__ import annotations

import io

import pytest

from shaderstat.compare.view import View
from shaderstat.reporters.base import Options
from shaderstat.reporters.outcomes import write_diff
from shaderstat.reporters.text import width
from tests.compare.reports import SPILLED_VGPRS, VGPRS, executable, pipeline
from tests.reporters.outcomes import CRASH, check_text, outcome, verdict

NAME = "terrain/rocks/with/moss"


def diff(columns: int | None) -> tuple[list[str], list[str]]:
    """The table's lines, and what is said beside it."""
    stream = io.BytesIO()
    remarks = write_diff("table", outcome(view=View(True), name=NAME), stream, Options(width=columns))
    return stream.getvalue().decode().splitlines(), [*remarks]


def check(columns: int | None) -> list[str]:
    made = verdict(
        pipeline(NAME, executable((VGPRS, 32), (SPILLED_VGPRS, 1), stages=("fragment",))),
        pipeline("crash", status="crashed", failure=CRASH),
    )
    return check_text("table", made, Options(width=columns)).splitlines()


def test_a_diff_s_names_give_way_first() -> None:
    lines, remarks = diff(80)
    assert lines[6:9] == [
        "  worse                              statistic      before   after",
        "  …rocks/with/moss  vertex+fragment  Spilled VGPRs       0 →    40     from zero",
        "                                     VGPRs              24 →    32       +33.3 %",
    ]
    assert not any("no room" in each for each in remarks)


def test_then_the_change_goes_as_a_whole() -> None:
    lines, remarks = diff(60)
    assert lines[6:9] == [
        "  worse                        statistic      before   after",
        "  …s/with/moss  …tex+fragment  Spilled VGPRs       0 →    40",
        "                               VGPRs              24 →    32",
    ]
    assert "no room for: change" in remarks


def test_then_numbers_go_below() -> None:
    lines, remarks = diff(40)
    assert lines[7:11] == [
        "  worse                       statistic",
        "  …s/with/moss  …ex+fragment  …illed VGPRs",
        "      0 → 40  from zero",
        "                              VGPRs",
    ]
    assert "no room for: helped · hurt · same" in remarks, "of the totals"


def test_a_check_with_room_for_all_of_it() -> None:
    assert (
        check(130)[0]
        == check(None)[0]
        == (
            "  FAIL  terrain/rocks/with/moss  fragment  registers  32 > 24                      "
            'shaderstat.yaml:3  "desktop"  radv:navi21'
        )
    )


def test_a_check_s_names_give_way_and_its_place_goes_below() -> None:
    assert check(80)[:4] == [
        "  FAIL  terrain/rocks/with/moss  fragment  registers  32 > 24  shaderstat.yaml:3",
        '                                                      "desktop"  radv:navi21',
        "        again   shaderstat stats shaders/terrain/rocks/with/moss.spv -t \\",
        "          radv:navi21",
    ]
    assert check(60)[:2] == [
        "  FAIL  …ain/rocks/with/moss  fragment  registers",
        '      32 > 24  shaderstat.yaml:3  "desktop"  radv:navi21',
    ]
    assert check(60)[-3:] == [
        "  none  crash",
        "      crashed: SIGSEGV in compile  radv:navi21",
        "        again   shaderstat stats x.spv",
    ]


@pytest.mark.parametrize("columns", [50, 60, 70, 80, 90, 99, 120])
@pytest.mark.parametrize("what", ["diff", "check"])
def test_no_line_is_broken_by_the_terminal_nor_any_word_by_us(what: str, columns: int) -> None:
    found, whole = (diff(each)[0] if what == "diff" else check(each) for each in (columns, None))
    assert [line for line in found if width(line) > columns] == []
    words = {word for line in found for word in line.split() if not word.startswith("…")}
    assert words - {"\\"} <= {word for line in whole for word in line.split()}
    numbers = {"24", "32", "40"} if what == "diff" else {"32", "24", "1", "0"}
    assert numbers <= words
