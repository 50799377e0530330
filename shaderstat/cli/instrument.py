"""``shaderstat instrument``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import Settings, settings
from shaderstat.cli._tally import Sink


@click.command("instrument", context_settings=_options.CONTEXT)
@_options.paths
@_options.run
@click.option("--metrics", "lists", is_flag=True, help="List what the target can count, and run nothing.")
@click.option("--statistics", "with_statistics", is_flag=True, help="The executables' statistics, too.")
@click.option("--representations", "with_representations", is_flag=True, help="Their internal representations, too.")
@click.option("--out", metavar="DIR", help="Write representations to files in this folder, with an index.json.")
@click.option("--force", is_flag=True, help="Replace files of --out, and of a manifest's read:, that are there.")
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.stages
@_options.output
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """Run-time counts: what shaders execute in a dispatch, a draw or a trace, as the GPU counts it.

    Needs VK_ARM_shader_instrumentation; --no-metrics runs shaders without it, on any device. Every resource that a
    shader binds is made, filled with zeros unless said otherwise: counts are of one execution with these inputs.

    \b
    SIZE is 4096, 64K or 2M; without it a buffer is as large as shaders reach, as far as that
    can be told (a note names what is a guess). A FILL is one of
      zeros[:SIZE]  random[:SEED[:SIZE]]  iota[:SIZE]  FILE

    \b
    Example:
      shaderstat instrument --metrics
      shaderstat instrument blur.comp.spv --dispatch 64,64 --buffer 0.1=random:7:64K
      shaderstat instrument water.vert.spv water.frag.spv --draw 36,100 --extent 256,256 --json
      shaderstat instrument scan.comp.spv --dispatch 4 --no-metrics --buffer 0.0=in.bin --read 0.1=out.bin
    """
    if options["lists"] and options["no_metrics"]:
        raise click.UsageError("--metrics and --no-metrics exclude each other", context)
    if options["lists"]:
        from shaderstat.cli._metrics import tell

        return tell(context, options)
    representations = options["with_representations"] or options["out"] is not None
    given = settings(context, options, representations=representations, statistics=options["with_statistics"])
    typed = _said(options)
    given = replace(given, request=replace(given.request, execution=typed))
    from shaderstat.cli._reads import Reads
    from shaderstat.config.runs import files

    own = [*typed.get("read", {}).values()]
    with (
        _session.destinations(given, read=[*files([typed])]) as opened,
        Reads(own, force=options["force"]) as reads,
    ):
        sinks: list[Sink] = [*_session.create("run", given, opened), reads]
        if options["out"] is not None:
            sinks = [_folder(options["out"], options["force"], given, sinks)]
        return _session.answer(given, sinks)


def _folder(path: str, force: bool, given: Settings, sinks: list[Sink]) -> Sink:
    """What writes representations, and hands everything on to `sinks`."""
    from shaderstat.cli._files import Folder
    from shaderstat.reporters.base import Output

    return Output(Folder(path, force=force, forward=sinks, names=False), given.selection)


def _said(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line says of a run, as `shaderstat.config.runs` takes it.

    Raises:
        ShaderstatError: a value that can't be; with its option.
    """
    from shaderstat.config import runs

    typed: dict[str, Any] = {}
    commands = [
        _checked(option, text, partial(runs.command, kind))
        for kind, (option, *_) in runs.FORMS.items()
        for text in options[option.removeprefix("--").replace("-", "_")]
    ]
    if commands:
        typed["commands"] = tuple(commands)
    if options["extent"] is not None:
        typed["extent"] = _checked("--extent", options["extent"], runs.extent)
    if options["repeat"] is not None:
        typed["repeat"] = options["repeat"]
    if options["accumulate"]:
        typed["accumulate"] = True
    if options["no_metrics"]:
        typed["metrics"] = False
    if options["push"] is not None:
        typed["push"] = _checked("--push", options["push"], runs.push)
    for name, option, place, entry in (
        ("buffers", "--buffer", runs.slot, runs.fill),
        ("images", "--image", runs.slot, runs.image),
        ("vertices", "--vertices", runs.vertex_binding, runs.fill),
        ("read", "--read", runs.slot, _file),
    ):
        if options[name]:
            typed[name] = _table(option, options[name], place, entry)
    return typed


def _table(
    option: str, texts: Iterable[str], place: Callable[[str], Any], entry: Callable[[str], Any]
) -> dict[Any, Any]:
    from shaderstat.config import runs
    from shaderstat.errors import ShaderstatError

    found: dict[Any, Any] = {}
    for text in texts:
        binding, value = _checked(option, text, runs.assignment)
        slot = _checked(option, text, place, binding)
        if slot in found:
            raise ShaderstatError(f"{option} names {binding} twice")
        found[slot] = _checked(option, text, entry, value)
    return found


def _file(path: str) -> str:
    from shaderstat.config.wishes import Wrong

    if path == "-":
        raise Wrong("a file is wanted", "./- is one of that name")
    return path


def _checked(option: str, text: str, read: Callable[[str], Any], part: str | None = None) -> Any:
    """What `read` makes of an option's text, or of a part of it."""
    from shaderstat.config.wishes import Wrong
    from shaderstat.errors import ShaderstatError

    try:
        return read(text if part is None else part)
    except Wrong as error:
        raise ShaderstatError(f"{option} {text}: {error}", hint=error.hint) from None
