"""What both kinds of CSV write into a cell, and the columns that both begin with."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import BinaryIO

from shaderstat.model import Executable, Pipeline, Result, Statistic
from shaderstat.reporters.text import escaped, printable

# A spreadsheet takes a cell that begins so for a formula (CWE-1236), full-width forms included.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def text(value: str) -> str:
    """Text from files and drivers: on one line, and never a formula: a ``'`` goes before what looks like one, and
    before what has been given one already, so that no two texts come out alike."""
    value = escaped(value)
    return "'" + value if value.lstrip("'").startswith(_FORMULA) else value


def number(value: int | float | None) -> str:
    """All digits of a number; empty for None."""
    return "" if value is None else repr(value)


def variant(pipeline: Pipeline | None) -> str:
    """A pipeline's specialization: ``0=16 1=4``."""
    return text(" ".join(f"{name}={value}" for name, value in pipeline.variant.items())) if pipeline else ""


def pipeline_cells(result: Result, pipeline: Pipeline | None) -> list[str]:
    """pipeline, variant, target."""
    name = pipeline.name if pipeline else result.pipeline
    return [text(name), variant(pipeline), text(result.target or "")]


def executable_cells(executable: Executable | None) -> list[str]:
    """executable_index, executable, stages, subgroup_size."""
    if executable is None:
        return [""] * 4
    return [
        str(executable.index),
        text(executable.name),
        text("+".join(executable.stages)),
        number(executable.subgroup_size),
    ]


def statistic_cell(statistic: Statistic | None, role: str) -> str:
    """A number with all its digits, NaN and infinities included; a hash as `exact`; empty for what was not reported."""
    if statistic is None:
        return ""
    if role != "identity" and statistic.value is not None:
        return number(statistic.value)
    if (statistic.text or "").startswith("NaN("):  # its bits stand in the long table: here a column's cells are numbers
        return "NaN"
    return exact(statistic)


def exact(statistic: Statistic) -> str:
    """A statistic's text. A ``'`` goes before what looks like a number and is no quantity: a hash, bits of an unknown
    format. DuckDB takes a column of ``0x…`` for numbers to be summed, whether they are quoted or not."""
    shown = printable(statistic.text or "")
    odd = statistic.value is None and shown.isdecimal()
    return "'" + shown if odd or shown.startswith("0x") else shown


def unique(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Column headings beside those that are `taken`; what would stand twice gets a number: ``Cycles (2)``."""
    seen = set(taken)
    headings: list[str] = []
    for each in names:
        heading = name = text(each) or "(unnamed)"
        count = 1
        while heading in seen:
            count += 1
            heading = f"{name} ({count})"
        seen.add(heading)
        headings.append(heading)
    return headings


class Rows:
    """Writes CSV records (RFC 4180, but with a plain newline) in UTF-8 to a binary stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, records: Iterable[Iterable[str]]) -> None:
        buffer = io.StringIO(newline="")
        csv.writer(buffer, lineterminator="\n").writerows(records)
        self._stream.write(buffer.getvalue().encode("utf-8"))
