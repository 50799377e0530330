"""``run:`` in a manifest: how a pipeline is run by ``shaderstat instrument``, in the words of its options::

    run:
      dispatch: [4, 4, 1]                   # or 4; [[4, 4, 1], [8]] for two commands. Also draw, draw_mesh_tasks, trace
      extent: [256, 256]                    # of the off-screen target
      repeat: 3
      accumulate: true
      metrics: false                        # run without instrumentation
      buffers: {0.1: zeros:64K, 0.2: input.bin}
      images: {0.3: "64x64:random:7"}
      vertices: {0: iota}
      push: 0000803f                        # or a file
      read: {0.1: out.bin}                  # where a buffer goes after the run: somewhere below the manifest's folder

Paths are relative to the manifest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from shaderstat.config import runs
from shaderstat.config.reader import Node
from shaderstat.config.wishes import Wrong
from shaderstat.instrumentation import Fill

Value = TypeVar("Value")

# A command's name here → its kind.
COMMANDS: Mapping[str, str] = {
    "dispatch": "dispatch",
    "draw": "draw",
    "draw_mesh_tasks": "draw_mesh_tasks",
    "trace": "trace_rays",
}
MEMBER: Mapping[str, str] = {kind: name for name, kind in COMMANDS.items()}
MEMBERS = (*COMMANDS, "extent", "repeat", "accumulate", "metrics", "buffers", "images", "vertices", "push", "read")


def read_run(node: Node, folder: str, *, files: bool) -> dict[str, Any]:
    """What a ``run:`` says, as `shaderstat.config.runs` takes it.

    Args:
        files: read what it names; otherwise nothing is to be run, and they need not be there.

    Raises:
        ShaderstatError: a member or a value that can't be, with its line; a file that can't be read.
    """

    def load(name: str, hint: str) -> Fill:
        path = os.path.join(folder, name)
        return runs.of_file(path, hint) if files else Fill("data", path=path)

    def there(name: str) -> bool:
        return files and os.path.lexists(os.path.join(folder, name))

    found: dict[str, Any] = {}
    for name, value in node.mapping(MEMBERS).items():
        if name in COMMANDS:
            found.setdefault("commands", ())
            found["commands"] += tuple(_command(COMMANDS[name], one) for one in _commands(value))
        elif name == "extent":
            found[name] = _checked(value, lambda each: runs.extent(_numbers(each)))
        elif name == "repeat":
            found[name] = _checked(value, lambda each: runs.repeat(each.integer(0, 2**63)))
        elif name in ("accumulate", "metrics"):
            found[name] = value.boolean()
        elif name == "push":
            found[name] = _checked(value, lambda each: runs.push(each.source(), load, there))
        elif name == "read":
            found[name] = _table(value, runs.slot, lambda path: _below(folder, path))
        elif name == "images":
            found[name] = _table(value, runs.slot, lambda text: runs.image(text, load))
        else:
            place = runs.vertex_binding if name == "vertices" else runs.slot
            found[name] = _table(value, place, lambda text: runs.fill(text, load))
    return found


# Members that say something of each slot, and how that is written.
_OF_SLOTS: Mapping[str, Callable[[Any], str]] = {"buffers": runs.words, "images": runs.image_words, "read": str}


def words(layers: Sequence[runs.Said], kind: str) -> dict[str, Any]:
    """What `layers` say of a pipeline that takes commands of this kind, in the words that `read_run` reads."""
    found: dict[str, Any] = {}
    for name, value in runs.merged(layers, kind).items():
        if name == "commands":
            most = runs.FORMS[kind][3]
            sizes = [list(one.size[:most]) for one in value]
            found[MEMBER[kind]] = sizes if len(sizes) > 1 else sizes[0]
        elif name == "extent":
            found[name] = list(value)
        elif name == "push":
            found[name] = value.path or value.data.hex()
        elif name == "vertices":
            found[name] = {binding: runs.words(fill) for binding, fill in value.items()}
        elif name in _OF_SLOTS:
            found[name] = {f"{set_}.{binding}": _OF_SLOTS[name](each) for (set_, binding), each in value.items()}
        else:
            found[name] = value
    return found


def _below(folder: str, name: str) -> str:
    """A file that a manifest may have written. A manifest comes along with somebody's shaders, and may be found in a
    folder above: unlike the command line it is not the user's own word for what happens to any file of theirs.

    Raises:
        Wrong: it is elsewhere, links resolved, or its name can't be printed.
    """
    if not name.isprintable():
        raise Wrong("a file's name that can be printed is wanted")
    path = os.path.join(folder, name)
    home = os.path.join(os.path.realpath(folder), "")
    if not os.path.realpath(path).startswith(home):
        raise Wrong("is not below the manifest's folder", "--read SET.BINDING=FILE may name any file")
    return path


def _commands(node: Node) -> list[Node]:
    """One command, or a list of them: a list of plain numbers is one, whether or not they stand in quotes."""
    if node.is_list and any(one.is_list or not one.source().isdigit() for one in node.items()):
        return node.items()
    return [node]


def _command(kind: str, node: Node) -> Any:
    return _checked(node, lambda each: runs.command(kind, _numbers(each)))


def _numbers(node: Node) -> str:
    """``[4, 4, 1]`` as ``4,4,1``, which may stand there itself."""
    return ",".join(each.source() for each in node.one_or_more())


def _table(node: Node, place: Callable[[str], Any], entry: Callable[[str], Any]) -> dict[Any, Any]:
    """Bindings and what each has. ``0.10`` is a number to YAML, and not the one that is meant."""
    found: dict[Any, Any] = {}
    for key, value in node.pairs():
        binding = _checked(key, lambda each: place(each.source()))
        if binding in found:
            raise key.error(f"{key.source()} stands here twice")
        if not value.source():
            raise value.error("an empty value")
        found[binding] = _checked(value, lambda each: entry(each.source()))
    return found


def _checked(node: Node, read: Callable[[Node], Value]) -> Value:
    try:
        return read(node)
    except Wrong as error:
        text = "" if node.is_list or node.is_mapping else f"{node.source()}: "
        raise node.error(f"{text}{error}", error.hint) from None
