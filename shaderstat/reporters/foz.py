"""What was compiled, as a Fossilize archive that other tools replay: every pipeline that is shown, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from shaderstat.archive.writer import Writer
from shaderstat.errors import ShaderstatError, Unsupported
from shaderstat.model import Event, ResultEvent
from shaderstat.pipeline.spec import unpack
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import printable

# Pipelines that are named where they can't be written.
_NAMED = 5


class Archive:
    """Writes a pipeline when its result comes; several targets' are one where they were given the same."""

    by_row = False
    shows_synthetic = True

    def __init__(self, stream: BinaryIO, options: Options) -> None:
        """
        Raises:
            ShaderstatError: the stream is a terminal.
        """
        if options.width is not None:
            raise ShaderstatError("an archive is no text for a terminal", hint="-o pipelines.foz writes it to a file")
        self._stream = stream
        self._writer = Writer(stream)
        self._without: dict[str, None] = {}
        self._refused: dict[str, str] = {}

    def feed(self, event: Event) -> None:
        if not isinstance(event, ResultEvent):
            return
        if event.state is None:
            self._without[event.result.pipeline] = None
            return
        try:
            self._writer.add(unpack(event.state["spec"]), event.state["setup"])
        except Unsupported as error:
            self._refused[event.result.pipeline] = error.message

    def close(self) -> None:
        self._stream.flush()

    def remarks(self) -> Sequence[str]:
        count = self._writer.pipelines
        lines = [f"{count} pipeline{'s' * (count != 1)} in the archive"]
        lines += [f"not in the archive: {printable(name)}: {why}" for name, why in self._refused.items()]
        if self._without:
            names = ", ".join(printable(name) for name in list(self._without)[:_NAMED])
            more = f" and {len(self._without) - _NAMED} more" if len(self._without) > _NAMED else ""
            lines.append(f"not in the archive, since they were never given to a compiler: {names}{more}")
        return lines
