"""What stands opposite to what, and what must not."""

from __future__ import annotations

import pytest

from shaderstat.compare import Unlike, compare
from shaderstat.model import StatisticInfo, Target
from tests.compare.reports import (
    HASH,
    LOCAL,
    SPILLED_SGPRS,
    SPILLED_VGPRS,
    STORES,
    UNKNOWN,
    VGPRS,
    executable,
    pipeline,
    side,
    target,
)


def nvk(id: str) -> Target:
    """Devices of a shim: all of one name, all of one id."""
    return target(id, driver=24, device="NVK ", source="shim")


ALIKE = [
    (target(), target()),
    (target(), target("radv@sid:navi21", version="26.2.6", device="AMD Radeon RX 6800 (RADV NAVI21)", source="tree")),
    (target("radv:gfx1100", device="Null (RADV GFX1100)"), target("radv:navi31", device="Navi (RADV GFX1100)")),
    (target("host:0", source="host", device="NVIDIA H200"), target("host:1", source="host", device="NVIDIA H200")),
    (target(environment={"RADV_FORCE_FAMILY": "navi21"}), target(environment={"AMDGPU_GPU_ID": "navi21"})),
    (nvk("nvk:ad102"), nvk("nvk@old:ad102")),
]
UNLIKE = [
    (target(), target("radv:navi31", device="Null hardware (RADV NAVI31)"), "another GPU"),
    (target(), target("nvk:ad102", driver=24), "another driver"),
    (nvk("nvk:ad102"), nvk("nvk:ga102"), "another GPU"),
    (target("host:0", source="host", device="A"), target("host:0", source="host", device="B"), "another GPU"),
    (target(), target(environment={"RADV_PERFTEST": "cswave32"}), "another environment: RADV_PERFTEST"),
]


@pytest.mark.parametrize(("before", "after"), ALIKE)
def test_two_versions_of_one_driver_for_one_gpu_compare(before: Target, after: Target) -> None:
    row = executable((VGPRS, 24))
    found = compare(
        side(pipeline("a", row, on=before.id), targets=[before]), side(pipeline("a", row, on=after.id), targets=[after])
    )
    assert found.compared == 1


@pytest.mark.parametrize(("before", "after", "why"), UNLIKE)
def test_other_targets_are_refused_unless_allowed(before: Target, after: Target, why: str) -> None:
    row = executable((VGPRS, 24))
    sides = (
        side(pipeline("a", row, on=before.id), targets=[before]),
        side(pipeline("a", row, on=after.id), targets=[after]),
    )
    with pytest.raises(Unlike, match=why):
        compare(*sides)
    assert compare(*sides, allow_unlike=True).compared == 1


def test_a_target_of_one_side_alone_is_told() -> None:
    both = [target(), target("radv:navi31", device="Null hardware (RADV NAVI31)")]
    row = executable((VGPRS, 24))
    with pytest.raises(Unlike, match="only BEFORE has the target radv:navi31"):
        compare(side(pipeline("a", row), targets=both), side(pipeline("a", row)))


def pairs(before: dict[str, str], after: dict[str, str]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Match pipelines of these names and contents: pairs, new, gone."""
    row = executable((VGPRS, 24))
    sides = [side(*(pipeline(id, row, content=content) for id, content in each.items())) for each in (before, after)]
    found = compare(*sides)
    return (
        [(one.id, other.id) for one, other in found.both],
        [each.id for each in found.new],
        [each.id for each in found.gone],
    )


@pytest.mark.parametrize(
    ("before", "after", "both", "new", "gone"),
    [
        ({"a": "11"}, {"a": "11"}, [("a", "a")], [], []),
        ({"a": "11"}, {"a": "22"}, [("a", "a")], [], []),
        ({"a": "11", "z": "9"}, {"b": "11", "z": "9"}, [("a", "b"), ("z", "z")], [], []),
        ({"a": "11", "b": "22"}, {"a": "22", "b": "11"}, [("b", "a"), ("a", "b")], [], []),
        ({"a": "11", "b": "11"}, {"b": "11", "a": "11"}, [("a", "a"), ("b", "b")], [], []),
        ({"a": "11", "c": "11"}, {"b": "11", "c": "11"}, [("a", "b"), ("c", "c")], [], []),
        # copied to b, then changed: a's change is what matters
        ({"a": "11"}, {"a": "22", "b": "11"}, [("a", "a")], ["b"], []),
        ({"a": "11", "b": "22"}, {"a": "33"}, [("a", "a")], [], ["b"]),
        # nobody knows what they are made of
        ({"a": "", "b": ""}, {"a": "", "c": ""}, [("a", "a")], ["c"], ["b"]),
        # the only one on both sides
        ({"old": "11"}, {"new": "22"}, [("old", "new")], [], []),
    ],
)
def test_pipelines(
    before: dict[str, str], after: dict[str, str], both: list[tuple[str, str]], new: list[str], gone: list[str]
) -> None:
    assert pairs(before, after) == (both, new, gone)


def matched(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Match executables of these stages and names; an empty name where one side has none."""
    left, right = (
        tuple(
            executable((VGPRS, number), stages=tuple(stages.split("+")), name=name)
            for number, (stages, name) in enumerate(each)
        )
        for each in (before, after)
    )
    found = compare(
        side(pipeline("a", *left)),
        side(pipeline("a", *(executable((VGPRS, 9), stages=one.stages, name=one.name) for one in right))),
    )
    pairs = {(place.rows[0].heading.name, place.rows[1].heading.name) for place in found.affected}
    pairs |= {(each.row.heading.name, "") for each in found.gone_rows}
    return pairs | {("", each.row.heading.name) for each in found.new_rows}


def test_executables_by_stages_and_order() -> None:
    assert matched([("vertex", "Vertex Shader"), ("fragment", "F")], [("fragment", "f"), ("vertex", "vertex")]) == {
        ("Vertex Shader", "vertex"),
        ("F", "f"),
    }
    assert matched([("geometry", "A"), ("geometry", "B")], [("geometry", "B"), ("geometry", "A")]) == {
        ("A", "B"),
        ("B", "A"),
    }


def test_where_one_is_missing_labels_tell_which() -> None:
    widths = [("fragment", "SIMD8"), ("fragment", "SIMD16")]
    assert matched(widths, [("fragment", "SIMD16")]) == {("SIMD16", "SIMD16"), ("SIMD8", "")}
    assert matched([("fragment", "one")], [("fragment", "a"), ("fragment", "b")]) == {("one", "a"), ("", "b")}


def test_a_lone_stage_is_not_compared_with_one_of_a_pair() -> None:
    before = side(pipeline("a", executable((VGPRS, 24), bound="upper")))
    after = side(pipeline("a", executable((VGPRS, 30))))
    difference = compare(before, after)
    assert (difference.compared, len(difference.refused), difference.affected) == (0, 1, [])
    assert compare(before, after, allow_unlike=True).compared == 1


def changes(
    before: tuple[StatisticInfo, int], after: tuple[StatisticInfo, int], *others: StatisticInfo
) -> list[tuple[object, object, str]]:
    """What changed between two executables of one statistic each, on drivers that have `others` as well."""
    found = compare(
        side(pipeline("a", executable(before)), targets=[target(statistics=[before[0], *others])]),
        side(pipeline("a", executable(after)), targets=[target(statistics=[after[0], *others])]),
    )
    return [(each.before, each.after, each.verdict) for place in found.affected for each in place.changes()]


def test_statistics_match_by_name_whatever_its_case() -> None:
    before = StatisticInfo("Code Size", "uint64", "", "code_size", "bytes", "less", "trigger")
    after = StatisticInfo("Code size", "uint64", "", "code_size", "bytes", "less", "trigger")
    assert changes((before, 1), (after, 2)) == [(1, 2, "worse")]


def test_statistics_match_by_key_where_the_driver_renamed_them() -> None:
    before = StatisticInfo("Instruction Count", "uint64", "", "instructions", "instructions", "less", "trigger")
    after = StatisticInfo("Instructions", "uint64", "", "instructions", "instructions", "less", "trigger")
    assert changes((before, 1), (after, 2)) == [(1, 2, "worse")]


def test_two_that_share_a_key_are_not_one_that_was_renamed() -> None:
    pair = ((SPILLED_SGPRS, 3), (SPILLED_VGPRS, 3))
    assert sorted(changes(*pair, SPILLED_SGPRS, SPILLED_VGPRS), key=str) == [(3, None, "better"), (None, 3, "worse")]


def test_a_key_in_another_unit_is_another_statistic() -> None:
    before = StatisticInfo("Code size", "uint64", "", "code_size", "bytes", "less", "trigger")
    after = StatisticInfo("Quadwords", "uint64", "", "code_size", "16 bytes", "less", "trigger")
    assert sorted(changes((before, 1), (after, 2)), key=str) == [(1, None, "better"), (None, 2, "worse")]


def test_one_name_in_two_units_is_two_statistics() -> None:
    """NVK's code size is in bytes, Turnip's in words of four."""
    before = StatisticInfo("Code size", "uint64", "", "code_size", "bytes", "less", "trigger")
    after = StatisticInfo("Code size", "uint64", "", "code_size", "dwords", "less", "trigger")
    assert sorted(changes((before, 3520), (after, 256)), key=str) == [(3520, None, "better"), (None, 256, "worse")]


def test_what_counts_private_arrays_only_informs_and_what_nobody_knows_is_never_judged() -> None:
    assert changes((STORES, 0), (STORES, 40)) == [(0, 40, "changed")]
    assert changes((UNKNOWN, 0), (UNKNOWN, 40)) == [(0, 40, "changed")]
    assert changes((SPILLED_VGPRS, 0), (SPILLED_VGPRS, 40)) == [(0, 40, "worse")]


def test_a_value_that_is_half_written_is_judged_by_its_low_half() -> None:
    assert changes((LOCAL, 0x10_0000_0000), (LOCAL, 0)) == []
    assert changes((LOCAL, 0x10_0000_0000), (LOCAL, 0x10_0000_0008)) == [(0, 8, "worse")]


def test_code_is_told_by_the_hash_else_by_the_assembly() -> None:
    def recoded(*rows: object) -> int:
        left, right = (side(pipeline("a", row)) for row in rows)  # type: ignore[arg-type]
        return len(compare(left, right).recoded)

    assert recoded(executable((HASH, 1)), executable((HASH, 2))) == 1
    assert recoded(executable((VGPRS, 1), code="a"), executable((VGPRS, 1), code="b")) == 1
    assert recoded(executable((HASH, 1), code="a"), executable((HASH, 1), code="b")) == 0
    assert recoded(executable((VGPRS, 1)), executable((VGPRS, 1), code="b")) == 0


def test_what_shaderstat_made_up_is_not_compared() -> None:
    row, partner = executable((VGPRS, 1)), executable((VGPRS, 9), stages=["vertex"], synthetic=True)
    assert compare(side(pipeline("a", row, partner)), side(pipeline("a", row))).is_empty


def test_a_bad_file_that_was_mended_is_a_change_of_status() -> None:
    bad = side(pipeline("a", status="invalid", on=None, kind=None), targets=[])
    good = side(pipeline("a", executable((VGPRS, 1))))
    for sides in ((bad, good), (good, bad)):
        (change,) = compare(*sides).statuses
        assert {change.before.status, change.after.status} == {"ok", "invalid"}
    other = side(pipeline("a", status="invalid", on=None, kind=None), pipeline("b", executable((VGPRS, 1))))
    (change,) = compare(
        other, side(pipeline("a", executable((VGPRS, 1))), pipeline("b", executable((VGPRS, 1))))
    ).statuses
    assert (change.before.status, change.after.status, change.verdict) == ("invalid", "ok", "better")
