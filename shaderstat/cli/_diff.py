"""The work of ``diff``: two sides in, an outcome out, in every format that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing

from shaderstat.cli import say
from shaderstat.cli._destinations import Destination
from shaderstat.cli._settings import Settings
from shaderstat.cli._sides import Loader, alone
from shaderstat.cli._summary import step_summary
from shaderstat.cli._texts import Texts
from shaderstat.compare import Change, Difference, Place, Side, Unlike, compare, gate
from shaderstat.compare.gate import Gate
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.sides import Row
from shaderstat.compare.texts import TextPair, text_pairs
from shaderstat.compare.view import View, threshold, unmatched
from shaderstat.errors import ShaderstatError
from shaderstat.plain import dataclass
from shaderstat.reporters._diff_words import name_words, place_words, plural, row_words, value_words
from shaderstat.reporters._ir_diff import draw as draw_texts
from shaderstat.reporters.outcomes import write_diff
from shaderstat.reporters.text import Pen, printable

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
    step_summary(
        [format for format, _ in opened],
        lambda page: write_diff("markdown", outcome, page, given.reporter_options("diff", False)),
    )
    return _told(given, outcome, remarks)


def texts(given: Settings, glob: str, opened: Sequence[tuple[str, Destination]]) -> int:
    """Compare a representation, line by line: that of such a name, the last where `glob` is empty. Returns the exit
    status.

    Raises:
        ShaderstatError: a side can't be had, has no texts, or the sides must not be compared.
    """
    with closing(Texts()) as kept:
        return _texts(given, glob, kept, opened)


def _texts(given: Settings, glob: str, kept: Texts, opened: Sequence[tuple[str, Destination]]) -> int:
    difference = _compared(given, Loader(given, kept, paths=False))
    outcome = DiffOutcome(difference)
    (_, place), *_ = opened
    options = given.reporter_options("ir", place.path is None)
    pen = Pen(place.stream, encoding=options.encoding, colour=options.colour)
    compared = changed = binary = 0
    for pair in text_pairs(difference, glob):
        compared += 1
        old, new = pair.texts
        if not pair.differs and not given.options["everything"]:
            continue
        if not all(text is None or text.is_text for text in pair.texts):
            binary += pair.differs
            continue
        sides = (difference.before, difference.after)
        data = [kept.get(text.place, side.label) if text else b"" for text, side in zip(pair.texts, sides, strict=True)]
        name = name_words(pair.subject)
        siblings = sum(row.heading.stages == pair.rows[1].heading.stages for row in _rows(difference, pair))
        some = new or old
        title = f"{name} · {row_words(pair.rows[1], siblings)} · {printable(some.name) if some else ''}"
        names = (
            f"{sides[0].label}: {printable(pair.subject[0].id)}",
            f"{sides[1].label}: {printable(pair.subject[1].id)}",
        )
        changed += draw_texts(title, names, (data[0], data[1]), pen, options, plain=given.options["normalise"])
    if not given.quiet:
        say(f"{changed} of {plural(compared, 'text')} differ" if compared else "no representations to compare")
    problems = [*outcome.distrust]
    if not compared:
        problems.append(f"--ir {glob}: matched nothing" if glob else "no side gives a representation")
    if binary:
        problems.append(f"{plural(binary, 'representation')} changed that are no texts: shaderstat ir --out has them")
    _some(problems, "error: ")
    if problems and not binary:
        return 2
    return int(bool(given.options["exit_code"] and (changed or binary)))


def _rows(difference: Difference, pair: TextPair) -> tuple[Row, ...]:
    of_target = difference.after.outcomes.get(difference.targets[pair.target][1].id, {})
    return of_target[pair.subject[1].id].rows


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
