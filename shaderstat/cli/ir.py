"""``shaderstat ir``."""

from __future__ import annotations

from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import settings
from shaderstat.cli._tally import Sink
from shaderstat.reporters.base import Output


@click.command("ir", context_settings=_options.CONTEXT)
@_options.paths
@click.option(
    "--ir",
    "representations",
    multiple=True,
    metavar="GLOB",
    envvar="SHADERSTAT_IR",
    help="Only representations of such names: assembly, nir*. Repeatable.",
)
@click.option("--out", metavar="DIR", help="Write each to a file in this folder, with an index.json.")
@click.option("--force", is_flag=True, help="Replace files that are in that folder already.")
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.stages
@_options.output
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """The compiler's internal representations, down to the machine code.

    Without --out they are printed, the texts at least. A driver that gives none is told, and makes the exit status 2.

    \b
    Example:
      shaderstat ir water.frag.spv --ir assembly
      shaderstat ir shaders/ --out ir
    """  # fmt: skip
    given = settings(context, options, representations=True)
    if options["force"] and options["out"] is None:
        raise click.UsageError("--force is for --out", context)
    if options["out"] == "-":
        raise click.UsageError("--out wants a folder; without it they are written to standard output", context)
    with _session.destinations(given, silent=options["out"] is not None) as opened:
        outputs: list[Sink] = [*_session.create("ir", given, opened)]
        if options["out"] is None:
            return _session.answer(given, outputs)
        from shaderstat.cli._files import Folder

        on_stdout = any(place.path is None for _, place in opened)
        folder = Folder(options["out"], force=options["force"], forward=outputs, names=not on_stdout)
        return _session.answer(given, [Output(folder, given.selection)])
