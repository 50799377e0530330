"""Markdown with GitHub's tables, to be pasted into a pull request or shown as a step's summary.

A comment holds 65,536 characters: what does not fit is counted. Names stand in code spans, so that nothing in them is
markup or calls a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from shaderstat.budget import Check, Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.view import Entry, shown, wants
from shaderstat.reporters import _check_words, _diff_words
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import printable

ROOM = 60_000


class _Page:
    """Lines, as long as there is room for them."""

    def __init__(self, room: int = ROOM) -> None:
        self._lines: list[str] = []
        self._room = room

    def add(self, *lines: str) -> None:
        """Lines that are always there."""
        for line in lines:
            self._lines.append(line)
            self._room -= len(line) + 1

    def reserve(self, room: int) -> None:
        """Keep so much for what comes later; a negative number gives it back."""
        self._room -= room

    def table(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table with as many rows as there is room for, and how many there are more."""
        if not rows:
            return
        align = ["---" if (place < 3 and len(heads) > 4) or place == 0 else "---:" for place in range(len(heads))]
        self.add("", *([f"**{title}**", ""] if title else []), _row(heads), _row(align))
        for place, row in enumerate(rows):
            line = _row(row)
            if len(line) + 100 > self._room:
                self.add("", f"… and {len(rows) - place} more")
                return
            self.add(line)

    def write(self, stream: BinaryIO) -> None:
        stream.write(("\n".join(self._lines).strip("\n") + "\n").encode("utf-8", "backslashreplace"))


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    difference = outcome.difference
    page = _Page()
    verdict = {0: "", 1: ": regressions", 2: ": no trustworthy answer"}[outcome.status]
    page.add(f"### shaderstat diff{verdict}")
    page.add(
        "", f"{code(difference.before.label)} → {code(difference.after.label)}: {_diff_words.count_words(difference)}"
    )
    for line in outcome.distrust[:20]:
        page.add("", f"> **error** {code(line)}")
    _gates(outcome, page)
    totals = [_totals(outcome, place) for place in range(len(difference.targets))]
    reserved = [sum(len(_row(row)) + 200 for row in rows) for rows in totals]
    page.reserve(sum(reserved))
    for place, rows in enumerate(totals):
        page.add("", code(_diff_words.target_words(difference, place)))
        page.reserve(-reserved[place])
        page.table("Totals", ("statistic", "before", "after", "change", "helped", "hurt", "same"), rows)
        found = shown(difference, outcome.view, place)
        heads = ("pipeline", "executable", "statistic", "before", "after", "change")
        page.table("Worse", heads, _entries(found.worse))
        page.table("Better", heads, _entries(found.better))
        page.table("Changed, not judged", heads, _entries(found.changed))
        statuses = [each for each in difference.statuses if each.target == place]
        rows = [(code(_diff_words.name_words(each.subject)), code(_diff_words.status_words(each))) for each in statuses]
        page.table("Status", ("pipeline", "status"), rows)
    nowhere = [each for each in difference.statuses if each.target is None]
    rows = [(code(_diff_words.name_words(each.subject)), code(_diff_words.status_words(each))) for each in nowhere]
    page.table("Status", ("pipeline", "status"), rows)
    page.table("New", ("pipeline",), [(code(each.id),) for each in difference.new])
    page.table("Gone", ("pipeline",), [(code(each.id),) for each in difference.gone])
    renamed = [(code(other.id), code(one.id)) for one, other in difference.renamed]
    page.table("Renamed", ("pipeline", "was"), renamed)
    if difference.recoded:
        page.add("", f"{len(difference.recoded)} executables changed their code and no number.")
    if difference.is_empty:
        page.add("", "No differences.")
    page.write(stream)
    return ()


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    page = _Page()
    word = {0: "passed", 1: "failed", 2: "no trustworthy answer"}[verdict.status]
    page.add(f"### shaderstat check: {word}", "", _check_words.summary(verdict))
    for line in verdict.problems[:20]:
        page.add("", f"> **error** {code(line)}")
    heads = ("pipeline", "executable", "statistic", "value", "limit", "target")
    page.table("Failed", heads, [_check_row(each) for each in verdict.failures])
    rows = [
        (code(each.pipeline), code(_check_words.unanswered_words(each)), code(each.target))
        for each in verdict.unanswered
    ]
    page.table("Without an answer", ("pipeline", "status", "target"), rows)
    page.table("Warned", heads, [_check_row(each) for each in verdict.warnings])
    first = next((each for each in verdict.failures if each.again), None)
    if first is not None:
        page.add("", "Again:", "", *_block(_check_words.again_words(first)))
        page.add("", "Accept:", "", *_block(_check_words.accept_words(first)))
    page.write(stream)
    return ()


def code(text: str) -> str:
    """A code span that holds any text, also within a table (GFM 6.3: a pipe is escaped there even in code)."""
    text = printable(text).replace("|", "\\|")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text.strip() else ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _block(text: str) -> list[str]:
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return [f"{fence}sh", text, fence]


def _gates(outcome: DiffOutcome, page: _Page) -> None:
    for gated in outcome.gated:
        broken = len(gated.breaches)
        words = "can't be applied" if gated.problem else f"broken by {broken}" if broken else "holds"
        page.add("", f"{code('--fail-on ' + gated.gate.text)}: {words}")


def _entries(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    return [
        (
            code(_diff_words.name_words(entry.place.subject)),
            code(_diff_words.place_words(entry.place)),
            code(change.info.name),
            _diff_words.value_words(change.before, change.info),
            _diff_words.value_words(change.after, change.info),
            _diff_words.kind_words(change),
        )
        for entry in entries
        for change in entry.changes
    ]


def _totals(outcome: DiffOutcome, place: int) -> list[tuple[str, ...]]:
    view = outcome.view
    return [
        (
            code(total.name),
            repr(total.before),
            repr(total.after),
            _diff_words.kind_words(total.change, 2) if total.before != total.after else "",
            str(total.helped),
            str(total.hurt),
            str(total.same),
        )
        for total in outcome.difference.totals
        if total.target == place
        and (_diff_words.interesting(total) or (view.all and _diff_words.counted(total)))
        and (not view.statistics or any(wants(view, info) for info in total.infos))
    ]


def _check_row(check: Check) -> tuple[str, ...]:
    return (
        code(check.pipeline),
        code(check.executable),
        code(check.limit.statistic),
        _check_words.number_words(check.value),
        f"{'≤' if check.limit.most else '≥'} {_check_words.number_words(check.bound)}",
        code(check.target),
    )
