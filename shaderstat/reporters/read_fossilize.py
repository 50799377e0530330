"""The statistics that ``fossilize-replay --enable-pipeline-stats`` writes, as a run's events.

That table says nothing of device and driver, and nothing of stages. Its writer quotes nothing: a comma in a database's
path is mended here, one in a statistic's name is told. People concatenate such files, so a header may stand anywhere.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO

from shaderstat.errors import ShaderstatError
from shaderstat.model import (
    Device,
    Driver,
    Durations,
    EndEvent,
    Event,
    Executable,
    Module,
    Pipeline,
    PipelineEvent,
    Producer,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    Statistic,
    StatisticInfo,
    Target,
    TargetEvent,
    merge,
)

# Before the statistics, in this order.
COLUMNS = (
    "Database",
    "Pipeline type",
    "Pipeline hash",
    "PSO wall duration (ns)",
    "PSO duration (ns)",
    "Stage duration (ns)",
    "Executable name",
    "Subgroup size",
)
KINDS = {"GRAPHICS": "graphics", "COMPUTE": "compute", "RAYTRACE": "ray_tracing"}

TARGET = "fossilize"


def is_fossilize_csv(head: bytes) -> bool:
    """Whether a file that begins so is such a table."""
    first = head.lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0].replace(b'"', b"").replace(b", ", b",")
    return first.startswith(b"Database,Pipeline type,Pipeline hash,")


def read_fossilize(stream: BinaryIO, path: str = "the table") -> Iterator[Event]:
    """The events. A pipeline's rows stand together; each executable is one of them.

    Raises:
        ShaderstatError: a row that doesn't fit its header, with its line.
    """
    yield RunEvent(Schema(), Producer("fossilize-replay", ""), Run("", complete=False), 0)
    run = _Reader(path)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    rows = csv.reader(text)
    try:
        for cells in rows:
            if cells:
                yield from run.row(cells, rows.line_num)
    except csv.Error as error:
        raise ShaderstatError(f"{path}:{rows.line_num}: is no CSV: {error}") from None
    finally:
        with suppress(ValueError):  # closed by the caller, whose it is
            text.detach()
    yield from run.end()
    yield EndEvent(Run("", complete=True))


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._names: list[str] = []
        self._order: list[tuple[str, str]] = []
        self._rows: list[tuple[Sequence[str], dict[str, str]]] = []
        self._taken: dict[str, tuple[str, str]] = {}
        self._told = 0

    def row(self, cells: list[str], line: int) -> Iterator[Event]:
        """Take one row; yields the pipeline before, when this one begins another."""
        if cells[0].strip() == COLUMNS[0] and [cell.strip() for cell in cells[:8]] == list(COLUMNS):
            yield from self.end()
            self._names = [cell.strip() for cell in cells[8:]]
            return
        cells = self._mended(cells, line)
        if self._rows and self._rows[0][0][:3] != cells[:3]:
            yield from self.end()
        self._rows.append((cells[:8], dict(zip(self._names, (cell.strip() for cell in cells[8:]), strict=True))))

    def _mended(self, cells: list[str], line: int) -> list[str]:
        wanted = len(COLUMNS) + len(self._names)
        extra = len(cells) - wanted
        if extra > 0 and len(cells) > extra + 1 and cells[extra + 1].strip() in KINDS:
            return [",".join(cells[: extra + 1]), *cells[extra + 1 :]]
        if extra or not self._names:
            raise ShaderstatError(
                f"{self._path}:{line}: {len(cells)} cells where the header has {wanted}",
                hint="its writer quotes nothing: a comma in a statistic's name shifts all that follows",
            )
        return cells

    def end(self) -> Iterator[Event]:
        """The pipeline whose rows were gathered."""
        rows, self._rows = self._rows, []
        if not rows:
            return
        database, kind, hash = (cell.strip() for cell in rows[0][0][:3])
        id = self._id(database, kind, hash)
        yield PipelineEvent(
            Pipeline(id, id, f"fossilize:{kind}:{hash}", KINDS.get(kind), modules=(Module(database, ""),))
        )
        executables = tuple(
            Executable(index, head[6].strip(), "", (), _whole(head[7]), statistics=self._statistics(cells))
            for index, (head, cells) in enumerate(rows)
        )
        if len(self._order) > self._told:
            self._told = len(self._order)
            yield TargetEvent(self._target())
        durations = Durations(pipeline=_whole(rows[0][0][4]) or None, wall=_whole(rows[0][0][3]))
        yield ResultEvent(Result(id, TARGET, "ok", durations_ns=durations, executables=executables))

    def _id(self, database: str, kind: str, hash: str) -> str:
        """The hash, as long as it stands for one pipeline of one database."""
        for id in (hash, f"{os.path.basename(database)}/{hash}", f"{database}/{kind}/{hash}"):
            if self._taken.setdefault(id, (database, kind)) == (database, kind):
                return id
        raise AssertionError("unreachable")

    def _statistics(self, cells: dict[str, str]) -> tuple[Statistic, ...]:
        found = tuple(_statistic(name, cell) for name, cell in cells.items() if cell)
        keys = [(one.name, one.format) for one in found]
        if not set(keys).issubset(self._order):
            merge(self._order, keys)
        return found

    def _target(self) -> Target:
        infos = tuple(
            StatisticInfo(name, format, "", role="identity" if _is_hash(name) else "info")
            for name, format in self._order
        )
        nobody = Device("not said", 0, 0, "", "", "")
        return Target(TARGET, "fossilize", Driver(0, "not said", "", ""), nobody, "archive", statistics=infos)


def _is_hash(name: str) -> bool:
    return name.casefold().endswith("hash")


def _statistic(name: str, cell: str) -> Statistic:
    """A cell by its look: the table has no formats."""
    if cell in ("true", "false"):
        return Statistic(name, "bool32", int(cell == "true"))
    try:
        if cell.lower().startswith("0x"):
            return Statistic(name, "uint64", int(cell, 16), cell)
        whole = int(cell)
        return Statistic(name, "uint64" if whole >= 0 else "int64", whole, str(whole) if abs(whole) > 2**53 else None)
    except ValueError:
        pass
    try:
        number = float(cell)
    except ValueError:
        return Statistic(name, "float64", None, cell)
    return Statistic(name, "float64", number) if math.isfinite(number) else Statistic(name, "float64", None, cell)


def _whole(cell: str) -> int | None:
    try:
        return int(cell)
    except ValueError:
        return None
