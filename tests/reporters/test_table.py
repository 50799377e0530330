"""What people see, line by line. Numbers are never cut, columns go as a whole, and what went is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shaderstat.annotate import Annotator
from shaderstat.model import (
    Device,
    Diagnostic,
    Driver,
    Event,
    ExecutableAnswer,
    Failure,
    PipelineEvent,
    RepresentationAnswer,
    Result,
    ResultEvent,
    Target,
    TargetEvent,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Selection
from shaderstat.reporters.text import width
from tests.reporters.runs import (
    NVIDIA,
    UNKNOWN,
    answered,
    executable,
    finished,
    golden,
    grown,
    pipeline,
    radv,
    statistic,
    target,
    written,
)

BLUR = pipeline("blur", workgroup=(16, 16, 1))
WATER = pipeline("water", "graphics")


def lines(events: Sequence[Event], options: Options | None = None) -> list[str]:
    return written("table", events, options).decode("utf-8").splitlines()


def remarks(events: Sequence[Event], options: Options | None = None) -> list[str]:
    return list(finished("table", events, options)[1].remarks())


def failed(name: str, status: str, *diagnostics: Diagnostic, failure: Failure | None = None) -> list[Event]:
    found = Result(name, "radv:navi21", status, failure=failure, diagnostics=diagnostics)
    return [PipelineEvent(pipeline(name)), ResultEvent(found)]


MANY = answered(
    [(BLUR, [radv("compute", 24, spilled=12)])]
    + [(pipeline(f"p{i}", "graphics"), [radv("vertex", 8 * i), radv("fragment", 8, size=10**i)]) for i in range(1, 4)],
    more=[
        *failed("rays", "unsupported", Diagnostic("error", "vulkan/feature-missing", "RayTracingKHR", "try another")),
        *failed("cut", "invalid", Diagnostic("error", "spirv/truncated", "ends inside OpDecorate, word 37 (byte 148)")),
        *failed(
            "dead", "crashed", failure=Failure("compile", "driver/crashed", signal="SIGSEGV", stderr_tail="a\noops\n")
        ),
        *failed("slow", "timeout", failure=Failure("query", "driver/timeout", limit_s=60.0)),
    ],
)

# ── Blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_few_executables_are_blocks_with_all_statistics() -> None:
    assert lines(answered([(BLUR, [radv("compute", 24, spilled=12)])]), Options(width=100)) == [
        "blur · compute · workgroup 16×16×1                      radv:navi21 · RADV, Mesa 22.3.6, null device",
        "",
        "  Compute Shader                            subgroup 64",
        "  Driver pipeline hash  0xb8c1f0e2775aa04c",
        "  VGPRs                                 24  registers",
        "  Spilled VGPRs                         12  registers      ← spills",
        "  Code size                            616  bytes",
        "  Subgroups per SIMD                    32  subgroups      more is better",
        "  Hash                          0x2af4c0be",
        "  Copies                                 3  instructions",
    ]


def test_descriptions_come_with_verbosity() -> None:
    described = "      Number of VGPR registers allocated per subgroup"
    events = answered([(BLUR, [radv("compute", 24)])])
    assert described not in lines(events)
    assert described in lines(events, Options(verbosity=1))


def test_remarks_go_below_and_units_go_first() -> None:
    assert lines(answered([(BLUR, [radv("compute", 24, spilled=12)])]), Options(width=40)) == [
        "blur · compute · workgroup 16×16×1",
        "  radv:navi21 · RADV, Mesa 22.3.6, null",
        "  device",
        "",
        "  Compute Shader",
        "      subgroup 64",
        "  …ver pipeline hash  0xb8c1f0e2775aa04c",
        "  VGPRs                               24",
        "  Spilled VGPRs                       12",
        "      ← spills",
        "  Code size                          616",
        "  Subgroups per SIMD                  32",
        "      more is better",
        "  Hash                        0x2af4c0be",
        "  Copies                               3",
    ]


def test_a_title_that_does_not_fit_takes_two_lines() -> None:
    events = answered([(BLUR, [radv("compute", 24)])])
    assert lines(events, Options(width=60))[:2] == [
        "blur · compute · workgroup 16×16×1",
        "  radv:navi21 · RADV, Mesa 22.3.6, null device",
    ]
    assert len(lines(events)[0]) > 60  # off a terminal it stays on one


def test_cells_of_every_kind() -> None:
    report = golden()
    mock = [event for event in report if not isinstance(event, ResultEvent) or event.result.target == "mock"]
    assert lines(mock)[2:11] == [
        "  compute",
        "  Widest    18446744073709551615  not a hash",
        "  Depth                       -1",
        "  Depth     -9223372036854775808",
        "  Share                      0.1",
        "  Nothing                    NaN",
        "  Endless              -Infinity",
        "  Discards                     1",
        "  Odd         0x0000000000000005  a statistic format that shaderstat does not know",
    ]


def test_a_failure_says_why_and_how_to_see_it_again() -> None:
    said = "".join(f"line {number}\x1b[1m\n\n" for number in range(5)) + "x" * 1000
    crash = Failure("compile", "driver/crashed", signal="SIGSEGV", stderr_tail=said, reproduce=("a", "b c"))
    found = lines(failed_alone(crash), Options(verbosity=1))
    assert found[2:6] == ["  crashed  SIGSEGV in compile", "  again: a 'b c'", "  │ line 0\\x1b[1m", "  │"]
    last = ["  │ line 3\\x1b[1m", "  │ line 4\\x1b[1m", "  │ " + "x" * 199 + "…"]
    assert lines(failed_alone(crash))[2:] == [*found[2:4], *last]


def failed_alone(failure: Failure) -> list[Event]:
    return answered([], more=failed("dead", "crashed", failure=failure))


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure("compile", "driver/crashed", signal="SIGABRT"), "SIGABRT in compile"),
        (Failure("query", "driver/timeout", limit_s=0.5), "over 0.5 s in query"),
        (Failure("compile", "driver/error", vk_result="VK_ERROR_UNKNOWN"), "VK_ERROR_UNKNOWN in compile"),
        (Failure("start", "driver/exited", exit_code=1, stderr_tail="a\nb\n"), "exit status 1 in start"),
        (Failure("start", "driver/exited", exit_code=0), "exit status 0 in start"),
        (Failure("query", "driver/garbage"), "driver/garbage in query"),
        (Failure("start", "target/lost", stderr_tail="no device"), "the target was lost: no device"),
    ],
)
def test_what_befell_the_child(failure: Failure, words: str) -> None:
    assert f"  crashed  {words}" in lines(failed_alone(failure))


def test_nothing_is_ok_but_silent() -> None:
    assert "  ok  no executables" in lines(answered([(BLUR, [])]))
    assert "  (no statistics)" in lines(answered([(BLUR, [executable("compute")])]))


def test_an_upper_bound_is_called_so() -> None:
    lone = replace(radv("fragment", 8), bound="upper")
    found = lines(answered([(WATER, [lone])]))
    assert any("upper bound" in line for line in found)


def test_a_long_note_goes_on_below_itself() -> None:
    memory = executable("compute", statistic("Local Memory Size", 0x10_0000_0000), name="CS", subgroup_size=32)
    events = answered([(BLUR, [memory])], target("host:0", NVIDIA, "NVIDIA H200"))
    assert lines(events)[0].endswith("host:0 · NVIDIA H200, NVIDIA, 580.159")
    assert lines(events)[3].split("   ") == [
        "  Local Memory Size  68719476736  bytes/thread", "the driver writes the low 32 bits alone: they say 0",
    ]  # fmt: skip
    narrow = lines(events, Options(width=80))
    assert all(width(line) <= 80 for line in narrow)
    assert " ".join(" ".join(narrow[4:]).split()).endswith("they say 0")


# ── Rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_executables_are_rows() -> None:
    assert lines(MANY, Options(width=100)) == [
        "radv:navi21 · RADV, Mesa 22.3.6, null device",
        "",
        "  pipeline  executable  wave  VGPRs  SpillVGPRs  CodeSize",
        "  blur      compute       64     24          12       616",
        "  p1        vertex        64      8           0       616",
        "            fragment      64      8           0        10",
        "  p2        vertex        64     16           0       616",
        "            fragment      64      8           0       100",
        "  p3        vertex        64     24           0       616",
        "            fragment      64      8           0      1000",
        "  rays      unsupported  RayTracingKHR; try another",
        "  cut       invalid      ends inside OpDecorate, word 37 (byte 148)",
        "  dead      crashed      SIGSEGV in compile; last words: oops",
        "  slow      timeout      over 60 s in query",
    ]
    assert remarks(MANY, Options(width=100)) == [
        "most VGPRs  blur compute 24 · p3 vertex 24 · p2 vertex 16",
        "equal everywhere: MaxWaves 32",
        "3 more statistics: --stat '*' or -f csv",
    ]


def test_off_a_terminal_nothing_is_left_out_and_every_line_is_whole() -> None:
    found = lines(MANY)
    assert found[2] == "  pipeline  executable  wave  VGPRs  SpillVGPRs  CodeSize  MaxWaves"
    assert found[5] == "  p1        fragment      64      8           0        10        32"
    assert remarks(MANY) == [
        "most VGPRs  blur compute 24 · p3 vertex 24 · p2 vertex 16",
        "3 more statistics: --stat '*' or -f csv",
    ]


@pytest.mark.parametrize("columns", [30, 45, 50, 60, 80, 100, 200])
def test_no_number_is_ever_cut(columns: int) -> None:
    options = Options(width=columns, selection=Selection(statistics=("*",)))
    found = lines(MANY, options)
    head = next(line for line in found if line.startswith("  pipeline")).split()[3:]
    named = " ".join(remarks(MANY, options))
    labels = ["DriverHash", "VGPRs", "SpillVGPRs", "CodeSize", "MaxWaves", "Hash", "Copies"]
    assert [label for label in labels if label in head] == head
    assert all(label in head or label in named for label in labels)
    whole = lines(MANY, Options(selection=Selection(statistics=("*",))))
    for narrow, wide in zip(found[3:10], whole[3:10], strict=True):
        assert narrow.split()[-len(head) :] == [wide.split()[3:][labels.index(label)] for label in head] or not head
    assert columns < 40 or all(width(line) <= columns for line in found)


def test_what_judges_has_the_first_claim_to_room() -> None:
    found = lines(MANY, Options(width=58, selection=Selection(statistics=("*",))))
    assert found[2].split()[3:] == ["VGPRs", "SpillVGPRs", "CodeSize"]
    assert remarks(MANY, Options(width=58, selection=Selection(statistics=("*",))))[1] == (
        "no room for: MaxWaves · Copies · DriverHash · Hash  (-f csv has all)"
    )


def test_an_unknown_statistic_is_shown() -> None:
    some = [executable("compute", statistic("VGPRs", i), statistic("Brand new", 7 * i)) for i in range(6)]
    events = answered([(pipeline(f"p{i}"), [each]) for i, each in enumerate(some)])
    assert "Brand new" in lines(events, Options(width=100))[2]


def test_missing_is_not_zero() -> None:
    some = [executable("compute", statistic("VGPRs", 0)), *(executable("compute", statistic("LDS size", 0)),) * 4]
    events = answered([(pipeline(f"p{i}"), [each]) for i, each in enumerate(some)])
    assert [line.split()[3:] for line in lines(events)[3:5]] == [["·", "0"], ["0", "·"]]


def test_executables_that_share_a_stage_go_by_their_names() -> None:
    some = [
        executable("vertex", statistic("VGPRs", 8), name="VS"),
        executable("vertex", statistic("VGPRs", 4), name="Binning VS"),
        executable("fragment", statistic("VGPRs", 4), name="FS"),
        executable("none", statistic("VGPRs", 4), name="", subgroup_size=0),
    ]
    found = lines(answered([(WATER, some), (BLUR, [radv("compute", 8)])]))
    assert [line[12:30].strip() for line in found[3:8]] == [
        "VS             64", "Binning VS     64", "fragment       64", "(unnamed 3)     ·", "compute        64",
    ]  # fmt: skip


def test_odd_numbers_are_flagged_below() -> None:
    some = [
        executable("compute", statistic("Local Memory Size", 0x10_0000_0000 + (i > 2)), statistic("Stack Size", i))
        for i in range(5)
    ]
    events = answered([(pipeline(f"p{i}"), [each]) for i, each in enumerate(some)], target("host:0", NVIDIA))
    assert remarks(events)[:2] == [
        "Local 68719476736: the driver writes the low 32 bits alone: they say 0",
        "Local 68719476737: the driver writes the low 32 bits alone: they say 1",
    ]


@pytest.mark.parametrize("view", ["stats", "list"])
@pytest.mark.parametrize("count", [1, 6])
def test_a_subgroup_size_that_no_gpu_has_is_shown_and_marked(view: str, count: int) -> None:
    events = answered(
        [(pipeline(f"p{i}"), [executable("compute", statistic("VGPRs", i), subgroup_size=48)]) for i in range(count)]
    )
    assert any(" 48?" in line for line in lines(events, Options(view=view)))
    assert "64?" not in "".join(lines(answered([(BLUR, [radv("compute", 8)])]), Options(view=view)))


@pytest.mark.parametrize("view", ["stats", "list"])
def test_off_a_terminal_a_long_name_is_whole_and_pushes_its_own_line_alone(view: str) -> None:
    long = "x" * 300
    some = [(pipeline(f"p{i}"), [radv("compute", i, size=600 + i)]) for i in range(5)]
    plain = lines(answered(some), Options(view=view))
    found = lines(answered([*some, (pipeline(long), [radv("compute", 9)])]), Options(view=view))
    assert found[: len(plain)] == plain
    assert long in found[len(plain)]


def test_a_long_name_of_an_executable_or_a_statistic_is_whole_and_alone_too() -> None:
    long = "x" * 300
    some = [(pipeline(f"p{i}"), [executable("none", statistic("VGPRs", i), name=f"e{i}")]) for i in range(5)]
    odd = executable("none", statistic("VGPRs", 9), statistic(long, 7), name=long)
    found = lines(answered([*some, (pipeline("odd"), [odd])]))
    assert all(len(line) < 60 for line in found[3:8])
    assert long in found[2] and long in found[8]
    (block, *rest) = [line for line in lines(answered([(BLUR, [odd])])) if line.startswith("  VGPRs")]
    assert not rest and len(block) < 160


def test_names_that_differ_look_different() -> None:
    names = ("a\nb", "a\\nb", " ", "", "(unnamed)")
    some = [(pipeline(f"p{i}"), [executable("none", statistic("VGPRs", i), name=name)]) for i, name in enumerate(names)]
    shown = [line[12:32].split("  ")[0] for line in lines(answered(some))[3:8]]
    assert shown == ["a\\nb", "a\\\\nb", '" "', "(unnamed 0)", '"(unnamed)"']


LACKING = Diagnostic("error", "vulkan/statistics", "executable 0 (CS): no statistics: vkGet… returned VK_ERROR_UNKNOWN")


def with_remark(events: Sequence[Event], remark: Diagnostic) -> list[Event]:
    """The same answers, each with this remark."""
    return [
        replace(each, result=replace(each.result, diagnostics=(remark,))) if isinstance(each, ResultEvent) else each
        for each in events
    ]


@pytest.mark.parametrize("view", ["stats", "list", "ir"])
@pytest.mark.parametrize("count", [1, 6])
def test_an_answer_that_lacks_something_says_so_in_every_table(view: str, count: int) -> None:
    events = with_remark(answered([(pipeline(f"p{i}"), [radv("compute", i)]) for i in range(count)]), LACKING)
    found = lines(events, Options(view=view))
    assert sum("error  executable 0 (CS): no statistics" in line for line in found) == count
    if view != "ir":
        assert any(line.split()[:2] == ["VGPRs", "0"] or line.split()[0] == "p0" for line in found if line.strip())


@pytest.mark.parametrize("view", ["stats", "list", "ir"])
def test_an_answer_without_executables_says_what_became_of_them(view: str) -> None:
    lost = replace(LACKING, message="the driver counts 1 executable and tells of none")
    events: list[Event] = [*answered([])]
    events[2:2] = [PipelineEvent(BLUR), ResultEvent(Result("blur", "radv:navi21", "ok", diagnostics=(lost,)))]
    assert "error  the driver counts 1 executable and tells of none" in "\n".join(lines(events, Options(view=view)))
    events[3] = ResultEvent(Result("blur", "radv:navi21", "ok"))
    assert "ok  no executables" in "\n".join(lines(events, Options(view=view)))


def test_rows_that_were_pulled_apart_complain_once() -> None:
    some = [(pipeline(f"p{i}", "graphics"), [radv("vertex", i), radv("fragment", 9 - i)]) for i in range(4)]
    found = lines(with_remark(answered(some), LACKING), Options(selection=Selection(sort="VGPRs")))
    assert sum("error" in line for line in found) == 4


def test_upper_bounds_are_marked() -> None:
    some = [(pipeline(f"p{i}", "graphics"), [replace(radv("fragment", i), bound="upper")]) for i in range(5)]
    assert lines(answered(some))[3].split()[:3] == ["p0", "fragment", "≤"]
    assert "≤ an upper bound: compiled without its partner stages" in remarks(answered(some))


def test_sorted_rows_name_their_pipeline_again() -> None:
    found = lines(MANY, Options(width=100, selection=Selection(sort="-VGPRs", top=4)))
    assert [line.split()[0] for line in found[3:7]] == ["p1", "fragment", "p2", "p3"]


def test_targets_have_a_table_each() -> None:
    events = answered([(pipeline(f"p{i}"), [radv("compute", i)]) for i in range(3)], target(), target("radv:navi22"))
    found = lines(events)
    assert [line for line in found if "·" in line] == [
        "radv:navi21 · RADV, Mesa 22.3.6, null device",
        "radv:navi22 · RADV, Mesa 22.3.6, null device",
    ]
    assert remarks(events) == [
        "radv:navi21: 3 more statistics: --stat '*' or -f csv",
        "radv:navi22: 3 more statistics: --stat '*' or -f csv",
    ]


def test_a_file_that_makes_no_pipeline_is_a_row_of_the_first_table() -> None:
    broken = Result("x.frag", None, "invalid", diagnostics=(Diagnostic("error", "spirv/empty", "empty file"),))
    more: list[Event] = [PipelineEvent(pipeline("x.frag", None)), ResultEvent(broken)]
    events = answered([(pipeline(f"p{i}"), [radv("compute", i)]) for i in range(5)], more=more)
    assert lines(events)[-1] == "  x.frag    invalid  empty file"
    assert lines(answered([], more=more))[-1] == "  invalid  empty file"


def test_descriptions_are_a_legend() -> None:
    found = lines(MANY, Options(width=100, verbosity=1))
    assert "  VGPRs       VGPRs: Number of VGPR registers allocated per subgroup (registers)" in found


# ── Hostile text ──────────────────────────────────────────────────────────────────────────────────────────────────

EVIL = "e\x1b[2J\n[bold]名\u202e"


@pytest.mark.parametrize("view", ["stats", "list", "ir"])
@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("columns", [None, 60, 100])
def test_hostile_text_stays_on_its_line(view: str, count: int, columns: int | None) -> None:
    parts = (RepresentationAnswer(EVIL, EVIL, True, EVIL.encode("utf-8") + b"\xff\x00"),)
    evil = ExecutableAnswer(EVIL, EVIL, 0, 64, (statistic(EVIL, 5, description=EVIL),), parts)
    device = Device(EVIL, 0, 0, EVIL, EVIL, EVIL)
    where = Target(EVIL, "vulkan", Driver(0, EVIL, EVIL, EVIL), device, "host")
    events = answered(
        [(pipeline(f"{EVIL}{i}"), [evil]) for i in range(count)],
        where,
        more=failed(EVIL, "crashed", Diagnostic("error", EVIL, EVIL, EVIL)),
    )
    text = written("table", events, Options(view=view, width=columns, verbosity=1)).decode("utf-8")
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "[bold]" in text


def test_a_long_name_is_shortened_on_a_terminal_alone() -> None:
    long = "folder/" * 30 + "name"
    events = answered([(pipeline(long), [radv("compute", i)]) for i in range(5)])
    assert long in lines(events)[3]
    assert "…" in lines(events, Options(width=100))[3]
    assert lines(events, Options(width=100))[3].split()[0].endswith("/name")


def test_wide_characters_keep_columns_straight() -> None:
    events = answered([(pipeline(name), [radv("compute", 8)]) for name in ("a", "名前", "é", "b", "c")])
    found = lines(events)[2:8]
    assert len({width(line) for line in found}) == 1


def test_colour_changes_nothing_but_colour() -> None:
    for options in (Options(width=100), Options(width=100, view="list"), Options(width=100, verbosity=1)):
        plain = written("table", MANY, options).decode()
        painted = written("table", MANY, replace(options, colour=True)).decode()
        assert painted != plain
        assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert "\x1b[31m        12\x1b[0m" in written("table", MANY, Options(width=100, colour=True)).decode()


# ── List ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_list_counts_what_each_executable_has() -> None:
    parts = (RepresentationAnswer("NIR", "", True, b"x"),) * 3
    blur = replace(radv("compute", 24), representations=parts)
    events = answered(
        [(BLUR, [blur]), (WATER, [radv("vertex", 8), radv("fragment", 8)])],
        more=failed("dead", "crashed", failure=Failure("compile", "driver/crashed", signal="SIGSEGV")),
    )
    assert lines(events, Options(view="list", width=100)) == [
        "radv:navi21 · RADV, Mesa 22.3.6, null device",
        "",
        "  pipeline  #  executable       stages    wave  stats  ir",
        "  blur      0  Compute Shader   compute     64      7   3",
        "  water     0  Vertex Shader    vertex      64      7   0",
        "            1  Fragment Shader  fragment    64      7   0",
        "  dead      crashed  SIGSEGV in compile",
    ]
    assert lines(events, Options(view="list"))[5].startswith("  water     1  Fragment")


# ── Code ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_code_stands_under_headings() -> None:
    parts = (
        RepresentationAnswer("Assembly", "", True, b"BB0:\n\ts_mov_b64 s[4:5], exec ; be84047e\n"),
        RepresentationAnswer("ELF", "", False, b"\x7fELF"),
    )
    events = answered([(BLUR, [replace(radv("compute", 24), representations=parts)])])
    options = Options(view="ir")
    assert lines(events, options) == [
        "── blur · 0 Compute Shader · Assembly · radv:navi21 ──",
        "BB0:",
        "\ts_mov_b64 s[4:5], exec ; be84047e",
        "",
        "── blur · 0 Compute Shader · ELF · radv:navi21 ──",
        "binary, 4 bytes: --out DIR writes it",
    ]
    assert width(lines(events, replace(options, width=80))[0]) == 80
    painted = written("table", events, replace(options, colour=True)).decode()
    assert "\x1b[36mBB0:\x1b[0m" in painted
    assert "\x1b[2m; be84047e\x1b[0m" in painted


def test_code_that_could_not_be_had_says_why() -> None:
    found = lines(failed_alone(Failure("compile", "driver/crashed", signal="SIGSEGV")), Options(view="ir"))
    assert found == ["── dead · radv:navi21 ──", "crashed  SIGSEGV in compile"]


# ── Side by side ──────────────────────────────────────────────────────────────────────────────────────────────────


def across(*stages: str) -> list[Event]:
    """One pipeline on three drivers, each with its own statistics, and on one that crashed."""
    turnip = Driver(18, "turnip Mesa driver", "26.2.6", "Mesa 26.2.6")
    targets = [
        (target(), ["VGPRs", "Spilled SGPRs", "Spilled VGPRs", "Subgroups per SIMD"]),
        (target("turnip:a740", turnip, "Turnip Adreno (TM) 740"), ["Registers used", "STP Count", "Code size"]),
        (target("host:0", NVIDIA, "NVIDIA H200"), ["Register Count", "Local Memory Size", "Shared Memory Size"]),
    ]
    events = answered([])
    end = events.pop()
    events.append(PipelineEvent(BLUR))
    for where, names in targets:
        annotator = Annotator(where.driver, where.device)
        answers = [
            executable(stage, *(statistic(name, 2**36 if "Local" in name else 7) for name in names)) for stage in stages
        ]
        found = Result("blur", where.id, "ok", executables=annotator.executables(answers))
        events += [TargetEvent(grown(where, annotator)), ResultEvent(found)]
    lost = Result("blur", "mock", "crashed", failure=Failure("compile", "driver/crashed", signal="SIGSEGV"))
    return [*events, TargetEvent(target("mock", UNKNOWN)), ResultEvent(lost), end]


def test_a_gpu_that_is_stood_in_for_is_called_as_people_call_it() -> None:
    """The device of RADV's null device has no name of its own, and NVK's all have one."""
    events = [
        replace(event, target=replace(event.target, gpu="RX 6800/6900 XT"))
        if isinstance(event, TargetEvent) and event.target.id == "radv:navi21"
        else event
        for event in across("compute")
    ]
    heads = lines(events, Options(width=100))[2:5]
    assert [line.split("   ") for line in map(str.strip, heads)][1][0] == "RX 6800/6900 XT"


def test_a_second_executable_of_the_same_stages_has_a_section_of_its_own() -> None:
    """Turnip's binning shader, which it makes of the vertex stage beside the other."""
    events = []
    for event in across("vertex", "fragment"):
        if isinstance(event, ResultEvent) and event.result.target == "turnip:a740":
            first, *others = event.result.executables
            binning = replace(first, index=2, name="Binning VS")
            event = replace(event, result=replace(event.result, executables=(first, *others, binning)))
        events.append(event)
    said = lines(events, Options(width=100))
    assert [line for line in said if line.startswith("  ") and line.strip() in SECTIONS] == [
        f"  {name}" for name in SECTIONS
    ]
    binned = said[said.index("  vertex, Binning VS") + 2]
    assert binned.split() == ["registers", "·", "7", "vec4", "·"]


SECTIONS = ["vertex", "fragment", "vertex, Binning VS"]


def test_one_pipeline_on_several_targets_is_set_side_by_side() -> None:
    assert lines(across("compute"), Options(width=100)) == [
        "blur · compute · workgroup 16×16×1",
        "",
        "                radv:navi21   turnip:a740                 host:0",
        "                               Adreno 740                   H200",
        "                Mesa 22.3.6   Mesa 26.2.6         NVIDIA 580.159",
        "  subgroup               64            64                     64",
        "  registers         7 VGPRs        7 vec4                 7 Regs",
        "  spills              7 + 7             7                      ·",
        "  scratch                 ·             ·   68719476736 B/thread",
        "  shared                  ·             ·                    7 B",
        "  code size               ·      7 dwords                      ·",
        "  occupancy ↑   7 subgroups             ·                      ·",
        "",
        "  mock  crashed  SIGSEGV in compile",
    ]
    assert remarks(across("compute"), Options(width=100)) == [
        "host:0: Local 68719476736: the driver writes the low 32 bits alone: they say 0",
        "spills: all stores to private memory on turnip:a740",
        "· not reported by that driver.  Units differ: compare along time, not across.  Every name: --raw",
    ]


def test_targets_without_room_are_named() -> None:
    options = Options(width=50)
    assert "host:0" not in "\n".join(lines(across("compute"), options))
    assert "no room for: host:0" in remarks(across("compute"), options)


def test_gpus_of_one_driver_are_compared_by_the_same_quantity() -> None:
    """RADV gives out all SGPRs on GFX10 and newer, and there the need before scheduling judges: not the same thing."""
    events = answered([])
    end = events.pop()
    events.append(PipelineEvent(BLUR))
    said = ("SGPRs", 128), ("VGPRs", 24), ("Pre-Sched SGPRs", 20)
    for chip in ("polaris10", "navi10", "navi21"):
        where = target(f"radv:{chip}", device=f"Null hardware (RADV {chip.upper()})")
        annotator = Annotator(where.driver, where.device)
        answers = [executable("compute", *(statistic(*each) for each in said))]
        found = Result("blur", where.id, "ok", executables=annotator.executables(answers))
        events += [TargetEvent(grown(where, annotator)), ResultEvent(found)]
    events.append(end)
    assert lines(events) == [
        "blur · compute · workgroup 16×16×1",
        "",
        "                               radv:polaris10   radv:navi10   radv:navi21",
        "                                  Mesa 22.3.6   Mesa 22.3.6   Mesa 22.3.6",
        "  subgroup                                 64            64            64",
        "  registers                          24 VGPRs      24 VGPRs      24 VGPRs",
        "  registers scalar, SGPRs           128 SGPRs     128 SGPRs     128 SGPRs",
        "  registers scalar, PreSGPRs      20 PreSGPRs   20 PreSGPRs   20 PreSGPRs",
    ]
    assert remarks(events) == ["Every name: --raw"]  # nothing is missing, and no unit differs


def test_stages_are_sections() -> None:
    found = lines(across("vertex", "fragment"))
    assert [line for line in found if line in ("  vertex", "  fragment")] == ["  vertex", "  fragment"]
    assert sum(line.startswith("  registers") for line in found) == 2


def test_raw_keeps_the_drivers_names() -> None:
    found = lines(across("compute"), Options(raw=True))
    assert any(line.startswith("  STP Count") for line in found)
    assert not any(line.startswith("  spills") for line in found)


# ── Variants ──────────────────────────────────────────────────────────────────────────────────────────────────────


def variants(*choices: dict[str, str], stages: Sequence[str] = ("compute",)) -> list[Event]:
    """One pipeline with each of these values; the first constant's is the register count."""
    return answered(
        [
            (
                replace(pipeline("blur", workgroup=(8 * i, 1, 1)), id=f"blur[{i}]", variant=values),
                [radv(stage, int(next(iter(values.values()))), spilled=12 * (i == 2)) for stage in stages],
            )
            for i, values in enumerate(choices, 1)
        ]
    )


def test_variants_are_set_side_by_side() -> None:
    assert lines(variants({"SIZE": "8", "K": "3"}, {"SIZE": "64", "K": "3"}), Options(width=100)) == [
        "blur · compute · K=3                                    radv:navi21 · RADV, Mesa 22.3.6, null device",
        "",
        "                                     SIZE=8              SIZE=64",
        "  workgroup                           8×1×1               16×1×1",
        "  subgroup                               64                   64",
        "  Driver pipeline hash   0xb8c1f0e2775aa04c   0xb8c1f0e2775aa04c",
        "  VGPRs                                   8                   64   registers",
        "  Spilled VGPRs                           0                   12   registers",
        "  Code size                             616                  616   bytes",
        "  Subgroups per SIMD                     32                   16   subgroups, more is better",
        "  Hash                           0x2af4c0be           0x2af4c0be",
        "  Copies                                  3                    3   instructions",
    ]


def test_two_constants_that_vary_are_two_lines_above() -> None:
    found = lines(variants({"1": "8", "2": "1"}, {"1": "16", "2": "1"}, {"1": "8", "2": "5"}, {"1": "16", "2": "5"}))
    assert found[2].split() == ["1=8", "1=16", "1=8", "1=16"]
    assert found[3].split() == ["2=1", "2=1", "2=5", "2=5"]


def test_variants_without_room_are_named() -> None:
    events = variants(*({"SIZE": str(8 * i)} for i in range(1, 9)))
    found = lines(events, Options(width=100))
    assert all(width(line) <= 100 for line in found)
    assert found[2].split() == ["SIZE=8", "SIZE=16"]
    assert remarks(events, Options(width=100)) == [
        "no room for: SIZE=24 · SIZE=32 · SIZE=40 · SIZE=48 · SIZE=56 · SIZE=64"
    ]
    assert lines(events)[2].split()[-1] == "SIZE=64"


def test_a_variant_that_failed_stands_below() -> None:
    events = variants({"SIZE": "8"}, {"SIZE": "64"})
    bad = replace(pipeline("blur"), id="blur[3]", variant={"SIZE": "x"})
    said = Diagnostic("error", "spirv/spec-value", "'x' is no uint32")
    events[-1:-1] = [PipelineEvent(bad), ResultEvent(Result(bad.id, "radv:navi21", "unsupported", diagnostics=(said,)))]
    assert lines(events)[-1] == "  SIZE=x  unsupported  'x' is no uint32"


def test_the_stages_of_variants_are_sections() -> None:
    found = lines(variants({"A": "8"}, {"A": "16"}, stages=("vertex", "fragment")))
    assert [line for line in found if line in ("  vertex", "  fragment")] == ["  vertex", "  fragment"]


def test_variants_of_several_pipelines_are_rows_that_say_which() -> None:
    events = variants({"A": "8"}, {"A": "16"})
    end = events.pop()
    other = answered([(pipeline(f"p{i}"), [radv("compute", 8)]) for i in range(3)])[2:-1]
    found = lines([*events, *other, end])
    assert [line.split()[:2] for line in found[3:5]] == [["blur", "A=8"], ["blur", "A=16"]]


def test_variants_stand_for_themselves_when_that_is_asked() -> None:
    found = lines(variants({"A": "8"}, {"A": "16"}), Options(raw=True))
    assert [line.split("  ")[0] for line in found if line.startswith("blur")] == [
        "blur · compute · workgroup 8×1×1 · A=8",
        "blur · compute · workgroup 16×1×1 · A=16",
    ]


# ── Stages that were compiled alone ───────────────────────────────────────────────────────────────────────────────

LONE = [replace(radv("vertex", 24), synthetic=True, bound="upper"), replace(radv("fragment", 8), bound="upper")]
BOUND = "≤ an upper bound: compiled without its partner stages"


@pytest.mark.parametrize("view", ["stats", "list"])
@pytest.mark.parametrize("count", [1, 5])
def test_what_was_generated_is_shown_when_that_is_asked_and_called_so(view: str, count: int) -> None:
    events = answered([(pipeline(f"p{i}", "graphics"), LONE) for i in range(count)])
    hidden = lines(events, Options(view=view))
    assert not any("vertex" in line.lower() for line in hidden)
    shown = lines(events, Options(view=view, selection=Selection(synthetic=True)))
    assert sum("generated" in line for line in shown) == count
    assert sum("≤" in line or "upper bound" in line for line in shown) == count


def test_an_upper_bound_is_marked_in_every_view() -> None:
    events = answered([(WATER, LONE)])
    assert any(line.split()[:4] == ["water", "1", "Fragment", "Shader"] for line in lines(events, Options(view="list")))
    assert BOUND in remarks(events, Options(view="list"))
    several = answered([(WATER, LONE)], target(), target("radv:navi22"))
    assert lines(several)[0] == "water · graphics · ≤ an upper bound"
    assert BOUND in remarks(several)
    assert BOUND in remarks(answered([(pipeline(f"p{i}"), LONE) for i in range(5)]))
    assert BOUND not in remarks(MANY)


# ── Terminals of any width ────────────────────────────────────────────────────────────────────────────────────────

SCREENS: dict[str, tuple[list[Event], Options]] = {
    "blocks": (answered([(BLUR, [radv("compute", 24, spilled=12)])]), Options(verbosity=1)),
    "a note": (
        answered([(BLUR, [executable("compute", statistic("Local Memory Size", 1 << 36))])], target("host:0", NVIDIA)),
        Options(),
    ),
    "a failure": (
        answered(
            [],
            more=failed(
                "dead",
                "crashed",
                failure=Failure(
                    "compile",
                    "driver/crashed",
                    signal="SIGSEGV",
                    stderr_tail="shader.c:5: compile: Assertion `it holds' failed, which nobody had thought of before",
                    reproduce=("shaderstat", "stats", "a folder/blur.comp.spv", "-t", "radv:navi21", "--no-validate"),
                ),
            ),
        ),
        Options(),
    ),
    "rows": (MANY, Options(verbosity=1)),
    "all rows": (MANY, Options(selection=Selection(statistics=("*",)))),
    "list": (MANY, Options(view="list")),
    "lone list": (answered([(WATER, LONE)]), Options(view="list", selection=Selection(synthetic=True))),
    "lone": (answered([(WATER, LONE)]), Options()),
    "across": (answered([(WATER, LONE)], target(), target("radv:navi22")), Options()),
    "variants": (variants({"SIZE": "8", "K": "3"}, {"SIZE": "64", "K": "3"}), Options()),
    "code": (MANY, Options(view="ir")),
}


@pytest.mark.parametrize("columns", [40, 50, 60, 70, 80, 90, 99, 120])
@pytest.mark.parametrize("name", SCREENS)
def test_no_line_is_broken_by_the_terminal_nor_any_word_by_us(name: str, columns: int) -> None:
    events, options = SCREENS[name]
    found = lines(events, replace(options, width=columns))
    assert [line for line in found if width(line) > columns] == []
    whole = {word for line in lines(events, options) for word in line.split()}
    words = {word for line in found for word in line.split() if not word.startswith(("…", "─"))}
    assert words - {"\\"} <= whole
