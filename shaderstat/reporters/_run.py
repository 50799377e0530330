"""``instrument``: what was counted in each command, block by block, and with which inputs."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.instrumentation import Instrumented
from shaderstat.plain import dataclass
from shaderstat.reporters import _blocks
from shaderstat.reporters._counts import INVENTED, TOTAL, Row, Section, headings, percent, sections
from shaderstat.reporters._gathered import Gathered
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, named, printable, right, shorten, span, width

# Blocks of a command that are shown on a terminal: those that count most, in their order.
MOST = 20
GAP = "  "
# A name beyond so many columns is shortened on a terminal.
_NAME = 24
# Columns of ``  run with  ``.
_INPUTS = 12


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write a table for each command. Returns what had no room."""
    remarks: dict[str, None] = {}
    for place, result in enumerate(gathered.results):
        if place:
            pen.line()
        _blocks.head(gathered, result, pen, options)
        if result.status != "ok":
            _blocks.failure(result, pen, options)
        elif result.instrumentation is not None:
            remarks.update(dict.fromkeys(_run(result.instrumentation, pen, options)))
        if any(executable.statistics for executable in result.executables):
            _blocks.executables(gathered, result, pen, options)
        texts = [one for executable in result.executables for one in executable.representations]
        if any(one.path is None for one in texts):
            remarks["representations: --out DIR writes them, --json describes them"] = None
        if result.status == "ok":
            _blocks.errors(result, pen, options)
    return [*remarks]


def _run(run: Instrumented, pen: Pen, options: Options) -> list[str]:
    remarks: list[str] = []
    if run.offer is None:
        times = "" if run.submissions == 1 else f", submitted {run.submissions} times"
        for command in run.commands:
            pen.line()
            pen.line(f"  {pen.paint(str(command), 'bold')}{pen.paint(f'  ran{times}; nothing was counted', 'dim')}")
    else:
        found = sections(run)
        layout, missing = _layout(run, found, options)
        if missing:
            remarks.append(f"no room for: {' · '.join(missing)}  (--json has all)")
        for section in found:
            _section(run, section, layout, pen, options)
        _legend(run, pen, options)
    _inputs(run, pen, options)
    return remarks


# ── Blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the rows of a run show: which places, which metrics, and whether their shares."""

    submission: bool
    sub_index: bool
    block: bool
    first: int
    metrics: tuple[int, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]
    shares: bool

    def places(self, row: Row) -> str:
        """A row's left part."""
        cells = [left(row.stages or TOTAL, self.first)]
        if self.sub_index:
            cells.append(right("" if row.sub_index is None else str(row.sub_index), 3))
        if self.block:
            # A stage's total stands in the blocks' column.
            cells.append(right(str(row.block) if row.block is not None else TOTAL if row.stages else "", 5))
        elif row.block is None and row.stages:
            cells[0] = left(f"{row.stages} {TOTAL}", self.first)
        return GAP.join(cells)

    def heading(self) -> str:
        """The columns' names."""
        cells = [left("stage", self.first)]
        cells += ["sub"] * self.sub_index + ["block"] * self.block
        for place in self.metrics:
            cells.append(right(self.names[place], self.widths[place]))
            cells += [right("%", _SHARE)] * self.shares
        return GAP.join(cells)


# ``100.0 %``
_SHARE = 7


def _layout(run: Instrumented, found: Sequence[Section], options: Options) -> tuple[_Layout, list[str]]:
    """What there is room for, and what there is not: shares go first, then the last metrics."""
    rows = [row for section in found for row in section.rows]
    names = headings(run)
    if options.width is not None:
        names = [shorten(name, _NAME) for name in names]
    widths = [
        max(width(name), *(len(str(row.values[place])) for row in rows)) if rows else width(name)
        for place, name in enumerate(names)
    ]
    sub_index = any(row.sub_index for row in rows)
    block = any(row.block for row in rows) or (run.offer is not None and run.offer.per_basic_block)
    totals = [] if block else [f"{row.stages} {TOTAL}" for row in rows if row.block is None and row.stages]
    first = span(("stage", *totals, *(row.stages or TOTAL for row in rows)))
    shares = any(len(section.rows) > 1 for section in found)
    fixed = 4 + first + 5 * sub_index + 7 * block
    metrics = list(range(len(names)))
    missing: list[str] = []

    def needed() -> int:
        return fixed + sum(widths[place] + 2 + (_SHARE + 2) * shares for place in metrics)

    if options.width is not None and shares and needed() > options.width:
        shares = False
        missing.append("shares")
    while options.width is not None and len(metrics) > 1 and needed() > options.width:
        missing.append(names[metrics.pop()])
    submission = len({section.submission for section in found}) > 1
    layout = _Layout(submission, sub_index, block, first, tuple(metrics), tuple(names), tuple(widths), shares)
    return layout, missing


def _section(run: Instrumented, section: Section, layout: _Layout, pen: Pen, options: Options) -> None:
    words = []
    if layout.submission:
        words.append(f"submission {section.submission}")
    elif run.submissions > 1 and run.accumulated:
        words.append(f"{run.submissions} submissions, added up")
    if not section.rows:
        words.append("no metric block")
    pen.line()
    tail = pen.paint("  " + ", ".join(words), "dim") if words else ""
    pen.line(f"  {pen.paint(printable(section.title), 'bold')}{tail}")
    if not section.rows:
        return
    shown, more = _cut(section.rows, options)
    pen.line("    " + pen.paint(layout.heading(), "dim"))
    for row in shown:
        cells = []
        for place in layout.metrics:
            cells.append(right(str(row.values[place]), layout.widths[place]))
            if layout.shares:
                cells.append(pen.paint(right(percent(row.shares[place], row.values[place]), _SHARE), "dim"))
        text = f"{layout.places(row)}{GAP}{GAP.join(cells)}"
        pen.line("    " + (pen.paint(text, "bold") if row.block is None and not layout.shares else text))
    if more:
        pen.line(pen.paint(f"    … {more} more blocks that count less: --json has all", "dim"))


def _cut(rows: Sequence[Row], options: Options) -> tuple[list[Row], int]:
    """On a terminal, the blocks that count most in any metric; totals are of all."""
    blocks = [place for place, row in enumerate(rows) if row.block is not None]
    if options.width is None or len(blocks) <= MOST:
        return [*rows], 0
    wholes = [sum(column) for column in zip(*(rows[place].values for place in blocks), strict=True)]

    def weight(place: int) -> int:
        pairs = zip(rows[place].values, wholes, strict=True)
        return max((value << 64) // whole for value, whole in pairs if whole) if any(wholes) else 0

    ranked = sorted(blocks, key=weight, reverse=True)
    kept = {*ranked[:MOST]}
    shown = [row for place, row in enumerate(rows) if row.block is None or place in kept]
    return shown, len(blocks) - MOST


def _legend(run: Instrumented, pen: Pen, options: Options) -> None:
    """What the metrics are, in the driver's words."""
    metrics = run.offer.metrics if run.offer is not None else ()
    names = headings(run)
    first = min(span(names), _NAME)
    described = [(name, metric) for name, metric in zip(names, metrics, strict=True) if metric.description]
    if described:
        pen.line()
    for name, metric in described:
        pen.prose(
            f"  {left(name, first)}  ", max(first, width(name)) + 4, printable(metric.description), options.width, "dim"
        )


# ── Inputs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _inputs(run: Instrumented, pen: Pen, options: Options) -> None:
    """What the shaders were run with: counts without it mean little."""
    rows = [
        (
            named(one.where),
            printable(one.type.removeprefix("VK_DESCRIPTOR_TYPE_")),
            printable(one.what.replace("VK_FORMAT_", "")),
            printable(one.fill),
        )
        for one in run.resources
    ]
    if rows:
        pen.line()
    widths = [span(column) for column in zip(*rows, strict=True)]
    fits = options.width is None or _INPUTS + sum(widths) + len(GAP) * len(widths) <= options.width
    for place, row in enumerate(rows):
        start = "run with" if place == 0 or options.width is None else ""
        aligned = GAP.join(left(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip()
        text = aligned if fits else ", ".join(filter(None, row))
        pen.prose(f"  {left(start, 8)}  ", _INPUTS, text, options.width, "dim")
    if options.verbosity and run.run_ns:
        pen.line()
        times = ", ".join(f"{nanoseconds / 1e6:.3f}" for nanoseconds in run.run_ns)
        pen.words(f"  ms on the wall, submission by submission: {times}", options.width)
    if run.invented and run.blocks:
        pen.line()
        pen.words(f"  {INVENTED}", options.width)
