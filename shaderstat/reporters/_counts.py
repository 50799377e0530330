"""What a run counted, put in order for tables: rows of blocks, totals of stages, shares of a command's total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from shaderstat.instrumentation import CountedBlock, Instrumented
from shaderstat.model import STAGE_BITS
from shaderstat.plain import dataclass
from shaderstat.reporters.text import UNNAMED, named

INVENTED = "these numbers describe one execution with invented inputs"
TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Row:
    """One block, or the total of a stage or of a command (`block` None).

    Attributes:
        stages: ``vertex+fragment``; empty in a command's total.
        values: one for each metric.
        shares: of the command's total, in tenths of a per cent; None where that is zero, and in the total itself.
    """

    submission: int
    sub_index: int | None
    stages: str
    block: int | None
    values: tuple[int, ...]
    shares: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """What one command counted in one submission: `rows` are the blocks, with their stage's total behind them where
    there are several, and the command's at the end where there are several stages."""

    title: str
    submission: int
    rows: tuple[Row, ...]


def headings(run: Instrumented) -> list[str]:
    """The metrics' names; what stands twice gets a number: ``ls (2)``."""
    found: list[str] = []
    for metric in run.offer.metrics if run.offer is not None else ():
        name = heading = named(metric.name) or UNNAMED
        count = 1
        while heading in found:
            count += 1
            heading = f"{name} ({count})"
        found.append(heading)
    return found


def sections(run: Instrumented) -> list[Section]:
    """One for each command and submission that were read; a command without any block is one without rows."""
    found = []
    for submission in sorted({block.submission for block in run.blocks}) or [0]:
        blocks = [block for block in run.blocks if block.submission == submission]
        unknown = sorted({block.command for block in blocks if not 0 <= block.command < len(run.commands)})
        for command in (*range(len(run.commands)), *unknown):
            title = str(run.commands[command]) if command not in unknown else f"command {command}, never recorded"
            rows = _rows([block for block in blocks if block.command == command], submission)
            found.append(Section(title, submission, tuple(rows)))
    return found


def percent(tenths: int | None, value: int) -> str:
    """A share as people read it. What is there is never 0 %, and what isn't all never 100 %."""
    if tenths is None:
        return ""
    if tenths == 0 and value:
        return "<0.1 %"
    return f"{tenths // 10}.{tenths % 10} %"


def stages(block: CountedBlock) -> str:
    """``compute``; that of a stage which shaderstat made is said."""
    return ("+".join(block.stages) or "no stage") + (" (generated)" if block.synthetic else "")


def _rows(blocks: Sequence[CountedBlock], submission: int) -> Iterator[Row]:
    whole = _sum(blocks)
    groups = [(name, [*group]) for name, group in groupby(sorted(blocks, key=_place), key=stages)]
    for name, group in groups:
        for block in group:
            shares = _shares(block.values, whole)
            yield Row(submission, block.sub_index, name, block.basic_block, block.values, shares)
        if len(group) > 1:
            values = _sum(group)
            yield Row(submission, None, name, None, values, _shares(values, whole))
    if len(groups) > 1:
        yield Row(submission, None, "", None, whole, (None,) * len(whole))


def _place(block: CountedBlock) -> tuple[list[int], str, int, int]:
    """Stages in the order of the pipeline."""
    known = [place for place, stage in enumerate(STAGE_BITS) if stage in block.stages]
    return known, stages(block), block.sub_index, block.basic_block


def _sum(blocks: Sequence[CountedBlock]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*(block.values for block in blocks), strict=True)))


def _shares(values: Sequence[int], whole: Sequence[int]) -> tuple[int | None, ...]:
    """In whole numbers: counts go beyond what a double tells apart."""
    return tuple(
        None if not total else 1000 if value == total else min((value * 2000 // total + 1) // 2, 999)
        for value, total in zip(values, whole, strict=True)
    )
