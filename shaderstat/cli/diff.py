"""``shaderstat diff``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from shaderstat.cli import _options, _session
from shaderstat.cli._settings import settings
from shaderstat.reporters.outcomes import FORMATS

# What --ir alone stands for: the last representation, which is the assembly.
LAST = "last"


class Diff(click.Command):
    """``--ir`` may stand alone, or be followed by a glob: what is a file, a folder or an option is none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        joined: list[str] = []
        rest = iter(args)
        for word in rest:
            if word == "--ir":
                glob = next(rest, None)
                is_glob = glob is not None and not glob.startswith("-") and not os.path.lexists(glob)
                joined.append(f"--ir={glob}" if is_glob else f"--ir={LAST}")
                joined += [glob] if glob is not None and not is_glob else []
            else:
                joined.append(word)
        return super().parse_args(ctx, joined)


@click.command("diff", cls=Diff, context_settings=_options.CONTEXT)
@click.argument("paths", nargs=-1, metavar="BEFORE AFTER")
@click.option(
    "--ir", "ir", metavar="[GLOB]", help="Compare a representation line by line: the last, or that of such a name."
)
@click.option("--normalise", is_flag=True, help="With --ir: leave out addresses and encodings.")
@click.option("--exit-code", is_flag=True, help="Exit status 1 on any difference.")
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="STAT:+N[%]",
    help="Exit status 1 where a statistic got worse by more: registers:+5%, spills:+0, occupancy:-1. Repeatable.",
)
@click.option("--allow-unlike", is_flag=True, help="Compare other drivers and GPUs, and lone stages with pairs.")
@click.option("--all", "everything", is_flag=True, help="Also what only informs, and what changed its code alone.")
@click.option("--threshold", metavar="N[%]", help="Show no smaller changes; those from zero are always shown.")
@click.option(
    "--stat",
    "statistics",
    multiple=True,
    metavar="GLOB",
    envvar="SHADERSTAT_STAT",
    help="Only statistics of such names: the driver's own, short (VGPRs) or general (registers).",
)
@click.option("--sort", metavar="HOW", default="percent", help="percent, absolute, name, or a statistic's name.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the first N executables of a section.")
@_options.targets
@_options.chosen
@_options.state
@_options.work
@_options.output_of(FORMATS)
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """What became better or worse: two saved reports, two trees of shaders, or one tree on two targets.

    A side is a report (JSON, JSON lines, or the CSV of fossilize-replay), or a PATH as for stats, compiled now. Exit
    status 0 whatever changed, unless --exit-code or --fail-on ask for 1; 2 where no trustworthy answer is possible.

    \b
    Example:
      shaderstat diff before.json after.json
      shaderstat diff before.json shaders/ --fail-on spills:+0 --fail-on registers:+5%
      shaderstat diff shaders/ -t radv:navi21 -t radv@sid:navi21
      shaderstat diff old/sort.comp.spv new/sort.comp.spv --ir
    """
    paths: Sequence[str] = options["paths"]
    targets: Sequence[str] = options["targets"]
    if len(paths) != 2 and not (len(paths) == 1 and len(targets) == 2):
        raise click.UsageError("two sides are wanted: BEFORE and AFTER, or one PATH and two -t", context)
    if len(paths) == 2 and paths[0] == paths[1] == "-":
        raise click.UsageError("standard input can be one side only", context)
    if options["normalise"] and options["ir"] is None:
        raise click.UsageError("--normalise is for --ir", context)
    if options["ir"] is not None and options["gates"]:
        raise click.UsageError("--fail-on is for statistics, --ir for texts", context)
    if options["ir"] is not None and (options["format"] != "table" or options["json"] or len(options["outputs"]) > 1):
        raise click.UsageError("--ir writes text, to one place", context)
    given = settings(context, options, representations=options["ir"] is not None)
    from shaderstat.cli import _diff  # late: a slip in the options is told before anything is loaded

    if options["ir"] is not None:
        with _session.destinations(given, formats=("table",)) as opened:
            return _diff.texts(given, "" if options["ir"] == LAST else options["ir"], opened)
    question = _diff.question(given)
    with _session.destinations(given, formats=FORMATS) as opened:
        return _diff.numbers(given, question, opened)
