"""YAML with line numbers: nodes that know where they stand and say what is wrong with them.

Values are read by what the reader expects of them, so that nothing is guessed: ``on`` is no text and ``0x10`` no name
until somebody asks for one. Safe loading only: tags make no objects.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import stat
from collections.abc import Collection, Mapping
from typing import Any

import yaml

from shaderstat.errors import ShaderstatError

# What a file may hold, aliases counted each time that they are used: a few lines of them can stand for billions.
MAX_BYTES = 16 << 20
MAX_NODES = 1_000_000


# What YAML 1.1 takes for text: a float without a point, or without a sign in its exponent, and these words without a
# point before them.
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+|nan|[-+]?inf")


class Node:
    """A value in a file. Every method raises `ShaderstatError`, with the file and the line, where the value isn't what
    it should be.

    Attributes:
        line: counted from 1.
    """

    def __init__(self, node: yaml.Node, file: _File) -> None:
        file.count(node)
        self._node = node
        self._file = file
        self.line: int = node.start_mark.line + 1

    def error(self, message: str, hint: str | None = None) -> ShaderstatError:
        """What is wrong here."""
        return ShaderstatError(f"{self._file.path}:{self.line}: {message}", hint=hint)

    def mapping(self, known: Collection[str], required: Collection[str] = ()) -> dict[str, Node]:
        """The members of a mapping, all of them `known`."""
        members: dict[str, Node] = {}
        for key, value in self.pairs():
            name = key.scalar()
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                raise key.error(
                    f"there is no {name!r} here", f"did you mean {near[0]}?" if near else "known: " + ", ".join(known)
                )
            if name in members:
                raise key.error(f"{name} stands here twice")
            members[name] = value
        for name in required:
            if name not in members:
                raise self.error(f"{name} is missing")
        return members

    def table(self) -> dict[str, Node]:
        """The members of a mapping whose keys are the file's own."""
        members: dict[str, Node] = {}
        for key, value in self.pairs():
            name = key.text()
            if name in members:
                raise key.error(f"{name} stands here twice")
            members[name] = value
        return members

    def pairs(self) -> list[tuple[Node, Node]]:
        """The members of a mapping in their order, whatever their keys are."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.error("a mapping is wanted here: name: value")
        return [(Node(key, self._file), Node(value, self._file)) for key, value in self._node.value]

    def items(self) -> list[Node]:
        """The elements of a list."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.error("a list is wanted here: [a, b], or a line with a dash for each")
        return [Node(each, self._file) for each in self._node.value]

    def one_or_more(self) -> list[Node]:
        """The elements of a list, or the one value that stands in its place."""
        return self.items() if isinstance(self._node, yaml.SequenceNode) else [self]

    @property
    def is_mapping(self) -> bool:
        """Whether it is one."""
        return isinstance(self._node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it is one."""
        return isinstance(self._node, yaml.SequenceNode)

    @property
    def is_null(self) -> bool:
        """Whether it says that there is nothing."""
        return bool(self._node.tag == "tag:yaml.org,2002:null")

    def scalar(self) -> Any:
        """A plain value as YAML has it: text, a number, a truth value or None."""
        if not isinstance(self._node, yaml.ScalarNode):
            raise self.error("a plain value is wanted here")
        try:
            return yaml.constructor.SafeConstructor().construct_object(self._node)
        except (yaml.YAMLError, ValueError, OverflowError):
            raise self.error(f"{self._node.value!r} is no value") from None

    def source(self) -> str:
        """A plain value as it stands in the file, less its quotes."""
        self.scalar()
        return str(self._node.value)

    def text(self) -> str:
        """Text."""
        value = self.scalar()
        if not isinstance(value, str):
            raise self.error(f"text is wanted here, and this is {_kind(value)}", 'put it in quotes: "…"')
        return value

    def boolean(self) -> bool:
        """``true`` or ``false``."""
        value = self.scalar()
        if not isinstance(value, bool):
            raise self.error("true or false is wanted here")
        return value

    def integer(self, low: int = 0, high: int = 2**32 - 1) -> int:
        """A whole number from `low` to `high`."""
        value = self.scalar()
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"a whole number is wanted here, and this is {_kind(value)}")
        if not low <= value <= high:
            raise self.error(f"{value} is out of range: {low} to {high}")
        return value

    def number(self) -> float:
        """A number, a fraction among them."""
        value = self.scalar()
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return float(value)
        if isinstance(value, float) and math.isnan(value):
            return math.nan  # PyYAML's own has its sign bit set
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"a number is wanted here, and this is {_kind(value)}")
        try:
            return float(value)
        except OverflowError:
            raise self.error(f"{value} is beyond what 64 bits of a float hold") from None

    def choice(self, words: Collection[str]) -> str:
        """One of `words`."""
        value = self.text()
        if value not in words:
            near = difflib.get_close_matches(value, words, n=1)
            hint = f"did you mean {near[0]}?" if near else "known: " + ", ".join(words)
            raise self.error(f"{value!r} is none of the words that stand here", hint)
        return value


class _File:
    def __init__(self, path: str) -> None:
        self.path = path
        self._nodes = 0

    def count(self, node: yaml.Node) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ShaderstatError(
                f"{self.path}:{node.start_mark.line + 1}: more than {MAX_NODES} values, aliases counted"
            )


def read(path: str) -> Node | None:
    """The one document of a file; None where it is empty.

    Raises:
        ShaderstatError: the file can't be read, or isn't YAML.
    """
    try:
        raw = bytes_of(path, MAX_BYTES + 1)
    except OSError as error:
        raise ShaderstatError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # a NUL in its name
        raise ShaderstatError(f"{path!r} is not a path: {error}") from None
    if len(raw) > MAX_BYTES:
        raise ShaderstatError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ShaderstatError(f"{path}:{line}: is not UTF-8", hint="write it as UTF-8") from None
    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _syntax_error(path, text, error) from None
    except RecursionError:
        raise ShaderstatError(f"{path}: nested too deep") from None
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    return Node(node, _File(path))


def bytes_of(path: str, most: int = -1) -> bytes:
    """What a file holds, or a descriptor (``<(…)``), up to so many bytes. A named pipe may have no writer, and is not
    waited for.

    Raises:
        OSError: it can't be read.
        ShaderstatError: it is no file.
    """
    mode = os.stat(path).st_mode
    is_descriptor = os.path.dirname(path) in ("/dev/fd", "/proc/self/fd") or path == "/dev/stdin"
    if not stat.S_ISREG(mode) and not is_descriptor and path != os.devnull and not stat.S_ISDIR(mode):
        raise ShaderstatError(f"{path}: is {'a named pipe' if stat.S_ISFIFO(mode) else 'a device'}, not a file")
    with open(path, "rb") as file:
        return file.read(most)


def _syntax_error(path: str, text: str, error: yaml.YAMLError) -> ShaderstatError:
    mark = getattr(error, "problem_mark", None)
    # What is missing at the end is missing on the last line, not on the one behind it.
    where = f"{path}:{min(mark.line + 1, len(text.splitlines()) or 1)}" if mark is not None else path
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    alias = "alias" in f"{getattr(error, 'context', '')} {problem}"
    return ShaderstatError(f"{where}: is not YAML: {problem}", hint='put a glob in quotes: "*.spv"' if alias else None)


def _kind(value: Any) -> str:
    names: Mapping[type, str] = {type(None): "nothing", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), "text" if isinstance(value, str) else type(value).__name__)
