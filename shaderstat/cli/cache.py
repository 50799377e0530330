"""``shaderstat cache``."""

from __future__ import annotations

import os

import click

from shaderstat.cli import _options

# Kinds of entries, as people know them: one of them, several.
_WORDS = {
    "answer": ("answer", "answers"),
    "target": ("target", "targets"),
    "fact": ("fact about files", "facts about files"),
    "text": ("text", "texts"),
}


@click.group("cache", context_settings=_options.CONTEXT)
def command() -> None:
    """The answers that are remembered: what there is, where it lies, and how to be rid of it.

    The same question to the same compiler is asked once; any change of a file, an option, a driver, its settings or
    its environment is another question. SHADERSTAT_CACHE_DIR moves the folder, SHADERSTAT_CACHE_SIZE (1G) limits it.

    \b
    Example:
      shaderstat cache info
      shaderstat cache clear
      du -h "$(shaderstat cache path)"
    """


@command.command("path")
def path() -> None:
    """The folder that it lies in."""
    from shaderstat.store import folder

    click.echo(folder())


@command.command("info")
def info() -> None:
    """How much is remembered."""
    from shaderstat.reporters.text import printable
    from shaderstat.store import Store, default_limit, files, folder, size_words

    click.echo(f"folder   {printable(folder())}")
    limit = default_limit()
    if not files(folder()):
        click.echo("nothing is remembered yet")
        return
    with Store(folder(), limit) as store:
        found = store.contents
        click.echo(f"size     {size_words(found.size)} of at most {size_words(limit)}")
        entries = {**found.entries, "text": found.texts}
        counts = [f"{entries.get(kind, 0)} {words[entries.get(kind, 0) != 1]}" for kind, words in _WORDS.items()]
        click.echo(f"holds    {', '.join(counts)}")
        for note in store.notes:
            click.echo(note.message, err=True)


@command.command("clear")
def clear() -> None:
    """Forget everything."""
    from shaderstat.errors import ShaderstatError
    from shaderstat.store import files, folder, size_words

    freed = 0
    for file in files(folder()):
        try:
            size = os.path.getsize(file)
            os.unlink(file)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ShaderstatError(f"{file}: can't be removed: {error.strerror or error}") from None
        freed += size
    click.echo(f"freed {size_words(freed)}", err=True)
