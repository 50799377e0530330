"""``shaderstat targets``, ``targets install`` and ``targets remove``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from shaderstat.cli import _options, say
from shaderstat.cli._pen import stdout_columns, stdout_pen
from shaderstat.reporters._columns import fitting, joined, name_room, no_room
from shaderstat.reporters.text import Pen, escaped_json, left, printable, shorten, width

if TYPE_CHECKING:
    from shaderstat.targets.listing import Listing, Reached, Unreached
    from shaderstat.trees import Tree

SCHEMA = {"name": "shaderstat-targets", "version": 1}

# Of each driver the GPU that stands for the others while they are folded.
_FACES = ("navi21", "navi31", "a740", "ad102", "g13g")

_DRIVERS = {"radv": "RADV", "nvk": "NVK", "turnip": "Turnip", "agx": "Honeykrisp"}


@click.group("targets", invoke_without_command=True, context_settings=_options.CONTEXT)
@click.option("--json", is_flag=True, help="As JSON.")
@click.option("-v", "--verbose", count=True, help="Every GPU, those that answer alike, and what was refused.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
@click.option("--again", is_flag=True, help="Ask every compiler anew, whatever is remembered.")
@click.option(
    "--env", type=_options.Variable(), multiple=True, metavar="NAME=VALUE", help="Set a variable for the drivers."
)
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int | None:
    """The compilers that can be reached from here, and why others can't.

    What is listed has compiled something. Without a GPU there are RADV's null device, drm-shims, and driver trees,
    which "targets install" makes: folders of another Mesa's packages, run without root and without containers.

    \b
    Example:
      shaderstat targets -v
      shaderstat targets install
      shaderstat stats blur.comp.spv -t 'radv:*' -t turnip:a740
    """
    if context.invoked_subcommand is not None:
        return None
    from shaderstat.config.targets import described
    from shaderstat.targets import own
    from shaderstat.targets.listing import listing

    mine = described(None, own.check)
    with _counter("asking compilers", options["quiet"]) as count:
        found = listing(
            dict(options["env"]), own=mine, again=options["again"], progress=lambda done, all_: count(done, all_)
        )
    if options["json"]:
        import json

        click.echo(escaped_json(json.dumps(_plain(found), indent=1)))
        return 0
    pen = stdout_pen()
    remarks = _draw(found, pen, stdout_columns(), options["verbose"] > 0)
    sys.stdout.flush()
    for line in remarks if not options["quiet"] else ():
        say(line)
    if found.default and not options["quiet"]:
        say("▸ taken when no -t is given")
        if any(one.metrics is not None for one in found.reached):
            say("counts: metrics of shaderstat instrument, counted by basic block or by shader; --metrics lists them")
    return 0


@command.command("install")
@click.argument("name", required=False)
@click.option("--suite", metavar="SUITE", help="Debian's suite. [default: the newest that has mesa-drm-shim]")
@click.option("--mirror", metavar="URL", help="A Debian archive. [default: that of this machine's apt]")
@click.option("--snapshot", metavar="DATE", help="A date that the archive at --mirror keeps, such as 20260901T000000Z.")
@click.option("--keyring", metavar="FILE", help="The keys that the archive is signed with.")
@click.option(
    "--apt-option", "apt_options", multiple=True, metavar="NAME=VALUE", help="An option for apt, as its -o. Repeatable."
)
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
def install(name: str | None, quiet: bool, keyring: str | None, **options: Any) -> int:
    """Make a driver tree: another Mesa's compilers, for GPUs that need not be here.

    It takes about 90 MB of download and 400 MB of disk, and neither root nor containers. NAME is the suite's unless
    given; a tree of that name is built anew. -t radv@NAME:navi31 means the one in that tree.

    \b
    Example:
      shaderstat targets install
      shaderstat targets install old --suite trixie
    """
    from shaderstat import trees
    from shaderstat.targets.listing import listing
    from shaderstat.trees import apt

    plan = trees.Plan(name=name, keyring=keyring or apt.KEYRING, **options)
    tree = trees.install(plan, lambda line: None if quiet else say(line))
    with _counter("asking compilers", quiet) as count:
        found = listing(progress=lambda done, all_: count(done, all_))
    there = [one for one in found.reached if one.where == f"tree {tree.name}"]
    click.echo(f"{tree.name}: Mesa {printable(tree.mesa)}, {len(there)} GPUs, in {printable(str(tree.folder))}")
    return 0


@command.command("remove")
@click.argument("name")
def remove(name: str) -> int:
    """Delete a driver tree, whole or half-built."""
    from shaderstat import trees

    click.echo(f"{name}: removed {printable(str(trees.remove(name)))}")
    return 0


@contextmanager
def _counter(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """``asking compilers 12/104``, on one line that goes away; nothing where standard error is no terminal."""
    shows = not quiet and sys.stderr is not None and sys.stderr.isatty()

    def count(done: int, all_: int) -> None:
        if shows:
            click.echo(f"\r{what} {done}/{all_}", err=True, nl=False)

    try:
        yield count
    finally:
        if shows:
            click.echo("\r\x1b[K", err=True, nl=False)


# ── The table ─────────────────────────────────────────────────────────────────────────────────────────────────────


HEADINGS = ("target", "gpu", "driver", "api", "stats", "ir", "from", "counts")

# What goes first where there is no room.
_DISPENSABLE = (3, 1, 7, 6, 5, 4)


def _draw(found: Listing, pen: Pen, columns: int | None, verbose: bool) -> list[str]:
    """Write the table. Returns what had no room."""
    rows = [_row(one) for one in found.reached] if verbose else list(_folded(found.reached))
    room = name_room(columns)
    if room is not None:  # names give way; a target's is what is typed
        rows = [(row[0], *(shorten(cell, room) for cell in row[1:])) for row in rows]
    # no shipping driver counts
    heads = HEADINGS if any(row[-1] for row in rows) else HEADINGS[:-1]
    widths = [max(map(width, column)) for column in zip(heads, *(row[: len(heads)] for row in rows), strict=True)]
    shown = fitting(widths, columns, [place for place in _DISPENSABLE if place < len(heads)])
    pen.line(pen.paint(joined(heads, widths, shown), "dim"))
    for row in rows:
        line = joined(row, widths, shown)
        pen.line(pen.paint("▸ ", "cyan") + line[2:] if row[0] == found.default else line)
    if verbose:
        _draw_alike(found.reached, pen, columns)
    if found.unreached or (verbose and found.refused):
        pen.line()
        pen.line(pen.paint("  not reachable", "dim"))
        _draw_unreached([*found.unreached, *(_together(found.refused) if verbose else ())], pen, columns)
    if verbose:
        _draw_trees(found, pen, columns)
    return no_room(head for place, head in enumerate(heads) if place not in shown)


def _row(one: Reached) -> tuple[str, ...]:
    version = one.driver.info or one.driver.version
    prefix = one.target.partition(":")[0].partition("@")[0]
    name = _DRIVERS.get(prefix) or _DRIVERS.get(one.driver.name, one.driver.name)
    driver = (
        version if name and version.startswith(name) else f"{name}{' ' if version[:1].isdigit() else ', '}{version}"
    )
    api = ".".join(one.device.api_version.split(".")[:2]) or "–"
    says = ["yes" if one.statistics else "no", "yes" if one.representations else "no"]
    counts = "" if one.metrics is None else f"{one.metrics} {'by block' if one.per_basic_block else 'by shader'}"
    return tuple(printable(text) for text in (one.target, one.gpu, driver.strip(), api, *says, one.where, counts))


def _folded(reached: Iterable[Reached]) -> Iterator[tuple[str, ...]]:
    """One row for the GPU that is best known of each driver and place, and one for all others."""
    groups: dict[tuple[str, ...], list[Reached]] = {}
    for one in reached:
        groups.setdefault((one.target.partition(":")[0], one.where, one.driver.info), []).append(one)
    for (prefix, *_), group in groups.items():
        if len(group) <= 2 or prefix == "host":
            yield from map(_row, group)
            continue
        faces = [one for one in group if one.target.partition(":")[2] in _FACES]
        face = (faces or group[-1:])[0]
        yield _row(face)
        answers = [_row(one) for one in group]
        apis = sorted({row[3] for row in answers}, key=lambda api: [int(part) for part in api.split(".")])
        api = apis[0] if len(apis) == 1 else f"{apis[0]}–{apis[-1]}"
        says = ["yes" if all(row[at] == "yes" for row in answers) else "some" for at in (4, 5)]
        counts = {row[7] for row in answers}
        others = (answers[0][6], counts.pop() if len(counts) == 1 else "")
        yield (f"{prefix}:*", f"{len(group) - 1} more (-v)", answers[0][2], api, *says, *others)


def _draw_alike(reached: Iterable[Reached], pen: Pen, columns: int | None) -> None:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in reached:
        if one.alike:
            groups.setdefault((one.where, one.alike), []).append(one.target)
    alike = [group for group in groups.values() if len(group) > 1]
    if alike:
        pen.line()
        pen.prose(
            "  ",
            2,
            f"alike in the trial, one compute shader ({len(groups)} different answers); others may tell them apart",
            columns,
            "dim",
        )
    for group in alike:
        prefix = group[0].partition(":")[0]
        names = " = ".join(one.removeprefix(prefix + ":") for one in group)
        pen.prose("  ", 2, f"{prefix}:{names}", columns)


def _together(refused: Iterable[Unreached]) -> Iterator[Unreached]:
    """GPUs of one driver and place that were refused with the same words, in one row."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in refused:
        prefix, _, name = one.targets[0].partition(":")
        groups.setdefault((prefix, one.reason), []).append(name)
    for (prefix, reason), names in groups.items():
        what = f"{prefix}:{names[0]}" if len(names) == 1 else f"{prefix}: {len(names)} GPUs"
        yield type(one)((what,), reason + (f" ({' '.join(names)})" if len(names) > 1 else ""), "")


def _draw_unreached(unreached: Sequence[Unreached], pen: Pen, columns: int | None) -> None:
    rows = [tuple(printable(text) for text in (" ".join(one.targets), one.reason, one.command)) for one in unreached]
    room = columns or 100
    first = max((width(row[0]) for row in rows if width(row[0]) <= 24), default=24)
    second = max((width(row[1]) for row in rows if row[2]), default=0)
    for name, reason, remedy in rows:
        start = f"  {left(name, first)}  "
        if remedy and first + second + width(remedy) + 6 <= room:
            pen.line(f"{start}{left(reason, second)}  {pen.paint(remedy, 'cyan')}")
            continue
        pen.prose(start, width(start), reason, columns)
        if remedy:
            pen.prose(" " * (first + 4), first + 4, remedy, columns, "cyan")


def _draw_trees(found: Listing, pen: Pen, columns: int | None) -> None:
    whole: list[Tree] = [one for one in found.trees if hasattr(one, "packages")]  # type: ignore[misc]
    if whole:
        pen.line()
        pen.line(pen.paint("  driver trees", "dim"))
    for tree in whole:
        made_of = f"{tree.suite} {tree.snapshot}".strip()
        start = f"  {printable(tree.name)}  "
        words = (
            f"Mesa {printable(tree.mesa)}, of {printable(made_of)}, built {tree.built[:10]}"
            f", {len(tree.packages)} packages, in {printable(str(tree.folder))}"
        )
        pen.prose(start, width(start), words, columns)


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _plain(found: Listing) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "default": found.default,
        "targets": [_target(one) for one in found.reached],
        "unreachable": [asdict(one) for one in (*found.unreached, *found.refused)],
        "trees": [
            {name: value for name, value in asdict(one).items() if name not in ("loader", "python", "libraries")}
            | {"folder": str(one.folder)}
            for one in found.trees
        ],
    }


def _target(one: Reached) -> dict[str, Any]:
    """What modules may ask of it is our own shorthand, and long."""
    plain = {name: value for name, value in asdict(one).items() if name not in ("takes", "metrics", "per_basic_block")}
    counts = {"metrics": one.metrics, "per_basic_block": one.per_basic_block}
    return {**plain, "instrumentation": counts if one.metrics is not None else None}
