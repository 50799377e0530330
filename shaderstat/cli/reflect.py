"""``shaderstat reflect``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from shaderstat.cli import _options, say
from shaderstat.errors import ShaderstatError

if TYPE_CHECKING:
    from shaderstat.reflection import Reflected


@click.command("reflect", context_settings=_options.CONTEXT)
@_options.paths
@_options.chosen
@_options.state
@_options.targets
@_options.work
@click.option("--text", "as_text", is_flag=True, help="What the modules ask for, as lines.")
@click.option("--json", "as_json", is_flag=True, help="What the modules ask for, as JSON.")
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """What was inferred: each pipeline's state, as a manifest that gives the same pipeline again.

    Nothing is compiled. With --text or --json: what each module asks for by itself, bindings, push constants,
    specialization constants, inputs and outputs.

    \b
    Example:
      shaderstat reflect water.vert.spv water.frag.spv > shaderstat.yaml
      shaderstat reflect shaders/ --json
      shaderstat reflect tuned.comp.spv --spec 0=128 -t radv:navi21
    """  # fmt: skip
    if not options["paths"] and (options["as_json"] or options["as_text"]):
        raise click.UsageError(f"no input. For instance: {context.command_path} blur.comp.spv", context)
    if not (options["as_json"] or options["as_text"]):
        return _manifest(context, options)
    from shaderstat import reflection

    modules = reflection.read(options["paths"], entries=options["entries"], spec=_choices(options["spec"]))
    if options["as_json"]:
        from shaderstat.reporters.text import escaped_json

        click.echo(escaped_json(json.dumps(reflection.to_plain(modules), indent=1)))
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


def _manifest(context: click.Context, options: Mapping[str, Any]) -> int:
    from shaderstat import inferred
    from shaderstat.cli._settings import asked
    from shaderstat.reporters.text import printable

    states = inferred.infer(asked(context, options))
    for line in inferred.lines(states):
        click.echo(printable(line))
    for note in states.notes:
        say(f"{note.severity}: {note.message}")
    for one in states.pipelines:
        for each in one.diagnostics if one.status != "ok" else ():
            say(f"error: {each.path or one.name}: {each.message}")
            if each.hint:
                say(f"hint: {each.hint}")
    answered = all(one.status in ("ok", "skipped") for one in states.pipelines)
    return 0 if answered and all(note.severity != "error" for note in states.notes) else 2


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
