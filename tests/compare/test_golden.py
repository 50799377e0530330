"""A pair of small reports made by hand, with every kind of cell, and what is to be said of them, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaderstat.compare import Difference, collect, compare
from shaderstat.reporters.read import read_events

GOLDEN = Path(__file__).parent.parent / "golden" / "diff"


@pytest.fixture(scope="module")
def difference() -> Difference:
    sides = []
    for name in ("before", "after"):
        with (GOLDEN / f"{name}.jsonl").open("rb") as stream:
            sides.append(collect(read_events(stream, name), name))
    return compare(*sides)


def changes(difference: Difference) -> dict[tuple[str, str, str], tuple[object, object, str, str]]:
    """(pipeline, executable, statistic) → (before, after, kind, verdict)."""
    return {
        (place.subject[1].id, place.rows[1].heading.name, each.info.name): (
            each.before,
            each.after,
            each.kind,
            each.verdict,
        )
        for place in difference.affected
        for each in place.changes()
        if each.info.role != "identity"
    }


def test_two_versions_of_a_driver_for_one_gpu_compare_freely(difference: Difference) -> None:
    ((before, after),) = difference.targets
    assert (before.driver.info, after.driver.info) == ("Mesa 22.3.6", "Mesa 26.2.6")
    assert before.device.name != after.device.name


def test_pipelines_match_by_content_else_by_name(difference: Difference) -> None:
    assert [each.id for each in difference.new] == ["new"]
    assert [each.id for each in difference.gone] == ["gone"]
    assert [(one.id, other.id) for one, other in difference.renamed] == [("old/name", "new/name")]
    assert len(difference.both) == 9


def test_every_change_is_told_and_nothing_else(difference: Difference) -> None:
    fragment = ("water", "Fragment Shader")
    assert changes(difference) == {
        (*fragment, "VGPRs"): (64, 84, "value", "worse"),
        (*fragment, "Spilled VGPRs"): (0, 40, "from zero", "worse"),
        (*fragment, "Subgroups per SIMD"): (16, 12, "value", "worse"),
        (*fragment, "Copies"): (3, 4, "value", "changed"),
        ("ssao", "Compute Shader", "VGPRs"): (72, 56, "value", "better"),
        ("ssao", "Compute Shader", "Spilled VGPRs"): (8, 0, "to zero", "better"),
        ("ssao", "Compute Shader", "Subgroups per SIMD"): (10, 16, "value", "better"),
        ("odd", "Compute Shader", "Mystery"): (2**64 - 1, 2**64 - 2, "value", "changed"),
        ("odd", "Compute Shader", "Early"): (0, 1, "from zero", "changed"),
        ("cells", "compute", "Scratch size"): (None, 1024, "reported", "worse"),
        ("cells", "compute", "Share"): (0.5, "Infinity", "unreadable", "changed"),
        ("cells", "compute", "VALU"): (None, 7, "reported", "changed"),
    }


def test_from_zero_comes_first(difference: Difference) -> None:
    assert difference.affected[0].subject[1].id == "water"


def test_code_that_changed_while_no_number_moved(difference: Difference) -> None:
    assert [place.subject[1].id for place in difference.recoded] == ["recoded"]


def test_a_crash_is_a_change_of_status(difference: Difference) -> None:
    (change,) = difference.statuses
    assert (change.subject[1].id, change.before.status, change.after.status) == ("particles", "ok", "crashed")
    assert change.after.reason == "SIGSEGV in compile"


def test_executables_match_by_stages_and_order_not_by_label(difference: Difference) -> None:
    assert [(each.subject.id, each.row.heading.name) for each in difference.new_rows] == [("merged", "fragment again")]
    assert difference.gone_rows == []
    # same, water's two, ssao, odd, cells, recoded, name, merged's two
    assert difference.compared == 10


def test_totals(difference: Difference) -> None:
    totals = {total.name: total for total in difference.totals}
    registers = totals["registers"]  # 24+40+64+72+24+32+8+48+8, and what became of them
    assert (registers.before, registers.after) == (320, 324)
    assert (registers.helped, registers.hurt, registers.same) == (1, 1, 7)
    # affected, or with other code: water's fragment shader, ssao, cells, recoded
    assert registers.affected == (64 + 72 + 24 + 32, 84 + 56 + 24 + 32)
    spills = totals["spills"]  # scalar and vector registers together
    assert (spills.before, spills.after, spills.helped, spills.hurt, spills.same) == (8, 40, 1, 1, 6)
    scratch = totals["scratch bytes"]  # what was not reported before is in no sum
    assert (scratch.before, scratch.after, scratch.left_out) == (0, 0, 1)
    assert [name for name in totals if name in ("registers", "spills", "occupancy")] == [
        "registers",
        "spills",
        "occupancy",
    ]
