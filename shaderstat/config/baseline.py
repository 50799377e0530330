"""The baseline: numbers that were accepted once, in a file that is committed and read in diffs.

JSON with one line an executable, everything sorted, so that two versions differ where the numbers do.
"""

from __future__ import annotations

import json
from typing import Any

from shaderstat.config.reader import bytes_of
from shaderstat.errors import ShaderstatError
from shaderstat.model import Baseline

Numbers = dict[str, dict[str, dict[str, dict[str, int | float]]]]

SCHEMA = {"name": "shaderstat-baseline", "version": 1}

_HINT = "one is written by: shaderstat check --update-baseline"


def read_baseline(path: str) -> Baseline:
    """A baseline from its file.

    Raises:
        FileNotFoundError: there is none.
        ShaderstatError: it is none, or one of a later version.
    """
    try:
        data = json.loads(bytes_of(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ShaderstatError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ShaderstatError(f"{path}: is no baseline: {error}", hint=_HINT) from None
    try:
        schema = data["schema"]
        if schema["name"] != SCHEMA["name"]:
            raise ShaderstatError(f"{path}: follows the schema {schema['name']!r}, not {SCHEMA['name']!r}", hint=_HINT)
        if int(schema["version"]) > int(str(SCHEMA["version"])):
            raise ShaderstatError(
                f"{path}: is in version {schema['version']} of the baseline", hint="pip install --upgrade shaderstat"
            )
        compilers = {str(target): str(words) for target, words in data["compilers"].items()}
        return Baseline(compilers, _numbers(data["numbers"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ShaderstatError(f"{path}: is no baseline: {error}", hint=_HINT) from None


def _numbers(data: Any) -> Numbers:
    for pipelines in data.values():
        for executables in pipelines.values():
            for numbers in executables.values():
                for name, number in numbers.items():
                    if isinstance(number, bool) or not isinstance(number, int | float):
                        raise ValueError(f"{name} is {number!r}, which is no number")
    checked: Numbers = data
    return checked


def render(baseline: Baseline) -> bytes:
    """The file's bytes."""
    lines = ["{", f' "schema": {json.dumps(SCHEMA)},', ' "compilers": {']
    lines += _members(("  ", f"{_text(id)}: {_text(words)}") for id, words in sorted(baseline.compilers.items()))
    lines += [" },", ' "numbers": {']
    targets = []
    for target, pipelines in sorted(baseline.numbers.items()):
        inner = []
        for pipeline, executables in sorted(pipelines.items()):
            rows = _members(
                ("    ", f"{_text(key)}: {json.dumps(numbers, sort_keys=True, ensure_ascii=False)}")
                for key, numbers in sorted(executables.items())
            )
            inner.append(("   ", "\n".join([f"{_text(pipeline)}: {{", *rows, "   }"])))
        targets.append(("  ", "\n".join([f"{_text(target)}: {{", *_members(inner), "  }"])))
    lines += [*_members(targets), " }", "}"]
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _members(pairs: Any) -> list[str]:
    found = [indent + text for indent, text in pairs]
    return [text + ("," if place < len(found) - 1 else "") for place, text in enumerate(found)]
