"""The command line. This module is all that ``shaderstat --help`` loads besides click.

A command is a module of its own name here, imported when it is called. Only `run` prints errors and decides the exit
status: 0 answered and nothing is wrong, 1 answered and the answer is bad, 2 no trustworthy answer, 130 interrupted
(129 and 143 by SIGHUP and SIGTERM), 141 the reader of standard output went away.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence

import click

from shaderstat.interruptions import exit_status

# The builtin `list` must not be used in this module: once that command is imported, the name is its module's.

# Command → its line in the help. The first line of the command's own docstring, which a test holds to this.
COMMANDS = {
    "stats": "Statistics of each executable: registers, spills, code size and whatever else the driver tells.",
    "list": "The executables that each pipeline was compiled to.",
    "ir": "The compiler's internal representations, down to the machine code.",
    "instrument": "Run-time counts: what shaders execute in a dispatch, a draw or a trace, as the GPU counts it.",
    "reflect": "What was inferred: each pipeline's state, as a manifest that gives the same pipeline again.",
    "diff": "What became better or worse: two saved reports, two trees of shaders, or one tree on two targets.",
    "check": "Budgets: which shaders take more than shaderstat.yaml, or --max, allows.",
    "targets": "The compilers that can be reached from here, and why others can't.",
    "cache": "The answers that are remembered: what there is, where it lies, and how to be rid of it.",
}

BRIEF = """\
shaderstat: what every GPU's compiler made of a shader

  shaderstat blur.comp.spv              statistics of one
  shaderstat stats shaders/ --json      of a folder, as JSON
  shaderstat list shaders/              the executables
  shaderstat ir blur.comp.spv --out ir  its code, as files
  shaderstat blur.comp.spv -t radv:navi21 -t turnip:a740

PATH is a .spv file, a folder, a glob, or - for stdin.
All of it: shaderstat --help
"""

DEBUG = "SHADERSTAT_DEBUG"


class Commands(click.Group):
    """Loads a command's module when it is called; what is no command is a path for ``stats``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"shaderstat.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            click.echo(BRIEF, nl=False)
            ctx.exit()
        first = args[0]
        if first not in COMMANDS and first not in ("-h", "--help", "--version"):
            _refuse_misspelt_command(ctx, first)
            args = ["stats", *args]
        return super().parse_args(ctx, args)


def _refuse_misspelt_command(ctx: click.Context, word: str) -> None:
    """A word that is like a command and leads to no file."""
    if word.startswith("-") or any(character in word for character in "./\\*?[") or os.path.lexists(word):
        return
    close = difflib.get_close_matches(word, COMMANDS, n=1)
    if close:
        raise click.UsageError(f"no command and no file is called {word!r}. Did you mean {close[0]!r}?", ctx)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from shaderstat._version import __version__

        click.echo(f"shaderstat {__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "SHADERSTAT"},
    subcommand_metavar="[COMMAND] PATH...",
    epilog="Exit status: 0 answered and nothing is wrong, 1 answered and the answer is bad, 2 no trustworthy answer"
    " (bad input, no compiler, a crash, a time-out, nothing matched), 130 interrupted (by another signal: 128 plus its"
    " number).",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def main() -> None:
    """What did the compiler do to my shader? Compiles SPIR-V with real drivers, or none, and prints what came out.

    Without a command: stats.

    \b
    Example:
      shaderstat blur.comp.spv
      shaderstat stats shaders/ -t radv:navi21 --json
      shaderstat ir blur.comp.spv --out ir
    """


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit status; nothing that goes wrong leaves this function."""
    try:
        if "_SHADERSTAT_COMPLETE" in os.environ:  # click's own protocol with the shell
            main.main([*argv], "shaderstat")
        status = _invoke(argv)
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk is noticed here, not after the status is decided
        return status
    except BrokenPipeError:
        _leave_stdout()
        return 141
    except (KeyboardInterrupt, click.Abort) as interruption:
        say(interrupted(interruption))
        return exit_status(interruption)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        _name_variable(error)
        say(f"error: {error.format_message()}")
        if context is not None:
            say(f"hint: {context.command_path} --help")
        return 2
    except Exception as error:
        return _failed(error, argv)


def _name_variable(error: click.ClickException) -> None:
    """Blame the variable, not the option, where the value came from there."""
    if not isinstance(error, click.BadParameter) or error.param is None or error.ctx is None:
        return
    option, context = error.param, error.ctx
    source = context.get_parameter_source(option.name or "")
    if source is click.core.ParameterSource.ENVIRONMENT:
        own = [option.envvar] if isinstance(option.envvar, str) else [*(option.envvar or ())]
        automatic = f"{context.auto_envvar_prefix}_{(option.name or '').upper()}"
        error.param_hint = next((name for name in own if name in os.environ), automatic)


def _invoke(argv: Sequence[str]) -> int:
    try:
        with main.make_context("shaderstat", [*argv], obj=tuple(argv)) as context:
            status = main.invoke(context)
            return status if isinstance(status, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code


def interrupted(interruption: BaseException) -> str:
    """What is said of it."""
    number = exit_status(interruption) - 128
    return "interrupted" if number == signal.SIGINT else f"interrupted by {signal.Signals(number).name}"


def _blamed(message: str, argv: Sequence[str]) -> str:
    """The message, about the variable where it is about an option that nobody typed."""
    option = message.partition(" ")[0].rstrip(":")
    variable = f"SHADERSTAT_{option.removeprefix('--').replace('-', '_').upper()}"
    typed = any(word.partition("=")[0] == option for word in argv)
    return (
        message.replace(option, variable, 1) if option[:2] == "--" and variable in os.environ and not typed else message
    )


def _failed(error: Exception, argv: Sequence[str]) -> int:
    """Our own errors in two lines, anything else in one: a traceback is for those who ask for it."""
    from shaderstat.errors import ShaderstatError

    if os.environ.get(DEBUG, "") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, ShaderstatError):
        say(f"error: {_blamed(error.message, argv)}")
        if error.hint:
            say(f"hint: {error.hint}")
        _leave_full_stdout()
        return error.exit_code
    if isinstance(error, OSError) and error.filename is None:
        _tell_nameless(error)
        return 2
    say(f"error: a fault of shaderstat itself: {type(error).__name__}: {error}. With {DEBUG}=1 it tells where")
    return 2


def _tell_nameless(error: OSError) -> None:
    """An error of the system that names no file."""
    what = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):  # of files it is told with their names
        say(f"error: standard output can't be written: {what}")
        _leave_stdout()
        return
    if error.errno == errno.ENOENT and _is_nowhere():
        say("error: the folder that this runs in is gone")
        say("hint: cd to another one")
        return
    say(f"error: {what}")
    if error.errno in (errno.EMFILE, errno.ENFILE):
        say("hint: fewer compilers at a time take fewer: a smaller -j, fewer -t; or a larger ulimit -n")


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def say(line: str, command: Sequence[str] = ()) -> None:
    """One line on standard error; nothing in it steers the terminal, and nobody needs to listen. What a terminal has no
    room for goes on in the next line.

    Args:
        command: words behind the line, for a shell to take as they stand.
    """
    from shaderstat.reporters.text import printable, wrap, wrap_command  # late: help needs none of it

    columns = stderr_columns()
    try:
        for each in wrap_command(line, command, columns) if command else wrap(printable(line), columns):
            click.echo(each, err=True)
    except OSError:  # closed or broken: the exit status says it all the same
        pass


def stderr_columns() -> int | None:
    """The terminal's columns; None where standard error is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (OSError, ValueError, AttributeError):  # no terminal, closed, or none at all
        return None


def _leave_full_stdout() -> None:
    """Where standard output takes no more: what is left in its buffer would be tried once more on the way out, with
    words of the interpreter's and a status of its own (120)."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _leave_stdout()
    except ValueError:  # closed
        pass


def _leave_stdout() -> None:
    """Let the interpreter flush what is left into nothing: it would complain about the closed pipe on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # replaced by an object without a descriptor
        sys.stdout = None
