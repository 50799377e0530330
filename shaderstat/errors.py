"""Errors that a user sees.

Only the command line's entry point prints them and exits. A message says what is wrong, in which file and where;
a hint is the command, option or variable that mends it.
"""

from __future__ import annotations


class ShaderstatError(Exception):
    """Something the user can act on.

    Attributes:
        message: one line: what is wrong, and where.
        hint: what to do about it, or None.
        exit_code: 2 for "no trustworthy answer", 1 for "answered, and the answer is bad".
    """

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class NoTarget(ShaderstatError):
    """No compiler of that name can be reached, or it can't answer what was asked."""


class InvalidSpirv(ShaderstatError):
    """A module that no driver may see.

    Attributes:
        code: a stable diagnostic code such as ``spirv/truncated``.
        offset: where, in bytes from the start of the file, or None.
        path: the file; filled in by whoever knows it.
    """

    def __init__(self, code: str, message: str, *, offset: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.offset = offset
        self.path: str | None = None


class Unsupported(ShaderstatError):
    """A good module that this device, or this version of shaderstat, can't compile.

    Attributes:
        code: a stable diagnostic code such as ``vulkan/feature-missing``.
        path: the file; filled in by whoever knows it.
    """

    def __init__(self, code: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.path: str | None = None
