"""What every table says of results without numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaderstat.model import Result, cause, last_words
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, width

_STYLES = {"ok": "dim", "skipped": "dim", "unsupported": "yellow"}


def status_style(status: str) -> str:
    """The style of a status word."""
    return _STYLES.get(status, "red")


def reason(result: Result) -> str:
    """Why there are no numbers, on one line: with the way out, or with the driver's last words."""
    words = [f"last words: {line}" for line in last_words(result.failure)] if cause(result)[1] is None else []
    return "; ".join([why(result), *map(printable, words)])


def why(result: Result) -> str:
    """Why there are no numbers, and the way out if one is known."""
    if result.status == "ok":
        return "no executables"
    return printable("; ".join(part for part in cause(result) if part))


def rows(results: Sequence[Result], names: Mapping[str, str], first: int, pen: Pen, options: Options) -> None:
    """A row each: the name, in `first` columns, the status and the reason, which goes on below itself on a terminal."""
    second = max((width(printable(result.status)) for result in results), default=0)
    for result in results:
        status = pen.paint(left(printable(result.status), second), status_style(result.status))
        start = f"  {left(names[result.pipeline], first)}  {status}  "
        pen.prose(start, first + second + 6, reason(result), options.width)


def below(results: Sequence[Result], names: Mapping[str, str] | None, pen: Pen, options: Options) -> None:
    """A line for each of the results that have no column: `names` by pipeline, or the target's where they are None."""
    for result in results:
        if not result.executables:
            name = printable(result.target or "") if names is None else names[result.pipeline]
            status = printable(result.status)
            pen.line()
            start = f"  {name}  {pen.paint(status, status_style(status))}  "
            pen.prose(start, width(name) + width(status) + 6, reason(result), options.width)
