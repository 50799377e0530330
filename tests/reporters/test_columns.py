"""What gives way on a narrow terminal: names, then whole columns, never numbers."""

from __future__ import annotations

import pytest

from shaderstat.reporters._columns import LEAST, fitting, joined, name_room, no_room, shared


@pytest.mark.parametrize(("columns", "room"), [(None, None), (100, 33), (60, 20), (20, 12)])
def test_a_name_may_take_a_third(columns: int | None, room: int | None) -> None:
    assert name_room(columns) == room


@pytest.mark.parametrize(
    ("widths", "room", "narrowed"),
    [
        ([30, 8, 13], None, [30, 8, 13]),
        ([30, 8, 13], 51, [30, 8, 13]),
        ([30, 8, 13], 45, [24, 8, 13]),
        ([30, 20, 13], 45, [16, 16, 13]),
        ([30, 8, 13], 10, [LEAST, 8, LEAST]),
    ],
)
def test_the_widest_name_gives_way(widths: list[int], room: int | None, narrowed: list[int]) -> None:
    assert shared(widths, room) == narrowed


def test_columns_go_as_a_whole_and_in_their_order() -> None:
    widths = [10, 4, 4, 10]  # 36 with two blanks before each
    assert fitting(widths, None, (1, 2)) == [0, 1, 2, 3]
    assert fitting(widths, 36, (1, 2)) == [0, 1, 2, 3]
    assert fitting(widths, 35, (1, 2)) == [0, 2, 3]
    assert fitting(widths, 10, (1, 2)) == [0, 3], "the rest stays, whatever room there is"


def test_cells_stand_under_their_headings() -> None:
    assert joined(("name", "1", "x"), (6, 3, 1), (0, 1), numbers=(1,)) == "  name      1"


def test_what_had_no_room_is_named_once() -> None:
    assert no_room(["api", "from", "api"]) == ["no room for: api · from"]
    assert no_room([]) == []
