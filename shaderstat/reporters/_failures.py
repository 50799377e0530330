"""What every table says of results without numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaderstat.model import Failure, Result
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, width, wrap

_STYLES = {"ok": "dim", "skipped": "dim", "unsupported": "yellow"}


def status_style(status: str) -> str:
    """The style of a status word."""
    return _STYLES.get(status, "red")


def reason(result: Result) -> str:
    """Why there are no numbers, on one line: a diagnostic's own words, or what befell the child."""
    if result.status == "ok":
        return "no executables"
    errors = [each for each in result.diagnostics if each.severity == "error"]
    if not errors and result.failure is not None:
        return printable(_failure(result.failure))
    said = (errors or list(result.diagnostics))[:1]
    return printable(" ".join(f"{each.message}: {each.hint}" if each.hint else each.message for each in said))


def _failure(failure: Failure) -> str:
    if failure.limit_s is not None:
        return f"over {failure.limit_s:g} s in {failure.phase}"
    if failure.signal or failure.vk_result:
        return f"{failure.signal or failure.vk_result} in {failure.phase}"
    how = failure.code if failure.exit_code is None else f"exit status {failure.exit_code}"
    last = [line for line in failure.stderr_tail.splitlines() if line.strip()][-1:]
    return ": ".join([f"{how} in {failure.phase}", *last])


def rows(results: Sequence[Result], names: Mapping[str, str], first: int, pen: Pen, options: Options) -> None:
    """A row each: the name, in `first` columns, the status and the reason, which goes on below itself on a terminal."""
    second = max((width(printable(result.status)) for result in results), default=0)
    place = first + second + 6
    for result in results:
        texts = wrap(reason(result), options.width and options.width - place)
        status = pen.paint(left(printable(result.status), second), status_style(result.status))
        pen.line(f"  {left(names[result.pipeline], first)}  {status}  {texts[0]}")
        for text in texts[1:]:
            pen.line(" " * place + text)


def below(results: Sequence[Result], names: Mapping[str, str] | None, pen: Pen) -> None:
    """A line for each of the results that have no column: `names` by pipeline, or the target's where they are None."""
    for result in results:
        if not result.executables:
            name = printable(result.target or "") if names is None else names[result.pipeline]
            pen.line()
            pen.line(f"  {name}  {pen.paint(printable(result.status), status_style(result.status))}  {reason(result)}")
