"""``shaderstat instrument --metrics``: what targets can count, in their drivers' words."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from shaderstat.cli import say
from shaderstat.cli._pen import stdout_pen
from shaderstat.reporters.text import UNNAMED, Pen, escaped_json, left, named, printable, span, width

if TYPE_CHECKING:
    from shaderstat.targets.offers import Counting

SCHEMA = {"name": "shaderstat-metrics", "version": 1}


def tell(context: click.Context, options: Mapping[str, Any]) -> int:
    """Print them. Returns the exit status.

    Raises:
        click.UsageError: options that are for a run.
        ShaderstatError: a target can't be had, or counts nothing.
    """
    if options["paths"]:
        raise click.UsageError("--metrics lists what a target can count: it takes no FILE", context)
    if options["outputs"] or options["format"] not in ("table", "json"):
        raise click.UsageError("--metrics is printed, as a table or with --json", context)
    found, notes = _found(options)
    for note in () if options["quiet"] else notes:
        say(note.message if note.severity == "info" else f"{note.severity}: {note.message}")
    if options["json"] or options["format"] == "json":
        plain = [
            {"target": one.target, "driver": asdict(one.driver), "device": asdict(one.device), **asdict(one.offer)}
            for one in found
        ]
        click.echo(escaped_json(json.dumps({"schema": SCHEMA, "targets": plain}, indent=1)))
        return 0
    pen = stdout_pen(options["color"])
    for place, one in enumerate(found):
        if place:
            pen.line()
        _draw(one, pen)
    return 0


def _found(options: Mapping[str, Any]) -> tuple[Sequence[Counting], Sequence[Any]]:
    from shaderstat.config.scenario import read_scenario
    from shaderstat.config.targets import with_own
    from shaderstat.model import Request
    from shaderstat.targets import own
    from shaderstat.targets.offers import offers

    request = Request(
        (),
        targets=options["targets"],
        backend=options["backend"],
        timeout_s=options["timeout"],
        jobs=1,
        config=options["config"],
        driver_manifest=options["driver"],
        sandbox=options["sandbox"],
        environment=dict(options["env"]),
    )
    scenario = read_scenario(options["scenario"]) if options["scenario"] is not None else None
    return offers(with_own(request, own.check), scenario)


def _draw(one: Counting, pen: Pen) -> None:
    kind = "for each basic block" if one.offer.per_basic_block else "for each shader as a whole"
    pen.line(f"{pen.paint(printable(one.target), 'cyan')} · {printable(one.device.name)} · counted {kind}")
    pen.line()
    columns = os.get_terminal_size().columns if sys.stdout.isatty() else None
    names = [named(metric.name) or UNNAMED for metric in one.offer.metrics]
    first = span(names)
    for name, metric in zip(names, one.offer.metrics, strict=True):
        start = f"  {pen.paint(left(name, first), 'bold')}  "
        pen.prose(start, max(first, width(name)) + 4, printable(metric.description), columns)
