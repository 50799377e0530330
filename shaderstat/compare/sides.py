"""One side of a comparison: a report boiled down to what is compared, so that two of 100,000 results fit in memory.

An executable is a row of numbers beside a shape that it shares with nearly all others; texts that repeat are held once.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from operator import attrgetter
from typing import Any

from shaderstat.model import (
    EndEvent,
    Event,
    Executable,
    Pipeline,
    PipelineEvent,
    Result,
    ResultEvent,
    RunEvent,
    Statistic,
    StatisticInfo,
    Target,
    TargetEvent,
    cause,
    numbered,
    quantity,
)
from shaderstat.plain import dataclass

# A statistic's cell: a number; text for what is there and is no number (NaN, a format that nobody knows); None for what
# the driver did not report. None of them is ever taken for 0.
Value = int | float | str | None

# Name as folded, and how many of that name came before it: what joins a statistic to the other side's.
Column = tuple[str, int]

_NAME = attrgetter("name", "format")


@dataclass(frozen=True, slots=True)
class Text:
    """An internal representation; `place` tells whoever collected the side where its bytes are."""

    name: str
    is_text: bool
    code_sha256: str
    place: Any = None


# struct's code for a statistic of each format; what doesn't fit is held as it is.
_CODES: Mapping[str, str] = {"bool32": "B", "int64": "q", "uint64": "I", "float64": "d"}


class Shape:
    """What executables of one kind have in common: the statistics, in the driver's order.

    Attributes:
        columns: what joins each to the other side's.
        formats: what joins each to its target's list: (name, format, how many of these came before it).
    """

    __slots__ = ("_masks", "_struct", "columns", "formats")

    def __init__(self, names: Sequence[tuple[str, str]], infos: Mapping[tuple[str, str], StatisticInfo]) -> None:
        folded = [name.strip().casefold() for name, _ in names]
        self.columns = tuple((name, folded[:place].count(name)) for place, name in enumerate(folded))
        self.formats = tuple((*pair, list(names[:place]).count(pair)) for place, pair in enumerate(names))
        known = [infos.get(pair) for pair in names]
        self._masks = [
            (place, info) for place, info in enumerate(known) if info and info.bits < 64 and info.role != "identity"
        ]
        hashes = [info is not None and info.role == "identity" for info in known]
        codes = ("Q" if hash else _CODES.get(format, "Q") for (_, format), hash in zip(names, hashes, strict=True))
        self._struct = struct.Struct("<" + "".join(codes))

    def hold(self, statistics: Sequence[Statistic]) -> bytes | tuple[Value, ...]:
        """An executable's cells in as little room as they take."""
        values: list[Value] = [one.value for one in statistics]
        for place, info in self._masks:
            values[place] = quantity(statistics[place], info)
        try:
            return self._struct.pack(*values)
        except struct.error:  # something is no number, or a large one
            cells = zip(statistics, values, strict=True)
            return tuple(one.text or "?" if value is None else value for one, value in cells)

    def cells(self, held: bytes | tuple[Value, ...]) -> tuple[Value, ...]:
        """What `hold` was given."""
        return self._struct.unpack(held) if isinstance(held, bytes) else held


@dataclass(frozen=True, slots=True)
class Heading:
    """What a driver says of an executable but its numbers."""

    name: str
    stages: tuple[str, ...]
    subgroup_size: int | None
    bound: str


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """An executable. `code` identifies what the last representation says, which is the assembly."""

    heading: Heading
    shape: Shape
    held: bytes | tuple[Value, ...]
    code: bytes | None
    texts: tuple[Text, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        """The statistics' cells, in the shape's order."""
        return self.shape.cells(self.held)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of a pipeline on a target; `reason` where that isn't an answer."""

    status: str
    reason: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A pipeline: `id` is its name and variant, `content` what it is made of (empty where nobody knows), `files` its
    stages and paths as one text, where those were asked for."""

    id: str
    content: bytes
    kind: str | None
    files: str

    @property
    def modules(self) -> tuple[tuple[str, str], ...]:
        """(stage, path) of each module."""
        parts = self.files.split("\0")
        return tuple(zip(parts[::2], parts[1::2], strict=False))


@dataclass(slots=True)
class Side:
    """One side. `outcomes` by target (None for files that make no pipeline) and pipeline; `live` if it was compiled
    just now, so that what went wrong is this run's own fault."""

    label: str
    live: bool = False
    complete: bool = False
    targets: dict[str, Target] = field(default_factory=dict)
    subjects: dict[str, Subject] = field(default_factory=dict)
    outcomes: dict[str | None, dict[str, Outcome]] = field(default_factory=dict)

    def infos(self, target: str | None) -> Mapping[tuple[str, str, int], StatisticInfo]:
        """A target's statistics by (name, format, how many of these came before it)."""
        known = self.targets.get(target) if target is not None else None
        statistics = known.statistics if known else ()
        return dict(zip(numbered(statistics), statistics, strict=True))


class Collector:
    """Makes a `Side` of a run's events, fed in their order.

    Args:
        label: what to call the side in messages.
        texts: keep what the side has of representations, for a comparison of those.
        paths: keep the modules' paths, for formats that name files.
    """

    def __init__(self, label: str, *, live: bool = False, texts: bool = False, paths: bool = True) -> None:
        self.side = Side(label, live)
        self._texts = texts
        self._paths = paths
        self._shapes: dict[tuple[str | None, tuple[tuple[str, str], ...]], Shape] = {}
        self._headings: dict[tuple[str, tuple[str, ...], int | None, str], Heading] = {}

    def feed(self, event: Event, places: tuple[tuple[Any, ...], ...] = ()) -> None:
        """Take the next event; `places` says where the bytes of ``event.data`` were put."""
        if isinstance(event, ResultEvent):
            self._result(event.result, places)
        elif isinstance(event, PipelineEvent):
            self._pipeline(event.pipeline)
        elif isinstance(event, TargetEvent):
            self.side.targets[event.target.id] = event.target
            self._shapes.clear()  # more may be known now
        elif isinstance(event, RunEvent):
            self.side.complete = False
        elif isinstance(event, EndEvent):
            self.side.complete = event.run.complete

    def _pipeline(self, pipeline: Pipeline) -> None:
        files = ""
        if self._paths:  # no real path holds a NUL
            words = (word for module in pipeline.modules for word in (module.stage or "", module.path))
            files = "\0".join(word.replace("\0", "\N{REPLACEMENT CHARACTER}") for word in words)
        kind = sys.intern(pipeline.kind) if pipeline.kind is not None else None
        self.side.subjects[pipeline.id] = Subject(pipeline.id, _digest(pipeline.content), kind, files)

    def _result(self, result: Result, places: tuple[tuple[Any, ...], ...]) -> None:
        # Executables that shaderstat made up are nobody's code.
        rows = tuple(
            self._row(each, result.target, places[number] if places else ())
            for number, each in enumerate(result.executables)
            if not each.synthetic
        )
        subject = self.side.subjects.get(result.pipeline)
        id = subject.id if subject else result.pipeline  # not a second text of the same letters
        of_target = self.side.outcomes.setdefault(result.target, {})
        of_target[id] = Outcome(sys.intern(result.status), "" if result.status == "ok" else cause(result)[0], rows)

    def _row(self, executable: Executable, target: str | None, places: tuple[Any, ...]) -> Row:
        said = (executable.name, executable.stages, executable.subgroup_size, executable.bound)
        heading = self._headings.get(said)
        if heading is None:
            heading = self._headings[said] = Heading(*said)
        statistics = executable.statistics
        names = tuple(map(_NAME, statistics))
        shape = self._shapes.get((target, names))
        if shape is None:
            known = self.side.targets.get(target or "")
            infos = {(one.name, one.format): one for one in known.statistics} if known else {}
            shape = self._shapes[target, names] = Shape(names, infos)
        code = executable.representations[-1].code_sha256 if executable.representations else ""
        texts: tuple[Text, ...] = ()
        if self._texts:
            texts = tuple(
                Text(one.name, one.is_text, one.code_sha256, places[number] if places else one.path)
                for number, one in enumerate(executable.representations)
            )
        return Row(
            heading,
            shape,
            shape.hold(statistics),
            _digest(code) if code else None,
            texts,
        )


def collect(events: Iterable[Event], label: str = "", *, live: bool = False, texts: bool = False) -> Side:
    """A side from a run's events, whether they come from the engine or from a saved report."""
    collector = Collector(label, live=live, texts=texts)
    for event in events:
        collector.feed(event)
    return collector.side


def _digest(text: str) -> bytes:
    """The first 128 bits of a hash in hexadecimal digits; other text as it is."""
    try:
        return bytes.fromhex(text)[:16]
    except ValueError:
        return text.encode("utf-8", "surrogatepass")
