"""What every table says of results without numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaderstat.model import Result, cause, last_words
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, width

_STYLES = {"ok": "dim", "skipped": "dim", "unsupported": "yellow"}


def word(result: Result) -> tuple[str, str]:
    """What a result without numbers, or one that lacks some, is called; and the style of that."""
    status = "error" if complaints(result) else printable(result.status)
    return status, _STYLES.get(status, "red")


def reason(result: Result) -> str:
    """Why there are no numbers, on one line: with the way out, or with the driver's last words."""
    words = [f"last words: {line}" for line in last_words(result.failure)] if cause(result)[1] is None else []
    return "; ".join([why(result), *map(printable, words)])


def why(result: Result) -> str:
    """Why there are no numbers, and the way out if one is known."""
    if result.status == "ok":
        return "; ".join(complaints(result)) or "no executables"
    return printable("; ".join(part for part in cause(result) if part))


def complaints(result: Result) -> list[str]:
    """What went wrong although there is an answer: what of it is missing, and why."""
    return [
        printable(each.message) for each in result.diagnostics if each.severity == "error" and result.status == "ok"
    ]


def rows(results: Sequence[Result], names: Mapping[str, str], first: int, pen: Pen, options: Options) -> None:
    """A row for each that has no numbers, or lacks some: the name, in `first` columns, the status and the reason, which
    goes on below itself on a terminal."""
    told = _problems(results)
    second = max((width(status) for _, status, _, _ in told), default=0)
    for result, status, style, text in told:
        start = f"  {left(names[result.pipeline], first)}  {pen.paint(left(status, second), style)}  "
        pen.prose(start, first + second + 6, text, options.width)


def below(results: Sequence[Result], names: Mapping[str, str] | None, pen: Pen, options: Options) -> None:
    """A line for each of the results that have no column, or lack something: `names` by pipeline, or the target's where
    they are None."""
    for result, status, style, text in _problems(results):
        name = printable(result.target or "") if names is None else names[result.pipeline]
        pen.line()
        start = f"  {name}  {pen.paint(status, style)}  "
        pen.prose(start, width(name) + width(status) + 6, text, options.width)


def _problems(results: Sequence[Result]) -> list[tuple[Result, str, str, str]]:
    """A word for each, its style and the words behind it; once, also where a result's rows were pulled apart."""
    found: dict[tuple[str, str | None, str], tuple[Result, str, str, str]] = {}
    for result in results:
        words = [(*word(result), each) for each in complaints(result)]
        if not result.executables and not words:
            words = [(*word(result), reason(result))]
        for status, style, text in words:
            found.setdefault((result.pipeline, result.target, text), (result, status, style, text))
    return list(found.values())
