"""Markdown, as a foreign parser with GitHub's tables sees it."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from shaderstat.compare import compare
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.reporters.text import printable
from tests.compare.reports import SPILLED_VGPRS, executable, pipeline, side
from tests.reporters.outcomes import HOSTILE, check_text, diff_text, outcome, verdict


def tables(text: str) -> list[list[list[str]]]:
    """Every table's rows of cells, as shown."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert not any(token.type.startswith("html") for token in flat(tokens))
    found: list[list[list[str]]] = []
    for token in tokens:
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level > 2:
            found[-1][-1].append("".join(child.content for child in token.children or ()))
    return found


def flat(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *(token.children or ()))]


def test_a_diff() -> None:
    totals, worse, better, changed, statuses, new, gone = tables(diff_text("markdown", outcome("spills:+0")))
    assert totals[0] == ["statistic", "before", "after", "change", "helped", "hurt", "same"]
    assert totals[1:] == [
        ["registers", "48", "48", "", "1", "1", "0"],
        ["spills", "0", "40", "from zero", "0", "1", "0"],
    ]
    name = printable(HOSTILE)
    assert worse[1:] == [
        [name, "vertex+fragment", "Spilled VGPRs", "0", "40", "from zero"],
        [name, "vertex+fragment", "VGPRs", "24", "32", "+33.3 %"],
    ]
    assert better[1:] == [["better", "compute", "VGPRs", "24", "16", "-33.3 %"]]
    assert changed[1][2:] == ["Mystery", "1", "2", "+100.0 %"]
    assert statuses[1:] == [["crash", "ok → crashed (SIGSEGV in compile)"]]
    assert (new[1:], gone[1:]) == ([["new"]], [["gone"]])


def test_a_check() -> None:
    failed, unanswered, warned = tables(check_text("markdown", verdict()))
    name = printable(HOSTILE)
    assert failed[1:] == [
        [name, "fragment", "registers", "32", "≤ 24", "radv:navi21"],
        [name, "fragment", "spills", "1", "≤ 0", "radv:navi21"],
    ]
    assert unanswered[1:] == [["crash", "crashed: SIGSEGV in compile", "radv:navi21"]]
    assert warned[1:] == [[name, "fragment", "VGPRs", "32", "≤ 8", "radv:navi21"]]


@pytest.mark.parametrize("name", ["`", "``a`", "|", "\\|", "a\\", "*x*", "<b>", " lead", "[x](y)", "@team", "\u202e"])
def test_any_name_is_shown_as_it_is(name: str) -> None:
    shown = tables(diff_text("markdown", outcome(name=name)))[1][1][0]
    assert shown.strip() == printable(name).strip()


def test_it_fits_a_comment() -> None:
    before, after = (
        side(*(pipeline(f"p{'x' * 200}{n}", executable((SPILLED_VGPRS, number * n))) for n in range(1, 2000)))
        for number in (0, 1)
    )
    text = diff_text("markdown", DiffOutcome(compare(before, after)))
    assert len(text) < 65_536
    assert "more" in text.splitlines()[-1]
