"""``ir`` on a terminal or a pipe: each text under a heading, as it comes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shaderstat.model import Event, Executable, Representation, Result, ResultEvent
from shaderstat.reporters._failures import complaints, reason, word
from shaderstat.reporters._gathered import Gathered
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import UNNAMED, Pen, named, printable, printable_lines, width, wrap
from shaderstat.representations import blocks

# What most assemblies and SPIR-V begin a comment with, and the labels of blocks.
_COMMENT = re.compile(r"(;|//).*$")
_LABEL = re.compile(r"^\s*[\w.]+:\s*$")


class Texts:
    """Writes each representation at once; binary ones are named only."""

    by_row = True
    shows_synthetic = False

    def __init__(self, pen: Pen, options: Options) -> None:
        self._pen = pen
        self._options = options
        self._gathered = Gathered()
        self._wrote = False

    def feed(self, event: Event) -> None:
        if not isinstance(event, ResultEvent):
            self._gathered.feed(event)
            return
        result = event.result
        if not result.executables:
            self._failure(result)
        for executable, texts in zip(result.executables, event.data, strict=False):
            for representation, data in zip(executable.representations, texts, strict=True):
                self._text(result, executable, representation, data)
        if result.executables:
            self._complaints(result)

    def close(self) -> None:
        """Everything is written."""

    def remarks(self) -> Sequence[str]:
        return ()

    def _text(self, result: Result, executable: Executable, representation: Representation, data: bytes) -> None:
        name = f"{executable.index} {named(executable.name)}".rstrip()
        words = [self._gathered.name(result), name, named(representation.name) or UNNAMED]
        self._heading(" · ".join([*words, printable(result.target or "")]))
        if not representation.is_text:
            size = "1 byte" if representation.size == 1 else f"{representation.size} bytes"
            self._pen.line(f"binary, {size}: --out DIR writes it")
            return
        end = len(data)
        while data[end - 1 : end] == b"\n":
            end -= 1
        for block in blocks(data, end) if end else (b"",):
            text = block.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n")
            for line in printable_lines(text):
                self._pen.line(self._coloured(line))

    def _heading(self, words: str) -> None:
        if self._wrote:
            self._pen.line()
        self._wrote = True
        rule = "─" * max(min(self._options.width or 0, 100) - width(words) - 4, 2)
        for line in wrap(f"── {words} {rule}", self._options.width):
            self._pen.line(self._pen.paint(line, "bold"))

    def _failure(self, result: Result) -> None:
        self._heading(f"{self._gathered.name(result)} · {printable(result.target or '')}".removesuffix(" · "))
        status, style = word(result)
        start = self._pen.paint(status, style) + "  "
        self._pen.prose(start, width(status) + 2, reason(result), self._options.width)

    def _complaints(self, result: Result) -> None:
        for text in complaints(result):
            self._heading(f"{self._gathered.name(result)} · {printable(result.target or '')}")
            self._pen.prose(self._pen.paint("error", "red") + "  ", 7, text, self._options.width)

    def _coloured(self, line: str) -> str:
        if not self._options.colour:
            return line
        if _LABEL.match(line):
            return self._pen.paint(line, "cyan")
        return _COMMENT.sub(lambda comment: self._pen.paint(comment[0], "dim"), line)
