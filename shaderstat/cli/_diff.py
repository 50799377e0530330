"""The work of ``diff``: two sides in, an outcome out, in every format that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shaderstat.cli import say
from shaderstat.cli._destinations import Destination
from shaderstat.cli._settings import Settings
from shaderstat.cli._sides import Loader, alone
from shaderstat.compare import Change, Difference, Place, Side, Unlike, compare, gate
from shaderstat.compare.gate import Gate
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.view import View, threshold, unmatched
from shaderstat.errors import ShaderstatError
from shaderstat.reporters._diff_words import name_words, place_words, value_words
from shaderstat.reporters.outcomes import write_diff
from shaderstat.reporters.text import printable

# Formats that name the files of shaders.
_NAMES_FILES = frozenset({"json", "junit", "github", "sarif"})

# Lines of a kind that are told one by one on stderr.
_TOLD = 10


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be shown, and what is to be bad."""

    view: View
    gates: tuple[Gate, ...]


def question(given: Settings) -> Question:
    """The options that say so.

    Raises:
        ShaderstatError: one of them is not of its form.
    """
    options = given.options
    try:
        gates = tuple(gate.parse(text) for text in options["gates"])
    except ValueError as error:
        raise ShaderstatError(f"--fail-on: {error}", hint="for instance --fail-on registers:+5%") from None
    try:
        least = threshold(options["threshold"]) if options["threshold"] else None
    except ValueError as error:
        raise ShaderstatError(f"--threshold: {error}", hint="for instance --threshold 1%") from None
    view = View(options["everything"], tuple(options["statistics"]), options["sort"], options["top"], least)
    return Question(view, gates)


def numbers(given: Settings, question: Question, opened: Sequence[tuple[str, Destination]]) -> int:
    """Compare statistics. Returns the exit status.

    Raises:
        ShaderstatError: a side can't be had, or the sides must not be compared.
    """
    loader = Loader(given, None, paths=any(format in _NAMES_FILES for format, _ in opened))
    difference = _compared(given, loader)
    outcome = DiffOutcome(
        difference,
        question.view,
        tuple(gate.judge(difference, list(question.gates))),
        strict=given.options["exit_code"],
    )
    remarks: list[str] = []
    for format, place in opened:
        remarks += write_diff(format, outcome, place.stream, given.reporter_options("diff", place.path is None))
        place.stream.flush()
    return _told(given, outcome, remarks)


def texts(given: Settings) -> int:
    """Compare a representation, line by line. Returns the exit status."""
    raise NotImplementedError


def _compared(given: Settings, loader: Loader) -> Difference:
    before, after = _sides(given, loader)
    try:
        return compare(before, after, allow_unlike=given.options["allow_unlike"])
    except Unlike as error:
        raise ShaderstatError(
            f"these are not alike: {printable(error.reasons[0])}"
            + (f" (and {len(error.reasons) - 1} more)" if len(error.reasons) > 1 else ""),
            hint="--allow-unlike compares them all the same",
        ) from None


def _sides(given: Settings, loader: Loader) -> tuple[Side, Side]:
    paths: Sequence[str] = given.options["paths"]
    if len(paths) == 1:
        return _two_targets(paths[0], loader)
    live = [loader.is_live(path) for path in paths]
    sides: list[Side | None] = [None if now else loader.saved(path) for path, now in zip(paths, live, strict=True)]
    # What is compiled now is set against what was saved: on the same targets, unless others are named.
    other = next((side for side in sides if side is not None), None)
    targets = tuple(other.targets) if other is not None and not given.request.targets else ()
    before, after = (
        side if side is not None else loader.live(path, targets) for side, path in zip(sides, paths, strict=True)
    )
    return before, after


def _two_targets(path: str, loader: Loader) -> tuple[Side, Side]:
    if not loader.is_live(path):
        both = loader.saved(path)
    else:
        both = loader.live(path, ())
    if len(both.targets) != 2:
        raise ShaderstatError(f"{both.label}: two targets are wanted, and {len(both.targets)} answered")
    one, other = both.targets.values()
    return alone(both, one, printable(one.id)), alone(both, other, printable(other.id))


def _told(given: Settings, outcome: DiffOutcome, remarks: Iterable[str]) -> int:
    """Say on stderr what stands beside the answer."""
    if not given.quiet:
        for line in dict.fromkeys(remarks):
            say(line)
    for gated in outcome.gated:
        _some([_breach_words(place, change, gated.gate.text) for place, change in gated.breaches], "error: ")
    lost = [*outcome.distrust, *unmatched(outcome.difference, outcome.view)]
    _some(lost, "error: ")
    return 2 if lost else outcome.status


def _breach_words(place: Place, change: Change, text: str) -> str:
    values = f"{value_words(change.before, change.info)} → {value_words(change.after, change.info)}"
    return f"{name_words(place.subject)} {place_words(place)}: {printable(change.info.name)} {values}, over {text}"


def _some(lines: Sequence[str], prefix: str) -> None:
    for line in lines[:_TOLD]:
        say(prefix + line)
    if len(lines) > _TOLD:
        say(f"{prefix}{len(lines) - _TOLD} more")
