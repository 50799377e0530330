"""Where the store lies and how large it may become: the user's cache folder, unless the environment says otherwise."""

from __future__ import annotations

import os

from shaderstat.errors import ShaderstatError

FOLDER_VARIABLE = "SHADERSTAT_CACHE_DIR"
LIMIT_VARIABLE = "SHADERSTAT_CACHE_SIZE"

# A hundred thousand pipelines' statistics take some hundred megabytes, their representations ten times that.
_LIMIT = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def folder() -> str:
    """The store's folder; it need not be there yet."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return os.path.abspath(given)
    import platformdirs

    return platformdirs.user_cache_dir("shaderstat")


def default_limit() -> int:
    """How many bytes may be kept: ``SHADERSTAT_CACHE_SIZE``, such as ``500M``, or a gibibyte.

    Raises:
        ShaderstatError: the variable is no size.
    """
    given = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not given:
        return _LIMIT
    word = given.upper().removesuffix("B").removesuffix("I")
    unit = word[-1:] if word[-1:].isalpha() else ""
    try:
        return int(float(word.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise ShaderstatError(f"{LIMIT_VARIABLE}={given}: not a size", hint="for instance 500M or 2G") from None


def size_words(size: int) -> str:
    """``12.3 MiB``."""
    value, unit = float(size), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{size} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
