"""``shaderstat check``."""

from __future__ import annotations

from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import settings
from shaderstat.reporters.outcomes import FORMATS


@click.command("check", context_settings=_options.CONTEXT)
@_options.paths
@click.option(
    "--max",
    "most",
    multiple=True,
    metavar="STAT=LIMIT",
    help="One more limit: registers=64, VGPRs=+5%.",
)
@click.option("--min", "least", multiple=True, metavar="STAT=LIMIT", help="Likewise, the least: occupancy=8.")
@click.option("--baseline", metavar="FILE", help="What limits with a sign are set against. [default: as the file says]")
@click.option("--update-baseline", is_flag=True, help="Take this run's numbers for the baseline, and write it.")
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.output_of(FORMATS)
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """Budgets: which shaders take more than shaderstat.yaml, or --max, allows.

    PATH is as for stats, or a saved report. Exit status 1 where a rule of severity error is broken; 2 where that can't
    be told: a rule that matches nothing, a crash that none allows, no baseline for limits that need one.

    \b
    Example:
      shaderstat check
      shaderstat check shaders/ -t radv:navi21 --max registers=64 --max spills=0
      shaderstat check -o junit:budgets.xml -o markdown:budgets.md
      shaderstat check --update-baseline
    """
    given = settings(context, options)
    from shaderstat.cli import _check  # late: a slip in the options is told before anything is loaded

    question = _check.question(given, context)
    with _session.destinations(given, formats=FORMATS) as opened:
        return _check.verdict(given, question, opened)
