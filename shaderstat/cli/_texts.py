"""The bytes of representations while sides are compared: kept in a file that has no name, or left where they are."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from shaderstat.cli._files import INDEX, INDEX_SCHEMA
from shaderstat.compare import Collector
from shaderstat.errors import ShaderstatError
from shaderstat.model import (
    Device,
    Driver,
    EndEvent,
    Executable,
    Pipeline,
    PipelineEvent,
    Representation,
    Result,
    ResultEvent,
    Run,
    Target,
    TargetEvent,
)
from shaderstat.plain import dataclass
from shaderstat.reporters.text import printable


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where in the file, and how much."""

    offset: int
    size: int


class Texts:
    """Takes bytes in, and gives them back by their place."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="shaderstat-")
        self._end = 0

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def keep(self, event: ResultEvent) -> tuple[tuple[Any, ...], ...]:
        """Put a result's representations away: places in the shape of ``event.data``."""
        return tuple(tuple(self._put(data) for data in row) for row in event.data)

    def _put(self, data: bytes) -> _Kept:
        self._file.seek(self._end)
        self._file.write(data)
        kept = _Kept(self._end, len(data))
        self._end += len(data)
        return kept

    def get(self, place: Any, label: str) -> bytes:
        """The bytes at a place: one that `keep` gave, or a file's path.

        Raises:
            ShaderstatError: the side knows of a representation and does not have it.
        """
        if isinstance(place, _Kept):
            self._file.seek(place.offset)
            return self._file.read(place.size)
        if not place:
            raise ShaderstatError(
                f"{label}: a saved report holds no texts, only what they are called",
                hint="compare the folders that shaderstat ir PATH --out DIR writes, or the shaders themselves",
            )
        try:
            with open(place, "rb") as file:
                return file.read()
        except OSError as error:
            raise ShaderstatError(f"{printable(str(place))}: can't be read: {error.strerror or error}") from None

    def read_folder(self, folder: str, collector: Collector) -> None:
        """A folder of ``ir --out`` as a run's events. It says of targets what they are called, and nothing else.

        Raises:
            ShaderstatError: its index can't be read.
        """
        path = os.path.join(folder, INDEX)
        try:
            with open(path, "rb") as file:
                index = json.load(file)
            files, complete = index["files"], bool(index["complete"])
            rows: dict[tuple[str, str | None], dict[int, Executable]] = {}
            names: dict[str, str] = {}
            for each in files:
                key = (str(each["pipeline_id"]), each["target"])
                names[key[0]] = str(each["pipeline"])
                row = rows.setdefault(key, {})
                number = int(each["executable"]["index"])
                row[number] = _with(row.get(number), each, folder)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ShaderstatError(f"{printable(path)}: is no index of representations: {error}") from None
        for target in dict.fromkeys(target for _, target in rows if target is not None):
            collector.feed(TargetEvent(_target(target)))
        for id, name in names.items():
            collector.feed(PipelineEvent(Pipeline(id, name, "", None)))
        for (pipeline, on), row in rows.items():
            collector.feed(ResultEvent(Result(pipeline, on, "ok", executables=tuple(row[n] for n in sorted(row)))))
        collector.feed(EndEvent(Run("", complete=complete)))


def is_folder_of_texts(path: str) -> bool:
    """Whether a folder was written by ``ir --out``."""
    try:
        with open(os.path.join(path, INDEX), "rb") as file:
            return bool(json.load(file)["schema"]["name"] == INDEX_SCHEMA["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _target(id: str) -> Target:
    driver = id.partition(":")[0].partition("@")[0]
    return Target(id, "", Driver(0, driver, "", ""), Device(id, 0, 0, "", "", ""), "tree")


def _with(row: Executable | None, entry: dict[str, Any], folder: str) -> Executable:
    said = entry["executable"]
    parts = str(entry["path"]).split("/")
    if ".." in parts or not all(parts):
        raise ValueError(f"{entry['path']!r} leads out of the folder")
    path = os.path.join(folder, *parts)
    one = Representation(
        str(entry["representation"]),
        str(entry["description"]),
        bool(entry["is_text"]),
        int(entry["size"]),
        str(entry["sha256"]),
        str(entry["code_sha256"]),
        path,
    )
    before = row.representations if row is not None else ()
    stages = tuple(str(stage) for stage in said["stages"])
    return Executable(int(said["index"]), str(said["name"]), "", stages, None, representations=(*before, one))
