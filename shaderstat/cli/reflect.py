"""``shaderstat reflect``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from shaderstat.cli import _options, say
from shaderstat.errors import ShaderstatError

if TYPE_CHECKING:
    from shaderstat.reflection import Reflected


@click.command("reflect", context_settings=_options.CONTEXT)
@_options.paths
@_options.chosen
@click.option("--json", "as_json", is_flag=True, help="As JSON, module by module.")
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """What modules ask for: bindings, push constants, specialization constants, inputs and outputs.

    Nothing is compiled and no driver is asked.

    \b
    Example:
      shaderstat reflect blur.comp.spv
      shaderstat reflect shaders/ --json
      shaderstat reflect tuned.comp.spv --spec 0=128
    """
    if not options["paths"]:
        raise click.UsageError(f"no input. For instance: {context.command_path} blur.comp.spv", context)
    from shaderstat import reflection

    modules = reflection.read(options["paths"], entries=options["entries"], spec=_choices(options["spec"]))
    if options["as_json"]:
        click.echo(json.dumps(reflection.to_plain(modules), indent=1))
    else:
        for line in text(modules):
            click.echo(line)
    bad = [one for one in modules if one.status in ("invalid", "unsupported")]
    for one in bad:
        for each in one.diagnostics:
            say(f"error: {one.path}: {each.message}")
            if each.hint:
                say(f"hint: {each.hint}")
    return 2 if bad else 0


def _choices(texts: Sequence[str]) -> list[tuple[str | None, str, str]]:
    """``--spec`` with one value each: what is told is told of one variant."""
    from shaderstat.variants import parse

    options = [parse(text) for text in texts]
    for option, text in zip(options, texts, strict=True):
        if len(option.values) > 1:
            raise ShaderstatError(f"--spec {text}: reflect takes one value of a constant")
    return [(option.stage, option.constant, option.values[0]) for option in options]


# ── For people ────────────────────────────────────────────────────────────────────────────────────────────────────


def text(modules: Sequence[Reflected]) -> Iterator[str]:
    """The facts, a line each, under their module and entry point."""
    from shaderstat.reflection import entry_to_plain
    from shaderstat.reporters.text import printable

    for place, one in enumerate(modules):
        if place:
            yield ""
        if one.reflection is None:
            said = "; ".join(each.message for each in one.diagnostics)
            yield printable(f"{one.path}: {one.status}: {said}")
            continue
        yield printable(f"{one.path}: SPIR-V {one.reflection.version[0]}.{one.reflection.version[1]}")
        for entry in one.entries:
            yield printable(f"  {entry.stage.replace('_', ' ')} {entry.name}")
            for name, value in _facts(entry_to_plain(entry)):
                yield printable(f"    {name:<16}{value}".rstrip())


def _facts(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what, as words) of one entry point's plain form, less what it doesn't have."""
    if entry["local_size"]:
        yield "workgroup", "×".join(map(str, entry["local_size"]))
    if entry["shared_bytes"]:
        yield "shared memory", f"{entry['shared_bytes']} bytes"
    if entry["topology"]:
        yield "topology", entry["topology"]
    if entry["patch_control_points"]:
        yield "patch", f"{entry['patch_control_points']} control points"
    for each in entry["bindings"]:
        count = "" if each["count"] == 1 else f"[{each['count']}]"
        yield f"{each['set']}.{each['binding']}", f"{each['type']}{count}  {each['name']}"
    pushed = entry["push_constants"]
    if pushed:
        yield "push constants", f"{pushed['size']} bytes at {pushed['offset']}"
    for each in entry["spec_constants"]:
        yield f"constant {each['id']}", f"{each['type']} = {json.dumps(each['default'])}  {each['name']}"
    for label in ("input", "output"):
        for each in entry[f"{label}s"]:
            yield _variable(label, each)


def _variable(label: str, variable: dict[str, Any]) -> tuple[str, str]:
    place = f"{variable['location']}" + (f".{variable['component']}" if variable["component"] else "")
    words = [f"{variable['components']} × {variable['type']}", *variable.get("decorations", ())]
    if variable.get("name"):
        words.append(f" {variable['name']}")
    return f"{label} {place}", " ".join(words)
