"""The library: one question, its answer whole or as it comes.

The command line calls `shaderstat.engine.run` with a `Request` of its own; these two make one from keywords.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from shaderstat.model import Event, Report, Request, SpecOption

if TYPE_CHECKING:  # PEP 692; type checkers know it without the package being installed
    from typing_extensions import Unpack

    from shaderstat.instrumentation import Execution

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths = Path | Iterable[Path]
Words = str | Iterable[str]


class Options(TypedDict, total=False):
    """What `stream` and `inspect` take by keyword. `shaderstat.Request` says what each is, and what it is by default.

    Where that is a tuple, any iterable will do, or a single one; ``spec`` takes the command line's ``"0=4,8"`` too.
    """

    backend: Literal["auto", "vulkan", "mock"]
    statistics: bool
    representations: bool
    validate: bool
    timeout_s: float
    jobs: int
    cache: bool
    refresh: bool
    fail_fast: bool
    pipelines: Words
    entries: Words
    spec: str | Iterable[str | SpecOption]
    config: str | os.PathLike[str] | None
    subgroup_size: int | None
    samples: int | None
    color_format: str | None
    depth_format: str | None
    topology: str | None
    optimize: bool
    profile: str | None
    keep_states: bool
    execution: Execution | Mapping[str, Any] | None
    driver_manifest: str | os.PathLike[str] | None
    environment: Mapping[str, str]
    own_targets: Mapping[str, Mapping[str, Any]]
    sandbox: bool
    scenario: str | os.PathLike[str] | None
    stdin: bytes | None


def stream(paths: Paths, *, target: Words | None = None, **options: Unpack[Options]) -> Iterator[Event]:
    """Compile `paths` and yield events as results come, in input order.

    Args:
        paths: one or several: .spv files, folders, globs; ``-`` with `stdin`.
        target: a target's name, or several; None for the best that can be reached.
        **options: see `shaderstat.api.Options`: ``representations=True``, ``timeout_s=10``, ``pipelines="blur*"``,
            ``stdin=data``. With ``execution=Execution((Command("dispatch", (4, 4, 1)),))`` each pipeline is run, too;
            ``execution={}`` runs it as the manifest says.

    Yields:
        A `RunEvent` first, an `EndEvent` last; `ResultEvent.data` holds the bytes of the representations,
        `ResultEvent.read` those of buffers after a run.

    Raises:
        ShaderstatError: there is nothing to answer: no such file, no such target. A bad module is a result, not an
            exception.
        TypeError: an option that there is not, or a path that is none.
    """
    request = _request(paths, target, options)
    # Imported late: `import shaderstat` and building a request must not load what runs one.
    from shaderstat import engine

    return engine.run(request)


def inspect(paths: Paths, *, target: Words | None = None, **options: Unpack[Options]) -> Report:
    """Compile `paths` and give the whole report. See `stream` for the arguments and errors.

    Representations are described in the report but not held in it: `stream` has their bytes.
    """
    return Report.collect(stream(paths, target=target, **options))


def _request(paths: Paths, target: Words | None, options: Options) -> Request:
    unknown = options.keys() - Options.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    given: dict[str, Any] = dict(options)
    for name in ("pipelines", "entries"):
        if name in given:
            given[name] = _words(given[name])
    if "spec" in given:
        from shaderstat.variants import parse

        given["spec"] = tuple(parse(one) if isinstance(one, str) else one for one in _words(given["spec"]))
    for name in ("config", "driver_manifest", "scenario"):
        if given.get(name) is not None:
            given[name] = os.fspath(given[name])
    return Request(paths=_paths(paths), targets=() if target is None else _words(target), **given)


def _paths(paths: Paths) -> tuple[str, ...]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = (paths,)
    return tuple(os.fsdecode(path) for path in paths)


def _words(words: Any) -> tuple[Any, ...]:
    return (words,) if isinstance(words, (str, SpecOption)) else tuple(words)
