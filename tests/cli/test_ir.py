"""``ir`` without ``--out``: texts under headings."""

from __future__ import annotations

from tests.cli.conftest import Call
from tests.cli.events import Engine, answered, executable, run


def test_texts_stand_under_a_heading_each(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("water", executable(["fragment"], 1, "Fragment Shader"))))
    done = call("ir", "water.frag.spv", "--ir", "assembly")
    heading, text = done.out.splitlines()
    assert heading.startswith("── water · 1 Fragment Shader · Assembly · mock ─")
    assert text == "s_endpgm ; done"
    assert engine.request.representations


def test_a_text_cannot_steer_the_terminal(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x")))
    done = call("ir", "x.spv")
    assert "\x1b" not in done.out
    assert "\\x1b[31mnir" in done.out
    assert "\x1b[" in call("ir", "x.spv", "--color", "always").out


def test_a_glob_that_matches_nothing_names_what_there_is(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x")))
    done = call("ir", "x.spv", "--ir", "isa*")
    assert done.status == 2
    assert "error: --ir isa*: matched nothing" in done.err
    assert "hint: there are Assembly, NIR Shader(s)" in done.err


def test_a_driver_without_any_is_one_line_and_no_success(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x", executable(texts=[])), answered("y", executable(texts=[]))))
    for arguments in ([], ["-q"], ["--out", "out"], ["--out", "out", "--force", "-q"], ["--json"]):
        done = call("ir", "x.spv", *arguments)
        assert done.status == 2
        assert done.err.count("mock: this driver gives no internal representations") == 1


def test_one_driver_of_several_may_have_none(call: Call, engine: Engine) -> None:
    engine.answers(*run(answered("x", executable(texts=[]), on="a"), answered("x", on="b"), targets=("a", "b")))
    done = call("ir", "x.spv", "-t", "a", "-t", "b")
    assert done.status == 0
    assert "a: this driver gives no internal representations" in done.err
