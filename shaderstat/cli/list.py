"""``shaderstat list``."""

from __future__ import annotations

from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import settings


@click.command("list", context_settings=_options.CONTEXT)
@_options.paths
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.stages
@_options.output
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """The executables that each pipeline was compiled to.

    Executables are not stages: a driver may merge stages into one, or compile one stage several times.

    \b
    Example:
      shaderstat list shaders/
      shaderstat list 'shaders/**/*.frag.spv' --json
    """
    given = settings(context, options, representations=True)
    with _session.destinations(given) as opened:
        return _session.answer(given, _session.create("list", given, opened))
