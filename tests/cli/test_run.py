"""The entry point: what is a command, what is a path, and how it ends."""

from __future__ import annotations

import inspect
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from shaderstat.cli import COMMANDS, main
from shaderstat.errors import NoTarget
from shaderstat.model import Diagnostic, Event, Failure, ResultEvent, SpecOption, TargetEvent
from tests.cli.conftest import Call
from tests.cli.events import Engine, answered, executable, note, run, target, unanswered
from tests.conftest import ROOT, Run


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(main)
    return [(name, found) for name in main.list_commands(context) if (found := main.get_command(context, name))]


def test_alone_it_prints_ten_lines(call: Call) -> None:
    done = call()
    assert (done.status, done.err) == (0, "")
    assert 5 <= len(done.out.splitlines()) <= 10
    assert all(len(line) <= 60 for line in done.out.splitlines())  # a narrow terminal breaks none of them
    assert "shaderstat blur.comp.spv" in done.out


def test_the_version_is_the_packages(call: Call) -> None:
    from shaderstat import __version__

    assert call("--version").out == f"shaderstat {__version__}\n"


@pytest.mark.parametrize(("name", "command"), commands(), ids=list(COMMANDS))
def test_every_command_is_listed_with_its_own_first_line(name: str, command: click.Command, call: Call) -> None:
    assert command.help is not None
    assert command.help.splitlines()[0] == COMMANDS[name]
    assert "\b\nExample:" in inspect.cleandoc(command.help)
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    for flag in ("-h", "--help"):
        done = call(name, flag)
        assert (done.status, done.err) == (0, "")
        assert f"Usage: shaderstat {name}" in done.out


def test_a_path_alone_means_stats(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("blur")))
    assert call("blur.spv").out == call("stats", "blur.spv").out
    call("-t", "mock", "--json", "blur.spv")
    assert engine.request.paths == ("blur.spv",)
    assert engine.request.targets == ("mock",)
    assert engine.request.arguments == ("-t", "mock", "--json", "blur.spv")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stast"], "Did you mean 'stats'?"),
        (["stats"], "no input. For instance: shaderstat stats blur.comp.spv"),
        (["-t", "mock", "list", "x.spv"], "the command goes first: shaderstat list"),
        (["stats", "--tagret", "mock", "x"], "--target"),
        (["stats", "x", "-f", "jsno"], "json"),
        (["stats", "x", "--json", "-f", "csv"], "exclude each other"),
        (["stats", "x", "--timeout", "nan"], "positive number of seconds"),
        (["stats", "x", "--timeout", "0"], "positive number of seconds"),
        (["stats", "x", "--env", "RADV_DEBUG"], "NAME=VALUE"),
        (["stats", "x", "--stage", "fragmnt"], "Did you mean 'fragment'?"),
        (["stats", "x", "-j", "0"], "-j"),
        (["ir", "x", "--force"], "--force is for --out"),
        (["ir", "x", "--out", "-"], "--out wants a folder"),
        (["ir", "x", "--out", ""], "--out: an empty value"),
        (["ir", "x", "--ir", ""], "--ir: an empty value"),
        (["stats", "x", "--scenario", ""], "--scenario: an empty value"),
        (["stats", "x", "--driver", ""], "--driver: an empty value"),
        (["stats", "x", "--sort", ""], "--sort: an empty value"),
        (["stats", "x", "-t", "mock", "-t", ""], "--target: an empty value"),
        (["stats", "x", "-o", ""], "--output: an empty value"),
    ],
)
def test_a_slip_of_the_fingers_is_one_line_and_a_way_out(arguments: list[str], says: str, call: Call) -> None:
    done = call(*arguments)
    assert (done.status, done.out) == (2, "")
    error, hint = done.err.splitlines()
    assert error.startswith("error: ")
    assert says in error
    assert hint.startswith("hint: shaderstat")


def test_options_come_from_variables_that_are_the_same_for_every_command(
    call: Call, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers(*run(answered("x")))
    for name, value in {"TIMEOUT": "7", "TARGET": "mock host:0", "ENV": "A=1 B=2", "FORMAT": "csv"}.items():
        monkeypatch.setenv(f"SHADERSTAT_{name}", value)
    for command in ("stats", "list", "ir"):
        done = call(command, "x.spv")
        assert engine.request.timeout_s == 7
        assert engine.request.targets == ("mock", "host:0")
        assert engine.request.environment == {"A": "1", "B": "2"}
        assert done.out.startswith("pipeline,")
    call("stats", "x.spv", "--timeout", "9")
    assert engine.request.timeout_s == 9


@pytest.mark.parametrize(
    ("variable", "value"),
    [("TIMEOUT", "abc"), ("JOBS", "0"), ("FORMAT", "jsno"), ("ENV", "A"), ("STAGE", "fragmnt"), ("BACKEND", "x")],
)
def test_a_bad_variable_is_blamed_by_its_name(
    call: Call, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(f"SHADERSTAT_{variable}", value)
    done = call("stats", "x.spv")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: Invalid value for SHADERSTAT_{variable}: ")
    assert f"--{variable.lower()}" not in done.err


def test_a_variable_that_is_understood_later_is_blamed_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADERSTAT_SPEC", "bad")
    assert call("stats", "x.spv").err.startswith("error: SHADERSTAT_SPEC bad: not of the form")
    assert call("stats", "x.spv", "--spec", "bad").err.startswith("error: --spec bad: not of the form")


@pytest.mark.parametrize(
    ("events", "status"),
    [
        (run(answered("x")), 0),
        (run(answered("x"), unanswered("lib", "skipped", None)), 0),
        (run(answered("x"), unanswered("y", "invalid", None)), 2),
        (run(answered("x"), unanswered("y", "failed")), 2),
        (run(answered("x"), unanswered("y", "crashed")), 2),
        (run(answered("x"), unanswered("y", "timeout")), 2),
        (run(unanswered("x", "unsupported")), 2),
        (run(unanswered("x", "unsupported", None)), 2),
        (run(unanswered("x", "unsupported", "a"), answered("x", on="b"), targets=("a", "b")), 0),
        (run(unanswered("x", "crashed", "a"), answered("x", on="b"), targets=("a", "b")), 2),
        (run(answered("x"))[:-1], 2),
    ],
)
def test_the_status_says_whether_every_answer_can_be_trusted(
    call: Call, engine: Engine, events: list[object], status: int
) -> None:
    engine.events = events  # type: ignore[assignment]
    for format in ("table", "json", "jsonl", "csv", "csv-long"):
        assert call("stats", "x.spv", "-f", format).status == status


def test_an_error_of_ours_is_two_lines(call: Call, engine: Engine) -> None:
    engine.answers(NoTarget("host:0: no device\x1b[31m", hint="apt install mesa-vulkan-drivers"))
    done = call("x.spv")
    assert done.status == 2
    assert done.err == "error: host:0: no device\\x1b[31m\nhint: apt install mesa-vulkan-drivers\n"


def test_a_fault_of_its_own_is_one_line_unless_asked_for(
    call: Call, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers(ZeroDivisionError("division by zero"))
    done = call("x.spv")
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "ZeroDivisionError: division by zero" in done.err
    monkeypatch.setenv("SHADERSTAT_DEBUG", "1")
    assert "Traceback" in call("x.spv").err


def test_interruption_keeps_what_was_answered(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x"), complete=False), KeyboardInterrupt())
    done = call("x.spv", "-o", "json:report.json")
    assert done.status == 130
    assert done.err.endswith("interrupted\n")
    assert '"complete":false' in (tmp_path / "report.json").read_text()
    engine.answers(*run(answered("x"))[:-1], KeyboardInterrupt())
    assert call("x.spv", "-o", "json:other.json").status == 130
    assert not (tmp_path / "other.json").exists()


def test_notes_and_the_summary_are_not_data(call: Call, engine: Engine) -> None:
    engine.answers(*run([note("target mock"), note("target mock"), note("beware", "warning")], answered("x")))
    done = call("x.spv", "--json")
    assert "target mock" not in done.out
    assert done.err.splitlines()[:2] == ["target mock", "warning: beware"]
    assert done.err.splitlines()[-1].startswith("1 pipeline in ")
    assert call("x.spv", "-q").err == ""


def test_problems_are_told_with_file_and_way_out_whatever_the_format(call: Call, engine: Engine) -> None:
    command = ("shaderstat", "stats", "a b.spv")
    crash = Failure("compile", "driver/crashed", signal="SIGSEGV", stderr_tail="x\nboo\x1b[1m\n", reproduce=command)
    engine.answers(*run(unanswered("cut", "invalid", None), unanswered("deadly", "crashed", failure=crash)))
    done = call("x", "-f", "jsonl", "-q")
    assert done.err.splitlines() == [
        "error: cut.spv: cut is bad at byte 148",
        "hint: write it again",
        "error: deadly.spv on mock: crashed: SIGSEGV in compile",
        "last words: boo\\x1b[1m",
        "again: shaderstat stats 'a b.spv'",
    ]


FAILURES = [
    Failure("compile", "driver/crashed", signal="SIGABRT"),
    Failure("query", "driver/timeout", limit_s=0.5),
    Failure("compile", "driver/error", vk_result="VK_ERROR_UNKNOWN"),
    Failure("compile", "driver/exited", exit_code=0),
]


@pytest.mark.parametrize("failure", FAILURES, ids=[failure.code for failure in FAILURES])
def test_a_failure_has_the_same_words_in_the_table_and_beside_it(call: Call, engine: Engine, failure: Failure) -> None:
    engine.answers(*run(unanswered("x", "failed", failure=failure)))
    done = call("x.spv")
    said = done.err.splitlines()[0].removeprefix("error: x.spv on mock: failed: ")
    assert f"failed  {said}" in done.out


def test_what_matches_nothing_is_said_and_no_success(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x")))
    for option, word in {"--stat": "spills*", "--stage": "fragment", "--sort": "waves"}.items():
        done = call("stats", "x.spv", option, word)
        assert done.status == 2
        assert f"error: {option} {word}: matched nothing" in done.err
    assert call("stats", "x.spv", "--stat", "vgprs", "--stage", "comp", "--sort", "code_size").status == 0


@pytest.mark.parametrize("command", ["stats", "list", "ir"])
@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_what_there_is_to_know_of_an_answer_is_said_once(call: Call, engine: Engine, command: str, format: str) -> None:
    def answered_with(name: str, *remarks: Diagnostic) -> list[Event]:
        first, second = answered(name)
        assert isinstance(second, ResultEvent)
        return [first, replace(second, result=replace(second.result, diagnostics=remarks))]

    array = Diagnostic("info", "vulkan/runtime-array", "a run-time array: compiled with 1024 descriptors")
    old = Diagnostic("warning", "x/y", "the driver said \x1b[1m", "install another")
    many = [answered_with(f"p{number}", Diagnostic("info", "x/z", f"remark {number}")) for number in range(10)]
    few = [answered_with(name, array) for name in "abcde"]
    engine.answers(*run(*few, answered_with("f", old), *many))
    found = call(command, "x", "-f", format).err.splitlines()
    assert found[:4] == [
        "note: a, b, c and 2 more: a run-time array: compiled with 1024 descriptors",
        "warning: f: the driver said \\x1b[1m",
        "hint: install another",
        "note: p0: remark 0",
    ]
    assert "note: 2 more remarks: the report has them" in found
    assert call(command, "x", "-f", format, "-q").err == ""


@pytest.mark.parametrize("command", ["stats", "list", "ir"])
def test_entry_points_and_constants_reach_the_engine(call: Call, engine: Engine, command: str) -> None:
    engine.answers(*run(answered("x")))
    call(command, "x.spv", "--entry", "vs_*", "--entry", "frag:main", "--spec", "0=1,2", "--spec", "comp:SIZE=0x10")
    assert engine.request.entries == ("vs_*", "frag:main")
    assert engine.request.spec == (SpecOption(None, "0", ("1", "2")), SpecOption("compute", "SIZE", ("0x10",)))


def test_the_command_for_the_code_names_the_same_pipeline(
    call: Call, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers(*run(answered("x")))
    words = [
        *("x.spv", "-t", "mock", "--backend", "mock", "--env", "A=b c", "--timeout", "7", "--no-validate"),
        *("--pipeline", "x*", "--entry", "comp:main", "--spec", "0=1", "--samples", "4", "--no-optimize"),
        *("--stage", "compute", "--synthetic"),
    ]
    monkeypatch.setenv("SHADERSTAT_SANDBOX", "1")  # holds for the next command as it does for this one
    done = call(*words, "--stat", "VGPRs", "--sort", "VGPRs", "--top", "1", "--color", "never", "-j", "2", "--raw")
    command = shlex.split(done.err.partition("Its code: ")[2])
    assert command[:3] == ["shaderstat", "ir", "x.spv"]
    assert sorted(command[2:]) == sorted(words)
    call(*command[1:])
    request = engine.request
    call(*words)
    assert replace(request, representations=False, arguments=()) == replace(engine.request, arguments=())


def test_no_code_is_offered_where_the_driver_gives_none(call: Call, engine: Engine) -> None:
    events = run(answered("x"))
    engine.answers(*events)
    assert "Its code" in call("x.spv").err
    where = target()
    nvidia = TargetEvent(replace(where, driver=replace(where.driver, id=4)))
    engine.answers(*(nvidia if isinstance(event, TargetEvent) else event for event in events))
    assert "Its code" not in call("x.spv").err


@pytest.mark.parametrize("word", ["0", "=1", "0=", "0=1,,2", "fragment:=1"])
def test_a_constant_without_a_value_is_told_with_an_example(call: Call, engine: Engine, word: str) -> None:
    done = call("x.spv", "--spec", word)
    assert (done.status, done.out) == (2, "")
    assert f"error: --spec {word}: not of the form" in done.err
    assert "hint: for instance --spec 0=4" in done.err


def lacking(name: str, severity: str, message: str) -> list[Event]:
    """An answer with a remark."""
    head, event = answered(name)
    assert isinstance(event, ResultEvent)
    remark = Diagnostic(severity, "vulkan/representations" if severity == "error" else "vulkan/lost", message)
    executables = tuple(replace(each, representations=()) for each in event.result.executables)
    result = replace(event.result, diagnostics=(remark,), executables=executables)
    return [head, ResultEvent(result, ((),) * len(executables))]


@pytest.mark.parametrize("command", ["stats", "list", "ir"])
def test_a_query_that_failed_is_told_and_no_success(call: Call, engine: Engine, command: str) -> None:
    engine.answers(*run(lacking("x", "error", "no internal representations: VK_ERROR_UNKNOWN"), answered("y")))
    for more in ((), ("-q",), ("--json",)):
        done = call(command, "x.spv", *more)
        assert done.status == 2
        assert "error: x: no internal representations: VK_ERROR_UNKNOWN" in done.err.splitlines()


def test_a_failed_query_is_not_taken_for_a_driver_without_code(call: Call, engine: Engine) -> None:
    engine.answers(*run(lacking("x", "error", "no internal representations: VK_ERROR_UNKNOWN")))
    done = call("ir", "x.spv")
    assert done.status == 2
    assert "this driver gives no internal representations" not in done.err
    engine.answers(*run(lacking("x", "warning", "quiet")))
    assert "this driver gives no internal representations" in call("ir", "x.spv").err


def test_a_list_that_is_cut_is_a_warning(call: Call, engine: Engine) -> None:
    engine.answers(*run(lacking("x", "warning", "the driver counts 3 statistics and tells of 2")))
    done = call("stats", "x.spv")
    assert done.status == 0
    assert "warning: x: the driver counts 3 statistics and tells of 2" in done.err.splitlines()
    assert call("stats", "x.spv", "-q").err == ""


def test_errors_are_not_crowded_out_by_warnings(call: Call, engine: Engine) -> None:
    some = [lacking(f"x{n}", "warning", f"oddity {n}") for n in range(50)]
    engine.answers(*run(*some, lacking("last", "error", "no statistics")))
    done = call("stats", "x.spv", "-q")
    assert (done.status, done.err) == (2, "error: last: no statistics\n")


def test_an_error_of_the_run_is_no_success(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x"), [note("--spec 7: no module has this constant", "error")]))
    done = call("x.spv", "-q")
    assert done.status == 2
    assert done.err == "error: --spec 7: no module has this constant\n"


def test_what_looks_like_a_pipeline_and_is_none_is_said_once(call: Call, engine: Engine) -> None:
    def halves(number: int) -> list[Event]:
        said = Diagnostic("warning", "pipeline/interface-mismatch", f"not paired: {number}.frag reads location 2")
        return [
            replace(event, result=replace(event.result, diagnostics=(said,)))
            if isinstance(event, ResultEvent)
            else event
            for name in ("vert", "frag")
            for event in answered(f"a/{number}.{name}")
        ]

    engine.answers(*run(halves(0), halves(1)))
    done = call("a", "-f", "csv")
    assert done.status == 0
    assert done.err.splitlines()[:-1] == [f"warning: a: not paired: {n}.frag reads location 2" for n in (0, 1)]
    assert call("a", "-q").err == ""
    engine.answers(*run(*map(halves, range(13))))
    assert "warning: 3 more look like pipelines and are none: the report has them" in call("a").err.splitlines()


@pytest.mark.parametrize("command", ["stats", "list", "ir"])
def test_generated_stages_are_shown_and_counted_when_that_is_asked(call: Call, engine: Engine, command: str) -> None:
    made, data = executable(("vertex",), 0, "Made Up")
    engine.answers(*run(answered("x", (replace(made, synthetic=True), data), executable(("fragment",), 1, "Real"))))
    hidden, shown = call(command, "x.spv"), call(command, "x.spv", "--synthetic")
    assert ("Made Up" in hidden.out, "Real" in hidden.out) == (False, True)
    assert ("Made Up" in shown.out, "Real" in shown.out) == (True, True)
    engine.answers(*engine.events[:-1], *answered("y"), engine.events[-1])
    assert "2 ok · 2 executables" in call(command, "x.spv").err
    assert "2 ok · 3 executables" in call(command, "x.spv", "--synthetic").err


def test_a_reader_that_leaves_ends_it_quietly(shaderstat: Run, samples: Path) -> None:
    code = (
        "import sys; from shaderstat.cli import run; from tests.cli import events\n"
        "from shaderstat import engine\n"
        "many = events.run(*(events.answered(f'p{n}') for n in range(20000)))\n"
        "engine.run = lambda request, watch: (event for event in many)\n"
        "sys.exit(run(['x.spv', '-f', 'csv']))"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )  # fmt: skip
    assert command.stdout is not None and command.stderr is not None
    command.stdout.readline()
    command.stdout.close()
    said = command.stderr.read().decode()
    command.stderr.close()
    assert command.wait(60) == 128 + signal.SIGPIPE
    assert said == ""


def test_a_folder_that_is_gone_is_named(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = call("stats", "x.spv", "-t", "mock")
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[0] == "error: the folder that this runs in is gone"
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_an_error(shaderstat: Run) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "shaderstat"], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output can't be written: No space left on device\n"
