"""Hostile text can't steer a terminal, and columns line up whatever it holds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.reporters._cells import text as cell_text
from shaderstat.reporters.text import (
    Pen,
    escaped,
    escaped_json,
    left,
    named,
    printable,
    printable_lines,
    right,
    shell_words,
    shorten,
    span,
    width,
    wrap,
)

ANY = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]text[/red] %s {x}", "plain [red]text[/red] %s {x}"),
        ("名前 ä é", "名前 ä é"),
        ("C:\\shaders\\x.spv", "C:\\shaders\\x.spv"),
        ("a\nb\r\tc\0", "a\\nb\\r\\tc\\x00"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("\x9b31m\x85\x7f", "\\u009b31m\\u0085\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u2066b\u2069\u200b\ufeff\u2028", "a\\u2066b\\u2069\\u200b\\ufeff\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\ud800"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY)
def test_what_is_printable_has_no_controls_and_can_be_encoded(text: str) -> None:
    shown = printable(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    shown.encode("utf-8")
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("C:\\shaders\\blur.spv", "C:\\shaders\\blur.spv"),
        ("a\nb", "a\\nb"),
        ("a\\nb", "a\\\\nb"),
        ("w\udcff.vert", "w\\xff.vert"),
        ("w\\xff.vert", "w\\\\xff.vert"),
        ("\x9b", "\\u009b"),
        ("\udc9b", "\\x9b"),
        ("C:\\dir\n", "C:\\\\dir\\n"),
    ],
)
def test_escapes_are_told_from_what_looks_like_them(text: str, shown: str) -> None:
    assert escaped(text) == shown


# Short texts of what matters, so that collisions would be found.
TRICKY = st.text(st.sampled_from(list("\\nxu0f'\"= a\n\x9b\udc9b\udcff\u3164")), max_size=6)


@given(st.lists(st.one_of(TRICKY, ANY), min_size=2, max_size=8, unique=True))
def test_no_two_texts_look_alike(texts: list[str]) -> None:
    for shown in (escaped, named, cell_text):
        assert len({shown(text) for text in texts}) == len(texts)
        assert all(shown(text).isprintable() for text in texts)


@pytest.mark.parametrize("name", [" ", "x ", " x", "\u0301", "\u3164", "a\u2800", "(unnamed)", '"x"', "\u00a0"])
def test_a_name_that_could_not_be_seen_is_quoted_or_escaped(name: str) -> None:
    shown = named(name)
    assert (shown[0], shown[-1]) == ('"', '"') or "\\" in shown
    assert named("") == "" and named("a b") == "a b"


def test_a_name_out_of_proportion_does_not_set_the_width() -> None:
    assert span(["ab", "名前", "x" * 300]) == 4
    assert span(["x" * 300]) == 100
    assert span([]) == 0


@given(st.dictionaries(ANY, ANY))
def test_json_means_the_same_and_is_printable(value: dict[str, str]) -> None:
    value = {
        key.encode("utf-8", "replace").decode(): each.encode("utf-8", "replace").decode() for key, each in value.items()
    }
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        shown = escaped_json(text)
        assert shown.isprintable()
        assert json.loads(shown) == value


@given(ANY)
def test_printable_lines_keep_lines_and_tabs(text: str) -> None:
    lines = printable_lines(text)
    assert len(lines) == text.replace("\r\n", "\n").count("\n") + 1
    for line in lines:
        assert all(character == "\t" or character.isprintable() for character in line)


def test_columns_count_wide_and_combining_characters() -> None:
    assert width("名前") == 4
    assert width("e\u0301") == 1
    assert left("名", 4) + "|" == "名  |"
    assert right("名", 4) == "  名"


def test_names_are_shortened_from_the_left() -> None:
    assert shorten("terrain/terrain", 8) == "…terrain"
    assert shorten("terrain", 7) == "terrain"
    assert width(shorten("名前名前名前", 6)) <= 6


def test_prose_is_wrapped_on_a_terminal_alone() -> None:
    text = "one two three four five six seven"
    assert wrap(text, None) == [text]
    assert wrap(text, 20) == ["one two three four", "five six seven"]
    assert wrap("", 20) == [""]


def drawn(text: str, encoding: str, *, style: str = "", colour: bool = False) -> bytes:
    stream = io.BytesIO()
    pen = Pen(stream, encoding=encoding, colour=colour)
    pen.line(pen.paint(text, style))
    return stream.getvalue()


def test_a_stream_that_cannot_hold_it_gets_ascii() -> None:
    assert drawn("blur · 16×16×1 ← ──", "ascii") == b"blur - 16x16x1 < --\n"
    assert drawn("名 ·", "ascii") == b"\\u540d -\n"
    assert drawn("é ·", "latin-1") == "é ·\n".encode("latin-1")
    assert drawn("blur · ×", "utf-8") == "blur · ×\n".encode()


def test_colour_is_there_where_it_was_asked_for() -> None:
    assert drawn("12", "utf-8", style="red") == b"12\n"
    assert drawn("12", "utf-8", style="bold red", colour=True) == b"\x1b[1;31m12\x1b[0m\n"
    assert drawn("  ", "utf-8", style="red", colour=True) == b"\n"


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(
    st.lists(NAMES | st.binary(min_size=1).filter(lambda raw: 0 not in raw).map(os.fsdecode), min_size=1, max_size=4)
)
@settings(max_examples=30, deadline=None)
def test_a_command_is_printable_and_a_shell_takes_it_as_it_stands(words: list[str]) -> None:
    line = shell_words(words)
    assert line.isprintable()
    bash = ["bash", "-c", f"printf '%s\\0' {line}"]
    said = subprocess.run([os.fsencode(one) for one in bash], capture_output=True, check=True, timeout=60).stdout
    assert said.split(b"\0")[:-1] == [os.fsencode(word) for word in words]


def test_what_looks_odd_is_said_as_shells_say_it() -> None:
    assert (
        shell_words(["a", "b c", "in\udcff.bin", "it's\n\u202e"]) == r"a 'b c' $'in\xff.bin' $'it\'s\x0a\xe2\x80\xae'"
    )
