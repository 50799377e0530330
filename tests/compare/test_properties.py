"""What must hold for any two reports."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.compare import Change, Difference, Place, Total, compare
from shaderstat.compare.difference import judged
from shaderstat.compare.view import View, shown
from shaderstat.model import Event, Executable, StatisticInfo
from tests.compare.reports import (
    COPIES,
    HASH,
    LOCAL,
    SHARE,
    SPILLED_SGPRS,
    SPILLED_VGPRS,
    UNKNOWN,
    VGPRS,
    WAVES,
    executable,
    pipeline,
    side,
)

INFOS = (VGPRS, SPILLED_SGPRS, SPILLED_VGPRS, WAVES, COPIES, HASH, UNKNOWN, LOCAL, SHARE, UNKNOWN)
STAGES = (("vertex",), ("fragment",), ("compute",), ("vertex", "geometry"))

whole = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))
share = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["NaN", "Infinity", "-Infinity"]))


@st.composite
def executables(draw: st.DrawFn) -> tuple[Executable, ...]:
    made = []
    for index in range(draw(st.integers(1, 3))):
        infos = draw(st.lists(st.sampled_from(INFOS), unique_by=id, max_size=6))
        cells: list[tuple[StatisticInfo, int | float | str]] = [
            (info, draw(share if info is SHARE else whole)) for info in infos
        ]
        if UNKNOWN in infos:  # a second one of that name
            cells.append((UNKNOWN, draw(whole)))
        name = draw(st.sampled_from(["Shader", "shader", "other"]))
        made.append(executable(*cells, stages=draw(st.sampled_from(STAGES)), name=name, index=index))
    return tuple(made)


Parts = list[list[Event]]


@st.composite
def parts(draw: st.DrawFn) -> Parts:
    found = []
    for id in draw(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1)):
        status = draw(st.sampled_from(["ok", "ok", "ok", "crashed", "unsupported"]))
        rows = draw(executables()) if status == "ok" else ()
        found.append(pipeline(id, *rows, content=draw(st.sampled_from(["11", "22", "33", id, ""])), status=status))
    return found


def verdicts(difference: Difference) -> dict[tuple[object, ...], str]:
    """Of each change, whichever executable's it is."""
    return {
        (
            *(each.id for each in place.subject),
            *((row.heading.stages, row.held) for row in place.rows),
            n,
        ): change.verdict
        for place in difference.affected
        for n, change in enumerate(place.changes())
    }


def summed(totals: Sequence[Total]) -> dict[tuple[object, ...], tuple[object, ...]]:
    return {
        (frozenset(info.name.casefold() for info in total.infos), total.infos[0].role): (
            total.before,
            total.after,
            total.helped,
            total.hurt,
            total.same,
            total.affected,
            total.left_out,
        )
        for total in totals
    }


@settings(max_examples=40)
@given(parts())
def test_a_report_does_not_differ_from_itself(some: Parts) -> None:
    difference = compare(side(*some), side(*some))
    assert difference.is_empty
    assert all(total.before == total.after and not (total.helped or total.hurt) for total in difference.totals)


@settings(max_examples=40)
@given(parts(), parts())
def test_swapped_sides_swap_everything(some: Parts, others: Parts) -> None:
    there, back = (compare(*pair) for pair in ((side(*some), side(*others)), (side(*others), side(*some))))
    assert [each.id for each in there.new] == [each.id for each in back.gone]
    assert [each.id for each in there.gone] == [each.id for each in back.new]
    assert {(a.id, b.id) for a, b in there.both} == {(b.id, a.id) for a, b in back.both}
    assert len(there.affected) == len(back.affected) and len(there.recoded) == len(back.recoded)
    counts = [sorted(verdicts(each).values()) for each in (there, back)]
    swap = {"worse": "better", "better": "worse", "changed": "changed"}
    assert sorted(map(swap.__getitem__, counts[0])) == counts[1]
    first, second = summed(there.totals), summed(back.totals)
    assert first.keys() == second.keys()
    for key, (before, after, helped, hurt, same, affected, left_out) in first.items():
        assert isinstance(affected, tuple)
        assert second[key] == (after, before, hurt, helped, same, affected[::-1], left_out)


@settings(max_examples=40)
@given(parts(), parts(), st.randoms(use_true_random=False))
def test_order_does_not_matter(some: Parts, others: Parts, shuffling: random.Random) -> None:
    first = compare(side(*some), side(*others))
    for each in (some, others):
        shuffling.shuffle(each)
    second = compare(side(*some), side(*others))
    assert verdicts(first) == verdicts(second)
    assert summed(first.totals) == summed(second.totals)
    assert [place.subject[1].id for place in first.affected] == [place.subject[1].id for place in second.affected]
    assert [(a.id, b.id) for a, b in first.both] == [(a.id, b.id) for a, b in second.both]


@settings(max_examples=40)
@given(parts(), parts())
def test_totals_add_up(some: Parts, others: Parts) -> None:
    difference = compare(side(*some), side(*others))
    for total in difference.totals:
        counted = total.helped + total.hurt + total.same
        # Every executable that has a number of the group on both sides is in one of the three, once.
        assert counted <= difference.compared
        assert (total.before == total.after) or total.helped or total.hurt
    for total in difference.totals:
        if total.infos[0] is VGPRS:
            assert total.after - total.before == sum(
                change.after - change.before  # type: ignore[operator]
                for place in difference.affected
                for change in place.changes()
                if change.info is VGPRS and isinstance(change.before, int) and isinstance(change.after, int)
            )


cells = st.one_of(st.just(0), st.integers(1, 2**64 - 1))


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_no_change_from_or_to_zero_is_lost(pairs: list[tuple[int, int]]) -> None:
    before = side(*(pipeline(f"p{n}", executable((SPILLED_VGPRS, old))) for n, (old, _) in enumerate(pairs)))
    after = side(*(pipeline(f"p{n}", executable((SPILLED_VGPRS, new))) for n, (_, new) in enumerate(pairs)))
    difference = compare(before, after)
    found = {place.subject[1].id: next(place.changes()) for place in difference.affected}
    assert set(found) == {f"p{n}" for n, (old, new) in enumerate(pairs) if old != new}
    for n, (old, new) in enumerate(pairs):
        if old == 0 < new:
            assert (found[f"p{n}"].kind, found[f"p{n}"].verdict) == ("from zero", "worse")
        if new == 0 < old:
            assert (found[f"p{n}"].kind, found[f"p{n}"].verdict) == ("to zero", "better")
    kinds = [entry.changes[0].kind for entry in shown(difference, View(), 0).worse]
    assert kinds == sorted(kinds, key=lambda kind: kind != "from zero")


@given(st.sampled_from([VGPRS, WAVES, COPIES]), whole, whole)
def test_a_verdict_goes_by_the_direction(info: StatisticInfo, before: int, after: int) -> None:
    change = Change(info, before, after)
    if before != after:
        expected = {
            0: "changed",
            1: "worse" if after > before else "better",
            -1: "better" if after > before else "worse",
        }
        assert change.verdict == expected[judged(info)]


def test_places_name_their_changes_by_column() -> None:
    """Two of one name stay two."""
    before = side(pipeline("a", executable((UNKNOWN, 1), (UNKNOWN, 2))))
    after = side(pipeline("a", executable((UNKNOWN, 1), (UNKNOWN, 3))))
    (place,) = compare(before, after).affected
    assert isinstance(place, Place)
    assert [(each.before, each.after) for each in place.changes()] == [(2, 3)]
