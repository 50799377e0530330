"""The library: one question, its answer whole or as it comes.

The command line calls `shaderstat.engine.run` with a `Request` of its own; these two make one from keywords.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from shaderstat.model import Event, Report, Request

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def stream(paths: Paths, *, target: str | Iterable[str] | None = None, **options: Any) -> Iterator[Event]:
    """Compile `paths` and yield events as results come, in input order.

    Args:
        paths: one or several: .spv files, folders, globs; ``-`` with `stdin`.
        target: a target's name, or several; None for the best that can be reached.
        **options: further members of `shaderstat.Request`, such as ``representations=True``, ``timeout_s=10``,
            ``pipelines=("blur*",)``, ``stdin=data``.

    Yields:
        A `RunEvent` first, an `EndEvent` last; `ResultEvent.data` holds the bytes of the representations.

    Raises:
        ShaderstatError: there is nothing to answer: no such file, no such target. A bad module is a result, not an
            exception.
        TypeError: an option that `Request` does not have.
    """
    request = Request(paths=_paths(paths), targets=_targets(target), **options)
    # Imported late: `import shaderstat` and building a request must not load what runs one.
    from shaderstat import engine

    return engine.run(request)


def inspect(paths: Paths, *, target: str | Iterable[str] | None = None, **options: Any) -> Report:
    """Compile `paths` and give the whole report. See `stream` for the arguments and errors.

    Representations are described in the report but not held in it: `stream` has their bytes.
    """
    return Report.collect(stream(paths, target=target, **options))


def _paths(paths: Paths) -> tuple[str, ...]:
    if isinstance(paths, (str, os.PathLike)):
        paths = (paths,)
    return tuple(os.fspath(path) for path in paths)


def _targets(target: str | Iterable[str] | None) -> tuple[str, ...]:
    if target is None:
        return ()
    return (target,) if isinstance(target, str) else tuple(target)
