"""Options, in the forms that are needed: the request, the selection, how standard output looks."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from shaderstat import variants
from shaderstat.cli import COMMANDS
from shaderstat.cli._destinations import ARCHIVE, is_written, path_of
from shaderstat.model import Request
from shaderstat.plain import dataclass
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Selection

# Options that say how the work is done and shown, and not what is compiled, and where.
_HOW = frozenset(
    "format json outputs quiet verbose color raw statistics sort top statuses jobs fail_fast no_cache refresh"
    " no_progress".split()
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one call, in the forms that are needed.

    Attributes:
        command: its name.
        options: as click parsed them.
        subject: the paths and the options that say what is compiled, and where, as they were typed.
        format: that of ``-f`` or ``--json``; `explicit` if it was given on the command line.
        colour: whether standard output gets colours; `width` its columns, None off a terminal.
    """

    command: str
    options: Mapping[str, Any]
    subject: tuple[str, ...]
    request: Request
    selection: Selection
    format: str
    explicit: bool
    colour: bool
    width: int | None
    quiet: bool
    verbosity: int

    @property
    def shows_problems(self) -> bool:
        """Whether a table on the terminal says itself what went wrong: stderr would only say it again."""
        elsewhere = self.options["outputs"] or self.options.get("out")
        return self.width is not None and self.format == "table" and not elsewhere

    @property
    def is_silent_until_the_end(self) -> bool:
        """Whether nothing is written to the terminal while the run goes on."""
        return self.width is None or (self.format in ("table", "json") and self.command != "ir")

    def reporter_options(self, view: str, to_terminal: bool) -> Options:
        """How a format shall look on standard output, or in a file."""
        return Options(
            view=view,
            verbosity=self.verbosity,
            width=self.width if to_terminal else None,
            colour=self.colour if to_terminal else self.options["color"] == "always",
            encoding=(getattr(sys.stdout, "encoding", None) or "utf-8") if to_terminal else "utf-8",
            selection=self.selection,
            raw=bool(self.options.get("raw")),
        )


def settings(
    context: click.Context, options: Mapping[str, Any], *, representations: bool = False, statistics: bool = True
) -> Settings:
    """Make sense of the options.

    Raises:
        click.UsageError: no path, or options that exclude each other.
        ShaderstatError: a ``--spec`` that is none.
    """
    given = context.get_parameter_source("format") is ParameterSource.COMMANDLINE
    json = options["json"]
    if json and given and options["format"] != "json":
        if context.get_parameter_source("json") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--json and -f {options['format']} exclude each other", context)
        json = False  # the variable of the environment gives way
    selection = Selection(
        statistics=options.get("statistics", ()),
        stages=options.get("stages", ()),
        representations=options.get("representations", ()),
        sort=options.get("sort"),
        top=options.get("top"),
        statuses=options.get("statuses", ()),
        synthetic=options.get("synthetic", False),
    )
    terminal = sys.stdout is not None and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    format, explicit = "json" if json else options["format"], given or json
    request = asked(context, options, representations=representations, statistics=statistics)
    return Settings(
        command=context.command.name or "",
        options=options,
        subject=_subject(context),
        request=replace(request, keep_states=is_written(ARCHIVE, options["outputs"], format, explicit)),
        selection=selection,
        format=format,
        explicit=explicit,
        colour={"always": True, "never": False}.get(options["color"], terminal and not plain),
        width=shutil.get_terminal_size().columns if terminal else None,
        quiet=options["quiet"],
        verbosity=options["verbose"],
    )


def asked(
    context: click.Context, options: Mapping[str, Any], *, representations: bool = False, statistics: bool = True
) -> Request:
    """The request that the shared options make.

    Raises:
        click.UsageError: no path, and no manifest either; an empty value.
        ShaderstatError: a ``--spec`` that is none.
    """
    _check_paths(options["paths"], context)
    _check_values(options, context)
    root = context.find_root().obj
    return Request(
        paths=options["paths"],
        targets=options["targets"],
        backend=options["backend"],
        statistics=statistics,
        representations=representations,
        validate=not options["no_validate"],
        timeout_s=options["timeout"],
        jobs=options["jobs"] or 0,
        cache=not options["no_cache"],
        refresh=options["refresh"],
        fail_fast=options["fail_fast"],
        pipelines=options["pipelines"],
        entries=options["entries"],
        spec=tuple(variants.parse(text) for text in options["spec"]),
        config=_config(context, options),
        subgroup_size=options["subgroup_size"],
        samples=options["samples"],
        color_format=options["color_format"],
        depth_format=options["depth_format"],
        topology=options["topology"],
        profile=options["profile"],
        optimize=not options["no_optimize"],
        driver_manifest=options["driver"],
        sandbox=options["sandbox"],
        environment=dict(options["env"]),
        scenario=options["scenario"],
        outputs=tuple(map(path_of, options.get("outputs", ()))),
        arguments=root if isinstance(root, tuple) else (),
    )


def _subject(context: click.Context) -> tuple[str, ...]:
    words = [*context.params["paths"]]
    for option in context.command.params:
        name = option.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or name in _HOW or not typed:
            continue
        value = context.params[name]
        for one in value if option.multiple else [value]:
            words.append(option.opts[0])
            if not option.is_flag:
                words.append(
                    "=".join(one) if isinstance(one, tuple) else f"{one:g}" if isinstance(one, float) else str(one)
                )
    return tuple(words)


def _config(context: click.Context, options: Mapping[str, Any]) -> str | None:
    """The manifest: the one that was named; without a path, the nearest."""
    path: str | None = options["config"]
    if path is None and not options["paths"]:
        from shaderstat.engine import nearest_manifest  # late: a slip in the options is told before anything is loaded

        path = nearest_manifest()
        if path is None:
            raise click.UsageError(f"no input. For instance: {context.command_path} blur.comp.spv", context)
    return path


def _check_paths(paths: Sequence[str], context: click.Context) -> None:
    misplaced = next((path for path in paths if path in COMMANDS and not os.path.lexists(path)), None)
    if misplaced is not None:
        raise click.UsageError(f"the command goes first: shaderstat {misplaced} ...", context)


def _check_values(options: Mapping[str, Any], context: click.Context) -> None:
    """An empty value is a variable of the shell that isn't set; nothing that can be asked for is called so."""
    for option in context.command.params:
        given = options.get(option.name or "")
        if isinstance(option, click.Option) and (given == "" or (isinstance(given, tuple) and "" in given)):
            name = next(each for each in option.opts if each.startswith("--"))
            raise click.UsageError(f"{name}: an empty value", context)
