"""Whatever is hinted at can be done: commands and options in messages are those that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from shaderstat.cli import BRIEF, COMMANDS, main
from tests.conftest import ROOT

FILES = sorted(path for path in (ROOT / "shaderstat").rglob("*.py") if not path.name.startswith("_generated"))

# What follows the name where it is no command but the subject of a sentence, or part of another name.
PROSE = frozenset("that made itself does mock knows reads was wrote and can is of".split())


def commands(command: click.Command = main, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command and subcommand by its words."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from commands(found, f"{name} {each}".strip())


TABLE = dict(commands())
OPTIONS = {
    name: {"-h", "--help", *(word for option in command.params for word in (*option.opts, *option.secondary_opts))}
    for name, command in TABLE.items()
}
ALL_OPTIONS = {option for options in OPTIONS.values() for option in options}


def strings(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it is a hint, of each string that may be shown; what is filled in reads ``{}``."""
    tree = ast.parse(path.read_text())
    unseen = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            shown = isinstance(node, ast.FunctionDef) and any("command" in ast.dump(one) for one in node.decorator_list)
            if not shown:
                unseen.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr):
            unseen |= {id(each) for each in ast.walk(node) if each is not node}
    hints = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "hint"
        for each in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value, id(node) in hints
        elif isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(parts), id(node) in hints


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_messages_exist_and_take_their_options(path: Path) -> None:
    for line, text, is_hint in strings(path):
        where = f"{path.name}:{line}: {text!r}"
        for mention in re.findall(r"(?<![\w./'\"-])shaderstat ((?:[^\s,;.()]|\.(?=\S))+(?: [^\s,;()]+)*)", text):
            words = [word.rstrip(":") for word in mention.split()]
            if words[0] in PROSE:
                continue
            if words[0] in COMMANDS:
                name = " ".join(words[:2]) if " ".join(words[:2]) in TABLE else words[0]
            else:
                assert re.search(r"[./{\-\"'*]", words[0]), f"no command: {where}"
                name = "stats"
            used = {word.partition("=")[0] for word in words if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word)}
            assert used <= OPTIONS[name], where
        if is_hint and "shaderstat" not in text and not re.search(r"\b(apt|pip|glslangValidator|bwrap)\b", text):
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= ALL_OPTIONS, where


def test_the_ten_lines_and_every_example_run_commands_that_there_are() -> None:
    examples = [line for line in BRIEF.splitlines() if line.startswith("  ")]
    for command in TABLE.values():
        examples += (command.help or "").partition("Example:\n")[2].splitlines()
    assert len(examples) > 20
    for example in filter(None, map(str.strip, examples)):
        first, *rest = re.sub(r"^.*?\bshaderstat |[)\"]+$", "", example).split()
        name = first if first in COMMANDS else "stats"
        name = f"{name} {rest[0]}" if rest and f"{name} {rest[0]}" in TABLE else name
        used = {word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"}
        assert used <= OPTIONS[name], example
