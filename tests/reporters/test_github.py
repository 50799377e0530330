"""Workflow commands, parsed as the runner does (``actions/runner``, ActionCommand.cs)."""

from __future__ import annotations

import re

from tests.compare.reports import SPILLED_VGPRS, executable, pipeline, side
from tests.reporters.outcomes import check_text, diff_text, outcome, verdict

Command = tuple[str, dict[str, str], str]


def commands(text: str) -> list[Command]:
    """Command, properties, message of every line."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
        assert match is not None, line
        pairs = (each.split("=", 1) for each in (match[2] or "").split(",") if each)
        found.append((match[1], {name: unescaped(value) for name, value in pairs}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_a_diff() -> None:
    found = commands(diff_text("github", outcome("spills:+0")))
    assert [kind for kind, _, _ in found] == ["error", "error", "notice", "notice"]
    _, properties, message = found[1]
    assert properties["line"] == "1" and properties["title"].startswith("spills: a|`b`")
    assert message == "Spilled VGPRs 0 → 40 (from zero), over spills:+0 on radv:navi21"
    assert found[-1][1] == {"title": "shaderstat"}
    assert "5 pipelines on both sides, 1 new, 1 gone" in found[-1][2]


def test_a_check() -> None:
    found = commands(check_text("github", verdict()))
    assert [kind for kind, _, _ in found] == ["error", "error", "error", "warning", "notice"]
    assert "again: shaderstat stats" in found[0][2]
    assert found[-1][2].startswith("3 rules, 7 checks: 2 failed, 1 warned, 4 passed; 1 pipeline without an answer")


def test_ten_of_a_kind_and_a_summary() -> None:
    from shaderstat.compare import compare
    from shaderstat.compare.outcome import DiffOutcome

    before, after = (
        side(*(pipeline(f"p{n:02}", executable((SPILLED_VGPRS, number * n))) for n in range(1, 31)))
        for number in (0, 1)
    )
    found = commands(diff_text("github", DiffOutcome(compare(before, after))))
    assert [kind for kind, _, _ in found] == ["warning"] * 10 + ["notice"]
    assert "30 warnings (20 of them not annotated)" in found[-1][2]


def test_a_line_can_not_be_broken_out_of() -> None:
    for line in diff_text("github", outcome()).splitlines():
        assert line.startswith(("::warning ", "::error ", "::notice "))
