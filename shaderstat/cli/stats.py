"""``shaderstat stats``."""

from __future__ import annotations

from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import settings


@click.command("stats", context_settings=_options.CONTEXT)
@_options.paths
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.selection
@click.option("--raw", is_flag=True, help="With several targets: each driver's own names, not set side by side.")
@_options.output
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """Statistics of each executable: registers, spills, code size and whatever else the driver tells.

    PATH is a .spv file, a folder, a glob, or - for standard input. A vertex and a fragment shader of one folder and one
    stem make one pipeline: water.vert.spv, water.frag.spv.

    \b
    Example:
      shaderstat stats blur.comp.spv
      shaderstat stats shaders/ -t radv:navi21 --sort VGPRs --top 10
      shaderstat stats shaders/ -o json:report.json -o csv-long:report.csv
    """
    given = settings(context, options)
    with _session.destinations(given) as opened:
        return _session.answer(given, _session.create("stats", given, opened))
